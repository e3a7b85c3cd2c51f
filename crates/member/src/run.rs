//! A program on all its members: made by the passes, executed, and its results.

use std::collections::BTreeMap;

use pantile_comm::{CollectiveSignature, Rank};
use pantile_engine::{Engine, Tile};
use pantile_geometry::{Distribution, Mesh};
use pantile_ir::{Attribute, Function, Program, Type};
use pantile_lower::{self as lower, Setting};

use crate::error::{MemberRunError, OperationFault};
use crate::execute::{execute_with, failing};
use crate::held::{MemberValue, PartLayout, PartedArray, Spread, team_of};
use crate::local::LocalArray;
use crate::machine::MemberTeam;
use crate::make::{
    PassError, has_known_results, in_teams, is_misaligned, known_lengths, member_program,
    passes_for, versions,
};
use crate::tasks::placed;

/// For whom a program is run.
#[derive(Clone, Debug, Default)]
pub struct MemberSetting {
    /// The ranks of named teams; other names mean all ranks.
    pub teams: BTreeMap<String, Vec<Rank>>,
    /// The types of the arguments that are really given, where the program leaves lengths open.
    pub arguments: Option<Vec<Type>>,
    /// True if the program is executed operation by operation though the passes have rules for it.
    pub by_operation: bool,
}

/// How a program was executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemberWay {
    /// Each rank its own program of local arrays, made by the passes.
    Members,
    /// Operation by operation on distributed arrays.
    Operations {
        /// What the passes say on the first rank that refuses, if they were asked.
        reason: Option<String>,
    },
}

/// A result: what this rank has of it.
#[derive(Debug)]
pub struct MemberResult {
    /// Where its elements live.
    pub home: Distribution,
    /// Those of this rank.
    pub tile: Tile,
}

/// What a run gives on one rank.
#[derive(Debug)]
pub struct MemberRun {
    /// The results in order.
    pub results: Vec<MemberResult>,
    /// How they were computed.
    pub way: MemberWay,
}

/// Where the elements of arguments live that [`run`] takes.
///
/// # Errors
/// A length that is not known, or a type that says where the parts of one member lie.
pub fn argument_homes(
    program: &Program,
    setting: &MemberSetting,
    ranks: usize,
) -> Result<Vec<Distribution>, MemberRunError> {
    let program = prepared(program, setting);
    let entry = program.entry().ok_or(MemberRunError::NoFunction)?;
    let of =
        (entry.body.arguments.iter()).map(|value| home(entry.ty(*value), (setting, ranks), true));
    of.collect()
}

/// The types of the results that [`run`] gives, with the lengths that are known.
#[must_use]
pub fn result_types(program: &Program, setting: &MemberSetting) -> Vec<Type> {
    prepared(program, setting).entry().map(|entry| entry.results.clone()).unwrap_or_default()
}

/// Runs a program: makes the program of this rank by the passes, and executes it. `arguments` are the
/// elements that this rank owns of them, as [`argument_homes`] says. Collective.
///
/// # Errors
/// What is wrong with the program or its operands: the same on all ranks, or what the rank says that
/// could not go on.
pub fn run(
    engine: &mut Engine,
    program: &Program,
    setting: &MemberSetting,
    arguments: &[Tile],
) -> Result<MemberRun, MemberRunError> {
    let prepared = prepared(program, setting);
    let entry = prepared.entry().ok_or(MemberRunError::NoFunction)?;
    let (ranks, rank) = (engine.size(), engine.rank());
    let (got, expected) = (arguments.len(), entry.body.arguments.len());
    if got != expected {
        return Err(MemberRunError::Arguments { got, expected });
    }
    let idle = is_idle(entry, setting, rank);
    let made = match setting.by_operation {
        true => Err(None),
        false if !has_known_results(entry) => Err(None),
        false => member_program(&prepared, passes_for(&prepared), (ranks, rank), &setting.teams)
            .map_err(Some),
    };
    let (chosen, way) = match agreed(engine, (&made, idle))? {
        None => (made.unwrap_or_default(), MemberWay::Members),
        Some(reason) => (versions(&prepared), MemberWay::Operations { reason }),
    };
    if idle && way == MemberWay::Members {
        let results = entry.results.iter().map(|ty| {
            let dtype = ty.dtype().unwrap_or(pantile_engine::DType::Bool);
            let home = home(ty, (setting, ranks), false)?;
            Ok(MemberResult { home, tile: Tile::zeroed(dtype, 0) })
        });
        let results = results.collect::<Result<_, MemberRunError>>()?;
        return done(engine, MemberRun { results, way });
    }
    let parted = way != MemberWay::Members;
    let mut given = Vec::new();
    for (value, tile) in entry.body.arguments.iter().zip(arguments) {
        let of = bound(entry.ty(*value), tile, (setting, ranks, rank), parted);
        given.push(failing(engine, ("func.func", entry), of)?);
    }
    let pure = parted;
    let values = execute_with(engine, &chosen, &setting.teams, (given, pure))?;
    let results = entry.results.iter().zip(values).map(|(ty, (lengths, tile))| {
        let home = home(&with_lengths(ty, lengths), (setting, ranks), false)?;
        Ok(MemberResult { home, tile })
    });
    let results = results.collect::<Result<_, MemberRunError>>()?;
    done(engine, MemberRun { results, way })
}

/// A type whose open lengths are these.
fn with_lengths(ty: &Type, lengths: Option<Vec<usize>>) -> Type {
    let mut ty = ty.clone();
    if let (Type::Array(array), Some(lengths)) = (&mut ty, lengths) {
        array.shape = lengths.into_iter().map(Some).collect();
    }
    ty
}

/// The end: ranks that are done hear of those that failed.
fn done(engine: &mut Engine, run: MemberRun) -> Result<MemberRun, MemberRunError> {
    engine.barrier()?;
    Ok(run)
}

/// The program in teams, with the lengths of what is given.
fn prepared(program: &Program, setting: &MemberSetting) -> Program {
    let mut known = program.clone();
    if let Some(types) = &setting.arguments {
        known_lengths(&mut known, types);
    }
    in_teams(&known)
}

/// True if a rank is of no team of the program.
fn is_idle(entry: &Function, setting: &MemberSetting, rank: Rank) -> bool {
    let teams: Vec<String> = (entry.values.iter())
        .filter_map(|value| team_of(&value.ty))
        .map(|team| team.team_name())
        .collect();
    let is_in = |name: &String| setting.teams.get(name).is_none_or(|all| all.contains(&rank));
    !teams.is_empty() && !teams.iter().any(is_in)
}

/// Nothing if the passes made a program for every rank; else what the first one says that has none.
/// Collective.
#[allow(clippy::option_option, reason = "no refusal, and a refusal without words")]
fn agreed(
    engine: &mut Engine,
    (made, idle): (&Result<Program, Option<PassError>>, bool),
) -> Result<Option<Option<String>>, MemberRunError> {
    let record = match made {
        Ok(_) => Vec::new(),
        Err(_) if idle => Vec::new(),
        Err(None) => vec![0],
        Err(Some(error)) => {
            [&[u8::from(is_misaligned(error))], error.to_string().as_bytes()].concat()
        }
    };
    let team: Vec<Rank> = (0..engine.size()).collect();
    let call = CollectiveSignature::here("member programs", 1);
    let records = engine.gather(&call, &team, &record)?;
    let sentence = |record: &Vec<u8>| String::from_utf8_lossy(&record[1..]).into_owned();
    if let Some(rank) = records.iter().position(|record| record.first() == Some(&1)) {
        let refused = MemberRunError::Refused { rank, sentence: sentence(&records[rank]) };
        // Once all ranks have come here they know the same; the first that leaves ends the world.
        let _ = engine.barrier();
        return Err(refused);
    }
    let first = records.iter().find(|record| !record.is_empty());
    Ok(first.map(|record| Some(sentence(record)).filter(|words| !words.is_empty())))
}

/// Where an array of a type lives; one that is not distributed on all ranks, or on those of a team.
fn home(
    ty: &Type,
    (setting, ranks): (&MemberSetting, usize),
    everywhere: bool,
) -> Result<Distribution, MemberRunError> {
    let lowered = Setting { ranks, teams: setting.teams.clone(), ..Setting::default() };
    let local = ty.shape().is_empty() || team_of(ty).is_none();
    let shape: Option<Vec<usize>> = ty.shape().iter().copied().collect();
    match shape.filter(|_| local) {
        Some(shape) => {
            let named = team_of(ty).and_then(|team| setting.teams.get(&team.team_name()));
            let named = named.or_else(|| setting.teams.values().next());
            let team =
                named.filter(|_| !everywhere).cloned().unwrap_or_else(|| (0..ranks).collect());
            let mesh = Mesh::line(team.len()).and_then(|mesh| mesh.with_team(team));
            let home = mesh.and_then(|mesh| Distribution::copies(&shape, mesh));
            home.map_err(|error| MemberRunError::Home(Box::new(error)))
        }
        // What a type says about the parts of one member is checked when it is executed.
        None => {
            let team = team_of(ty).unwrap_or(Attribute::int(0));
            let ty = ty.as_array().map_or_else(|| ty.clone(), |array| placed(array.clone(), &team));
            Ok(lower::home_of(&ty, &lowered)?)
        }
    }
}

/// What a program with distributed arrays gets for an argument on a rank: for [`execute`](crate::execute()). `tile` has
/// the elements that the rank owns.
///
/// # Errors
/// A tile of another length, or lengths that are not known.
pub fn argument(
    ty: &Type,
    tile: &Tile,
    setting: &MemberSetting,
    (ranks, rank): (usize, Rank),
) -> Result<MemberValue, MemberRunError> {
    bound(ty, tile, (setting, ranks, rank), true).map_err(|fault| MemberRunError::Operation {
        rank,
        op: "func.func",
        place: pantile_ir::Place::default(),
        fault: Box::new(fault),
    })
}

/// What a function gets for an argument.
fn bound(
    ty: &Type,
    tile: &Tile,
    (setting, ranks, rank): (&MemberSetting, usize, Rank),
    parted: bool,
) -> Result<MemberValue, OperationFault> {
    let shape: Option<Vec<usize>> = ty.shape().iter().copied().collect();
    let shape = shape.ok_or(OperationFault::Unset)?;
    let team = team_of(ty).filter(|_| !shape.is_empty());
    let Some(team) = team else {
        let array = LocalArray::new(&shape, tile.clone())?;
        return match ty {
            Type::Array(_) => Ok(MemberValue::Local(array)),
            _ => crate::reduce::element(&array, &[]),
        };
    };
    let name = team.team_name();
    let ranks: Vec<Rank> =
        setting.teams.get(&name).cloned().unwrap_or_else(|| (0..ranks).collect());
    let me = ranks.iter().position(|one| *one == rank);
    let layout = PartLayout::default_of(&shape, &MemberTeam { ranks, me, name })?;
    let owned = LocalArray::new(&layout.part_shape(1), tile.clone())?;
    match parted {
        false => Ok(MemberValue::Local(owned)),
        true => {
            let of = (&shape[..], &team);
            Ok(MemberValue::Parts(PartedArray::plain(of, layout, owned, Spread::Default)?))
        }
    }
}
