//! A program on ranks, compared with what it means.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pantile_engine::{ArrayId, ArrayIds, Engine, ExecutorHandle, Job, Runner, Tile};
use pantile_geometry::{Distribution, Fingerprint};
use pantile_ir::reference::Array;
use pantile_ir::{Env, Program, text, verify};
use pantile_lanes::{Complex, DType, Element, Scalar, dispatch};
use pantile_lower::{CompileUnit, Executable, Lent, Setting};

use super::Trial;

/// The program for so many ranks: with everything that makes it fast, or without.
///
/// # Errors
/// If it cannot be lowered.
pub fn compile(trial: &Trial, ranks: usize, fast: bool) -> Result<Arc<Executable>, String> {
    let setting = setting(trial, ranks);
    let made = if fast {
        pantile_lower::compile(&trial.program, &setting)
    } else {
        let mut program = trial.program.clone();
        pantile_lower::values(&mut program);
        pantile_lower::lower(&program, &setting)
    };
    let made = made.map_err(|error| format!("lower: {error}"))?;
    check_homes(&made, &setting)?;
    Ok(Arc::new(made))
}

/// Results live where their types say.
fn check_homes(executable: &Executable, setting: &Setting) -> Result<(), String> {
    for (number, (slot, ty)) in executable.results.iter().enumerate() {
        let says = |env: &Env| matches!(env, Env::Dist(_) | Env::Placement(_));
        if !ty.as_array().is_some_and(|array| array.envs.iter().any(says)) {
            continue;
        }
        let (got, said) = (executable.plain_home(*slot), pantile_lower::home_of(ty, setting));
        let said = said.map_err(|error| error.to_string())?;
        if got != said {
            return Err(format!("result {number} lives at {got}, expected {said}"));
        }
    }
    Ok(())
}

/// The program for arguments that are read where they are: some with the room that the program
/// needs, some with more or none, some of which it may spend.
///
/// # Errors
/// If it cannot be lowered.
pub fn compile_lent(trial: &Trial, ranks: usize) -> Result<Arc<Executable>, String> {
    let made = recipe_lent(trial, ranks)?.compile();
    made.map(Arc::new).map_err(|error| format!("lower: {error}"))
}

fn recipe_lent(trial: &Trial, ranks: usize) -> Result<CompileUnit, String> {
    let alone = compile(trial, ranks, true)?;
    let lent = alone.arguments.iter().enumerate().map(|(number, (slot, _))| {
        let plain = alone.plain_home(*slot);
        let home = match (number + ranks) % 3 {
            0 => plain,
            1 => alone.slots[slot.index()].home.clone(),
            _ => with_room(&plain),
        };
        Lent { home, spent: (number + trial.arguments.len()).is_multiple_of(2) }
    });
    let setting = Setting { lent: Some(lent.collect()), ..setting(trial, ranks) };
    Ok(CompileUnit::Program(Arc::new(trial.program.clone()), Box::new(setting)))
}

/// Runs the program by an executor, wherever its ranks are: arguments are put, results are fetched and
/// compared on every rank, and everything is forgotten.
///
/// # Errors
/// The first difference, or the error of the run.
pub fn by_executor(
    executor: &mut ExecutorHandle,
    trial: &Trial,
    expected: &[Array],
) -> Result<(), String> {
    let ranks = executor.size();
    let unit = recipe_lent(trial, ranks)?;
    let executable = unit.compile().map_err(|error| format!("lower: {error}"))?;
    // Names are never used again: ranks that are elsewhere forget when they get to it.
    static NAMES: AtomicU64 = AtomicU64::new(1);
    let names = |count: usize| -> Vec<ArrayId> {
        let first = NAMES.fetch_add(count as u64, Ordering::Relaxed);
        (first..).map(ArrayId).take(count).collect()
    };
    let arguments = names(trial.arguments.len());
    let lent = executable.lent.clone().unwrap_or_default();
    for ((id, array), lent) in arguments.iter().zip(&trial.arguments).zip(&lent) {
        let put = executor.put(*id, |rank| in_room(array, &lent.home, rank));
        put.map_err(|error| error.to_string())?;
    }
    let results = names(expected.len());
    let job = Job {
        executable: Arc::new(executable),
        key: Fingerprint::of(&unit.to_string()).0,
        unit: Arc::new(unit),
        parameters: Vec::new(),
        arguments: arguments.clone().into(),
        results: results.clone().into(),
        forget: ArrayIds::new(),
        inline: false,
    };
    let job = Arc::new(job);
    executor.run(&job).map_err(|error| error.to_string())?;
    let all: Vec<usize> = (0..ranks).collect();
    for (number, (id, array)) in results.iter().zip(expected).enumerate() {
        let (slot, _) = job.executable.results[number];
        let home = &job.executable.slots[slot.index()].home;
        for (rank, tile) in executor.get(*id, &all).map_err(|error| error.to_string())? {
            same(&tile, array, (home, true), rank)
                .map_err(|fault| format!("result {number}, rank {rank}: {fault}"))?;
        }
    }
    executor.forget(&arguments);
    executor.forget(&results);
    Ok(())
}

/// Blocks with room around them.
fn with_room(home: &Distribution) -> Distribution {
    let text = home.to_string();
    let Some((mesh, axes)) = text.split_once(": ") else { return home.clone() };
    let wider = axes.split(", ").map(|axis| match axis.starts_with("block(") {
        true => format!("{axis} room halo 2 1"),
        false => axis.to_owned(),
    });
    let wider = wider.collect::<Vec<_>>().join(", ");
    format!("{mesh}: {wider}").parse().unwrap_or_else(|_| home.clone())
}

/// The program with a place for every array, printed and read again, must become the same steps.
///
/// # Errors
/// What is different, or wrong with the placed program.
pub fn check_placed(trial: &Trial, ranks: usize) -> Result<(), String> {
    let setting = setting(trial, ranks);
    let mut program = trial.program.clone();
    pantile_lower::values(&mut program);
    let steps = |program: &Program| {
        let made =
            pantile_lower::lower(program, &setting).map_err(|error| format!("lower: {error}"))?;
        Ok::<String, String>(made.to_string())
    };
    let placed =
        pantile_lower::place(&program, &setting).map_err(|error| format!("place: {error}"))?;
    let text = placed.to_string();
    let again =
        text::parse(&text, "placed").map_err(|faults| format!("placed: {}\n{text}", faults[0]))?;
    verify::verify(&again).map_err(|found| format!("placed: {}\n{text}", found[0]))?;
    let (before, after) = (steps(&program)?, steps(&again)?);
    match before == after {
        true => Ok(()),
        false => Err(format!("placed: other steps\n{before}\n{text}\n{after}")),
    }
}

fn setting(trial: &Trial, ranks: usize) -> Setting {
    // One exchange of halos serves one step in time, or two, or three.
    let operations = trial.program.entry().map_or(0, |entry| entry.body.operations.len());
    let steps_per_exchange = 1 + (operations + ranks) % 3;
    let remote_reads = !operations.is_multiple_of(4);
    let mut setting = Setting { ranks, steps_per_exchange, remote_reads, ..Setting::default() };
    if !trial.team.is_empty() {
        setting.teams.insert("1".to_owned(), trial.team.clone());
    }
    setting
}

/// Runs the program on one rank twice, and compares what the rank owns of the results. Collective.
/// Of a program that was compiled for arguments that are lent, tiles have room around them.
///
/// # Errors
/// The first difference, or the error of the run.
pub fn on_rank(
    engine: &mut Engine,
    executable: &Arc<Executable>,
    trial: &Trial,
    expected: &[Array],
) -> Result<(), String> {
    let rank = engine.rank();
    let mut runner = Runner::new(engine, Arc::clone(executable)).map_err(|e| e.to_string())?;
    let home = |slot: pantile_lower::SlotId| &executable.slots[slot.index()].home;
    let given: Vec<Tile> = executable
        .arguments
        .iter()
        .zip(&trial.arguments)
        .enumerate()
        .map(|(number, ((slot, _), array))| match &executable.lent {
            None => tile(array, &owned(home(*slot), rank).collect::<Vec<_>>()),
            Some(lent) => in_room(array, &lent[number].home, rank),
        })
        .collect();
    let results = &executable.results;
    if results.len() != expected.len() {
        return Err(format!("got {} results, expected {}", results.len(), expected.len()));
    }
    for round in 0..2 {
        let got = runner.run(engine, &given).map_err(|error| error.to_string())?;
        for (number, (tile, array)) in got.iter().zip(expected).enumerate() {
            let home = home(results[number].0);
            same(tile, array, (home, executable.lent.is_some()), rank)
                .map_err(|fault| format!("round {round}, result {number}, rank {rank}: {fault}"))?;
        }
    }
    Ok(())
}

/// The row-major numbers of the elements that a rank owns, in the order of its memory.
pub(super) fn owned(home: &Distribution, rank: usize) -> impl Iterator<Item = usize> {
    placed(home, rank).into_iter().map(|(_, number)| number)
}

/// The tile of a rank with the room around it.
fn in_room(array: &Array, home: &Distribution, rank: usize) -> Tile {
    let shape = home.local_shape(rank).unwrap_or_else(|| vec![0]);
    // Any element will do that no rank looks at; none are needed if there are none at all.
    let mut numbers = vec![0; shape.iter().product()];
    if array.data.is_empty() {
        return Tile::zeroed(array.dtype, numbers.len());
    }
    for (local, number) in placed(home, rank) {
        numbers[number_of(&shape, &local)] = number;
    }
    tile(array, &numbers)
}

fn number_of(shape: &[usize], index: &[usize]) -> usize {
    shape.iter().zip(index).fold(0, |number, (length, at)| number * length + at)
}

/// Where a rank has which elements, in the order of its memory.
fn placed(home: &Distribution, rank: usize) -> Vec<(Vec<usize>, usize)> {
    let shape = home.shape();
    let mut found: Vec<(Vec<usize>, usize)> = Vec::new();
    for number in 0..shape.iter().product() {
        let index = index_of(shape, number);
        for holder in home.holders(&index).iter().filter(|holder| holder.rank == rank) {
            let local = home.local(rank, &holder.lifts, &index).unwrap_or_default();
            found.push((local, number));
        }
    }
    found.sort();
    found
}

fn index_of(shape: &[usize], mut number: usize) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (at, length) in index.iter_mut().zip(shape).rev() {
        *at = number % length;
        number /= length;
    }
    index
}

/// These elements of an array.
pub(super) fn tile(array: &Array, numbers: &[usize]) -> Tile {
    fn of<T: Element>(array: &Array, numbers: &[usize]) -> Tile {
        let element = |number: &usize| array.data[*number].get::<T>().unwrap_or_default();
        Tile::from_vec(numbers.iter().map(element).collect::<Vec<T>>())
    }
    dispatch!(array.dtype, T => of::<T>(array, numbers))
}

pub(super) fn same(
    tile: &Tile,
    array: &Array,
    (home, with_room): (&Distribution, bool),
    rank: usize,
) -> Result<(), String> {
    if (tile.dtype(), home.shape()) != (array.dtype, &array.shape[..]) {
        return Err(format!(
            "got {} of shape {:?}, expected {} of shape {:?}",
            tile.dtype(),
            home.shape(),
            array.dtype,
            array.shape
        ));
    }
    let places = placed(home, rank);
    let room = home.local_shape(rank).unwrap_or_else(|| vec![0]);
    let expected = if with_room { room.iter().product() } else { places.len() };
    if tile.len() != expected {
        return Err(format!("got {} elements, expected {expected} of {home}", tile.len()));
    }
    // One rank looks for all.
    let nobody = (0..if rank == 0 { array.data.len() } else { 0 })
        .find(|number| home.holders(&index_of(&array.shape, *number)).is_empty());
    if let Some(number) = nobody {
        return Err(format!("nobody has element {:?} of {home}", index_of(&array.shape, number)));
    }
    let bytes = array.dtype.bytes();
    for (at, (local, number)) in places.iter().enumerate() {
        let at = if with_room { number_of(&room, local) } else { at };
        let (got, expected) = (&tile.as_bytes()[at * bytes..][..bytes], array.data[*number]);
        if got != expected.as_bytes() {
            return Err(format!(
                "at {:?} of {home}: got {}, expected {}",
                index_of(&array.shape, *number),
                shown(array.dtype, got),
                shown(array.dtype, expected.as_bytes())
            ));
        }
    }
    Ok(())
}

/// An element and its bytes.
fn shown(dtype: DType, bytes: &[u8]) -> String {
    let value = Scalar::from_bytes(dtype, bytes);
    let number = value.and_then(|value| match dtype {
        DType::F32 => value.get::<f32>().map(|x| x.to_string()),
        DType::F64 => value.get::<f64>().map(|x| x.to_string()),
        DType::C64 => value.get::<Complex<f32>>().map(|x| x.to_string()),
        DType::C128 => value.get::<Complex<f64>>().map(|x| x.to_string()),
        DType::I64 => value.get::<i64>().map(|x| x.to_string()),
        _ => None,
    });
    format!("{} {bytes:02x?}", number.unwrap_or_default())
}
