//! Movements applied to whole arrays of integers.
//!
//! Integers with wrapping arithmetic make every comparison exact: a term that is lost, counted
//! twice or taken from the wrong place changes the result.

use super::faults::lacks;
use super::holders::{Holder, element_holders};
use super::indices;
use super::normal::{has_terms, holders_by_term, normal_directions};
use super::pairs::Movement;
use super::spec::{Kind, Operator, Spec};
use crate::rng::Rng;
use std::collections::BTreeMap;
use std::fmt;

/// A stored value for every holder of every element.
pub type Values = BTreeMap<(Vec<usize>, Holder), i64>;

/// The value that combining with leaves everything as it is.
#[must_use]
pub fn identity(operator: Operator) -> i64 {
    match operator {
        Operator::Sum | Operator::Or => 0,
        Operator::Prod => 1,
        Operator::Min => i64::MAX,
        Operator::Max => i64::MIN,
        Operator::And => -1,
    }
}

/// Two terms combined.
#[must_use]
pub fn combine(operator: Operator, a: i64, b: i64) -> i64 {
    match operator {
        Operator::Sum => a.wrapping_add(b),
        Operator::Prod => a.wrapping_mul(b),
        Operator::Min => a.min(b),
        Operator::Max => a.max(b),
        Operator::And => a & b,
        Operator::Or => a | b,
    }
}

/// The one operator of a movement: that of the side with Terms; sum if there are none.
#[must_use]
pub fn operator_of(source: &Spec, target: &Spec) -> Operator {
    match (has_terms(source), has_terms(target)) {
        (true, _) => source.operator,
        (false, true) => target.operator,
        (false, false) => Operator::Sum,
    }
}

/// Random values that a distribution may hold: copies of a term are equal, terms are free.
#[must_use]
pub fn filled(spec: &Spec, rng: &mut Rng) -> Values {
    let directions = normal_directions(spec);
    let mut values = Values::new();
    for index in indices(&spec.shape) {
        let mut terms = BTreeMap::new();
        for (term, holder) in holders_by_term((spec, &directions), &index) {
            let value = *terms.entry(term).or_insert_with(|| rng.range(-1_000_000, 1_000_000));
            values.insert((index.clone(), holder), value);
        }
    }
    values
}

/// Random values on every holder, equal nowhere on purpose: for comparing matrices.
#[must_use]
pub fn scattered(spec: &Spec, rng: &mut Rng) -> Values {
    filled(spec, rng).into_keys().map(|key| (key, rng.range(-1_000, 1_000))).collect()
}

/// Why values are not those of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueFault {
    /// Copies of an element differ.
    Copies {
        /// The element.
        index: Vec<usize>,
        /// A holder whose copy differs from an earlier one.
        holder: Holder,
    },
    /// An element has another value after a movement.
    Element {
        /// The element.
        index: Vec<usize>,
        /// Its value before.
        wanted: Option<i64>,
        /// Its value after.
        got: Option<i64>,
    },
}

impl fmt::Display for ValueFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Copies { index, holder } => write!(f, "copies of {index:?} differ at {holder:?}"),
            Self::Element { index, wanted, got } => {
                write!(f, "element {index:?}: wanted {wanted:?}, got {got:?}")
            }
        }
    }
}

/// The logical value of every element; `None` where a Copies direction has a gap.
///
/// # Errors
/// If holders that should be copies of each other differ.
pub fn logical(spec: &Spec, values: &Values) -> Result<Vec<Option<i64>>, ValueFault> {
    let directions = normal_directions(spec);
    let operator = if has_terms(spec) { spec.operator } else { Operator::Sum };
    let of_element = |index: &Vec<usize>| {
        if lacks((spec, &directions), index, Some(Kind::Copies)) {
            return Ok(None);
        }
        let mut terms = BTreeMap::new();
        for (term, holder) in holders_by_term((spec, &directions), index) {
            let value = values[&(index.clone(), holder.clone())];
            if *terms.entry(term).or_insert(value) != value {
                return Err(ValueFault::Copies { index: index.clone(), holder });
            }
        }
        Ok(Some(terms.into_values().fold(identity(operator), |a, b| combine(operator, a, b))))
    };
    indices(&spec.shape).iter().map(of_element).collect()
}

/// What the target holds after a movement; cells that receive nothing hold the identity.
///
/// # Panics
/// If the movement is not one to this target, or `source` lacks a value that it sends.
#[must_use]
pub fn moved(movement: &Movement, operator: Operator, target: &Spec, source: &Values) -> Values {
    let mut values = Values::new();
    for index in indices(&target.shape) {
        for holder in element_holders(target, &index) {
            values.insert((index.clone(), holder), identity(operator));
        }
    }
    for (index, pairs) in &movement.elements {
        for (from, to) in pairs {
            let value = source[&(index.clone(), from.clone())];
            let cell = values.get_mut(&(index.clone(), to.clone())).expect("targets hold");
            *cell = combine(operator, *cell, value);
        }
    }
    values
}

/// Checks that a target holds what the source held, element by element.
///
/// A target that lacks an element is not asked for it; a source that lacks it along Terms means
/// the identity.
///
/// # Errors
/// The first element that is wrong.
pub fn check(source: (&Spec, &Values), target: (&Spec, &Values)) -> Result<(), ValueFault> {
    let (wanted, got) = (logical(source.0, source.1)?, logical(target.0, target.1)?);
    for (i, index) in indices(&source.0.shape).iter().enumerate() {
        let nowhere = |spec| element_holders(spec, index).is_empty();
        let asked = got[i].is_some() && !(nowhere(source.0) && nowhere(target.0));
        if asked && wanted[i] != got[i] {
            let (index, wanted, got) = (index.clone(), wanted[i], got[i]);
            return Err(ValueFault::Element { index, wanted, got });
        }
    }
    Ok(())
}

/// The sum over all stored cells of the products of two arrays with the same holders.
#[must_use]
pub fn dot(a: &Values, b: &Values) -> i64 {
    a.iter().fold(0, |sum, (key, value)| sum.wrapping_add(value.wrapping_mul(b[key])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_name_the_element() {
        let (index, wanted, got) = (vec![1, 2], Some(3), None);
        let fault = ValueFault::Element { index, wanted, got };
        assert_eq!(fault.to_string(), "element [1, 2]: wanted Some(3), got None");
    }
}
