//! The halo table of one axis, drawn: one row per worker.
//!
//! ```text
//!   worker 0   [0][1][2](3)                [ ] owned   ( ) received: an arrow from the owner
//!              |__________|  needed
//!               y0     y1    outputs
//!   worker 1         [3][4][5]
//! ```

use std::ops::Range;

use pantile_geometry::halo::{AxisHalo, WorkerHalo};

use crate::canvas::{Anchor, Canvas, Rect, at};
use crate::error::{DrawError, check_count};
use crate::legend::{self, Mark};
use crate::palette::colour_of;
use crate::plan::stack;
use crate::strip::{HEIGHT, OUTPUT, PITCH, Strip};
use crate::svg::Svg;
use crate::words::{counted, real, signed, width_of};

/// The most workers in a table.
const WORKERS: usize = 48;

/// The picture of several tables, one below the other.
pub(crate) fn pictures(tables: &[(&str, &AxisHalo)]) -> Result<Svg, DrawError> {
    let mut canvas = Canvas::default();
    for (title, halo) in tables {
        check_count("workers", halo.workers() as u128, WORKERS)?;
        stack(&mut canvas, Strip::new(halo).draw(title));
    }
    let title = tables.iter().map(|(title, _)| *title).collect::<Vec<_>>().join("; ");
    let lines = tables.iter().flat_map(|(_, halo)| halo.iter().enumerate().map(describe));
    Ok(Svg::new(canvas, &title, &lines.collect::<Vec<_>>().join(" ")))
}

fn describe((worker, row): (usize, WorkerHalo)) -> String {
    let (x, y) = (&row.owned, &row.output);
    let (left, right) = row.receive;
    format!(
        "Worker {worker} has {}:{}, computes {}:{}, receives {left} on the left and {right} on \
         the right.",
        x.start, x.end, y.start, y.end
    )
}

impl Strip<'_> {
    fn draw(&self, title: &str) -> Canvas {
        let mut canvas = Canvas::default();
        // Arrows pass behind cells and outputs.
        for draw in [Self::draw_needed, Self::draw_arrows, Self::draw_outputs, Self::draw_cells] {
            (0..self.rows.len()).for_each(|worker| draw(self, &mut canvas, worker));
        }
        let left = canvas.bounds().x - 78.0;
        for worker in 0..self.rows.len() {
            let y = real(worker) * PITCH + 17.0;
            canvas.text(at(left, y), Anchor::Start, "head", &format!("worker {worker}"));
        }
        self.draw_table(&mut canvas);
        canvas.text(at(left, -54.0), Anchor::Start, "title", title);
        let low = canvas.bounds().bottom() + 18.0;
        legend::draw(&mut canvas, &self.marks(), left, low, self.table - left + 150.0);
        canvas
    }

    fn marks(&self) -> Vec<(Mark, &'static str)> {
        let mut marks = vec![(Mark::Bracket, "needed for the outputs y"), (Mark::Solid, "owned")];
        if self.rows.iter().any(|row| row.signed.0 < 0 || row.signed.1 < 0) {
            marks.push((Mark::Outlined, "owned, not needed"));
        }
        if self.rows.iter().any(|row| row.receive != (0, 0)) {
            marks.push((Mark::Hatched, "received"));
        }
        if self.boundary > 0 || self.rows.iter().any(|row| row.beyond != (0, 0)) {
            marks.push((Mark::Dotted, "padding"));
        }
        marks
    }

    /// Owned cells, ghosts and padding of a worker.
    fn draw_cells(&self, canvas: &mut Canvas, worker: usize) {
        let row = &self.rows[worker];
        let colour = colour_of(worker);
        let (own, ghosts) = (&row.owned, self.ghosts(worker));
        for ghost in &ghosts {
            let mut area = self.area(worker, ghost);
            let more = (10.0 - area.width).max(0.0);
            area.x -= if ghost.start < own.start { more } else { 0.0 };
            area.width += more;
            canvas.hatched(area, colour, &format!("s{colour} thin"));
        }
        let needed = self.needed(worker);
        let used = needed.start.clamp(own.start, own.end)..needed.end.clamp(own.start, own.end);
        if !own.is_empty() {
            canvas.rect(self.area(worker, own), &format!("paper s{colour} edge"));
        }
        if !used.is_empty() {
            canvas.rect(self.area(worker, &used), &format!("f{colour} s{colour} edge"));
        }
        let last = self.halo.input().extent();
        let pads = [0..row.pad.0, last.saturating_sub(row.pad.1)..last];
        for pad in pads.iter().filter(|pad| !pad.is_empty()) {
            canvas.rect(self.area(worker, pad), &format!("paper s{colour} thin dots"));
        }
        self.draw_beyond(canvas, worker);
        let all = ghosts.into_iter().chain([own.clone()]).filter(|range| !range.is_empty());
        for range in all {
            self.draw_numbers(canvas, worker, &range);
        }
    }

    /// Padding that is looked at but is nobody's data.
    fn draw_beyond(&self, canvas: &mut Canvas, worker: usize) {
        let row = &self.rows[worker];
        if self.boundary > 0 || row.output.is_empty() {
            return;
        }
        let width = self.unit.min(28.0);
        let y = real(worker) * PITCH;
        let end = self.x(self.halo.input().extent());
        let before = (0..row.beyond.0.min(6)).map(|at| -width * real(at + 1));
        let after = (0..row.beyond.1.min(6)).map(|at| end + width * real(at));
        for x in before.chain(after) {
            let colour = colour_of(worker);
            let area = Rect::new(x, y, width, HEIGHT);
            canvas.rect(area, &format!("none s{colour} thin dots"));
        }
    }

    /// Indices of cells, or the ends of a block of very many.
    fn draw_numbers(&self, canvas: &mut Canvas, worker: usize, range: &Range<usize>) {
        let area = self.area(worker, range);
        let name = |position: usize| (signed(position) - self.boundary).to_string();
        if !self.cells {
            let text = format!("{}:{}", name(range.start), name(range.end));
            if width_of(&text, 11.0) + 6.0 <= area.width {
                self.draw_number(canvas, area, &text, *range == self.rows[worker].owned);
            }
            return;
        }
        let own = &self.rows[worker].owned;
        let inside = 0..self.halo.input().extent();
        for position in range.clone() {
            let cell = self.area(worker, &(position..position + 1));
            if position > range.start {
                let colour = colour_of(worker);
                let (top, low) = (at(cell.x, cell.y), at(cell.x, cell.bottom()));
                canvas.line(top, low, &format!("s{colour} thin"));
            }
            let padding = signed(position) < self.boundary
                || signed(position) >= signed(inside.end) - self.boundary;
            if !padding {
                self.draw_number(canvas, cell, &name(position), own.contains(&position));
            }
        }
    }

    fn draw_number(&self, canvas: &mut Canvas, area: Rect, text: &str, plain: bool) {
        let middle = area.middle();
        if !plain {
            let width = width_of(text, 11.0) + 5.0;
            let ground = Rect::new(middle.x - width / 2.0, middle.y - 7.5, width, 15.0);
            canvas.rounded(ground, 3.0, "paper");
        }
        canvas.centred(middle, "small", text);
    }

    /// The bracket below the needed cells, and the way to the outputs.
    fn draw_needed(&self, canvas: &mut Canvas, worker: usize) {
        if self.rows[worker].output.is_empty() {
            return;
        }
        let (area, outputs) = (self.under(worker), self.outputs(worker));
        let (left, right, top) = (area.x + 1.0, area.right() - 1.0, area.bottom() + 6.0);
        let (low, high) = (at(outputs.x, outputs.y), at(outputs.right(), outputs.y));
        canvas.polygon(&[at(left, top), at(right, top), high, low], "shade");
        let ends = [at(left, top - 4.0), at(left, top), at(right, top), at(right, top - 4.0)];
        canvas.polyline(&ends, &format!("s{} edge", colour_of(worker)));
    }

    fn draw_outputs(&self, canvas: &mut Canvas, worker: usize) {
        let row = &self.rows[worker];
        if row.output.is_empty() {
            return;
        }
        let (outputs, colour) = (self.outputs(worker), colour_of(worker));
        canvas.rect(outputs, &format!("f{colour} s{colour} thin"));
        if !self.cells {
            let text = format!("y {}:{}", row.output.start, row.output.end);
            canvas.centred(outputs.middle(), "small", &text);
            return;
        }
        for (number, output) in row.output.clone().enumerate() {
            let x = outputs.x + OUTPUT * real(number);
            if number > 0 {
                canvas.line(at(x, outputs.y), at(x, outputs.bottom()), &format!("s{colour} thin"));
            }
            let middle = at(x + OUTPUT / 2.0, outputs.middle().y);
            canvas.centred(middle, "small", &format!("y{output}"));
        }
    }

    fn draw_arrows(&self, canvas: &mut Canvas, worker: usize) {
        for arrow in self.arrows().filter(|arrow| arrow.to == worker) {
            let (from, x, down) = (arrow.from, arrow.x, arrow.from < worker);
            let (start, end) = (real(from) * PITCH, real(worker) * PITCH);
            let (start, end) =
                if down { (start + HEIGHT, end - 1.0) } else { (start, end + HEIGHT + 1.0) };
            let count = arrow.count;
            let hint = format!("worker {from} to worker {worker}: {}", counted(count, "cell"));
            canvas.with_hint(&hint, |canvas| {
                canvas.arrow(at(x, start), at(x, end), colour_of(from));
                let width = width_of(&count.to_string(), 11.0) + 4.0;
                let (left, y) =
                    if down { (x - 5.0 - width, end - 14.0) } else { (x + 5.0, end + 22.0) };
                canvas.rounded(Rect::new(left, y - 10.0, width, 13.0), 3.0, "paper");
                canvas.centred(at(left + width / 2.0, y - 4.0), "small", &count.to_string());
            });
        }
    }

    /// The widths in numbers, left and right.
    fn draw_table(&self, canvas: &mut Canvas) {
        let heads = ["halo", "receives", "sends"];
        let pairs = |row: &WorkerHalo| {
            [
                format!("{}, {}", row.signed.0, row.signed.1).replace('-', "−"),
                format!("{}, {}", row.receive.0, row.receive.1),
                format!("{}, {}", row.send.0, row.send.1),
            ]
        };
        let widths = self.rows.iter().flat_map(|row| pairs(row).map(|pair| width_of(&pair, 12.0)));
        let width = widths.fold(48.0, f64::max) + 14.0;
        let column = |number: usize| self.table + 8.0 + width * real(number);
        canvas.text(
            at(column(0), -30.0),
            Anchor::Start,
            "small mute",
            "cells on the left, on the right",
        );
        for (number, head) in heads.iter().enumerate() {
            canvas.text(at(column(number), -16.0), Anchor::Start, "small mute", head);
        }
        for (worker, row) in self.rows.iter().enumerate() {
            let y = real(worker) * PITCH + 17.0;
            for (number, pair) in pairs(row).iter().enumerate() {
                canvas.text(at(column(number), y), Anchor::Start, "", pair);
            }
        }
    }
}
