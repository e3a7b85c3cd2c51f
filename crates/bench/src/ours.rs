//! The program of a case on ranks that wait for it: text to steps to results.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};
use pantile_comm::Options;
use pantile_engine::{ArrayId, ArrayIds, DType, ExecutorHandle, Job, Tile};
use pantile_geometry::{Distribution, OwnedRun};
use pantile_ir::Program;
use pantile_lower::{CompileUnit, Executable, Lent, Setting, owned_places};

use super::case::Case;

/// A program that is ready to run, with its arrays.
pub(crate) struct Ours {
    executor: ExecutorHandle,
    job: Arc<Job>,
    /// Where its results live.
    homes: Vec<Distribution>,
}

impl Ours {
    /// Lowers the program of a case, and gives the ranks their arrays.
    ///
    /// # Errors
    /// The program is wrong.
    pub(crate) fn new(case: &Case) -> Result<Self> {
        let program = pantile_ir::text::parse(&case.text, case.name).map_err(|faults| {
            anyhow!("{}", faults.iter().map(ToString::to_string).collect::<String>())
        })?;
        let (executable, unit, homes) = lowered(case, &Arc::new(program))?;
        let unit = Arc::new(unit);
        let mut executor = ExecutorHandle::threads(case.ranks, &Options::default());
        for (array, home) in homes.iter().enumerate() {
            let numbers = case.numbers(array);
            executor.put(name(array), |rank| scattered(home, rank, &numbers))?;
        }
        // What changes keeps its name; another result makes room for the next one.
        let results: ArrayIds = match case.states {
            0 => [ArrayId(u64::MAX)].into_iter().collect(),
            _ => (case.inputs..homes.len()).map(name).collect(),
        };
        let forget = if case.states == 0 { results.clone() } else { ArrayIds::new() };
        let inline = executable.runs_inline();
        let made = executable.results.iter().map(|(slot, _)| home(&executable, slot.index()));
        let made = made.collect();
        let arguments = (0..homes.len()).map(name).collect();
        let executable = Arc::new(executable);
        let numbers = Vec::new();
        let job = Job {
            executable,
            unit,
            key: 0,
            parameters: numbers,
            arguments,
            results,
            forget,
            inline,
        };
        Ok(Self { executor, job: Arc::new(job), homes: made })
    }

    /// Seconds for each of so many runs.
    ///
    /// # Errors
    /// A rank failed.
    pub(crate) fn run(&mut self, calls: usize) -> Result<f64> {
        let start = Instant::now();
        for _ in 0..calls {
            self.executor.run(&self.job)?;
        }
        Ok(start.elapsed().as_secs_f64() / calls as f64)
    }

    /// A result as a whole.
    ///
    /// # Errors
    /// It is not there.
    pub(crate) fn whole(&mut self, result: usize) -> Result<Vec<f64>> {
        let home = self.homes.get(result).context("a program has this result")?;
        let mut whole = vec![0.0; home.shape().iter().product()];
        let hosted = self.executor.hosted();
        for (rank, tile) in self.executor.get(self.job.results[result], &hosted)? {
            for run in owned_runs(home, rank) {
                let own = &tile.as_slice::<f64>()[run.local..][..run.count];
                whole[run.global..][..run.count].copy_from_slice(own);
            }
        }
        Ok(whole)
    }
}

fn name(array: usize) -> ArrayId {
    ArrayId(array as u64)
}

fn home(executable: &Executable, slot: usize) -> Distribution {
    executable.slots[slot].home.clone()
}

/// The program for arrays that lie as a program in a row of such programs has them: with the room
/// that it needs, and what it changes as it leaves it behind.
fn lowered(
    case: &Case,
    program: &Arc<Program>,
) -> Result<(Executable, CompileUnit, Vec<Distribution>)> {
    let setting = Setting { ranks: case.ranks, remote_reads: true, ..Setting::default() };
    let mut executable = pantile_lower::compile(program, &setting)?;
    for _ in 0..4 {
        let arguments = executable.arguments.iter().enumerate();
        let lent = arguments.map(|(number, (slot, _))| match number.checked_sub(case.inputs) {
            None => Lent { home: home(&executable, slot.index()), spent: false },
            Some(state) => {
                let (slot, _) = executable.results[state];
                Lent { home: home(&executable, slot.index()), spent: true }
            }
        });
        let lent: Vec<Lent> = lent.collect();
        let homes: Vec<Distribution> = lent.iter().map(|lent| lent.home.clone()).collect();
        let setting = Setting { lent: Some(lent), ..setting.clone() };
        let unit = CompileUnit::Program(Arc::clone(program), Box::new(setting));
        executable = unit.compile()?;
        let stay = executable.results.iter().zip(&homes[case.inputs..]);
        let mut stay = stay.map(|((slot, _), before)| home(&executable, slot.index()) == *before);
        if stay.all(|same| same) {
            return Ok((executable, unit, homes));
        }
    }
    bail!("{}: the program never leaves its arrays as it found them", case.name)
}

/// The elements that a rank owns, in the whole array and in its memory.
fn owned_runs(home: &Distribution, rank: usize) -> Vec<OwnedRun> {
    let owned = home.owned_elements(rank).zip(owned_places(home, rank));
    let number = |place: isize| usize::try_from(place).unwrap_or(0);
    owned.map_or_else(Vec::new, |(owned, (_, places))| {
        let strides: Vec<usize> = places.strides.into_iter().map(number).collect();
        owned.runs_in(number(places.offset), &strides).collect()
    })
}

/// A rank's memory with its part of an array.
fn scattered(home: &Distribution, rank: usize, whole: &[f64]) -> Tile {
    let room = home.local_shape(rank).map_or(0, |shape| shape.iter().product());
    let mut tile = Tile::zeroed(DType::F64, room);
    for run in owned_runs(home, rank) {
        let own = &mut tile.as_mut_slice::<f64>()[run.local..][..run.count];
        own.copy_from_slice(&whole[run.global..][..run.count]);
    }
    tile
}
