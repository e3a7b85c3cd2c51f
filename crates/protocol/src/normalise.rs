//! The lenient half of an import: real producers bend the protocol, so straighten what has only
//! one meaning, say so, and leave everything else to the judgement.

use crate::{Kind, Note, Object, Section, upgrade};

/// Sections ready for [`crate::check`], and what was done to them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Normalised {
    /// The sections, of version 0.10 where that was possible.
    pub sections: Vec<Section>,
    /// What was changed.
    pub notes: Vec<Note>,
}

/// Straightens what producers are known to bend; section r is rank r's.
///
/// Lists become tuples and lists of integers under `indices` become buffers; 0.9 is upgraded, `n`
/// with it; a wrong or missing `size` on a single rank is replaced by what the rank has. A wrong
/// `size` on several ranks is not repaired: the judgement says what it probably should be.
#[must_use]
pub fn normalise(sections: &[Section]) -> Normalised {
    let straight: Vec<Section> = sections.iter().map(straighten).collect();
    let upgraded = upgrade(&straight);
    let mut normalised = Normalised { sections: upgraded.sections, notes: upgraded.notes };
    if let [section] = normalised.sections.as_mut_slice() {
        repair_sizes(section, &mut normalised.notes);
    }
    normalised
}

fn straighten(section: &Section) -> Section {
    let mut section = section.clone();
    if let Some(dim_data) = &section.dim_data {
        if let Some(dicts) = dim_data.as_sequence() {
            let dicts = dicts.iter().map(straighten_dict).collect();
            section.dim_data = Some(dim_data.with_kind(Kind::Tuple(dicts)));
        } else if dim_data.as_dict().is_some() {
            // A forgotten trailing comma: the tuple of one dict became the dict.
            let dict = straighten_dict(dim_data);
            section.dim_data = Some(dim_data.with_kind(Kind::Tuple(vec![dict])));
        }
    }
    section
}

fn straighten_dict(dict: &Object) -> Object {
    let mut straight = dict.clone();
    if let Some((padding, Kind::List(items))) = dict.get("padding").map(|own| (own, own.kind())) {
        straight.set("padding", padding.with_kind(Kind::Tuple(items.clone())));
    }
    if let Some(indices) = dict.get("indices") {
        let items = indices.as_sequence();
        let labels = items.and_then(|items| items.iter().map(Object::as_i64).collect());
        if let Some(labels) = labels {
            straight.set("indices", indices.with_kind(Kind::Indices(labels)));
        }
    }
    straight
}

/// On one rank the size is what the rank has, whatever the producer wrote.
fn repair_sizes(section: &mut Section, notes: &mut Vec<Note>) {
    let alone = |dict: &Object| dict.get("proc_grid_size").and_then(Object::as_i64) == Some(1);
    if !section
        .dicts()
        .iter()
        .all(|dict| dict.as_dict().is_some_and(<[_]>::is_empty) || alone(dict))
    {
        return;
    }
    let extents: Vec<Option<i64>> =
        section.shape().unwrap_or_default().iter().copied().map(Some).collect();
    let Some(dim_data) = section.dim_data.clone() else { return };
    let dicts = section.dicts().iter().enumerate().map(|(axis, dict)| {
        let mut dict = dict.clone();
        let given = dict.get("size").cloned();
        let actual = actual_size(&dict).or_else(|| extents.get(axis).copied().flatten());
        let wrong = given.as_ref().is_none_or(|size| size.as_i64().is_some());
        let differs = given.as_ref().and_then(Object::as_i64) != actual;
        if let Some(actual) = actual.filter(|_| wrong && differs && alone(&dict)) {
            let before = given.map_or_else(|| "absent".to_owned(), |size| size.to_string());
            let message = format!("`size` was {before}; the only rank has {actual}");
            notes.push(Note::new(message).on(None, axis));
            dict.set("size", actual.into());
        }
        dict
    });
    section.dim_data = Some(dim_data.with_kind(Kind::Tuple(dicts.collect())));
}

/// The size that the dictionary itself implies on one rank, if it does.
fn actual_size(dict: &Object) -> Option<i64> {
    match dict.get("dist_type")?.as_str()? {
        "b" => dict.get("stop")?.as_i64(),
        "u" => match dict.get("indices")?.kind() {
            Kind::Indices(labels) => i64::try_from(labels.len()).ok(),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{check, json};

    #[test]
    fn a_single_rank_knows_its_size() {
        let text = r#"{"version": "0.10.0", "buffer_shape": [7, 4, 5], "dim_data": [
            {"dist_type": "b", "size": 3, "proc_grid_size": 1, "proc_grid_rank": 0,
             "start": 0, "stop": 7},
            {"dist_type": "u", "proc_grid_size": 1, "proc_grid_rank": 0, "indices": [3, 9, 1, 2]},
            {"dist_type": "c", "size": 9, "proc_grid_size": 1, "proc_grid_rank": 0, "start": 0}]}"#;
        let sections = json::read(text).unwrap().sections().unwrap().to_vec();
        assert!(!check(&sections).is_empty());
        let normalised = normalise(&sections);
        assert_eq!(check(&normalised.sections), []);
        assert_eq!(normalised.notes.len(), 3);
        assert_eq!(
            normalised.notes[1].to_string(),
            "axis 1: `size` was absent; the only rank has 4"
        );
    }

    #[test]
    fn lists_and_a_forgotten_comma() {
        let dict = crate::Dim::whole(5).to_object();
        let mut section = Section::from_dims(&[crate::Dim::whole(5)], None);
        section.dim_data = Some(dict.clone());
        assert_eq!(check(std::slice::from_ref(&section))[0].code, crate::Code::Type);
        assert_eq!(check(&normalise(&[section.clone()]).sections), []);
        section.dim_data = Some(Kind::List(vec![dict]).into());
        assert_eq!(check(&normalise(&[section]).sections), []);
    }
}
