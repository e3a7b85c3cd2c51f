//! The values of a member: numbers, local arrays, and its parts of distributed arrays.

use std::ops::Range;

use pantile_engine::DType;
use pantile_geometry::slices::{Parts, default_partition};
use pantile_ir::{Attribute, DistEnv, Env, LocalParts, Scalar, Type};

use crate::error::OperationFault;
use crate::local::LocalArray;
use crate::machine::MemberTeam;

/// What a value of a member's program is.
#[allow(clippy::large_enum_variant, reason = "a program has few values at a time")]
#[derive(Clone, Debug)]
pub enum MemberValue {
    /// A number; an index is an `I64`.
    Number(Scalar),
    /// An array that this rank has; of a distributed array without axes its element.
    Local(LocalArray),
    /// This rank's parts of a distributed array.
    Parts(PartedArray),
    /// What a collective operation gives and `wait` takes: everything has arrived.
    Handle,
}

/// Where the parts of one member lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartLayout {
    /// The first stored row.
    pub offset: usize,
    /// Rows of the left halo, the owned part and the right halo.
    pub rows: [usize; 3],
    /// The stored columns along the other axes.
    pub columns: Vec<Range<usize>>,
}

/// One member's parts of a distributed array that has axes.
#[derive(Clone, Debug)]
pub struct PartedArray {
    /// The lengths of the whole array.
    pub shape: Vec<usize>,
    /// The type of its elements.
    pub dtype: DType,
    /// Its team.
    pub team: Attribute,
    /// Where the parts lie.
    pub layout: PartLayout,
    /// Left halo, owned part, right halo.
    pub parts: [LocalArray; 3],
    /// How the parts of all members lie together, as far as every member knows.
    pub(crate) spread: Spread,
}

/// How the parts of all members lie together, as far as every member knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spread {
    /// The default partition, without halos.
    Default,
    /// One element that every member has.
    Everywhere,
    /// The stored rows are those of the default partition; some may be halos.
    Stored,
    /// Members have to ask each other.
    Unknown,
}

impl PartLayout {
    /// The default partition.
    pub(crate) fn default_of(shape: &[usize], team: &MemberTeam) -> Result<Self, OperationFault> {
        let Some(me) = team.me else {
            let columns = shape.iter().skip(1).map(|length| 0..*length).collect();
            return Ok(Self { offset: 0, rows: [0; 3], columns });
        };
        let region = default_partition(shape, team.ranks.len(), me)?;
        let rows = region.first().cloned().unwrap_or(0..0);
        Ok(Self { offset: rows.start, rows: [0, rows.len(), 0], columns: region[1..].to_vec() })
    }

    /// The owned rows.
    #[must_use]
    pub fn owned_rows(&self) -> Range<usize> {
        let start = self.offset + self.rows[0];
        start..start + self.rows[1]
    }

    /// All stored rows.
    #[must_use]
    pub fn stored_rows(&self) -> Range<usize> {
        self.offset..self.offset + self.rows.iter().sum::<usize>()
    }

    /// The owned box.
    pub(crate) fn owned(&self) -> Vec<Range<usize>> {
        self.boxed(self.owned_rows())
    }

    /// Some rows with the stored columns.
    pub(crate) fn boxed(&self, rows: Range<usize>) -> Vec<Range<usize>> {
        std::iter::once(rows).chain(self.columns.iter().cloned()).collect()
    }

    /// As a view sees it.
    pub(crate) fn row_parts(&self) -> Parts {
        let [left, owned, right] = self.rows;
        Parts { offset: self.offset, left, owned, right }
    }

    /// The shape of a part.
    pub(crate) fn part_shape(&self, part: usize) -> Vec<usize> {
        self.shape_of(self.rows[part])
    }

    /// The shape of so many rows.
    pub(crate) fn shape_of(&self, rows: usize) -> Vec<usize> {
        std::iter::once(rows).chain(self.columns.iter().map(Range::len)).collect()
    }

    /// Where each part begins among the stored rows.
    pub(crate) fn starts(&self) -> [usize; 3] {
        [0, self.rows[0], self.rows[0] + self.rows[1]]
    }
}

impl PartedArray {
    /// An owned part without halos.
    pub(crate) fn plain(
        (shape, team): (&[usize], &Attribute),
        layout: PartLayout,
        owned: LocalArray,
        spread: Spread,
    ) -> Result<Self, OperationFault> {
        let nothing = layout.shape_of(0);
        let dtype = owned.dtype();
        let halo = || LocalArray::zeroed(&nothing, dtype);
        let parts = [halo()?, owned, halo()?];
        Ok(Self { shape: shape.to_vec(), dtype, team: team.clone(), layout, parts, spread })
    }

    /// All stored rows as one array.
    pub(crate) fn stored(&self) -> Result<LocalArray, OperationFault> {
        let rows = self.layout.stored_rows();
        let some: Vec<&LocalArray> = (0..3)
            .filter(|part| self.layout.rows[*part] > 0)
            .map(|part| &self.parts[part])
            .collect();
        match some[..] {
            [] => Ok(self.parts[1].clone()),
            _ => LocalArray::joined(&some, &self.layout.shape_of(rows.len())),
        }
    }

    /// Stored rows counted from the first one; a view if they lie in one part.
    pub(crate) fn rows(&self, rows: Range<usize>) -> Result<LocalArray, OperationFault> {
        let starts = self.layout.starts();
        let inside = (0..3).find(|part| {
            starts[*part] <= rows.start && rows.end <= starts[*part] + self.layout.rows[*part]
        });
        match inside {
            Some(part) => self.parts[part].rows(rows.start - starts[part]..rows.end - starts[part]),
            None => self.stored()?.rows(rows),
        }
    }

    /// True if it has exactly one element.
    pub(crate) fn is_unit(&self) -> bool {
        self.shape.iter().all(|length| *length == 1)
    }
}

impl MemberValue {
    /// What it is, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Number(_) => "a number",
            Self::Local(_) => "a local array",
            Self::Parts(_) => "a distributed array",
            Self::Handle => "a handle",
        }
    }

    /// Sees that it is what a type says.
    pub(crate) fn check(&self, ty: &Type) -> Result<(), OperationFault> {
        let (shape, dtype) = match self {
            Self::Handle => return Ok(()),
            Self::Number(scalar) => (&[][..], scalar.dtype()),
            Self::Local(array) => (array.shape(), array.dtype()),
            Self::Parts(array) => (&array.shape[..], array.dtype),
        };
        let declared = ty.shape();
        let fits = shape.len() == declared.len()
            && shape.iter().zip(declared).all(|(is, dim)| dim.is_none_or(|dim| dim == *is));
        if !fits || ty.dtype() != Some(dtype) {
            let (shape, declared) = (shape.to_vec(), declared.to_vec());
            return Err(OperationFault::WrongType { shape, dtype, declared, expected: ty.dtype() });
        }
        match (self, local_parts(ty)) {
            (Self::Parts(array), Some(local)) => check_parts(&array.layout, local),
            _ => Ok(()),
        }
    }
}

/// What a type says about the parts.
fn local_parts(ty: &Type) -> Option<&LocalParts> {
    ty.as_array()?.dist_env()?.local.as_ref()
}

fn check_parts(layout: &PartLayout, local: &LocalParts) -> Result<(), OperationFault> {
    let first = local.offsets.first().copied().flatten();
    let rows: Vec<Option<usize>> =
        local.parts.iter().map(|part| part.first().copied().flatten()).collect();
    let said = match rows[..] {
        [one] => [Some(0), one, Some(0)],
        [left, owned, right] => [left, owned, right],
        _ => [None; 3],
    };
    let at = first.is_none_or(|first| usize::try_from(first) == Ok(layout.offset));
    // Where a member has no rows, the place of its parts says nothing.
    let none = layout.rows == [0; 3];
    let fits = layout.rows.iter().zip(said).all(|(got, said)| said.is_none_or(|said| said == *got));
    match fits && (at || none) {
        true => Ok(()),
        false => {
            let (got, declared) = ((layout.offset, layout.rows), (first, rows));
            Err(OperationFault::WrongParts { got, declared })
        }
    }
}

/// The team of a distributed type.
pub(crate) fn team_of(ty: &Type) -> Option<Attribute> {
    let array = ty.as_array()?;
    let env = array.envs.iter().find_map(|env| match env {
        Env::Dist(DistEnv { team, .. }) => Some(team),
        _ => None,
    });
    env.cloned()
}
