//! All transfers of a movement.

use std::collections::BTreeSet;

use anyhow::Result;
use pantile_draw::Svg;
use pantile_geometry::Rank;
use pantile_plan::{Estimate, Plan, Round, Step, Transfer};
use pantile_text::json::Value;

use super::{Path, PlanRequest, remark, text};
use crate::draw;
use crate::numbers::{plural, seconds, size};
use crate::report::Report;
use crate::table::{Align, aligned};

/// Transfers listed per round unless `--all` is given.
const TRANSFERS_SHOWN: usize = 40;

/// Ranks up to which the matrix is shown.
const MATRIX_RANKS: usize = 16;

/// Another way to the same end that takes less time.
struct Cheaper {
    name: &'static str,
    estimate: Estimate,
}

pub(super) fn report(request: &PlanRequest<'_>) -> Result<Report> {
    let plan = request.plan()?;
    if let Some(path) = &request.arguments.draw {
        draw::save(&picture(&plan)?, path)?;
    }
    if request.arguments.text {
        return Ok(Report::text(plan.to_string()));
    }
    let estimate = plan.estimate(&request.machine, request.element_bytes);
    let cheaper = cheaper(request, &estimate)?;
    if request.arguments.json {
        return Ok(Report::json(&json(request, &plan, &estimate, &cheaper)));
    }
    let mut out = String::new();
    let steps = plan.steps();
    for (number, step) in steps.iter().enumerate() {
        if steps.len() > 1 {
            out.push_str(&format!("step {} of {}\n", number + 1, steps.len()));
        }
        // The dual of blocks is blocks, if one says it simply.
        let ends = if request.arguments.adjoint {
            text::ends(&step.source.normal(), &step.target.normal())
        } else {
            text::ends(&step.source, &step.target)
        };
        out.push_str(&ends);
        out.push('\n');
        out.push_str(&step_text(step, request.arguments.all));
        out.push('\n');
    }
    if let Some(matrix) = matrix(&plan) {
        out.push_str(&matrix);
        out.push('\n');
    }
    out.push_str(&text::totals(&estimate, request.element_bytes));
    out.push_str(remark::line(&plan));
    out.push('\n');
    out.push_str(&text::cost(&estimate, &request.machine, request.element_bytes));
    for Cheaper { name, estimate: other } in &cheaper {
        let (less, now) = (seconds(other.seconds), seconds(estimate.seconds));
        let messages = plural(other.messages(), "message");
        out.push_str(&format!("  `--path {name}` takes {less} instead of {now}: {messages}\n"));
    }
    Ok(Report::text(out))
}

/// The tiles with their arrows, or a table where there are too many of them.
fn picture(plan: &Plan) -> Result<Svg> {
    Ok(pantile_draw::plan(plan).or_else(|_| pantile_draw::matrix(plan))?)
}

/// Paths that beat the direct one, if that was asked for without restrictions.
fn cheaper(request: &PlanRequest<'_>, estimate: &Estimate) -> Result<Vec<Cheaper>> {
    let arguments = request.arguments;
    if arguments.path != Path::Direct || arguments.within.is_some() || request.path.len() > 2 {
        return Ok(Vec::new());
    }
    let (source, target) = (request.source(), request.target());
    let others = [
        ("blocks", Plan::through_blocks(source, target)?),
        ("axes", Plan::axis_by_axis(source, target)?),
    ];
    let mut found = Vec::new();
    for (name, plan) in others {
        let Some(plan) = plan else { continue };
        let plan = if arguments.adjoint { plan.adjoint()? } else { plan };
        let other = plan.estimate(&request.machine, request.element_bytes);
        if other.seconds < estimate.seconds {
            found.push(Cheaper { name, estimate: other });
        }
    }
    Ok(found)
}

fn step_text(step: &Step, all: bool) -> String {
    let mut out = String::new();
    if step.faces_only {
        out.push_str("faces only: elements beyond two or more sides of a tile do not arrive\n");
    }
    for (number, round) in step.rounds.iter().enumerate() {
        let place = if step.rounds.len() > 1 {
            format!("round {} of {}: ", number + 1, step.rounds.len())
        } else {
            String::new()
        };
        out.push_str(&round_text(round, &place, all));
    }
    out
}

fn round_text(round: &Round, place: &str, all: bool) -> String {
    let travelling = round.transfers.iter().filter(|transfer| transfer.travels());
    let moved = travelling.clone().count();
    let stays = round.transfers.len() - moved;
    let mut out = if moved == 0 {
        format!("{place}nothing travels")
    } else {
        let noun = plural(moved as u128, "transfer");
        format!("{place}{noun} between ranks (from -> to: region, elements)")
    };
    if stays > 0 && !all {
        let elements: usize =
            round.transfers.iter().filter(|t| !t.travels()).map(Transfer::size).sum();
        out.push_str(&format!("; {} stay where they are", plural(elements as u128, "element")));
    }
    out.push('\n');
    if all {
        out.push_str(&text::transfers(round.transfers.iter(), 2));
        return out;
    }
    out.push_str(&text::transfers(travelling.take(TRANSFERS_SHOWN), 2));
    if moved > TRANSFERS_SHOWN {
        let more = size(moved - TRANSFERS_SHOWN);
        out.push_str(&format!("  ... and {more} more; `--all` lists them\n"));
    }
    out
}

/// Elements from rank to rank; nothing if there are too many ranks or too few to be of interest.
fn matrix(plan: &Plan) -> Option<String> {
    let matrix = plan.matrix();
    let ranks: BTreeSet<Rank> = matrix.keys().flat_map(|(from, to)| [*from, *to]).collect();
    if ranks.len() < 2 || ranks.len() > MATRIX_RANKS {
        return None;
    }
    let head = std::iter::once("from \\ to".to_owned()).chain(ranks.iter().map(Rank::to_string));
    let mut rows = vec![head.collect::<Vec<_>>()];
    for from in &ranks {
        let cell = |to: &Rank| matrix.get(&(*from, *to)).map_or(".".to_owned(), |n| size(*n));
        rows.push(std::iter::once(from.to_string()).chain(ranks.iter().map(cell)).collect());
    }
    let align = vec![Align::Right; ranks.len() + 1];
    Some(format!("elements from rank to rank\n{}", aligned(&rows, &align, 2)))
}

fn json(request: &PlanRequest<'_>, plan: &Plan, estimate: &Estimate, cheaper: &[Cheaper]) -> Value {
    let (first, last) = (&plan.steps()[0], &plan.steps()[plan.steps().len() - 1]);
    let big = |value: u128| Value::from(i128::try_from(value).unwrap_or(i128::MAX));
    let elements = |bytes: u128| big(bytes / request.element_bytes as u128);
    let matrix = plan.matrix().into_iter().map(|((from, to), n)| Value::from(vec![from, to, n]));
    let other = |other: &Cheaper| {
        Value::object([("path", other.name.into()), ("cost", other.estimate.to_json())])
    };
    let mut members = vec![
        ("source".to_owned(), Value::from(first.source.to_string())),
        ("target".to_owned(), Value::from(last.target.to_string())),
        ("element_bytes".to_owned(), Value::from(request.element_bytes)),
        ("moved".to_owned(), elements(estimate.moved_bytes())),
        ("kept".to_owned(), elements(estimate.kept_bytes)),
        ("messages".to_owned(), big(estimate.messages())),
        ("is_minimum".to_owned(), remark::is_minimum(plan).into()),
        ("cost".to_owned(), estimate.to_json()),
        ("cheaper".to_owned(), Value::array(cheaper.iter().map(other))),
        ("matrix".to_owned(), Value::array(matrix)),
    ];
    // The members of the plan itself come last, so that the whole is read as a plan again.
    let plan = plan.to_json();
    let own = plan.as_object().unwrap_or_default().iter();
    members.extend(own.map(|member| (member.key().to_owned(), member.value().clone())));
    Value::object(members)
}
