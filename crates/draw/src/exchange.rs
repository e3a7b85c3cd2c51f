//! A halo exchange, or its adjoint, as tiles in their grid with arrows between neighbours.

use std::collections::BTreeMap;

use pantile_geometry::{AxisMap, Distribution, Rank};

use crate::canvas::{Anchor, Canvas, Point, Rect, at};
use crate::holders::rank_at;
use crate::lane::{AxisLane, Interval, LaneItem, all_blocks};
use crate::palette::colour_of;
use crate::tiles::{TilePicture, cross};
use crate::words::{counted, signed, width_of};
use pantile_plan::{Step, Transfer};

/// The most arrows of this kind of picture.
const ARROWS: usize = 600;

/// Grid coordinates of a tile, row and column; beyond the grid they are those of a periodic
/// array's repetition.
type Spot = (i64, i64);

/// Elements that travel from tile to tile.
type Arrows = BTreeMap<(Spot, Spot), usize>;

/// The picture, if the step is an exchange between neighbours. Also the entries of a legend.
pub(crate) struct ExchangePicture<'a> {
    pub(crate) tiles: TilePicture<'a>,
    pub(crate) canvas: Canvas,
    /// True if repetitions of the array are drawn.
    pub(crate) wraps: bool,
}

/// Draws a step as an exchange between neighbours, if it is one.
pub(crate) fn draw(step: &Step) -> Option<ExchangePicture<'_>> {
    let wide = wider_side(step)?;
    let arrows = arrows(step, wide)?;
    let counts = arrows.values().map(|count| width_of(&count.to_string(), 11.0));
    let widest = counts.fold(0.0, f64::max);
    let slanted = arrows.keys().any(|(from, to)| from.0 != to.0 && from.1 != to.1);
    let (gap, least) = if slanted { (40.0 + 2.0 * widest, 64.0) } else { (36.0 + widest, 44.0) };
    let tiles = TilePicture::new(wide, gap).ok()?.spread(gap, least);
    if tiles.is_stacked() || tiles.is_empty() {
        return None;
    }
    let mut canvas = Canvas::default();
    tiles.draw_plane(&mut canvas, None);
    let grid = PaperGrid::new(&tiles, gap);
    let mut wraps = false;
    for spot in arrows.keys().flat_map(|pair| [pair.0, pair.1]) {
        if !grid.has(spot) {
            wraps = true;
            grid.draw_ghost(&mut canvas, spot);
        }
    }
    for ((from, to), count) in &arrows {
        grid.draw_arrow(&mut canvas, (*from, *to), *count);
    }
    tiles.draw_scales(&mut canvas);
    Some(ExchangePicture { tiles, canvas, wraps })
}

/// The side with the halos, if both sides cut the array into the same owned tiles.
fn wider_side(step: &Step) -> Option<&Distribution> {
    let (source, target) = (&step.source, &step.target);
    let (a, b) = (source.axes()?, target.axes()?);
    let tiles = a.iter().map(|map| map.parts() as u128).product::<u128>();
    let fits = (1..=2).contains(&a.len()) && all_blocks(a) && all_blocks(b) && tiles <= 144;
    // Equal meshes may differ in axes of extent 1, and so in the numbers of their axes.
    let same_mesh =
        source.mesh() == target.mesh() && source.mesh().shape() == target.mesh().shape();
    if !fits || !same_mesh {
        return None;
    }
    let alike = |(a, b): (&AxisMap, &AxisMap)| {
        let viewed = a.view().is_some() || b.view().is_some();
        a.over() == b.over() && !viewed && (0..a.parts()).all(|at| a.owned(at) == b.owned(at))
    };
    if !a.iter().zip(b).all(alike) || a.iter().all(|map| map.parts() == 1) {
        return None;
    }
    let held = |maps: &[AxisMap]| -> usize {
        let sizes = maps.iter().flat_map(|map| (0..map.parts()).flat_map(|at| map.held(at)));
        sizes.map(|(_, set)| set.size()).sum()
    };
    Some(if held(b) >= held(a) { target } else { source })
}

/// All transfers as arrows between neighbouring spots; `None` if some go further.
fn arrows(step: &Step, wide: &Distribution) -> Option<Arrows> {
    let to_target = std::ptr::eq(wide, &step.target);
    let parts: Vec<i64> = wide.axes()?.iter().map(|map| signed(map.parts())).collect();
    let ndim = parts.len();
    let mut arrows = Arrows::new();
    for transfer in step.transfers().filter(|transfer| transfer.travels()) {
        let turn = |axis: usize| {
            let (source, target) = (&transfer.source_lifts, &transfer.target_lifts);
            target.along(axis) - source.along(axis)
        };
        let spot = |rank: Rank, sign: i64| -> Option<Spot> {
            let coordinate = |axis: usize| {
                let home = signed(wide.coordinate(rank, axis)?);
                Some(home + sign * turn(axis) * parts[axis])
            };
            let row = if ndim == 2 { coordinate(0)? } else { 0 };
            Some((row, coordinate(ndim - 1)?))
        };
        let pair = ends(transfer, to_target, spot)?;
        let near = |a: i64, b: i64| (a - b).abs() <= 1;
        let close = near(pair.0.0, pair.1.0) && near(pair.0.1, pair.1.1) && pair.0 != pair.1;
        if !close || arrows.len() > ARROWS {
            return None;
        }
        *arrows.entry(pair).or_insert(0) += transfer.size();
    }
    (!arrows.is_empty()).then_some(arrows)
}

/// Where an arrow starts and ends: the side without halos may be a repetition.
fn ends(
    transfer: &Transfer,
    to_target: bool,
    spot: impl Fn(Rank, i64) -> Option<Spot>,
) -> Option<(Spot, Spot)> {
    if to_target {
        Some((spot(transfer.from, 1)?, spot(transfer.to, 0)?))
    } else {
        Some((spot(transfer.from, 0)?, spot(transfer.to, -1)?))
    }
}

/// Where tiles and repetitions of tiles are on paper.
struct PaperGrid<'a> {
    tiles: &'a TilePicture<'a>,
    rows: AxisLane,
    columns: AxisLane,
    gap: f64,
}

impl<'a> PaperGrid<'a> {
    fn new(tiles: &'a TilePicture<'a>, gap: f64) -> Self {
        let (rows, columns) = tiles.sides();
        Self { tiles, rows, columns, gap }
    }

    fn has(&self, spot: Spot) -> bool {
        let inside = |at: i64, lane: &AxisLane| 0 <= at && at < signed(lane.items.len());
        inside(spot.0, &self.rows) && inside(spot.1, &self.columns)
    }

    /// Where a spot lies along a lane; repetitions are smaller than tiles.
    fn along(&self, lane: &AxisLane, at: i64) -> (f64, f64) {
        let whole = |item: &LaneItem| {
            let hull: Interval = item.hull();
            item.stretch(hull)
        };
        match usize::try_from(at).ok().and_then(|at| lane.items.get(at)) {
            Some(item) => whole(item),
            None if at < 0 => (-self.gap - 34.0, -self.gap),
            None => {
                let end = lane.shown().last().map_or(0.0, |item| whole(item).1);
                (end + self.gap, end + self.gap + 34.0)
            }
        }
    }

    fn area(&self, spot: Spot) -> Rect {
        cross(self.along(&self.columns, spot.1), self.along(&self.rows, spot.0))
    }

    fn rank(&self, spot: Spot) -> Rank {
        let wrap = |at: i64, lane: &AxisLane| {
            usize::try_from(at.rem_euclid(signed(lane.items.len()))).unwrap_or(0)
        };
        let (row, column) = (wrap(spot.0, &self.rows), wrap(spot.1, &self.columns));
        match self.tiles.lanes.len() {
            1 => rank_at(self.tiles.of, &[column]),
            _ => rank_at(self.tiles.of, &[row, column]),
        }
    }

    fn draw_ghost(&self, canvas: &mut Canvas, spot: Spot) {
        let (area, rank) = (self.area(spot), self.rank(spot));
        let colour = colour_of(rank);
        canvas.rect(area, &format!("paper s{colour} thin dash"));
        canvas.centred(area.middle(), "rank", &rank.to_string());
    }

    fn draw_arrow(&self, canvas: &mut Canvas, (from, to): (Spot, Spot), count: usize) {
        let (a, b) = (self.area(from), self.area(to));
        let (down, right) = (to.0 - from.0, to.1 - from.1);
        let (start, end, label, anchor) = match (down, right) {
            (0, _) => level(a, b, right > 0),
            (_, 0) => upright(a, b, down > 0),
            _ => slanted(a, b, (down > 0, right > 0)),
        };
        let (sender, receiver) = (self.rank(from), self.rank(to));
        let hint = format!("rank {sender} to rank {receiver}: {}", counted(count, "element"));
        canvas.with_hint(&hint, |canvas| {
            canvas.arrow(start, end, colour_of(sender));
            canvas.text(label, anchor, "small", &count.to_string());
        });
    }
}

/// Start, end, and place and side of the number.
type NumberLine = (Point, Point, Point, Anchor);

fn level(a: Rect, b: Rect, right: bool) -> NumberLine {
    // Both tiles are of one row; repetitions are of the same height.
    let middle = a.middle().y;
    if right {
        let y = middle - 7.0;
        let label = at((a.right() + b.x) / 2.0, y - 5.0);
        (at(a.right() + 1.0, y), at(b.x - 1.0, y), label, Anchor::Middle)
    } else {
        let y = middle + 7.0;
        let label = at((b.right() + a.x) / 2.0, y + 13.0);
        (at(a.x - 1.0, y), at(b.right() + 1.0, y), label, Anchor::Middle)
    }
}

fn upright(a: Rect, b: Rect, down: bool) -> NumberLine {
    let middle = a.middle().x;
    if down {
        let x = middle - 7.0;
        let label = at(x - 5.0, (a.bottom() + b.y) / 2.0 + 4.0);
        (at(x, a.bottom() + 1.0), at(x, b.y - 1.0), label, Anchor::End)
    } else {
        let x = middle + 7.0;
        let label = at(x + 5.0, (b.bottom() + a.y) / 2.0 + 4.0);
        (at(x, a.y - 1.0), at(x, b.bottom() + 1.0), label, Anchor::Start)
    }
}

/// From corner to corner; the number stands beside the receiver's corner.
fn slanted(a: Rect, b: Rect, (down, right): (bool, bool)) -> NumberLine {
    let side = |area: Rect, right: bool| if right { area.right() } else { area.x };
    let end = |area: Rect, down: bool| if down { area.bottom() } else { area.y };
    let (start, stop) = (at(side(a, right), end(a, down)), at(side(b, !right), end(b, !down)));
    // Arrows of both directions pass each other on their right.
    let aside = at(if down { -3.0 } else { 3.0 }, if right { 3.0 } else { -3.0 });
    let shifted = |place: Point| at(place.x + aside.x, place.y + aside.y);
    let (beside, anchor) = if right { (-6.0, Anchor::End) } else { (6.0, Anchor::Start) };
    let label = at(stop.x + beside, stop.y + if down { 17.0 } else { -9.0 });
    (shifted(start), shifted(stop), label, anchor)
}
