//! `pantile cluster`: a coordinator and workers on this machine, as children.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};
use clap::{Args, Subcommand};
use pantile::cluster::{Cluster, Coordinator, CoordinatorOptions};
use pantile_engine::Scheme;

use super::life::{ServiceLifetime, connect_address, say, tell};
use super::protection::Protection;
use super::{in_job, keys, named_host_and_port, status, worker};
use crate::numbers::{parse_bytes, plural, up_to};
use crate::report::Report;

/// Between two looks at what children do.
const PAUSE: Duration = Duration::from_millis(50);

/// How long workers may take to come, and to go.
const COME: Duration = Duration::from_secs(30);
const GO: Duration = Duration::from_secs(2);

#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Runs until it is killed (Ctrl-C); its workers end with it. Started by mpirun or srun, the first
process coordinates and all others work.

Examples:
  pantile cluster -n 4
  mpirun -n 5 pantile cluster --listen 127.0.0.1:7420
  pantile run examples/heat.dist --cluster 127.0.0.1:7420
  pantile cluster status 127.0.0.1:7420
  pantile cluster keys keys --names node-1,node-2"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Subcommands>,
    #[command(flatten)]
    site: ClusterSite,
}

#[derive(Subcommand)]
enum Subcommands {
    /// Make an authority, certificates for hosts and clients, and a token
    Keys(keys::Arguments),
    /// List the workers of a coordinator: memory, stored bytes, sessions
    Status(status::Arguments),
}

#[derive(Args)]
pub(super) struct ClusterSite {
    /// Number of workers [default: the number of cores]
    #[arg(short = 'n', long, value_name = "N", value_parser = up_to(256),
          allow_negative_numbers = true)]
    pub(super) workers: Option<u32>,
    /// Where clients come
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:7420")]
    pub(super) listen: String,
    /// Ranks of a client at each worker, if it does not say how many it wants
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = up_to(256), allow_negative_numbers = true)]
    ranks: u32,
    /// Memory that each worker may use, for example 8G [default: what is free now, divided]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    memory: Option<usize>,
    /// How the threads of a rank cut the loops that they share, as of `pantile run` [default:
    /// PANTILE_SCHEME, else EVEN]
    #[arg(long, value_name = "NAME")]
    scheme: Option<Scheme>,
    #[command(flatten)]
    pub(super) protection: Protection,
    #[command(flatten)]
    pub(super) life: ServiceLifetime,
}

impl ClusterSite {
    /// How a worker of this site is started.
    pub(super) fn worker(&self, name: &str, coordinator: &str, host: &str) -> worker::Arguments {
        worker::Arguments {
            coordinator: Some(coordinator.to_owned()),
            listen: None,
            name: name.to_owned(),
            data: Some(format!("{host}:0")),
            ranks: self.ranks,
            memory: self.memory,
            scheme: self.scheme,
            patience: 60,
            protection: self.protection.clone(),
            life: ServiceLifetime::default(),
        }
    }
}

/// Runs the subcommand.
pub(crate) fn run(arguments: &Arguments) -> Result<Report> {
    match &arguments.command {
        Some(Subcommands::Keys(arguments)) => keys::run(arguments),
        Some(Subcommands::Status(arguments)) => status::run(arguments),
        None => match in_job::place()? {
            Some(place) => in_job::run(&arguments.site, place),
            None => serve(&arguments.site),
        },
    }
}

fn serve(site: &ClusterSite) -> Result<Report> {
    let (host, _) = named_host_and_port("--listen", &site.listen)?;
    let mut options = CoordinatorOptions::default();
    options.address = site.listen.clone();
    options.guard = site.protection.guard()?;
    options.tell = tell();
    let end = site.life.end();
    let coordinator = Coordinator::start(&options)?;
    let address = connect_address(&host, coordinator.address());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let count = site.workers.map_or(cores, |count| usize::try_from(count).unwrap_or(cores));
    let mut children = Children(Vec::new());
    for number in 0..count {
        children.0.push(start(site, number, (&host, &address))?);
    }
    let until = Instant::now() + COME;
    while Cluster::status(&address, &options.guard)?.len() < count {
        if let Some((name, status)) = children.ended() {
            bail!("worker `{name}` has ended before it was ready: {status}");
        }
        if Instant::now() > until {
            bail!("the workers did not come within {} s", COME.as_secs());
        }
        std::thread::sleep(PAUSE);
    }
    let workers = plural(count as u128, "worker");
    site.life.announce(&format!("cluster of {workers} at {address}"), &address)?;
    while !end.load(Ordering::Relaxed) {
        while let Some((name, status)) = children.ended() {
            say(&format!("worker `{name}` has ended: {status}"));
        }
        if children.0.is_empty() {
            bail!("no worker is left");
        }
        if !coordinator.is_up() {
            bail!("the coordinator at {address} does not listen any more");
        }
        std::thread::sleep(PAUSE);
    }
    Ok(Report::default())
}

/// Starts a worker that ends when its standard input closes, as it does when this process ends.
fn start(
    site: &ClusterSite,
    number: usize,
    (host, coordinator): (&str, &str),
) -> Result<(String, Child)> {
    let name = format!("w{number}");
    let mut words: Vec<OsString> = ["worker", "--coordinator", coordinator].map(Into::into).into();
    words.extend(["--name", &name, "--data", &format!("{host}:0")].map(OsString::from));
    words.extend(["--ranks", &site.ranks.to_string(), "--until-stdin-closes"].map(OsString::from));
    if let Some(memory) = site.memory {
        words.extend(["--memory", &memory.to_string()].map(OsString::from));
    }
    if let Some(scheme) = site.scheme {
        words.extend(["--scheme", scheme.name()].map(OsString::from));
    }
    words.extend(site.protection.words());
    let (program, before) = own_program()?;
    let child = Command::new(&program)
        .args(before)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn();
    let child = child.map_err(|error| {
        anyhow!("worker `{name}` cannot be started ({}): {error}", program.display())
    })?;
    Ok((name, child))
}

/// The program that this command is, and the words before its own.
fn own_program() -> Result<(PathBuf, Vec<&'static str>)> {
    let program = std::env::current_exe()
        .map_err(|error| anyhow!("the name of this program cannot be found: {error}"))?;
    let name = program.file_name().map(|name| name.to_string_lossy().into_owned());
    if !name.is_some_and(|name| name.starts_with("python")) {
        return Ok((program, Vec::new()));
    }
    // The command of the Python package is a module of the interpreter, whose packages depend on
    // the name by which it was called.
    let called = std::env::args_os().next().filter(|word| !word.is_empty());
    Ok((called.map_or(program, PathBuf::from), vec!["-m", "pantile._command"]))
}

/// Workers by their names, which end with this value.
struct Children(Vec<(String, Child)>);

impl Children {
    /// A worker that has ended; it is none of ours any more then.
    fn ended(&mut self) -> Option<(String, ExitStatus)> {
        for at in 0..self.0.len() {
            if let Ok(Some(status)) = self.0[at].1.try_wait() {
                return Some((self.0.remove(at).0, status));
            }
        }
        None
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        for (_, child) in &mut self.0 {
            drop(child.stdin.take());
        }
        let until = Instant::now() + GO;
        while !self.0.is_empty() && Instant::now() < until {
            if self.ended().is_none() {
                std::thread::sleep(PAUSE);
            }
        }
        for (_, child) in &mut self.0 {
            // It may have ended just now.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
