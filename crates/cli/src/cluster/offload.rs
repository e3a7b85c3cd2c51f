//! The cost model of offloading: a program that is predicted to be cheaper on one local rank is not
//! sent to the cluster.

use anyhow::Result;
use pantile_engine::available_memory;
use pantile_lower::{Cost, Executable, SlotId};
use pantile_plan::{Link, Machine, Terrain};
use pantile_text::json::Value;

use crate::numbers::{bytes, plural, seconds};

/// Seconds until ranks elsewhere have begun, and are heard again when they are done.
const LAUNCH: f64 = 2e-3;

/// Predictions of computing are for memory that is far away; the examples, whose arrays are in
/// caches, take about a quarter of them. What is compared with messages must not be too large.
const COMPUTING: f64 = 0.25;

/// Messages between workers, and elements to and from them: on one machine, and over a network.
const NEAR: Link = Link { latency: 3e-5, bandwidth: 1e9 };
const FAR: Link = Link { latency: 1e-4, bandwidth: 1e9 };

/// What the ranks of a cluster are, for predictions.
pub(crate) fn machine(same_machine: bool) -> Machine {
    let mut machine = Machine::default().with_ranks(1, if same_machine { usize::MAX } else { 1 });
    machine.links = [NEAR, NEAR, FAR];
    machine
}

/// Bytes of arguments that travel to the ranks of an executable, copies included.
pub(crate) fn argument_bytes(executable: &Executable) -> u128 {
    let bytes = |(slot, rank): (SlotId, usize)| {
        let owned = executable.local_owned(slot, rank);
        let count: usize = owned.map_or(0, |(shape, _)| shape.iter().product());
        (count * executable.slots[slot.index()].dtype.bytes()) as u128
    };
    let slots = executable.arguments.iter().map(|(slot, _)| *slot);
    let pairs = slots.flat_map(|slot| (0..executable.ranks).map(move |rank| (slot, rank)));
    pairs.map(bytes).sum()
}

/// Predicted seconds.
#[derive(Clone, Copy, Debug)]
struct PredictedSeconds {
    /// Of all that is done a known number of times.
    known: f64,
    /// Of one turn of the loops that end by a condition.
    per_iteration: f64,
}

/// Predicted times on one local rank, and on a cluster.
pub(crate) struct OffloadEstimate {
    /// Or why that is out of the question.
    local: Result<PredictedSeconds, &'static str>,
    /// Bytes of arguments, and how long they travel.
    up: (u128, f64),
    /// Bytes of results that are fetched, and how long they travel.
    down: (u128, f64),
    run: PredictedSeconds,
    ranks: usize,
}

/// Estimates a program: lowered for one rank here, if that is possible, and for the ranks there;
/// with the bytes that go there and come back.
///
/// # Errors
/// What is planned cannot be costed.
pub(crate) fn estimate(
    local: Option<&Executable>,
    remote: &Executable,
    (up, down): (u128, u128),
    same_machine: bool,
) -> Result<OffloadEstimate> {
    let link = if same_machine { NEAR } else { FAR };
    #[allow(clippy::cast_precision_loss, reason = "an estimate")]
    let travel = |bytes: u128| match bytes {
        0 => 0.0,
        bytes => link.latency + bytes as f64 / link.bandwidth,
    };
    let local = match local {
        None => Err("it is not for one rank"),
        Some(local) if available_memory().is_some_and(|free| local.needed_bytes(0) > free) => {
            Err("it does not fit into the memory here")
        }
        Some(local) => {
            let machine = Machine::default().with_ranks(1, 1);
            let cost = local.cost(&machine, Terrain::new(true))?;
            Ok(predicted(&cost))
        }
    };
    let run = predicted(&remote.cost(&machine(same_machine), Terrain::new(false))?);
    let (up, down) = ((up, travel(up)), (down, travel(down)));
    Ok(OffloadEstimate { local, up, down, run, ranks: remote.ranks })
}

fn predicted(cost: &Cost) -> PredictedSeconds {
    let mut time = PredictedSeconds { known: 0.0, per_iteration: 0.0 };
    for step in &cost.steps {
        let seconds = step.seconds * if step.movements.is_empty() { COMPUTING } else { 1.0 };
        #[allow(clippy::cast_precision_loss, reason = "an estimate")]
        match step.times {
            Some(times) => time.known += seconds * times as f64,
            None => time.per_iteration += seconds,
        }
    }
    time
}

impl OffloadEstimate {
    /// Predicted seconds on the cluster, of all that is done a known number of times.
    fn remote(&self) -> f64 {
        self.run.known + LAUNCH + self.up.1 + self.down.1
    }

    /// True if offloading is worthwhile: not if it is done sooner locally, however often loops
    /// turn.
    pub(crate) fn is_worthwhile(&self) -> bool {
        match self.local {
            Err(_) => true,
            Ok(local) => {
                local.known >= self.remote() || local.per_iteration > self.run.per_iteration
            }
        }
    }

    /// What was compared, in words.
    pub(crate) fn why(&self) -> String {
        let local = match self.local {
            Err(why) => return format!("{why}, so nothing is compared"),
            Ok(local) => local,
        };
        let way = |(count, time): (u128, f64), word: &str| match count {
            0 => String::new(),
            _ => format!(" + {} for {} {word}", seconds(time), bytes(count)),
        };
        let turns = match local.per_iteration > 0.0 || self.run.per_iteration > 0.0 {
            false => String::new(),
            true => format!(
                "; every turn of a loop that ends by a condition {} here, {} there",
                seconds(local.per_iteration),
                seconds(self.run.per_iteration)
            ),
        };
        format!(
            "predicted {} on one rank here, {} there: {} to start{} + {} on {}{}{turns}",
            seconds(local.known),
            seconds(self.remote()),
            seconds(LAUNCH),
            way(self.up, "up"),
            seconds(self.run.known),
            plural(self.ranks as u128, "rank"),
            way(self.down, "down"),
        )
    }

    /// The same for programs.
    pub(crate) fn to_json(&self) -> Value {
        let float = |value: f64| Value::float(value).unwrap_or_else(Value::null);
        let local = |of: fn(&PredictedSeconds) -> f64| self.local.as_ref().ok().map(of);
        let some = |value: Option<f64>| value.map_or_else(Value::null, float);
        let big = |value: u128| Value::from(i128::try_from(value).unwrap_or(i128::MAX));
        Value::object([
            ("ships", self.is_worthwhile().into()),
            ("home_seconds", some(local(|time| time.known))),
            ("home_turn_seconds", some(local(|time| time.per_iteration))),
            ("cluster_seconds", float(self.remote())),
            ("launch_seconds", float(LAUNCH)),
            ("up_bytes", big(self.up.0)),
            ("up_seconds", float(self.up.1)),
            ("run_seconds", float(self.run.known)),
            ("run_turn_seconds", float(self.run.per_iteration)),
            ("down_bytes", big(self.down.0)),
            ("down_seconds", float(self.down.1)),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO: PredictedSeconds = PredictedSeconds { known: 0.0, per_iteration: 0.0 };

    fn estimate_of(
        local: Result<PredictedSeconds, &'static str>,
        run: PredictedSeconds,
    ) -> OffloadEstimate {
        OffloadEstimate { local, up: (0, 0.0), down: (1000, 1e-3), run, ranks: 2 }
    }

    fn known(known: f64) -> PredictedSeconds {
        PredictedSeconds { known, ..NO }
    }

    #[test]
    fn what_is_cheaper_at_home_stays_there() {
        assert!(!estimate_of(Ok(known(1e-3)), NO).is_worthwhile());
        assert!(!estimate_of(Ok(known(2.9e-3)), NO).is_worthwhile());
        assert!(estimate_of(Ok(known(4e-3)), NO).is_worthwhile());
        assert!(!estimate_of(Ok(known(4e-3)), known(2e-3)).is_worthwhile());
    }

    #[test]
    fn loops_that_end_by_a_condition_decide_if_they_may() {
        let turning = |local: f64, remote: f64| {
            estimate_of(
                Ok(PredictedSeconds { per_iteration: local, ..NO }),
                PredictedSeconds { per_iteration: remote, ..NO },
            )
        };
        assert!(!turning(1e-6, 1e-5).is_worthwhile());
        assert!(turning(1e-5, 1e-6).is_worthwhile());
        let why = turning(1e-5, 1e-6).why();
        assert!(
            why.ends_with("; every turn of a loop that ends by a condition 10 us here, 1 us there")
        );
    }

    #[test]
    fn what_cannot_be_compared_is_shipped_as_asked() {
        let large = estimate_of(Err("it does not fit into the memory here"), known(1.0));
        assert!(large.is_worthwhile());
        assert_eq!(large.why(), "it does not fit into the memory here, so nothing is compared");
    }

    #[test]
    fn the_numbers_are_shown() {
        let why = estimate_of(Ok(known(1e-3)), known(5e-4)).why();
        let expected = "predicted 1 ms on one rank here, 3.5 ms there: 2 ms to start + 500 us on 2 \
                        ranks + 1 ms for 1000 B down";
        assert_eq!(why, expected);
    }
}
