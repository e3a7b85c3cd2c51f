//! Who gives whom how many elements, as a table: rows give, columns get.

use std::collections::BTreeMap;

use pantile_geometry::Rank;

use crate::canvas::{Anchor, Canvas, Rect, at};
use crate::words::{counted, real, width_of};

/// The most rows and columns; of more ranks several share a line.
const LINES: usize = 32;

/// Elements by sender and receiver, what stays included.
pub(crate) type Table = BTreeMap<(Rank, Rank), usize>;

/// Ranks that share a row or column.
struct Bins {
    /// First and last rank of each.
    ends: Vec<(Rank, Rank)>,
}

impl Bins {
    fn new(ranks: impl Iterator<Item = Rank>) -> Self {
        let mut ranks: Vec<Rank> = ranks.collect();
        ranks.sort_unstable();
        ranks.dedup();
        let size = ranks.len().div_ceil(LINES).max(1);
        let ends = ranks.chunks(size).map(|chunk| (chunk[0], chunk[chunk.len() - 1]));
        Self { ends: ends.collect() }
    }

    fn of(&self, rank: Rank) -> usize {
        self.ends.partition_point(|ends| ends.1 < rank)
    }

    fn label(&self, bin: usize) -> String {
        let (first, last) = self.ends[bin];
        if first == last { first.to_string() } else { format!("{first}–{last}") }
    }
}

/// Draws the table; numbers that stay on their rank are in brackets.
pub(crate) fn draw(table: &Table) -> Canvas {
    let (rows, columns) =
        (Bins::new(table.keys().map(|pair| pair.0)), Bins::new(table.keys().map(|pair| pair.1)));
    let mut moved: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    let mut stays: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for ((from, to), count) in table {
        let kind = if from == to { &mut stays } else { &mut moved };
        *kind.entry((rows.of(*from), columns.of(*to))).or_insert(0) += count;
    }
    let total = |side: fn(&(usize, usize)) -> usize, at: usize| -> usize {
        moved.iter().filter(|(cell, _)| side(cell) == at).map(|(_, count)| count).sum()
    };
    let counts = moved.values().chain(stays.values());
    let numbers = counts.map(|count| width_of(&format!("({count})"), 11.0));
    let names = (0..columns.ends.len()).map(|bin| width_of(&columns.label(bin), 11.0));
    let sums = (0..columns.ends.len()).map(|bin| width_of(&total(|c| c.1, bin).to_string(), 11.0));
    let width = numbers.chain(names).chain(sums).fold(26.0, f64::max) + 6.0;
    let cell =
        |row: usize, column: usize| Rect::new(real(column) * width, real(row) * 24.0, width, 24.0);
    let most = moved.values().copied().max().unwrap_or(1);
    let mut canvas = Canvas::default();
    for row in 0..rows.ends.len() {
        for column in 0..columns.ends.len() {
            let area = cell(row, column);
            let (gives, keeps) = (moved.get(&(row, column)), stays.get(&(row, column)));
            let (from, to) = (rows.label(row), columns.label(column));
            draw_cell(&mut canvas, area, (gives, keeps), most, (&from, &to));
        }
    }
    frame(&mut canvas, (&rows, &columns), cell);
    let (last, edge) = (columns.ends.len(), rows.ends.len());
    let right = cell(0, last).x + 10.0 + width;
    for row in 0..edge {
        let y = cell(row, 0).middle().y + 4.0;
        canvas.text(at(right, y), Anchor::End, "small", &total(|c| c.0, row).to_string());
    }
    for column in 0..last {
        let place = at(cell(0, column).middle().x, cell(edge, 0).y + 17.0);
        canvas.text(place, Anchor::Middle, "small", &total(|c| c.1, column).to_string());
    }
    canvas.text(at(right, -8.0), Anchor::End, "small mute", "gives");
    canvas.text(at(-8.0, cell(edge, 0).y + 17.0), Anchor::End, "small mute", "gets");
    canvas
}

fn draw_cell(
    canvas: &mut Canvas,
    area: Rect,
    (gives, keeps): (Option<&usize>, Option<&usize>),
    most: usize,
    (from, to): (&str, &str),
) {
    let Some(count) = gives else {
        canvas.rect(area, "shade rule thin");
        if let Some(keeps) = keeps {
            canvas.centred(area.middle(), "small mute", &format!("({keeps})"));
        }
        return;
    };
    let share = (*count as u128 * 5).div_ceil(most.max(1) as u128).clamp(1, 5) - 1;
    let hint = format!("rank {from} to rank {to}: {}", counted(*count, "element"));
    canvas.with_hint(&hint, |canvas| {
        canvas.rect(area, &format!("q{share} rule thin"));
        canvas.centred(area.middle(), "small", &count.to_string());
    });
}

/// The numbers of the ranks, and what rows and columns are.
fn frame(
    canvas: &mut Canvas,
    (rows, columns): (&Bins, &Bins),
    cell: impl Fn(usize, usize) -> Rect,
) {
    for row in 0..rows.ends.len() {
        let place = at(-8.0, cell(row, 0).middle().y + 4.0);
        canvas.text(place, Anchor::End, "small", &rows.label(row));
    }
    for column in 0..columns.ends.len() {
        let place = at(cell(0, column).middle().x, -8.0);
        canvas.text(place, Anchor::Middle, "small", &columns.label(column));
    }
    let corner = at(canvas.bounds().x, -24.0);
    canvas.text(corner, Anchor::Start, "small mute", "from ↓  to →");
}
