//! Reductions over or beside a few elements, written out.
//!
//! Along a short axis that is not cut a reduction is an expression like others: no loop of its
//! own, nothing stored before or after it. And a reduction that leaves a few elements over, made
//! of arrays that are broadcast, is one loop over what is reduced with a fold for each of them:
//! what they have in common is computed once.

use pantile_geometry::Distribution;
use pantile_lanes::{Binary, DType, Scalar, SumTerms, Unary};

use super::communication_insertion::{Target, whole_region};
use super::expr::{ExprId, Kind};
use super::place;
use super::reduce::Way;
use super::{Fold, IndexMap, LowerErrorKind, Lowering, OperationError, SlotId};
use pantile_ir::Reduction;

/// Results below this number are made by a loop of their own as quickly.
pub(super) const WORTH: usize = 16;

/// Folds of one loop: more of them leave the nearest cache.
pub(super) const MOST_FOLDS: usize = 64;

/// Operations of all elements together, about the longest body that is still quick.
const MOST_NODES: usize = 1024;

/// Operations that are repeated rather than stored.
const CHEAP: usize = 4;

impl Lowering<'_> {
    /// A fold over a few elements as an expression; `None` if that is not possible or not worth it.
    pub(super) fn written_out(
        &mut self,
        of: ExprId,
        way: &Way,
        fold: Fold,
    ) -> Result<Option<ExprId>, LowerErrorKind> {
        let dtype = self.exprs[of].dtype;
        let function = match fold {
            Fold::Rounded(1) if matches!(dtype, DType::F32 | DType::F64) => None,
            Fold::Plain | Fold::Sum => Some(Binary::Add),
            Fold::Prod => Some(Binary::Multiply),
            Fold::Min if dtype != DType::Bool => Some(Binary::Minimum),
            Fold::Max if dtype != DType::Bool => Some(Binary::Maximum),
            Fold::Any => Some(Binary::LogicalOr),
            Fold::All => Some(Binary::LogicalAnd),
            _ => return Ok(None),
        };
        let Some(terms) = self.terms(of, way) else { return Ok(None) };
        let Some(function) = function else {
            return Ok(Some(self.exprs.add(Kind::Sum(terms), dtype, &way.shape)));
        };
        let (first, others) = terms.split_first().ok_or(OperationError::NoTerms)?;
        let mut all = *first;
        for term in others {
            all = self.binary(function, all, *term, Some(dtype))?;
        }
        Ok(Some(all))
    }

    /// The first place of the largest or smallest of a few; `None` if that is not worth it.
    pub(super) fn first_of_few(
        &mut self,
        of: ExprId,
        way: &Way,
        which: Reduction,
    ) -> Result<Option<ExprId>, LowerErrorKind> {
        let of = match self.exprs[of].dtype {
            DType::Bool => self.exprs.cast(of, DType::U8),
            _ => of,
        };
        let dtype = self.exprs[of].dtype;
        let Some(terms) = self.terms(of, way) else { return Ok(None) };
        let better = match which {
            Reduction::Max => Binary::GreaterEqual,
            _ => Binary::LessEqual,
        };
        let (mut best, mut place) = (terms[0], self.exprs.constant(Scalar::of(0i64), &[]));
        for (number, term) in (0i64..).zip(&terms).skip(1) {
            let mut stays = self.binary(better, best, *term, None)?;
            if matches!(dtype, DType::F32 | DType::F64) {
                // The first NaN, where there is one.
                let nan = self.unary(Unary::IsNan, best, None)?;
                stays = self.binary(Binary::LogicalOr, stays, nan, None)?;
            }
            let here = self.exprs.constant(Scalar::of(number), &[]);
            best = self.choose(stays, best, *term, dtype)?;
            place = self.choose(stays, place, here, DType::I64)?;
        }
        Ok(Some(place))
    }

    /// The elements along the reduced axes in row-major order, if they are a few that every rank
    /// has all of.
    fn terms(&mut self, of: ExprId, way: &Way) -> Option<Vec<ExprId>> {
        let left: usize = way.shape.iter().product();
        let complex = matches!(self.exprs[of].dtype, DType::C64 | DType::C128);
        let unrolled = (2..=SumTerms::MOST).contains(&way.count) && left >= WORTH && !complex;
        if !unrolled || self.size(of).saturating_mul(way.count) > MOST_NODES || self.cuts(of, way) {
            return None;
        }
        let shape = self.exprs[of].shape.clone();
        let lengths: Vec<usize> = way.axes.iter().map(|axis| shape[*axis]).collect();
        let terms = indices(&lengths);
        Some(terms.iter().map(|at| self.fixed(of, (&way.axes, at), &way.shape)).collect())
    }

    /// True if something is cut along the reduced axes.
    fn cuts(&self, of: ExprId, way: &Way) -> bool {
        self.leaves(&[of]).iter().any(|(slot, access)| {
            let maps = place::axes(&self.slots[slot.index()].home);
            maps.iter().zip(access).any(|(map, index_map)| {
                matches!(index_map, IndexMap::Moves { axis, .. } if way.axes.contains(axis))
                    && !place::is_whole(map)
            })
        })
    }

    /// An expression with some of its axes fixed.
    fn fixed(&mut self, of: ExprId, (axes, at): (&[usize], &[usize]), shape: &[usize]) -> ExprId {
        let mut next = 0..;
        let map: Vec<IndexMap> = (0..self.exprs[of].shape.len())
            .map(|axis| match axes.iter().position(|other| *other == axis) {
                Some(number) => IndexMap::Fixed(i64::try_from(at[number]).unwrap_or(i64::MAX)),
                None => IndexMap::Moves { axis: next.next().unwrap_or(0), offset: 0, step: 1 },
            })
            .collect();
        self.exprs.view(of, &map, shape)
    }

    /// Folds an expression over the reduced axes of a domain into slots.
    pub(super) fn fold_into(
        &mut self,
        of: ExprId,
        way: &Way,
        domain: &Distribution,
        (fold, slots): (Fold, Vec<SlotId>),
    ) -> Result<(), LowerErrorKind> {
        if !self.leaves_a_few(of, way, domain) {
            let roots = vec![(of, Target::Fold(fold, slots, None))];
            let region = whole_region(domain.shape());
            return self.compute(roots, (domain, region), &way.axes, Vec::new());
        }
        let lengths: Vec<usize> = way.axes.iter().map(|axis| domain.shape()[*axis]).collect();
        let described =
            way.axes.iter().map(|axis| place::describe(&place::axes(domain)[*axis], domain.mesh()));
        let inner = place::build(&lengths, domain.mesh(), described.collect())?;
        let roots = indices(&way.shape).into_iter().map(|at| {
            let one = self.fixed(of, (&way.kept, &at), &lengths);
            (one, Target::Fold(fold, slots.clone(), Some(at)))
        });
        let (roots, reduced) = (roots.collect(), (0..lengths.len()).collect::<Vec<_>>());
        self.compute(roots, (&inner, whole_region(&lengths)), &reduced, Vec::new())
    }

    /// True if a reduction leaves a few elements, all of them on every rank, and nothing that it
    /// reads is as large as what it reduces: then all of it was made by broadcasting.
    fn leaves_a_few(&self, of: ExprId, way: &Way, domain: &Distribution) -> bool {
        let folds: usize = way.shape.iter().product();
        let real: Vec<usize> =
            way.kept.iter().copied().filter(|axis| domain.shape()[*axis] > 1).collect();
        let moves = |access: &[IndexMap], by: usize| {
            access
                .iter()
                .any(|index_map| matches!(index_map, IndexMap::Moves { axis, .. } if *axis == by))
        };
        let leaves = self.leaves(&[of]);
        (2..=MOST_FOLDS).contains(&folds)
            && way.count >= WORTH
            && real.iter().all(|axis| place::is_whole(&place::axes(domain)[*axis]))
            && self.size(of).saturating_mul(folds) <= MOST_NODES
            && !leaves.is_empty()
            && leaves.iter().all(|(_, access)| real.iter().any(|axis| !moves(access, *axis)))
    }

    /// True if an expression is a few operations on much smaller arrays: each loop that needs it computes
    /// it again, because storing it would take longer.
    pub(super) fn is_spread(&self, of: ExprId) -> bool {
        let (mut stack, mut operations) = (vec![of], 0);
        while let Some(id) = stack.pop() {
            let cheap = match self.exprs[id].kind {
                Kind::Const(_) | Kind::Read(..) | Kind::Index { .. } => continue,
                Kind::Select(..) | Kind::Cast(_) => true,
                Kind::Binary(function, ..) => is_cheap(function),
                _ => false,
            };
            operations += 1;
            if !cheap || operations > CHEAP {
                return false;
            }
            stack.extend(self.exprs.operands(id));
        }
        let shape = &self.exprs[of].shape;
        let size: usize = shape.iter().product();
        let read = |access: &[IndexMap]| {
            let moved = |axis: &usize| {
                let index_map = |index_map: &IndexMap| matches!(index_map, IndexMap::Moves { axis: by, .. } if by == axis);
                access.iter().any(index_map)
            };
            (0..shape.len()).filter(moved).map(|axis| shape[axis]).product::<usize>()
        };
        let leaves = self.leaves(&[of]);
        let all: usize = leaves.iter().map(|(_, access)| read(access)).sum();
        !leaves.is_empty() && all.saturating_mul(2) <= size
    }

    /// The number of operations of an expression, each counted once.
    fn size(&self, of: ExprId) -> usize {
        let (mut known, mut stack) = (std::collections::BTreeSet::new(), vec![of]);
        while let Some(id) = stack.pop() {
            if known.len() > MOST_NODES {
                break;
            }
            if known.insert(id) {
                stack.extend(self.exprs.operands(id));
            }
        }
        known.len()
    }
}

/// Functions that are one or two operations of a lane.
fn is_cheap(function: Binary) -> bool {
    matches!(
        function,
        Binary::Add
            | Binary::Subtract
            | Binary::Multiply
            | Binary::Equal
            | Binary::NotEqual
            | Binary::Less
            | Binary::LessEqual
            | Binary::Greater
            | Binary::GreaterEqual
            | Binary::LogicalAnd
            | Binary::LogicalOr
    )
}

/// All indices of a shape, row-major.
fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for length in shape {
        all = (all.iter())
            .flat_map(|at: &Vec<usize>| {
                (0..*length).map(move |index| at.iter().copied().chain([index]).collect())
            })
            .collect();
    }
    all
}
