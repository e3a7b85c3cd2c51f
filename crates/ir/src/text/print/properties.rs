//! The attributes that say what an operation does, as text.

use super::types::{Quoted, Symbol, team_text};
use crate::text::build::DYNAMIC;
use crate::text::constants::scalar_text;
use crate::text::names::{Function, predicate_name};
use crate::{Attribute, Boundary, Index, Named, Op, Random, Slice};

/// An attribute of an operation.
pub(super) struct Property {
    pub(super) name: &'static str,
    pub(super) text: String,
    /// True if the form of the operation shows it elsewhere than between braces.
    pub(super) elsewhere: bool,
}

fn shown(name: &'static str, text: String) -> Property {
    Property { name, text, elsewhere: false }
}

fn elsewhere(name: &'static str, text: impl ToString) -> Property {
    Property { name, text: text.to_string(), elsewhere: true }
}

fn function<F: Function>(named: &Named<F>) -> Property {
    let text = match named.function.number().filter(|_| named.by_id) {
        Some(id) => format!("{id} : i32"),
        None => Quoted(named.function.text()).to_string(),
    };
    shown("op", text)
}

fn list<T: ToString>(items: &[T]) -> String {
    format!("[{}]", items.iter().map(T::to_string).collect::<Vec<_>>().join(", "))
}

fn float(bits: u64) -> String {
    Attribute::Float(bits, None).to_string()
}

fn slice(slice: &Slice) -> Vec<Property> {
    let numbers = |entries: &[Index]| {
        let number = |entry: &Index| match entry {
            Index::Known(number) => *number,
            Index::Operand => DYNAMIC,
        };
        list(&entries.iter().map(number).collect::<Vec<i64>>())
    };
    vec![
        elsewhere("static_offsets", numbers(&slice.offsets)),
        elsewhere("static_sizes", numbers(&slice.sizes)),
        elsewhere("static_strides", numbers(&slice.strides)),
    ]
}

/// The attributes of an operation, in the order in which they are printed.
pub(super) fn properties(op: &Op) -> Vec<Property> {
    match op {
        Op::Region(env) => vec![elsewhere("env", env)],
        Op::Constant(value) => vec![elsewhere("value", constant(value))],
        Op::Compare(predicate) => {
            vec![elsewhere("predicate", Quoted(predicate_name(*predicate, false)))]
        }
        Op::Create { value } => vec![elsewhere("value", value)],
        Op::Linspace { endpoint } => vec![elsewhere("endpoint", endpoint)],
        Op::Eye { k } => vec![shown("k", k.to_string())],
        Op::Random { kind, stream } => {
            let kind = match kind {
                Random::Uniform => "uniform",
                Random::Normal => "normal",
            };
            vec![shown("kind", Quoted(kind).to_string()), shown("stream", stream.to_string())]
        }
        Op::IndexAlong { axis } => vec![shown("axis", axis.to_string())],
        Op::Subview(cut)
        | Op::ExtractSlice(cut)
        | Op::InsertSlice(cut)
        | Op::ImmutableInsertSlice(cut) => slice(cut),
        Op::Reshape { copy } | Op::CastElement { copy } => {
            copy.iter().map(|copy| shown("copy", copy.to_string())).collect()
        }
        Op::Permute(axes) => vec![elsewhere("axes", list(axes))],
        Op::Unary(named) | Op::DistUnary(named) => vec![function(named)],
        Op::Binary(named) | Op::DistBinary(named) => vec![function(named)],
        Op::Reduce { .. } | Op::Stencil { .. } | Op::MapBlocks { .. } | Op::Halo { .. } => {
            larger(op)
        }
        other => of_dist(other),
    }
}

fn constant(value: &pantile_lanes::Scalar) -> String {
    let text = scalar_text(value);
    if text.starts_with("0x") { format!("{text} : {}", value.dtype()) } else { text }
}

fn larger(op: &Op) -> Vec<Property> {
    match op {
        Op::Reduce { reduction, axes, keepdims, correction } => {
            let mut made = vec![function(reduction)];
            made.extend(axes.iter().map(|axes| shown("axes", list(axes))));
            if *keepdims {
                made.push(shown("keepdims", "true".to_owned()));
            }
            if *correction != 0 {
                made.push(shown("correction", float(*correction)));
            }
            made
        }
        Op::Stencil { points, weights, boundary } => {
            let points: Vec<String> = points.iter().map(|point| list(point)).collect();
            let weights: Vec<String> = weights.iter().map(|weight| float(*weight)).collect();
            let boundary = match boundary {
                Boundary::Zero => "zero",
                Boundary::Periodic => "periodic",
            };
            vec![
                shown("points", list(&points)),
                shown("weights", list(&weights)),
                shown("boundary", Quoted(boundary).to_string()),
            ]
        }
        Op::MapBlocks { function, block } => {
            vec![elsewhere("function", Symbol(function)), shown("block", list(block))]
        }
        Op::Halo { low, high } => vec![shown("low", list(low)), shown("high", list(high))],
        _ => Vec::new(),
    }
}

fn of_dist(op: &Op) -> Vec<Property> {
    let team = |team: &Attribute| shown("team", team_text(team));
    match op {
        Op::BoundingBox { inner, previous } => {
            vec![elsewhere("inner", inner), elsewhere("previous", previous)]
        }
        Op::LocalCore { previous } => vec![elsewhere("previous", previous)],
        Op::Repartition { request } => vec![elsewhere("request", request)],
        Op::DistSubview { slice: cut, target } => {
            let mut made = slice(cut);
            made.push(elsewhere("target", target));
            made
        }
        Op::TeamSize(name) | Op::TeamMember(name) => vec![team(name)],
        Op::AllReduce { reduction, team: name } => {
            let mut made = vec![function(reduction)];
            made.extend(name.iter().map(team));
            made
        }
        Op::GetHalo { team: name, key } => vec![team(name), shown("key", format!("{key} : i64"))],
        Op::CopyReshape { team: name } => vec![team(name)],
        Op::CopyPermute { team: name, axes } => vec![team(name), elsewhere("axes", list(axes))],
        _ => Vec::new(),
    }
}

/// The text of a `bool` for the reader's `Flag` pieces, and of other words: as it is.
pub(super) fn text_of<'t>(properties: &'t [Property], name: &str) -> &'t str {
    let found = properties.iter().find(|property| property.name == name);
    found.map_or("", |property| property.text.as_str())
}
