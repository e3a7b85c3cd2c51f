//! Loops around steps: memories trade places instead of being copied.

use pantile_lower::{Carried, Executable, SlotId};

use super::prepare::{PreparedRepeat, PreparedTurns};
use super::profiler::{Profiler, count};
use super::run::Running;
use crate::Error;

impl Running<'_, '_> {
    pub(crate) fn repeat(&mut self, repeat: &PreparedRepeat) -> Result<(), Error> {
        for (from, to) in &repeat.entry {
            let [from, to] = self.tiles.get_disjoint_mut([*from, *to]).expect("two memories");
            to.copy_from(from);
        }
        let first = self.profiler.as_ref().map(Profiler::number);
        match &repeat.turns {
            PreparedTurns::Count { lower, upper, step, counter } => {
                let [mut at, upper, step] = [lower, upper, step].map(|tile| self.integer(*tile));
                if step < 1 {
                    let error = Error::Step { rank: self.engine.rank(), got: step };
                    self.engine.fail(None, &error);
                    return Err(error);
                }
                while at < upper {
                    self.tiles[*counter].as_mut_slice::<i64>()[0] = at;
                    self.go_to(first, 0);
                    self.turn(repeat)?;
                    let Some(next) = at.checked_add(step) else { break };
                    at = next;
                }
            }
            PreparedTurns::While { before, condition } => loop {
                self.go_to(first, 0);
                self.steps(before)?;
                let truth = self.tiles[*condition].as_slice::<bool>();
                if !truth.first().copied().unwrap_or(false) {
                    break;
                }
                self.turn(repeat)?;
            },
        }
        if first.is_some() {
            self.go_to(first, count(&repeat.body) + repeat.turns.steps());
        }
        Ok(())
    }

    /// The steps that follow are numbered from the first one of a loop on, or so far behind it.
    fn go_to(&mut self, first: Option<usize>, behind: usize) {
        if let (Some(profiler), Some(first)) = (&mut self.profiler, first) {
            profiler.go_to(first + behind);
        }
    }

    /// One turn; what was for the next one is current then, and the memory left over is used again.
    fn turn(&mut self, repeat: &PreparedRepeat) -> Result<(), Error> {
        self.engine.check_stop()?;
        self.steps(&repeat.body)?;
        repeat.swaps.iter().for_each(|(one, other)| self.tiles.swap(*one, *other));
        Ok(())
    }

    fn integer(&self, tile: usize) -> i64 {
        self.tiles[tile].as_slice::<i64>().first().copied().unwrap_or(0)
    }
}

/// Swaps that move tiles from where they are for the next turn to where they are current, all at
/// once; places to which no tile moves get the tiles that did not move.
pub(crate) fn swaps(executable: &Executable, carried: &[Carried]) -> Vec<(usize, usize)> {
    let buffer = |slot: SlotId| executable.slots[slot.index()].buffer;
    let mut swaps: Vec<(usize, usize)> = Vec::new();
    for one in carried {
        // Where earlier swaps have carried the tile.
        let place = swaps.iter().fold(buffer(one.next), |at, (a, b)| match at {
            at if at == *a => *b,
            at if at == *b => *a,
            at => at,
        });
        if place != buffer(one.current) {
            swaps.push((place, buffer(one.current)));
        }
    }
    swaps
}
