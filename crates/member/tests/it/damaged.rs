//! Damaged programs of members: an answer, never a panic or a hang.

use std::collections::BTreeMap;
use std::time::Duration;

use pantile_comm::{Communicator, Options, threads};
use pantile_engine::{Engine, Tile};
use pantile_ir::text::parse;
use pantile_ir::verify::verify;
use pantile_ir::{Program, Type};
use pantile_member::{
    LocalArray, MemberSetting, MemberValue, PASSES, argument, execute, in_teams, member_program,
};
use pantile_testkit::{Rng, cases, enough};

use crate::levels::random_text;

/// A text with some numbers changed, and some lines left out or written twice.
fn damaged(rng: &mut Rng, text: &str) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..1 + rng.below(2) {
        let at = rng.below(lines.len());
        match rng.below(8) {
            0 => {
                lines.remove(at);
            }
            1 => {
                let line = lines[at].clone();
                lines.insert(rng.below(lines.len()), line);
            }
            _ => lines[at] = with_other_number(rng, &lines[at]),
        }
        if lines.is_empty() {
            break;
        }
    }
    lines.join("\n")
}

fn with_other_number(rng: &mut Rng, line: &str) -> String {
    let places: Vec<usize> = line
        .char_indices()
        .filter(|(at, c)| {
            let before = line[..*at].chars().next_back().unwrap_or(' ');
            c.is_ascii_digit() && !before.is_alphanumeric() && before != '#'
        })
        .map(|(at, _)| at)
        .collect();
    if places.is_empty() {
        return line.to_owned();
    }
    let at = *rng.pick(&places);
    let end = line[at..].find(|c: char| !c.is_ascii_digit()).map_or(line.len(), |end| at + end);
    let number = *rng.pick(&["0", "1", "2", "3", "5", "7", "12", "100", "9223372036854775807"]);
    format!("{}{number}{}", &line[..at], &line[end..])
}

/// What is given for an argument of a damaged program; nothing if nothing fits.
fn zeros(ty: &Type, ranks: usize, rank: usize) -> Option<MemberValue> {
    let shape: Vec<usize> = ty.shape().iter().copied().collect::<Option<_>>()?;
    let count = shape.iter().try_fold(1_usize, |all, length| all.checked_mul(*length))?;
    let array = ty.as_array()?;
    if count > 10_000 {
        return None;
    }
    if array.dist_env().is_some() {
        let lower = pantile_lower::Setting { ranks, ..Default::default() };
        let plain = Type::Array(array.placed(array.dist_env().map(|env| {
            pantile_ir::Env::Dist(pantile_ir::DistEnv { team: env.team.clone(), local: None })
        })));
        let home = pantile_lower::home_of(&plain, &lower).ok()?;
        let own = home.owned_elements(rank).map_or(0, |owned| owned.len());
        let tile = Tile::zeroed(array.dtype(), own);
        return argument(ty, &tile, &MemberSetting::default(), (ranks, rank)).ok();
    }
    let tile = Tile::zeroed(array.dtype(), count);
    LocalArray::new(&shape, tile).ok().map(MemberValue::Local)
}

/// The programs of all ranks, if they are sound.
fn programs(texts: &[String]) -> Option<Vec<Program>> {
    let sound =
        |text: &String| parse(text, "damaged.dist").ok().filter(|program| verify(program).is_ok());
    texts.iter().map(sound).collect()
}

#[test]
fn damaged_programs_of_members_get_an_answer() {
    let mut executed = 0;
    cases("damaged_programs_of_members_get_an_answer", 400, |rng| {
        let (text, _, _) = random_text(rng);
        let (program, ranks) = (in_teams(&parse(&text, "whole.dist").unwrap()), 2);
        let passes = &PASSES[..1 + rng.below(PASSES.len())];
        let mut texts: Vec<String> = (0..ranks)
            .map(|rank| member_program(&program, passes, (ranks, rank), &BTreeMap::new()).unwrap())
            .map(|made| made.to_string())
            .collect();
        // On one rank only, or where programs are the same on all of them.
        let other = damaged(rng, &texts[0]);
        let all = texts[0] == texts[1] && rng.chance(1, 2);
        texts[0].clone_from(&other);
        if all {
            texts[1] = other;
        }
        let Some(programs) = programs(&texts) else { return };
        executed += 1;
        let options = Options::default().with_deadline(Duration::from_secs(20));
        let results = threads::run(ranks, &options, |communicator: Communicator| {
            let mut engine = Engine::new(communicator);
            let rank = engine.rank();
            let entry = programs[rank].entry().unwrap();
            let arguments = entry.body.arguments.iter();
            let given: Option<Vec<MemberValue>> =
                arguments.map(|value| zeros(entry.ty(*value), ranks, rank)).collect();
            let given = given.unwrap_or_default();
            let made = execute(&mut engine, &programs[rank], &BTreeMap::new(), given);
            made.map(|_| ()).map_err(|error| error.to_string())
        });
        for result in results {
            let words = result.err().map(|error| error.to_string()).unwrap_or_default();
            assert!(!words.contains("panicked"), "{words}\n{}\n{}", texts[0], texts[1]);
        }
    });
    assert!(enough(executed, 80), "only {executed} damaged programs were sound");
}
