//! The codes of findings: one per rule, so that a program can tell them apart.

use std::fmt;

macro_rules! codes {
    ($($variant:ident $name:literal $rule:literal,)*) => {
        /// Which rule a finding is about. Displayed as the upper-case name, `AXIS_NOT_IDENTICAL`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = $rule] $variant,)*
        }

        impl Code {
            /// Every code, in the order of the rules.
            pub const ALL: &[Code] = &[$(Code::$variant,)*];

            /// The name, in upper case with underscores.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $name,)* }
            }

            /// The rule that was broken, in one sentence.
            #[must_use]
            pub fn rule(self) -> &'static str {
                match self { $(Code::$variant => $rule,)* }
            }
        }
    };
}

codes! {
    Version "VERSION" "the version is three plain numbers, `major.minor.patch`",
    VersionOld "VERSION_OLD" "versions before 0.10 mean other things and are upgraded first",
    VersionMajor "VERSION_MAJOR" "only versions from 0.10.0 on, below 1.0.0, are known",
    MissingKey "MISSING_KEY" "a required key is present",
    ExtraKey "EXTRA_KEY" "the structure has no keys beside version, buffer and dim_data",
    Type "TYPE" "a value has the type that its key asks for",
    Ndim "NDIM" "there is one dimension dictionary per dimension of the buffer",
    DistType "DIST_TYPE" "`dist_type` is `b`, `c` or `u`",
    SizeNeg "SIZE_NEG" "`size` is at least 0",
    GridSize "GRID_SIZE" "`proc_grid_size` is at least 1",
    GridRank "GRID_RANK" "`proc_grid_rank` lies in 0..proc_grid_size",
    BlockRange "BLOCK_RANGE" "0 <= start <= stop <= size",
    FirstStart "FIRST_START" "grid rank 0 starts at 0",
    Extent "EXTENT" "the buffer is as long as the description says",
    PaddingForm "PADDING_FORM" "`padding` is a tuple of two integers",
    PaddingNeg "PADDING_NEG" "padding widths are at least 0",
    PaddingTooWide "PADDING_TOO_WIDE" "both paddings together fit into the block",
    BlockSize "BLOCK_SIZE" "`block_size` is at least 1",
    CyclicStart "CYCLIC_START" "a cyclic part starts at proc_grid_rank * block_size",
    IndicesType "INDICES_TYPE" "`indices` is a one-dimensional buffer of integers",
    IndicesDup "INDICES_DUP" "a rank lists a label once",
    NdimDiffers "NDIM_DIFFERS" "all ranks have the same number of dimensions",
    AxisConstantDiffers "AXIS_CONSTANT_DIFFERS" "what describes the whole axis agrees on all ranks",
    GridProduct "GRID_PRODUCT" "the grid has as many places as there are ranks",
    RankOrder "RANK_ORDER" "a rank is the row-major index of its grid coordinates",
    AxisNotIdentical "AXIS_NOT_IDENTICAL" "ranks with one grid rank say the same of its axis",
    Adjacency "ADJACENCY" "owned parts of neighbours abut",
    PaddingCounterpart "PADDING_COUNTERPART" "both sides of an inner border have equal padding",
    PaddingExceedsNeighbour "PADDING_EXCEEDS_NEIGHBOUR" "a halo ends within the neighbour",
    Ends "ENDS" "the first part starts at 0 and the last stops at the size",
    SizeSum "SIZE_SUM" "the owned counts add up to the size",
    OneToOne "ONE_TO_ONE" "a label that is promised to be in one place is in one place",
    Dtype "DTYPE" "all ranks have the same element type",
    PartitionMissing "PARTITION_MISSING" "every grid position has a partition",
    PartitionPosition "PARTITION_POSITION" "the key of a partition is a position of the grid",
    PartitionCuts "PARTITION_CUTS" "the partitions tile the array along every axis",
    PartitionLocation "PARTITION_LOCATION" "a partition has at least one location of a known form",
    PartitionLocals "PARTITION_LOCALS" "`locals` lists positions of the grid, each once",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::Code;

    #[test]
    fn names_are_unique_and_upper_case() {
        let mut names: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert!(names.iter().all(|n| n.chars().all(|c| c.is_ascii_uppercase() || c == '_')));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Code::ALL.len());
    }
}
