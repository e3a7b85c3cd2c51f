//! One box of global indices per rank: for requests that are no product over mesh axes.

use std::sync::Arc;

use super::{Distribution, Map};
use crate::number::{checked_product, position};
use crate::{Error, Kind, Mesh, Operator};

/// Largest team that may have boxes: every rank knows all of them.
pub const BOXES_LIMIT: usize = 4096;

/// A half-open range per array axis, for each mesh position in row-major order.
/// One direction over the whole mesh; owns nothing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Boxes {
    list: Arc<[Vec<(usize, usize)>]>,
    pub(crate) kind: Kind,
}

impl Boxes {
    /// The box of each mesh position.
    #[must_use]
    pub fn list(&self) -> &[Vec<(usize, usize)>] {
        &self.list
    }

    /// Mesh positions whose box has the element, ascending.
    pub fn around<'a>(&'a self, element: &'a [usize]) -> impl Iterator<Item = usize> + 'a {
        let inside = move |ranges: &[(usize, usize)]| {
            ranges.iter().zip(element).all(|(range, at)| range.0 <= *at && *at < range.1)
        };
        (0..self.list.len()).filter(move |position| inside(&self.list[*position]))
    }

    /// What it means that several boxes hold an element.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Empty boxes at the origin, Copies if no element is in two boxes or in none.
    pub(super) fn normal(&self, shape: &[usize]) -> Self {
        let empty = |ranges: &[(usize, usize)]| ranges.iter().any(|(from, to)| from >= to);
        let list: Arc<[Vec<(usize, usize)>]> = self
            .list
            .iter()
            .map(|ranges| if empty(ranges) { vec![(0, 0); shape.len()] } else { ranges.clone() })
            .collect();
        let kind = if tile(&list, shape) { Kind::Copies } else { self.kind };
        Self { list, kind }
    }
}

/// True if every element of the shape is in exactly one box.
fn tile(list: &[Vec<(usize, usize)>], shape: &[usize]) -> bool {
    let volume = |ranges: &[(usize, usize)]| -> u128 {
        ranges.iter().map(|(from, to)| to.saturating_sub(*from) as u128).product()
    };
    let total: u128 = shape.iter().map(|extent| *extent as u128).product();
    if list.iter().map(|ranges| volume(ranges)).sum::<u128>() != total {
        return false;
    }
    let mut full: Vec<&Vec<(usize, usize)>> = list.iter().filter(|b| volume(b) > 0).collect();
    if shape.is_empty() {
        return full.len() == 1;
    }
    // Sorted by the first axis, only boxes that start before one ends can meet it.
    full.sort();
    full.iter().enumerate().all(|(at, one)| {
        let near = full[at + 1..].iter().take_while(|other| other[0].0 < one[0].1);
        let meets = |other: &[(usize, usize)]| {
            one.iter().zip(other).all(|(a, b)| a.0.max(b.0) < a.1.min(b.1))
        };
        near.into_iter().all(|other| !meets(other))
    })
}

impl Distribution {
    /// An arbitrary box per mesh position, in row-major order; Copies.
    ///
    /// # Errors
    /// The team has more than [`BOXES_LIMIT`] ranks, the number of boxes is not the size of
    /// the mesh, or a box leaves the array.
    pub fn from_boxes(
        shape: &[usize],
        mesh: Mesh,
        boxes: Vec<Vec<(usize, usize)>>,
    ) -> Result<Self, Error> {
        checked_product("number of elements", shape)?;
        if mesh.size() > BOXES_LIMIT {
            let (got, limit) = (mesh.size() as u128, BOXES_LIMIT as u128);
            return Err(Error::TooLarge { what: "team of boxes", got, limit });
        }
        let count = |what, got, expected| {
            if got == expected { Ok(()) } else { Err(Error::Count { what, got, expected }) }
        };
        count("boxes", boxes.len(), mesh.size())?;
        for (coordinate, ranges) in boxes.iter().enumerate() {
            count("ranges of a box", ranges.len(), shape.len())?;
            for (axis, (from, to)) in ranges.iter().enumerate() {
                if from > to || *to > shape[axis] {
                    let signed = |at: usize| i64::try_from(at).unwrap_or(i64::MAX);
                    let (got, within) = ((signed(*from), signed(*to)), (0, position(shape[axis])));
                    return Err(Error::Interval { axis, coordinate, what: "box", got, within });
                }
            }
        }
        let map = Map::Boxes(Boxes { list: boxes.into(), kind: Kind::Copies });
        Ok(Self { shape: shape.to_vec(), mesh, map, operator: Operator::Sum })
    }
}
