//! Is a plan right? All faults, not just the first.
//!
//! A step is right if, for every element and every copy d of it in the target, each term s of it
//! in the source arrives exactly once, at the same term t of the target for all d. That is what
//! [`Plan::between`] makes; plans from texts, or by other hands, are checked against it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use pantile_geometry::{Distribution, ElementHolder, Kind, Rank};

use crate::plan::{Plan, Step};
use crate::{Lifts, Transfer};

/// Most elements times transfers that are looked at one by one.
const WORK_LIMIT: usize = 1 << 24;

/// What is wrong with a plan, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Number of the step.
    pub step: usize,
    /// What is wrong.
    pub defect: Defect,
}

/// What can be wrong with a step.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Defect {
    /// There is no movement between the step's distributions at all.
    NoMovement(crate::Error),
    /// The step does not start where the step before ended.
    BrokenPath,
    /// The operator is not that of the terms.
    Operator,
    /// A region has another number of axes than the array, or leaves it.
    Region {
        /// The transfer, as text.
        transfer: String,
    },
    /// The sender does not hold what it should give.
    NotHeldBySender {
        /// The transfer, as text.
        transfer: String,
    },
    /// The receiver has no place for what it gets.
    NotHeldByReceiver {
        /// The transfer, as text.
        transfer: String,
    },
    /// An element does not arrive at a rank that should have it.
    Missing {
        /// The receiver.
        rank: Rank,
        /// The element.
        element: Vec<usize>,
    },
    /// An element arrives more than once, or the terms of two copies differ.
    Twice {
        /// The receiver.
        rank: Rank,
        /// The element.
        element: Vec<usize>,
    },
    /// The step is too large to be looked at element by element.
    TooLarge {
        /// Elements of the array.
        elements: usize,
    },
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step {}: ", self.step)?;
        match &self.defect {
            Defect::NoMovement(error) => write!(f, "{error}"),
            Defect::BrokenPath => {
                write!(f, "does not start with the distribution that the step before ended with")
            }
            Defect::Operator => write!(f, "the operator is not that of the terms"),
            Defect::Region { transfer } => write!(f, "the region of {transfer} leaves the array"),
            Defect::NotHeldBySender { transfer } => {
                write!(f, "the sender of {transfer} does not hold all of it")
            }
            Defect::NotHeldByReceiver { transfer } => {
                write!(f, "the receiver of {transfer} does not hold all of it")
            }
            Defect::Missing { rank, element } => {
                write!(f, "element {element:?} does not arrive at rank {rank}")
            }
            Defect::Twice { rank, element } => {
                write!(f, "element {element:?} arrives at rank {rank} too often or not as terms")
            }
            Defect::TooLarge { elements } => {
                write!(f, "an array of {elements} elements is too large to check one by one")
            }
        }
    }
}

impl Plan {
    /// All faults of the plan; none if it is right. Looks at every element: meant for plans
    /// from texts and for tests.
    #[must_use]
    pub fn check(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (number, step) in self.steps().iter().enumerate() {
            let mut defects = Vec::new();
            if number > 0 && self.steps()[number - 1].target != step.source {
                defects.push(Defect::BrokenPath);
            }
            step.check(&mut defects);
            findings.extend(defects.into_iter().map(|defect| Finding { step: number, defect }));
        }
        findings
    }
}

impl Step {
    fn check(&self, defects: &mut Vec<Defect>) {
        let normal = (self.source.normal(), self.target.normal());
        match Plan::between(&normal.0, &normal.1) {
            Err(error) => {
                defects.push(Defect::NoMovement(error));
                return;
            }
            Ok(plan) if plan.steps()[0].operator != self.operator => {
                defects.push(Defect::Operator);
            }
            Ok(_) => {}
        }
        let before = defects.len();
        self.transfers().for_each(|transfer| self.check_transfer(transfer, defects));
        if defects.len() > before || self.faces_only {
            return;
        }
        let work: u128 = self.transfers().map(|transfer| transfer.size() as u128).sum();
        if work > WORK_LIMIT as u128 || self.source.size() > WORK_LIMIT {
            defects.push(Defect::TooLarge { elements: self.source.size() });
            return;
        }
        self.check_elements(&normal.0, &normal.1, defects);
    }

    fn check_transfer(&self, transfer: &Transfer, defects: &mut Vec<Defect>) {
        let shape = self.source.shape();
        let sets = transfer.region.axes();
        let inside = sets.len() == shape.len()
            && sets.iter().zip(shape).all(|(set, n)| set.hull().is_none_or(|(_, high)| high <= *n));
        if !inside {
            defects.push(Defect::Region { transfer: transfer.to_string() });
            return;
        }
        if !holds(&self.source, transfer.from, &transfer.source_lifts, transfer) {
            defects.push(Defect::NotHeldBySender { transfer: transfer.to_string() });
        }
        if !holds(&self.target, transfer.to, &transfer.target_lifts, transfer) {
            defects.push(Defect::NotHeldByReceiver { transfer: transfer.to_string() });
        }
    }

    fn check_elements(
        &self,
        source: &Distribution,
        target: &Distribution,
        defects: &mut Vec<Defect>,
    ) {
        let mut arrived: BTreeMap<Vec<usize>, Vec<&Transfer>> = BTreeMap::new();
        for transfer in self.transfers() {
            for cell in transfer.region.cells() {
                arrived.entry(cell).or_default().push(transfer);
            }
        }
        let whole: Vec<(usize, usize)> = source.shape().iter().map(|n| (0, *n)).collect();
        for element in pantile_geometry::Region::from_ranges(&whole).cells() {
            let transfers = arrived.remove(&element).unwrap_or_default();
            check_element(source, target, &element, &transfers, defects);
        }
    }
}

/// True if the rank holds the whole region under these lifts.
fn holds(side: &Distribution, rank: Rank, lifts: &Lifts, transfer: &Transfer) -> bool {
    let same = |held: &[i64]| held.iter().enumerate().all(|(axis, l)| *l == lifts.along(axis));
    side.held(rank).iter().filter(|(held, _)| same(held)).any(|(_, region)| {
        let pairs = transfer.region.axes().iter().zip(region.axes());
        pairs.into_iter().all(|(wanted, held)| wanted.iter().all(|at| held.contains(at)))
    })
}

/// The part of a holder on the directions of one kind: coordinates and lifts.
type HolderPart = Vec<(usize, i64)>;

fn part(side: &Distribution, holder: &ElementHolder, kind: Kind) -> HolderPart {
    let mut part = Vec::new();
    if side.boxes().is_some() {
        if side.mesh_kind(0) == kind {
            part.push((holder.rank, 0));
        }
        return part;
    }
    for axis in (0..side.ndim()).filter(|axis| side.axis_kind(*axis) == kind) {
        let coordinate = side.coordinate(holder.rank, axis).unwrap_or(usize::MAX);
        part.push((coordinate, holder.lifts[axis]));
    }
    let coordinates = side.mesh().coordinates_of(holder.rank).unwrap_or_default();
    for axis in side.free_mesh_axes().into_iter().filter(|axis| side.mesh_kind(*axis) == kind) {
        part.push((coordinates[axis], 0));
    }
    part
}

fn check_element(
    source: &Distribution,
    target: &Distribution,
    element: &[usize],
    transfers: &[&Transfer],
    defects: &mut Vec<Defect>,
) {
    let (from, to) = (source.holders(element), target.holders(element));
    let terms: BTreeSet<_> = from.iter().map(|h| part(source, h, Kind::Terms)).collect();
    // copy d -> term s -> the terms t at which it arrives
    let mut got: BTreeMap<HolderPart, BTreeMap<HolderPart, Vec<(HolderPart, Rank)>>> =
        to.iter().map(|holder| (part(target, holder, Kind::Copies), BTreeMap::new())).collect();
    let full = |lifts: &Lifts| (0..element.len()).map(|axis| lifts.along(axis)).collect();
    for transfer in transfers {
        let giver = ElementHolder { rank: transfer.from, lifts: full(&transfer.source_lifts) };
        let taker = ElementHolder { rank: transfer.to, lifts: full(&transfer.target_lifts) };
        let copy = got.entry(part(target, &taker, Kind::Copies)).or_default();
        let at = (part(target, &taker, Kind::Terms), transfer.to);
        copy.entry(part(source, &giver, Kind::Terms)).or_default().push(at);
    }
    let rank_of = |copy: &HolderPart| {
        let taker = to.iter().find(|holder| part(target, holder, Kind::Copies) == *copy);
        taker.map_or(0, |holder| holder.rank)
    };
    let element = element.to_vec();
    let mut places: BTreeMap<HolderPart, HolderPart> = BTreeMap::new();
    for (copy, by_term) in &got {
        for term in &terms {
            let arrivals = by_term.get(term).map_or(&[][..], Vec::as_slice);
            let element = element.clone();
            match arrivals {
                [] => defects.push(Defect::Missing { rank: rank_of(copy), element }),
                [(at, rank)] => {
                    if *places.entry(term.clone()).or_insert_with(|| at.clone()) != *at {
                        defects.push(Defect::Twice { rank: *rank, element });
                    }
                }
                [(_, rank), ..] => defects.push(Defect::Twice { rank: *rank, element }),
            }
        }
    }
}
