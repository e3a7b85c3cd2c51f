//! Reductions: sums in long form as numbers, products over a fixed tree.

use pantile_comm::Rank;
use pantile_kernels::reduce::{LaneFold, ProductFactor, tree_product};
use pantile_kernels::{Complex, DType, ExactSum, dispatch};
use pantile_lower::{Executable, Finish, Fold as Folding, Part, Places, Product};

use super::loops;
use crate::Tile;

/// The kernel's name of a fold.
pub(crate) fn kernel_fold(fold: Folding) -> LaneFold {
    match fold {
        Folding::Exact | Folding::Sum => LaneFold::Sum,
        Folding::Rounded(count) => LaneFold::Rounded { count },
        Folding::Plain => LaneFold::Plain,
        Folding::Prod => LaneFold::Prod,
        Folding::Min => LaneFold::Min,
        Folding::Max => LaneFold::Max,
        Folding::Any => LaneFold::Any,
        Folding::All => LaneFold::All,
    }
}

/// Sums in long form that become numbers.
pub(crate) struct PreparedFinish {
    shape: Vec<usize>,
    from: (usize, Places),
    to: (usize, Places),
    part: Part,
    count: Option<u64>,
}

impl PreparedFinish {
    /// What a rank does of it; nothing if it owns none of the numbers.
    pub(crate) fn new(executable: &Executable, finish: &Finish, rank: Rank) -> Option<Self> {
        let (shape, to) = executable.local_owned(finish.to, rank)?;
        let (_, mut from) = executable.local_owned(finish.from, rank)?;
        // The words are the last axis of the sums.
        from.strides.truncate(shape.len());
        let buffer = |slot: pantile_lower::SlotId| executable.slots[slot.index()].buffer;
        Some(Self {
            shape,
            from: (buffer(finish.from), from),
            to: (buffer(finish.to), to),
            part: finish.part,
            count: finish.count,
        })
    }

    pub(crate) fn run(&self, tiles: &mut [Tile]) {
        let places = [self.from.0, self.to.0];
        let [source, target] = tiles.get_disjoint_mut(places).expect("two memories");
        let words = source.as_slice::<i64>();
        let sum_at = |offset: isize| {
            let start = usize::try_from(offset).unwrap_or(0);
            words[start..].first_chunk().map_or_else(ExactSum::new, ExactSum::read)
        };
        let double =
            |sum: &ExactSum| self.count.map_or_else(|| sum.to_f64(), |n| sum.divided_f64(n));
        let single =
            |sum: &ExactSum| self.count.map_or_else(|| sum.to_f32(), |n| sum.divided_f32(n));
        let dtype = target.dtype();
        each(&self.shape, [&self.from.1, &self.to.1], &mut |[from, to]| {
            let (sum, at) = (sum_at(from), usize::try_from(to).unwrap_or(0));
            match (dtype, self.part) {
                (DType::F64, _) => target.as_mut_slice::<f64>()[at] = double(&sum),
                (DType::F32, _) => target.as_mut_slice::<f32>()[at] = single(&sum),
                (DType::C128, Part::Imaginary) => {
                    target.as_mut_slice::<Complex<f64>>()[at].im = double(&sum);
                }
                (DType::C128, _) => target.as_mut_slice::<Complex<f64>>()[at].re = double(&sum),
                (DType::C64, Part::Imaginary) => {
                    target.as_mut_slice::<Complex<f32>>()[at].im = single(&sum);
                }
                (DType::C64, _) => target.as_mut_slice::<Complex<f32>>()[at].re = single(&sum),
                _ => {}
            }
        });
    }
}

/// Products along axes that are not cut.
pub(crate) struct PreparedProduct {
    kept: Vec<usize>,
    reduced: Vec<usize>,
    from: (usize, Places),
    along: Vec<isize>,
    to: (usize, Places),
}

impl PreparedProduct {
    /// What a rank does of it; nothing if it owns none of the products.
    pub(crate) fn new(executable: &Executable, product: &Product, rank: Rank) -> Option<Self> {
        let (_, to) = executable.local_owned(product.to, rank)?;
        let all = executable.local_shape(product.from, rank)?;
        // Of nothing the product is one.
        let owned = executable.local_owned(product.from, rank);
        let (all, from) = owned.unwrap_or_else(|| (all.clone(), loops::dense(&all)));
        let pick = |reduced: bool| -> (Vec<usize>, Vec<isize>) {
            let axes = (0..all.len()).filter(|axis| product.axes.contains(axis) == reduced);
            axes.map(|axis| (all[axis], from.strides[axis])).unzip()
        };
        let ((kept, outer), (reduced, along)) = (pick(false), pick(true));
        let buffer = |slot: pantile_lower::SlotId| executable.slots[slot.index()].buffer;
        let from = (buffer(product.from), Places { offset: from.offset, strides: outer });
        Some(Self { kept, reduced, from, along, to: (buffer(product.to), to) })
    }

    pub(crate) fn run(&self, tiles: &mut [Tile]) {
        dispatch!(tiles[self.from.0].dtype(), T {
            floats | complex => self.run_as::<T>(tiles),
            _ => {}
        });
    }

    fn run_as<T: ProductFactor + Canonical>(&self, tiles: &mut [Tile]) {
        let places = [self.from.0, self.to.0];
        let [source, target] = tiles.get_disjoint_mut(places).expect("two memories");
        let (source, target) = (source.as_slice::<T>(), target.as_mut_slice::<T>());
        let mut inner = Places { offset: 0, strides: self.along.clone() };
        let mut factors: Vec<T> = Vec::new();
        each(&self.kept, [&self.from.1, &self.to.1], &mut |[from, to]| {
            factors.clear();
            inner.offset = from;
            each(&self.reduced, [&inner], &mut |[at]| {
                factors.push(source[usize::try_from(at).unwrap_or(0)]);
            });
            let product = tree_product(factors.iter().copied());
            target[usize::try_from(to).unwrap_or(0)] = product.canonical();
        });
    }
}

/// Numbers whose NaNs get their one pattern.
trait Canonical {
    fn canonical(self) -> Self;
}

impl Canonical for f64 {
    fn canonical(self) -> Self {
        if self.is_nan() { Self::from_bits(0x7ff8_0000_0000_0000) } else { self }
    }
}

impl Canonical for f32 {
    fn canonical(self) -> Self {
        if self.is_nan() { Self::from_bits(0x7fc0_0000) } else { self }
    }
}

impl<T: Canonical> Canonical for Complex<T> {
    fn canonical(self) -> Self {
        Self { re: self.re.canonical(), im: self.im.canonical() }
    }
}

/// Calls `f` with the places of every element of a box, row-major.
fn each<const N: usize>(shape: &[usize], places: [&Places; N], f: &mut dyn FnMut([isize; N])) {
    fn go<const N: usize>(
        shape: &[usize],
        axis: usize,
        at: [isize; N],
        places: &[&Places; N],
        f: &mut dyn FnMut([isize; N]),
    ) {
        let Some(length) = shape.get(axis) else { return f(at) };
        let mut at = at;
        for _ in 0..*length {
            go(shape, axis + 1, at, places, f);
            for (at, places) in at.iter_mut().zip(places) {
                *at += places.strides[axis];
            }
        }
    }
    go(shape, 0, places.map(|one| one.offset), &places, f);
}
