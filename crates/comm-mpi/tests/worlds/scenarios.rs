//! What MPI adds to the suite: long messages, chunks, deaths, and how processes end.

use std::process::Command;
use std::time::Duration;

use pantile_comm_mpi::library;
use pantile_comm_mpi::relaunch::{LaunchOutput, is_open_mpi, relaunch};

use super::suite::ended;
use super::{MpiTest, programs};

/// A program that every rank runs, and what has to come out of it.
struct Scenario {
    name: &'static str,
    sizes: &'static [usize],
    program: fn(),
    fails: bool,
    /// Texts that are printed, on standard output or standard error.
    says: &'static [&'static str],
}

const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "a message of more than 2 GiB",
        sizes: &[2],
        program: programs::large,
        fails: false,
        says: &["rank 1: all bytes came twice"],
    },
    Scenario {
        name: "bodies in chunks",
        sizes: &[2, 3],
        program: programs::chunks,
        fails: false,
        says: &["rank 0: all chunks came", "rank 1: all chunks came"],
    },
    Scenario {
        name: "chunks that differ, longer",
        sizes: &[2],
        program: programs::longer_chunks,
        fails: true,
        says: &["got a backend error", "runcat", "the body of rank 0 in uneven ("],
    },
    Scenario {
        name: "chunks that differ, shorter",
        sizes: &[2],
        program: programs::shorter_chunks,
        fails: true,
        says: &["got a wrong length", "expected 2000 bytes from rank 0, got 1000"],
    },
    Scenario {
        name: "a rank returns an error",
        sizes: &[2, 3],
        program: programs::returns_error,
        fails: true,
        says: &[
            "rank 1: no more data",
            "rank 0: cannot go on, because rank 1 failed: its program returned an error: no more data",
        ],
    },
    Scenario {
        name: "a rank panics",
        sizes: &[2, 3],
        program: programs::panics,
        fails: true,
        says: &[
            "rank 1: panicked: boom 7",
            "rank 0: cannot go on, because rank 1 failed: its program panicked: boom 7",
        ],
    },
    Scenario {
        name: "a rank panics outside of run",
        sizes: &[2],
        program: programs::panics_alone,
        fails: true,
        says: &["rank 0 heard: rank 0: cannot go on, because rank 1 failed: its program panicked"],
    },
    Scenario {
        name: "a rank fails when others have finished",
        sizes: &[3],
        program: programs::fails_late,
        fails: true,
        says: &["rank 0: cannot go on, because rank 2 failed: its program returned an error: oh"],
    },
    Scenario {
        name: "a rank sleeps past the deadline",
        sizes: &[2],
        program: programs::sleeps,
        fails: true,
        says: &["rank 0: meet (", "for rank 1, which did not answer", "rank 1: cannot go on"],
    },
    Scenario {
        name: "a rank leaves much later",
        sizes: &[2],
        program: programs::leaves_later,
        fails: false,
        says: &["rank 1 leaves"],
    },
    Scenario {
        name: "a rank leaves too late",
        sizes: &[2],
        program: programs::leaves_too_late,
        fails: true,
        says: &["because rank 1 failed: rank 0 left, and waited", "for it to leave"],
    },
    Scenario {
        name: "a rank aborts and stays",
        sizes: &[2],
        program: programs::aborts_and_stays,
        fails: true,
        says: &["rank 1 heard in time: rank 1: cannot go on, because rank 0 failed: enough"],
    },
    Scenario {
        name: "after a wrong length nothing is taken",
        sizes: &[2],
        program: programs::wrong_length,
        fails: false,
        says: &["rank 1 took nothing more"],
    },
    Scenario {
        name: "a rank is killed",
        sizes: &[2],
        program: programs::killed,
        fails: true,
        says: &["rank 1 dies"],
    },
    Scenario {
        name: "MPI is initialised twice",
        sizes: &[1],
        program: programs::second_init,
        fails: false,
        says: &["MPI_Init_thread failed: MPI was initialised before in this process"],
    },
    Scenario {
        name: "late messages are taken later",
        sizes: &[2],
        program: programs::late_then_taken,
        fails: false,
        says: &["rank 1: late, then taken"],
    },
    Scenario {
        name: "nobody sends to itself",
        sizes: &[1],
        program: programs::own_late,
        fails: false,
        says: &["for rank 0, which did not answer"],
    },
    Scenario {
        name: "nobody takes small messages and fills rooms",
        sizes: &[2],
        program: programs::leftovers,
        fails: false,
        says: &["rank 0 leaves", "rank 1 leaves"],
    },
    Scenario {
        name: "nobody takes a large message",
        sizes: &[2],
        program: programs::untaken,
        fails: true,
        says: &["rank 0: 1 messages were sent that nobody received"],
    },
    Scenario {
        name: "what was posted before leaving comes",
        sizes: &[2],
        program: programs::posted_then_left,
        fails: false,
        says: &["rank 1 has it"],
    },
    Scenario {
        name: "a communicator outlives run",
        sizes: &[2],
        program: programs::outlives,
        fails: false,
        says: &["rank 0 has met", "rank 1 has met"],
    },
];

pub(super) fn tests() -> Vec<MpiTest> {
    let mut tests: Vec<MpiTest> = SCENARIOS
        .iter()
        .flat_map(|scenario| scenario.sizes.iter().map(move |size| (scenario, *size)))
        // Other launchers end ranks without a core of their own slowly.
        .filter(|(_, size)| *size <= 2 || is_open_mpi())
        .map(|(scenario, size)| MpiTest {
            name: format!("{}, {size} ranks", scenario.name),
            run: Box::new(move || judge(scenario, size)),
        })
        .collect();
    tests.push(MpiTest { name: "a rank that hangs is stopped".to_owned(), run: Box::new(hangs) });
    tests.push(MpiTest { name: "a launcher of another MPI".to_owned(), run: Box::new(foreign) });
    tests
}

/// A process that the launcher of another MPI started: it finds that launcher's variables, and MPI
/// takes it for one that was started alone.
fn foreign() -> Result<(), String> {
    let (size, rank) = match is_open_mpi() {
        true => ("PMI_SIZE", "PMI_RANK"),
        false => ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    };
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let started = |count: &str| {
        let mut command = Command::new(&program);
        command.args(["rank", "program", "starts"]).envs([(size, count), (rank, "0")]);
        command.output().map_err(|error| error.to_string())
    };
    // A world of one rank is alone, whatever started it.
    let output = started("1")?;
    if !output.status.success() {
        return Err(format!("one of one was refused\n{output:?}"));
    }
    let output = started("2")?;
    let library = library().unwrap_or_default();
    let said = String::from_utf8_lossy(&output.stderr);
    let says = [&format!("{size}=2"), &format!("with the launcher of {library},")];
    match says.into_iter().find(|words| !said.contains(words.as_str())) {
        Some(words) => Err(format!("no rank printed `{words}`\n{output:?}")),
        None if output.status.code() == Some(1) => Ok(()),
        None => Err(format!("expected exit code 1\n{output:?}")),
    }
}

/// The program of a rank.
pub(super) fn program(name: &str) {
    if name == "hangs" {
        return std::thread::sleep(Duration::from_secs(100));
    }
    if name == "starts" {
        return programs::starts();
    }
    let scenario = SCENARIOS.iter().find(|scenario| scenario.name == name);
    (scenario.expect("a program of that name").program)();
}

fn launch(name: &str, size: usize, limit: Duration) -> Result<LaunchOutput, String> {
    let outputs = relaunch(&[size], &["rank", "program", name], limit);
    outputs.map_err(|error| error.to_string())?.pop().ok_or_else(String::new)
}

fn judge(scenario: &Scenario, size: usize) -> Result<(), String> {
    let output = launch(scenario.name, size, Duration::from_secs(120))?;
    ended(&output, scenario.fails)?;
    let said = |text: &&str| output.stdout.contains(*text) || output.stderr.contains(*text);
    match scenario.says.iter().find(|text| !said(text)) {
        Some(text) => Err(format!("no rank printed `{text}`\n{output}")),
        None => Ok(()),
    }
}

fn hangs() -> Result<(), String> {
    let output = launch("hangs", 2, Duration::from_secs(1))?;
    match output.late {
        true => Ok(()),
        false => Err(format!("should have been stopped\n{output}")),
    }
}
