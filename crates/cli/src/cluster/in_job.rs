//! `mpirun -n 4 pantile cluster`: the same roles as processes of one job. Rank 0 coordinates, all
//! others work; the launcher only starts them.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use pantile::cluster::{Cluster, Coordinator, CoordinatorOptions};
use pantile::launch::Environment;

use super::site::ClusterSite;
use super::{is_loopback, named_host_and_port, worker};
use crate::numbers::plural;
use crate::report::Report;

/// Between two looks at what the others do.
const PAUSE: Duration = Duration::from_millis(50);

/// How long workers may take to come.
const COME: Duration = Duration::from_secs(60);

/// This process's rank in a job, and the number of its processes, if a launcher started it.
pub(super) fn place() -> Result<Option<(usize, usize)>> {
    let Some(job) = Environment::of_process().launched() else { return Ok(None) };
    match (job.rank, job.ranks) {
        (Some(rank), Some(ranks)) => Ok(Some((rank, ranks))),
        _ => bail!("the launcher does not say which process this is of how many"),
    }
}

/// Plays the role of a rank.
pub(super) fn run(site: &ClusterSite, (rank, ranks): (usize, usize)) -> Result<Report> {
    let (host, port) = named_host_and_port("--listen", &site.listen)?;
    if ranks < 2 {
        bail!("a cluster needs at least 2 processes: the first coordinates, the others work");
    }
    if port == 0 {
        bail!("--listen {}: the processes of a job need a port that all of them know", site.listen);
    }
    if site.workers.is_some() {
        bail!("-n: the launcher has started {} already", plural(ranks as u128 - 1, "worker"));
    }
    if rank > 0 {
        let data = if is_loopback(&host) { "127.0.0.1".to_owned() } else { own_name()? };
        return worker::run(&site.worker(&format!("rank {rank}"), &site.listen, &data));
    }
    let mut options = CoordinatorOptions::default();
    options.address = site.listen.clone();
    options.guard = site.protection.guard()?;
    options.tell = super::life::tell();
    let end = site.life.end();
    let coordinator = Coordinator::start(&options)?;
    let until = Instant::now() + COME;
    while Cluster::status(&site.listen, &options.guard)?.len() < ranks - 1 {
        if Instant::now() > until {
            bail!("the workers did not come within {} s", COME.as_secs());
        }
        std::thread::sleep(PAUSE);
    }
    let workers = plural(ranks as u128 - 1, "worker");
    site.life.announce(&format!("cluster of {workers} at {}", site.listen), &site.listen)?;
    while !end.load(Ordering::Relaxed) {
        if !coordinator.is_up() {
            bail!("the coordinator at {} does not listen any more", site.listen);
        }
        std::thread::sleep(PAUSE);
    }
    Ok(Report::default())
}

/// The name of this machine.
fn own_name() -> Result<String> {
    match std::fs::read_to_string("/proc/sys/kernel/hostname") {
        Ok(name) if !name.trim().is_empty() => Ok(name.trim().to_owned()),
        _ => {
            bail!("this machine does not say its name: start `pantile worker --data HOST:0` there")
        }
    }
}
