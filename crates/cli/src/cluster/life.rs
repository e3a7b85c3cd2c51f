//! How processes that serve say that they are up, and when they end.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, anyhow};
use clap::Args;
use pantile::cluster::Tell;

#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ServiceLifetime {
    /// Write the address into this file once it can be dialled, for scripts that ask for port 0
    #[arg(long, value_name = "FILE")]
    ready_file: Option<PathBuf>,
    /// End when standard input closes; else it runs until it is killed
    #[arg(long)]
    until_stdin_closes: bool,
}

impl ServiceLifetime {
    /// Announces the address: on standard error, and in the file that was asked for.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn announce(&self, line: &str, address: &str) -> Result<()> {
        say(line);
        match &self.ready_file {
            None => Ok(()),
            Some(path) => write_whole(path, &format!("{address}\n"))
                .map_err(|error| anyhow!("{} cannot be written: {error}", path.display())),
        }
    }

    /// A flag that is set once it is time to end; never, without the option for that.
    pub(super) fn end(&self) -> Arc<AtomicBool> {
        let end = Arc::new(AtomicBool::new(false));
        if self.until_stdin_closes {
            let set = Arc::clone(&end);
            std::thread::spawn(move || {
                wait_for_end_of_input();
                set.store(true, Ordering::Relaxed);
            });
        }
        end
    }

    /// Ends the process when it is time to, whatever it does.
    pub(super) fn exit_at_end(&self) {
        if self.until_stdin_closes {
            std::thread::spawn(|| {
                wait_for_end_of_input();
                std::process::exit(0);
            });
        }
    }
}

fn wait_for_end_of_input() {
    let mut room = [0; 4096];
    // An input that cannot be read is closed, too.
    while std::io::stdin().read(&mut room).is_ok_and(|count| count > 0) {}
}

/// A line on standard error; it may be closed.
pub(super) fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Prints refusals on standard error.
#[allow(clippy::unnecessary_wraps, reason = "it is an option that is set")]
pub(super) fn tell() -> Option<Tell> {
    Some(Arc::new(say))
}

/// A reader of the file sees all of it.
fn write_whole(path: &Path, text: &str) -> std::io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".part");
    std::fs::write(&beside, text)?;
    std::fs::rename(&beside, path)
}

/// An address as others connect to it: the host that was asked for, and the port that it became.
pub(super) fn connect_address(host: &str, bound: SocketAddr) -> String {
    format!("{host}:{}", bound.port())
}
