//! The passes of the lowering, by name and in their order: everything that runs takes this way.

use pantile_ir::{Program, verify};

use crate::error::{PassFault, PassNeeds};
use crate::{Executable, LowerError, Setting, Step, TripCount, lower, place, values};

/// What a pass of the lowering works on.
#[derive(Clone, Debug)]
pub enum Stage {
    /// A program.
    Program(Program),
    /// What ranks run.
    Steps(Box<Executable>),
}

/// A pass of the lowering.
#[derive(Clone, Copy, Debug)]
pub struct LowerPass {
    /// Its name.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub about: &'static str,
    work: PassWork,
    /// True if everything that runs takes it, under this setting.
    is_taken: fn(&Setting) -> bool,
}

#[derive(Clone, Copy, Debug)]
enum PassWork {
    Rewrite(fn(&mut Program)),
    Place,
    Lower,
    Steps(fn(&mut Executable)),
}

const ALWAYS: fn(&Setting) -> bool = |_| true;

/// All passes, in the order in which they are taken.
pub const PASSES: &[LowerPass] = &[
    LowerPass {
        name: "values",
        about: "assignments in place become next versions of arrays",
        work: PassWork::Rewrite(values),
        is_taken: ALWAYS,
    },
    LowerPass {
        name: "place",
        about: "every array says where it lives, so that the least moves; lowering finds the same",
        work: PassWork::Place,
        is_taken: |_| false,
    },
    LowerPass {
        name: "lower",
        about: "the program becomes steps over memory; what follows works on these",
        work: PassWork::Lower,
        is_taken: ALWAYS,
    },
    LowerPass {
        name: "fuse",
        about: "loops that can be one become one",
        work: PassWork::Steps(Executable::fuse),
        is_taken: ALWAYS,
    },
    LowerPass {
        name: "bundle",
        about: "halos that travel at the same time travel together",
        work: PassWork::Steps(Executable::aggregate_messages),
        is_taken: ALWAYS,
    },
    LowerPass {
        name: "overlap-halos",
        about: "what needs no halos is computed while they travel",
        work: PassWork::Steps(Executable::overlap),
        is_taken: ALWAYS,
    },
    LowerPass {
        name: "remote-reads",
        about: "what one loop alone needs of others is read where it is, if ranks see each other's memory",
        work: PassWork::Steps(Executable::read_remotely),
        is_taken: |setting| setting.remote_reads,
    },
    LowerPass {
        name: "reuse",
        about: "arrays that do not live at the same time share memory",
        work: PassWork::Steps(Executable::share_memory),
        is_taken: ALWAYS,
    },
];

/// The pass of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static LowerPass> {
    PASSES.iter().find(|pass| pass.name == name)
}

impl LowerPass {
    /// Takes the pass.
    ///
    /// # Errors
    /// It works on programs and gets steps, or on steps and gets a program; or the program cannot be
    /// lowered.
    pub fn run(&self, stage: Stage, setting: &Setting) -> Result<Stage, PassFault> {
        let refused = |needs| PassFault::Stage { pass: self.name, needs };
        match (self.work, stage) {
            (PassWork::Rewrite(work), Stage::Program(mut program)) => {
                work(&mut program);
                Ok(Stage::Program(program))
            }
            (PassWork::Place, Stage::Program(program)) => {
                Ok(Stage::Program(place(&program, setting)?))
            }
            (PassWork::Lower, Stage::Program(program)) => {
                Ok(Stage::Steps(Box::new(lower(&program, setting)?)))
            }
            (PassWork::Steps(work), Stage::Steps(mut executable)) => {
                work(&mut executable);
                Ok(Stage::Steps(executable))
            }
            (PassWork::Lower, Stage::Steps(_)) => Err(PassFault::LoweredTwice),
            (PassWork::Steps(_), Stage::Program(_)) => Err(refused(PassNeeds::Steps)),
            (_, Stage::Steps(_)) => Err(refused(PassNeeds::Program)),
        }
    }
}

/// A program as ranks run it: all passes that the setting takes.
///
/// # Errors
/// As [`lower`].
pub fn compile(program: &Program, setting: &Setting) -> Result<Executable, LowerError> {
    compile_observed(program, setting, &mut |_, _| {})
}

/// As [`compile`]; `observe` is told what there is after each pass.
///
/// # Errors
/// As [`lower`].
pub fn compile_observed(
    program: &Program,
    setting: &Setting,
    observe: &mut dyn FnMut(&LowerPass, &Stage),
) -> Result<Executable, LowerError> {
    debug_assert_eq!(
        verify::verify(program).err().map(|findings| findings[0].to_string()),
        None,
        "a program that is not sound is lowered"
    );
    let mut stage = Stage::Program(program.clone());
    for pass in PASSES.iter().filter(|pass| (pass.is_taken)(setting)) {
        stage = pass.run(stage, setting).map_err(|fault| match fault {
            PassFault::Lower(error) => error,
            other => unreachable!("passes are in order: {other}"),
        })?;
        observe(pass, &stage);
    }
    match stage {
        Stage::Steps(executable) => Ok(*executable),
        Stage::Program(_) => unreachable!("`lower` is always taken"),
    }
}

/// How large something is that passes change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageSize {
    /// Operations of a program, with those in blocks; 0 of steps.
    pub operations: usize,
    /// Loops over elements.
    pub loops: usize,
    /// Exchanges of halos and other movements, without what is read where it is.
    pub movements: usize,
    /// Exchanges beside which a loop runs.
    pub overlapped: usize,
    /// Bytes of memory of the rank that needs most of it.
    pub bytes: usize,
}

impl Stage {
    /// How large it is.
    #[must_use]
    pub fn size(&self) -> StageSize {
        match self {
            Self::Program(program) => {
                let mut operations = 0;
                for function in &program.functions {
                    function.body.walk(&mut |_| operations += 1);
                }
                StageSize { operations, ..StageSize::default() }
            }
            Self::Steps(executable) => {
                let ranks = 0..executable.ranks;
                let bytes = ranks.map(|rank| executable.local_bytes(rank)).max().unwrap_or(0);
                let mut size = StageSize { bytes, ..StageSize::default() };
                count(executable, &executable.steps, &mut size);
                size
            }
        }
    }
}

fn count(executable: &Executable, steps: &[Step], size: &mut StageSize) {
    for step in steps {
        match step {
            Step::Compute(_) => size.loops += 1,
            Step::Exchange(exchange) => {
                let overlapped = usize::from(exchange.during.is_some());
                size.movements += 1;
                size.overlapped += overlapped;
                size.loops += overlapped;
            }
            Step::Move(step) => {
                size.movements += usize::from(!executable.remote_reads.contains(&step.to));
            }
            Step::Repeat(repeat) => {
                if let TripCount::While { before, .. } = &repeat.turns {
                    count(executable, before, size);
                }
                count(executable, &repeat.body, size);
            }
            _ => {}
        }
    }
}
