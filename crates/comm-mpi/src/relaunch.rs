//! Starting the running program again under the launcher of its MPI, for tests and measurements.
//!
//! A test program without the usual harness calls [`relaunch`] when it is started plainly, and is a
//! rank when it finds its own arguments:
//!
//! ```no_run
//! use std::time::Duration;
//! use pantile_comm_mpi::relaunch::{relaunch, usable_sizes};
//!
//! if std::env::args().nth(1).as_deref() == Some("rank") {
//!     // … pantile_comm_mpi::run(…)
//! } else {
//!     for output in relaunch(usable_sizes(), &["rank"], Duration::from_secs(60))? {
//!         assert_eq!(output.code, Some(0), "{output}");
//!     }
//! }
//! # Ok::<(), std::io::Error>(())
//! ```

use std::fmt;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The variable that names another launcher, with options: `srun --mpi=pmix`. The number of ranks
/// follows as `-n N`.
const LAUNCHER_VARIABLE: &str = "PANTILE_MPIRUN";

/// What lets Open MPI run in a container and with more ranks than cores.
const OPEN_MPI_VARIABLES: [(&str, &str); 3] = [
    ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
    ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
];

/// What lets waiting ranks of Open MPI give their core away; it slows down those that need not.
const OPEN_MPI_OVERSUBSCRIBED: (&str, &str) = ("OMPI_MCA_mpi_yield_when_idle", "1");

/// How long a launcher that was told to stop may take to end its ranks.
const STOPPING: Duration = Duration::from_secs(5);

/// Time between two looks at a launcher.
const LOOK: Duration = Duration::from_millis(5);

/// What became of one launch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LaunchOutput {
    /// Number of ranks.
    pub ranks: usize,
    /// Exit code of the launcher; none if a signal ended it.
    pub code: Option<i32>,
    /// True if it did not end in time, and was stopped.
    pub late: bool,
    /// What the ranks printed.
    pub stdout: String,
    /// What the ranks and the launcher complained about.
    pub stderr: String,
}

impl fmt::Display for LaunchOutput {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ranks, code, late, stdout, stderr } = self;
        let late = if *late { ", late" } else { "" };
        write!(out, "{ranks} ranks, exit code {code:?}{late}\n{stdout}\n{stderr}")
    }
}

/// True if this program was built with Open MPI. Needs no initialisation.
#[must_use]
pub fn is_open_mpi() -> bool {
    crate::library().is_some_and(|library| library.contains("Open MPI"))
}

/// Numbers of ranks that a test should run with: with and without a common divisor, more than
/// there are cores. Only Open MPI lets ranks without a core of their own sleep, so others get few.
#[must_use]
pub fn usable_sizes() -> &'static [usize] {
    if is_open_mpi() { &[1, 2, 3, 4, 6, 7] } else { &[1, 2] }
}

/// Runs this program with these arguments and each number of ranks, one after another.
///
/// # Errors
/// If the launcher cannot be started.
pub fn relaunch(sizes: &[usize], args: &[&str], limit: Duration) -> io::Result<Vec<LaunchOutput>> {
    sizes.iter().map(|ranks| launch(*ranks, args, limit)).collect()
}

fn launch(ranks: usize, args: &[&str], limit: Duration) -> io::Result<LaunchOutput> {
    let words = launcher()?;
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).args(["-n", &ranks.to_string()]);
    command.arg(std::env::current_exe()?).args(args);
    if is_open_mpi() {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let oversubscribed = (ranks > cores).then_some(OPEN_MPI_OVERSUBSCRIBED);
        command.envs(OPEN_MPI_VARIABLES).envs(oversubscribed);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let (stdout, stderr) = (Text::of(child.stdout.take()), Text::of(child.stderr.take()));
    let (code, late) = wait(&mut child, limit)?;
    Ok(LaunchOutput { ranks, code, late, stdout: stdout.take(), stderr: stderr.take() })
}

/// The launcher that belongs to the MPI of this program.
fn launcher() -> io::Result<Vec<String>> {
    let named = std::env::var(LAUNCHER_VARIABLE).unwrap_or_default();
    let words: Vec<String> = named.split_whitespace().map(str::to_owned).collect();
    if !words.is_empty() {
        return Ok(words);
    }
    let names: &[&str] = match is_open_mpi() {
        true => &["mpirun.openmpi", "mpirun"],
        false => &["mpirun.mpich", "mpiexec.hydra", "mpirun"],
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |name: &&str| std::env::split_paths(&path).any(|at| is_file(&at, name));
    let found = names.iter().copied().find(is_there);
    let missing = || {
        let text = format!("none of {names:?} is in PATH; {LAUNCHER_VARIABLE} may name a launcher");
        io::Error::new(io::ErrorKind::NotFound, text)
    };
    found.map(|name| vec![name.to_owned()]).ok_or_else(missing)
}

fn is_file(folder: &Path, name: &str) -> bool {
    folder.join(name).is_file()
}

/// Waits for a launcher: its exit code, and whether it had to be stopped.
fn wait(child: &mut Child, limit: Duration) -> io::Result<(Option<i32>, bool)> {
    if let Some(code) = ends_within(child, limit)? {
        return Ok((code, false));
    }
    // A launcher that is asked to stop ends its ranks first; one that is killed cannot.
    let _ = Command::new("kill").arg(child.id().to_string()).status();
    if let Some(code) = ends_within(child, STOPPING)? {
        return Ok((code, true));
    }
    child.kill()?;
    Ok((child.wait()?.code(), true))
}

fn ends_within(child: &mut Child, limit: Duration) -> io::Result<Option<Option<i32>>> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status.code()));
        }
        if started.elapsed() >= limit {
            return Ok(None);
        }
        std::thread::sleep(LOOK);
    }
}

/// What comes out of a pipe, read by a thread of its own so that no rank blocks on a full pipe.
struct Text {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: Option<std::thread::JoinHandle<()>>,
}

impl Text {
    fn of(pipe: Option<impl Read + Send + 'static>) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let read = |mut pipe| {
            let bytes = Arc::clone(&bytes);
            std::thread::spawn(move || copy(&mut pipe, &bytes))
        };
        let reader = pipe.map(read);
        Self { bytes, reader }
    }

    /// Everything that came. A rank that outlives its launcher may keep the pipe open, so this does
    /// not wait forever.
    fn take(self) -> String {
        let started = Instant::now();
        while self.reader.as_ref().is_some_and(|reader| !reader.is_finished()) {
            if started.elapsed() >= STOPPING {
                break;
            }
            std::thread::sleep(LOOK);
        }
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

fn copy(pipe: &mut impl Read, bytes: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = pipe.read(&mut buffer) {
        let mut bytes = bytes.lock().unwrap_or_else(PoisonError::into_inner);
        bytes.extend(&buffer[..count]);
    }
}
