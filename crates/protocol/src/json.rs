//! Descriptions as JSON text.
//!
//! Read are: one section (an object with `dim_data`), all sections (an array of such objects, or of
//! the `dim_data` arrays alone, or an object with `dim_data_per_rank` or `ranks`), and
//! `__partitioned__` dictionaries (an object with `partitions`). JSON has one kind of list: under
//! `padding` and `dim_data` it stands for a tuple, under `indices` for a buffer of integers.
//!
//! | key | means |
//! |---|---|
//! | `__version__` or `version` | the version; 0.10.0 if absent, with a note |
//! | `buffer` | `{"shape": [...], "format": "<f8"}`, or `dtype` for `format` |
//! | `buffer_shape` or `local_shape` | the shape alone; without one extents are not compared |
//! | `buffer_shapes` | one shape per rank, beside `dim_data_per_rank` |
//!
//! Only text that is not JSON, or is none of these, fails to be read; values of wrong types are
//! left to the judgement.

use crate::partitioned::{self, Partitioned};
use crate::{Buffer, Finding, Kind, Note, Object, Section, Version, check, validate};
use pantile_text::Fault;
use pantile_text::json::{self, Value};

/// What a text describes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Document {
    /// One section, or the sections of all ranks in order.
    Sections {
        /// The sections.
        sections: Vec<Section>,
        /// True if the text is one section and not a list: other ranks may exist.
        alone: bool,
        /// What had to be assumed.
        notes: Vec<Note>,
    },
    /// A `__partitioned__` dictionary.
    Partitioned {
        /// The dictionary, unless it could not be read at all.
        partitioned: Option<Partitioned>,
        /// What is wrong with it, types included.
        findings: Vec<Finding>,
        /// What had to be assumed.
        notes: Vec<Note>,
    },
}

impl Document {
    /// The sections, if it has any.
    #[must_use]
    pub fn sections(&self) -> Option<&[Section]> {
        if let Self::Sections { sections, .. } = self { Some(sections) } else { None }
    }

    /// Everything that breaks the rules, strictly: of one section alone, of all ranks together, or
    /// of the partitions.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        match self {
            Self::Sections { sections, alone: true, .. } => {
                sections.iter().flat_map(validate).collect()
            }
            Self::Sections { sections, .. } => check(sections),
            Self::Partitioned { findings, .. } => findings.clone(),
        }
    }

    /// What had to be assumed.
    #[must_use]
    pub fn notes(&self) -> &[Note] {
        match self {
            Self::Sections { notes, .. } | Self::Partitioned { notes, .. } => notes,
        }
    }
}

/// Reads a description from a text.
///
/// # Errors
/// The text is not JSON, or its outermost value is none of the known forms.
pub fn read(text: &str) -> Result<Document, Fault> {
    let value = json::parse(text)?;
    from_value(&value).ok_or_else(|| {
        let message = format!(
            "expected a section, an array of sections, or an object with `dim_data_per_rank` or \
             `partitions`, found {}",
            value.describe()
        );
        value.fault(text, message)
    })
}

/// Reads a description from a parsed value; `None` if it is none of the known forms.
#[must_use]
pub fn from_value(value: &Value) -> Option<Document> {
    if value.get("partitions").is_some() {
        let (partitioned, findings, notes) = partitioned::read(value);
        return Some(Document::Partitioned { partitioned, findings, notes });
    }
    let mut reader = Reader { default: version_of(value), missing: false };
    let sections: Vec<Section> = if let Some(ranks) = value.get("dim_data_per_rank") {
        let shapes = value.get("buffer_shapes").and_then(Value::as_array).unwrap_or_default();
        let ranks = ranks.as_array()?.iter().enumerate();
        ranks.map(|(rank, own)| reader.dims_only(own, shapes.get(rank))).collect()
    } else if let Some(ranks) = value.get("ranks") {
        ranks.as_array()?.iter().map(|own| reader.section(own)).collect()
    } else if let Some(ranks) = value.as_array() {
        ranks.iter().map(|own| reader.section(own)).collect()
    } else if ["dim_data", "__version__", "version", "buffer"]
        .iter()
        .any(|k| value.get(k).is_some())
    {
        vec![reader.section(value)]
    } else {
        return None;
    };
    if sections.is_empty() {
        return None;
    }
    let alone = ["dim_data_per_rank", "ranks"].iter().all(|key| value.get(key).is_none())
        && value.as_array().is_none();
    let assumed = format!("no version is stated, {} is assumed", Version::CURRENT);
    let notes = if reader.missing { vec![Note::new(assumed)] } else { Vec::new() };
    Some(Document::Sections { sections, alone, notes })
}

fn version_of(value: &Value) -> Option<Object> {
    value.get("__version__").or_else(|| value.get("version")).map(object)
}

/// Reads sections; remembers whether a version had to be assumed.
struct Reader {
    default: Option<Object>,
    missing: bool,
}

impl Reader {
    fn version(&mut self, own: Option<Object>) -> Option<Object> {
        let version = own.or_else(|| self.default.clone());
        self.missing |= version.is_none();
        version.or_else(|| Some(Version::CURRENT.to_string().as_str().into()))
    }

    fn dims_only(&mut self, dims: &Value, shape: Option<&Value>) -> Section {
        Section {
            version: self.version(None),
            buffer: shape.map_or(Buffer::Unknown, |shape| known(shape, None)),
            dim_data: Some(dim_data(dims, false)),
            extra_keys: Vec::new(),
        }
    }

    fn section(&mut self, value: &Value) -> Section {
        if value.as_object().is_none() {
            return self.dims_only(value, None);
        }
        let lists = value.get("padding_given_as").and_then(Value::as_str) == Some("list");
        Section {
            version: self.version(version_of(value)),
            buffer: buffer(value),
            dim_data: value.get("dim_data").map(|dims| dim_data(dims, lists)),
            extra_keys: extra_keys(value),
        }
    }
}

/// Only an object that spells `__version__` claims to be the exported structure itself; others may
/// carry keys of their own beside the description.
fn extra_keys(value: &Value) -> Vec<String> {
    if value.get("__version__").is_none() {
        return Vec::new();
    }
    let known = ["__version__", "buffer", "dim_data", "buffer_shape", "padding_given_as"];
    let keys = value.as_object().unwrap_or_default().iter().map(json::Member::key);
    keys.filter(|key| !known.contains(key)).map(str::to_owned).collect()
}

fn buffer(value: &Value) -> Buffer {
    let format = |from: &Value| {
        let format = from.get("format").or_else(|| from.get("dtype"));
        format.and_then(Value::as_str).map(str::to_owned)
    };
    if let Some(buffer) = value.get("buffer") {
        return match buffer.get("shape") {
            Some(shape) => known(shape, format(buffer)),
            None => {
                Buffer::Other(format!("{}, expected an object with `shape`", buffer.describe()))
            }
        };
    }
    match value.get("buffer_shape").or_else(|| value.get("local_shape")) {
        Some(shape) => known(shape, format(value)),
        None => Buffer::Unknown,
    }
}

fn known(shape: &Value, format: Option<String>) -> Buffer {
    let extents = shape.as_i64_array().filter(|extents| extents.iter().all(|extent| *extent >= 0));
    match extents {
        Some(shape) => Buffer::Known { shape, format },
        None => Buffer::Other(format!(
            "one of shape {}, expected an array of integers of at least 0",
            shape.describe()
        )),
    }
}

/// An object as it stands: arrays are lists.
fn object(value: &Value) -> Object {
    let kind = match value.kind() {
        json::Kind::Null => Kind::None,
        json::Kind::Bool(flag) => Kind::Bool(*flag),
        json::Kind::Integer(number) => Kind::Int(*number),
        json::Kind::Number(text) => Kind::Number(text.clone()),
        json::Kind::Text(text) => Kind::Text(text.clone()),
        json::Kind::Array(items) => Kind::List(items.iter().map(object).collect()),
        json::Kind::Object(members) => {
            let entry = |member: &json::Member| {
                let key = Kind::Text(member.key().to_owned());
                (Object::at(member.offset(), key), object(member.value()))
            };
            Kind::Dict(members.iter().map(entry).collect())
        }
        _ => Kind::Other("unknown".to_owned()),
    };
    Object::at(value.offset(), kind)
}

/// An array under `padding` or `dim_data` is a tuple.
fn tuple(value: &Value, item: impl Fn(&Value) -> Object) -> Object {
    match value.as_array() {
        Some(items) => Object::at(value.offset(), Kind::Tuple(items.iter().map(item).collect())),
        None => object(value),
    }
}

fn dim_data(value: &Value, padding_as_lists: bool) -> Object {
    tuple(value, |dict| dim_dict(dict, padding_as_lists))
}

fn dim_dict(value: &Value, padding_as_lists: bool) -> Object {
    let Some(members) = value.as_object() else { return object(value) };
    let entry = |member: &json::Member| {
        let own = member.value();
        let item = match (member.key(), own.as_i64_array()) {
            ("padding", _) if !padding_as_lists => tuple(own, object),
            ("indices", Some(labels)) => Object::at(own.offset(), Kind::Indices(labels)),
            _ => object(own),
        };
        (Object::at(member.offset(), Kind::Text(member.key().to_owned())), item)
    };
    Object::at(value.offset(), Kind::Dict(members.iter().map(entry).collect()))
}

/// The JSON form of an object; tuples and buffers become arrays.
#[must_use]
pub fn to_value(object: &Object) -> Value {
    let key = |key: &Object| key.as_str().map_or_else(|| key.to_string(), str::to_owned);
    match object.kind() {
        Kind::None => Value::null(),
        Kind::Bool(flag) => (*flag).into(),
        Kind::Int(number) => (*number).into(),
        Kind::Number(text) => json::Kind::Number(text.clone()).into(),
        Kind::Text(text) => text.as_str().into(),
        Kind::Tuple(items) | Kind::List(items) => Value::array(items.iter().map(to_value)),
        Kind::Dict(entries) => Value::object(entries.iter().map(|(k, v)| (key(k), to_value(v)))),
        Kind::Indices(labels) => labels.as_slice().into(),
        Kind::Other(name) => name.as_str().into(),
    }
}

/// The JSON form of a section, which [`read`] reads back.
#[must_use]
pub fn section_to_value(section: &Section) -> Value {
    let mut members = Vec::new();
    if let Some(version) = &section.version {
        members.push(("__version__", to_value(version)));
    }
    if let Buffer::Known { shape, format } = &section.buffer {
        let mut buffer = vec![("shape", Value::from(shape.as_slice()))];
        buffer.extend(format.as_deref().map(|format| ("format", Value::from(format))));
        members.push(("buffer", Value::object(buffer)));
    }
    if let Some(dim_data) = &section.dim_data {
        members.push(("dim_data", to_value(dim_data)));
    }
    Value::object(members)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Code, Dim};

    fn codes(text: &str) -> Vec<Code> {
        let document = read(text).unwrap();
        check(document.sections().unwrap()).iter().map(|finding| finding.code).collect()
    }

    #[test]
    fn sections_round_trip() {
        let section = Section::from_dims(&[Dim::whole(4), Dim::whole(0)], Some("<f8".to_owned()));
        let text = section_to_value(&section).to_indented();
        assert_eq!(read(&text).unwrap().sections().unwrap(), [section]);
    }

    #[test]
    fn all_forms_say_the_same() {
        let dict = r#"{"dist_type": "b", "size": 3, "proc_grid_size": 1,
            "proc_grid_rank": 0, "start": 0, "stop": 3}"#;
        let section =
            format!(r#"{{"version": "0.10.0", "buffer_shape": [3], "dim_data": [{dict}]}}"#);
        let forms = [
            section.clone(),
            format!("[{section}]"),
            format!(r#"{{"ranks": [{section}]}}"#),
            format!(r#"{{"dim_data_per_rank": [[{dict}]], "buffer_shapes": [[3]]}}"#),
        ];
        let expected = Section::from_dims(&[Dim::whole(3)], None);
        for form in &forms {
            let document = read(form).unwrap();
            let [section] = document.sections().unwrap() else { panic!("{form}") };
            assert_eq!(section.shape(), expected.shape());
            assert_eq!(check(document.sections().unwrap()), []);
        }
        assert_eq!(read(&forms[3]).unwrap().notes().len(), 1);
        assert_eq!(codes(&format!("[[{dict}]]")), []);
    }

    #[test]
    fn wrong_types_are_findings() {
        assert_eq!(codes(r#"{"version": 3, "dim_data": []}"#), [Code::Version]);
        assert_eq!(codes(r#"{"version": "0.10.0"}"#), [Code::MissingKey]);
        assert_eq!(codes(r#"{"buffer": [1], "dim_data": []}"#), [Code::Type]);
        assert_eq!(
            codes(r#"{"buffer_shape": [-1], "dim_data": [{}]}"#),
            [Code::Type, Code::MissingKey]
        );
        assert_eq!(codes("[3]"), [Code::Type]);
        assert_eq!(codes(r#"{"__version__": "0.10.0", "dim_data": [], "x": 1}"#), [Code::ExtraKey]);
        assert_eq!(codes(r#"{"buffer_shape": [], "dim_data": [null]}"#), [Code::Ndim, Code::Type]);
    }

    #[test]
    fn one_section_is_judged_alone() {
        let dict = r#"{"dist_type": "c", "size": 3, "proc_grid_size": 2, "proc_grid_rank": 1,
            "start": 1}"#;
        let section = format!(r#"{{"buffer_shape": [1], "dim_data": [{dict}]}}"#);
        assert_eq!(read(&section).unwrap().findings(), []);
        let found = read(&format!("[{section}]")).unwrap().findings();
        assert_eq!(found.iter().map(|f| f.code).collect::<Vec<_>>(), [Code::GridProduct]);
    }

    #[test]
    fn padding_may_be_marked_as_a_list() {
        let text = r#"{"version": "0.10.0", "buffer_shape": [3], "padding_given_as": "list",
            "dim_data": [{"dist_type": "b", "size": 3, "proc_grid_size": 1, "proc_grid_rank": 0,
                          "start": 0, "stop": 3, "padding": [1, 1]}]}"#;
        let found = read(text).unwrap().findings();
        assert_eq!(found.iter().map(|f| f.code).collect::<Vec<_>>(), [Code::PaddingForm]);
        assert_eq!(read(&text.replace("list", "tuple")).unwrap().findings(), []);
        let lenient = crate::normalise(read(text).unwrap().sections().unwrap());
        assert_eq!(check(&lenient.sections), []);
    }

    #[test]
    fn other_texts_are_faults() {
        for text in ["3", "{}", "[]", "{\"dim_data_per_rank\": 3}", "{\"x\": 1}", "["] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
