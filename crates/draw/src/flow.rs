//! Arrows from the workers of the source to those of the target, with element counts.
//!
//! ```text
//!   +---+                 +---+---+
//!   | 0 |---------------->| 4 |   |
//!   |   |----.  .-------->| 4 | 0 |      every arrow has a place of its own at both ends;
//!   +---+     \/          +---+---+      the number at its head counts elements
//!   | 1 |-----/\          | 4 | 1 |
//!   +---+        `------->|   |   |
//! ```

use std::collections::BTreeMap;

use pantile_geometry::Rank;

use crate::canvas::{Anchor, Canvas, Rect, at};
use crate::palette::colour_of;
use crate::words::{counted, real, width_of};

/// Height of the place of one arrow.
const PORT: f64 = 18.0;
/// Size of a worker without arrows.
const CHIP: f64 = 28.0;

/// Elements that travel, by sender and receiver.
pub(crate) type Pairs = BTreeMap<(Rank, Rank), usize>;

/// One column of workers.
struct Column {
    ranks: Vec<Rank>,
    areas: Vec<Rect>,
}

impl Column {
    /// Workers with room for as many arrows as each has, one below the other.
    fn new(ranks: Vec<Rank>, arrows: impl Fn(Rank) -> usize, x: f64, width: f64) -> Self {
        let mut y = 0.0;
        let areas = ranks.iter().map(|rank| {
            let height = (PORT * real(arrows(*rank)) + 4.0).max(CHIP);
            let area = Rect::new(x, y, width, height);
            y += height + 8.0;
            area
        });
        let areas = areas.collect();
        Self { ranks, areas }
    }

    fn height(&self) -> f64 {
        self.areas.last().map_or(0.0, Rect::bottom)
    }

    fn area(&self, rank: Rank) -> Rect {
        self.ranks
            .iter()
            .position(|known| *known == rank)
            .map_or(self.areas[0], |at| self.areas[at])
    }

    fn moved(mut self, y: f64) -> Self {
        self.areas.iter_mut().for_each(|area| *area = area.moved(0.0, y));
        self
    }

    fn draw(&self, canvas: &mut Canvas) {
        for (rank, area) in self.ranks.iter().zip(&self.areas) {
            let colour = colour_of(*rank);
            canvas.rect(*area, &format!("f{colour} s{colour} edge"));
            canvas.centred(area.middle(), "rank", &rank.to_string());
        }
    }
}

/// Draws the arrows. Senders stand on the left, receivers on the right.
pub(crate) fn draw(pairs: &Pairs) -> Canvas {
    let mut canvas = Canvas::default();
    let (from, to) = (ends(pairs, |pair| pair.0), ends(pairs, |pair| pair.1));
    let label = |rank: &Rank| width_of(&rank.to_string(), 14.0) + 14.0;
    let chip = from.iter().chain(&to).map(label).fold(CHIP, f64::max);
    let counts = pairs.values().map(|count| width_of(&count.to_string(), 11.0) + 10.0);
    let plug = counts.fold(18.0, f64::max);
    let arrows_from = |rank: Rank| pairs.keys().filter(|pair| pair.0 == rank).count();
    let arrows_to = |rank: Rank| pairs.keys().filter(|pair| pair.1 == rank).count();
    let space = 120.0 + 6.0 * real(from.len().max(to.len()).min(20));
    let left = Column::new(from, arrows_from, 0.0, chip);
    let right = Column::new(to, arrows_to, chip + space + plug, chip);
    let tall = left.height().max(right.height());
    let (down_left, down_right) = ((tall - left.height()) / 2.0, (tall - right.height()) / 2.0);
    let (left, right) = (left.moved(down_left), right.moved(down_right));
    let port = |area: Rect, number: usize, count: usize| {
        area.middle().y + PORT * (real(number) - (real(count) - 1.0) / 2.0)
    };
    let mut used_to: BTreeMap<Rank, usize> = BTreeMap::new();
    let mut used_from: BTreeMap<Rank, usize> = BTreeMap::new();
    for ((from, to), count) in pairs {
        let (start, end) = (left.area(*from), right.area(*to));
        let out = used_from.entry(*from).or_insert(0);
        let into = used_to.entry(*to).or_insert(0);
        let y0 = port(start, *out, arrows_from(*from));
        let y1 = port(end, *into, arrows_to(*to));
        (*out, *into) = (*out + 1, *into + 1);
        let colour = colour_of(*from);
        let hint = format!("rank {from} to rank {to}: {}", counted(*count, "element"));
        canvas.with_hint(&hint, |canvas| {
            let socket = Rect::new(end.x - plug, y1 - 8.0, plug, 16.0);
            canvas.flow(at(start.right(), y0), at(socket.x, y1), colour);
            canvas.rect(socket, &format!("f{colour} s{colour} thin"));
            canvas.centred(socket.middle(), "small", &count.to_string());
        });
    }
    left.draw(&mut canvas);
    right.draw(&mut canvas);
    let top = left.areas[0].y.min(right.areas[0].y) - 8.0;
    canvas.text(at(0.0, top), Anchor::Start, "small mute", "from");
    canvas.text(at(right.areas[0].right(), top), Anchor::End, "small mute", "to");
    canvas
}

fn ends(pairs: &Pairs, end: impl Fn(&(Rank, Rank)) -> Rank) -> Vec<Rank> {
    let mut ranks: Vec<Rank> = pairs.keys().map(end).collect();
    ranks.sort_unstable();
    ranks.dedup();
    ranks
}
