//! Partitions of up to three axes as blocks in space, with the numbers of their workers.
//!
//! Axis 0 goes down, axis 1 to the right, axis 2 into the page. Blocks stand so far apart that
//! no number is hidden.

use pantile_geometry::teams::Partition;

use crate::canvas::{Anchor, Canvas, Point, Rect, at};
use crate::error::{DrawError, check_count};
use crate::words::real;

/// The most workers in a picture.
pub(crate) const WORKERS: usize = 400;
/// Width and height of a block's front.
const SIDE: f64 = 38.0;
/// How far a block reaches back, on paper.
const DEPTH: Point = Point { x: 10.0, y: -8.0 };
/// From a block to the one behind it, on paper.
const BACK: Point = Point { x: 52.0, y: -28.0 };

/// How a block looks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Face {
    /// The group it belongs to; none is grey.
    pub(crate) colour: Option<usize>,
    /// True for the root of a group.
    pub(crate) root: bool,
    /// What the worker has, below its number.
    pub(crate) note: String,
}

/// Refuses partitions that cannot be drawn.
pub(crate) fn check(partition: &Partition) -> Result<(), DrawError> {
    let ndim = partition.dim();
    if ndim > 3 {
        return Err(DrawError::TooManyAxes { what: "a partition", ndim, limit: 3 });
    }
    check_count("workers", partition.size() as u128, WORKERS)
}

/// Draws a partition; `face` says how the worker with a world rank looks.
pub(crate) fn draw(partition: &Partition, face: impl Fn(usize) -> Face) -> Canvas {
    let shape = partition.shape();
    let [down, right, back] = match shape[..] {
        [] => [1, 1, 1],
        [n] => [1, n, 1],
        [n, m] => [n, m, 1],
        _ => [shape[0], shape[1], shape[2]],
    };
    let stacked = real(back.saturating_sub(1));
    let pitch =
        at(SIDE + DEPTH.x + 20.0 + stacked * BACK.x, SIDE - DEPTH.y + 18.0 - stacked * BACK.y);
    let corner = |i: usize, j: usize, k: usize| {
        at(real(j) * pitch.x + real(k) * BACK.x, real(i) * pitch.y + real(k) * BACK.y)
    };
    let mut canvas = Canvas::default();
    for i in 0..down {
        for j in 0..right {
            if back > 1 {
                let ends = [corner(i, j, 0), corner(i, j, back - 1)];
                let [from, to] = ends.map(|end| at(end.x + SIDE / 2.0, end.y + SIDE / 2.0));
                canvas.line(from, to, "rule thin");
            }
            for k in (0..back).rev() {
                let rank = (i * right + j) * back + k;
                if let Some(world_rank) = partition.world_rank(rank) {
                    block(&mut canvas, corner(i, j, k), &world_rank.to_string(), &face(world_rank));
                }
            }
        }
    }
    canvas
}

/// The names of the axes of a partition, as far as it has them.
pub(crate) fn axes(partition: &Partition) -> &'static str {
    match partition.dim() {
        0 => "",
        1 => "axis 0 →",
        2 => "axis 0 ↓  axis 1 →",
        _ => "axis 0 ↓  axis 1 →  axis 2 ↗",
    }
}

/// One block: front, top and side.
pub(crate) fn block(canvas: &mut Canvas, corner: Point, name: &str, face: &Face) {
    let class = match face.colour {
        Some(colour) => format!("f{colour} s{colour}"),
        None => "shade soft".to_owned(),
    };
    let front = Rect::new(corner.x, corner.y, SIDE, SIDE);
    let shifted = |x: f64, y: f64| at(x + DEPTH.x, y + DEPTH.y);
    let top = [
        at(front.x, front.y),
        shifted(front.x, front.y),
        shifted(front.right(), front.y),
        at(front.right(), front.y),
    ];
    let side = [
        at(front.right(), front.y),
        shifted(front.right(), front.y),
        shifted(front.right(), front.bottom()),
        at(front.right(), front.bottom()),
    ];
    for (sides, shade) in [(top, "top"), (side, "side")] {
        canvas.polygon(&sides, "paper");
        canvas.polygon(&sides, &format!("{class} thin {shade}"));
    }
    canvas.rounded(front, 0.0, &format!("{class} edge"));
    if face.root {
        canvas.rounded(front.grown(-3.5), 0.0, "none ink edge");
    }
    let middle = front.middle();
    if face.note.is_empty() {
        canvas.centred(middle, "rank", name);
    } else {
        canvas.centred(at(middle.x, middle.y - 7.0), "rank", name);
        canvas.centred(at(middle.x, middle.y + 7.5), "small", &face.note);
    }
}

/// Draws a heading and a second line; returns where to go on.
pub(crate) fn heading(canvas: &mut Canvas, y: f64, head: &str, more: &str) -> f64 {
    canvas.text(at(0.0, y), Anchor::Start, "head", head);
    if more.is_empty() {
        return y + 10.0;
    }
    canvas.text(at(0.0, y + 16.0), Anchor::Start, "small mute", more);
    y + 26.0
}

/// Puts drawings side by side, each below its name; returns where to go on.
pub(crate) fn row(canvas: &mut Canvas, y: f64, drawings: Vec<(String, Canvas)>) -> f64 {
    let tallest = drawings.iter().map(|(_, d)| d.bounds().height).fold(0.0, f64::max);
    let mut x = 0.0;
    for (name, drawing) in drawings {
        let mut named = Canvas::default();
        let bounds = drawing.bounds();
        named.place(drawing, at(0.0, (tallest - bounds.height) / 2.0));
        if !name.is_empty() {
            named.text(at(0.0, tallest + 18.0), Anchor::Start, "small", &name);
        }
        let (width, shift) = (named.bounds().width, named.bounds().y);
        canvas.place(named, at(x, y + shift.max(0.0)));
        x += width + 44.0;
    }
    canvas.bounds().bottom() + 34.0
}
