//! Coordinators, workers and clients as processes: the same output as on threads, protection, loss.

use crate::common::site::{Folder, Process, Site};
use crate::common::{pantile, root, words};
use pantile_testkit::timing::{SOON, soon};
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

/// Steps in time of long programs, and what they are cut to.
const LONG: [(&str, &str); 2] = [("451 : index", "4 : index"), ("500 : index", "100 : index")];

/// The examples with few steps in time, and what they print on threads.
fn examples() -> Vec<(String, String, String)> {
    let mut list = Vec::new();
    for entry in fs::read_dir(root().join("examples")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|end| end != "dist") {
            continue;
        }
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&path).unwrap();
        let short = LONG.iter().fold(text.clone(), |text, (long, few)| text.replace(long, few));
        let expected = match short == text {
            true => fs::read_to_string(root().join(format!("filetests/run/{name}.out"))).unwrap(),
            false => pantile(&words("run - -n 1"), &root(), &short).stdout,
        };
        assert!(!expected.is_empty(), "{name}");
        list.push((name, short, expected));
    }
    assert!(list.len() >= 8, "{}", list.len());
    list
}

/// Starts a program that takes minutes, and waits until all workers are at it.
fn start_endless(site: &Site) -> Process {
    site.folder.put("long.dist", endless());
    let line = format!("run long.dist --cluster {} --always-ship", site.address);
    let client = Process::start(&site.folder.0, "client", &line);
    soon("the run", || {
        let text = site.folder.prints(&format!("cluster status {}", site.address));
        let busy = |line: &str| line.split_whitespace().rev().nth(1) == Some("1");
        text.lines().skip(2).all(busy).then_some(())
    });
    std::thread::sleep(Duration::from_millis(300));
    client
}

/// A program that takes minutes.
fn endless() -> String {
    let text = fs::read_to_string(root().join("examples/heat.dist")).unwrap();
    let long = text.replace("500 : index", "5000000 : index");
    assert_ne!(long, text);
    long
}

#[test]
fn every_example_prints_the_same_on_any_number_of_workers() {
    let examples = examples();
    for workers in [1, 2, 3, 5] {
        let folder = Folder::new(&format!("examples-{workers}"));
        let line = format!(
            "cluster -n {workers} --listen 127.0.0.1:0 --ready-file at --until-stdin-closes"
        );
        let mut cluster = Process::start(&folder.0, "cluster", &line);
        let address = cluster.ready(&folder.0.join("at"));
        for (name, text, expected) in &examples {
            let line = format!("run - --cluster {address} --always-ship");
            let ran = pantile(&words(&line), &folder.0, text);
            assert_eq!(ran.code, 0, "{name} on {workers} workers: {}", ran.stderr);
            assert_eq!(&ran.stdout, expected, "{name} on {workers} workers");
            let plural = if workers == 1 { "" } else { "s" };
            let note = format!("note: {workers} rank{plural} (cluster), ");
            assert!(ran.stderr.starts_with(&note), "{}", ran.stderr);
        }
        cluster.close_input();
        assert_eq!(cluster.ended(), Some(0), "{}", cluster.said());
    }
}

const SCALE: &str = "\
func.func @scale(%x: !ndarray.ndarray<?x3xf64, #dist.dist_env<team = 22>>, %f: f64) -> (!ndarray.ndarray<?x3xf64>, !ndarray.ndarray<f64>) {
  %y = ndarray.ewbin %x, %f {op = \"mul\"} : (!ndarray.ndarray<?x3xf64, #dist.dist_env<team = 22>>, f64) -> !ndarray.ndarray<?x3xf64>
  %s = ndarray.reduction %y {op = 4 : i32} : !ndarray.ndarray<?x3xf64> -> !ndarray.ndarray<f64>
  return %y, %s : !ndarray.ndarray<?x3xf64>, !ndarray.ndarray<f64>
}
";

/// A file of rows of three `f64`, as NumPy writes it.
fn rows(count: usize) -> Vec<u8> {
    let shape = format!("({count}, 3)");
    let mut head = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
    while (10 + head.len() + 1) % 64 != 0 {
        head.push(' ');
    }
    head.push('\n');
    let length = u16::try_from(head.len()).unwrap().to_le_bytes();
    let numbers = (0..3 * count).flat_map(|number| (number as f64).sqrt().to_le_bytes());
    let head = [b"\x93NUMPY\x01\x00", &length[..], head.as_bytes()].concat();
    head.into_iter().chain(numbers).collect()
}

#[test]
fn files_go_in_and_come_out() {
    let site = Site::new("files", 3, ("", ""));
    let folder = &site.folder;
    folder.put("scale.dist", SCALE);
    folder.put("few.npy", rows(2));
    folder.put("many.npy", rows(5000));
    for file in ["few", "many"] {
        let given = format!("run scale.dist --arg x={file}.npy --arg f=2.5");
        let printed = folder.prints(&format!("{given} -n 1"));
        folder.prints(&format!("{given} -n 2 --out y=home.npy"));
        for ranks in ["", "-n 1", "-n 2", "-n 7"] {
            let there = format!("{given} --cluster {} --always-ship {ranks}", site.address);
            assert_eq!(folder.prints(&there), printed, "{file} {ranks}");
            let sum = folder.prints(&format!("{there} --out y=there.npy"));
            assert!(sum.starts_with("s = ") && printed.ends_with(&sum), "{sum}");
            assert!(folder.get("there.npy") == folder.get("home.npy"), "{file} {ranks}");
        }
    }
    // Every element went there and came back once.
    let line = format!(
        "run scale.dist --arg x=many.npy --arg f=1 --cluster {} --always-ship --out y=y.npy",
        site.address
    );
    let ran = folder.run(&line);
    assert!(
        ran.stderr.contains("note: 117 KiB to the workers, 117 KiB from them"),
        "{}",
        ran.stderr
    );
}

#[test]
fn what_is_cheaper_at_home_is_not_shipped() {
    let site = Site::new("gate", 2, ("", ""));
    let folder = &site.folder;
    folder.put("scale.dist", SCALE);
    folder.put("x.npy", rows(100));
    let given = "scale.dist --arg x=x.npy --arg f=2";
    let expected = folder.prints(&format!("run {given} -n 1"));
    let ran = folder.run(&format!("run {given} --cluster {}", site.address));
    assert_eq!((ran.code, &ran.stdout), (0, &expected), "{}", ran.stderr);
    assert!(ran.stderr.contains("note: not shipped, predicted "), "{}", ran.stderr);
    assert!(ran.stderr.contains("note: 1 rank (threads), "), "{}", ran.stderr);
    let text = folder.prints(&format!("explain {given} --cluster {}", site.address));
    assert!(text.contains(" on 2 ranks\n"), "{text}");
    let words = format!("\ncluster at {}: not shipped, predicted ", site.address);
    assert!(text.contains(&words), "{text}");
    let large = fs::read_to_string(root().join("examples/black_scholes.dist")).unwrap();
    folder.put("large.dist", large.replace("20000x", "2000000x"));
    let text = folder.prints(&format!("explain large.dist --cluster {}", site.address));
    let words = format!("\ncluster at {}: shipped, predicted ", site.address);
    assert!(text.contains(&words), "{text}");
    let text = folder.prints(&format!("explain large.dist --cluster {} --json", site.address));
    assert!(text.contains("\"ships\": true"), "{text}");
    let ran = folder.run(&format!("run large.dist --cluster {}", site.address));
    assert!(ran.code == 0 && ran.stderr.contains("2 ranks (cluster)"), "{}", ran.stderr);
}

#[test]
fn the_environment_names_a_cluster_unless_somebody_asks_for_threads() {
    let site = Site::new("variable", 1, ("", ""));
    let run = |more: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_pantile"))
            .args(["run", "examples/star.dist", "--always-ship"])
            .args(more)
            .env("PANTILE_CLUSTER", &site.address)
            .current_dir(root())
            .output()
            .unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(run(&[]).contains("1 rank (cluster)"), "{}", run(&[]));
    let threads = run(&["--backend", "threads", "-n", "2"]);
    assert!(threads.contains("2 ranks (threads)"), "{threads}");
    let scheme = run(&["--scheme", "GSS"]);
    assert!(scheme.contains("--scheme GSS is for ranks of this process"), "{scheme}");
    let explain = |variable: &str, more: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_pantile"))
            .args(["explain", "examples/star.dist"])
            .args(more)
            .env("PANTILE_CLUSTER", variable)
            .current_dir(root())
            .output()
            .unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    let text = explain(&site.address, &[]);
    assert!(text.contains(&format!("\ncluster at {}: ", site.address)), "{text}");
    let text = explain(&site.address, &["--backend", "threads"]);
    assert!(!text.contains("cluster at"), "{text}");
    let text = explain("", &[]);
    assert!(!text.contains("cluster"), "{text}");
    // What is wrong with the variable is not said of an option.
    for (variable, words) in [
        ("nowhere", "PANTILE_CLUSTER nowhere: expected HOST:PORT"),
        ("127.0.0.1:1", "PANTILE_CLUSTER is `127.0.0.1:1`: no coordinator or worker"),
    ] {
        let text = explain(variable, &[]);
        assert!(text.contains(words) && !text.contains("--cluster"), "{text}");
    }
}

#[test]
fn workers_cut_loops_as_they_are_told() {
    let folder = Folder::new("scheme");
    let line =
        "cluster -n 2 --scheme fac2 --listen 127.0.0.1:0 --ready-file at --until-stdin-closes";
    let mut cluster = Process::start(&folder.0, "cluster", line);
    let address = cluster.ready(&folder.0.join("at"));
    folder.put("scale.dist", SCALE);
    folder.put("x.npy", rows(200_000));
    let given = "run scale.dist --arg x=x.npy --arg f=2";
    let expected = folder.prints(&format!("{given} -n 1"));
    let there = format!("{given} --always-ship --threads 2 --cluster {address}");
    assert_eq!(folder.prints(&there), expected);
    for scheme in ["static", "SS", "Gss", "AUTO"] {
        let here = format!("{given} -n 2 --threads 2 --scheme {scheme}");
        assert_eq!(folder.prints(&here), expected, "{scheme}");
    }
    let wrong = folder.run("worker --coordinator 127.0.0.1:1 --scheme best");
    assert_eq!(wrong.code, 2, "{}", wrong.stderr);
    assert!(wrong.stderr.contains("got scheme `best`, expected one of EVEN, STATIC"));
}

#[test]
fn keys_protect_everything_on_the_way() {
    let folder = Folder::new("keys");
    let text = folder.prints("cluster keys keys --names localhost,node-7=10.1.2.3");
    assert_eq!(text, "keys: keys of 2 hosts and of clients\n");
    for host in ["localhost", "node-7", "client"] {
        for file in pantile::cluster::FILES {
            let path = folder.0.join("keys").join(host).join(file);
            let mode = fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{}", path.display());
        }
    }
    assert!(folder.refused("cluster keys keys --names a").contains("keys is not empty"));
    folder.prints("cluster keys others --names localhost");
    fs::create_dir(folder.0.join("mixed")).unwrap();
    for (from, name) in [("keys", 0), ("keys", 1), ("keys", 2), ("others", 3)] {
        let name = pantile::cluster::FILES[name];
        fs::copy(folder.0.join(from).join("client").join(name), folder.0.join("mixed").join(name))
            .unwrap();
    }
    let site = Site::within(folder, 2, ("--keys keys/localhost", "--keys keys/client"));
    let (folder, address) = (&site.folder, &site.address);
    folder.put("scale.dist", SCALE);
    folder.put("x.npy", rows(1000));
    let given = "run scale.dist --arg x=x.npy --arg f=2 --out y=y.npy";
    let expected = folder.prints(&format!("{given} -n 1"));
    let there = format!("{given} --always-ship --cluster {address}");
    assert_eq!(folder.prints(&format!("{there} --keys keys/client")), expected);
    let check = |options: &str, words: &str| {
        let error = folder.refused(&format!("{there} {options}"));
        assert!(error.contains(words), "{options}: {error}");
    };
    check("", &format!("no coordinator or worker at {address}: perhaps it wants keys"));
    check("--keys mixed", "the token is not that of this cluster");
    check("--keys others/client", &format!("no coordinator or worker at {address}: "));
    check("--keys nowhere", "nowhere/authority.pem cannot be read");
    let line = format!("worker --coordinator {address} --patience 1");
    let mut stranger = Process::start(&folder.0, "stranger", &line);
    assert_eq!(stranger.ended(), Some(1));
    assert!(stranger.said().contains("perhaps it wants keys"), "{}", stranger.said());
    assert_eq!(folder.prints(&format!("{there} --keys keys/client")), expected, "not disturbed");
}

#[test]
fn tokens_are_wanted_where_there_is_one() {
    let folder = Folder::new("token");
    folder.put("token", "5".repeat(64));
    folder.put("wrong", "6".repeat(64));
    folder.put("short", "5");
    let mut site = Site::within(folder, 1, ("--token-file token", "--token-file token"));
    let star = root().join("examples/star.dist").display().to_string();
    let line = format!("run {star} --always-ship --cluster {}", site.address);
    site.folder.prints(&format!("{line} --token-file token"));
    let check = |options: &str, words: &str| {
        let error = site.folder.refused(&format!("{line} {options}"));
        assert!(error.contains(words), "{options}: {error}");
    };
    check("", "this cluster wants a token");
    check("--token-file wrong", "the token is not that of this cluster");
    check("--token-file short", "short: ");
    site.add("stranger", "--token-file wrong");
    let mut stranger = site.workers.pop().unwrap();
    assert_eq!(stranger.ended(), Some(1));
    assert!(
        stranger.said().contains("the token is not that of this cluster"),
        "{}",
        stranger.said()
    );
    // Two clients and a worker were refused: counted, told, and without what they showed.
    let text = site.wait_for(1, "--token-file token");
    assert!(text.contains(": 1 worker, 3 refusals by the coordinator\n"), "{text}");
    let said = site.coordinator.said();
    assert_eq!(said.matches("\nrefused 127.0.0.1:").count(), 3, "{said}");
    assert!(!said.contains("5555") && !said.contains("6666"), "{said}");
}

#[test]
fn the_loss_of_a_worker_is_named_and_the_others_go_on() {
    let mut site = Site::new("loss", 3, ("", ""));
    let mut client = start_endless(&site);
    site.workers[1].kill();
    let killed = Instant::now();
    assert_eq!(client.ended(), Some(1), "{}", client.said());
    assert!(killed.elapsed() < SOON, "{:?}", killed.elapsed());
    assert!(client.said().starts_with("error: worker `b` is lost: "), "{}", client.said());
    let text = site.wait_for(2, "");
    assert!(!text.contains("\n  b "), "{text}");
    let star = root().join("examples/star.dist").display().to_string();
    let line = format!("run {star} --cluster {} --always-ship", site.address);
    let expected = fs::read_to_string(root().join("filetests/run/star.out")).unwrap();
    assert_eq!(site.folder.prints(&line), expected);
    // Nothing of the run that was lost is kept.
    soon("free memory", || {
        let text = site.folder.prints(&format!("cluster status {}", site.address));
        let rows: Vec<&str> = text.lines().skip(2).collect();
        let is_free = |row: &&str| {
            let words: Vec<&str> = row.split_whitespace().rev().collect();
            words[1] == "0" && words[3..5] == ["B", "0"]
        };
        rows.iter().all(is_free).then_some(())
    });
}

#[test]
fn a_worker_that_hangs_is_lost_until_it_comes_back() {
    let site = Site::new("hanging", 2, ("", ""));
    let mut client = start_endless(&site);
    site.workers[0].signal("STOP");
    let stopped = Instant::now();
    assert_eq!(client.ended(), Some(1), "{}", client.said());
    assert!(stopped.elapsed() < SOON, "{:?}", stopped.elapsed());
    assert!(client.said().starts_with("error: worker `a` is lost: "), "{}", client.said());
    site.wait_for(1, "");
    site.workers[0].signal("CONT");
    site.wait_for(2, "");
}

#[test]
fn clients_do_not_disturb_each_other() {
    let site = Site::new("clients", 2, ("", ""));
    let examples: Vec<_> = examples()
        .into_iter()
        .filter(|(name, ..)| ["star", "cg", "heat"].contains(&&**name))
        .collect();
    let site = &site;
    std::thread::scope(|scope| {
        for (name, text, expected) in &examples {
            scope.spawn(move || {
                for ranks in ["2", "3"] {
                    let line = format!("run - --cluster {} --always-ship -n {ranks}", site.address);
                    let ran = pantile(&words(&line), &site.folder.0, text);
                    assert_eq!((ran.code, &ran.stdout), (0, expected), "{name}: {}", ran.stderr);
                }
            });
        }
    });
}

#[test]
fn workers_come_before_their_coordinator_and_again_after_it() {
    let folder = Folder::new("patience");
    // Nobody else gets this port in the meantime.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let line = format!("worker --coordinator {address} --name early");
    let early = Process::start(&folder.0, "early", &line);
    soon("a word about it", || early.said().contains("trying again for").then_some(()));
    for turn in ["first", "second"] {
        let line = format!("coordinator --listen {address} --ready-file {turn}");
        let mut coordinator = Process::start(&folder.0, turn, &line);
        coordinator.ready(&folder.0.join(turn));
        soon("the worker", || {
            let text = folder.prints(&format!("cluster status {address}"));
            text.contains("early").then_some(())
        });
        coordinator.kill();
    }
    let line = format!("worker --coordinator {address} --patience 1");
    let mut hasty = Process::start(&folder.0, "hasty", &line);
    assert_eq!(hasty.ended(), Some(1));
    assert!(hasty.said().contains("nobody came for 1 s (--patience)"), "{}", hasty.said());
}

#[test]
fn workers_may_be_listed() {
    let folder = Folder::new("listed");
    folder.prints("cluster keys keys --names localhost");
    let star = root().join("examples/star.dist").display().to_string();
    let expected = fs::read_to_string(root().join("filetests/run/star.out")).unwrap();
    for (turn, server, client) in
        [("plain", "", ""), ("tls", "--keys keys/localhost", "--keys keys/client")]
    {
        let line = format!(
            "worker --listen localhost:0 --name listed --ready-file {turn}-worker {server}"
        );
        let mut worker = Process::start(&folder.0, &format!("{turn}-worker-log"), &line);
        let at = worker.ready(&folder.0.join(format!("{turn}-worker")));
        assert!(at.starts_with("localhost:") && !at.ends_with(":0"), "{at}");
        let line =
            format!("coordinator --listen 127.0.0.1:0 --ready-file {turn} --workers {at} {server}");
        let mut coordinator = Process::start(&folder.0, &format!("{turn}-log"), &line);
        let address = coordinator.ready(&folder.0.join(turn));
        soon("the worker", || {
            let text = folder.prints(&format!("cluster status {address} {client}"));
            text.contains("listed").then_some(())
        });
        let line = format!("run {star} --cluster {address} --always-ship {client}");
        assert_eq!(folder.prints(&line), expected, "{turn}");
    }
}

#[test]
fn workers_end_with_the_cluster_that_started_them_however_it_ends() {
    let folder = Folder::new("orphans");
    let line = "cluster -n 2 --listen 127.0.0.1:0 --ready-file at";
    let mut cluster = Process::start(&folder.0, "cluster", line);
    let address = cluster.ready(&folder.0.join("at"));
    let text = folder.prints(&format!("cluster status {address}"));
    let at = |row: &str| row.split_whitespace().nth(1).unwrap().to_owned();
    let workers: Vec<String> = text.lines().skip(2).map(at).collect();
    assert_eq!(workers.len(), 2, "{text}");
    assert!(workers.iter().all(|worker| TcpStream::connect(worker).is_ok()));
    cluster.kill();
    soon("the end of the workers", || {
        workers.iter().all(|worker| TcpStream::connect(worker).is_err()).then_some(())
    });
}

#[test]
fn what_cannot_be_is_said() {
    let site = Site::new("wrong", 0, ("", ""));
    let (folder, address) = (&site.folder, &site.address);
    let star = root().join("examples/star.dist").display().to_string();
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let check = |line: &str, words: &str| {
        let start = Instant::now();
        let error = folder.refused(line);
        assert!(error.contains(words), "{line}: {error}");
        assert!(start.elapsed() < SOON, "{line}");
    };
    let run = format!("run {star} --always-ship --cluster");
    check(&format!("{run} {nobody}"), &format!("no coordinator or worker at {nobody}"));
    check(&format!("{run} {address}"), "no worker has come to this coordinator yet");
    check(&format!("{run} 127.0.0.1"), "--cluster 127.0.0.1: expected HOST:PORT");
    check(&format!("{run} 192.0.2.1:7420"), "192.0.2.1:7420 is not of this machine: give a folder");
    check(
        &format!("{run} {address} --progress"),
        "--progress and --trace see ranks of this process",
    );
    check(&format!("{run} {address} --trace t.json"), "not those of a cluster");
    check(&format!("explain {star} --cluster {nobody}"), &format!("worker at {nobody}"));
    check(&format!("cluster status {nobody}"), &format!("worker at {nobody}"));
    check("coordinator --listen 192.0.2.1:0", "or say --insecure");
    check(&format!("coordinator --listen {address}"), &format!("cannot listen at {address}"));
    check("cluster --listen 0.0.0.0:0", "by which they know this machine");
    check("worker --coordinator node-1:7420", "say --data HOST:0");
    check("worker --coordinator 127.0.0.1:1 --data [::]:0", "by which they know this machine");
    check("worker --listen 192.0.2.1:0", "192.0.2.1:0");
    check("cluster keys k --names a/b", "--names a/b: expected names or addresses");
    check(&format!("{run} {address} --token-file none"), "none cannot be read");
    let ran = folder.run(&format!("{run} {address} --backend sim"));
    assert_eq!(ran.code, 2, "{}", ran.stderr);
}
