//! `__partitioned__` dictionaries as JSON: keys of positions are `"1,0"` or `"(1, 0)"`.

use super::check::shown;
use super::{Location, Partition, Partitioned, Position};
use crate::{Code, Finding, Note};
use pantile_text::json::{Member, Value};
use std::collections::BTreeMap;

/// Reads a dictionary and everything that is wrong with it, types and rules.
///
/// The dictionary is `None` if values of wrong types leave nothing to judge by the rules.
#[must_use]
pub fn read(value: &Value) -> (Option<Partitioned>, Vec<Finding>, Vec<Note>) {
    let mut reader = Reader { findings: Vec::new() };
    let (partitioned, notes) = reader.dictionary(value);
    let mut findings = reader.findings;
    if let Some(partitioned) = &partitioned {
        findings.extend(partitioned.check());
    }
    (partitioned, findings, notes)
}

/// Reads `1,0`, `(1, 0)`, `(1,)` or `()`.
fn position(key: &str) -> Option<Position> {
    let key = key.trim();
    let inner = key.strip_prefix('(').map_or(Some(key), |rest| rest.strip_suffix(')'))?.trim();
    let inner = inner.strip_suffix(',').unwrap_or(inner);
    if inner.is_empty() {
        return Some(Vec::new());
    }
    inner.split(',').map(|number| number.trim().parse().ok()).collect()
}

struct Reader {
    findings: Vec<Finding>,
}

impl Reader {
    fn find(&mut self, code: Code, value: &Value, message: String) {
        self.findings.push(Finding::new(code, message).at(Some(value.offset())));
    }

    fn dictionary(&mut self, value: &Value) -> (Option<Partitioned>, Vec<Note>) {
        let mut notes = Vec::new();
        let shape = self.numbers(value, "shape", "the dictionary");
        let partitions = self.partitions(value);
        let locals = self.locals(value);
        let tiling = match value.get("partition_tiling") {
            Some(_) => self.numbers(value, "partition_tiling", "the dictionary"),
            None => shape.clone(),
        };
        let first_draft = value.get("partition_tiling").is_none();
        let (Some(shape), Some(tiling), Some(partitions), Some(locals)) =
            (shape, tiling, partitions, locals)
        else {
            return (None, notes);
        };
        let shape = if first_draft {
            notes.push(Note::new("no `partition_tiling`: `shape` is read as in the first draft"));
            extent_of(&partitions, tiling.len())
        } else {
            shape
        };
        (Some(Partitioned { shape, tiling, partitions, locals }), notes)
    }

    fn numbers(&mut self, value: &Value, key: &str, of: &str) -> Option<Vec<i64>> {
        let Some(own) = value.get(key) else {
            self.find(Code::MissingKey, value, format!("{of} has no `{key}`"));
            return None;
        };
        let numbers = own.as_i64_array();
        if numbers.is_none() {
            let message =
                format!("`{key}` of {of} is {}, expected an array of integers", own.describe());
            self.find(Code::Type, own, message);
        }
        numbers
    }

    fn partitions(&mut self, value: &Value) -> Option<BTreeMap<Position, Partition>> {
        let partitions = value.get("partitions")?;
        let Some(members) = partitions.as_object() else {
            let message = format!("`partitions` is {}, expected an object", partitions.describe());
            self.find(Code::Type, partitions, message);
            return None;
        };
        let before = self.findings.len();
        let mut read = BTreeMap::new();
        for member in members {
            let Some(position) = position(member.key()) else {
                let message = format!("the key {:?} is not a position like \"1,0\"", member.key());
                self.find(Code::PartitionPosition, member.value(), message);
                continue;
            };
            let Some(partition) = self.partition(member, &position) else { continue };
            if read.contains_key(&position) {
                let message = format!("the position {} occurs twice", shown(&position));
                self.find(Code::PartitionPosition, member.value(), message);
            }
            read.insert(position, partition);
        }
        (self.findings.len() == before).then_some(read)
    }

    fn partition(&mut self, member: &Member, position: &[i64]) -> Option<Partition> {
        let (value, of) = (member.value(), format!("the partition at {}", shown(position)));
        if value.as_object().is_none() {
            let message = format!("{of} is {}, expected an object", value.describe());
            self.find(Code::Type, value, message);
            return None;
        }
        let start = self.numbers(value, "start", &of);
        let shape = self.numbers(value, "shape", &of);
        let location = self.locations(value, &of);
        Some(Partition { start: start?, shape: shape?, location: location? })
    }

    /// One location as in the first draft, or a list of locations. A list that is itself one
    /// location of the last draft, `["10.0.0.1", 7]`, is two names to nobody: it is read as one.
    fn locations(&mut self, value: &Value, of: &str) -> Option<Vec<Location>> {
        let Some(own) = value.get("location") else {
            self.find(Code::MissingKey, value, format!("{of} has no `location`"));
            return None;
        };
        let single = location(own);
        let read = match own.as_array() {
            Some(_) if single.is_some() => single.map(|single| vec![single]),
            Some(items) => items.iter().map(location).collect(),
            None => single.map(|single| vec![single]),
        };
        if read.is_none() {
            let message = format!(
                "`location` of {of} is {}, expected ranks, names or [address, pid, device]",
                own.describe()
            );
            self.find(Code::PartitionLocation, own, message);
        }
        read
    }

    /// `Some(None)` if there are none, `None` if they cannot be read.
    fn locals(&mut self, value: &Value) -> Option<Option<Vec<Position>>> {
        let Some(own) = value.get("locals").filter(|own| !own.is_null()) else { return Some(None) };
        let read = |item: &Value| {
            item.as_i64_array()
                .or_else(|| item.as_str().and_then(position))
                .or_else(|| item.as_i64().map(|number| vec![number]))
        };
        let positions: Option<Vec<Position>> =
            own.as_array().and_then(|items| items.iter().map(read).collect());
        if positions.is_none() {
            let message = format!("`locals` is {}, expected an array of positions", own.describe());
            self.find(Code::PartitionLocals, own, message);
        }
        positions.map(Some)
    }
}

/// The far corner of all partitions: the extents that the first draft does not state.
fn extent_of(partitions: &BTreeMap<Position, Partition>, ndim: usize) -> Vec<i64> {
    let end = |axis: usize| {
        let ends = partitions.values().map(|partition| {
            let at = |numbers: &[i64]| numbers.get(axis).copied().unwrap_or(0);
            at(&partition.start).saturating_add(at(&partition.shape))
        });
        ends.max().unwrap_or(0)
    };
    (0..ndim).map(end).collect()
}

fn location(value: &Value) -> Option<Location> {
    if let Some(rank) = value.as_i64() {
        return Some(Location::Rank(rank));
    }
    if let Some(name) = value.as_str() {
        return Some(Location::Name(name.to_owned()));
    }
    let (address, pid, device) = match value.as_array()? {
        [address, pid] => (address, pid, None),
        [address, pid, device] => (address, pid, Some(device.as_str()?.to_owned())),
        _ => return None,
    };
    Some(Location::Process { address: address.as_str()?.to_owned(), pid: pid.as_i64()?, device })
}

impl From<&Location> for Value {
    fn from(location: &Location) -> Self {
        match location {
            Location::Rank(rank) => (*rank).into(),
            Location::Name(name) => name.as_str().into(),
            Location::Process { address, pid, device } => {
                let mut items = vec![Self::from(address.as_str()), (*pid).into()];
                items.extend(device.as_deref().map(Self::from));
                Self::array(items)
            }
        }
    }
}

impl Partitioned {
    /// The JSON form, keys like `"1,0"`; [`read`] reads it back.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let key = |position: &Position| {
            let numbers: Vec<String> = position.iter().map(i64::to_string).collect();
            numbers.join(",")
        };
        let partitions = self.partitions.iter().map(|(position, partition)| {
            let locations = partition.location.iter().map(Value::from);
            let entry = Value::object([
                ("start", Value::from(partition.start.as_slice())),
                ("shape", partition.shape.as_slice().into()),
                ("location", Value::array(locations)),
            ]);
            (key(position), entry)
        });
        let mut members = vec![
            ("shape", Value::from(self.shape.as_slice())),
            ("partition_tiling", self.tiling.as_slice().into()),
            ("partitions", Value::object(partitions)),
        ];
        if let Some(locals) = &self.locals {
            let locals = locals.iter().map(|position| Value::from(position.as_slice()));
            members.push(("locals", Value::array(locals)));
        }
        Value::object(members)
    }
}
