//! Reductions, each as folds of expressions whose result does not depend on the order, and
//! reshaping.

use pantile_geometry::{Axis, Cuts, Direction, Distribution, Operator};
use pantile_lanes::{Binary, DType, Scalar, Unary};

use super::create::row_major;
use super::expr::{ExprId, Kind};
use super::place;
use super::{
    Finish, Fold, IndexMap, LowerErrorKind, Lowering, OperationError, Part, PlaceError, Product,
    SUM_WORDS, SlotId, Step,
};
use pantile_ir::Reduction;
use pantile_ir::infer::reduced_dtype;

/// A reduction on its way: the axes that go, and the shape that is left.
pub(super) struct Way {
    pub(super) axes: Vec<usize>,
    pub(super) kept: Vec<usize>,
    pub(super) shape: Vec<usize>,
    keepdims: bool,
    pub(super) count: usize,
}

impl Lowering<'_> {
    /// The result of a reduction over axes.
    pub(crate) fn reduce(
        &mut self,
        reduction: Reduction,
        of: ExprId,
        (axes, keepdims): (&[usize], bool),
        (correction, wanted): (f64, Option<DType>),
    ) -> Result<ExprId, LowerErrorKind> {
        use Reduction as R;
        let (dtype, shape) = (self.exprs[of].dtype, self.exprs[of].shape.clone());
        let mut axes = axes.to_vec();
        axes.sort_unstable();
        if axes.iter().any(|axis| *axis >= shape.len()) {
            return Err(OperationError::ReducedAxes { axes, ndim: shape.len() }.into());
        }
        let natural = reduced_dtype(reduction, dtype)?;
        let result = wanted
            .filter(|_| matches!(reduction, Reduction::Sum | Reduction::Prod))
            .unwrap_or(natural);
        let kept: Vec<usize> = (0..shape.len()).filter(|axis| !axes.contains(axis)).collect();
        let count = axes.iter().map(|axis| shape[*axis]).product();
        let left = kept.iter().map(|axis| shape[*axis]).collect();
        let way = Way { axes, kept, shape: left, keepdims, count };
        let needs_some = matches!(reduction, R::Max | R::Min | R::ArgMax | R::ArgMin);
        if needs_some && way.count == 0 && way.shape.iter().product::<usize>() > 0 {
            return Err(OperationError::Empty { reduction }.into());
        }
        let reduced = match reduction {
            R::Sum => self.sum(of, &way, result)?,
            R::Prod => self.prod(of, &way, result)?,
            R::Max => self.fold(of, &way, Fold::Max, Operator::Max)?,
            R::Min => self.fold(of, &way, Fold::Min, Operator::Min)?,
            R::Any | R::All => {
                let of = self.exprs.cast(of, DType::Bool);
                match reduction {
                    R::Any => self.fold(of, &way, Fold::Any, Operator::Or)?,
                    _ => self.fold(of, &way, Fold::All, Operator::And)?,
                }
            }
            R::CountNonZero => {
                let of = self.exprs.cast(of, DType::Bool);
                let of = self.exprs.cast(of, DType::I64);
                self.fold(of, &way, Fold::Sum, Operator::Sum)?
            }
            R::Mean => self.mean(of, &way, result)?,
            R::Var => self.var(of, &way, correction, result)?,
            R::Std => {
                let var = self.var(of, &way, correction, result)?;
                self.unary(Unary::Sqrt, var, None)?
            }
            R::ArgMax => self.first(of, &way, R::Max)?,
            R::ArgMin => self.first(of, &way, R::Min)?,
            R::Norm1 => {
                let of = self.magnitude(of, result)?;
                self.sum(of, &way, result)?
            }
            R::NormInf => {
                let of = self.magnitude(of, result)?;
                if way.count == 0 {
                    self.sum(of, &way, result)?
                } else {
                    self.fold(of, &way, Fold::Max, Operator::Max)?
                }
            }
            R::Norm2 => self.norm2(of, &way, result)?,
        };
        Ok(self.with_units(reduced, &way))
    }

    /// The result with its reduced axes back as axes of length 1, if that was asked for.
    fn with_units(&mut self, expr: ExprId, way: &Way) -> ExprId {
        if !way.keepdims {
            return expr;
        }
        let ndim = way.axes.len() + way.kept.len();
        let mut shape = vec![1; ndim];
        let mut map = Vec::new();
        for (axis, length) in way.kept.iter().zip(&way.shape) {
            shape[*axis] = *length;
            map.push(IndexMap::Moves { axis: *axis, offset: 0, step: 1 });
        }
        self.exprs.view(expr, &map, &shape)
    }

    /// The result seen at every element that it was made of.
    fn along_again(&mut self, expr: ExprId, way: &Way, shape: &[usize]) -> ExprId {
        let map: Vec<IndexMap> = way
            .kept
            .iter()
            .map(|axis| IndexMap::Moves { axis: *axis, offset: 0, step: 1 })
            .collect();
        self.exprs.view(expr, &map, shape)
    }

    fn magnitude(&mut self, of: ExprId, dtype: DType) -> Result<ExprId, LowerErrorKind> {
        // Integers have no magnitude of their smallest value: as floats they do.
        let real = !matches!(self.exprs[of].dtype, DType::C64 | DType::C128);
        let of = if real { self.exprs.cast(of, dtype) } else { of };
        self.unary(Unary::Abs, of, None)
    }

    /// Folds an expression, combines the ranks' results, and gives the slot's elements.
    fn fold(
        &mut self,
        of: ExprId,
        way: &Way,
        fold: Fold,
        operator: Operator,
    ) -> Result<ExprId, LowerErrorKind> {
        if let Some(all) = self.written_out(of, way, fold)? {
            return Ok(all);
        }
        let dtype = self.exprs[of].dtype;
        let (domain, partial, whole) = self.homes(of, way, operator, None)?;
        let slot = self.new_slot(dtype, partial.clone());
        self.fold_into(of, way, &domain, (fold, vec![slot]))?;
        let slot = self.combined(slot, &partial, &whole)?;
        Ok(self.exprs.slot(slot, dtype, &way.shape))
    }

    /// Where a reduction runs, where its parts are before they are combined, and after.
    fn homes(
        &mut self,
        of: ExprId,
        way: &Way,
        operator: Operator,
        words: Option<usize>,
    ) -> Result<(Distribution, Distribution, Distribution), PlaceError> {
        let domain = self.domain_for(&[of], &self.exprs[of].shape.clone())?;
        let mesh = domain.mesh();
        let mut shape = way.shape.clone();
        let mut described: Vec<Axis> = way
            .kept
            .iter()
            .map(|axis| place::describe(&place::axes(&domain)[*axis], mesh))
            .collect();
        if let Some(words) = words {
            shape.push(words);
            described.push(Axis::whole());
        }
        let whole = place::build(&shape, mesh, described)?;
        let cutting: Vec<usize> = way
            .axes
            .iter()
            .flat_map(|axis| place::axes(&domain)[*axis].over().to_vec())
            .filter(|axis| mesh.shape()[*axis] > 1)
            .collect();
        let directions: Vec<Direction<'_>> =
            cutting.iter().map(|axis| Direction::Mesh(mesh.names()[*axis].as_str())).collect();
        let partial = match directions.is_empty() {
            true => whole.clone(),
            false => whole.clone().with_terms(&directions, operator)?,
        };
        Ok((domain, partial, whole))
    }

    fn combined(
        &mut self,
        slot: SlotId,
        partial: &Distribution,
        whole: &Distribution,
    ) -> Result<SlotId, LowerErrorKind> {
        if partial == whole {
            return Ok(slot);
        }
        self.check_movement(partial, whole)?;
        let dtype = self.slots[slot.index()].dtype;
        let to = self.new_slot(dtype, whole.clone());
        let place = self.place.clone();
        let (source, target) = (partial.clone(), whole.clone());
        self.steps.push(Step::Move(Box::new(super::Move {
            name: "reduce",
            from: slot,
            to,
            source,
            target,
            place,
        })));
        Ok(to)
    }

    /// Exact sums of floats, divided by `count` if there is one, rounded once.
    fn exact(
        &mut self,
        of: ExprId,
        way: &Way,
        count: Option<u64>,
    ) -> Result<ExprId, LowerErrorKind> {
        let key = (of, way.axes.clone(), count);
        if let Some(known) = self.sums.get(&key) {
            return Ok(*known);
        }
        let sum = self.new_exact(of, way, count)?;
        self.sums.insert(key, sum);
        Ok(sum)
    }

    fn new_exact(
        &mut self,
        of: ExprId,
        way: &Way,
        count: Option<u64>,
    ) -> Result<ExprId, LowerErrorKind> {
        let dtype = self.exprs[of].dtype;
        if self.setting.fast && matches!(dtype, DType::F32 | DType::F64) {
            return self.plain(of, way, count);
        }
        let parts: &[Part] = match dtype {
            DType::C64 | DType::C128 => &[Part::Real, Part::Imaginary],
            _ => &[Part::Whole],
        };
        let (domain, partial, whole) = self.homes(of, way, Operator::Sum, Some(SUM_WORDS))?;
        let alone = way.axes.iter().all(|axis| place::is_whole(&place::axes(&domain)[*axis]));
        if alone && way.count > 0 && parts.len() == 1 {
            // Whoever sees all elements of a sum rounds it at once.
            return self.fold(of, way, Fold::Rounded(count.unwrap_or(1)), Operator::Sum);
        }
        let slots: Vec<SlotId> =
            parts.iter().map(|_| self.new_slot(DType::I64, partial.clone())).collect();
        self.fold_into(of, way, &domain, (Fold::Exact, slots.clone()))?;
        let described = way
            .kept
            .iter()
            .map(|axis| place::describe(&place::axes(&domain)[*axis], domain.mesh()));
        let home = place::build(&way.shape, domain.mesh(), described.collect())?;
        let to = self.new_slot(dtype, home);
        for (slot, part) in slots.into_iter().zip(parts) {
            let from = self.combined(slot, &partial, &whole)?;
            let place = self.place.clone();
            self.steps.push(Step::Finish(Finish { from, to, part: *part, count, place }));
        }
        Ok(self.exprs.slot(to, dtype, &way.shape))
    }

    /// Sums of floats in any order, for callers that ask for it.
    fn plain(
        &mut self,
        of: ExprId,
        way: &Way,
        count: Option<u64>,
    ) -> Result<ExprId, LowerErrorKind> {
        let dtype = self.exprs[of].dtype;
        let sum = self.fold(of, way, Fold::Plain, Operator::Sum)?;
        let Some(count) = count else { return Ok(sum) };
        let count = self.exprs.constant(Scalar::of(count), &[]);
        let count = self.exprs.cast(count, dtype);
        self.binary(Binary::Divide, sum, count, Some(dtype))
    }

    fn sum(&mut self, of: ExprId, way: &Way, dtype: DType) -> Result<ExprId, LowerErrorKind> {
        match dtype {
            DType::F32 | DType::F64 | DType::C64 | DType::C128 => {
                let of = self.exprs.cast(of, dtype);
                self.exact(of, way, None)
            }
            _ => {
                let of = self.exprs.cast(of, dtype);
                self.fold(of, way, Fold::Sum, Operator::Sum)
            }
        }
    }

    fn mean(&mut self, of: ExprId, way: &Way, dtype: DType) -> Result<ExprId, LowerErrorKind> {
        let of = self.exprs.cast(of, dtype);
        let count = u64::try_from(way.count)?;
        self.exact(of, way, Some(count))
    }

    /// The mean of squared distances from the mean, in two passes.
    fn var(
        &mut self,
        of: ExprId,
        way: &Way,
        correction: f64,
        dtype: DType,
    ) -> Result<ExprId, LowerErrorKind> {
        let float = reduced_dtype(Reduction::Mean, self.exprs[of].dtype)?;
        let of = self.exprs.cast(of, float);
        let of = if self.exprs.depth(of) > 0 { self.stored(of)? } else { of };
        let shape = self.exprs[of].shape.clone();
        let mean = self.mean(of, way, float)?;
        let mean = self.along_again(mean, way, &shape);
        let away = self.binary(Binary::Subtract, of, mean, None)?;
        let square = self.squared(away)?;
        #[allow(clippy::cast_precision_loss, reason = "counts beyond 2^53 do not fit in memory")]
        let rest = way.count as f64 - correction;
        if rest >= 1.0 && rest.fract() == 0.0 {
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a whole number from 1 on"
            )]
            let count = rest as u64;
            return self.exact(square, way, Some(count));
        }
        let sum = self.exact(square, way, None)?;
        let rest = self.exprs.constant(Scalar::of(rest.max(0.0)), &[]);
        let rest = self.exprs.cast(rest, dtype);
        self.binary(Binary::Divide, sum, rest, Some(dtype))
    }

    /// The squared magnitude, a real number.
    fn squared(&mut self, of: ExprId) -> Result<ExprId, LowerErrorKind> {
        if !matches!(self.exprs[of].dtype, DType::C64 | DType::C128) {
            return self.binary(Binary::Multiply, of, of, None);
        }
        let (real, imaginary) =
            (self.unary(Unary::Real, of, None)?, self.unary(Unary::Imag, of, None)?);
        let (one, other) = (
            self.binary(Binary::Multiply, real, real, None)?,
            self.binary(Binary::Multiply, imaginary, imaginary, None)?,
        );
        self.binary(Binary::Add, one, other, None)
    }

    /// The square root of the sum of squares. Where the largest magnitude is so large or small
    /// that squares leave the range of floats, everything is scaled by a power of two first.
    fn norm2(&mut self, of: ExprId, way: &Way, dtype: DType) -> Result<ExprId, LowerErrorKind> {
        let of = self.magnitude(of, dtype)?;
        if way.count == 0 {
            return self.sum(of, way, dtype);
        }
        let of = if self.exprs.depth(of) > 0 { self.stored(of)? } else { of };
        let shape = self.exprs[of].shape.clone();
        let largest = self.fold(of, way, Fold::Max, Operator::Max)?;
        let (scale, back) = self.scale_of(largest, dtype)?;
        let scale = self.along_again(scale, way, &shape);
        let scaled = self.binary(Binary::Multiply, of, scale, None)?;
        let square = self.binary(Binary::Multiply, scaled, scaled, None)?;
        let sum = self.exact(square, way, None)?;
        let root = self.unary(Unary::Sqrt, sum, None)?;
        self.binary(Binary::Multiply, root, back, None)
    }

    /// A power of two that brings a number near 1, and its inverse; both 1 for ordinary numbers.
    fn scale_of(
        &mut self,
        largest: ExprId,
        dtype: DType,
    ) -> Result<(ExprId, ExprId), LowerErrorKind> {
        let limits = match dtype {
            DType::F32 => [2f64.powi(50), 2f64.powi(-50), 2f64.powi(-100), 2f64.powi(100)],
            _ => [2f64.powi(480), 2f64.powi(-480), 2f64.powi(-600), 2f64.powi(600)],
        };
        let mut number = |value: f64| {
            let expr = self.exprs.constant(Scalar::of(value), &[]);
            self.exprs.cast(expr, dtype)
        };
        let [high, low, down, up] = limits.map(&mut number);
        let one = number(1.0);
        let above = self.binary(Binary::Greater, largest, high, None)?;
        let below = self.binary(Binary::Less, largest, low, None)?;
        let scale = self.choose(below, up, one, dtype)?;
        let scale = self.choose(above, down, scale, dtype)?;
        let back = self.choose(below, down, one, dtype)?;
        let back = self.choose(above, up, back, dtype)?;
        Ok((self.stored(scale)?, back))
    }

    /// The first place where the largest or smallest is, counted over the reduced axes.
    fn first(&mut self, of: ExprId, way: &Way, which: Reduction) -> Result<ExprId, LowerErrorKind> {
        if let Some(place) = self.first_of_few(of, way, which)? {
            return Ok(place);
        }
        let of = if self.exprs.depth(of) > 0 { self.stored(of)? } else { of };
        let of = match self.exprs[of].dtype {
            DType::Bool => self.exprs.cast(of, DType::U8),
            _ => of,
        };
        let shape = self.exprs[of].shape.clone();
        let (fold, operator) = match which {
            Reduction::Max => (Fold::Max, Operator::Max),
            _ => (Fold::Min, Operator::Min),
        };
        let best = self.fold(of, way, fold, operator)?;
        let best = self.along_again(best, way, &shape);
        let mut here = self.binary(Binary::Equal, of, best, None)?;
        if matches!(self.exprs[of].dtype, DType::F32 | DType::F64) {
            // The first NaN, where there is one.
            let nan = self.unary(Unary::IsNan, of, None)?;
            here = self.binary(Binary::LogicalOr, here, nan, None)?;
        }
        let lengths: Vec<usize> = way.axes.iter().map(|axis| shape[*axis]).collect();
        let mut strides = vec![0; shape.len()];
        for (axis, stride) in way.axes.iter().zip(row_major(&lengths)) {
            strides[*axis] = stride;
        }
        let index = self.exprs.add(Kind::Index { offset: 0, strides }, DType::I64, &shape);
        let none = self.exprs.constant(Scalar::of(i64::MAX), &[]);
        let place = self.choose(here, index, none, DType::I64)?;
        self.fold(place, way, Fold::Min, Operator::Min)
    }

    /// Products: integers wrap in any order, floats go over a fixed tree along uncut axes.
    fn prod(&mut self, of: ExprId, way: &Way, dtype: DType) -> Result<ExprId, LowerErrorKind> {
        let of = self.exprs.cast(of, dtype);
        if !matches!(dtype, DType::F32 | DType::F64 | DType::C64 | DType::C128) {
            return self.fold(of, way, Fold::Prod, Operator::Prod);
        }
        let shape = self.exprs[of].shape.clone();
        // The longest kept axis is cut; without one, every rank has all.
        let cut = way.kept.iter().copied().max_by_key(|axis| shape[*axis]);
        let mesh = pantile_geometry::Mesh::line(self.ranks).map_err(PlaceError::from)?;
        let name = mesh.names()[0].clone();
        let describe = |axis: usize| match cut {
            Some(cut) if cut == axis => Axis::block(&[name.as_str()]),
            _ => Axis::whole(),
        };
        let home = place::build(&shape, &mesh, (0..shape.len()).map(describe).collect())?;
        let from = self.materialise(of, None)?;
        let from = self.moved(from, &home, "gather")?;
        let described = way.kept.iter().map(|axis| describe(*axis)).collect();
        let home = place::build(&way.shape, &mesh, described)?;
        let to = self.new_slot(dtype, home);
        let (axes, place) = (way.axes.clone(), self.place.clone());
        self.steps.push(Step::Product(Product { from, to, axes, place }));
        Ok(self.exprs.slot(to, dtype, &way.shape))
    }

    /// The same elements in row-major order in another shape.
    pub(crate) fn reshape(
        &mut self,
        of: ExprId,
        shape: &[usize],
        wanted: Option<&Distribution>,
    ) -> Result<ExprId, LowerErrorKind> {
        let (dtype, own) = (self.exprs[of].dtype, self.exprs[of].shape.clone());
        let size = own.iter().product::<usize>();
        if shape.iter().product::<usize>() != size {
            let got = shape.iter().product::<usize>();
            return Err(OperationError::Elements { got, expected: size }.into());
        }
        if own == shape {
            return Ok(of);
        }
        if size == 0 {
            return Ok(self.exprs.constant(super::create::zero(dtype)?, shape));
        }
        if let Some(map) = unit_map(&own, shape) {
            return Ok(self.exprs.view(of, &map, shape));
        }
        let slot = self.materialise(of, None)?;
        let home = self.slots[slot.index()].home.clone();
        let copies = place::axes(&home).iter().all(place::is_whole);
        let (slot, home) = if copies || cut_along_rows(&home) {
            (slot, home)
        } else {
            let rows = place::blocks(&own, self.ranks)?;
            (self.moved(slot, &rows, "reshape")?, rows)
        };
        let target = if copies {
            let axes = vec![Axis::whole(); shape.len()];
            place::build(shape, home.mesh(), axes)?
        } else {
            // Straight to where it is wanted, if rows go there.
            match wanted.filter(|wanted| cut_along_rows(wanted)) {
                Some(wanted) => place::plain(wanted)?,
                None => self.rows_on(&home, shape)?,
            }
        };
        let to = self.new_slot(dtype, target.clone());
        if copies {
            self.steps.push(Step::Reshape { from: slot, to });
            return Ok(self.exprs.slot(to, dtype, shape));
        }
        let (line_from, line_to) = (flat(&home)?, flat(&target)?);
        let one = self.new_slot(dtype, line_from);
        self.steps.push(Step::Reshape { from: slot, to: one });
        let other = self.moved(one, &line_to, "reshape")?;
        self.steps.push(Step::Reshape { from: other, to });
        Ok(self.exprs.slot(to, dtype, shape))
    }

    /// Axis 0 in balanced blocks over the mesh axes that cut another array's axis 0.
    fn rows_on(&self, home: &Distribution, shape: &[usize]) -> Result<Distribution, PlaceError> {
        let mesh = home.mesh();
        let names: Vec<&str> =
            place::axes(home)[0].over().iter().map(|axis| mesh.names()[*axis].as_str()).collect();
        let describe = |axis: usize| if axis == 0 { Axis::block(&names) } else { Axis::whole() };
        place::build(shape, mesh, (0..shape.len()).map(describe).collect())
    }
}

/// True if only axis 0 is cut, in blocks.
fn cut_along_rows(home: &Distribution) -> bool {
    let mut axes = place::axes(home).iter();
    axes.next().is_some_and(place::is_block) && axes.all(place::is_whole)
}

/// The distribution of the elements in one row, each where it lives.
fn flat(home: &Distribution) -> Result<Distribution, PlaceError> {
    let row: usize = home.shape()[1..].iter().product();
    let map = &place::axes(home)[0];
    let mut cuts = vec![0];
    cuts.extend((0..map.parts()).map(|coordinate| map.owned(coordinate).1 * row));
    for at in 1..cuts.len() {
        cuts[at] = cuts[at].max(cuts[at - 1]);
    }
    let mesh = home.mesh();
    let names: Vec<&str> = map.over().iter().map(|axis| mesh.names()[*axis].as_str()).collect();
    place::build(&[home.size()], mesh, vec![Axis::cut(&names, Cuts::At(cuts.into()))])
}

/// How to read an array that differs from `shape` by axes of length 1 only.
fn unit_map(own: &[usize], shape: &[usize]) -> Option<Vec<IndexMap>> {
    let real = |shape: &[usize]| -> Vec<usize> {
        (0..shape.len()).filter(|axis| shape[*axis] != 1).collect()
    };
    let (ours, theirs) = (real(own), real(shape));
    let same = ours.len() == theirs.len()
        && ours.iter().zip(&theirs).all(|(one, other)| own[*one] == shape[*other]);
    if !same {
        return None;
    }
    let index_map = |axis: usize| match ours.iter().position(|other| *other == axis) {
        Some(number) => IndexMap::Moves { axis: theirs[number], offset: 0, step: 1 },
        None => IndexMap::Fixed(0),
    };
    Some((0..own.len()).map(index_map).collect())
}
