//! Products of matrices: where they are computed, and what has to move before.
//!
//! A product is a loop over rows, columns and the contracted axis. Mostly that is not cut: a rank that
//! computes an element sees all of its terms; else it is cut between panels (`panels`). Operands come to
//! where the loop runs by ordinary movements.

use std::collections::BTreeMap;

use pantile_geometry::grid::auto_grid;
use pantile_geometry::{Axis, Distribution, Mesh, Rank};
use pantile_lanes::{Binary, DType, LoopBody, Scalar};
use pantile_plan::Totals;

use super::communication_insertion::{Access, whole_region};
use super::expr::{ExprId, Kind};
use super::place;
use super::{
    Compute, Executable, Fold, IndexMap, LocalLoop, LowerErrorKind, Lowering, OperationError, Part,
    PlaceError, Read, SlotId, Step, Write,
};
use pantile_ir::{Dim, Place, Reduction, infer};

/// The product of two arrays: sums over the last axis of a loop, each a chain of fused multiply-adds
/// over panels of the contracted axis.
#[derive(Clone, Debug)]
pub struct Contract {
    /// Who does what: axes for which products are made one by one, rows, columns, and the contracted
    /// axis. Where that is cut it is cut between panels, and nothing else is.
    pub domain: Distribution,
    /// What is multiplied, and how it is read.
    pub reads: [(SlotId, Vec<IndexMap>); 2],
    /// The products; lives where the loop runs, without the contracted axis. Where that is cut a first
    /// axis counts panels, each of which has a sum of its own.
    pub to: SlotId,
    /// Where it was written.
    pub place: Place,
}

impl Contract {
    /// True if the contracted axis is cut.
    fn has_panels(&self) -> bool {
        place::axes(&self.domain).last().is_some_and(|map| map.parts() > 1)
    }

    /// The loop as one that sums.
    pub(super) fn summing(&self) -> Compute {
        let read =
            |(slot, access): &(SlotId, Access)| Read::Slot(*slot, Part::Whole, access.clone());
        Compute {
            domain: self.domain.clone(),
            region: whole_region(self.domain.shape()),
            reads: self.reads.iter().map(read).collect(),
            body: LoopBody::new(),
            writes: match self.has_panels() {
                // Each panel has a place of its own.
                true => Vec::new(),
                false => vec![Write::Fold(Fold::Sum, self.to, None)],
            },
            reduced: vec![self.domain.ndim() - 1],
            pass_through: Vec::new(),
            halos: Vec::new(),
            overcompute: Vec::new(),
            place: self.place.clone(),
        }
    }
}

impl Executable {
    /// The boxes that a rank computes of a product: two reads and one write each, in whole elements.
    #[must_use]
    pub fn local_contract(&self, contract: &Contract, rank: Rank) -> Vec<LocalLoop> {
        match contract.has_panels() {
            true => self.local_panels(contract, rank),
            false => self.local_loops(&contract.summing(), rank),
        }
    }
}

/// A factor of a product: the array, and which axes of the loop its own are.
struct Factor {
    expr: ExprId,
    axes: Vec<IndexMap>,
}

impl Lowering<'_> {
    /// The product of two arrays.
    pub(crate) fn matmul(&mut self, left: ExprId, right: ExprId) -> Result<ExprId, LowerErrorKind> {
        let of = |expr: ExprId| (self.exprs[expr].dtype, self.exprs[expr].shape.clone());
        let ((one, left_shape), (other, right_shape)) = (of(left), of(right));
        let dtype = infer::matmul_dtype(one, other)?;
        let known = |shape: &[usize]| shape.iter().copied().map(Some).collect::<Vec<Dim>>();
        let shape = infer::matmul_shape(&known(&left_shape), &known(&right_shape))?;
        let shape: Vec<usize> = shape.into_iter().flatten().collect();
        let (left, right) = (self.exprs.cast(left, dtype), self.exprs.cast(right, dtype));
        let vectors = [left_shape.len() == 1, right_shape.len() == 1];
        if vectors == [true, true] {
            // The exact sum of products, as the sum that is written out.
            let products = self.binary(Binary::Multiply, left, right, Some(dtype))?;
            return self.reduce(Reduction::Sum, products, (&[0], false), (0.0, Some(dtype)));
        }
        let terms = left_shape[left_shape.len() - 1];
        if terms == 0 || shape.contains(&0) {
            let zero = self.exprs.constant(Scalar::of(0i64), &[]);
            let zero = self.exprs.cast(zero, dtype);
            return self.broadcast_to(zero, &shape);
        }
        let mut full = shape.clone();
        if vectors[0] {
            full.insert(full.len() - 1, 1);
        }
        full.extend(vectors[1].then_some(1));
        full.push(terms);
        let axes = full.len();
        let (rows, columns, last) = (axes - 3, axes - 2, axes - 1);
        let left = self.factor(left, (&full, [rows, last], vectors[0]))?;
        let right = self.factor(right, (&full, [last, columns], vectors[1]))?;
        let product = self.contract([left, right], &full, dtype)?;
        // A vector has no axis in the result.
        let mut next = 0;
        let index_map = (0..last).map(|axis| {
            if (axis == rows && vectors[0]) || (axis == columns && vectors[1]) {
                return IndexMap::Fixed(0);
            }
            next += 1;
            IndexMap::Moves { axis: next - 1, offset: 0, step: 1 }
        });
        let map: Vec<IndexMap> = index_map.collect();
        Ok(self.exprs.view(product, &map, &shape))
    }

    /// An operand as it is read in the loop: the last axes are these, those before are aligned.
    fn factor(
        &mut self,
        expr: ExprId,
        (full, last, vector): (&[usize], [usize; 2], bool),
    ) -> Result<Factor, LowerErrorKind> {
        // Kernels read memory: what is computed is put there first.
        let expr = match self.exprs[expr].kind {
            Kind::Read(..) => expr,
            _ => self.stored(expr)?,
        };
        let shape = &self.exprs[expr].shape;
        let outer = full.len() - 3;
        let lead = (outer + 2).saturating_sub(shape.len());
        let moves = |axis: usize| IndexMap::Moves { axis, offset: 0, step: 1 };
        let axes = match vector {
            true => vec![moves(full.len() - 1)],
            false => (0..shape.len())
                .map(|axis| match (lead + axis).checked_sub(outer) {
                    Some(at) => moves(last[at]),
                    None if shape[axis] == full[lead + axis] => moves(lead + axis),
                    None => IndexMap::Fixed(0),
                })
                .collect(),
        };
        Ok(Factor { expr, axes })
    }

    /// The loop of a product, and what has to move before it.
    fn contract(
        &mut self,
        factors: [Factor; 2],
        full: &[usize],
        dtype: DType,
    ) -> Result<ExprId, LowerErrorKind> {
        let seen = factors.map(|factor| self.exprs.view(factor.expr, &factor.axes, full));
        let read = |expr: ExprId| match &self.exprs[expr].kind {
            Kind::Read(slot, access) => Ok((*slot, access.clone())),
            other => Err(OperationError::FactorNotStored { kind: format!("{other:?}") }),
        };
        let reads = [read(seen[0])?, read(seen[1])?];
        let (least, domain) = self.contract_domain(&reads, full)?;
        if let Some(split) = self.split(&reads, full, least)? {
            return self.contract_panels(reads, &split, dtype);
        }
        let home = without_last(&domain)?;
        let slot = self.contract_at(reads, &domain, (dtype, &home))?;
        Ok(self.exprs.slot(slot, dtype, home.shape()))
    }

    /// The loop of a product on a domain; gives the slot of the result, which lives there.
    pub(super) fn contract_at(
        &mut self,
        reads: [(SlotId, Access); 2],
        domain: &Distribution,
        (dtype, home): (DType, &Distribution),
    ) -> Result<SlotId, LowerErrorKind> {
        let region = whole_region(domain.shape());
        let mut replaced: BTreeMap<(SlotId, Access), (SlotId, Access)> = BTreeMap::new();
        let mut remote: BTreeMap<SlotId, Vec<Access>> = BTreeMap::new();
        for (slot, access) in &reads {
            if !self.is_at_hand(*slot, access, (domain, &region)) {
                remote.entry(*slot).or_default().push(access.clone());
            }
        }
        for (slot, mut accesses) in remote {
            accesses.dedup();
            self.fetch(slot, accesses, (domain, &region), &mut replaced)?;
        }
        let reads = reads.map(|read| replaced.get(&read).cloned().unwrap_or(read));
        let to = self.new_slot(dtype, home.clone());
        let (domain, place) = (domain.clone(), self.place.clone());
        self.steps.push(Step::Contract(Box::new(Contract { domain, reads, to, place })));
        Ok(to)
    }

    /// Where a product is computed so that the least moves, the first of equals, and how much that is.
    fn contract_domain(
        &self,
        reads: &[(SlotId, Access); 2],
        full: &[usize],
    ) -> Result<(usize, Distribution), LowerErrorKind> {
        let last = full.len() - 1;
        let mut candidates: Vec<Distribution> = Vec::new();
        for (slot, access) in reads {
            let home = &self.slots[slot.index()].home;
            let domain =
                whole_last(&super::communication_insertion::followed(home, access, full)?)?;
            if place::axes(&domain).iter().any(|map| map.parts() > 1) {
                candidates.push(domain);
            }
        }
        if let [one, other] = &candidates[..] {
            candidates.extend(both(one, other)?);
        }
        let auto = self.auto(&full[..last])?;
        let mut described: Vec<Axis> =
            place::axes(&auto).iter().map(|map| place::describe(map, auto.mesh())).collect();
        described.push(Axis::whole());
        candidates.push(place::build(full, auto.mesh(), described)?);
        let region = whole_region(full);
        let moved = |domain: &Distribution| {
            let each =
                reads.iter().map(|(slot, access)| self.fetch_cost(*slot, access, domain, &region));
            each.fold(0, usize::saturating_add)
        };
        let best = candidates.into_iter().map(|domain| (moved(&domain), domain));
        let best = best.reduce(|best, next| if next.0 < best.0 { next } else { best });
        let (least, best) = best.ok_or(OperationError::NoProductPlace)?;
        // In a grid less moves where there are many ranks; what goes on with rows pays the way back.
        let result = without_last(&best)?;
        for grid in self.grids(full)? {
            let back = Totals::between(&without_last(&grid)?, &result);
            let back = back.ok().and_then(|totals| usize::try_from(totals.moved).ok());
            let all = moved(&grid).saturating_add(back.unwrap_or(usize::MAX));
            if all < least {
                return Ok((all, grid));
            }
        }
        Ok((least, best))
    }

    /// Rows and columns in blocks over all ranks: only rows, only columns, and both.
    fn grids(&self, full: &[usize]) -> Result<Vec<Distribution>, PlaceError> {
        let (rows, columns) = (full.len() - 3, full.len() - 2);
        let mut shapes = vec![[self.ranks, 1], [1, self.ranks]];
        let lengths = [full[rows], full[columns]];
        if let Ok(grid) = auto_grid(&lengths, &[true, true], self.ranks)
            && let [one, other] = grid[..]
            && one * other == self.ranks
        {
            shapes.push([one, other]);
        }
        let mut grids = Vec::new();
        for [down, across] in shapes {
            let mesh =
                Mesh::new(&[("rows", down), ("columns", across)]).map_err(PlaceError::from)?;
            let axes = (0..full.len()).map(|axis| match axis {
                _ if axis == rows => Axis::block(&["rows"]),
                _ if axis == columns => Axis::block(&["columns"]),
                _ => Axis::whole(),
            });
            grids.push(place::build(full, &mesh, axes.collect())?);
        }
        Ok(grids)
    }
}

/// Rows as the one has them and columns as the other, if both are cut, over different axes of one mesh.
fn both(one: &Distribution, other: &Distribution) -> Result<Option<Distribution>, PlaceError> {
    let columns = one.ndim() - 2;
    let (mesh, maps) = (one.mesh(), place::axes(one));
    let column = &place::axes(other)[columns];
    let apart = maps.iter().enumerate().all(|(axis, map)| {
        axis == columns || map.over().iter().all(|cut| !column.over().contains(cut))
    });
    if !place::same_mesh(mesh, other.mesh()) || !apart {
        return Ok(None);
    }
    let described = maps.iter().enumerate().map(|(axis, map)| match axis == columns {
        true => place::describe(column, mesh),
        false => place::describe(map, mesh),
    });
    place::build(one.shape(), mesh, described.collect()).map(Some)
}

/// The same with the last axis cut nowhere.
fn whole_last(domain: &Distribution) -> Result<Distribution, PlaceError> {
    let mesh = domain.mesh();
    let mut described: Vec<Axis> =
        place::axes(domain).iter().map(|map| place::describe(map, mesh)).collect();
    described.pop();
    described.push(Axis::whole());
    place::build(domain.shape(), mesh, described)
}

/// The same without the last axis.
fn without_last(domain: &Distribution) -> Result<Distribution, PlaceError> {
    let (mesh, last) = (domain.mesh(), domain.ndim() - 1);
    let maps = place::axes(domain)[..last].iter();
    place::build(
        &domain.shape()[..last],
        mesh,
        maps.map(|map| place::describe(map, mesh)).collect(),
    )
}
