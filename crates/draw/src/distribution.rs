//! The picture of one distribution, with its heading, legend and notes.

use pantile_geometry::{Distribution, Kind, Rank};

use crate::boxes;
use crate::canvas::{Anchor, Canvas, at};
use crate::error::DrawError;
use crate::lane::{LaneItem, is_empty};
use crate::legend::{self, Mark};
use crate::svg::Svg;
use crate::tiles::TilePicture;
use crate::words::{clipped, rank_list, real, wrapped};

/// Space between tiles that are drawn apart.
const GAP: f64 = 24.0;
/// The most ranks that a note lists.
const LISTED: usize = 24;

/// The picture of a distribution.
pub(crate) fn picture(of: &Distribution) -> Result<Svg, DrawError> {
    let title = clipped(of, 200);
    let mut canvas = Canvas::default();
    let notes = block(&mut canvas, None, of)?;
    let size = of.mesh().size();
    let description = format!("An array of shape {:?} on {size} ranks. {notes}", of.shape());
    Ok(Svg::new(canvas, &title, &description))
}

/// Draws a distribution with heading, legend and notes; returns the notes.
pub(crate) fn block(
    canvas: &mut Canvas,
    heading: Option<&str>,
    of: &Distribution,
) -> Result<String, DrawError> {
    let (drawing, entries, notes) = if of.boxes().is_some() {
        let (drawing, notes) = boxes::draw(of)?;
        (drawing, vec![(Mark::Solid, "held")], notes)
    } else {
        let tiles = TilePicture::new(of, GAP)?;
        (tiles.draw(), marks(&tiles), notes(&tiles))
    };
    let width = drawing.bounds().width.max(225.0);
    let (mut y, letters) = (0.0, letters_in(width));
    if let Some(heading) = heading {
        canvas.text(at(0.0, y), Anchor::Start, "title", heading);
        y += 20.0;
    }
    let class = if heading.is_some() { "mute" } else { "title" };
    for line in
        wrapped(&clipped(of, 200), if heading.is_some() { letters } else { letters * 6 / 7 })
    {
        canvas.text(at(0.0, y), Anchor::Start, class, &line);
        y += 18.0;
    }
    let height = drawing.bounds().height;
    canvas.place(drawing, at(0.0, y - 4.0));
    y += height + 16.0;
    if !entries.is_empty() {
        legend::draw(canvas, &entries, 0.0, y - 4.0, width);
        y = canvas.bounds().bottom() + 18.0;
    }
    for note in &notes {
        for line in wrapped(note, letters) {
            canvas.text(at(0.0, y + 2.0), Anchor::Start, "mute", &line);
            y += 16.0;
        }
    }
    Ok(notes.join(". "))
}

/// About how many letters fit into a width.
pub(crate) fn letters_in(width: f64) -> usize {
    (1..400).take_while(|letters| real(*letters) * 6.6 <= width).count().max(24)
}

/// The marks that occur.
pub(crate) fn marks(tiles: &TilePicture<'_>) -> Vec<(Mark, &'static str)> {
    // Of three axes the first is a row of planes, whose headings say what is held.
    let plane = &tiles.lanes[tiles.lanes.len().saturating_sub(2)..];
    let items: Vec<_> = plane.iter().flat_map(|lane| lane.shown()).collect();
    let beyond = |item: &LaneItem| {
        !is_empty(item.held) && (item.held.0 < item.owned.0 || item.held.1 > item.owned.1)
    };
    let missing = |item: &LaneItem| {
        !is_empty(item.owned) && (item.held.0 > item.owned.0 || item.held.1 < item.owned.1)
    };
    let mut marks = Vec::new();
    if items.iter().any(|item| beyond(item)) {
        marks.push((Mark::Hatched, "halo, held"));
    }
    if items.iter().any(|item| item.room != item.held && !is_empty(item.room)) {
        marks.push((Mark::Dashed, "room"));
    }
    if items.iter().any(|item| missing(item)) {
        marks.push((Mark::Dotted, "owned, not held"));
    }
    if !marks.is_empty() {
        marks.insert(0, (Mark::Solid, "owned"));
        if plane.iter().any(|lane| lane.apart) {
            marks.push((Mark::Edge, "end of the array"));
        }
    }
    marks
}

/// What the tiles do not show: copies and terms, empty tiles, gaps.
fn notes(tiles: &TilePicture<'_>) -> Vec<String> {
    let of = tiles.of;
    let mut notes = Vec::new();
    for kind in [Kind::Copies, Kind::Terms] {
        notes.extend(spread_note(of, kind));
    }
    for (axis, map) in of.axes().unwrap_or_default().iter().enumerate() {
        if of.axis_kind(axis) == Kind::Terms && !map.is_single() {
            let operator = of.operator();
            notes.push(format!("axis {axis}: several holders have terms of a {operator}"));
        }
        let gaps = map.uncovered();
        if let Some((from, to)) = gaps.hull() {
            let count = gaps.size();
            notes.push(format!("axis {axis}: nobody holds {count} of the indices {from}:{to}"));
        }
        let long = tiles.lanes[axis].items.last().filter(|item| item.omitted);
        if let Some(rest) = long {
            let (shown, length) = (rest.owned.0, map.length());
            notes.push(format!("axis {axis}: indices 0:{shown} of {length} are drawn"));
        }
    }
    if tiles.names_several() {
        notes.push(
            "cells with several numbers: all hold them, the colour is the owner's".to_owned(),
        );
    }
    let empty = empty_ranks(tiles);
    if !empty.is_empty() {
        let list = rank_list(empty.iter().copied(), " ", LISTED);
        notes.push(format!(
            "no elements on {} {list}",
            if empty.len() == 1 { "rank" } else { "ranks" }
        ));
    }
    notes
}

/// Along which mesh axes every element is spread.
fn spread_note(of: &Distribution, kind: Kind) -> Option<String> {
    let mesh = of.mesh();
    let free = of.free_mesh_axes().into_iter();
    let wide: Vec<usize> =
        free.filter(|axis| mesh.shape()[*axis] > 1 && of.mesh_kind(*axis) == kind).collect();
    if wide.is_empty() {
        return None;
    }
    let names: Vec<&str> = wide.iter().map(|axis| mesh.names()[*axis].as_str()).collect();
    let count: u128 = wide.iter().map(|axis| mesh.shape()[*axis] as u128).product();
    let (names, operator) = (names.join(", "), of.operator());
    Some(match kind {
        Kind::Copies => format!("copies: each element is on {count} ranks along {names}"),
        Kind::Terms => {
            format!(
                "terms: each element is the {operator} of what {count} ranks along {names} have"
            )
        }
    })
}

/// Ranks of the mesh without an element, as far as a picture can list them.
fn empty_ranks(tiles: &TilePicture<'_>) -> Vec<Rank> {
    let mesh = tiles.of.mesh();
    if mesh.size() > 4096 {
        return Vec::new();
    }
    let nothing = |rank: &Rank| tiles.of.local_shape(*rank).is_some_and(|shape| shape.contains(&0));
    mesh.ranks().filter(nothing).collect()
}
