//! A program on ranks, compared with what it means.

use std::sync::Arc;

use pantile_engine::{Engine, Runner, Tile};
use pantile_geometry::Distribution;
use pantile_ir::lower::{self, Executable, Setting};
use pantile_ir::reference::Array;
use pantile_ir::{Program, passes, text, verify};
use pantile_lanes::{Complex, DType, Element, Scalar};

use super::Trial;

/// The program for so many ranks: with everything that makes it fast, or without.
///
/// # Errors
/// If it cannot be lowered.
pub fn compile(trial: &Trial, ranks: usize, fast: bool) -> Result<Arc<Executable>, String> {
    let setting = setting(trial, ranks);
    let made = if fast {
        lower::compile(&trial.program, &setting)
    } else {
        let mut program = trial.program.clone();
        passes::values(&mut program);
        lower::lower(&program, &setting)
    };
    made.map(Arc::new).map_err(|error| format!("lower: {error}"))
}

/// The program with a place for every array, printed and read again, must become the same steps.
///
/// # Errors
/// What is different, or wrong with the placed program.
pub fn check_placed(trial: &Trial, ranks: usize) -> Result<(), String> {
    let setting = setting(trial, ranks);
    let mut program = trial.program.clone();
    passes::values(&mut program);
    let steps = |program: &Program| {
        let made = lower::lower(program, &setting).map_err(|error| format!("lower: {error}"))?;
        Ok::<String, String>(made.to_string())
    };
    let placed = lower::place(&program, &setting).map_err(|error| format!("place: {error}"))?;
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
    let mut setting = Setting { ranks, ..Setting::default() };
    if !trial.team.is_empty() {
        setting.teams.insert("1".to_owned(), trial.team.clone());
    }
    setting
}

/// Runs the program on one rank twice, and compares what the rank owns of the results. Collective.
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
    let home = |slot: lower::SlotId| &executable.slots[slot.index()].home;
    let given: Vec<Tile> = executable
        .arguments
        .iter()
        .zip(&trial.arguments)
        .map(|((slot, _), array)| tile(array, &owned(home(*slot), rank)))
        .collect();
    let results = &executable.results;
    if results.len() != expected.len() {
        return Err(format!("got {} results, expected {}", results.len(), expected.len()));
    }
    for round in 0..2 {
        let got = runner.run(engine, &given).map_err(|error| error.to_string())?;
        for (number, (tile, array)) in got.iter().zip(expected).enumerate() {
            let home = home(results[number].0);
            same(tile, array, home, rank)
                .map_err(|fault| format!("round {round}, result {number}, rank {rank}: {fault}"))?;
        }
    }
    Ok(())
}

/// The row-major numbers of the elements that a rank owns, in the order of its memory.
fn owned(home: &Distribution, rank: usize) -> Vec<usize> {
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
    found.into_iter().map(|(_, number)| number).collect()
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
fn tile(array: &Array, numbers: &[usize]) -> Tile {
    fn of<T: Element>(array: &Array, numbers: &[usize]) -> Tile {
        let element = |number: &usize| array.data[*number].get::<T>().unwrap_or_default();
        Tile::from_vec(numbers.iter().map(element).collect::<Vec<T>>())
    }
    match array.dtype {
        DType::Bool => of::<bool>(array, numbers),
        DType::I8 => of::<i8>(array, numbers),
        DType::I16 => of::<i16>(array, numbers),
        DType::I32 => of::<i32>(array, numbers),
        DType::I64 => of::<i64>(array, numbers),
        DType::U8 => of::<u8>(array, numbers),
        DType::U16 => of::<u16>(array, numbers),
        DType::U32 => of::<u32>(array, numbers),
        DType::U64 => of::<u64>(array, numbers),
        DType::F32 => of::<f32>(array, numbers),
        DType::F64 => of::<f64>(array, numbers),
        DType::C64 => of::<Complex<f32>>(array, numbers),
        DType::C128 => of::<Complex<f64>>(array, numbers),
    }
}

fn same(tile: &Tile, array: &Array, home: &Distribution, rank: usize) -> Result<(), String> {
    if (tile.dtype(), home.shape()) != (array.dtype, &array.shape[..]) {
        return Err(format!(
            "got {} of shape {:?}, expected {} of shape {:?}",
            tile.dtype(),
            home.shape(),
            array.dtype,
            array.shape
        ));
    }
    let numbers = owned(home, rank);
    if tile.len() != numbers.len() {
        return Err(format!("got {} elements, owns {} of {home}", tile.len(), numbers.len()));
    }
    let nobody = (0..array.data.len())
        .find(|number| home.holders(&index_of(&array.shape, *number)).is_empty());
    if let Some(number) = nobody {
        return Err(format!("nobody has element {:?} of {home}", index_of(&array.shape, number)));
    }
    let bytes = array.dtype.bytes();
    for (got, number) in tile.as_bytes().chunks(bytes).zip(&numbers) {
        let expected = array.data[*number];
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
