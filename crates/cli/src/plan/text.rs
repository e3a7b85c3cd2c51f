//! Parts of texts that several views of a movement share.

use pantile_geometry::Distribution;
use pantile_plan::{Estimate, LinkClass, Machine, Totals, Transfer};

use crate::numbers::{bytes, count, plural, seconds, size};
use crate::table::{Align, aligned};

/// The two ends of a movement.
pub(super) fn ends(source: &Distribution, target: &Distribution) -> String {
    format!("source  {source}\ntarget  {target}\n")
}

/// One line per transfer with its size.
pub(super) fn transfers<'a>(list: impl Iterator<Item = &'a Transfer>, indent: usize) -> String {
    let row = |transfer: &Transfer| {
        let stays = if transfer.travels() { "" } else { "stays" };
        vec![transfer.to_string(), size(transfer.size()), stays.to_owned()]
    };
    let rows: Vec<Vec<String>> = list.map(row).collect();
    aligned(&rows, &[Align::Left, Align::Right, Align::Left], indent)
}

/// What moves and what stays.
pub(super) fn totals(estimate: &Estimate, element_bytes: usize) -> String {
    let elements = |bytes: u128| plural(bytes / element_bytes as u128, "element");
    let row = |name: &str, moved: u128, how: String| {
        vec![name.to_owned(), elements(moved), bytes(moved), how]
    };
    let rows = [
        row("moved", estimate.moved_bytes(), plural(estimate.messages(), "message")),
        row("kept", estimate.kept_bytes, String::new()),
    ];
    aligned(&rows, &[Align::Left, Align::Right, Align::Right, Align::Right], 0)
}

/// What moves and what stays, where that is all that is known.
pub(super) fn sums(totals: &Totals, element_bytes: usize) -> String {
    let about = if totals.exact { "" } else { "about " };
    let row = |name: &str, elements: u128, how: String| {
        let moved = bytes(elements * element_bytes as u128);
        vec![name.to_owned(), format!("{about}{}", plural(elements, "element")), moved, how]
    };
    let rows = [
        row("moved", totals.moved, plural(totals.messages, "message")),
        row("kept", totals.kept, String::new()),
    ];
    let note = if totals.exact {
        "Each rank has so many peers that no time is estimated."
    } else {
        "Extrapolated from a few ranks, as each has very many peers."
    };
    let rows = aligned(&rows, &[Align::Left, Align::Right, Align::Right, Align::Right], 0);
    format!("{rows}{note}\n")
}

/// Bytes and messages per class of link, time and peak memory.
pub(super) fn cost(estimate: &Estimate, machine: &Machine, element_bytes: usize) -> String {
    let mut out = format!(
        "cost with {} per process, {} per node, {} per element\n",
        plural(machine.ranks_per_process as u128, "rank"),
        plural(machine.ranks_per_node as u128, "rank"),
        plural(element_bytes as u128, "byte"),
    );
    let links = LinkClass::ALL.into_iter().zip(&estimate.links).map(|(class, traffic)| {
        let noun = if traffic.messages == 1 { "message " } else { "messages" };
        let messages = format!("{} {noun}", count(traffic.messages));
        vec![class.name().to_owned(), bytes(traffic.bytes), messages]
    });
    let mut rows: Vec<Vec<String>> = links.collect();
    rows.push(vec!["time".to_owned(), seconds(estimate.seconds)]);
    rows.push(vec!["peak memory".to_owned(), bytes(estimate.peak_bytes)]);
    rows.push(vec!["busiest rank".to_owned(), estimate.busiest.to_string()]);
    out.push_str(&aligned(&rows, &[Align::Left, Align::Right, Align::Right], 2));
    if let Some(ranks) = estimate.sampled {
        out.push_str(&format!(
            "  (totals are exact; the split over links, time and memory come from {} ranks)\n",
            count(ranks as u128)
        ));
    }
    out
}
