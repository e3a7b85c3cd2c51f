//! The passes by name.

use std::fmt;

use super::{
    coalesce, cores, cse, dce, distribute, fold, keys, member, member_types, overlap, regions,
    slices, values,
};
use crate::{Place, Program};

/// For whom a program is specialised: how many members the team has, and which one this is.
/// What is absent stays open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Member {
    /// Members of the team.
    pub ranks: Option<usize>,
    /// The member, below `ranks`.
    pub rank: Option<usize>,
}

impl Member {
    /// One member of a team.
    #[must_use]
    pub fn new(ranks: usize, rank: usize) -> Self {
        Self { ranks: Some(ranks), rank: Some(rank) }
    }

    /// Both numbers, if both are known.
    #[must_use]
    pub fn known(&self) -> Option<(usize, usize)> {
        self.ranks.zip(self.rank)
    }
}

/// Why a pass cannot rewrite a program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PassError {
    /// The pass writes the program of one member, and nobody said of which.
    NeedsMember {
        /// The pass.
        pass: &'static str,
    },
    /// The member is not one of the team.
    NoSuchMember {
        /// The member.
        rank: usize,
        /// Members of the team.
        ranks: usize,
    },
    /// An operation that the pass has no rule for.
    NotCovered {
        /// The pass.
        pass: &'static str,
        /// The operation.
        op: &'static str,
        /// What was got and what was expected.
        reason: String,
        /// Where it was written.
        place: Place,
    },
}

impl fmt::Display for PassError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NeedsMember { pass } => {
                write!(
                    f,
                    "{pass} is done for one member: expected the number of ranks (`-n`) and a rank (`--rank`)"
                )
            }
            Self::NoSuchMember { rank, ranks } => {
                write!(f, "got member {rank} of a team of {ranks}, expected one below that")
            }
            Self::NotCovered { pass, op, reason, place } => {
                write!(f, "{place}: {pass} of `{op}`: {reason}")
            }
        }
    }
}

impl std::error::Error for PassError {}

type Run = fn(&mut Program, &Member) -> Result<(), PassError>;

/// A rewrite of programs that keeps their meaning.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// Its name on command lines.
    pub name: &'static str,
    /// What it does, in a few words.
    pub about: &'static str,
    run: Run,
}

impl Pass {
    /// Rewrites a program.
    ///
    /// # Errors
    /// A member that is not of the team, and what the pass has no rule for; the program may then
    /// be rewritten in part.
    pub fn run(&self, program: &mut Program, member: &Member) -> Result<(), PassError> {
        match member.known() {
            Some((ranks, rank)) if rank >= ranks => Err(PassError::NoSuchMember { rank, ranks }),
            _ => (self.run)(program, member),
        }
    }
}

const fn pass(name: &'static str, about: &'static str, run: Run) -> Pass {
    Pass { name, about, run }
}

static ALL: &[Pass] = &[
    pass("values", "assignments in place become next versions of arrays", |program, _| {
        values(program);
        Ok(())
    }),
    pass("fold", "what is known becomes constants and known lengths", fold::run),
    pass("cse", "what is computed twice is computed once", cse::run),
    pass("dce", "what nobody reads is left out; collective operations stay", dce::run),
    pass(
        "distribute",
        "operations on distributed arrays say what one member does",
        distribute::run,
    ),
    pass("coalesce", "one repartition for all reads between two writes", coalesce::run),
    pass("cores", "rows that can be computed before halos have arrived", cores::run),
    pass("member", "the program of one member: local arrays and calls of the runtime", member::run),
    pass("overlap", "waits for halos come as late as they may", overlap::run),
    pass("keys", "halo exchanges are numbered", keys::run),
    pass("regions", "operations on a device are put into regions", regions::add),
    pass("drop-regions", "operations are taken out of their regions", regions::drop),
    pass("print-member", "types say where the parts of one member lie", member_types),
    pass(
        "slices",
        "slices of slices become one; what was just inserted is not extracted",
        slices::run,
    ),
];

/// All passes over programs, in the order in which they are usually run.
#[must_use]
pub fn all() -> &'static [Pass] {
    ALL
}

/// The pass of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Pass> {
    ALL.iter().find(|pass| pass.name == name)
}
