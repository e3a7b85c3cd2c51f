//! The profiler hook: steps as they were run.

use std::time::Instant;

use super::prepare::{Prepared, PreparedTurns};

/// One step as this rank ran it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// The number of the step in the order of the executable's text: a loop before its steps.
    pub step: usize,
    /// When it began.
    pub start: Instant,
    /// When it had ended.
    pub end: Instant,
    /// Messages to other ranks.
    pub messages: u64,
    /// Bytes that other ranks got from this one.
    pub bytes: u64,
    /// What was computed while halos travelled.
    pub overlap: Option<Overlap>,
}

/// An exchange with a loop in it: messages are on their way from the start of the step until the
/// halos are there; the edges follow, to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Overlap {
    /// Messages were posted, and the interior began.
    pub posted: Instant,
    /// The interior had ended.
    pub interior: Instant,
    /// The halos were there, and the edges began.
    pub arrived: Instant,
}

/// The hook that is told about steps, and the number of the next one.
pub(crate) struct Profiler<'a> {
    tell: &'a mut dyn FnMut(&Event),
    number: usize,
}

impl<'a> Profiler<'a> {
    pub(crate) fn new(tell: &'a mut dyn FnMut(&Event)) -> Self {
        Self { tell, number: 0 }
    }

    /// The number of the step that begins now.
    pub(crate) fn next(&mut self) -> usize {
        self.number += 1;
        self.number - 1
    }

    /// The number that the next step gets.
    pub(crate) fn number(&self) -> usize {
        self.number
    }

    /// Goes on with another number: that of the first step of a loop, or behind its last one.
    pub(crate) fn go_to(&mut self, number: usize) {
        self.number = number;
    }

    pub(crate) fn tell(&mut self, event: &Event) {
        (self.tell)(event);
    }
}

impl PreparedTurns {
    /// Number of steps before every turn.
    pub(crate) fn steps(&self) -> usize {
        match self {
            Self::While { before, .. } => count(before),
            Self::Count { .. } => 0,
        }
    }
}

/// Number of steps, nested ones too.
pub(crate) fn count(steps: &[Prepared]) -> usize {
    let inside = |step: &Prepared| match step {
        Prepared::Repeat(repeat) => repeat.turns.steps() + count(&repeat.body),
        _ => 0,
    };
    steps.iter().map(|step| 1 + inside(step)).sum()
}
