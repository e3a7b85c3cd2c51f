//! What an executable is made of, as text: other processes make the same one of it.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use pantile_geometry::Distribution;
use pantile_lanes::DType;

use super::{CompileUnitError, Executable, Lent, LowerError, Setting, compile};
use pantile_ir::text::{parse, parse_type, print_type};
use pantile_ir::{Place, Program, Type, verify};

/// What an executable is made of.
///
/// Printing and parsing lose nothing but the places of operations:
///
/// ```text
/// program on 4 ranks               move f64 on 4 ranks
/// steps 2                          from 8 on r=4: block(r)
/// fast                             to 8 on r=4: block(r) halo 1
/// cut 3
/// team "name" 0 2
/// given f64
/// lent 8 on r=4: block(r)
/// spent 8 on r=4: block(r)
/// ----
/// func.func @main ...
/// ```
#[derive(Clone, Debug)]
pub enum CompileUnit {
    /// A program and what it is lowered for.
    Program(Arc<Program>, Box<Setting>),
    /// A single movement of an array that is lent.
    Move {
        /// Number of ranks.
        ranks: usize,
        /// The type of its elements.
        dtype: DType,
        /// Where it lies.
        source: Box<Distribution>,
        /// Where it goes.
        target: Box<Distribution>,
    },
}

impl CompileUnit {
    /// Number of ranks that it is for.
    #[must_use]
    pub fn ranks(&self) -> usize {
        match self {
            Self::Program(_, setting) => setting.ranks,
            Self::Move { ranks, .. } => *ranks,
        }
    }

    /// The executable; every process gets the same.
    ///
    /// # Errors
    /// As [`compile`].
    pub fn compile(&self) -> Result<Executable, LowerError> {
        match self {
            Self::Program(program, setting) => compile(program, setting),
            Self::Move { ranks, dtype, source, target } => {
                let ty = (*dtype, Type::array(source.shape(), *dtype));
                let ways = (&**source, &**target);
                Ok(Executable::moving(*ranks, ty, ways, ("exchange", Place::default())))
            }
        }
    }
}

impl fmt::Display for CompileUnit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Move { ranks, dtype, source, target } => {
                write!(out, "move {dtype} on {ranks} ranks\nfrom {source}\nto {target}\n")
            }
            Self::Program(program, setting) => {
                writeln!(out, "program on {} ranks", setting.ranks)?;
                if let Some(ranks) = setting.cut_over {
                    writeln!(out, "cut {ranks}")?;
                }
                if setting.steps_per_exchange > 1 {
                    writeln!(out, "steps {}", setting.steps_per_exchange)?;
                }
                if setting.fast {
                    writeln!(out, "fast")?;
                }
                if setting.remote_reads {
                    writeln!(out, "looks")?;
                }
                for (name, ranks) in &setting.teams {
                    let ranks: Vec<String> = ranks.iter().map(ToString::to_string).collect();
                    writeln!(out, "team {name:?} {}", ranks.join(" "))?;
                }
                for ty in setting.arguments.iter().flatten() {
                    writeln!(out, "given {}", print_type(ty))?;
                }
                if setting.lent.is_none() {
                    writeln!(out, "copied")?;
                }
                for lent in setting.lent.iter().flatten() {
                    let how = if lent.spent { "spent" } else { "lent" };
                    writeln!(out, "{how} {}", lent.home)?;
                }
                write!(out, "----\n{program}")
            }
        }
    }
}

impl FromStr for CompileUnit {
    type Err = CompileUnitError;

    /// # Errors
    /// What is wrong, with all faults of the program; it is verified.
    fn from_str(text: &str) -> Result<Self, CompileUnitError> {
        let (head, program) = text.split_once("\n----\n").unwrap_or((text, ""));
        let mut lines = head.lines();
        let first: Vec<&str> = lines.next().unwrap_or("").split(' ').collect();
        match first[..] {
            ["program", "on", ranks, "ranks"] => program_of(number(ranks)?, lines, program),
            ["move", dtype, "on", ranks, "ranks"] => move_of((dtype, number(ranks)?), lines),
            _ => Err(CompileUnitError::Head { got: shortened(&first.join(" ")) }),
        }
    }
}

fn program_of<'a>(
    ranks: usize,
    lines: impl Iterator<Item = &'a str>,
    text: &str,
) -> Result<CompileUnit, CompileUnitError> {
    let mut setting = Setting { ranks, steps_per_exchange: 1, ..Setting::default() };
    let (mut given, mut lent, mut copied) = (Vec::new(), Vec::new(), false);
    for line in lines {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "steps" => setting.steps_per_exchange = number(rest)?,
            "cut" => setting.cut_over = Some(first_ranks(rest, ranks)?),
            "fast" => setting.fast = true,
            "looks" => setting.remote_reads = true,
            "copied" => copied = true,
            "team" => setting.teams.extend(team(rest)?),
            "given" => given.push(parse_type(rest).map_err(CompileUnitError::Type)?),
            "lent" | "spent" => {
                lent.push(Lent { home: distribution(rest, ranks)?, spent: word == "spent" });
            }
            _ => return Err(CompileUnitError::Line { got: shortened(line) }),
        }
    }
    setting.arguments = (!given.is_empty()).then_some(given);
    setting.lent = (!copied).then_some(lent);
    let program = parse(text, "program").map_err(CompileUnitError::Program)?;
    verify::verify(&program).map_err(CompileUnitError::Verify)?;
    Ok(CompileUnit::Program(Arc::new(program), Box::new(setting)))
}

fn move_of<'a>(
    (dtype, ranks): (&str, usize),
    mut lines: impl Iterator<Item = &'a str>,
) -> Result<CompileUnit, CompileUnitError> {
    let unknown = |_| CompileUnitError::ElementType { got: shortened(dtype) };
    let dtype = dtype.parse().map_err(unknown)?;
    let mut way = |expected: &'static str| {
        let line = lines.next().unwrap_or("");
        let Some(text) = line.strip_prefix(expected) else {
            return Err(CompileUnitError::Side { got: shortened(line), expected });
        };
        distribution(text, ranks).map(Box::new)
    };
    let (source, target) = (way("from ")?, way("to ")?);
    if source.shape() != target.shape() {
        return Err(CompileUnitError::Shapes(Box::new([*source, *target])));
    }
    Ok(CompileUnit::Move { ranks, dtype, source, target })
}

fn team(text: &str) -> Result<BTreeMap<String, Vec<usize>>, CompileUnitError> {
    let parts: Option<(&str, &str)> = text.strip_prefix('"').and_then(|rest| rest.rsplit_once('"'));
    let Some((name, ranks)) = parts else {
        return Err(CompileUnitError::Team { got: shortened(text) });
    };
    let ranks: Result<Vec<usize>, CompileUnitError> =
        ranks.split_whitespace().map(number).collect();
    Ok(BTreeMap::from([(name.to_owned(), ranks?)]))
}

fn distribution(text: &str, ranks: usize) -> Result<Distribution, CompileUnitError> {
    let distribution: Distribution =
        text.parse().map_err(|error| CompileUnitError::Distribution(Box::new(error)))?;
    let overcompute = distribution.mesh().ranks().find(|rank| *rank >= ranks);
    match overcompute {
        Some(rank) => Err(CompileUnitError::NoSuchRank { text: shortened(text), rank, ranks }),
        None => Ok(distribution),
    }
}

/// Some of all ranks.
fn first_ranks(text: &str, ranks: usize) -> Result<usize, CompileUnitError> {
    match number(text)? {
        first if (1..=ranks).contains(&first) => Ok(first),
        got => Err(CompileUnitError::Cut { got, ranks }),
    }
}

fn number(text: &str) -> Result<usize, CompileUnitError> {
    text.parse().map_err(|_| CompileUnitError::Number { got: shortened(text) })
}

/// What strangers sent, for messages.
fn shortened(text: &str) -> String {
    text.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "\
program on 3 ranks
steps 2
fast
team \"left\" 0 2
lent 6 on r=3: block(r)
spent 6 on r=3: block(r) room halo 1
----
func.func @main(%a: !ndarray.ndarray<6xf64>, %b: !ndarray.ndarray<6xf64>) -> !ndarray.ndarray<6xf64> {
  %c = ndarray.ewbin %a, %b {op = \"add\"} : (!ndarray.ndarray<6xf64>, !ndarray.ndarray<6xf64>) -> !ndarray.ndarray<6xf64>
  return %c : !ndarray.ndarray<6xf64>
}
";

    #[test]
    fn printing_and_parsing_lose_nothing() {
        let moves = "move f64 on 4 ranks\nfrom 8 on r=4: block(r)\nto 8 on r=4: block(r) halo 1\n";
        for text in [PROGRAM, moves] {
            let unit: CompileUnit = text.parse().unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(
                unit.to_string().parse::<CompileUnit>().unwrap().to_string(),
                unit.to_string()
            );
            let executable = unit.compile().unwrap();
            assert_eq!(executable.ranks, unit.ranks());
        }
    }

    #[test]
    fn damaged_recipes_are_refused_or_lowered() {
        pantile_testkit::cases("damaged compile units", 400, |rng| {
            let mut bytes = PROGRAM.as_bytes().to_vec();
            for _ in 0..1 + rng.below(4) {
                let at = rng.below(bytes.len());
                match rng.below(3) {
                    0 => bytes[at] = b" 0123%:x\n,()<>#"[rng.below(15)],
                    1 => drop(bytes.remove(at)),
                    _ => bytes.insert(at, b"abr-=1"[rng.below(6)]),
                }
            }
            let text = String::from_utf8_lossy(&bytes).into_owned();
            if let Ok(unit) = text.parse::<CompileUnit>()
                && unit.ranks() < 100
            {
                // It may be refused here, too; it must not panic.
                let _ = unit.compile();
            }
        });
    }

    #[test]
    fn what_is_no_recipe_is_told() {
        let error = |text: &str| text.parse::<CompileUnit>().expect_err(text);
        let check = |text: &str, expected: CompileUnitError, words: &str| {
            let error = error(text);
            assert!(error.to_string().contains(words), "{error}");
            assert_eq!(error, expected);
        };
        let got = |got: &str| got.to_owned();
        check("", CompileUnitError::Head { got: got("") }, "got ``, expected `program on N ranks`");
        let expected = CompileUnitError::Number { got: got("x") };
        check("program on x ranks", expected, "got `x`, expected a number");
        let expected = CompileUnitError::Line { got: got("what") };
        check("program on 2 ranks\nwhat\n----\n", expected, "got a line `what`");
        let text = got("6 on r=3: block(r)");
        let expected = CompileUnitError::NoSuchRank { text, rank: 2, ranks: 2 };
        let lent = "program on 2 ranks\nlent 6 on r=3: block(r)\n----\n";
        check(lent, expected, "`6 on r=3: block(r)`: got rank 2 of 2");
        let expected = CompileUnitError::Cut { got: 3, ranks: 2 };
        check("program on 2 ranks\ncut 3\n----\n", expected, "got 3 ranks, expected 1 to 2");
        let expected = CompileUnitError::Team { got: got("a 1") };
        check("program on 2 ranks\nteam a 1\n----\n", expected, "got a team `a 1`");
        let expected = CompileUnitError::ElementType { got: got("f99") };
        check("move f99 on 2 ranks", expected, "got a type `f99`");
        let expected =
            CompileUnitError::Side { got: got("to 6 on r=2: block(r)"), expected: "from " };
        check("move f64 on 2 ranks\nto 6 on r=2: block(r)", expected, "expected `from `");
        let shapes = "move f64 on 2 ranks\nfrom 6 on r=2: block(r)\nto 7 on r=2: block(r)";
        assert!(matches!(error(shapes), CompileUnitError::Shapes(_)));
        let unknown = error(&PROGRAM.replace("\"add\"", "\"ad\""));
        assert!(matches!(unknown, CompileUnitError::Program(_)), "{unknown}");
        let undefined = error(&PROGRAM.replace("return %c", "return %d"));
        assert!(matches!(undefined, CompileUnitError::Program(_)), "{undefined}");
    }
}
