//! Measuring: first the results are compared, then both ways take turns.

use anyhow::{Result, bail};
use pantile_engine::available_memory;

use super::case::{Bench, Case, Site};
use super::figure::Figure;
use super::hands::{self, Gate, Hands};
use super::ours::Ours;
use pantile_text::numbers::{bytes, shape, size};

/// Short calls are repeated within a turn for so many seconds.
const TURN: f64 = 2e-3;

/// What takes less is tried a few times within a turn, and the best counts: otherwise whoever has
/// to let another program have its core loses the turn.
const SHORT: f64 = 50e-3;

/// How often.
const TRIES: usize = 5;

/// Calls of a turn at most.
const CALLS_MAX: f64 = 20_000.0;

/// How far sums may be apart, relatively: a plain one rounds at every step.
const SUM_APART: f64 = 1e-9;

/// Measures a case.
///
/// # Errors
/// The results differ, a rank failed, or there is not enough memory.
pub fn measured(case: &Case, turns: usize) -> Result<Figure> {
    if let Some(free) = available_memory().filter(|free| *free < case.bytes()) {
        bail!(
            "{} needs {} of memory, but {} are free: say --scale with a number below this one's",
            case.name,
            bytes(case.bytes() as u128),
            bytes(free as u128)
        );
    }
    let (bench, mut ours) = (Bench::new(case), Ours::new(case)?);
    let work = |way: usize, rank: usize, gate: &Gate| {
        (case.by_hand[way].1)(&Site { rank, bench: &bench, gate });
    };
    hands::with(case.ranks, &work, |hands| {
        for way in 0..case.by_hand.len() {
            // What changes must have changed as often.
            ours.run(1)?;
            hands.run(way, 1)?;
            for result in 0..case.states.max(1) {
                let by_hand = bench.whole(result, case.is_sum);
                compared(case, &ours.whole(result)?, &by_hand)?;
            }
        }
        take_turns(case, turns, &mut ours, hands)
    })
}

/// Refuses results that differ.
fn compared(case: &Case, ours: &[f64], by_hand: &[f64]) -> Result<()> {
    let apart = |one: f64, other: f64| match case.is_sum {
        true => (one - other).abs() > SUM_APART * other.abs(),
        false => one.to_bits() != other.to_bits(),
    };
    let mut pairs = ours.iter().zip(by_hand).enumerate();
    let found = pairs.find(|(_, (one, other))| apart(**one, **other) || one.is_nan());
    match found {
        Some((place, (one, other))) => bail!(
            "{} on {}: the results differ at element {}: ours is {one:?}, by hand it is {other:?}",
            case.name,
            pantile_text::numbers::plural(case.ranks as u128, "rank"),
            size(place),
        ),
        None if ours.len() != by_hand.len() => bail!(
            "{}: ours has {} elements, by hand there are {}",
            case.name,
            size(ours.len()),
            size(by_hand.len())
        ),
        None => Ok(()),
    }
}

/// Times of both, in turns; who is first changes.
fn take_turns(case: &Case, turns: usize, ours: &mut Ours, hands: &Hands<'_>) -> Result<Figure> {
    let (way, once) = fastest(case, hands)?;
    let first = ours.run(1)?;
    let calls = [calls(first), calls(once)];
    let tries = if first.max(once) < SHORT { TRIES } else { 1 };
    let (mut own, mut bound, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for turn in 0..turns {
        let (mut mine, mut theirs) = (f64::INFINITY, f64::INFINITY);
        for attempt in 0..2 * tries {
            match (turn + attempt) % 2 {
                0 => mine = mine.min(ours.run(calls[0])?),
                _ => theirs = theirs.min(hands.run(way, calls[1])?),
            }
        }
        own.push(mine / case.steps as f64);
        bound.push(theirs / case.steps as f64);
        ratios.push(theirs / mine);
    }
    Ok(Figure {
        group: case.group,
        name: case.name.to_owned(),
        size: if case.shape.len() == 1 { size(case.shape[0]) } else { shape(&case.shape) },
        ranks: case.ranks,
        ours: median(own),
        bound: median(bound),
        bound_is: case.by_hand[way].0.to_owned(),
        ratio: median(ratios),
        aim: case.aim,
    })
}

/// The fastest way by hand, and its time.
fn fastest(case: &Case, hands: &Hands<'_>) -> Result<(usize, f64)> {
    let mut best = (0, hands.run(0, 1)?);
    if case.by_hand.len() == 1 {
        return Ok(best);
    }
    let repeats = calls(best.1);
    for _ in 0..3 {
        for way in 0..case.by_hand.len() {
            let time = hands.run(way, repeats)?;
            if time < best.1 {
                best = (way, time);
            }
        }
    }
    Ok(best)
}

/// How often something of so many seconds is done within a turn.
fn calls(seconds: f64) -> usize {
    let calls = (TURN / seconds.max(1e-9)).clamp(1.0, CALLS_MAX);
    #[expect(clippy::cast_possible_truncation, reason = "it is between 1 and 20,000")]
    #[expect(clippy::cast_sign_loss, reason = "it is between 1 and 20,000")]
    return calls as usize;
}

/// The one in the middle.
fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;

    /// The case with this name, tiny.
    fn tiny(name: &str, ranks: usize) -> Case {
        let all = cases::all(&[ranks], 1e-4);
        all.into_iter().find(|case| case.name.contains(name)).expect("there is such a case")
    }

    #[test]
    fn a_wrong_bound_is_found_out() {
        let mut case = tiny("triad", 2);
        case.by_hand.push(("one element is wrong", |site| {
            let mut own = site.own(0);
            if let Some(last) = own.as_mut_slice::<f64>().last_mut() {
                *last = f64::from_bits(last.to_bits() ^ 1);
            }
        }));
        let error = measured(&case, 1).map(|figure| figure.ours).unwrap_err().to_string();
        assert!(error.contains("triad") && error.contains("the results differ"), "{error}");
        assert!(error.contains("on 2 ranks"), "{error}");
    }

    #[test]
    fn a_wrong_sum_is_found_out() {
        let mut case = tiny("sum", 1);
        case.by_hand = vec![("too much", |site| site.own(0).as_mut_slice::<f64>()[0] = 1e9)];
        assert!(measured(&case, 1).is_err());
    }

    #[test]
    fn a_wrong_state_is_found_out() {
        let mut case = tiny("PRK transpose", 2);
        case.by_hand = vec![("nothing is done", |_| ())];
        let error = measured(&case, 1).map(|figure| figure.ours).unwrap_err().to_string();
        assert!(error.contains("the results differ at element 0"), "{error}");
    }

    #[test]
    fn what_is_too_large_is_refused() {
        let case = Case { shape: vec![1 << 30, 1 << 10], ..tiny("transpose", 1) };
        let error = measured(&case, 1).map(|figure| figure.ours).unwrap_err().to_string();
        assert!(error.contains("say --scale"), "{error}");
    }
}
