//! Coordinators and workers as processes of a test, on loopback; all of them end with it.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use pantile_testkit::timing::soon;

use super::{Ran, pantile, words};

/// A folder that is gone in the end.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("pantile-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.0.join(name), bytes).unwrap();
    }

    pub(crate) fn get(&self, name: &str) -> Vec<u8> {
        fs::read(self.0.join(name)).unwrap()
    }

    pub(crate) fn run(&self, line: &str) -> Ran {
        pantile(&words(line), &self.0, "")
    }

    /// What a command prints that must be fine.
    pub(crate) fn prints(&self, line: &str) -> String {
        let ran = self.run(line);
        assert_eq!(ran.code, 0, "{line}: {}", ran.stderr);
        ran.stdout
    }

    /// The complaint of a command that is refused.
    pub(crate) fn refused(&self, line: &str) -> String {
        let ran = self.run(line);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{line}: {}", ran.stderr);
        ran.stderr
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A `pantile` that runs until it is dropped, or until this process ends: then its input closes.
pub(crate) struct Process {
    child: Child,
    log: PathBuf,
}

impl Process {
    pub(crate) fn start(folder: &Path, name: &str, line: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pantile"));
        command.args(words(line));
        Self::spawn(folder, name, &mut command)
    }

    /// The same with an address space of so many KiB.
    pub(crate) fn limited(folder: &Path, name: &str, line: &str, space: usize) -> Self {
        let mut command = Command::new("sh");
        let shell = format!("ulimit -v {space}; exec \"$0\" {line}");
        command.args(["-c", &shell, env!("CARGO_BIN_EXE_pantile")]);
        Self::spawn(folder, name, &mut command)
    }

    fn spawn(folder: &Path, name: &str, command: &mut Command) -> Self {
        let log = folder.join(format!("{name}.log"));
        let child = command
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(File::create(&log).unwrap())
            .spawn()
            .unwrap();
        Self { child, log }
    }

    /// What it said on standard error so far.
    pub(crate) fn said(&self) -> String {
        let mut text = String::new();
        File::open(&self.log).unwrap().read_to_string(&mut text).unwrap();
        text
    }

    /// The first line of a file, once it is there.
    pub(crate) fn ready(&mut self, file: &Path) -> String {
        soon("the ready file", || {
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none(), "it ended ({ended:?}): {}", self.said());
            let text = fs::read_to_string(file).ok()?;
            Some(text.trim_end().to_owned())
        })
    }

    /// The exit code of a process that ends by itself.
    pub(crate) fn ended(&mut self) -> Option<i32> {
        soon("the end of a process", || self.child.try_wait().unwrap()).code()
    }

    /// Ends it at once, as `kill -9` does.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Sends it a signal by name.
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args([format!("-{name}"), pid]).status().unwrap();
        assert!(sent.success(), "kill -{name}");
    }

    /// Closes its standard input.
    pub(crate) fn close_input(&mut self) {
        drop(self.child.stdin.take());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A coordinator with workers named `a`, `b`, ...
pub(crate) struct Site {
    pub(crate) folder: Folder,
    pub(crate) address: String,
    pub(crate) coordinator: Process,
    pub(crate) workers: Vec<Process>,
}

impl Site {
    /// `server` and `client` are options of theirs that protect them.
    pub(crate) fn new(name: &str, workers: usize, (server, client): (&str, &str)) -> Self {
        let folder = Folder::new(name);
        Self::within(folder, workers, (server, client))
    }

    pub(crate) fn within(folder: Folder, workers: usize, (server, client): (&str, &str)) -> Self {
        let line = format!("coordinator --listen 127.0.0.1:0 --ready-file at {server}");
        let mut coordinator = Process::start(&folder.0, "coordinator", &line);
        let address = coordinator.ready(&folder.0.join("at"));
        let mut site = Self { folder, address, coordinator, workers: Vec::new() };
        for name in ["a", "b", "c", "d", "e"].iter().take(workers) {
            site.add(name, server);
        }
        site.wait_for(workers, client);
        site
    }

    pub(crate) fn add(&mut self, name: &str, options: &str) {
        let coordinator = &self.address;
        let line = format!(
            "worker --coordinator {coordinator} --name {name} --until-stdin-closes {options}"
        );
        self.workers.push(Process::start(&self.folder.0, name, &line));
    }

    /// The table of workers, once there are so many.
    pub(crate) fn wait_for(&self, workers: usize, options: &str) -> String {
        let words = format!(" {workers} worker{}", if workers == 1 { "" } else { "s" });
        let ends = ["\n", ", "].map(|end| format!("{words}{end}"));
        soon("workers", || {
            let text = self.folder.prints(&format!("cluster status {} {options}", self.address));
            ends.iter().any(|words| text.contains(words)).then_some(text)
        })
    }
}
