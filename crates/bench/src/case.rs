//! What is measured: a program, and the same by hand.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use pantile_engine::{DType, Tile};

use super::figure::Aim;
use super::hands::Gate;

/// One figure to measure: a program as text, and loops by hand that do the same.
#[derive(Clone, Debug)]
pub struct Case {
    /// The heading that it stands under.
    pub group: FigureGroup,
    /// Its name in tables.
    pub name: &'static str,
    /// Number of ranks, and of threads by hand.
    pub ranks: usize,
    /// Lengths of its arrays.
    pub(crate) shape: Vec<usize>,
    /// The program.
    pub(crate) text: String,
    /// How many arrays it only reads: its first arguments.
    pub(crate) inputs: usize,
    /// How many arrays it changes: its last arguments, and its results. If there are none, it has
    /// one result.
    pub(crate) states: usize,
    /// Arrays by hand besides: the result, or room of its own.
    pub(crate) rooms: usize,
    /// True if the result is a number, and by hand there is a part of it in each thread's first
    /// element.
    pub(crate) is_sum: bool,
    /// Ways to do it by hand, each with what is special about it; the fastest is the bound.
    pub(crate) by_hand: Vec<HandLoop>,
    /// Steps in time within one run; times are for one of them.
    pub(crate) steps: usize,
    pub(crate) aim: Option<Aim>,
}

/// A way by hand: what is special about it, and what each thread does.
pub(crate) type HandLoop = (&'static str, fn(&Site<'_>));

/// Headings of the figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FigureGroup {
    /// Arrays in memory.
    Memory,
    /// Arrays in the caches.
    Caches,
    /// Kernels of the Parallel Research Kernels.
    Research,
    /// Arrays that move.
    Movements,
    /// Small programs.
    Small,
    /// The Python package.
    Python,
}

impl FigureGroup {
    /// All, in their order.
    pub const ALL: [Self; 6] =
        [Self::Memory, Self::Caches, Self::Research, Self::Movements, Self::Small, Self::Python];

    /// Its heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Memory => "Arrays in memory",
            Self::Caches => "Arrays in the caches",
            Self::Research => "Parallel Research Kernels, one iteration",
            Self::Movements => "Movements",
            Self::Small => "Small programs",
            Self::Python => "The Python package",
        }
    }
}

impl Case {
    /// What most cases have in common: one input, one result, one step in time, no aim. The
    /// program and the ways by hand are still missing.
    pub(crate) fn base(
        group: FigureGroup,
        name: &'static str,
        ranks: usize,
        shape: &[usize],
    ) -> Self {
        Self {
            group,
            name,
            ranks,
            shape: shape.to_vec(),
            text: String::new(),
            inputs: 1,
            states: 0,
            rooms: 1,
            is_sum: false,
            by_hand: Vec::new(),
            steps: 1,
            aim: None,
        }
    }

    /// Elements of one array.
    pub(crate) fn size(&self) -> usize {
        self.shape.iter().product()
    }

    /// Bytes that it needs: arrays of ours and by hand, and those that are compared.
    pub(crate) fn bytes(&self) -> usize {
        let arrays = 2 * (self.inputs + self.states) + self.rooms + self.states + 2;
        arrays.saturating_mul(self.size()).saturating_mul(8)
    }

    /// Numbers for an array, between 0.6 and 1.4: they look random and are always the same.
    pub(crate) fn numbers(&self, array: usize) -> Vec<f64> {
        let mut state = (array as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / (1u64 << 31) as f64
        };
        (0..self.size()).map(|_| 0.6 + 0.8 * next()).collect()
    }
}

/// The arrays of all threads that do a case by hand.
pub(crate) struct Bench {
    ranks: usize,
    rows: usize,
    columns: usize,
    inputs: Vec<Tile>,
    /// Per array, the rows of each thread.
    own: Vec<Vec<RwLock<Tile>>>,
}

/// What one of the threads sees.
pub(crate) struct Site<'a> {
    pub(crate) rank: usize,
    pub(crate) bench: &'a Bench,
    /// Where all threads meet.
    pub(crate) gate: &'a Gate,
}

impl Bench {
    /// Arrays with the same numbers as ours.
    pub(crate) fn new(case: &Case) -> Self {
        let (rows, columns) = (case.shape[0], case.shape[1..].iter().product());
        let mut bench =
            Self { ranks: case.ranks, rows, columns, inputs: Vec::new(), own: Vec::new() };
        for array in 0..case.inputs {
            bench.inputs.push(tile(&case.numbers(array)));
        }
        for array in 0..case.states + case.rooms {
            let known = (array < case.states).then(|| case.numbers(case.inputs + array));
            let part = |rank: usize| {
                let (from, to) = bench.part(rank);
                RwLock::new(match &known {
                    Some(known) => tile(&known[from * columns..to * columns]),
                    None => Tile::zeroed(DType::F64, (to - from) * columns),
                })
            };
            let parts = (0..case.ranks).map(part).collect();
            bench.own.push(parts);
        }
        bench
    }

    /// The rows of a thread.
    fn part(&self, rank: usize) -> (usize, usize) {
        (rank * self.rows / self.ranks, (rank + 1) * self.rows / self.ranks)
    }

    /// An array of the threads as a whole; a sum as one number.
    pub(crate) fn whole(&self, array: usize, is_sum: bool) -> Vec<f64> {
        let parts = self.own[array].iter().map(read);
        if is_sum {
            return vec![parts.filter_map(|part| part.as_slice::<f64>().first().copied()).sum()];
        }
        parts.flat_map(|part| part.to_vec::<f64>()).collect()
    }
}

/// A copy in memory like that of ours.
fn tile(numbers: &[f64]) -> Tile {
    let mut tile = Tile::zeroed(DType::F64, numbers.len());
    tile.as_mut_slice().copy_from_slice(numbers);
    tile
}

/// A thread that panicked has said so already.
fn read(part: &RwLock<Tile>) -> RwLockReadGuard<'_, Tile> {
    part.read().unwrap_or_else(PoisonError::into_inner)
}

impl Site<'_> {
    /// Rows of all arrays, and columns.
    pub(crate) fn extents(&self) -> (usize, usize) {
        (self.bench.rows, self.bench.columns)
    }

    /// The rows of this thread.
    pub(crate) fn rows(&self) -> (usize, usize) {
        self.bench.part(self.rank)
    }

    /// All of an array that is only read.
    pub(crate) fn input(&self, array: usize) -> &[f64] {
        self.bench.inputs[array].as_slice()
    }

    /// This thread's part of it.
    pub(crate) fn part(&self, array: usize) -> &[f64] {
        let ((from, to), columns) = (self.rows(), self.bench.columns);
        &self.input(array)[from * columns..to * columns]
    }

    /// This thread's part of an array that changes.
    pub(crate) fn own(&self, array: usize) -> RwLockWriteGuard<'_, Tile> {
        self.bench.own[array][self.rank].write().unwrap_or_else(PoisonError::into_inner)
    }

    /// All parts of an array that changes, to look at until all threads meet again.
    pub(crate) fn look(&self, array: usize) -> Vec<RwLockReadGuard<'_, Tile>> {
        self.bench.own[array].iter().map(read).collect()
    }

    /// A row of an array whose parts one looks at.
    pub(crate) fn row<'a>(&self, parts: &'a [RwLockReadGuard<'_, Tile>], row: usize) -> &'a [f64] {
        let (ranks, rows, columns) = (self.bench.ranks, self.bench.rows, self.bench.columns);
        // The one whose part, rounded down, has it, or the next.
        let mut rank = row * ranks / rows;
        while self.bench.part(rank).1 <= row {
            rank += 1;
        }
        &parts[rank].as_slice()[(row - self.bench.part(rank).0) * columns..][..columns]
    }
}
