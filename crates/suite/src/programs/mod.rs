//! Random array programs: on any number of ranks, on any transport, fused or not, they give the
//! bytes that the naive evaluator gives.
//!
//! [`generate`](generate::trial) makes a program with its arguments, [`Trial::expected`] says what
//! it means, [`execute`] runs it on one rank and compares what that rank owns.

mod create;
mod data;
mod elementwise;
pub mod execute;
pub mod generate;
mod loops;
mod maker;
mod matmul;
pub mod members;
mod scenes;
pub mod shrink;
mod slices;
mod steps;

use pantile_engine::Scheme;
use pantile_ir::reference::{self, Array};
use pantile_ir::{Program, text};
use pantile_spmd::RankContext;
use pantile_testkit::{Rng, scaled};

use crate::Case;

/// A program and what it is given.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The program.
    pub program: Program,
    /// Its arguments.
    pub arguments: Vec<Array>,
    /// The ranks of its team; all if there are none.
    pub team: Vec<usize>,
}

impl Trial {
    /// What the program means.
    ///
    /// # Errors
    /// The fault of the naive evaluator.
    pub fn expected(&self) -> Result<Vec<Array>, String> {
        reference::run(&self.program, &self.arguments).map_err(|fault| fault.to_string())
    }

    /// The program is sound, and its text reads back to a program that prints and means the same.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check_text(&self, expected: &[Array]) -> Result<(), String> {
        if let Err(findings) = pantile_ir::verify::verify(&self.program) {
            return Err(format!("verify: {}", findings[0]));
        }
        let printed = self.program.to_string();
        let read =
            text::parse(&printed, "trial").map_err(|faults| format!("parse: {}", faults[0]))?;
        if read.to_string() != printed {
            return Err(format!("printed again:\n{read}"));
        }
        let again = reference::run(&read, &self.arguments).map_err(|fault| fault.to_string())?;
        if again != expected {
            return Err("the text means something else".to_owned());
        }
        Ok(())
    }
}

/// Random programs in a world; `PANTILE_CASES` scales it.
const PROGRAMS: usize = 12;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case { name: "random programs", needs: 1, body: programs },
        Case { name: "random programs by members", needs: 1, body: members::programs },
    ]
}

/// Every rank makes the same programs and looks at what it owns itself.
fn programs(world: &RankContext) -> Result<(), String> {
    for seed in 0..scaled(PROGRAMS) {
        let trial = generate::trial(&mut Rng::law(seed), world.size());
        let expected = trial.expected()?;
        let executable = execute::compile(&trial, world.size(), seed % 2 == 0)?;
        let mut engine = world.engine();
        // As many threads as chance has it, and loops that are cut however short they are.
        let threads = 1 + usize::try_from(seed % 3).unwrap_or(0);
        engine.set_threads(threads).map_err(|error| error.to_string())?;
        engine.set_cut_bytes(0);
        let number = usize::try_from(seed).unwrap_or(0) % Scheme::ALL.len();
        engine.set_scheme(Scheme::ALL[number].1);
        execute::on_rank(&mut engine, &executable, &trial, &expected)
            .map_err(|fault| format!("program {seed}: {fault}\n{}", trial.program))?;
        let lent = execute::compile_lent(&trial, world.size())?;
        execute::on_rank(&mut engine, &lent, &trial, &expected)
            .map_err(|fault| format!("program {seed}: {fault}\n{}", trial.program))?;
    }
    Ok(())
}
