//! The judgement of one section alone: every rule that needs no other rank.
//!
//! A rule is judged when everything it speaks about is there and of the right type; a value that is
//! wrong in itself is found once, not again by every rule that mentions it.

use crate::{Block, Code, Dim, DimKind, Finding, Kind, Object, Place, Section, VersionVerdict};

/// Judges one section strictly and returns all findings, none if it is valid.
///
/// ```
/// use pantile_protocol::{Dim, Section, validate};
/// assert_eq!(validate(&Section::from_dims(&[Dim::whole(5)], None)), []);
/// ```
#[must_use]
pub fn validate(section: &Section) -> Vec<Finding> {
    read(section).1
}

/// The typed dimensions (`None` where one could not be read) and all findings.
pub(crate) fn read(section: &Section) -> (Vec<Option<Dim>>, Vec<Finding>) {
    let mut findings = Vec::new();
    judge_version(section, &mut findings);
    judge_buffer(section, &mut findings);
    for key in &section.extra_keys {
        let message = format!("the structure has the key `{key}`");
        findings.push(Finding::new(Code::ExtraKey, message));
    }
    judge_dim_data(section, &mut findings);
    let shape = section.shape();
    let dims = section.dicts().iter().enumerate().map(|(axis, object)| {
        let extent = shape.and_then(|shape| shape.get(axis).copied());
        let mut reader = DimReader { object, found: Vec::new() };
        let dim = reader.dim(extent);
        findings.extend(reader.found.into_iter().map(|finding| finding.on_axis(axis)));
        dim
    });
    let dims = dims.collect();
    (dims, findings)
}

fn judge_version(section: &Section, findings: &mut Vec<Finding>) {
    let Some(given) = &section.version else {
        findings.push(Finding::new(Code::MissingKey, "the structure has no `__version__`"));
        return;
    };
    let verdict = section.version().map(crate::Version::verdict);
    let (code, expected) = match verdict {
        Some(VersionVerdict::Accepted) => return,
        Some(VersionVerdict::Old) => (Code::VersionOld, "0.10.0 or newer (upgrade it first)"),
        Some(VersionVerdict::Unknown) => (Code::VersionMajor, "0.10.0 or newer, below 1.0.0"),
        None => (Code::Version, "a string like \"0.10.0\""),
    };
    let message = format!("version is {given}, expected {expected}");
    findings.push(Finding::new(code, message).at(given.offset()));
}

fn judge_buffer(section: &Section, findings: &mut Vec<Finding>) {
    match &section.buffer {
        crate::Buffer::Missing => {
            findings.push(Finding::new(Code::MissingKey, "the structure has no `buffer`"));
        }
        crate::Buffer::Other(what) => {
            findings.push(Finding::new(Code::Type, format!("`buffer` is {what}")));
        }
        crate::Buffer::Known { .. } | crate::Buffer::Unknown => {}
    }
}

fn judge_dim_data(section: &Section, findings: &mut Vec<Finding>) {
    let Some(dim_data) = &section.dim_data else {
        findings.push(Finding::new(Code::MissingKey, "the structure has no `dim_data`"));
        return;
    };
    let place = dim_data.offset();
    if dim_data.as_tuple().is_none() {
        let message = format!("`dim_data` is {dim_data}, expected a tuple of dicts");
        findings.push(Finding::new(Code::Type, message).at(place));
    }
    let (count, ndim) = (section.dicts().len(), section.shape().map(<[i64]>::len));
    if dim_data.as_sequence().is_some() && ndim.is_some_and(|ndim| ndim != count) {
        let ndim = ndim.unwrap_or_default();
        let message = format!("`dim_data` has {count} dicts, but the buffer has {ndim} dimensions");
        findings.push(Finding::new(Code::Ndim, message).at(place));
    }
}

/// Reads one dimension dictionary and collects what is wrong with it.
struct DimReader<'a> {
    object: &'a Object,
    found: Vec<Finding>,
}

/// The values of the common keys that could be read.
#[derive(Clone, Copy)]
struct Common {
    size: Option<i64>,
    grid_size: Option<i64>,
    grid_rank: Option<i64>,
}

impl Common {
    fn place(self) -> Option<Place> {
        let (size, grid_size, grid_rank) = (self.size?, self.grid_size?, self.grid_rank?);
        Some(Place { size, grid_size, grid_rank })
    }
}

impl DimReader<'_> {
    fn find(&mut self, code: Code, key: &str, message: String) {
        let value = self.object.get(key).unwrap_or(self.object);
        self.found.push(Finding::new(code, message).at(value.offset()));
    }

    fn dim(&mut self, extent: Option<i64>) -> Option<Dim> {
        let Some(entries) = self.object.as_dict() else {
            let message = format!("the dimension is {}, expected a dict", self.object);
            self.find(Code::Type, "", message);
            return None;
        };
        if entries.is_empty() {
            return self.alias(extent);
        }
        let letter = self.object.get("dist_type").and_then(Object::as_str);
        let known = matches!(letter, Some("b" | "c" | "u"));
        if !known {
            self.unknown_type();
        }
        let common = self.common(known);
        match letter {
            Some("b") => self.block(common, extent),
            Some("c") => self.cyclic(common, extent),
            Some("u") => self.indexed(common, extent),
            _ => None,
        }
    }

    fn alias(&mut self, extent: Option<i64>) -> Option<Dim> {
        if extent.is_none() {
            let message = "{} stands for the extent of the buffer, which is not known";
            self.find(Code::MissingKey, "", message.to_owned());
        }
        extent.map(Dim::whole)
    }

    fn unknown_type(&mut self) {
        let message = match self.object.get("dist_type") {
            Some(value) if value.as_str() == Some("n") => {
                "`dist_type` is \"n\", which version 0.10 replaced by {}".to_owned()
            }
            Some(value) => format!("`dist_type` is {value}, expected \"b\", \"c\" or \"u\""),
            None if self.object.get("disttype").is_some() => {
                "`disttype` is a key of drafts before 0.9, which are not read".to_owned()
            }
            None => "no `dist_type`, expected \"b\", \"c\" or \"u\"".to_owned(),
        };
        self.find(Code::DistType, "dist_type", message);
    }

    /// The integer under `key`, of at least `least`; `code` is for smaller ones.
    fn integer(&mut self, key: &str, required: bool) -> Option<i64> {
        let Some(value) = self.object.get(key) else {
            if required {
                self.find(Code::MissingKey, key, format!("no `{key}`"));
            }
            return None;
        };
        let number = value.as_i64();
        if number.is_none() {
            let expected =
                if matches!(value.kind(), Kind::Int(_)) { "64 bits" } else { "an integer" };
            self.find(Code::Type, key, format!("`{key}` is {value}, expected {expected}"));
        }
        number
    }

    fn at_least(&mut self, code: Code, key: &str, least: i64, value: Option<i64>) -> Option<i64> {
        let small = value.filter(|value| *value < least);
        if let Some(value) = small {
            self.find(code, key, format!("`{key}` is {value}, expected at least {least}"));
        }
        value.filter(|_| small.is_none())
    }

    fn flag(&mut self, key: &str) -> Option<bool> {
        let Some(value) = self.object.get(key) else { return Some(false) };
        let flag = value.as_bool();
        if flag.is_none() {
            self.find(Code::Type, key, format!("`{key}` is {value}, expected True or False"));
        }
        flag
    }

    /// The keys that every type has. For an unknown type only what is there is looked at.
    fn common(&mut self, required: bool) -> Common {
        let size = self.integer("size", required);
        let size = self.at_least(Code::SizeNeg, "size", 0, size);
        let grid_size = self.integer("proc_grid_size", required);
        let grid_size = self.at_least(Code::GridSize, "proc_grid_size", 1, grid_size);
        let rank = self.integer("proc_grid_rank", required);
        let end = grid_size.unwrap_or(i64::MAX);
        if let Some(rank) = rank.filter(|rank| !(0..end).contains(rank)) {
            let limit = grid_size.map_or("at least 0".to_owned(), |n| format!("one of 0..{n}"));
            let message = format!("`proc_grid_rank` is {rank}, expected {limit}");
            self.find(Code::GridRank, "proc_grid_rank", message);
        }
        Common { size, grid_size, grid_rank: rank.filter(|rank| (0..end).contains(rank)) }
    }

    fn first_start(&mut self, common: Common, start: Option<i64>) {
        if let (Some(0), Some(start @ (..=-1 | 1..))) = (common.grid_rank, start) {
            let message = format!("`start` is {start}, but grid rank 0 starts at 0");
            self.find(Code::FirstStart, "start", message);
        }
    }

    fn extent(&mut self, expected: i128, extent: Option<i64>) {
        if let Some(extent) = extent.filter(|extent| i128::from(*extent) != expected) {
            let message = format!("the buffer's extent is {extent}, expected {expected}");
            self.find(Code::Extent, "", message);
        }
    }

    fn block(&mut self, common: Common, extent: Option<i64>) -> Option<Dim> {
        let start = self.integer("start", true);
        let stop = self.integer("stop", true);
        self.first_start(common, start);
        self.block_range(common.size, start, stop);
        let padding = self.padding();
        let periodic = self.flag("periodic");
        let (start, stop) = (start?, stop?);
        let length = (i128::from(stop) - i128::from(start)).max(0);
        self.extent(length, extent);
        let (left, right) = padding?;
        if stop >= start && i128::from(left) + i128::from(right) > length {
            let message = format!("padding ({left}, {right}) in a block of {length}");
            self.find(Code::PaddingTooWide, "padding", message);
        }
        let block = Block { start, stop, padding: (left, right), periodic: periodic? };
        Dim::new(common.place()?, DimKind::Block(block)).ok()
    }

    fn block_range(&mut self, size: Option<i64>, start: Option<i64>, stop: Option<i64>) {
        let (low, high) = (start.unwrap_or(0), size.unwrap_or(i64::MAX));
        let stop_or_start = stop.unwrap_or(low);
        if low < 0 || stop_or_start < low || stop_or_start > high {
            let word = |value: Option<i64>| value.map_or("?".to_owned(), |value| value.to_string());
            let (start, stop, size) = (word(start), word(stop), word(size));
            let message = format!("got 0 <= start {start} <= stop {stop} <= size {size}");
            self.find(Code::BlockRange, "start", message);
        }
    }

    fn padding(&mut self) -> Option<(i64, i64)> {
        let Some(value) = self.object.get("padding") else { return Some((0, 0)) };
        let widths: Option<Vec<i64>> =
            value.as_tuple().and_then(|items| items.iter().map(Object::as_i64).collect());
        let Some(&[left, right]) = widths.as_deref() else {
            let message = format!("`padding` is {value}, expected a tuple of two integers");
            self.find(Code::PaddingForm, "padding", message);
            return None;
        };
        if left < 0 || right < 0 {
            let message = format!("`padding` is ({left}, {right}), expected widths of at least 0");
            self.find(Code::PaddingNeg, "padding", message);
            return None;
        }
        Some((left, right))
    }

    fn cyclic(&mut self, common: Common, extent: Option<i64>) -> Option<Dim> {
        let start = self.integer("start", true);
        self.first_start(common, start);
        let given = self.object.get("block_size").is_some();
        let block_size = if given { self.integer("block_size", false) } else { Some(1) };
        let block_size = self.at_least(Code::BlockSize, "block_size", 1, block_size);
        if let (Some(start), Some(rank), Some(block_size)) = (start, common.grid_rank, block_size) {
            let first = i128::from(rank) * i128::from(block_size);
            // An empty rank may also say that it starts at the end.
            let empty = common.size.is_some_and(|size| first >= i128::from(size) && start == size);
            if i128::from(start) != first && !empty {
                let message = format!("`start` is {start}, expected {rank} * {block_size}");
                self.find(Code::CyclicStart, "start", message);
            }
        }
        let kind = DimKind::Cyclic { start: start.unwrap_or(0), block_size: block_size? };
        let dim = Dim::new(common.place()?, kind).ok()?;
        self.extent(dim.wide_extent(), extent);
        start.map(|_| dim)
    }

    fn indexed(&mut self, common: Common, extent: Option<i64>) -> Option<Dim> {
        let one_to_one = self.flag("one_to_one");
        let indices = match self.object.get("indices") {
            None => {
                self.find(Code::MissingKey, "indices", "no `indices`".to_owned());
                None
            }
            Some(value) => match value.kind() {
                Kind::Indices(indices) => Some(indices),
                _ => {
                    let message = format!("`indices` is {value}, expected a buffer of integers");
                    self.find(Code::IndicesType, "indices", message);
                    None
                }
            },
        };
        let indices = indices?.clone();
        let mut sorted = indices.clone();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            let message = format!("`indices` has the label {} more than once", pair[0]);
            self.find(Code::IndicesDup, "indices", message);
        }
        self.extent(indices.len() as i128, extent);
        let kind = DimKind::Indexed { indices, one_to_one: one_to_one? };
        Dim::new(common.place()?, kind).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn check(dim: &str, shape: &str, expected: &[&str]) {
        let text =
            format!("{{\"version\":\"0.10.0\",\"dim_data\":[{dim}],\"buffer_shape\":{shape}}}");
        let document = json::read(&text).unwrap();
        let found = validate(&document.sections().unwrap()[0]);
        let codes: Vec<&str> = found.iter().map(|finding| finding.code.as_str()).collect();
        assert_eq!(codes, expected, "{text}");
    }

    const PLACE: &str = r#""size": 10, "proc_grid_size": 2, "proc_grid_rank": 0"#;

    #[test]
    fn every_finding_is_reported() {
        let wrong = r#"{"dist_type": "b", "size": -1, "proc_grid_size": 0, "proc_grid_rank": -1,
            "start": "x", "padding": [1, 1, 1], "periodic": 0}"#;
        let codes =
            ["SIZE_NEG", "GRID_SIZE", "GRID_RANK", "TYPE", "MISSING_KEY", "PADDING_FORM", "TYPE"];
        check(wrong, "[5]", &codes);
        let block = format!(r#"{{"dist_type": "b", {PLACE}, "start": 2, "stop": 11}}"#);
        check(&block, "[3]", &["FIRST_START", "BLOCK_RANGE", "EXTENT"]);
        check("3", "[3]", &["TYPE"]);
        check("", "[3]", &["NDIM"]);
        check(r#"{"disttype": "b"}"#, "[3]", &["DIST_TYPE"]);
        check(r#"{"dist_type": 5, "size": true}"#, "[3]", &["DIST_TYPE", "TYPE"]);
    }

    #[test]
    fn cyclic_and_indexed() {
        let cyclic = |rest: &str| format!(r#"{{"dist_type": "c", {PLACE}, {rest}}}"#);
        check(&cyclic(r#""start": 0"#), "[5]", &[]);
        check(&cyclic(r#""start": 0"#), "[6]", &["EXTENT"]);
        check(&cyclic(r#""start": 1"#), "[5]", &["FIRST_START", "CYCLIC_START"]);
        check(&cyclic(r#""start": 0, "block_size": 1.0"#), "[5]", &["TYPE"]);
        check(&cyclic(r#""stop": 0"#), "[4]", &["MISSING_KEY", "EXTENT"]);
        let indexed = |rest: &str| format!(r#"{{"dist_type": "u", {PLACE}, {rest}}}"#);
        check(&indexed(r#""indices": [1, 5, 1]"#), "[2]", &["INDICES_DUP", "EXTENT"]);
        check(&indexed(r#""indices": [1, 2.5]"#), "[2]", &["INDICES_TYPE"]);
        check(&indexed(r#""indices": [[1], [2]]"#), "[2]", &["INDICES_TYPE"]);
        check(&indexed(r#""indices": [99999999999999999999]"#), "[1]", &["INDICES_TYPE"]);
        check(&indexed(r#""one_to_one": 1"#), "[1]", &["TYPE", "MISSING_KEY"]);
    }

    #[test]
    fn huge_numbers_are_judged_not_computed() {
        let max = i64::MAX;
        let block = format!(
            r#"{{"dist_type": "b", "size": {max}, "proc_grid_size": {max}, "proc_grid_rank": 5,
                "start": {max}, "stop": {max}, "padding": [{max}, {max}]}}"#
        );
        check(&block, "[0]", &["PADDING_TOO_WIDE"]);
        let cyclic = format!(
            r#"{{"dist_type": "c", "size": {max}, "proc_grid_size": 3, "proc_grid_rank": 2,
                "start": 0, "block_size": {max}}}"#
        );
        check(&cyclic, "[0]", &["CYCLIC_START"]);
        let codes = ["DIST_TYPE", "TYPE", "TYPE"];
        check(r#"{"dist_type": "x", "size": 1e300, "proc_grid_rank": 1e-3}"#, "[0]", &codes);
    }
}
