//! The brute-force model: who holds what, and which pairs a movement consists of.
//!
//! | module | question |
//! |---|---|
//! | [`spec`] | what did the user state? |
//! | [`axis`] | which coordinates hold index i of one axis, and which owns it? |
//! | [`holders`] | which ranks hold an element, and which owns it? |
//! | [`normal`] | what do several holders mean, and what is the dual? |
//! | [`classes`] | which directions of source and target must be looked at together? |
//! | [`pairs`] | which source holder goes to which target holder? |
//! | [`mod@faults`] | why can there be no movement? |
//! | [`values`] | does the movement carry the right values? |
//! | [`minimum`] | could fewer elements move? |

pub mod axis;
pub mod classes;
pub mod faults;
pub mod holders;
pub mod minimum;
pub mod normal;
pub mod pairs;
pub mod spec;
pub mod values;

pub use axis::halo;
pub use classes::same_mesh;
pub use faults::{Fault, faults};
pub use holders::{Holder, element_holders, element_owner};
pub use normal::{dual, normalised, same_holders, same_owners};
pub use pairs::{Movement, between};
pub use spec::{AxisSpec, CutSpec, Kind, Map, Operator, Spec, ViewSpec};

/// A product of candidate lists, row-major: one item of each list, in every combination.
pub(crate) fn product<T: Clone>(lists: &[Vec<T>]) -> Vec<Vec<T>> {
    lists.iter().fold(vec![Vec::new()], |so_far, list| {
        so_far
            .iter()
            .flat_map(|head| {
                list.iter().map(move |item| [head.as_slice(), std::slice::from_ref(item)].concat())
            })
            .collect()
    })
}

/// Every index of an array of this shape, row-major; one (empty) index if it has no axes.
#[must_use]
pub fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    product(&shape.iter().map(|&length| (0..length).collect()).collect::<Vec<_>>())
}

/// A signed number as a position in a list.
pub(crate) fn at(position: i64) -> usize {
    usize::try_from(position).expect("positions in lists are not negative")
}
