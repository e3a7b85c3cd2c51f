//! Boxes that are no product over mesh axes: one small frame of the array per rank.

use pantile_geometry::{Distribution, Kind};

use crate::canvas::{Anchor, Canvas, Rect, at};
use crate::error::{DrawError, check_count};
use crate::palette::colour_of;
use crate::words::real;

/// The most frames.
const FRAMES: usize = 144;

/// Draws the box of each rank in a frame of the whole array; also what there is to note.
pub(crate) fn draw(of: &Distribution) -> Result<(Canvas, Vec<String>), DrawError> {
    if of.ndim() > 2 {
        return Err(DrawError::TooManyAxes { what: "boxes", ndim: of.ndim(), limit: 2 });
    }
    check_count("boxes", of.mesh().size() as u128, FRAMES)?;
    let list = of.boxes().map_or(&[][..], |boxes| boxes.list());
    let (frame, unit) = frame(of.shape());
    let line = of.mesh().shape().last().copied().unwrap_or(1).clamp(1, 8);
    let line = if of.mesh().shape().len() < 2 { list.len().clamp(1, 6) } else { line };
    let mut canvas = Canvas::default();
    for (position, ranges) in list.iter().enumerate() {
        let rank = of.mesh().rank_at(position);
        let (column, row) = (real(position % line), real(position / line));
        let corner = at(column * (frame.width.max(96.0) + 20.0), row * (frame.height + 40.0));
        let place = frame.moved(corner.x, corner.y);
        canvas.rect(place, "shade rule thin");
        let range = |axis: Option<usize>| match axis.and_then(|axis| ranges.get(axis)) {
            Some((from, to)) => (real(*from), real(*to)),
            None => (0.0, 1.0),
        };
        let (across, down) = (range(of.ndim().checked_sub(1)), range(of.ndim().checked_sub(2)));
        let area = Rect::new(
            place.x + across.0 * unit.0,
            place.y + down.0 * unit.1,
            (across.1 - across.0) * unit.0,
            (down.1 - down.0) * unit.1,
        );
        let colour = colour_of(rank);
        if area.width > 0.0 && area.height > 0.0 {
            canvas.rect(area, &format!("f{colour} s{colour} edge"));
        }
        let ranges: Vec<String> = ranges.iter().map(|(from, to)| format!("{from}:{to}")).collect();
        let ranges = if ranges.is_empty() { "scalar".to_owned() } else { ranges.join(", ") };
        let below = at(place.x, place.bottom() + 14.0);
        canvas.text(below, Anchor::Start, "small", &format!("rank {rank}: {ranges}"));
    }
    let mut notes =
        vec!["one frame per rank: the array, and the box that the rank holds".to_owned()];
    if of.boxes().is_some_and(|boxes| boxes.kind() == Kind::Terms) {
        notes.push(format!("terms: where boxes meet, an element is their {}", of.operator()));
    }
    Ok((canvas, notes))
}

/// The frame of an array, and the size of an index along columns and rows.
fn frame(shape: &[usize]) -> (Rect, (f64, f64)) {
    let mut extents = shape.iter().rev().map(|extent| real((*extent).max(1)));
    let (width, height) = (extents.next(), extents.next());
    let across = (120.0 / width.unwrap_or(1.0)).min(24.0);
    let down = height.map_or(24.0, |height| (90.0 / height).min(24.0));
    let size = (width.unwrap_or(1.0) * across, height.unwrap_or(1.0) * down);
    (Rect::new(0.0, 0.0, size.0.max(24.0), size.1.max(24.0)), (across, down))
}
