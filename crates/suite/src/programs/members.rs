//! A random program by its members: each rank runs a program of its own.

use pantile_engine::{Engine, Tile};
use pantile_ir::reference::Array;
use pantile_member::{MemberSetting, MemberWay, argument_homes, run};
use pantile_spmd::RankContext;
use pantile_testkit::{Rng, scaled};

use super::execute::{owned, same, tile};
use super::{Trial, generate};

/// Random programs in a world; `PANTILE_CASES` scales it.
const PROGRAMS: usize = 6;

/// Every rank makes the same programs and looks at what it owns itself.
pub(super) fn programs(world: &RankContext) -> Result<(), String> {
    for seed in 0..scaled(PROGRAMS) {
        let trial = generate::trial(&mut Rng::law(seed), world.size());
        let expected = trial.expected()?;
        for by_operation in [false, true] {
            by_members(&mut world.engine(), &trial, &expected, by_operation)
                .map_err(|fault| format!("program {seed}: {fault}\n{}", trial.program))?;
        }
    }
    Ok(())
}

/// Runs a program by its members, and compares what this rank has of the results. Collective.
///
/// # Errors
/// The first difference, or the error of the run.
pub fn by_members(
    engine: &mut Engine,
    trial: &Trial,
    expected: &[Array],
    by_operation: bool,
) -> Result<MemberWay, String> {
    let (rank, ranks) = (engine.rank(), engine.size());
    let mut setting = MemberSetting { by_operation, ..MemberSetting::default() };
    if !trial.team.is_empty() {
        setting.teams.insert("1".to_owned(), trial.team.clone());
    }
    let homes = argument_homes(&trial.program, &setting, ranks).map_err(|e| e.to_string())?;
    let given: Vec<Tile> = (trial.arguments.iter().zip(&homes))
        .map(|(array, home)| tile(array, &owned(home, rank).collect::<Vec<_>>()))
        .collect();
    let done = run(engine, &trial.program, &setting, &given).map_err(|error| error.to_string())?;
    if done.results.len() != expected.len() {
        return Err(format!("got {} results, expected {}", done.results.len(), expected.len()));
    }
    for (number, (result, array)) in done.results.iter().zip(expected).enumerate() {
        // Ranks of no team have nothing, or what all others have, too.
        if result.home.local_shape(rank).is_some() {
            same(&result.tile, array, (&result.home, false), rank)
                .map_err(|fault| format!("{:?}: result {number}: {fault}", done.way))?;
        }
    }
    Ok(done.way)
}
