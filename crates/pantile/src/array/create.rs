//! New arrays.

use std::rc::Rc;

use pantile_engine::{DType, Element, Tile};
use pantile_geometry::{Cut, Distribution};
use pantile_ir::{Env, Op, Place, Random, Scalar, Type};

use super::fault::Fault;
use super::node::{Node, Stored};
use super::{Array, Number, World, here};

impl World {
    /// The type of an array that is made in this world.
    fn made_type(&self, shape: &[usize], dtype: DType) -> Type {
        let Type::Array(array) = Type::array(shape, dtype) else { unreachable!("it is an array") };
        Type::Array(array.placed(self.dist.as_ref().map(|text| Env::Spread(text.to_string()))))
    }

    fn constant(value: Scalar, place: &Place) -> Rc<Node> {
        let ty = Type::scalar(value.dtype());
        Node::new(Op::Constant(value), Vec::new(), ty, place.clone())
    }

    fn make(&self, op: Op, operands: Vec<Rc<Node>>, ty: Type, place: Place) -> Array {
        Array::record(self, op, operands, Ok(ty), place)
    }

    /// The same number everywhere, with elements of a type.
    #[track_caller]
    #[must_use]
    pub fn full_of(&self, shape: &[usize], value: impl Into<Number>, dtype: DType) -> Array {
        let place = here();
        let value = Self::constant(value.into().scalar(), &place);
        self.make(Op::Create { value: true }, vec![value], self.made_type(shape, dtype), place)
    }

    /// The same number everywhere: whole numbers as `i64`, others as `f64` or `c128`.
    #[track_caller]
    #[must_use]
    pub fn full(&self, shape: &[usize], value: impl Into<Number>) -> Array {
        let value = value.into();
        self.full_of(shape, value, value.scalar().dtype())
    }

    /// Zeros of type `f64`.
    #[track_caller]
    #[must_use]
    pub fn zeros(&self, shape: &[usize]) -> Array {
        self.full(shape, 0.0)
    }

    /// Ones of type `f64`.
    #[track_caller]
    #[must_use]
    pub fn ones(&self, shape: &[usize]) -> Array {
        self.full(shape, 1.0)
    }

    /// `start`, `start + step`, ... up to and without `stop`, as `f64`.
    #[track_caller]
    #[must_use]
    pub fn arange(&self, start: f64, stop: f64, step: f64) -> Array {
        let place = here();
        let count = ((stop - start) / step).ceil();
        if !count.is_finite() || count > 9e15 {
            let message =
                format!("got arange({start}, {stop}, {step}), expected finitely many numbers");
            return Array::of(
                self,
                Node::faulty(Fault::new(message, place), Type::array(&[0], DType::F64)),
            );
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
        let count = count.max(0.0) as usize;
        let operands = [start, step].map(|value| Self::constant(Scalar::of(value), &place));
        self.make(Op::Arange, operands.to_vec(), self.made_type(&[count], DType::F64), place)
    }

    /// `count` numbers from `start` to `stop`, both included.
    #[track_caller]
    #[must_use]
    pub fn linspace(&self, start: f64, stop: f64, count: usize) -> Array {
        let place = here();
        let number = Scalar::of(i64::try_from(count).unwrap_or(i64::MAX));
        let operands = vec![
            Self::constant(Scalar::of(start), &place),
            Self::constant(Scalar::of(stop), &place),
            Self::constant(number, &place),
        ];
        self.make(
            Op::Linspace { endpoint: true },
            operands,
            self.made_type(&[count], DType::F64),
            place,
        )
    }

    /// Ones on the diagonal, zeros elsewhere.
    #[track_caller]
    #[must_use]
    pub fn eye(&self, rows: usize, columns: usize) -> Array {
        self.make(
            Op::Eye { k: 0 },
            Vec::new(),
            self.made_type(&[rows, columns], DType::F64),
            here(),
        )
    }

    /// The global index along an axis, as `i64`.
    #[track_caller]
    #[must_use]
    pub fn index(&self, shape: &[usize], axis: usize) -> Array {
        let place = here();
        if axis >= shape.len() {
            let message =
                format!("got axis {axis}, expected one of the {} of {shape:?}", shape.len());
            return Array::of(
                self,
                Node::faulty(Fault::new(message, place), Type::array(shape, DType::I64)),
            );
        }
        self.make(Op::IndexAlong { axis }, Vec::new(), self.made_type(shape, DType::I64), place)
    }

    /// Random numbers, even in `[0, 1)`: the same for the same seed on any number of ranks.
    #[track_caller]
    #[must_use]
    pub fn uniform(&self, seed: i64, shape: &[usize]) -> Array {
        self.random(Random::Uniform, seed, shape, here())
    }

    /// Normal random numbers with mean 0 and variance 1; see [`World::uniform`].
    #[track_caller]
    #[must_use]
    pub fn normal(&self, seed: i64, shape: &[usize]) -> Array {
        self.random(Random::Normal, seed, shape, here())
    }

    fn random(&self, kind: Random, seed: i64, shape: &[usize], place: Place) -> Array {
        let seed = Self::constant(Scalar::of(seed), &place);
        self.make(
            Op::Random { kind, stream: 0 },
            vec![seed],
            self.made_type(shape, DType::F64),
            place,
        )
    }

    /// Elements from a function of their global index. Every rank calls it for those it owns.
    #[track_caller]
    #[must_use]
    pub fn from_fn<T: Element>(&self, shape: &[usize], value: impl Fn(&[usize]) -> T) -> Array {
        let place = here();
        let ty = self.made_type(shape, T::DTYPE);
        let home = match pantile_ir::lower::home_of(&ty, &self.setting()) {
            Ok(home) => home,
            Err(error) => {
                return Array::of(self, Node::faulty(Fault::new(error.message, place), ty));
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
        let expected: usize = shape.iter().product();
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

/// Calls `f` with the index of every element that a rank owns, in the order of its memory.
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
            match map.cut() {
                Cut::Block(_) => {
                    let (from, to) = map.owned(coordinate);
                    (from..to).collect()
                }
                _ => (0..map.local_length(coordinate))
                    .filter_map(|local| map.global(coordinate, local).map(|(index, _)| index))
                    .collect(),
            }
        })
        .collect();
    let mut index = vec![0; lists.len()];
    product(&lists, 0, &mut index, f);
}

fn product(lists: &[Vec<usize>], axis: usize, index: &mut Vec<usize>, f: &mut dyn FnMut(&[usize])) {
    let Some(list) = lists.get(axis) else { return f(index) };
    for at in list {
        index[axis] = *at;
        product(lists, axis + 1, index, f);
    }
}
