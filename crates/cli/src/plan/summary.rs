//! Totals and cost of a movement that is too large to be listed.

use anyhow::Result;
use pantile_geometry::Distribution;
use pantile_plan::json::Value;
use pantile_plan::{Estimate, Schedule};

use super::{Request, effort, text};
use crate::numbers::{bytes, plural, size};
use crate::report::Report;

/// Ranks that are looked at, if their shares are small.
const SAMPLES: usize = 64;

/// Totals that are extrapolated from a few ranks.
#[derive(Clone, Copy, Debug, Default)]
struct Rough {
    moved: u128,
    messages: u128,
}

pub(super) fn report(request: &Request<'_>, why: &str) -> Result<Report> {
    let stations = request.stations()?;
    let mut sum = Estimate::default();
    let mut rough = Rough::default();
    let mut exact = true;
    for pair in stations.windows(2) {
        let (source, target) = (&pair[0], &pair[1]);
        let step = extrapolate(source, target)?;
        rough.moved += step.moved;
        rough.messages += step.messages;
        // Everybody talking to very many makes each sample dear.
        let peers = step.messages / target.mesh().size().max(source.mesh().size()) as u128;
        exact &= effort::pairs(source, target)? <= effort::PAIRS_MAX && peers < 10_000;
        if exact {
            let ends = (source, target);
            let samples = if peers > 500 { 4 } else { SAMPLES };
            let step = Estimate::between(ends, &request.machine, request.element_bytes, samples)?;
            add(&mut sum, &step);
        }
    }
    let estimate = exact.then_some(sum);
    if request.arguments.json {
        return Ok(Report::json(&json(request, &stations, estimate.as_ref(), rough)));
    }
    let mut out = String::new();
    for (pair, number) in stations.windows(2).zip(1..) {
        if stations.len() > 2 {
            out.push_str(&format!("step {number} of {}\n", stations.len() - 1));
        }
        out.push_str(&text::ends(&pair[0], &pair[1]));
    }
    out.push_str(&format!("\nNot listed: {why}. `--rank R` shows one rank.\n\n"));
    match estimate {
        Some(estimate) => {
            out.push_str(&text::totals(&estimate, request.element_bytes));
            out.push('\n');
            out.push_str(&text::cost(&estimate, &request.machine, request.element_bytes));
        }
        None => out.push_str(&format!(
            "moved  about {}, {}, in {} (extrapolated from a few ranks)\n",
            plural(rough.moved, "element"),
            bytes(rough.moved * request.element_bytes as u128),
            plural(rough.messages, "message"),
        )),
    }
    Ok(Report::text(out))
}

/// Why a movement is not listed, in words.
pub(super) fn why_ranks(ranks: usize) -> String {
    format!("{} ranks are more than {}", size(ranks), size(super::RANKS_MAX))
}

/// What evenly spaced ranks receive, times the number of ranks.
fn extrapolate(source: &Distribution, target: &Distribution) -> Result<Rough> {
    let mesh = target.mesh();
    let share = |position: usize| -> Result<(u128, u128)> {
        let rank = mesh.rank_at(position);
        let schedule = Schedule::between(source, target, rank)?;
        let receives = schedule.legs.iter().flat_map(|leg| &leg.receives);
        let messages = receives.filter(|message| message.peer != rank).count();
        Ok((schedule.received() as u128, messages as u128))
    };
    // Fewer of them where each has very many peers.
    let peers = usize::try_from(share(0)?.1).unwrap_or(usize::MAX);
    let count = (1_000_000 / peers.max(1)).clamp(3, 257).min(mesh.size());
    let mut sum = Rough::default();
    for at in 0..count {
        // The middle of each of `count` stretches.
        let position = (2 * at + 1) as u128 * mesh.size() as u128 / (2 * count) as u128;
        let (moved, messages) = share(usize::try_from(position).unwrap_or(0))?;
        sum.moved += moved;
        sum.messages += messages;
    }
    let scaled = |total: u128| total * mesh.size() as u128 / count as u128;
    Ok(Rough { moved: scaled(sum.moved), messages: scaled(sum.messages) })
}

/// One step after the other.
fn add(sum: &mut Estimate, step: &Estimate) {
    for (traffic, more) in sum.links.iter_mut().zip(&step.links) {
        traffic.bytes += more.bytes;
        traffic.messages += more.messages;
    }
    sum.kept_bytes += step.kept_bytes;
    sum.seconds += step.seconds;
    sum.peak_bytes = sum.peak_bytes.max(step.peak_bytes);
    sum.busiest = step.busiest;
    sum.sampled = step.sampled;
}

fn json(
    request: &Request<'_>,
    stations: &[Distribution],
    estimate: Option<&Estimate>,
    rough: Rough,
) -> Value {
    let big = |value: u128| Value::from(i128::try_from(value).unwrap_or(i128::MAX));
    let bytes = request.element_bytes as u128;
    let text = |station: Option<&Distribution>| station.map(ToString::to_string);
    let moved = estimate.map_or(rough.moved, |e| e.moved_bytes() / bytes);
    let messages = estimate.map_or(rough.messages, Estimate::messages);
    Value::object([
        ("source", text(stations.first()).into()),
        ("target", text(stations.last()).into()),
        ("element_bytes", request.element_bytes.into()),
        ("exact", estimate.is_some().into()),
        ("moved", big(moved)),
        ("kept", estimate.map_or_else(Value::null, |e| big(e.kept_bytes / bytes))),
        ("messages", big(messages)),
        ("cost", estimate.map_or_else(Value::null, Estimate::to_json)),
    ])
}
