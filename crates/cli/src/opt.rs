//! `pantile opt`: a program after some passes.

use std::fmt::Write as _;

use anyhow::{Result, anyhow, bail};
use clap::Args;
use pantile_dialect::Member;
use pantile_ir::verify;
use pantile_lower::{
    Executable, LocalLoop, LowerPass, PASSES, PassFault, PassNeeds, Setting, Stage, Step, TripCount,
};

use crate::numbers;
use crate::program::{self, Options};
use crate::report::Report;
use crate::table::{Align, aligned};

#[derive(Args)]
#[command(after_help = "\
Passes work on programs up to `lower`, and on steps from there on; `--pass help` lists them.

Examples:
  pantile opt heat.dist                                                as it was read
  pantile opt heat.dist --pass values --pass lower --pass fuse -n 4    steps on 4 ranks")]
pub(crate) struct Arguments {
    #[command(flatten)]
    options: Options,
    /// What is done, in this order; may be repeated
    #[arg(long = "pass", value_name = "NAME")]
    passes: Vec<String>,
    /// The rank that the program is made for (passes over programs), or whose share of every loop
    /// is shown (steps)
    #[arg(long, value_name = "R", value_parser = numbers::parse_rank, allow_negative_numbers = true)]
    rank: Option<usize>,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: &Arguments) -> Result<Report> {
    if arguments.passes.iter().any(|name| name == "help") {
        return Ok(Report::text(list()));
    }
    let program = program::read(&arguments.options.path)?;
    let bound = program::bind(&program, &arguments.options.arguments)?;
    if arguments.passes.iter().any(|name| name == "lower" || name == "place") {
        bound.check_lengths()?;
    }
    let ranks = arguments.options.ranks()?;
    if let Some(rank) = arguments.rank.filter(|rank| *rank >= ranks) {
        bail!("--rank {rank}: there are {ranks} ranks, expected one below that");
    }
    let setting = arguments.options.setting(ranks, Some(bound.types))?;
    let mut stage = Stage::Program(bound.program);
    let known = arguments.options.ranks.is_some() || arguments.rank.is_some();
    let teams = setting.teams.clone();
    let member = Member { ranks: known.then_some(ranks), rank: arguments.rank, teams };
    for name in &arguments.passes {
        stage = apply(stage, name, &member, &setting)?;
    }
    Ok(Report::text(match (&stage, arguments.rank) {
        (Stage::Program(program), _) => program.to_string(),
        (Stage::Steps(executable), None) => executable.to_string(),
        (Stage::Steps(executable), Some(rank)) => {
            format!("{executable}{}", share(executable, rank))
        }
    }))
}

fn apply(stage: Stage, name: &str, member: &Member, setting: &Setting) -> Result<Stage> {
    let stage = match (pantile_dialect::find(name), stage) {
        (Some(pass), Stage::Program(mut program)) => {
            pass.run(&mut program, member)?;
            if let Err(findings) = verify::verify(&program) {
                bail!("after --pass {name} the program is not sound: {}", findings[0]);
            }
            return Ok(Stage::Program(program));
        }
        (_, stage) => stage,
    };
    match pantile_lower::find(name) {
        Some(pass) => pass.run(stage, setting).map_err(|fault| match fault {
            PassFault::Stage { pass, needs: PassNeeds::Steps } => {
                anyhow!("--pass {pass} works on steps: say --pass lower before it")
            }
            PassFault::Stage { pass, needs: PassNeeds::Program } => {
                anyhow!("--pass {pass} works on programs: say it before --pass lower")
            }
            PassFault::LoweredTwice => anyhow!("--pass lower: these are steps already"),
            other => other.into(),
        }),
        None if pantile_dialect::find(name).is_some() => {
            bail!("--pass {name} works on programs: say it before --pass lower")
        }
        None => bail!("there is no pass `{name}`; there are\n{}", list().trim_end()),
    }
}

/// All passes, with what they do.
fn list() -> String {
    let dialect = pantile_dialect::all().iter().map(|pass| (pass.name, pass.about));
    let own = |pass: &&LowerPass| pantile_dialect::find(pass.name).is_none();
    let lowering = PASSES.iter().filter(own).map(|pass| (pass.name, pass.about));
    let rows: Vec<Vec<String>> = dialect
        .chain(lowering)
        .map(|(name, about)| vec![name.to_owned(), about.to_owned()])
        .collect();
    aligned(&rows, &[Align::Left, Align::Left], 2)
}

/// What one rank does of every loop, in the order of the steps.
fn share(executable: &Executable, rank: usize) -> String {
    let mut out =
        format!("rank {rank} has {}\n", numbers::bytes(executable.local_bytes(rank) as u128));
    add_share(executable, &executable.steps, rank, &mut out);
    out
}

/// The shapes of boxes.
fn shapes(boxes: &[LocalLoop]) -> String {
    let shapes: Vec<String> = boxes.iter().map(|one| numbers::shape(&one.shape)).collect();
    if shapes.is_empty() { "nothing".to_owned() } else { shapes.join(", ") }
}

fn add_share(executable: &Executable, steps: &[Step], rank: usize, out: &mut String) {
    for step in steps {
        match step {
            Step::Compute(compute) => {
                let what = shapes(&executable.local_loops(compute, rank));
                let _ = writeln!(out, "{}: loop over {what}", compute.place);
            }
            Step::Exchange(exchange) => {
                let Some(compute) = &exchange.during else { continue };
                let halos: Vec<_> = exchange.parts.iter().map(|part| part.slot).collect();
                let (core, edges) = executable.local_core(compute, &halos, rank);
                let (core, edges) = (shapes(&core), shapes(&edges));
                let _ = writeln!(
                    out,
                    "{}: loop over {core} while halos travel, then {edges}",
                    compute.place
                );
            }
            _ => {}
        }
        if let Step::Repeat(repeat) = step {
            if let TripCount::While { before, .. } = &repeat.turns {
                add_share(executable, before, rank, out);
            }
            add_share(executable, &repeat.body, rank, out);
        }
    }
}
