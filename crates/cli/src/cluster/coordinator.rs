//! `pantile coordinator`.

use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Result, bail};
use clap::Args;
use pantile::cluster::{Coordinator, CoordinatorOptions};

use super::life::{ServiceLifetime, connect_address, tell};
use super::protection::Protection;
use super::{host_and_port, named_host_and_port};
use crate::report::Report;

/// Between two looks at whether it is time to end.
const PAUSE: Duration = Duration::from_millis(100);

#[derive(Args)]
#[command(after_help = "\
Elements never pass the coordinator; it knows who is there and tells workers what to do. Beyond this
machine it wants keys (`pantile cluster keys`) or --insecure.

Examples:
  pantile coordinator
  pantile coordinator --listen node-1:7420 --keys keys/node-1
  pantile coordinator --workers node-2:7421,node-3:7421 --listen node-1:7420 --keys keys/node-1")]
pub(crate) struct Arguments {
    /// Where clients and workers come
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:7420")]
    listen: String,
    /// Workers that it dials (`pantile worker --listen`), beside those that come by themselves
    #[arg(long, value_name = "HOST:PORT,..", value_delimiter = ',')]
    workers: Vec<String>,
    #[command(flatten)]
    protection: Protection,
    #[command(flatten)]
    life: ServiceLifetime,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: &Arguments) -> Result<Report> {
    let (host, _) = host_and_port("--listen", &arguments.listen)?;
    for worker in &arguments.workers {
        named_host_and_port("--workers", worker)?;
    }
    let mut options = CoordinatorOptions::default();
    options.address = arguments.listen.clone();
    options.workers = arguments.workers.clone();
    options.guard = arguments.protection.guard()?;
    options.tell = tell();
    let end = arguments.life.end();
    let coordinator = Coordinator::start(&options)?;
    let address = connect_address(&host, coordinator.address());
    arguments.life.announce(&format!("coordinator at {address}"), &address)?;
    while !end.load(Ordering::Relaxed) {
        if !coordinator.is_up() {
            bail!("the coordinator at {address} does not listen any more");
        }
        std::thread::sleep(PAUSE);
    }
    Ok(Report::default())
}
