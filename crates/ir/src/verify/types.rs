//! The rules of distributed array types.

use super::{Checker, placement};
use crate::{ArrayType, Dim, Env, LocalParts, Operation, Type};

/// Most elements of an array: what 64-bit offsets can say.
const ELEMENTS_LIMIT: u128 = 1 << 62;

impl Checker<'_> {
    pub(super) fn types(&mut self) {
        let function = self.function;
        let arguments = function.body.arguments.iter().map(|value| function.ty(*value));
        for ty in arguments.chain(&function.results) {
            for message in wrong(ty) {
                self.report_function(format!("{ty}: {message}"));
            }
        }
        function.body.walk(&mut |operation| self.types_made_by(operation));
    }

    fn types_made_by(&mut self, operation: &Operation) {
        let arguments = operation.blocks.iter().flat_map(|block| &block.arguments);
        let values: Vec<_> = operation.results.iter().chain(arguments).copied().collect();
        for value in values {
            let ty = self.ty(value);
            for message in wrong(ty) {
                self.report(operation, format!("{ty}: {message}"));
            }
        }
    }
}

/// What is wrong with a type.
pub(super) fn wrong(ty: &Type) -> Vec<String> {
    let mut messages = Vec::new();
    let known = ty.shape().iter().flatten();
    let count = known.filter(|length| **length > 0).try_fold(1_u128, |count, length| {
        count.checked_mul(*length as u128).filter(|count| *count <= ELEMENTS_LIMIT)
    });
    // An empty array may not have such axes either: nothing could be counted along the others.
    if count.is_none() {
        messages.push("more than 2^62 elements".to_owned());
    }
    let Type::Array(array) = ty else { return messages };
    let homes = array.envs.iter().filter(|env| matches!(env, Env::Dist(_) | Env::Placement(_)));
    if homes.count() > 1 {
        messages.push("says more than once where it lives".to_owned());
    }
    for env in &array.envs {
        match env {
            Env::Dist(dist) => messages.extend(dist.local.iter().flat_map(|l| parts(array, l))),
            Env::Placement(at) => messages.extend(placement::wrong(at, &array.shape)),
            Env::Gpu(_) | Env::Other(_) => {}
        }
    }
    messages
}

/// What is wrong with the parts of one member.
fn parts(array: &ArrayType, local: &LocalParts) -> Vec<String> {
    let ndim = array.ndim();
    if ndim == 0 {
        return vec!["an array without axes has no local offsets and parts".to_owned()];
    }
    if local.offsets.len() != ndim {
        return vec![format!("got {} local offsets, expected {ndim}", local.offsets.len())];
    }
    if let Some(part) = local.parts.iter().find(|part| part.len() != ndim) {
        return vec![format!("a local part has {} axes, expected {ndim}", part.len())];
    }
    if local.parts.len() != 3 {
        let got = local.parts.len();
        return vec![format!("got {got} local parts, expected 3: left halo, owned, right halo")];
    }
    let mut messages = Vec::new();
    if let Some(offset) = local.offsets.iter().flatten().find(|offset| **offset < 0) {
        messages.push(format!("got local offset {offset}, expected at least 0"));
    }
    // What is not known counts as nothing: the known ones alone must fit.
    let at = |axis: usize| u128::try_from(local.offsets[axis].unwrap_or(0)).unwrap_or(0);
    let rows: u128 = local.parts.iter().filter_map(|part| part[0]).map(|n| n as u128).sum();
    // The place of no rows says nothing: a member asks for none behind the end.
    let none = local.parts.iter().all(|part| part[0] == Some(0));
    let mut ends = vec![if none { 0 } else { at(0) + rows }];
    for axis in 1..ndim {
        let lengths: Vec<usize> =
            local.parts.iter().filter(|part| holds(part)).filter_map(|part| part[axis]).collect();
        if lengths.windows(2).any(|pair| pair[0] != pair[1]) {
            messages.push(format!("parts have different lengths {lengths:?} along axis {axis}"));
        }
        ends.push(at(axis) + lengths.iter().max().map_or(0, |n| *n as u128));
    }
    for (axis, (end, length)) in ends.into_iter().zip(&array.shape).enumerate() {
        if let Some(length) = length.filter(|length| end > *length as u128) {
            messages.push(format!("parts end at {end} along axis {axis} of length {length}"));
        }
    }
    messages
}

/// True if a part is known to hold something: the shape of an empty one says nothing.
fn holds(part: &[Dim]) -> bool {
    part.iter().all(|dim| dim.is_some_and(|length| length > 0))
}
