//! Arrays from elements that somebody has.

use std::rc::Rc;

use pantile_engine::{Element, Tile};
use pantile_geometry::Distribution;
use pantile_ir::{Op, Type};

use super::fault::Fault;
use super::node::{Node, Stored};
use super::{Array, World, elements, here};

impl World {
    /// Elements from a function of their global index. Every rank calls it for those it owns.
    #[track_caller]
    #[must_use]
    pub fn from_fn<T: Element>(&self, shape: &[usize], value: impl Fn(&[usize]) -> T) -> Array {
        let place = here();
        let ty = self.made_type(shape, T::DTYPE);
        let home = elements(shape).and_then(|_| {
            pantile_ir::lower::home_of(&ty, &self.setting()).map_err(|error| error.message)
        });
        let home = match home {
            Ok(home) => home,
            Err(message) => {
                return Array::of(self, Node::faulty(Fault::new(message, place), ty));
            }
        };
        let id = self.inner.new_id();
        self.inner.crew.borrow_mut().put(id, |rank| {
            let mut elements = Vec::new();
            each_owned(&home, rank, &mut |index| elements.push(value(index)));
            Tile::from_vec(elements)
        });
        let node = Node::new(Op::Copy, Vec::new(), ty, place);
        node.made.borrow_mut().take();
        let garbage = Rc::clone(&self.inner.garbage);
        *node.stored.borrow_mut() = Some(Stored { id, home, garbage });
        Array::of(self, node)
    }

    /// Elements in row-major order, the same list on every process.
    #[track_caller]
    #[must_use]
    pub fn from_vec<T: Element>(&self, shape: &[usize], elements: &[T]) -> Array {
        let expected = super::elements(shape).unwrap_or(usize::MAX);
        if elements.len() != expected {
            let message =
                format!("got {} elements for shape {shape:?}, expected {expected}", elements.len());
            let ty = Type::array(shape, T::DTYPE);
            return Array::of(self, Node::faulty(Fault::new(message, here()), ty));
        }
        self.from_fn(shape, |index| {
            let at = index.iter().zip(shape).fold(0, |at, (index, length)| at * length + index);
            elements[at]
        })
    }
}

/// Calls `f` with the index of every element that a rank owns, in the order of its memory, where
/// ranks hold what they own and nothing else.
pub(crate) fn each_owned(home: &Distribution, rank: usize, f: &mut dyn FnMut(&[usize])) {
    let Some(maps) = home.axes() else { return };
    if home.mesh().position_of(rank).is_none() {
        return;
    }
    let lists: Vec<Vec<usize>> = maps
        .iter()
        .enumerate()
        .map(|(axis, map)| {
            let coordinate = home.coordinate(rank, axis).unwrap_or(0);
            (0..map.local_length(coordinate))
                .filter_map(|local| map.global(coordinate, local).map(|(index, _)| index))
                .collect()
        })
        .collect();
    product(&lists, &mut vec![0; lists.len()], 0, f);
}

fn product(lists: &[Vec<usize>], index: &mut [usize], axis: usize, f: &mut dyn FnMut(&[usize])) {
    let Some(list) = lists.get(axis) else { return f(index) };
    for at in list {
        index[axis] = *at;
        product(lists, index, axis + 1, f);
    }
}
