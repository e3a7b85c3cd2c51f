//! The rule of a class: which source holder gives to which target holder.
//!
//! A source holder is (s, c): its part on Terms directions and on Copies directions; a target
//! holder is (t, d). The pairs are `(s, k(d)) -> (m(s), d)` for all s and d. The anchor is the
//! lowest place that holds on both sides, (s0, c0) and (t0, d0). k(d) is the c of the source
//! holder at the place of (t0, d), m(s) the t of the target holder at the place of (s, c0);
//! where there is none, or no anchor, the owner's.

use pantile_geometry::{Distribution, Holder, Holding, Kind};

use smallvec::{SmallVec, smallvec};

use super::problem::Way;

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
    fn lifts(&self, coordinate: usize) -> Turns {
        match self {
            Self::Free(extent) if coordinate < *extent => smallvec![0],
            Self::Free(_) => Turns::new(),
            Self::Held(holding) => holding.lifts(coordinate).collect(),
        }
    }
}

/// One side of a class for one atom per array axis.
#[derive(Clone, Debug)]
pub(crate) struct Side<'a> {
    pub(crate) ways: SmallVec<[(&'a Way, Set<'a>); 4]>,
    pub(crate) places: Places<'a>,
}

/// How holders are compared between the sides: by coordinates on the class's mesh axes, or by
/// world rank.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Places<'a> {
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
type Turns = SmallVec<[i64; 2]>;

impl Side<'_> {
    fn ndim(&self) -> usize {
        match self.places {
            Places::Coordinates { shape, .. } => shape.len(),
            Places::Ranks(side) => side.mesh().shape().len(),
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
            Places::Ranks(side) => side.mesh().rank_of(&coordinates),
            Places::Coordinates { mesh_axes, shape } => {
                mesh_axes.iter().fold(0, |at, axis| at * shape[*axis] + coordinates[*axis])
            }
        }
    }

    /// Coordinate of each direction at a place; `None` if nobody is there.
    fn at(&self, place: usize) -> Option<Coordinates> {
        let coordinates = match self.places {
            Places::Ranks(side) => side.mesh().coordinates_of(place)?.into(),
            Places::Coordinates { mesh_axes, shape } => {
                let mut coordinates: Coordinates = smallvec![0; shape.len()];
                let mut rest = place;
                for axis in mesh_axes.iter().rev() {
                    coordinates[*axis] = rest % shape[*axis];
                    rest /= shape[*axis];
                }
                coordinates
            }
        };
        let along = |way: &Way| {
            let axes = way.mesh_axes.iter().zip(&way.extents);
            axes.fold(0, |at, (axis, extent)| at * extent + coordinates[*axis])
        };
        Some(self.ways.iter().map(|(way, _)| along(way)).collect())
    }

    /// Lifts of each direction at a place, nearest first; `None` if no holder is there.
    fn lifts_at(&self, place: usize) -> Option<SmallVec<[(usize, Turns); 4]>> {
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
        let pick = |((coordinate, lifts), (way, _)): ((usize, Turns), &(&Way, Set<'_>))| {
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
        let common = matches!(self.places, Places::Coordinates { .. });
        common
            && self.ways.iter().all(|(way, set)| match set {
                Set::Free(_) => true,
                Set::Held(_) => way.mesh_axes.is_empty() && set.count() > 0,
            })
    }
}

/// The rule of a class for one atom per array axis.
#[derive(Clone, Debug)]
pub(crate) struct Rule<'a> {
    pub(crate) source: Side<'a>,
    pub(crate) target: Side<'a>,
    source_owner: Choice,
    target_owner: Choice,
    /// (s0, c0) and (t0, d0); looked for only where copies could become terms.
    anchor: Option<(Choice, Choice)>,
}

impl<'a> Rule<'a> {
    /// `None` if one of the sides has no holder.
    pub(crate) fn new(source: Side<'a>, target: Side<'a>) -> Option<Self> {
        let (source_owner, target_owner) = (source.owner()?, target.owner()?);
        let mut rule = Self { source, target, source_owner, target_owner, anchor: None };
        if rule.source.has(Kind::Copies) && rule.target.has(Kind::Terms) {
            rule.anchor = rule.find_anchor();
        }
        Some(rule)
    }

    /// Pairs that the rule lists, and places that it looks at to do so.
    pub(crate) fn work(source: &Side<'_>, target: &Side<'_>) -> u128 {
        let holders = |side: &Side<'_>| side.count(Kind::Copies) * side.count(Kind::Terms);
        let anchor = if source.has(Kind::Copies) && target.has(Kind::Terms) {
            holders(source).min(holders(target))
        } else {
            0
        };
        anchor.max(source.count(Kind::Terms) * target.count(Kind::Copies))
    }

    fn find_anchor(&self) -> Option<(Choice, Choice)> {
        let count = |side: &Side<'_>| side.count(Kind::Copies) * side.count(Kind::Terms);
        let (few, other) = if count(&self.source) <= count(&self.target) {
            (&self.source, &self.target)
        } else {
            (&self.target, &self.source)
        };
        let owner = few.owner()?;
        let half = few.combinations(Kind::Copies, &owner);
        let all = half.iter().flat_map(|choice| few.combinations(Kind::Terms, choice));
        let places = all.map(|choice| few.place(&choice));
        let place = places.filter(|place| other.lifts_at(*place).is_some()).min()?;
        // The first lift that both have, else the nearest of each.
        let common = |axis: usize| {
            let lifts = |side: &Side<'_>| {
                let at = side.ways.iter().position(|(way, _)| way.axis == Some(axis))?;
                Some(side.lifts_at(place)?.swap_remove(at).1)
            };
            let (source, target) = (lifts(&self.source)?, lifts(&self.target)?);
            source.into_iter().find(|lift| target.contains(lift))
        };
        Some((self.source.holder_at(place, common)?, self.target.holder_at(place, common)?))
    }

    /// k(d) as a whole source choice: only its Copies directions count.
    fn k(&self, d: &[Holder]) -> Choice {
        if !self.source.has(Kind::Copies) {
            return self.source_owner.clone();
        }
        let asking = match &self.anchor {
            Some((_, t0)) => self.target.mix(Kind::Terms, t0, d),
            None if self.target.has(Kind::Terms) => return self.source_owner.clone(),
            None => d.into(),
        };
        let place = self.target.place(&asking);
        let wanted = |axis: usize| self.target.lift_of(&asking, axis);
        self.source.holder_at(place, wanted).unwrap_or_else(|| self.source_owner.clone())
    }

    /// m(s) as a whole target choice: only its Terms directions count.
    fn m(&self, s: &[Holder]) -> Choice {
        if !self.target.has(Kind::Terms) {
            return self.target_owner.clone();
        }
        let giving = match &self.anchor {
            Some((c0, _)) => self.source.mix(Kind::Copies, c0, s),
            None if self.source.has(Kind::Copies) => return self.target_owner.clone(),
            None => s.into(),
        };
        let place = self.source.place(&giving);
        let wanted = |axis: usize| self.source.lift_of(&giving, axis);
        self.target.holder_at(place, wanted).unwrap_or_else(|| self.target_owner.clone())
    }

    fn pair(&self, s: &[Holder], k: &[Holder], m: &[Holder], d: &[Holder]) -> (Choice, Choice) {
        (self.source.mix(Kind::Terms, s, k), self.target.mix(Kind::Terms, m, d))
    }

    /// All pairs.
    pub(crate) fn pairs(&self) -> Vec<(Choice, Choice)> {
        let all_s = self.source.combinations(Kind::Terms, &self.source_owner);
        let all_d = self.target.combinations(Kind::Copies, &self.target_owner);
        let given: Vec<(Choice, Choice)> = all_s.into_iter().map(|s| (self.m(&s), s)).collect();
        let mut pairs = Vec::with_capacity(given.len() * all_d.len());
        for d in all_d {
            let k = self.k(&d);
            pairs.extend(given.iter().map(|(m, s)| self.pair(s, &k, m, &d)));
        }
        pairs
    }

    /// The pairs whose source is at `place`.
    pub(crate) fn sends(&self, place: usize) -> Vec<(Choice, Choice)> {
        let mut pairs = Vec::new();
        for own in self.source.choices_at(place) {
            let m = self.m(&own);
            // A copy that is not the owner's serves its own place only; the owner's serves
            // others only if some place has no source holder.
            let alone = self.source.is_all(Kind::Copies)
                && (own != self.source_owner || self.source.is_everywhere());
            let wanting = if alone {
                let mut here = self.target.choices_at(place);
                here.retain(|choice| match &self.anchor {
                    Some((_, t0)) => self.target.equal_on(Kind::Terms, choice, t0),
                    None => !self.target.has(Kind::Terms),
                });
                here
            } else {
                self.target.combinations(Kind::Copies, &self.target_owner)
            };
            for d in wanting {
                let k = self.k(&d);
                if self.source.equal_on(Kind::Copies, &k, &own) {
                    pairs.push(self.pair(&own, &k, &m, &d));
                }
            }
        }
        pairs
    }

    /// The pairs whose target is at `place`.
    pub(crate) fn receives(&self, place: usize) -> Vec<(Choice, Choice)> {
        let mut pairs = Vec::new();
        for own in self.target.choices_at(place) {
            let k = self.k(&own);
            let alone = self.target.is_all(Kind::Terms)
                && (own != self.target_owner || self.target.is_everywhere());
            let giving = if alone {
                let mut here = self.source.choices_at(place);
                here.retain(|choice| match &self.anchor {
                    Some((c0, _)) => self.source.equal_on(Kind::Copies, choice, c0),
                    None => !self.source.has(Kind::Copies),
                });
                here
            } else {
                self.source.combinations(Kind::Terms, &self.source_owner)
            };
            for s in giving {
                let m = self.m(&s);
                if self.target.equal_on(Kind::Terms, &m, &own) {
                    pairs.push(self.pair(&s, &k, &m, &own));
                }
            }
        }
        pairs
    }
}
