//! Totals and cost of a movement that is too large to be listed.

use anyhow::Result;
use pantile_plan::json::Value;
use pantile_plan::{Estimate, Totals};

use super::{MESSAGES_MAX, RANKS_MAX, Request, text};
use crate::numbers::{count, plural, size};
use crate::report::Report;

/// Ranks that are looked at.
const SAMPLES: usize = 64;

pub(super) fn report(request: &Request<'_>) -> Result<Report> {
    let stations = request.stations()?;
    let mut sum: Option<Estimate> = None;
    let mut steps = Vec::new();
    for pair in stations.windows(2) {
        let ends = (&pair[0], &pair[1]);
        let step = Estimate::between(ends, &request.machine, request.element_bytes, SAMPLES)?;
        steps.push(step.clone());
        sum = Some(sum.map_or(step.clone(), |sum| added(sum, &step)));
    }
    let estimate = sum.unwrap_or_default();
    let totals = request.totals()?;
    if request.arguments.json {
        return Ok(Report::json(&json(request, &totals, &estimate)?));
    }
    let mut out = String::new();
    for (pair, number) in stations.windows(2).zip(1..) {
        if steps.len() > 1 {
            out.push_str(&format!("step {number} of {}\n", steps.len()));
        }
        out.push_str(&text::ends(&pair[0], &pair[1]));
    }
    let ranks = request.ranks();
    let why = if ranks > RANKS_MAX {
        format!("{} ranks are more than {}", size(ranks), size(RANKS_MAX))
    } else {
        format!("{} are more than {}", plural(totals.messages, "message"), count(MESSAGES_MAX))
    };
    out.push_str(&format!(
        "\nNot listed: {why}. `--rank R` shows one rank, `--all` lists everything.\n\n"
    ));
    out.push_str(&text::totals(&estimate, request.element_bytes));
    out.push('\n');
    out.push_str(&text::cost(&estimate, &request.machine, request.element_bytes));
    Ok(Report::text(out))
}

/// One step after the other.
fn added(mut sum: Estimate, step: &Estimate) -> Estimate {
    for (traffic, more) in sum.links.iter_mut().zip(&step.links) {
        traffic.bytes += more.bytes;
        traffic.messages += more.messages;
    }
    sum.kept_bytes += step.kept_bytes;
    sum.seconds += step.seconds;
    sum.peak_bytes = sum.peak_bytes.max(step.peak_bytes);
    sum
}

fn json(request: &Request<'_>, totals: &Totals, estimate: &Estimate) -> Result<Value> {
    let big = |value: u128| Value::from(i128::try_from(value).unwrap_or(i128::MAX));
    let stations = request.stations()?;
    let text = |station: Option<&pantile_geometry::Distribution>| {
        station.map(ToString::to_string)
    };
    Ok(Value::object([
        ("source", text(stations.first()).into()),
        ("target", text(stations.last()).into()),
        ("element_bytes", request.element_bytes.into()),
        ("moved", big(totals.moved)),
        ("kept", big(totals.kept)),
        ("messages", big(totals.messages)),
        ("cost", estimate.to_json()),
    ]))
}
