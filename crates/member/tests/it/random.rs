//! Random programs: members give the bytes that the programs mean.

use pantile_comm::{Communicator, Options, threads};
use pantile_engine::Engine;
use pantile_member::MemberWay;
use pantile_suite::programs::members::by_members;
use pantile_suite::programs::{Trial, generate};
use pantile_testkit::{Rng, enough, scaled};

/// Runs a trial on so many ranks.
fn check(seed: u64, trial: &Trial, ranks: usize, by_operation: bool) -> MemberWay {
    let expected = trial.expected().unwrap();
    let results = threads::run(ranks, &Options::default(), |communicator: Communicator| {
        by_members(&mut Engine::new(communicator), trial, &expected, by_operation)
    });
    let mut ways = results.into_iter().map(|result| {
        result.unwrap_or_else(|fault| {
            panic!(
                "seed {seed} on {ranks} ranks, by operation {by_operation}: {fault}\n{:?}\n{}",
                trial.team, trial.program
            )
        })
    });
    let way = ways.next().unwrap();
    assert!(ways.all(|other| other == way), "ranks execute it in different ways");
    way
}

/// `PANTILE_CASES=12500` makes 5,000 of them, of which 2,000 are made by the passes.
#[test]
fn random_programs_give_the_same_bytes_on_members() {
    let (mut members, mut all) = (0, 0);
    for seed in 0..scaled(40) {
        let ranks = 1 + usize::try_from(seed % 4).unwrap();
        let trial = generate::trial(&mut Rng::law(seed), ranks);
        check(seed, &trial, ranks, true);
        match check(seed, &trial, ranks, false) {
            MemberWay::Members => members += 1,
            MemberWay::Operations { reason } => {
                if std::env::var_os("PANTILE_REASONS").is_some() {
                    println!("{}", reason.unwrap_or_default());
                }
            }
        }
        all += 1;
    }
    println!("{all} programs, {members} of them made by the passes");
    assert!(enough(members, 10), "the passes made only {members} of {all} programs");
}

/// More ranks than rows: most members have nothing.
#[test]
fn random_programs_give_the_same_bytes_on_many_members() {
    for seed in 0..scaled(8) {
        let ranks = 5 + usize::try_from(seed % 5).unwrap();
        let trial = generate::trial(&mut Rng::law(9000 + seed), ranks);
        check(seed, &trial, ranks, false);
    }
}
