//! Random programs: members give the bytes that the programs mean.

use pantile_member::{MemberSetting, MemberWay};
use pantile_suite::programs::{Trial, generate};
use pantile_testkit::{Rng, scaled};

use crate::common::compare;

fn setting(trial: &Trial) -> MemberSetting {
    let mut setting = MemberSetting::default();
    if !trial.team.is_empty() {
        setting.teams.insert("1".to_owned(), trial.team.clone());
    }
    setting
}

/// Runs a trial on so many ranks by the passes and operation by operation. Nothing if the passes find
/// that operands are misaligned.
fn check(seed: u64, trial: &Trial, ranks: usize) -> Option<MemberWay> {
    let expected = trial.expected().unwrap();
    let run = |by_operation: bool| {
        let setting = MemberSetting { by_operation, ..setting(trial) };
        let given = (&trial.arguments[..], &expected[..]);
        match compare(&trial.program, &setting, ranks, given) {
            Ok(way) => Some(way),
            Err(fault) if fault.contains("`dist.repartition` brings them together") && !by_operation => None,
            Err(fault) => panic!(
                "seed {seed} on {ranks} ranks, by operation {by_operation}: {fault}\n{:?}\n{}",
                trial.team, trial.program
            ),
        }
    };
    run(true).and_then(|_| run(false))
}

/// `PANTILE_CASES=5000` makes 2,000 of them.
#[test]
fn random_programs_give_the_same_bytes_on_members() {
    let (mut members, mut refused, mut all) = (0, 0, 0);
    for seed in 0..scaled(40) {
        let ranks = 1 + usize::try_from(seed % 4).unwrap();
        let trial = generate::trial(&mut Rng::law(seed), ranks);
        match check(seed, &trial, ranks) {
            Some(MemberWay::Members) => members += 1,
            Some(MemberWay::Operations { reason }) => {
                if std::env::var_os("PANTILE_REASONS").is_some() {
                    println!("{}", reason.unwrap_or_default());
                }
            }
            None => refused += 1,
        }
        all += 1;
    }
    println!("{all} programs: {members} made by the passes, {refused} misaligned");
}
