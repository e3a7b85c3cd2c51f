//! From version 0.9 to 0.10.
//!
//! What changed: in 0.9 `start` and `stop` leave communication padding out, `n` is a type of its
//! own, and the outer padding of a periodic dimension is communication padding, outside the size.
//! In 0.10 `start..stop` is everything that is available here and indices are never negative, so a
//! periodic 0.9 dimension with outer widths L and R becomes one whose size is larger by L + R and
//! whose every index is larger by L. That needs L of the first and R of the last grid rank, so all
//! ranks are upgraded together.

use crate::{Note, Object, Section, Version};

/// The sections after an upgrade, and what was done.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Upgraded {
    /// The sections; one that could not be upgraded is as before, old version included.
    pub sections: Vec<Section>,
    /// What was done, and why something was not.
    pub notes: Vec<Note>,
}

/// Turns sections of version 0.9 (or 1.0.0, its earlier name) into sections of version 0.10.
///
/// Section r is rank r's. Sections of other versions are not touched. Values of wrong types are
/// not touched either; the judgement will name them.
#[must_use]
pub fn upgrade(sections: &[Section]) -> Upgraded {
    let old = |section: &Section| section.version().is_some_and(Version::is_dialect_0_9);
    let count = sections.iter().filter(|section| old(section)).count();
    let mut upgraded = Upgraded { sections: sections.to_vec(), notes: Vec::new() };
    if count == 0 {
        return upgraded;
    }
    if count < sections.len() {
        let message = "not upgraded: some ranks state version 0.9 and some another one";
        upgraded.notes.push(Note::new(message));
        return upgraded;
    }
    let ndim = sections.iter().map(|section| section.dicts().len()).max().unwrap_or(0);
    let outer: Result<Vec<Outer>, Note> = (0..ndim).map(|axis| Outer::of(sections, axis)).collect();
    match outer {
        Err(note) => upgraded.notes.push(note),
        Ok(outer) => {
            let mut notes = vec![Note::new(format!("upgraded from version {}", shown(sections)))];
            for (rank, section) in upgraded.sections.iter_mut().enumerate() {
                upgrade_section(section, rank, &outer, &mut notes);
            }
            upgraded.notes = notes;
        }
    }
    upgraded
}

fn shown(sections: &[Section]) -> String {
    let version = sections.first().and_then(Section::version);
    version.map_or_else(|| "0.9".to_owned(), |version| version.to_string())
}

/// The outer widths of a periodic dimension, which 0.10 counts in its size; else zeros.
#[derive(Clone, Copy, Default)]
struct Outer {
    left: i64,
    right: i64,
}

/// What the upgrade needs to know of a dictionary.
struct Old {
    letter: String,
    grid_size: i64,
    grid_rank: i64,
    padding: (i64, i64),
    periodic: bool,
}

impl Old {
    /// `None` if a value has the wrong type.
    fn read(dict: &Object) -> Option<Self> {
        let letter = dict.get("dist_type")?.as_str()?.to_owned();
        let none = letter == "n";
        let number = |key, default| match dict.get(key) {
            None if none => Some(default),
            value => value?.as_i64(),
        };
        let padding = match dict.get("padding") {
            None => (0, 0),
            Some(widths) => match widths.as_sequence()? {
                [left, right] => (left.as_i64()?, right.as_i64()?),
                _ => return None,
            },
        };
        Some(Self {
            letter,
            grid_size: number("proc_grid_size", 1)?,
            grid_rank: number("proc_grid_rank", 0)?,
            padding,
            periodic: dict.get("periodic").and_then(Object::as_bool).unwrap_or(false),
        })
    }

    fn is_first(&self) -> bool {
        self.grid_rank == 0
    }

    fn is_last(&self) -> bool {
        self.grid_rank == self.grid_size.saturating_sub(1)
    }
}

impl Outer {
    fn of(sections: &[Section], axis: usize) -> Result<Self, Note> {
        let dicts = sections.iter().filter_map(|section| section.dicts().get(axis));
        let dims: Vec<Old> = dicts.filter_map(Old::read).collect();
        let blocks = dims.iter().filter(|dim| matches!(dim.letter.as_str(), "b" | "n"));
        let periodic: Vec<&Old> = blocks.filter(|dim| dim.periodic).collect();
        if periodic.iter().all(|dim| dim.padding == (0, 0)) {
            return Ok(Self::default());
        }
        let first = periodic.iter().find(|dim| dim.is_first());
        let last = periodic.iter().find(|dim| dim.is_last());
        match (first, last) {
            (Some(first), Some(last)) => Ok(Self { left: first.padding.0, right: last.padding.1 }),
            _ => {
                let message = "not upgraded: the size of a periodic dimension with padding grows \
                               by the outer widths, which need the first and the last grid rank";
                Err(Note::new(message).on(None, axis))
            }
        }
    }
}

fn upgrade_section(section: &mut Section, rank: usize, outer: &[Outer], notes: &mut Vec<Note>) {
    section.version = Some(Version::CURRENT.to_string().as_str().into());
    let Some(dim_data) = &section.dim_data else { return };
    let dicts = section.dicts().iter().enumerate().map(|(axis, dict)| {
        let mut dict = dict.clone();
        let note = Old::read(&dict).and_then(|old| upgrade_dim(&mut dict, &old, outer[axis]));
        notes.extend(note.map(|message| Note::new(message).on(Some(rank), axis)));
        dict
    });
    let dicts = dicts.collect();
    if dim_data.as_sequence().is_some() {
        section.dim_data = Some(dim_data.with_kind(crate::Kind::Tuple(dicts)));
    }
}

/// Adds `change` to the integer under `key`, if it is one.
fn add(dict: &mut Object, key: &str, change: i64) {
    if let Some(value) = dict.get(key).and_then(Object::as_i64) {
        dict.set(key, value.saturating_add(change).into());
    }
}

/// Changes one dictionary; a returned sentence says what was lost.
fn upgrade_dim(dict: &mut Object, old: &Old, outer: Outer) -> Option<String> {
    match old.letter.as_str() {
        "n" => {
            if old.periodic {
                add(dict, "size", outer.left.saturating_add(outer.right));
            }
            let size = dict.get("size").cloned();
            dict.set("dist_type", "b".into());
            dict.set("proc_grid_size", old.grid_size.into());
            dict.set("proc_grid_rank", old.grid_rank.into());
            dict.set("start", 0.into());
            if let Some(size) = size {
                dict.set("stop", size);
            }
            None
        }
        "b" => {
            // Inner widths are halos and now count as available; outer ones already did, unless
            // the dimension is periodic.
            let left = if old.is_first() && !old.periodic { 0 } else { old.padding.0 };
            let right = if old.is_last() && !old.periodic { 0 } else { old.padding.1 };
            add(dict, "start", outer.left.saturating_sub(left));
            add(dict, "stop", outer.left.saturating_add(right));
            add(dict, "size", outer.left.saturating_add(outer.right));
            None
        }
        letter if old.periodic => {
            dict.remove("periodic");
            Some(format!("`periodic` dropped: 0.10 has it for blocks only, this is `{letter}`"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{check, json};

    fn upgraded(version: &str, ranks: &str) -> Upgraded {
        let text = format!(r#"{{"version": "{version}", "dim_data_per_rank": {ranks}}}"#);
        upgrade(json::read(&text).unwrap().sections().unwrap())
    }

    fn bounds(section: &Section) -> [i64; 3] {
        ["size", "start", "stop"].map(|key| section.dicts()[0].get(key).unwrap().as_i64().unwrap())
    }

    fn rank(grid_rank: usize, start: usize, stop: usize) -> String {
        format!(
            r#"[{{"dist_type": "b", "size": 12, "proc_grid_size": 3, "proc_grid_rank": {grid_rank},
                "start": {start}, "stop": {stop}, "padding": [1, 1], "periodic": true}}]"#
        )
    }

    #[test]
    fn periodic_outer_halos_enlarge_the_size() {
        let ranks = [rank(0, 0, 4), rank(1, 4, 9), rank(2, 9, 12)].join(",");
        for version in ["0.9.0", "1.0.0"] {
            let upgraded = upgraded(version, &format!("[{ranks}]"));
            let found: Vec<_> = upgraded.sections.iter().map(bounds).collect();
            assert_eq!(found, [[14, 0, 6], [14, 4, 11], [14, 9, 14]]);
            assert_eq!(check(&upgraded.sections), []);
        }
    }

    #[test]
    fn one_rank_of_a_periodic_dimension_is_not_enough() {
        let upgraded = upgraded("0.9.0", &format!("[{}]", rank(1, 4, 9)));
        assert_eq!(upgraded.sections[0].version().unwrap().minor, 9);
        assert!(upgraded.notes[0].message.starts_with("not upgraded"), "{:?}", upgraded.notes);
    }

    #[test]
    fn undistributed_periodic_dimensions() {
        let text = r#"[[{"dist_type": "n", "size": 6, "padding": [2, 1], "periodic": true}]]"#;
        let upgraded = upgraded("0.9.0", text);
        assert_eq!(bounds(&upgraded.sections[0]), [9, 0, 9]);
        assert_eq!(check(&upgraded.sections), []);
    }

    #[test]
    fn other_versions_and_wrong_types_stay() {
        let text = r#"[[{"dist_type": "b", "size": "x"}], 7]"#;
        assert_eq!(upgraded("0.10.0", text).notes, []);
        assert_eq!(check(&upgraded("0.9.0", text).sections).len(), 6);
    }
}
