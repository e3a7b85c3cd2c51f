//! `pantile cluster status`.

use anyhow::Result;
use clap::Args;
use pantile::cluster::Cluster;

use super::host_and_port;
use super::protection::Protection;
use crate::numbers::{bytes, count, plural};
use crate::report::Report;
use crate::table::{Align, aligned};

#[derive(Args)]
pub(super) struct Arguments {
    /// The coordinator
    #[arg(value_name = "HOST:PORT")]
    address: String,
    #[command(flatten)]
    protection: Protection,
}

/// Lists the workers of a coordinator.
pub(super) fn run(arguments: &Arguments) -> Result<Report> {
    let address = &arguments.address;
    host_and_port("ADDRESS", address)?;
    let overview = Cluster::overview(address, &arguments.protection.guard()?)?;
    let mut workers = overview.workers;
    workers.sort_by(|a, b| (&a.name, &a.data_address).cmp(&(&b.name, &b.data_address)));
    let mut text = format!("{address}: {}", plural(workers.len() as u128, "worker"));
    if overview.refused > 0 {
        text.push_str(&format!(", {} by the coordinator", plural(overview.refused, "refusal")));
    }
    text.push('\n');
    let head = ["worker", "elements at", "memory", "stored", "refused", "sessions", "programs"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for worker in &workers {
        rows.push(vec![
            worker.name.clone(),
            worker.data_address.clone(),
            bytes(worker.memory.into()),
            bytes(worker.stored.into()),
            count(worker.refused),
            count(worker.sessions),
            count(worker.lowered),
        ]);
    }
    if !workers.is_empty() {
        let mut align = [Align::Right; 7];
        (align[0], align[1]) = (Align::Left, Align::Left);
        text.push_str(&aligned(&rows, &align, 2));
    }
    Ok(Report::text(text))
}
