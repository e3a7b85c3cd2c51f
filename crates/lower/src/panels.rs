//! Products whose contracted axis is cut: every rank makes the panels it has the terms of.
//!
//! A panel's sum is one number per element of the result, on whatever rank it is made; panels are added in their
//! order. Where the contracted axis is long and the result small, panels are far less than the factors.

use pantile_geometry::{Axis, Cuts, Distribution, Rank};
use pantile_lanes::{Binary, DType};
use pantile_plan::Totals;

use super::communication_insertion::{Access, followed, whole_region};
use super::contract::Contract;
use super::expr::ExprId;
use super::local::{LocalLoop, LocalWrite, Memory, box_runs};
use super::place;
use super::{
    Executable, IndexMap, LowerErrorKind, Lowering, OperationError, Part, PlaceError, SlotId,
};

/// Terms of a panel.
pub(super) const PANEL: usize = 256;

/// More panels than this are not made: adding them takes a loop for every few.
const PANELS_MAX: usize = 4096;

/// Panels that one loop adds.
pub(super) const ADDED: usize = 64;

/// How a product is made of panels.
pub(super) struct Split {
    /// Who makes which: only the contracted axis is cut, between panels.
    domain: Distribution,
    /// Where the panels are made: the first axis counts them.
    made: Distribution,
    /// Where they are added: rows are cut, panels are not.
    added: Distribution,
}

impl Split {
    /// The split that cuts the contracted axis about where a factor is cut; `None` if it is not.
    fn of(domain: &Distribution) -> Result<Option<Self>, PlaceError> {
        let (mesh, full) = (domain.mesh(), domain.shape());
        let (last, rows) = (full.len() - 1, full.len() - 3);
        let (map, terms) = (&place::axes(domain)[last], full[last]);
        let panels = terms.div_ceil(PANEL);
        let cut = place::is_block(map) && map.parts() > 1 && map.parts() == mesh.size();
        if !cut || !(2..=PANELS_MAX).contains(&panels) {
            return Ok(None);
        }
        let mut ends = vec![0];
        for coordinate in 0..map.parts() {
            let end = (map.owned(coordinate).1 + PANEL / 2) / PANEL;
            ends.push(end.clamp(ends[coordinate], panels));
        }
        ends[map.parts()] = panels;
        let names: Vec<&str> = map.over().iter().map(|axis| mesh.names()[*axis].as_str()).collect();
        let terms_at: Vec<usize> = ends.iter().map(|end| (end * PANEL).min(terms)).collect();
        let mut axes = vec![Axis::whole(); last];
        axes.push(Axis::cut(&names, Cuts::At(terms_at.into())));
        let domain = place::build(full, mesh, axes)?;
        let shape: Vec<usize> = [&[panels], &full[..last]].concat();
        let mut axes = vec![Axis::whole(); shape.len()];
        axes[0] = Axis::cut(&names, Cuts::At(ends.into()));
        let made = place::build(&shape, mesh, axes)?;
        let mut axes = vec![Axis::whole(); shape.len()];
        axes[1 + rows] = Axis::block(&names);
        let added = place::build(&shape, mesh, axes)?;
        Ok(Some(Self { domain, made, added }))
    }
}

impl Lowering<'_> {
    /// The split that moves least, if it moves less than that.
    pub(super) fn split(
        &self,
        reads: &[(SlotId, Access); 2],
        full: &[usize],
        least: usize,
    ) -> Result<Option<Split>, LowerErrorKind> {
        let region = whole_region(full);
        let (mut best, mut least) = (None, least);
        for (slot, access) in reads {
            let home = &self.slots[slot.index()].home;
            let Some(split) = Split::of(&followed(home, access, full)?)? else { continue };
            let panels = Totals::between(&split.made, &split.added);
            let panels = panels.ok().and_then(|totals| usize::try_from(totals.moved).ok());
            let each = reads
                .iter()
                .map(|(slot, access)| self.fetch_cost(*slot, access, &split.domain, &region));
            let moved = each.fold(panels.unwrap_or(usize::MAX), usize::saturating_add);
            if moved < least {
                (best, least) = (Some(split), moved);
            }
        }
        Ok(best)
    }

    /// The product, panel by panel.
    pub(super) fn contract_panels(
        &mut self,
        reads: [(SlotId, Access); 2],
        split: &Split,
        dtype: DType,
    ) -> Result<ExprId, LowerErrorKind> {
        let made = self.contract_at(reads, &split.domain, (dtype, &split.made))?;
        let slot = self.moved(made, &split.added, "reduce")?;
        let shape = split.added.shape().to_vec();
        let panels = self.exprs.slot(slot, dtype, &shape);
        let mut sum: Option<ExprId> = None;
        for number in 0..shape[0] {
            let fixed = IndexMap::Fixed(i64::try_from(number)?);
            let moves =
                (0..shape.len() - 1).map(|axis| IndexMap::Moves { axis, offset: 0, step: 1 });
            let map: Vec<IndexMap> = std::iter::once(fixed).chain(moves).collect();
            let panel = self.exprs.view(panels, &map, &shape[1..]);
            let next = match sum {
                None => panel,
                Some(sum) => self.binary(Binary::Add, sum, panel, Some(dtype))?,
            };
            sum = Some(if number % ADDED == ADDED - 1 { self.stored(next)? } else { next });
        }
        Ok(sum.ok_or(OperationError::NoPanels)?)
    }
}

impl Executable {
    /// The boxes that a rank computes of a product that is made of panels, one for each.
    pub(super) fn local_panels(&self, contract: &Contract, rank: Rank) -> Vec<LocalLoop> {
        let domain = &contract.domain;
        let last = domain.ndim() - 1;
        if domain.mesh().position_of(rank).is_none() {
            return Vec::new();
        }
        let coordinate = domain.coordinate(rank, last).unwrap_or(0);
        let (from, to) = place::axes(domain)[last].owned(coordinate);
        let compute = contract.summing();
        let home = &self.slots[contract.to.index()].home;
        let panel = |first: usize| {
            let mut own: Vec<(usize, usize)> =
                domain.shape().iter().map(|length| (0, *length)).collect();
            own[last] = (first, (first + PANEL).min(to));
            let runs = box_runs(&own);
            let mut one = self.local_loop(&compute, rank, &runs)?;
            let number = i64::try_from(first / PANEL).ok()?;
            let moves = (0..last).map(|axis| IndexMap::Moves { axis, offset: 0, step: 1 });
            let access: Vec<IndexMap> =
                std::iter::once(IndexMap::Fixed(number)).chain(moves).collect();
            let places = Memory::new(home, rank)?.places(&access, &runs)?;
            one.writes = vec![LocalWrite::Slot(contract.to, Part::Whole, places)];
            Some(one)
        };
        (from..to).step_by(PANEL).filter_map(panel).collect()
    }
}
