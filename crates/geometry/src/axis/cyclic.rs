//! Blocks dealt round-robin, possibly seen through a view.

use super::View;
use crate::index::{IndexSet, Indices, Segment, Segments};
use crate::number::{gcd, index};

/// The pattern of coordinates along a cyclic axis: visible index `k` lies on coordinate
/// `((offset + step * k) / block) mod parts`. It repeats after [`Pattern::period`] indices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pattern {
    block: usize,
    parts: usize,
    view: View,
}

impl Pattern {
    pub(super) fn new(block: usize, parts: usize, view: View) -> Self {
        Self { block, parts, view }
    }

    /// Visible indices after which the pattern repeats.
    fn period(&self) -> usize {
        let turn = self.block * self.parts;
        turn / gcd(turn, index(self.view.step().abs()))
    }

    /// Where in a turn of the base axis `k` lies; the pattern goes on beyond the view.
    fn phase(&self, k: usize) -> usize {
        let turn = self.block * self.parts;
        if self.view.step() == 1 {
            return (self.view.offset() + k) % turn;
        }
        // Step and index may both be large: their product needs more than 64 bits.
        let base = self.view.offset() as i128 + i128::from(self.view.step()) * k as i128;
        usize::try_from(base.rem_euclid(turn as i128)).expect("a turn fits")
    }

    /// The coordinate that holds visible index `k`.
    pub(super) fn coordinate(&self, k: usize) -> usize {
        self.phase(k) / self.block
    }

    /// The first index after `k` on another coordinate; at most one period further.
    fn run_end(&self, k: usize) -> usize {
        let (coordinate, limit) = (self.coordinate(k), k + self.period());
        let width = index(self.view.step().abs());
        let mut end = k;
        while end < limit {
            let phase = self.phase(end);
            if phase / self.block != coordinate {
                break;
            }
            // Indices left in this block: up to its end, or down to its start.
            let within = phase % self.block;
            end += if self.view.step() > 0 {
                (self.block - within).div_ceil(width)
            } else {
                within / width + 1
            };
        }
        end.min(limit)
    }

    fn is_boundary(&self, k: usize) -> bool {
        self.coordinate(k + self.period() - 1) != self.coordinate(k)
    }

    /// The runs of constant coordinate inside `low..high`, regular repetitions as one segment.
    fn split_run(&self, low: usize, high: usize, out: &mut Vec<(usize, Segment)>) {
        let period = self.period();
        let mut push = |k: usize, segment: Option<Segment>| {
            out.extend(segment.map(|segment| (self.coordinate(k), segment)));
        };
        let mut at = low;
        if at < high && !self.is_boundary(at) {
            let end = self.run_end(at).min(high);
            push(at, Segment::run(at, end));
            at = end;
        }
        if high.saturating_sub(at) < 2 * period {
            while at < high {
                let end = self.run_end(at).min(high);
                push(at, Segment::run(at, end));
                at = end;
            }
            return;
        }
        let mut k = at;
        while k < at + period {
            let end = self.run_end(k);
            let whole = (high - end) / period + 1;
            push(k, Segment::strided(k, end - k, period, whole));
            push(k, Segment::run(k + whole * period, high));
            k = end;
        }
    }

    fn split_strided(&self, segment: &Segment, out: &mut Vec<(usize, Segment)>) {
        let period = self.period();
        let (length, step, count) = (segment.length(), segment.step(), segment.count());
        if count == 1 || length >= 2 * period {
            for run in 0..count {
                let start = segment.start() + run * step;
                self.split_run(start, start + length, out);
            }
            return;
        }
        // After `turn` runs the pattern meets the segment in the same way again.
        let turn = period / gcd(step, period);
        for run in 0..count.min(turn) {
            let repeats = (count - run).div_ceil(turn);
            let distance = if repeats > 1 { step * turn } else { length };
            let start = segment.start() + run * step;
            let mut at = start;
            while at < start + length {
                let end = self.run_end(at).min(start + length);
                let piece = Segment::strided(at, end - at, distance, repeats);
                out.extend(piece.map(|piece| (self.coordinate(at), piece)));
                at = end;
            }
        }
    }

    /// The parts of `piece` on each coordinate (or on `only`), by coordinate.
    pub(super) fn split(&self, piece: &IndexSet, only: Option<usize>) -> Vec<(usize, IndexSet)> {
        let wanted = |coordinate: usize| only.is_none_or(|only| only == coordinate);
        match piece.indices() {
            Indices::Segments(segments) => {
                let mut found = Vec::new();
                for segment in segments {
                    self.split_strided(segment, &mut found);
                }
                found.retain(|(coordinate, _)| wanted(*coordinate));
                found.sort_unstable();
                let same = |a: &(usize, Segment), b: &(usize, Segment)| a.0 == b.0;
                let group = |run: &[(usize, Segment)]| {
                    let segments = run.iter().map(|(_, segment)| *segment);
                    (run[0].0, IndexSet::from_segments(segments.collect::<Segments>()))
                };
                found.chunk_by(same).map(group).collect()
            }
            Indices::List(list) => {
                let mut found: Vec<(usize, usize)> =
                    list.iter().map(|k| (self.coordinate(*k), *k)).collect();
                found.retain(|(coordinate, _)| wanted(*coordinate));
                found.sort_unstable();
                let group = |run: &[(usize, usize)]| {
                    (run[0].0, IndexSet::from_list(run.iter().map(|(_, k)| *k).collect()))
                };
                found.chunk_by(|a, b| a.0 == b.0).map(group).collect()
            }
        }
    }

    /// How many visible indices below `k` lie on `coordinate`: the local index of `k` there.
    pub(super) fn count_below(&self, coordinate: usize, k: usize) -> usize {
        if self.view.step() == 1 {
            // (count below base k) - (count below the offset), each by the closed formula.
            let below = |base: usize| {
                let turn = self.block * self.parts;
                let rest = (base % turn).saturating_sub(coordinate * self.block);
                base / turn * self.block + rest.min(self.block)
            };
            return below(self.view.offset() + k) - below(self.view.offset());
        }
        let period = self.period();
        let partial = self.count_in_period(coordinate, k % period);
        if k < period { partial } else { k / period * self.per_period(coordinate) + partial }
    }

    fn count_in_period(&self, coordinate: usize, stop: usize) -> usize {
        let (mut at, mut count) = (0, 0);
        while at < stop {
            let end = self.run_end(at).min(stop);
            count += if self.coordinate(at) == coordinate { end - at } else { 0 };
            at = end;
        }
        count
    }

    /// How many indices of one period lie on `coordinate`.
    fn per_period(&self, coordinate: usize) -> usize {
        if self.view.step() == 1 {
            return self.block;
        }
        self.count_in_period(coordinate, self.period())
    }

    /// The visible index with local index `local` on `coordinate`: the inverse of
    /// [`Pattern::count_below`]; it may lie beyond the view.
    pub(super) fn index_of(&self, coordinate: usize, local: usize) -> Option<usize> {
        if self.view.step() == 1 && self.view.offset() == 0 {
            let turn = (local / self.block).checked_mul(self.parts)?.checked_add(coordinate)?;
            return turn.checked_mul(self.block)?.checked_add(local % self.block);
        }
        let per = self.per_period(coordinate);
        let mut rest = local.checked_rem(per)?;
        let first = (local / per).checked_mul(self.period())?;
        let mut at = first;
        while at < first + self.period() {
            let end = self.run_end(at).min(first + self.period());
            if self.coordinate(at) == coordinate {
                if rest < end - at {
                    return Some(at + rest);
                }
                rest -= end - at;
            }
            at = end;
        }
        None
    }

    /// Local places of a segment that lies wholly on `coordinate`.
    pub(super) fn locate(&self, coordinate: usize, segment: &Segment) -> Vec<Segment> {
        let local = |k: usize| self.count_below(coordinate, k);
        let (period, step) = (self.period(), segment.step());
        let regular = segment.count() > 1 && step % period == 0;
        if segment.count() == 1 || regular {
            let distance = step / period * self.per_period(coordinate);
            let (start, length) = (local(segment.start()), segment.length());
            return Segment::strided(start, length, distance.max(length), segment.count())
                .into_iter()
                .collect();
        }
        (0..segment.count())
            .filter_map(|run| {
                let start = local(segment.start() + run * step);
                Segment::run(start, start + segment.length())
            })
            .collect()
    }
}
