//! `pantile worker`.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::Args;
use pantile::Scheme;
use pantile::cluster::{ClusterError, Worker, WorkerOptions};
use pantile::launch::Environment;

use super::life::{ServiceLifetime, connect_address, say, tell};
use super::protection::Protection;
use super::{host_and_port, is_loopback, named_host_and_port};
use crate::numbers::{parse_bytes, up_to};
use crate::report::Report;

/// Between two tries to reach the coordinator.
const AGAIN: Duration = Duration::from_millis(250);

/// Most ranks of one client at a worker.
const RANKS_MAX: u32 = 256;

#[derive(Args)]
#[command(after_help = "\
A worker dials in to a coordinator, and again if that goes away; or it waits for one that lists it
(`pantile coordinator --workers`). Elements come and go at the address of --data, straight from
clients and from other workers.

Examples:
  pantile worker --coordinator 127.0.0.1:7420
  pantile worker --coordinator node-1:7420 --data node-2:0 --keys keys/node-2
  pantile worker --listen node-2:7421 --keys keys/node-2")]
pub(crate) struct Arguments {
    /// The coordinator to dial in to
    #[arg(long, value_name = "HOST:PORT", required_unless_present = "listen",
          conflicts_with_all = ["listen", "ready_file"])]
    pub(super) coordinator: Option<String>,
    /// Wait here for a coordinator instead
    #[arg(long, value_name = "HOST:PORT")]
    pub(super) listen: Option<String>,
    /// How errors call it [default: its address]
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    pub(super) name: String,
    /// Where elements come and go, by the name that others know; port 0 for any [default: this
    /// machine alone; with --listen its host]
    #[arg(long, value_name = "HOST:PORT")]
    pub(super) data: Option<String>,
    /// Ranks of a client that does not say how many it wants
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = up_to(RANKS_MAX), allow_negative_numbers = true)]
    pub(super) ranks: u32,
    /// Memory that all clients together may use, for example 8G [default: what is free now, divided among the workers here]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub(super) memory: Option<usize>,
    /// How the threads of a rank cut the loops that they share, as of `pantile run` [default:
    /// PANTILE_SCHEME, else EVEN]
    #[arg(long, value_name = "NAME")]
    pub(super) scheme: Option<Scheme>,
    /// Seconds for which it tries to reach a coordinator that is not there
    #[arg(long, value_name = "SECONDS", default_value_t = 30,
          value_parser = up_to(1_000_000), allow_negative_numbers = true)]
    pub(super) patience: u32,
    #[command(flatten)]
    pub(super) protection: Protection,
    #[command(flatten)]
    pub(super) life: ServiceLifetime,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: &Arguments) -> Result<Report> {
    let environment = Environment::of_process();
    let mut options = WorkerOptions::default();
    options.name = arguments.name.clone();
    options.data_address = data_address(arguments)?;
    options.ranks = arguments.ranks;
    if arguments.memory == Some(0) {
        bail!("--memory 0: expected at least one byte");
    }
    options.memory = arguments.memory.unwrap_or(0) as u64;
    options.scheme = arguments.scheme.map_or_else(|| environment.scheme(), Ok)?;
    options.guard = arguments.protection.guard()?;
    options.tell = tell();
    options.options = environment.options()?;
    let worker = Worker::new(&options)?;
    match (&arguments.coordinator, &arguments.listen) {
        (Some(coordinator), _) => {
            arguments.life.exit_at_end();
            serve(&worker, coordinator, arguments)
        }
        (None, Some(listen)) => wait(worker, listen, arguments),
        (None, None) => bail!("say --coordinator HOST:PORT or --listen HOST:PORT"),
    }
}

/// Where elements come and go.
fn data_address(arguments: &Arguments) -> Result<String> {
    let address = match (&arguments.data, &arguments.listen, &arguments.coordinator) {
        (Some(data), ..) => {
            named_host_and_port("--data", data)?;
            return Ok(data.clone());
        }
        (None, Some(listen), _) => named_host_and_port("--listen", listen)?.0,
        (None, None, Some(coordinator)) => {
            let (host, _) = host_and_port("--coordinator", coordinator)?;
            if !is_loopback(&host) {
                bail!(
                    "the coordinator {coordinator} is not of this machine: say --data HOST:0 with \
                     the name or the address by which others reach this one"
                );
            }
            "127.0.0.1".to_owned()
        }
        (None, None, None) => "127.0.0.1".to_owned(),
    };
    Ok(format!("{address}:0"))
}

/// Waits for a coordinator, and for the next one after that.
fn wait(worker: Worker, listen: &str, arguments: &Arguments) -> Result<Report> {
    let (host, _) = host_and_port("--listen", listen)?;
    let data = worker.data_address();
    let mut announced = Ok(());
    worker.listen(listen, arguments.life.end(), |bound| {
        let address = connect_address(&host, bound);
        let line = format!("worker at {address}, elements at {data}");
        announced = arguments.life.announce(&line, &address);
    })?;
    announced.map(|()| Report::default())
}

/// Serves a coordinator, again and again, as long as it is not away for too long.
fn serve(worker: &Worker, coordinator: &str, arguments: &Arguments) -> Result<Report> {
    let patience = Duration::from_secs(arguments.patience.into());
    let data = worker.data_address();
    say(&format!("worker with elements at {data}, for the coordinator at {coordinator}"));
    let (mut since, mut told) = (Instant::now(), false);
    loop {
        let reason = match worker.serve(coordinator) {
            Ok(()) => {
                (since, told) = (Instant::now(), false);
                format!("the coordinator at {coordinator} has left")
            }
            Err(error @ ClusterError::Lost { .. }) => {
                (since, told) = (Instant::now(), false);
                error.to_string()
            }
            Err(error @ ClusterError::Connect { .. }) => error.to_string(),
            Err(error) => return Err(error.into()),
        };
        let left = patience.saturating_sub(since.elapsed());
        if left.is_zero() {
            bail!("{reason}; nobody came for {} s (--patience)", patience.as_secs());
        }
        if !told {
            let seconds = left.as_millis().div_ceil(1000);
            say(&format!("{reason}; trying again for {seconds} s"));
            told = true;
        }
        std::thread::sleep(AGAIN.min(left));
    }
}
