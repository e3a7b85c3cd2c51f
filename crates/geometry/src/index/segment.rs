//! Equally long runs of indices at equal distances.

/// The indices `start + i * step + j` for `i < count`, `j < length`.
///
/// ```text
/// start=2 length=2 step=5 count=3:   . . # # . . . # # . . . # # .
/// ```
///
/// Invariants, kept by the constructors:
/// 1. `length >= 1` and `count >= 1`: there are no empty segments.
/// 2. `count > 1` implies `step > length`: touching runs are one run.
/// 3. `count == 1` implies `step == length`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Segment {
    start: usize,
    length: usize,
    step: usize,
    count: usize,
}

impl Segment {
    /// The run `start..stop`, or nothing if that is empty.
    #[must_use]
    pub fn run(start: usize, stop: usize) -> Option<Self> {
        (start < stop).then(|| Self { start, length: stop - start, step: stop - start, count: 1 })
    }

    /// `count` runs of `length` indices, the first at `start`, at distance `step`;
    /// nothing if there are none. Touching runs become one.
    ///
    /// # Panics
    /// If there are several runs and they overlap (`step < length`).
    #[must_use]
    pub fn strided(start: usize, length: usize, step: usize, count: usize) -> Option<Self> {
        if length == 0 || count == 0 {
            return None;
        }
        if count == 1 {
            return Self::run(start, start + length);
        }
        assert!(step >= length, "runs of a segment overlap: step {step}, length {length}");
        if step == length {
            return Self::run(start, start + length * count);
        }
        Some(Self { start, length, step, count })
    }

    /// Two single runs that touch, as one.
    pub(super) fn joined(&self, next: &Self) -> Self {
        let length = next.stop() - self.start;
        Self { start: self.start, length, step: length, count: 1 }
    }

    /// First index.
    #[must_use]
    pub fn start(&self) -> usize {
        self.start
    }

    /// Length of each run.
    #[must_use]
    pub fn length(&self) -> usize {
        self.length
    }

    /// Distance between the starts of two runs.
    #[must_use]
    pub fn step(&self) -> usize {
        self.step
    }

    /// Number of runs.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// One past the last index.
    #[must_use]
    pub fn stop(&self) -> usize {
        self.start + (self.count - 1) * self.step + self.length
    }

    /// Number of indices.
    #[must_use]
    pub fn size(&self) -> usize {
        self.length * self.count
    }

    /// True if `index` is one of them.
    #[must_use]
    pub fn contains(&self, index: usize) -> bool {
        index >= self.start
            && (index - self.start) / self.step < self.count
            && (index - self.start) % self.step < self.length
    }

    /// The indices, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + Clone + use<> {
        let Self { start, length, step, count } = *self;
        (0..count).flat_map(move |run| (start + run * step)..(start + run * step + length))
    }

    /// The part inside `low..high`: at most a cut first run, whole runs, a cut last run.
    pub fn clip(&self, low: usize, high: usize) -> impl Iterator<Item = Segment> + use<> {
        let Self { start, length, step, count } = *self;
        let (low, high) = (low.max(start), high.min(self.stop()));
        let mut parts = [None; 3];
        if low < high {
            // Runs first..last touch low..high.
            let first = (low - start) / step;
            let first = if low - start - first * step >= length { first + 1 } else { first };
            let last = ((high - 1 - start) / step + 1).min(count);
            let head = start + first * step;
            if first + 1 == last {
                parts[0] = Self::run(head.max(low), (head + length).min(high));
            } else if first < last {
                let tail = start + (last - 1) * step;
                let cut_head = head < low;
                let cut_tail = tail + length > high;
                if cut_head {
                    parts[0] = Self::run(low, head + length);
                }
                let (from, to) = (first + usize::from(cut_head), last - usize::from(cut_tail));
                parts[1] = Self::strided(start + from * step, length, step, to - from);
                if cut_tail {
                    parts[2] = Self::run(tail, high);
                }
            }
        }
        parts.into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clip_equals_the_filtered_list() {
        for (start, length, step, count) in
            [(0, 1, 1, 1), (3, 2, 5, 4), (0, 3, 4, 3), (7, 1, 2, 5), (2, 6, 6, 1), (1, 2, 2, 3)]
        {
            let segment = Segment::strided(start, length, step, count).unwrap();
            let all: Vec<usize> = segment.iter().collect();
            assert_eq!(all.len(), segment.size());
            assert!((0..40).all(|i| segment.contains(i) == all.contains(&i)));
            for low in 0..30 {
                for high in 0..30 {
                    let got: Vec<usize> =
                        segment.clip(low, high).flat_map(|part| part.iter()).collect();
                    let want: Vec<usize> =
                        all.iter().copied().filter(|i| low <= *i && *i < high).collect();
                    assert_eq!(got, want, "{segment:?} clipped to {low}..{high}");
                }
            }
        }
    }
}
