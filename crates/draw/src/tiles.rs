//! A distribution as tiles with the numbers of their workers.

use pantile_geometry::{AxisMap, Distribution};

use crate::canvas::{Anchor, Canvas, Point, Rect, at};
use crate::error::{DrawError, check_count};
use crate::holders::Holders;
use crate::lane::{AxisLane, Interval, LaneItem, Spacing, all_blocks, is_empty};
use crate::palette::colour_of;
use crate::words::{real_at, width_of};

/// The most tiles in a picture.
pub(crate) const TILES: usize = 400;
/// The most ranks among which one axis is dealt.
const RANKS_IN_LINE: usize = 4096;
/// The most tiles along one axis.
const TILES_IN_LINE: usize = 64;

/// The tiles of a distribution, laid out.
#[derive(Clone, Debug)]
pub(crate) struct TilePicture<'a> {
    pub(crate) of: &'a Distribution,
    /// One per array axis.
    pub(crate) lanes: Vec<AxisLane>,
    /// True if several ranks have the same tile.
    stacked: bool,
    /// Least size of a tile.
    least: f64,
}

impl<'a> TilePicture<'a> {
    /// The tiles of a distribution of axes (not of boxes), `gap` apart if they overlap.
    pub(crate) fn new(of: &'a Distribution, gap: f64) -> Result<Self, DrawError> {
        let maps = of.axes().unwrap_or_default();
        if maps.len() > 3 {
            return Err(DrawError::TooManyAxes { what: "an array", ndim: maps.len(), limit: 3 });
        }
        let lanes = lanes(maps)?;
        let stacked = of.free_mesh_axes().iter().any(|axis| of.mesh().shape()[*axis] > 1);
        let mut tiles = Self { of, lanes, stacked, least: 0.0 };
        tiles.lay(gap);
        Ok(tiles)
    }

    /// Draws all tiles apart, even if they do not overlap, none smaller than `least`.
    pub(crate) fn spread(mut self, gap: f64, least: f64) -> Self {
        self.lanes.iter_mut().for_each(|lane| lane.apart = true);
        self.least = least;
        self.lay(gap);
        self
    }

    fn lay(&mut self, gap: f64) {
        if self.stacked || self.lanes.iter().any(|lane| lane.apart) {
            self.lanes.iter_mut().for_each(|lane| lane.apart = true);
        }
        let first = self.lanes.len().saturating_sub(2);
        let widest = self.widest_label();
        let lengths: Vec<f64> = self.lanes.iter().map(|lane| real_at(lane.length.max(1))).collect();
        let budget = |axis: usize| if axis + 1 == lengths.len() { 420.0 } else { 320.0 };
        let unit =
            (first..lengths.len()).fold(26.0_f64, |u, axis| u.min(budget(axis) / lengths[axis]));
        for (axis, lane) in self.lanes.iter_mut().enumerate() {
            let level = axis + 1 == lengths.len();
            // Very long thin arrays keep a readable short side.
            let unit = unit.max((100.0 / lengths[axis]).min(26.0));
            let least = if level { widest.max(30.0) } else { 28.0 }.max(self.least);
            lane.lay(&Spacing { unit, gap, least, level, apart: false });
        }
    }

    fn widest_label(&self) -> f64 {
        let ranks = self.of.mesh().size().min(TILES);
        let largest = (0..ranks).map(|at| self.of.mesh().rank_at(at)).max().unwrap_or(0);
        let several = self.stacked || self.names_several();
        let text = if several { format!("{largest} {largest}") } else { largest.to_string() };
        width_of(&text, 14.0) + 10.0
    }

    /// True if there is no element to draw.
    pub(crate) fn is_empty(&self) -> bool {
        self.lanes.iter().any(|lane| lane.shown().next().is_none())
    }

    /// The picture: planes side by side if there are three axes.
    pub(crate) fn draw(&self) -> Canvas {
        let mut canvas = Canvas::default();
        if self.is_empty() {
            canvas.rect(Rect::new(0.0, 0.0, 120.0, 40.0), "none rule dash");
            canvas.centred(at(60.0, 20.0), "mute", "no elements");
            return canvas;
        }
        if self.lanes.len() < 3 {
            self.draw_plane(&mut canvas, None);
            self.draw_scales(&mut canvas);
            return canvas;
        }
        let mut left = 0.0;
        for item in self.lanes[0].shown() {
            let mut plane = Canvas::default();
            self.draw_plane(&mut plane, Some(item));
            self.draw_scales(&mut plane);
            let bounds = plane.bounds();
            let held = item.held != item.owned && !is_empty(item.held);
            let held = if held {
                format!(", held {}:{}", item.held.0, item.held.1)
            } else {
                String::new()
            };
            let head = if item.omitted { "…".to_owned() } else { item.label() };
            let head = format!("axis 0: {head}{held}");
            plane.text(at(bounds.x, bounds.y - 10.0), Anchor::Start, "small", &head);
            let width = plane.bounds().width;
            canvas.place(plane, at(left, 0.0));
            left += width + 28.0;
        }
        canvas
    }

    /// Rows and columns of a plane.
    pub(crate) fn sides(&self) -> (AxisLane, AxisLane) {
        let mut sides = self.lanes.iter().rev().cloned();
        let thin = |height: f64| {
            let mut lane = AxisLane::unit();
            lane.lay(&Spacing {
                unit: height,
                gap: 0.0,
                least: height,
                level: false,
                apart: false,
            });
            lane
        };
        let columns = sides.next().unwrap_or_else(|| thin(if self.stacked { 96.0 } else { 56.0 }));
        (sides.next().unwrap_or_else(|| thin(44.0)), columns)
    }

    /// Tiles without the indices of their cuts.
    pub(crate) fn draw_plane(&self, canvas: &mut Canvas, plane: Option<&LaneItem>) {
        let (rows, columns) = self.sides();
        for row in rows.shown() {
            for column in columns.shown() {
                self.draw_tile(canvas, (row, rows.length), (column, columns.length), plane);
            }
        }
    }

    /// The indices of the cuts, outside everything drawn so far, and the names of the axes.
    pub(crate) fn draw_scales(&self, canvas: &mut Canvas) {
        let (rows, columns) = self.sides();
        let area = canvas.bounds();
        draw_ticks(canvas, &columns, |x| at(x, area.y - 5.0), Anchor::Middle);
        draw_ticks(canvas, &rows, |y| at(area.x - 6.0, y + 4.0), Anchor::End);
        self.name_axes(canvas, (&rows, &columns));
    }

    fn name_axes(&self, canvas: &mut Canvas, (rows, columns): (&AxisLane, &AxisLane)) {
        let bounds = canvas.bounds();
        let last = self.lanes.len();
        if columns.real {
            let name = format!("axis {} →", last - 1);
            canvas.text(at(bounds.x, bounds.y - 9.0), Anchor::Start, "small mute", &name);
        }
        if rows.real {
            let name = format!("axis {} ↓", last - 2);
            let bounds = canvas.bounds();
            canvas.text(at(bounds.x, bounds.y - 4.0), Anchor::Start, "small mute", &name);
        }
    }

    fn draw_tile(
        &self,
        canvas: &mut Canvas,
        (row, height): (&LaneItem, i64),
        (column, width): (&LaneItem, i64),
        plane: Option<&LaneItem>,
    ) {
        let area =
            |of: fn(&LaneItem) -> Interval| cross(column.stretch(of(column)), row.stretch(of(row)));
        if row.omitted || column.omitted || plane.is_some_and(|item| item.omitted) {
            canvas.centred(area(LaneItem::hull).middle(), "mute", "…");
            return;
        }
        let items: Vec<&LaneItem> = plane.into_iter().chain([row, column]).collect();
        let items = &items[items.len() - self.lanes.len().min(items.len())..];
        let holders = Holders::of(self.of, items);
        let colour = colour_of(holders.owner);
        if holders.count == 0 {
            canvas.rect(area(|item| item.owned), "none soft thin dots");
            return;
        }
        if self.stacked {
            holders.draw_sheets(canvas, area(LaneItem::hull));
        }
        let held = items.iter().all(|item| !is_empty(item.held));
        let wider = |a: fn(&LaneItem) -> Interval, b: fn(&LaneItem) -> Interval| {
            items.iter().any(|item| a(item) != b(item))
        };
        if wider(|item| item.room, |item| item.held) {
            canvas.rect(area(|item| item.room), &format!("paper s{colour} thin dash"));
        }
        if held && wider(|item| item.held, |item| item.owned) {
            canvas.hatched(area(|item| item.held), colour, &format!("s{colour} thin"));
        }
        let core = |item: &LaneItem| (item.owned.0.max(item.held.0), item.owned.1.min(item.held.1));
        let solid = cross(column.stretch(core(column)), row.stretch(core(row)));
        let owned = items.iter().all(|item| !is_empty(item.owned));
        let both = owned && held && items.iter().all(|item| !is_empty(core(item)));
        if owned && wider(|item| item.held, |item| item.hull()) {
            canvas.rect(area(|item| item.owned), &format!("none s{colour} thin dots"));
        }
        if both {
            canvas.rect(solid, &format!("f{colour} s{colour} edge"));
        }
        self.draw_edges(canvas, (row, height), (column, width));
        let middle = if both { solid } else { area(LaneItem::core) };
        holders.draw_label(canvas, middle, both);
    }

    /// The ends of the array, where a tile reaches them.
    fn draw_edges(&self, canvas: &mut Canvas, row: (&LaneItem, i64), column: (&LaneItem, i64)) {
        let (rows, columns) = self.sides();
        let (tall, wide) = (row.0.stretch(row.0.core()), column.0.stretch(column.0.core()));
        let edges = |(item, length): (&LaneItem, i64), lane: &AxisLane| -> Vec<f64> {
            let (low, high) = item.hull();
            let inside = |edge: &i64| lane.apart && lane.real && low <= *edge && *edge <= high;
            let both = [0, length].into_iter().filter(inside);
            both.map(|edge| item.stretch((edge, edge)).0).collect()
        };
        for x in edges(column, &columns) {
            canvas.line(at(x, tall.0), at(x, tall.1), "ink bold");
        }
        for y in edges(row, &rows) {
            canvas.line(at(wide.0, y), at(wide.1, y), "ink bold");
        }
    }

    /// True if cells are drawn of which several coordinates of an axis have the same.
    pub(crate) fn names_several(&self) -> bool {
        self.lanes.iter().any(several)
    }

    /// True if several ranks have the same tile.
    pub(crate) fn is_stacked(&self) -> bool {
        self.stacked
    }
}

fn lanes(maps: &[AxisMap]) -> Result<Vec<AxisLane>, DrawError> {
    let lanes: Vec<AxisLane> = if all_blocks(maps) {
        for map in maps {
            check_count("tiles along an axis", map.parts() as u128, TILES_IN_LINE)?;
        }
        maps.iter().map(AxisLane::of_tiles).collect()
    } else {
        for map in maps {
            check_count("ranks along an axis", map.parts() as u128, RANKS_IN_LINE)?;
        }
        maps.iter().map(AxisLane::of_runs).collect()
    };
    let got = lanes.iter().map(|lane| lane.items.len() as u128).product();
    check_count("tiles", got, TILES)?;
    Ok(lanes)
}

/// True if some run of the lane has several holders.
fn several(lane: &AxisLane) -> bool {
    lane.items.iter().any(|item| item.holders.len() > 1)
}

/// The rectangle of two stretches.
pub(crate) fn cross((left, right): (f64, f64), (top, bottom): (f64, f64)) -> Rect {
    Rect::new(left, top, right - left, bottom - top)
}

/// Indices of the cuts along a lane.
fn draw_ticks(canvas: &mut Canvas, lane: &AxisLane, place: impl Fn(f64) -> Point, anchor: Anchor) {
    if !lane.real {
        return;
    }
    let items: Vec<&LaneItem> = lane.shown().collect();
    for (number, item) in items.iter().enumerate() {
        let (from, to) = item.stretch(item.core());
        if lane.apart {
            canvas.text(place((from + to) / 2.0), anchor, "small mute", &item.label());
            continue;
        }
        canvas.text(place(from), anchor, "small mute", &item.core().0.to_string());
        if number + 1 == items.len() {
            canvas.text(place(to), anchor, "small mute", &item.core().1.to_string());
        }
    }
}
