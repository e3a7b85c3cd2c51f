//! Describing one axis: what a user writes, checked against length and mesh.

use std::sync::Arc;

use super::{AxisMap, Cut, Cuts, Extent, Labels, View};
use crate::number::{LENGTH_LIMIT, check_length, checked_product, position};
use crate::{Error, Mesh};

/// How often the held interval of a periodic axis may go around it.
const TURN_LIMIT: i64 = 256;

/// Most coordinates of an axis that are looked at one by one.
const PARTS_LIMIT: usize = 1 << 24;

/// The description of one array axis, to be completed by its length and the mesh.
///
/// ```
/// use pantile_geometry::{Axis, Distribution, Mesh};
/// let mesh = Mesh::new(&[("x", 2), ("y", 3)])?;
/// let rows = Axis::block(&["x"]).halo(1, 1);
/// let columns = Axis::cyclic(&["y"], 2);
/// let tiles = Distribution::new(&[8, 6], mesh, vec![rows, columns])?;
/// assert_eq!(tiles.local_shape(0), Some(vec![5, 2]));
/// # Ok::<(), pantile_geometry::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Axis {
    over: Vec<String>,
    cut: CutSpec,
    held: Extent,
    room: Option<Extent>,
    periodic: bool,
    view: Option<(usize, i64, i64)>,
}

#[derive(Clone, Debug)]
enum CutSpec {
    Block(Cuts),
    Cyclic(usize),
    Indexed(Vec<Vec<i64>>, Option<Vec<i64>>),
}

impl Axis {
    fn new(over: &[&str], cut: CutSpec) -> Self {
        let over = over.iter().map(|name| (*name).to_owned()).collect();
        Self { over, cut, held: Extent::Owned, room: None, periodic: false, view: None }
    }

    /// The whole axis on every rank.
    pub fn whole() -> Self {
        Self::new(&[], CutSpec::Block(Cuts::Balanced))
    }

    /// Balanced blocks over these mesh axes taken together, the remainder on the first ranks.
    pub fn block(over: &[&str]) -> Self {
        Self::new(over, CutSpec::Block(Cuts::Balanced))
    }

    /// Blocks cut by a rule or at given places.
    pub fn cut(over: &[&str], cuts: Cuts) -> Self {
        Self::new(over, CutSpec::Block(cuts))
    }

    /// Blocks of `block` indices dealt round-robin.
    pub fn cyclic(over: &[&str], block: usize) -> Self {
        Self::new(over, CutSpec::Cyclic(block))
    }

    /// A list of labels per coordinate, in local order.
    pub fn indexed(over: &[&str], lists: Vec<Vec<i64>>) -> Self {
        Self::new(over, CutSpec::Indexed(lists, None))
    }

    /// The ascending list of all labels of an indexed axis: a label's global index is its
    /// position there. On other axes it is refused when the distribution is made.
    pub fn universe(mut self, labels: Vec<i64>) -> Self {
        self.cut = match self.cut {
            CutSpec::Indexed(lists, _) => CutSpec::Indexed(lists, Some(labels)),
            _ => CutSpec::Indexed(Vec::new(), Some(labels)),
        };
        self
    }

    /// Held is the owned part widened by these widths; negative ones narrow it.
    pub fn halo(mut self, before: i64, after: i64) -> Self {
        self.held = Extent::Halo { before, after };
        self
    }

    /// Held is this interval per coordinate.
    pub fn held(mut self, intervals: &[(i64, i64)]) -> Self {
        self.held = Extent::Each(intervals.into());
        self
    }

    /// Room is the owned part widened by these widths.
    pub fn room_halo(mut self, before: i64, after: i64) -> Self {
        self.room = Some(Extent::Halo { before, after });
        self
    }

    /// Room is this interval per coordinate.
    pub fn room(mut self, intervals: &[(i64, i64)]) -> Self {
        self.room = Some(Extent::Each(intervals.into()));
        self
    }

    /// Positions beyond the ends wrap around.
    pub fn periodic(mut self) -> Self {
        self.periodic = true;
        self
    }

    /// The axis is the slice `offset, offset + step, ...` of a base axis of length `base`,
    /// which all the rest of the description is about.
    pub fn view_of(mut self, base: usize, offset: i64, step: i64) -> Self {
        self.view = Some((base, offset, step));
        self
    }

    /// Completes the description for array axis number `axis` of visible length `length`.
    pub(crate) fn resolve(self, axis: usize, length: usize, mesh: &Mesh) -> Result<AxisMap, Error> {
        check_length("length of an axis", length)?;
        let (base, offset, step) = self.view.unwrap_or((length, 0, 1));
        check_length("length of an axis", base)?;
        let view = View::new(offset, step, length, base).ok_or(Error::Slice {
            axis,
            offset,
            step,
            length,
            extent: base,
        })?;
        let over: Vec<usize> =
            self.over.iter().map(|name| mesh.axis(name)).collect::<Result<_, _>>()?;
        let extents: Vec<usize> = over.iter().map(|axis| mesh.shape()[*axis]).collect();
        let parts = checked_product("coordinates of an axis", &extents)?;
        let cut = self.cut.resolve(axis, base, parts)?;
        let map = AxisMap {
            base,
            over,
            parts,
            cut,
            held: self.held,
            room: self.room,
            periodic: self.periodic,
            view,
        };
        map.check(axis)?;
        Ok(map)
    }
}

impl CutSpec {
    fn resolve(self, axis: usize, length: usize, parts: usize) -> Result<Cut, Error> {
        let count = |what, got, expected| {
            if got == expected { Ok(()) } else { Err(Error::Count { what, got, expected }) }
        };
        match self {
            Self::Block(Cuts::At(cuts)) => {
                count("cuts of a block axis", cuts.len(), parts + 1)?;
                let ends = (cuts[0], cuts[parts]);
                let turned = (0..parts).find(|c| cuts[*c] > cuts[c + 1]);
                let wrong = turned.or((ends != (0, length)).then_some(0));
                if let Some(coordinate) = wrong {
                    let got = match turned {
                        Some(c) => (signed(cuts[c]), signed(cuts[c + 1])),
                        None => (signed(ends.0), signed(ends.1)),
                    };
                    let within = (0, position(length));
                    return Err(Error::Interval { axis, coordinate, what: "cuts", got, within });
                }
                Ok(Cut::Block(Cuts::At(cuts)))
            }
            Self::Block(rule) => Ok(Cut::Block(rule)),
            Self::Cyclic(0) => Err(Error::ArrayAxis {
                axis,
                problem: "has cyclic blocks of 0, expected at least 1",
            }),
            Self::Cyclic(block) => {
                check_length("cyclic block", block)?;
                checked_product("turn of a cyclic axis", &[block, parts])?;
                Ok(Cut::Cyclic { block })
            }
            Self::Indexed(lists, universe) => {
                count("label lists", lists.len(), parts)?;
                Ok(Cut::Indexed(Labels::new(axis, length, &lists, universe)?))
            }
        }
    }
}

/// A number from outside that may be beyond every limit, for an error message.
fn signed(value: usize) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

impl AxisMap {
    /// Checks invariants 2 and 3.
    fn check(&self, axis: usize) -> Result<(), Error> {
        let plain = self.held == Extent::Owned && self.room.is_none() && !self.periodic;
        if !matches!(self.cut, Cut::Block(_)) {
            let problem = "is not cut in blocks, so it has no halo, room or period";
            return if plain { Ok(()) } else { Err(Error::ArrayAxis { axis, problem }) };
        }
        for extent in [Some(&self.held), self.room.as_ref()].into_iter().flatten() {
            self.check_extent(axis, extent)?;
        }
        let Some(room) = &self.room else { return Ok(()) };
        if let (Some(held), Some(room)) = (self.held.reach(), room.reach()) {
            let narrowed = |extent: &Extent| matches!(extent, Extent::Halo { before, after } if *before < 0 || *after < 0);
            let inside = held.0 <= room.0 && held.1 <= room.1;
            if inside && !narrowed(self.room.as_ref().unwrap_or(&self.held)) {
                return Ok(());
            }
        }
        for coordinate in 0..self.parts {
            let (got, within) = (self.held_interval(coordinate), self.room_interval(coordinate));
            if got.0 < got.1 && (got.0 < within.0 || got.1 > within.1) {
                return Err(Error::Interval { axis, coordinate, what: "held", got, within });
            }
        }
        Ok(())
    }

    fn check_extent(&self, axis: usize, extent: &Extent) -> Result<(), Error> {
        let limit = position(LENGTH_LIMIT);
        let turns = |width: i64| -> Result<(), Error> {
            if self.periodic && self.base > 0 && width / self.turn() > TURN_LIMIT {
                let got = u128::from((width / self.turn()).unsigned_abs());
                let what = "number of turns of a periodic halo";
                return Err(Error::TooLarge { what, got, limit: TURN_LIMIT as u128 });
            }
            Ok(())
        };
        match extent {
            Extent::Owned => Ok(()),
            Extent::Halo { before, after } => {
                for width in [before, after] {
                    if width.unsigned_abs() > limit.unsigned_abs() {
                        let got = u128::from(width.unsigned_abs());
                        let limit = LENGTH_LIMIT as u128;
                        return Err(Error::TooLarge { what: "halo width", got, limit });
                    }
                }
                if self.parts > PARTS_LIMIT && (*before < 0 || *after < 0) {
                    let (got, limit) = (self.parts as u128, PARTS_LIMIT as u128);
                    let what = "number of coordinates with a negative halo";
                    return Err(Error::TooLarge { what, got, limit });
                }
                turns((*before).max(0) + (*after).max(0))
            }
            Extent::Each(list) => {
                if list.len() != self.parts {
                    let (got, expected) = (list.len(), self.parts);
                    return Err(Error::Count { what: "intervals", got, expected });
                }
                let within = if self.periodic { (-limit, limit) } else { (0, self.turn()) };
                for (coordinate, got) in list.iter().copied().enumerate() {
                    let empty = got.0 == got.1 && -limit <= got.0 && got.0 <= limit;
                    let inside = within.0 <= got.0 && got.0 <= got.1 && got.1 <= within.1;
                    if !empty && !inside {
                        let what = "interval";
                        return Err(Error::Interval { axis, coordinate, what, got, within });
                    }
                    turns(got.1 - got.0)?;
                }
                Ok(())
            }
        }
    }

    /// A block axis with explicit cuts and intervals, all in `0..length`.
    pub(super) fn with_lists(
        &self,
        cuts: Vec<usize>,
        held: Vec<(i64, i64)>,
        room: Vec<(i64, i64)>,
    ) -> Self {
        let base = *cuts.last().expect("cuts have at least one entry");
        Self {
            base,
            over: self.over.clone(),
            parts: self.parts,
            cut: Cut::Block(Cuts::At(Arc::from(cuts))),
            held: Extent::Each(held.into()),
            room: Some(Extent::Each(room.into())),
            periodic: false,
            view: View::whole(base),
        }
    }

    /// Plain blocks over further mesh axes.
    pub(crate) fn recut(&self, mesh_axes: &[usize], parts: usize, cuts: Vec<usize>) -> Self {
        let over = [self.over.as_slice(), mesh_axes].concat();
        let cut = Cut::Block(Cuts::At(cuts.into()));
        Self { over, parts, cut, held: Extent::Owned, room: None, periodic: false, ..self.clone() }
    }

    /// This axis seen through a slice.
    pub(crate) fn sliced(
        &self,
        axis: usize,
        offset: i64,
        step: i64,
        length: usize,
    ) -> Result<Self, Error> {
        let extent = self.length();
        let view = self.view.then(offset, step, length).ok_or(Error::Slice {
            axis,
            offset,
            step,
            length,
            extent,
        })?;
        Ok(Self { view, ..self.clone() })
    }

    /// This axis with other held intervals, as far as invariant 2 allows.
    pub(crate) fn with_extents(
        &self,
        axis: usize,
        held: Extent,
        room: Option<Extent>,
    ) -> Result<Self, Error> {
        let changed = Self { held, room, ..self.clone() };
        changed.check(axis)?;
        Ok(changed)
    }
}
