//! What is given for the arguments of a program.

use std::path::Path;

use anyhow::{Result, anyhow, bail};
use pantile::npy::NpyFile;
use pantile_ir::{Function, Op, Operation, Program, Type, Value};
use pantile_lanes::Scalar;

use super::{argument_names, value};

/// A program with what is given for its arguments.
pub(crate) struct Bound {
    /// Arguments that are given as values are constants in it, so that lengths and numbers of
    /// turns made of them are known before it runs.
    pub(crate) program: Program,
    /// What is given for the arguments that are left; `None` where nothing is.
    pub(crate) files: Vec<Option<NpyFile>>,
    /// Their types, with the lengths of the files.
    pub(crate) types: Vec<Type>,
    /// The names of arguments for which nothing is given, with their types.
    pub(crate) missing: Vec<String>,
}

impl Bound {
    /// Refuses arguments whose lengths nobody knows.
    ///
    /// # Errors
    /// The first of them.
    pub(crate) fn check_lengths(&self) -> Result<()> {
        let Some(entry) = self.program.entry() else { return Ok(()) };
        let names = argument_names(entry);
        let open = self.types.iter().position(|ty| ty.shape().contains(&None));
        match open {
            Some(at) => bail!(
                "the lengths of argument {} ({}) are not known: say --arg {}=FILE",
                names[at],
                self.types[at],
                names[at]
            ),
            None => Ok(()),
        }
    }
}

/// What is given for one argument.
enum Given {
    Nothing,
    Value(Scalar),
    File(NpyFile),
}

/// Finds what is given for every argument of the entry function.
///
/// # Errors
/// There is no such argument, or what is given does not fit it.
pub(crate) fn bind(program: &Program, pairs: &[(String, String)]) -> Result<Bound> {
    let Some(entry) = program.entry() else { bail!("the program has no function") };
    let names = argument_names(entry);
    let mut given: Vec<Given> = names.iter().map(|_| Given::Nothing).collect();
    for (name, text) in pairs {
        let at = position(&names, name).ok_or_else(|| no_such("argument", entry, name, &names))?;
        if !matches!(given[at], Given::Nothing) {
            bail!("--arg {name}: the argument is given twice");
        }
        let ty = entry.ty(entry.body.arguments[at]);
        given[at] = read(ty, text).map_err(|why| anyhow!("--arg {name}={text}: {why}"))?;
    }
    let missing = given.iter().zip(&names).enumerate().filter_map(|(at, (given, name))| {
        let ty = entry.ty(entry.body.arguments[at]);
        matches!(given, Given::Nothing).then(|| format!("{name} ({ty})"))
    });
    let missing = missing.collect();
    let mut program = program.clone();
    let name = entry.name.clone();
    let place = program.functions.iter().position(|function| function.name == name);
    let function = &mut program.functions[place.unwrap_or(0)];
    let (mut files, mut types) = (Vec::new(), Vec::new());
    let arguments = std::mem::take(&mut function.body.arguments);
    let mut constants = Vec::new();
    for (argument, given) in arguments.into_iter().zip(given) {
        match given {
            Given::Value(scalar) => constants.extend(constant(function, argument, scalar)),
            Given::Nothing => {
                types.push(function.ty(argument).clone());
                function.body.arguments.push(argument);
                files.push(None);
            }
            Given::File(file) => {
                types.push(with_lengths(function.ty(argument), &file));
                function.body.arguments.push(argument);
                files.push(Some(file));
            }
        }
    }
    function.body.operations.splice(0..0, constants);
    Ok(Bound { program, files, types, missing })
}

/// The place of a name in a list: by name, else by position.
pub(crate) fn position(names: &[String], name: &str) -> Option<usize> {
    let number = || name.parse().ok().filter(|at| *at < names.len());
    names.iter().position(|own| own == name).or_else(number)
}

/// The sentence about a name that is not there.
pub(crate) fn no_such(what: &str, entry: &Function, name: &str, names: &[String]) -> anyhow::Error {
    let option = if what == "argument" { "--arg" } else { "--out" };
    match names {
        [] => anyhow!("{option} {name}: @{} has no {what}s", entry.name),
        _ => anyhow!(
            "{option} {name}: @{} has no such {what}, expected {}",
            entry.name,
            names.join(", ")
        ),
    }
}

/// The operations that make an argument a constant.
fn constant(function: &mut Function, argument: Value, scalar: Scalar) -> Vec<Operation> {
    if function.ty(argument).as_array().is_none() {
        return vec![Operation::new(Op::Constant(scalar), Vec::new(), vec![argument])];
    }
    let number = function.value(Type::scalar(scalar.dtype()));
    vec![
        Operation::new(Op::Constant(scalar), Vec::new(), vec![number]),
        Operation::new(Op::Create { value: true }, vec![number], vec![argument]),
    ]
}

fn read(ty: &Type, text: &str) -> Result<Given> {
    let Some(dtype) = ty.dtype() else { bail!("nothing can be given for {ty}") };
    let single = ty.shape().is_empty();
    let looks_like_file = text.ends_with(".npy") || Path::new(text).is_file();
    if single && !looks_like_file {
        return value::parse(dtype, text).map(Given::Value).map_err(anyhow::Error::msg);
    }
    let file = NpyFile::open(Path::new(text))?;
    let shape = file.shape();
    let fits = ty.shape().len() == shape.len()
        && ty.shape().iter().zip(shape).all(|(want, got)| want.is_none_or(|want| want == *got));
    if !fits || file.dtype() != dtype {
        let expected = ty.shape().iter().map(|dim| dim.map_or("?".to_owned(), |n| n.to_string()));
        let expected: Vec<String> = expected.collect();
        bail!(
            "the file has {} of {}, expected {} of {dtype}",
            crate::numbers::shape(shape),
            file.dtype(),
            if expected.is_empty() { "scalar".to_owned() } else { expected.join("x") },
        );
    }
    Ok(Given::File(file))
}

fn with_lengths(ty: &Type, file: &NpyFile) -> Type {
    let mut ty = ty.clone();
    if let Type::Array(array) = &mut ty {
        array.shape = file.shape().iter().copied().map(Some).collect();
    }
    ty
}
