//! Totals and cost of a movement that is too large to be listed.

use anyhow::Result;
use pantile_geometry::Distribution;
use pantile_plan::{Estimate, Totals};
use pantile_text::json::Value;

use super::{PlanRequest, text};
use crate::numbers::size;
use crate::report::Report;

/// Ranks that are looked at, if their shares are small.
const SAMPLES: usize = 64;

pub(super) fn report(request: &PlanRequest<'_>, why: &str) -> Result<Report> {
    let stations = request.stations()?;
    let mut sum = Estimate::default();
    let (mut totals, mut costed) = (Totals { exact: true, ..Totals::default() }, true);
    for pair in stations.windows(2) {
        let (source, target) = (&pair[0], &pair[1]);
        let step = Totals::about(source, target)?;
        totals = totals.and(&step);
        // Everybody talking to very many makes each sample dear.
        let peers = step.messages / target.mesh().size().max(source.mesh().size()) as u128;
        costed &= step.exact && peers < 10_000;
        if costed {
            let ends = (source, target);
            let samples = if peers > 500 { 4 } else { SAMPLES };
            let step = Estimate::between(ends, &request.machine, request.element_bytes, samples)?;
            add(&mut sum, &step);
        }
    }
    let estimate = costed.then_some(sum);
    if request.arguments.json {
        return Ok(Report::json(&json(request, &stations, estimate.as_ref(), totals)));
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
        None => out.push_str(&text::sums(&totals, request.element_bytes)),
    }
    Ok(Report::text(out))
}

/// Why a movement is not listed, in words.
pub(super) fn why_ranks(ranks: usize) -> String {
    format!("{} ranks are more than {}", size(ranks), size(super::RANKS_MAX))
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
    request: &PlanRequest<'_>,
    stations: &[Distribution],
    estimate: Option<&Estimate>,
    totals: Totals,
) -> Value {
    let big = |value: u128| Value::from(i128::try_from(value).unwrap_or(i128::MAX));
    let text = |station: Option<&Distribution>| station.map(ToString::to_string);
    Value::object([
        ("source", text(stations.first()).into()),
        ("target", text(stations.last()).into()),
        ("element_bytes", request.element_bytes.into()),
        ("exact", totals.exact.into()),
        ("moved", big(totals.moved)),
        ("kept", big(totals.kept)),
        ("messages", big(totals.messages)),
        ("cost", estimate.map_or_else(Value::null, Estimate::to_json)),
    ])
}
