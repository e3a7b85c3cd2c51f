//! Starting ranks, and being one.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use pantile_comm::Options;
use pantile_comm_net::{JoinConfig, Listener, ListenerOptions, Net, Secret, Security, random_id};

/// No launch takes longer, even on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// What one rank printed, and how it ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) printed: String,
    /// None if it was ended by a signal.
    pub(super) code: Option<i32>,
}

/// A process that is ended with the launcher.
struct RankProcess {
    child: Child,
    out: Option<BufReader<ChildStdout>>,
}

impl Drop for RankProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts so many ranks of this program; what became of each.
pub(super) fn launch(size: usize, args: &[&str]) -> Result<Vec<Ended>, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let start = |_| {
        let mut command = Command::new(&program);
        command.arg("rank").args(args).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let out = BufReader::new(child.stdout.take().ok_or("no output")?);
        Ok(RankProcess { child, out: Some(out) })
    };
    let mut ranks = (0..size).map(start).collect::<Result<Vec<RankProcess>, String>>()?;
    let mut addresses = Vec::new();
    for rank in &mut ranks {
        let mut line = String::new();
        let out = rank.out.as_mut().ok_or("output is read once")?;
        out.read_line(&mut line).map_err(|error| error.to_string())?;
        addresses.push(line.trim().to_owned());
    }
    let world = random_id().map_err(|error| error.to_string())?;
    let secret = Secret::random().map_err(|error| error.to_string())?.to_hex();
    for (number, rank) in ranks.iter_mut().enumerate() {
        let mut reader = rank.child.stdin.take().ok_or("no input")?;
        writeln!(reader, "{world} {secret} {number} {}", addresses.join(" "))
            .map_err(|error| error.to_string())?;
    }
    let started = Instant::now();
    let readers: Vec<_> =
        ranks.into_iter().map(|rank| std::thread::spawn(move || finish(rank, started))).collect();
    readers.into_iter().map(|reader| reader.join().map_err(|_| "a reader panicked")?).collect()
}

fn finish(mut rank: RankProcess, started: Instant) -> Result<Ended, String> {
    let id = rank.child.id();
    let (sender, lines) = std::sync::mpsc::channel();
    let Some(out) = rank.out.take() else { return Err("output is read once".to_owned()) };
    std::thread::spawn(move || {
        for line in out.lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    let mut printed = String::new();
    loop {
        match lines.recv_timeout(LIMIT.saturating_sub(started.elapsed())) {
            Ok(line) => printed.extend([&line, "\n"]),
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break,
            Err(_) => return Err(format!("process {id} hangs; so far it printed\n{printed}")),
        }
    }
    let code = rank.child.wait().map_err(|error| error.to_string())?.code();
    Ok(Ended { printed, code })
}

/// This process is a rank: it says where it listens, and hears where the others do.
pub(super) fn join(options: &Options, listener_options: ListenerOptions) -> Net {
    let listener = Listener::listen("127.0.0.1:0", Security::Plain, listener_options).unwrap();
    println!("{}", listener.address());
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    let words: Vec<&str> = line.split_whitespace().collect();
    let config = JoinConfig {
        world: words[0].parse().unwrap(),
        secret: Secret::from_hex(words[1]).unwrap(),
        rank: words[2].parse().unwrap(),
        addresses: words[3..].iter().map(|word| (*word).to_owned()).collect(),
    };
    listener.join(&config, options).unwrap()
}
