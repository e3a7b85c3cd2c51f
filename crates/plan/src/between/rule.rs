//! The rule of a class: which source holder gives to which target holder.
//!
//! A source holder is (s, c): its part on Terms directions and on Copies directions; a target
//! holder is (t, d). The pairs are `(s, k(d)) -> (m(s), d)` for all s and d. The anchor is the
//! lowest place that holds on both sides, (s0, c0) and (t0, d0). k(d) is the c of the source
//! holder at the place of (t0, d), m(s) the t of the target holder at the place of (s, c0);
//! where there is none, or no anchor, the owner's.

use pantile_geometry::{Distribution, Holder, Holding, Kind};

use smallvec::{SmallVec, smallvec};

use super::problem::SideDirection;

/// Who holds along one direction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Set<'a> {
    /// Every coordinate of a mesh axis that cuts nothing.
    Free(usize),
    /// The holders of an atom along an array axis (or one box).
    Held(&'a Holding),
}

impl Set<'_> {
    fn count(&self) -> usize {
        match self {
            Self::Free(extent) => *extent,
            Self::Held(holding) => holding.holders.len(),
        }
    }

    fn get(&self, at: usize) -> Holder {
        match self {
            Self::Free(_) => Holder { coordinate: at, lift: 0 },
            Self::Held(holding) => holding.holders[at],
        }
    }

    fn owner(&self) -> Option<Holder> {
        match self {
            Self::Free(_) => Some(Holder { coordinate: 0, lift: 0 }),
            Self::Held(holding) => holding.owner,
        }
    }

    /// Lifts of a coordinate, nearest first; empty if it does not hold.
    fn lifts(&self, coordinate: usize) -> TripCount {
        match self {
            Self::Free(extent) if coordinate < *extent => smallvec![0],
            Self::Free(_) => TripCount::new(),
            Self::Held(holding) => holding.lifts(coordinate).collect(),
        }
    }
}

/// One side of a class for one atom per array axis.
#[derive(Clone, Debug)]
pub(crate) struct ClassSide<'a> {
    pub(crate) ways: SmallVec<[(&'a SideDirection, Set<'a>); 4]>,
    pub(crate) places: RankPlaces<'a>,
}

/// How holders are compared between the sides: by coordinates on the class's mesh axes, or by
/// world rank.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RankPlaces<'a> {
    Coordinates { mesh_axes: &'a [usize], shape: &'a [usize] },
    Ranks(&'a Distribution),
}

/// A holder of a class: one (coordinate, lift) per direction.
pub(crate) type Choice = SmallVec<[Holder; 4]>;

/// Several of them, mostly one.
type Choices = SmallVec<[Choice; 1]>;

/// Coordinates on the axes of a mesh, or along the directions of a side.
pub(crate) type Coordinates = SmallVec<[usize; 4]>;

/// Lifts of one coordinate, nearest first.
type TripCount = SmallVec<[i64; 2]>;

impl ClassSide<'_> {
    fn ndim(&self) -> usize {
        match self.places {
            RankPlaces::Coordinates { shape, .. } => shape.len(),
            RankPlaces::Ranks(side) => side.mesh().shape().len(),
        }
    }

    /// Mesh coordinates of a choice; axes of other classes stay 0.
    pub(crate) fn coordinates(&self, choice: &[Holder]) -> Coordinates {
        let mut coordinates: Coordinates = smallvec![0; self.ndim()];
        for ((way, _), holder) in self.ways.iter().zip(choice) {
            let mut rest = holder.coordinate;
            for (axis, extent) in way.mesh_axes.iter().zip(&way.extents).rev() {
                coordinates[*axis] = rest % extent;
                rest /= extent;
            }
        }
        coordinates
    }

    /// The place of a choice: a number that both sides understand.
    fn place(&self, choice: &[Holder]) -> usize {
        let coordinates = self.coordinates(choice);
        match self.places {
            RankPlaces::Ranks(side) => side.mesh().rank_of(&coordinates),
            RankPlaces::Coordinates { mesh_axes, shape } => {
                mesh_axes.iter().fold(0, |at, axis| at * shape[*axis] + coordinates[*axis])
            }
        }
    }

    /// Coordinate of each direction at a place; `None` if nobody is there.
    fn at(&self, place: usize) -> Option<Coordinates> {
        let coordinates = match self.places {
            RankPlaces::Ranks(side) => side.mesh().coordinates_of(place)?.into(),
            RankPlaces::Coordinates { mesh_axes, shape } => {
                let mut coordinates: Coordinates = smallvec![0; shape.len()];
                let mut rest = place;
                for axis in mesh_axes.iter().rev() {
                    coordinates[*axis] = rest % shape[*axis];
                    rest /= shape[*axis];
                }
                coordinates
            }
        };
        let along = |way: &SideDirection| {
            let axes = way.mesh_axes.iter().zip(&way.extents);
            axes.fold(0, |at, (axis, extent)| at * extent + coordinates[*axis])
        };
        Some(self.ways.iter().map(|(way, _)| along(way)).collect())
    }

    /// Lifts of each direction at a place, nearest first; `None` if no holder is there.
    fn lifts_at(&self, place: usize) -> Option<SmallVec<[(usize, TripCount); 4]>> {
        let coordinates = self.at(place)?;
        let lifts = coordinates.into_iter().zip(&self.ways).map(|(coordinate, (_, set))| {
            let lifts = set.lifts(coordinate);
            (!lifts.is_empty()).then_some((coordinate, lifts))
        });
        lifts.collect()
    }

    /// All holders at a place: one choice per combination of lifts.
    pub(crate) fn choices_at(&self, place: usize) -> Choices {
        let Some(lifts) = self.lifts_at(place) else { return Choices::new() };
        let mut choices: Choices = smallvec![Choice::new()];
        for (coordinate, lifts) in lifts {
            let longer = choices.iter().flat_map(|choice: &Choice| {
                lifts.iter().map(move |lift| {
                    let mut choice = choice.clone();
                    choice.push(Holder { coordinate, lift: *lift });
                    choice
                })
            });
            choices = longer.collect();
        }
        choices
    }

    /// The holder at a place whose lifts are those wanted per array axis, else the nearest.
    fn holder_at(&self, place: usize, wanted: impl Fn(usize) -> Option<i64>) -> Option<Choice> {
        let lifts = self.lifts_at(place)?;
        let pick =
            |((coordinate, lifts), (way, _)): ((usize, TripCount), &(&SideDirection, Set<'_>))| {
                let wanted = way.axis.and_then(&wanted).filter(|lift| lifts.contains(lift));
                Holder { coordinate, lift: wanted.unwrap_or(lifts[0]) }
            };
        Some(lifts.into_iter().zip(&self.ways).map(pick).collect())
    }

    fn owner(&self) -> Option<Choice> {
        self.ways.iter().map(|(_, set)| set.owner()).collect()
    }

    fn has(&self, kind: Kind) -> bool {
        self.ways.iter().any(|(way, _)| way.kind == kind)
    }

    /// Combinations of holders along the directions of one kind.
    fn count(&self, kind: Kind) -> u128 {
        let ways = self.ways.iter().filter(|(way, _)| way.kind == kind);
        ways.map(|(_, set)| set.count() as u128).product()
    }

    /// All holders.
    fn holders(&self) -> u128 {
        self.count(Kind::Copies) * self.count(Kind::Terms)
    }

    /// True if there are directions, all of this kind.
    fn is_all(&self, kind: Kind) -> bool {
        self.has(kind) && self.ways.iter().all(|(way, _)| way.kind == kind)
    }

    /// Every combination of holders along the directions of one kind; the directions of the
    /// other kind are copied from `base`.
    fn combinations(&self, kind: Kind, base: &[Holder]) -> Choices {
        let mut choices: Choices = smallvec![Choice::from_slice(base)];
        for (at, (way, set)) in self.ways.iter().enumerate() {
            if way.kind == kind {
                let longer = choices.iter().flat_map(|choice: &Choice| {
                    (0..set.count()).map(move |number| {
                        let mut choice = choice.clone();
                        choice[at] = set.get(number);
                        choice
                    })
                });
                choices = longer.collect();
            }
        }
        choices
    }

    /// `of` on the directions of `kind`, `other` elsewhere.
    fn mix(&self, kind: Kind, of: &[Holder], other: &[Holder]) -> Choice {
        let ways = self.ways.iter().enumerate();
        ways.map(|(at, (way, _))| if way.kind == kind { of[at] } else { other[at] }).collect()
    }

    fn equal_on(&self, kind: Kind, a: &[Holder], b: &[Holder]) -> bool {
        let mut ways = self.ways.iter().enumerate();
        ways.all(|(at, (way, _))| way.kind != kind || a[at] == b[at])
    }

    fn lift_of(&self, choice: &[Holder], axis: usize) -> Option<i64> {
        let at = self.ways.iter().position(|(way, _)| way.axis == Some(axis))?;
        Some(choice[at].lift)
    }

    /// True if every place that the other side can name holds.
    fn is_everywhere(&self) -> bool {
        let common = matches!(self.places, RankPlaces::Coordinates { .. });
        common
            && self.ways.iter().all(|(way, set)| match set {
                Set::Free(_) => true,
                Set::Held(_) => way.mesh_axes.is_empty() && set.count() > 0,
            })
    }
}

/// One end of the rule: a side with its owner and its part of the anchor.
#[derive(Clone, Debug)]
struct RuleEnd<'a> {
    side: ClassSide<'a>,
    owner: Choice,
    /// (s0, c0) or (t0, d0); looked for only where copies could become terms.
    anchor: Option<Choice>,
}

/// What `by`, whose directions of the other kind are fixed at the anchor, picks of `from`: the
/// holder at its own place, else the owner. Only the directions of `kind` count.
///
/// k(d) is what the target picks of the source's Copies, m(s) what the source picks of the
/// target's Terms: the same rule with source and target, copies and terms exchanged.
fn pick(from: &RuleEnd<'_>, by: &RuleEnd<'_>, kind: Kind, choice: &[Holder]) -> Choice {
    if !from.side.has(kind) {
        return from.owner.clone();
    }
    let asking: Choice = match &by.anchor {
        Some(anchor) => by.side.mix(kind.dual(), anchor, choice),
        None if by.side.has(kind.dual()) => return from.owner.clone(),
        None => choice.into(),
    };
    let place = by.side.place(&asking);
    let wanted = |axis: usize| by.side.lift_of(&asking, axis);
    from.side.holder_at(place, wanted).unwrap_or_else(|| from.owner.clone())
}

/// The pairs of the holders of `here` at `place`, as (here, there). `here` is the source with
/// `kind` Copies, or the target with `kind` Terms.
fn pairs_at(
    here: &RuleEnd<'_>,
    there: &RuleEnd<'_>,
    kind: Kind,
    place: usize,
) -> Vec<(Choice, Choice)> {
    let mut pairs = Vec::new();
    for own in here.side.choices_at(place) {
        let answer = pick(there, here, kind.dual(), &own);
        // A holder that is not the owner is picked at its own place only; the owner also
        // elsewhere, but only if some place has no holder.
        let alone = here.side.is_all(kind) && (own != here.owner || here.side.is_everywhere());
        let others = if alone {
            let mut others = there.side.choices_at(place);
            others.retain(|choice| match &there.anchor {
                Some(anchor) => there.side.equal_on(kind.dual(), choice, anchor),
                None => !there.side.has(kind.dual()),
            });
            others
        } else {
            there.side.combinations(kind, &there.owner)
        };
        for other in others {
            let picked = pick(here, there, kind, &other);
            if here.side.equal_on(kind, &picked, &own) {
                pairs.push((own.clone(), there.side.mix(kind, &other, &answer)));
            }
        }
    }
    pairs
}

/// The rule of a class for one atom per array axis.
#[derive(Clone, Debug)]
pub(crate) struct Rule<'a> {
    source: RuleEnd<'a>,
    target: RuleEnd<'a>,
}

impl<'a> Rule<'a> {
    /// `None` if one of the sides has no holder.
    pub(crate) fn new(source: ClassSide<'a>, target: ClassSide<'a>) -> Option<Self> {
        let mixed = source.has(Kind::Copies) && target.has(Kind::Terms);
        let anchor = if mixed { find_anchor(&source, &target) } else { None };
        let (source_anchor, target_anchor) = anchor.unzip();
        let source = RuleEnd { owner: source.owner()?, side: source, anchor: source_anchor };
        let target = RuleEnd { owner: target.owner()?, side: target, anchor: target_anchor };
        Some(Self { source, target })
    }

    /// Pairs that the rule lists, and places that it looks at to do so.
    pub(crate) fn work(source: &ClassSide<'_>, target: &ClassSide<'_>) -> u128 {
        let anchor = if source.has(Kind::Copies) && target.has(Kind::Terms) {
            source.holders().min(target.holders())
        } else {
            0
        };
        anchor.max(source.count(Kind::Terms) * target.count(Kind::Copies))
    }

    /// Source and target, for the coordinates of choices.
    pub(crate) fn sides(&self) -> (&ClassSide<'a>, &ClassSide<'a>) {
        (&self.source.side, &self.target.side)
    }

    /// All pairs.
    pub(crate) fn pairs(&self) -> Vec<(Choice, Choice)> {
        let (source, target) = (&self.source, &self.target);
        let all_s = source.side.combinations(Kind::Terms, &source.owner);
        let all_d = target.side.combinations(Kind::Copies, &target.owner);
        let given: Vec<(Choice, Choice)> =
            all_s.into_iter().map(|s| (pick(target, source, Kind::Terms, &s), s)).collect();
        let mut pairs = Vec::with_capacity(given.len() * all_d.len());
        for d in all_d {
            let k = pick(source, target, Kind::Copies, &d);
            pairs.extend(given.iter().map(|(m, s)| {
                (source.side.mix(Kind::Terms, s, &k), target.side.mix(Kind::Terms, m, &d))
            }));
        }
        pairs
    }

    /// The pairs whose source is at `place`.
    pub(crate) fn sends(&self, place: usize) -> Vec<(Choice, Choice)> {
        pairs_at(&self.source, &self.target, Kind::Copies, place)
    }

    /// The pairs whose target is at `place`.
    pub(crate) fn receives(&self, place: usize) -> Vec<(Choice, Choice)> {
        let turned = pairs_at(&self.target, &self.source, Kind::Terms, place);
        turned.into_iter().map(|(target, source)| (source, target)).collect()
    }
}

/// The lowest place that holds on both sides, with a holder of each.
fn find_anchor<'a>(source: &ClassSide<'a>, target: &ClassSide<'a>) -> Option<(Choice, Choice)> {
    let (few, other) =
        if source.holders() <= target.holders() { (source, target) } else { (target, source) };
    let owner = few.owner()?;
    let half = few.combinations(Kind::Copies, &owner);
    let all = half.iter().flat_map(|choice| few.combinations(Kind::Terms, choice));
    let places = all.map(|choice| few.place(&choice));
    let place = places.filter(|place| other.lifts_at(*place).is_some()).min()?;
    // The first lift that both have, else the nearest of each.
    let common = |axis: usize| {
        let lifts = |side: &ClassSide<'_>| {
            let at = side.ways.iter().position(|(way, _)| way.axis == Some(axis))?;
            Some(side.lifts_at(place)?.swap_remove(at).1)
        };
        let (source, target) = (lifts(source)?, lifts(target)?);
        source.into_iter().find(|lift| target.contains(lift))
    };
    Some((source.holder_at(place, common)?, target.holder_at(place, common)?))
}
