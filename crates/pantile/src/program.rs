//! Program texts on ranks: compiled once, then run by every rank, or by an executor's ranks elsewhere.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pantile_comm::CollectiveSignature;
use pantile_engine::{
    ArrayId, ArrayIds, Counters, DType, Engine, Error, Event, ExecutorHandle, Job, Runner, Tile,
};
use pantile_geometry::{Distribution, Fingerprint, Rank};
use pantile_ir::Program;
use pantile_lower::{CompileUnit, Executable, LowerError, Setting};
use pantile_spmd::RankContext;

/// A program that was compiled for so many ranks, with what it was compiled from.
///
/// ```
/// use pantile::lower::Setting;
/// use pantile::ir::text::parse;
/// use pantile::program::CompiledProgram;
///
/// let text = r#"func.func @main() -> !ndarray.ndarray<3xf64, #pantile.dist<"block(r)">> {
///     %two = arith.constant 2.0 : f64
///     %list = ndarray.create value %two : (f64) -> !ndarray.ndarray<3xf64, #pantile.dist<"block(r)">>
///     return %list : !ndarray.ndarray<3xf64, #pantile.dist<"block(r)">>
/// }"#;
/// let program = parse(text, "two").map_err(|faults| faults[0].clone())?;
/// let setting = Setting { ranks: 2, ..Setting::default() };
/// let program = CompiledProgram::compile(program, setting)?;
/// let lengths = pantile::Launch::threads(2).run(|rank| {
///     let (results, _) = program.on_rank(rank)?.run(&[], None)?;
///     Ok::<_, pantile::Error>(results[0].len())
/// })?;
/// assert_eq!(lengths, [2, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct CompiledProgram {
    program: Program,
    setting: Setting,
    executable: Arc<Executable>,
}

/// What one run of a program took, on all its ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunCost {
    /// Messages between ranks.
    pub messages: u64,
    /// Bytes in them.
    pub bytes: u64,
    /// From start to end, where it was measured.
    pub took: Duration,
}

impl RunCost {
    fn between(before: Counters, after: Counters, start: Instant) -> Self {
        Self {
            messages: after.messages.saturating_sub(before.messages),
            bytes: after.bytes.saturating_sub(before.bytes),
            took: start.elapsed(),
        }
    }
}

impl CompiledProgram {
    /// Compiles a program.
    ///
    /// # Errors
    /// What in it cannot be compiled for these ranks and arguments, with its place.
    pub fn compile(program: Program, setting: Setting) -> Result<Self, LowerError> {
        let executable = Arc::new(pantile_lower::compile(&program, &setting)?);
        Ok(Self { program, setting, executable })
    }

    /// What ranks run.
    #[must_use]
    pub fn executable(&self) -> &Arc<Executable> {
        &self.executable
    }

    /// How an argument is distributed.
    #[must_use]
    pub fn argument(&self, number: usize) -> &Distribution {
        let (slot, _) = &self.executable.arguments[number];
        &self.executable.slots[slot.index()].home
    }

    /// How a result is distributed.
    #[must_use]
    pub fn result(&self, number: usize) -> &Distribution {
        let (slot, _) = &self.executable.results[number];
        &self.executable.slots[slot.index()].home
    }

    /// The program, ready to run on this rank, as often as one likes. Collective.
    ///
    /// # Errors
    /// A rank has not the memory, or the ranks cannot work together.
    pub fn on_rank<'a>(&'a self, rank: &'a RankContext) -> Result<RankProgram<'a>, Error> {
        let mut engine = rank.engine();
        let runner = Runner::new(&mut engine, Arc::clone(&self.executable))?;
        engine.barrier()?;
        drop(engine);
        Ok(RankProgram { rank, runner })
    }

    /// Runs the program on the ranks of an executor. `argument` gives the elements of an argument that
    /// a rank owns; of the results that ranks own come those that are `wanted`, for every rank in the
    /// order of results, and empty tiles instead of the others.
    ///
    /// # Errors
    /// What `argument` says, or the ranks: then nothing stays there.
    pub fn run_on<E: From<Error>>(
        &self,
        executor: &mut ExecutorHandle,
        argument: impl Fn(usize, Rank) -> Result<Tile, E>,
        wanted: impl Fn(usize, Rank) -> bool,
    ) -> Result<(Vec<Vec<Tile>>, RunCost), E> {
        let ids = |from: usize, count: usize| (from..from + count).map(|id| ArrayId(id as u64));
        let arguments: ArrayIds = ids(0, self.executable.arguments.len()).collect();
        let results = ids(arguments.len(), self.executable.results.len()).collect();
        for (number, id) in arguments.iter().enumerate() {
            let tiles = (0..self.executable.ranks).map(|rank| argument(number, rank));
            let mut tiles = tiles.collect::<Result<Vec<Tile>, E>>()?.into_iter();
            let nothing = || Tile::zeroed(DType::U8, 0);
            executor.put(*id, |_| tiles.next().unwrap_or_else(nothing))?;
        }
        let job = self.job(arguments, results);
        let (before, start) = (executor.counters(), Instant::now());
        executor.run(&job)?;
        let cost = RunCost::between(before, executor.counters(), start);
        Ok((self.fetch(executor, &job.results, wanted)?, cost))
    }

    fn job(&self, arguments: ArrayIds, results: ArrayIds) -> Arc<Job> {
        let setting = Box::new(self.setting.clone());
        let unit = CompileUnit::Program(Arc::new(self.program.clone()), setting);
        Arc::new(Job {
            key: Fingerprint::of(&unit.to_string()).0,
            executable: Arc::clone(&self.executable),
            unit: Arc::new(unit),
            parameters: Vec::new(),
            arguments,
            results,
            forget: ArrayIds::new(),
            inline: false,
        })
    }

    /// What is wanted of results, for every rank.
    fn fetch(
        &self,
        executor: &mut ExecutorHandle,
        results: &[ArrayId],
        wanted: impl Fn(usize, Rank) -> bool,
    ) -> Result<Vec<Vec<Tile>>, Error> {
        let ranks = self.executable.ranks;
        let mut tiles: Vec<Vec<Tile>> = (0..ranks).map(|_| Vec::new()).collect();
        for (number, id) in results.iter().enumerate() {
            let (slot, _) = self.executable.results[number];
            let dtype = self.executable.slots[slot.index()].dtype;
            for own in &mut tiles {
                own.push(Tile::zeroed(dtype, 0));
            }
            let from: Vec<Rank> = (0..ranks).filter(|rank| wanted(number, *rank)).collect();
            for (rank, tile) in executor.get(*id, &from)? {
                let owned = self.executable.local_owned(slot, rank);
                let expected = owned.map_or(0, |(shape, _)| shape.iter().product());
                if (tile.dtype(), tile.len()) != (dtype, expected) {
                    let reason = format!(
                        "rank {rank} gave {} elements of {} for result {number}, expected {expected} \
                         of {dtype}",
                        tile.len(),
                        tile.dtype()
                    );
                    return Err(Error::Elsewhere { reason });
                }
                tiles[rank][number] =
                    Arc::try_unwrap(tile).unwrap_or_else(|tile| Tile::clone(&tile));
            }
        }
        Ok(tiles)
    }
}

/// A program on one rank.
pub struct RankProgram<'a> {
    rank: &'a RankContext,
    runner: Runner,
}

impl RankProgram<'_> {
    /// Runs the program: from the elements of the arguments that this rank owns to those of the
    /// results. `profiler` is told about every step when it has ended. Collective.
    ///
    /// # Errors
    /// Arguments do not fit, or the ranks cannot work together.
    pub fn run(
        &mut self,
        arguments: &[&Tile],
        profiler: Option<&mut dyn FnMut(&Event)>,
    ) -> Result<(Vec<Tile>, RunCost), Error> {
        let mut engine = self.rank.engine();
        let (before, start) = (engine.counters(), Instant::now());
        let results = match profiler {
            None => self.runner.run_on(&mut engine, arguments)?,
            Some(profiler) => self.runner.run_profiled(&mut engine, arguments, profiler)?,
        };
        let own = RunCost::between(before, engine.counters(), start);
        Ok((results, total(&mut engine, own)?))
    }
}

/// The cost of all ranks together.
fn total(engine: &mut Engine, own: RunCost) -> Result<RunCost, Error> {
    let team: Vec<Rank> = (0..engine.size()).collect();
    let record = [own.messages.to_le_bytes(), own.bytes.to_le_bytes()].concat();
    let mut sum = RunCost { messages: 0, bytes: 0, ..own };
    for record in engine.gather(&CollectiveSignature::here("counters", 0), &team, &record)? {
        let number = |at: usize| {
            let bytes = record.get(8 * at..8 * at + 8).and_then(|bytes| bytes.try_into().ok());
            bytes.map_or(0, u64::from_le_bytes)
        };
        sum.messages += number(0);
        sum.bytes += number(1);
    }
    Ok(sum)
}
