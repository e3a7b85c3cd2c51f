//! What becomes of results: files, or text.

use std::path::PathBuf;

use anyhow::{Result, anyhow, bail};
use pantile::npy;
use pantile::program::CompiledProgram;
use pantile_comm::CollectiveSignature;
use pantile_engine::{Engine, Tile};
use pantile_geometry::OwnedElements;
use pantile_ir::{ArrayType, Op, Operation, Program, Reduction, Type, infer};
use pantile_lanes::DType;
use pantile_lower::SlotId;

use crate::numbers;
use crate::program::{no_such, position, result_names, show};

/// Arrays of up to so many elements are printed whole.
const WHOLE_MAX: usize = 1000;

/// So many elements of larger ones are printed at each end.
const ENDS: usize = 3;

/// What becomes of the results of a program.
pub(super) struct Outputs {
    results: Vec<ResultOutput>,
}

struct ResultOutput {
    name: String,
    shape: Vec<usize>,
    dtype: DType,
    /// The file it goes to; else it is printed.
    file: Option<PathBuf>,
    /// The result that is its sum, if it is too large to be printed.
    sum: Option<usize>,
}

impl Outputs {
    /// What is asked for, for the results of an executable.
    ///
    /// # Errors
    /// A result that does not exist, or is asked for twice.
    pub(super) fn new(
        program: &Program,
        compiled: &CompiledProgram,
        pairs: &[(String, String)],
    ) -> Result<Self> {
        let Some(entry) = program.entry() else { bail!("the program has no function") };
        let (names, executable) = (result_names(entry), compiled.executable());
        let output = |((slot, _), name): (&(SlotId, Type), &String)| {
            let slot = &executable.slots[slot.index()];
            let (name, shape) = (name.clone(), slot.home.shape().to_vec());
            ResultOutput { name, shape, dtype: slot.dtype, file: None, sum: None }
        };
        let mut results: Vec<ResultOutput> =
            executable.results.iter().zip(&names).map(output).collect();
        for (name, file) in pairs {
            let at =
                position(&names, name).ok_or_else(|| no_such("result", entry, name, &names))?;
            if let Some(other) =
                results.iter().find(|one| one.file.as_deref() == Some(file.as_ref()))
            {
                bail!("--out {name}={file}: {} goes to that file, too", other.name);
            }
            if results[at].file.replace(PathBuf::from(file)).is_some() {
                bail!("--out {name}: the result is asked for twice");
            }
        }
        Ok(Self { results })
    }

    /// The program that also gives the sums of results that are too large to be printed, if there
    /// are any.
    pub(super) fn with_sums(&mut self, program: &Program) -> Option<Program> {
        let mut program = program.clone();
        let name = program.entry()?.name.clone();
        let function = program.functions.iter_mut().find(|function| function.name == name)?;
        let last = function.body.operations.iter().rposition(|one| one.op == Op::Return)?;
        let returned = function.body.operations[last].operands.clone();
        let mut sums = Vec::new();
        for (output, value) in self.results.iter_mut().zip(&returned) {
            let size: usize = output.shape.iter().product();
            if output.file.is_some() || size <= WHOLE_MAX {
                continue;
            }
            let Ok(dtype) = infer::reduced_dtype(Reduction::Sum, output.dtype) else { continue };
            let ty = Type::Array(ArrayType::new(&[], dtype));
            let sum = function.value(ty.clone());
            let (axes, keepdims, correction) = (None, false, 0);
            let reduction = Reduction::Sum.into();
            let op = Op::Reduce { reduction, axes, keepdims, correction };
            sums.push(Operation::new(op, vec![*value], vec![sum]));
            output.sum = Some(function.results.len());
            function.results.push(ty);
            function.body.operations[last].operands.push(sum);
        }
        let any = !sums.is_empty();
        function.body.operations.splice(last..last, sums);
        any.then_some(program)
    }

    /// Sees that files can be written, before anything is computed.
    ///
    /// # Errors
    /// The first one that cannot.
    pub(super) fn try_files(&self) -> Result<()> {
        for path in self.results.iter().filter_map(|output| output.file.as_ref()) {
            let opened = std::fs::OpenOptions::new().create(true).append(true).open(path);
            opened.map_err(|error| anyhow!("{} cannot be written: {error}", path.display()))?;
        }
        Ok(())
    }

    /// True if [`Outputs::finish`] wants to see what a rank has of a result.
    pub(super) fn wants(&self, program: &CompiledProgram, at: usize, rank: usize) -> bool {
        let Some(owned) = first_owned(program, at, rank).filter(|owned| !owned.is_empty()) else {
            return false;
        };
        match self.results.get(at) {
            Some(output) if output.file.is_none() => {
                let wanted = wanted(output.shape.iter().product());
                wanted.into_iter().any(|number| owned.local(number).is_some())
            }
            // Files are written whole; behind the results are sums, of one element.
            _ => true,
        }
    }

    /// Writes files, and gives the text of the others on rank 0. Collective.
    pub(super) fn finish(
        &self,
        engine: &mut Engine,
        program: &CompiledProgram,
        tiles: &[Tile],
    ) -> Result<String> {
        let rank = engine.rank();
        let owned = |at: usize| first_owned(program, at, rank);
        if rank == 0 {
            for (output, path) in self.files() {
                npy::create(path, &output.shape, output.dtype)?;
            }
        }
        engine.barrier()?;
        for (at, output) in self.results.iter().enumerate() {
            if let Some(path) = &output.file {
                npy::write_owned(path, program.result(at), rank, &tiles[at])?;
            }
        }
        engine.barrier()?;
        let mut text = String::new();
        for (at, output) in self.results.iter().enumerate() {
            if output.file.is_some() {
                continue;
            }
            let size = output.shape.iter().product();
            let elements = collect(engine, owned(at).as_ref(), &tiles[at], &wanted(size))?;
            let sum = match output.sum {
                None => None,
                Some(at) => collect(engine, owned(at).as_ref(), &tiles[at], &[0])?
                    .into_iter()
                    .next()
                    .map(|bytes| show(tiles[at].dtype(), &bytes)),
            };
            text.push_str(&output.text(&elements, sum.as_deref()));
        }
        Ok(text)
    }

    fn files(&self) -> impl Iterator<Item = (&ResultOutput, &PathBuf)> {
        self.results.iter().filter_map(|output| output.file.as_ref().map(|path| (output, path)))
    }
}

/// What a rank owns of a result, if it is the first that owns this.
fn first_owned(program: &CompiledProgram, at: usize, rank: usize) -> Option<OwnedElements> {
    let home = program.result(at);
    home.owned_elements(rank).filter(|_| home.is_first_owner(rank))
}

/// The numbers of the elements that are printed.
fn wanted(size: usize) -> Vec<usize> {
    match size {
        0..=WHOLE_MAX => (0..size).collect(),
        _ => (0..ENDS).chain(size - ENDS..size).collect(),
    }
}

/// The bytes of these elements, from the ranks that own them. Collective.
fn collect(
    engine: &mut Engine,
    owned: Option<&OwnedElements>,
    tile: &Tile,
    wanted: &[usize],
) -> Result<Vec<Vec<u8>>> {
    let size = tile.dtype().bytes();
    let mut record = Vec::new();
    if let Some(owned) = owned {
        for (at, number) in wanted.iter().enumerate() {
            if let Some(place) = owned.local(*number) {
                record.extend_from_slice(&(at as u64).to_le_bytes());
                record.extend_from_slice(&tile.as_bytes()[place * size..(place + 1) * size]);
            }
        }
    }
    let team: Vec<usize> = (0..engine.size()).collect();
    let records = engine.gather(&CollectiveSignature::here("results", 0), &team, &record)?;
    let mut elements = vec![Vec::new(); wanted.len()];
    for record in &records {
        for part in record.chunks_exact(8 + size) {
            let (at, bytes) = part.split_at(8);
            let at = at.try_into().map(u64::from_le_bytes).unwrap_or(u64::MAX);
            if let Some(element) = usize::try_from(at).ok().and_then(|at| elements.get_mut(at)) {
                *element = bytes.to_vec();
            }
        }
    }
    Ok(elements)
}

impl ResultOutput {
    fn text(&self, elements: &[Vec<u8>], sum: Option<&str>) -> String {
        let shown: Vec<String> = elements.iter().map(|one| show(self.dtype, one)).collect();
        let (name, dtype) = (&self.name, self.dtype);
        let size: usize = self.shape.iter().product();
        if self.shape.is_empty() {
            return format!("{name} = {}\n", shown.concat());
        }
        let shape = numbers::shape(&self.shape);
        if size == 0 {
            return format!("{name} = {shape} of {dtype}\n");
        }
        if size > WHOLE_MAX {
            let (first, last) = shown.split_at(ENDS);
            let sum = sum.map_or(String::new(), |sum| format!(", sum {sum}"));
            let (first, last) = (first.join(", "), last.join(", "));
            return format!("{name} = {shape} of {dtype}: [{first}, ..., {last}]{sum}\n");
        }
        let mut out = format!("{name} = ");
        let indent = out.chars().count();
        nested(&self.shape, &shown, indent, &mut out);
        out.push('\n');
        out
    }
}

/// A nested list, one line per row.
fn nested(shape: &[usize], elements: &[String], indent: usize, out: &mut String) {
    let [length, inner @ ..] = shape else { return out.push_str(&elements.concat()) };
    out.push('[');
    for (at, part) in elements.chunks(elements.len() / length).enumerate() {
        if at > 0 && inner.is_empty() {
            out.push_str(", ");
        } else if at > 0 {
            out.push_str(&format!(",\n{}", " ".repeat(indent + 1)));
        }
        nested(inner, part, indent + 1, out);
    }
    out.push(']');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_nested() {
        let elements: Vec<String> = (0..12).map(|number| number.to_string()).collect();
        let mut out = "a = ".to_owned();
        nested(&[2, 3, 2], &elements, 4, &mut out);
        let expected = "\
a = [[[0, 1],
      [2, 3],
      [4, 5]],
     [[6, 7],
      [8, 9],
      [10, 11]]]";
        assert_eq!(out, expected);
    }

    #[test]
    fn the_ends_of_large_arrays_are_wanted() {
        assert_eq!(wanted(0), []);
        assert_eq!(wanted(1000).len(), 1000);
        assert_eq!(wanted(1001), [0, 1, 2, 998, 999, 1000]);
    }
}
