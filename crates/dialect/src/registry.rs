//! The passes by name.

use std::collections::BTreeMap;
use std::fmt;

use super::member::MemberError;
use super::{
    coalesce, cores, cse, dce, distribute, fold, keys, member, member_types, overlap, regions,
    slices,
};
use pantile_ir::{ArrayType, Attribute, Place, Program, Type};

/// For whom a program is specialised: how many ranks there are, and which one this is. What is
/// absent stays open. A team that is not named here has all ranks, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Member {
    /// How many ranks there are.
    pub ranks: Option<usize>,
    /// The rank, below `ranks`.
    pub rank: Option<usize>,
    /// The ranks of named teams.
    pub teams: BTreeMap<String, Vec<usize>>,
}

impl Member {
    /// One member of a team.
    #[must_use]
    pub fn new(ranks: usize, rank: usize) -> Self {
        Self { ranks: Some(ranks), rank: Some(rank), teams: BTreeMap::new() }
    }

    /// As whom a team knows it: the number of its members, and the place of this rank among them.
    /// A rank that is not of the team has no place.
    #[must_use]
    pub fn of_team(&self, team: &Attribute) -> Self {
        let Some(members) = self.teams.get(&team.team_name()) else {
            return Self { ranks: self.ranks, rank: self.rank, teams: BTreeMap::new() };
        };
        let place = self.rank.and_then(|rank| members.iter().position(|member| *member == rank));
        Self { ranks: Some(members.len()), rank: place, teams: BTreeMap::new() }
    }

    /// As whom the team of an array knows it.
    pub(super) fn of_array(&self, array: &ArrayType) -> Self {
        match array.dist_env() {
            Some(env) => self.of_team(&env.team),
            None => self.clone(),
        }
    }

    /// A pass that writes the program of one member needs one, and one that is of all teams.
    pub(super) fn check(&self, pass: &'static str, program: &Program) -> Result<(), PassError> {
        let Some((_, rank)) = self.known() else { return Err(PassError::NeedsMember { pass }) };
        let values = program.functions.iter().flat_map(|function| &function.values);
        let envs = values.filter_map(|value| match &value.ty {
            Type::Array(array) => array.dist_env(),
            _ => None,
        });
        for team in envs.map(|env| env.team.team_name()) {
            if let Some(members) = self.teams.get(&team).filter(|all| !all.contains(&rank)) {
                return Err(PassError::NotInTeam { pass, rank, team, members: members.clone() });
            }
        }
        Ok(())
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
    /// The pass writes the program of one member, and it is not said of which.
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
    /// The pass writes the program of one member, and the rank is not of this team.
    NotInTeam {
        /// The pass.
        pass: &'static str,
        /// The rank.
        rank: usize,
        /// The team.
        team: String,
        /// Its ranks.
        members: Vec<usize>,
    },
    /// An operation that the pass has no rule for.
    NotCovered {
        /// The pass.
        pass: &'static str,
        /// The operation.
        op: &'static str,
        /// Why there is none.
        reason: Box<MemberError>,
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
            Self::NotInTeam { pass, rank, team, members } => {
                write!(f, "{pass}: got rank {rank}, expected one of team {team}: {members:?}")
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
        pantile_lower::values(program);
        Ok(())
    }),
    pass("fold", "what is known becomes constants and known lengths", fold::run),
    pass("cse", "what is computed twice is computed once", cse::run),
    pass("dce", "what is not read is left out; collective operations stay", dce::run),
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
