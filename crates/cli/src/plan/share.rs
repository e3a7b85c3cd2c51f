//! The share of one rank, without building anybody else's.

use anyhow::Result;
use pantile_geometry::{Distribution, Rank};
use pantile_plan::{Hop, Message, Schedule};
use pantile_text::json::Value;

use super::{Path, PlanRequest, text};
use crate::numbers::{bytes, plural, shape, size};
use crate::report::Report;

/// Transfers listed per direction unless `--all` is given.
const TRANSFERS_SHOWN: usize = 40;

pub(super) fn report(request: &PlanRequest<'_>, rank: Rank) -> Result<Report> {
    let stations = request.stations()?;
    let direct = request.arguments.path == Path::Direct && request.arguments.within.is_none();
    let schedule = if direct {
        along(&stations, rank)?
    } else {
        if request.ranks() > super::RANKS_MAX {
            request.check_path_is_direct(&super::summary::why_ranks(request.ranks()))?;
        }
        request.plan()?.for_rank(rank)
    };
    let (source, target) = (&stations[0], &stations[stations.len() - 1]);
    if request.arguments.json {
        let mut members = vec![
            ("source".to_owned(), Value::from(source.to_string())),
            ("target".to_owned(), Value::from(target.to_string())),
            ("element_bytes".to_owned(), request.element_bytes.into()),
        ];
        let schedule = schedule.to_json();
        let own = schedule.as_object().unwrap_or_default().iter();
        members.extend(own.map(|member| (member.key().to_owned(), member.value().clone())));
        return Ok(Report::json(&Value::object(members)));
    }
    let mut out = text::ends(source, target);
    out.push('\n');
    out.push_str(&place(source, target, rank));
    for hop in &schedule.hops {
        out.push('\n');
        if schedule.hops.len() > 1 {
            out.push_str(&format!("step {}\n", hop.step + 1));
        }
        out.push_str(&leg_text(hop, rank, request));
    }
    Ok(Report::text(out))
}

/// The hops of all steps of a path.
fn along(stations: &[Distribution], rank: Rank) -> Result<Schedule> {
    let mut hops = Vec::new();
    for (step, pair) in stations.windows(2).enumerate() {
        let schedule = Schedule::between(&pair[0], &pair[1], rank)?;
        hops.extend(schedule.hops.into_iter().map(|hop| Hop { step, ..hop }));
    }
    Ok(Schedule { rank, hops })
}

/// Where the rank stands and how much it has before and after.
fn place(source: &Distribution, target: &Distribution, rank: Rank) -> String {
    let side = |name: &str, side: &Distribution| {
        let mesh = side.mesh();
        let Some(coordinates) = mesh.coordinates_of(rank) else {
            return format!("  {name}  idle: not on the mesh\n");
        };
        let axes = mesh.names().iter().zip(&coordinates);
        let at: Vec<String> = axes.map(|(name, at)| format!("{name}={at}")).collect();
        let local = side.local_shape(rank).map_or(String::new(), |local| shape(&local));
        let at = if at.is_empty() { String::new() } else { format!(" at {}", at.join(", ")) };
        format!("  {name}  {local} elements{at}\n")
    };
    let ranks = source.mesh().size().max(target.mesh().size());
    format!("rank {rank} of {}\n{}{}", size(ranks), side("before", source), side("after ", target))
}

fn leg_text(hop: &Hop, rank: Rank, request: &PlanRequest<'_>) -> String {
    let mut out = String::new();
    for (verb, messages) in [("sends", &hop.sends), ("receives", &hop.receives)] {
        let others: Vec<&Message> = messages.iter().filter(|m| m.peer != rank).collect();
        if others.is_empty() {
            out.push_str(&format!("{verb} nothing\n"));
            continue;
        }
        let elements: usize = others.iter().map(|message| message.size()).sum();
        let moved = bytes(elements as u128 * request.element_bytes as u128);
        out.push_str(&format!(
            "{verb} {}, {moved}, in {} (from -> to: region, elements)\n",
            plural(elements as u128, "element"),
            plural(others.len() as u128, "message"),
        ));
        let parts: Vec<_> = others.iter().flat_map(|message| &message.parts).collect();
        let shown = if request.arguments.all { parts.len() } else { TRANSFERS_SHOWN };
        out.push_str(&text::transfers(parts.iter().copied().take(shown), 2));
        if parts.len() > shown {
            let more = size(parts.len() - shown);
            out.push_str(&format!("  ... and {more} more; `--all` lists them\n"));
        }
    }
    let own = hop.receives.iter().filter(|message| message.peer == rank);
    let kept: usize = own.map(Message::size).sum();
    out.push_str(&format!("keeps {}\n", plural(kept as u128, "element")));
    out
}
