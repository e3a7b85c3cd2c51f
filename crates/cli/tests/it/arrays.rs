//! `pantile run` with files: every type, order of bytes and order of axes, in parallel.

use crate::common::{Ran, pantile, root, words};
use std::fs;
use std::path::PathBuf;

/// A folder that is gone in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("pantile-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.0.join(name), bytes).unwrap();
    }

    fn get(&self, name: &str) -> Vec<u8> {
        fs::read(self.0.join(name)).unwrap()
    }

    fn run(&self, line: &str) -> Ran {
        pantile(&words(line), &self.0, "")
    }

    /// The complaint of a command that is refused.
    fn refused(&self, line: &str) -> String {
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

/// A file as NumPy writes it, put together by hand.
fn npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let mut head = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
    // Room for the axis that grows: 21 digits.
    let first = shape.trim_matches(['(', ')']).split(',').next().unwrap().trim();
    let last = shape.trim_matches(['(', ')', ',']).split(',').next_back().unwrap().trim();
    let grows = if fortran { last } else { first };
    if !grows.is_empty() {
        head.push_str(&" ".repeat(21 - grows.len()));
    }
    while (10 + head.len() + 1) % 64 != 63 {
        head.push(' ');
    }
    head.push_str(" \n");
    let length = u16::try_from(head.len()).unwrap().to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], head.as_bytes(), data].concat()
}

const TYPES: [(&str, &str, usize); 13] = [
    ("i1", "|b1", 1),
    ("i8", "|i1", 1),
    ("i16", "<i2", 2),
    ("i32", "<i4", 4),
    ("i64", "<i8", 8),
    ("ui8", "|u1", 1),
    ("ui16", "<u2", 2),
    ("ui32", "<u4", 4),
    ("ui64", "<u8", 8),
    ("f32", "<f4", 4),
    ("f64", "<f8", 8),
    ("complex<f32>", "<c8", 4),
    ("complex<f64>", "<c16", 8),
];

/// 35 elements of a type, bytes that tell places apart; `word` bytes belong together.
fn data(name: &str, word: usize) -> Vec<u8> {
    let size = if name.starts_with("complex") { 2 * word } else { word };
    let byte = |at: usize| match name {
        "i1" => u8::from(at.is_multiple_of(3)),
        _ => u8::try_from(at * 7 % 120).unwrap(),
    };
    (0..35 * size).map(byte).collect()
}

fn copy_of(element: &str, shape: &str, home: &str) -> String {
    format!(
        "!a = !ndarray.ndarray<{shape}x{element}, #pantile.dist<\"{home}\">>\n\
         func.func @main(%x: !a) -> !a {{\n  %y = ndarray.copy %x : !a -> !a\n  return %y : !a\n}}\n"
    )
}

#[test]
fn every_type_goes_in_and_comes_out() {
    let folder = Folder::new("types");
    for (element, descr, word) in TYPES {
        let bytes = data(element, word);
        let file = npy(descr, false, "(7, 5)", &bytes);
        folder.put("in.npy", &file);
        // The other order of bytes, and the other order of axes.
        let swapped: Vec<u8> =
            bytes.chunks(word).flat_map(|one| one.iter().rev().copied()).collect();
        folder.put("big.npy", npy(&descr.replace('<', ">"), false, "(7, 5)", &swapped));
        let size = bytes.len() / 35;
        let turned: Vec<u8> = (0..5)
            .flat_map(|column| (0..7).map(move |row| row * 5 + column))
            .flat_map(|at| bytes[at * size..(at + 1) * size].to_vec())
            .collect();
        folder.put("fortran.npy", npy(descr, true, "(7, 5)", &turned));
        folder.put("copy.dist", copy_of(element, "7x5", "block(r), whole"));
        for name in ["in", "big", "fortran"] {
            let ran = folder.run(&format!("run copy.dist -n 3 --arg x={name}.npy --out y=out.npy"));
            assert_eq!(
                (ran.code, ran.stdout.as_str()),
                (0, ""),
                "{element} {name}: {}",
                ran.stderr
            );
            assert!(folder.get("out.npy") == file, "{element} {name}");
        }
    }
}

#[test]
fn parts_are_read_and_written_wherever_they_live() {
    let folder = Folder::new("homes");
    let values: Vec<u8> = (0..7 * 5 * 4_i32).flat_map(i32::to_le_bytes).collect();
    let file = npy("<i4", false, "(7, 5, 4)", &values);
    folder.put("in.npy", &file);
    let homes = [
        "block(r), whole, whole",
        "whole, block(r), whole",
        "whole, cyclic(r, 1), whole",
        "whole, whole, cyclic(r, 2)",
        "whole, whole, whole",
        "x=2, y=*: block(y), whole, block(x)",
        "x=2, y=*: cyclic(x, 3), cyclic(y, 1), whole",
    ];
    for home in homes {
        folder.put("copy.dist", copy_of("i32", "7x5x4", home));
        for options in ["-n 2", "-n 4", "-n 3 --backend sim", "-n 8"] {
            let line = format!("run copy.dist {options} --arg x=in.npy --out 0=out.npy");
            let ran = folder.run(&line);
            assert_eq!(ran.code, 0, "{home} {options}: {}", ran.stderr);
            assert!(folder.get("out.npy") == file, "{home} {options}");
        }
    }
}

#[test]
fn several_outputs_and_lengths_from_files() {
    let folder = Folder::new("several");
    let values: Vec<u8> = (0..12).map(f64::from).flat_map(f64::to_le_bytes).collect();
    folder.put("in.npy", npy("<f8", false, "(4, 3)", &values));
    folder.put(
        "scale.dist",
        "func.func @main(%x: !ndarray.ndarray<?x3xf64>, %f: f64, %turns: index) -> (!ndarray.ndarray<?x3xf64>, f64, !ndarray.ndarray<?x3xf64>) {
  %y = ndarray.ewbin %x, %f {op = \"multiply\"} : (!ndarray.ndarray<?x3xf64>, f64) -> !ndarray.ndarray<?x3xf64>
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %g = scf.for %i = %zero to %turns step %one iter_args(%a = %f) -> (f64) {
    %b = arith.addf %a, %f : f64
    scf.yield %b : f64
  }
  return %y, %g, %x : !ndarray.ndarray<?x3xf64>, f64, !ndarray.ndarray<?x3xf64>
}\n",
    );
    let given = "--arg x=in.npy --arg 1=2.5 --arg %turns=3";
    let ran = folder.run(&format!("run scale.dist -n 2 {given} --out y=y.npy --out x=x.npy"));
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "g = 10.0\n"), "{}", ran.stderr);
    let scaled: Vec<u8> = (0..12).map(|k| 2.5 * f64::from(k)).flat_map(f64::to_le_bytes).collect();
    assert!(folder.get("y.npy") == npy("<f8", false, "(4, 3)", &scaled));
    assert!(folder.get("x.npy") == npy("<f8", false, "(4, 3)", &values));
    let ran = folder.run(&format!("run scale.dist -n 2 {given}"));
    assert!(ran.stdout.starts_with("y = [[0.0, 2.5, 5.0],\n     [7.5, "), "{}", ran.stdout);
    // What is given is known before the program runs: so are the turns.
    let ran = folder.run(&format!("explain scale.dist -n 2 {given} --json"));
    assert!(ran.stdout.contains("\"times\": 3"), "{}", ran.stdout);
    // Written files are read back, into a scalar too.
    let ran = folder.run(&format!("run scale.dist -n 2 {given} --out g=g.npy"));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let ran =
        folder.run("run scale.dist -n 3 --arg x=in.npy --arg f=g.npy --arg turns=0 --out y=y.npy");
    assert!(ran.stdout.starts_with("g = 10.0\nx = [["), "{} {}", ran.stdout, ran.stderr);
}

#[test]
fn bad_files_are_told_apart() {
    let folder = Folder::new("bad");
    folder.put("copy.dist", copy_of("f64", "7x5", "block(r), whole"));
    let good = npy("<f8", false, "(7, 5)", &[0; 280]);
    folder.put("short.npy", &good[..good.len() - 1]);
    folder.put("text.npy", "no array");
    folder.put("other.npy", npy("<f8", false, "(5, 7)", &[0; 280]));
    folder.put("float.npy", npy("<f4", false, "(7, 5)", &[0; 140]));
    folder.put("good.npy", &good);
    let complaint = |what: &str| folder.refused(&format!("run copy.dist -n 2 {what}"));
    let cases = [
        (
            "--arg x=short.npy",
            "error: --arg x=short.npy: short.npy: the header promises 280 bytes of elements, 279 are there\n",
        ),
        (
            "--arg x=other.npy",
            "error: --arg x=other.npy: the file has 5x7 of f64, expected 7x5 of f64\n",
        ),
        (
            "--arg x=float.npy",
            "error: --arg x=float.npy: the file has 7x5 of f32, expected 7x5 of f64\n",
        ),
        ("--arg x=.", "error: --arg x=.: . is a folder, expected a .npy file\n"),
        ("--arg z=good.npy", "error: --arg z: @main has no such argument, expected x\n"),
        ("--arg x=good.npy --arg 0=good.npy", "error: --arg 0: the argument is given twice\n"),
        (
            "--arg x=good.npy --out z=a.npy",
            "error: --out z: @main has no such result, expected y\n",
        ),
        (
            "--arg x=good.npy --out y=a.npy --out 0=a.npy",
            "error: --out 0=a.npy: y goes to that file, too\n",
        ),
        (
            "--arg x=good.npy --out y=a.npy --out 0=b.npy",
            "error: --out 0: the result is asked for twice\n",
        ),
        (
            "",
            "error: nothing is given for x (!ndarray.ndarray<7x5xf64, #pantile.dist<\"block(r), whole\">>): say --arg NAME=VALUE\n",
        ),
    ];
    for (what, expected) in cases {
        assert_eq!(complaint(what), expected);
    }
    assert!(
        complaint("--arg x=text.npy")
            .starts_with("error: --arg x=text.npy: text.npy: the beginning of the file is")
    );
    assert!(complaint("--arg x=none.npy").contains("none.npy cannot be read: "));
    assert!(
        complaint("--arg x=good.npy --out y=no/such.npy")
            .contains("no/such.npy cannot be written: ")
    );
    // Bytes that are no truth values are seen by the rank that reads them.
    folder.put("truth.dist", copy_of("i1", "4", "block(r)"));
    folder.put("truth.npy", npy("|b1", false, "(4,)", &[0, 1, 1, 2]));
    let words = folder.refused("run truth.dist -n 2 --arg x=truth.npy");
    assert!(
        words.starts_with("error: rank 1: truth.npy: has bytes that are no truth values"),
        "{words}"
    );
}

#[test]
fn values_are_checked_by_their_type() {
    let folder = Folder::new("values");
    folder.put("one.dist", "func.func @main(%a: i8, %b: !ndarray.ndarray<f32>) -> (i8, !ndarray.ndarray<f32>) {\n  return %a, %b : i8, !ndarray.ndarray<f32>\n}\n");
    let ran = folder.run("run one.dist -n 2 --arg a=-7 --arg b=0.1");
    assert_eq!((ran.stdout.as_str(), ran.code), ("a = -7\nb = 0.1\n", 0), "{}", ran.stderr);
    let words = folder.refused("run one.dist -n 2 --arg a=128 --arg b=0.1");
    assert_eq!(
        words,
        "error: --arg a=128: expected a whole number from -128 to 127, found `128`\n"
    );
}

#[test]
fn memory_is_asked_for_before_anything_runs() {
    let folder = Folder::new("memory");
    folder.put("copy.dist", copy_of("f64", "1000x1000", "block(r), whole"));
    folder.put("in.npy", npy("<f8", false, "(1000, 1000)", &vec![0; 8_000_000]));
    let line = "run copy.dist -n 2 --arg x=in.npy --out y=out.npy --memory";
    let words = folder.refused(&format!("{line} 1MB"));
    assert!(words.contains("on rank 0, but --memory allows 977 KiB: more ranks"), "{words}");
    assert!(!folder.0.join("out.npy").exists());
    assert_eq!(folder.run(&format!("{line} 1G")).code, 0);
    // A petabyte is more than there is.
    folder.put("huge.dist", "func.func @main() -> !ndarray.ndarray<100000000000000xf64> {\n  %x = arith.constant 1.0 : f64\n  %a = ndarray.create value %x : (f64) -> !ndarray.ndarray<100000000000000xf64>\n  return %a : !ndarray.ndarray<100000000000000xf64>\n}\n");
    let words = folder.refused("run huge.dist -n 2");
    assert!(words.contains("but each of 2 ranks here can have"), "{words}");
    assert!(words.contains(" of this machine: more ranks") || words.contains(" of this process's"));
}

#[test]
fn devices_are_warned_about_or_refused() {
    let folder = Folder::new("device");
    folder.put("gpu.dist", "!a = !ndarray.ndarray<3xf64, #region.gpu_env<device = \"XeGPU\">>\nfunc.func @main() -> !a {\n  %x = arith.constant 1.5 : f64\n  %a = ndarray.create value %x : (f64) -> !a\n  return %a : !a\n}\n");
    let ran = folder.run("run gpu.dist -n 2");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "a = [1.5, 1.5, 1.5]\n"), "{}", ran.stderr);
    let warning = "note: the program asks for the device `XeGPU`; it runs on the CPU\n";
    assert!(ran.stderr.starts_with(warning), "{}", ran.stderr);
    let words = folder.refused("run gpu.dist -n 2 --strict-device");
    assert!(words.contains("`XeGPU`; this build has the CPU only"), "{words}");
}

#[test]
fn what_ranks_did_is_written_down() {
    let folder = Folder::new("trace");
    let heat = crate::common::root().join("examples/heat.dist");
    let text = fs::read_to_string(heat).unwrap().replace("500 : index", "7 : index");
    folder.put("heat.dist", text);
    let ran = folder.run("run heat.dist -n 3 --progress --trace trace.json");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.starts_with("progress: heat.dist:29:8: turn 1 of 7\n"), "{}", ran.stderr);
    let trace = String::from_utf8(folder.get("trace.json")).unwrap();
    let value = pantile_text::json::parse(&trace).unwrap();
    let events = value.get("traceEvents").unwrap().as_array().unwrap();
    for rank in 0..3 {
        let of_rank =
            |event: &&pantile_text::json::Value| event.get("tid").unwrap().as_usize() == Some(rank);
        let sent: usize = events
            .iter()
            .filter(of_rank)
            // A loop has the bytes of its steps.
            .filter(|event| event.get("name").unwrap().as_str() != Some("repeat"))
            .filter_map(|event| event.get("args")?.get("bytes")?.as_usize())
            .sum();
        assert!(sent >= 7 * 126 * 8, "rank {rank} sent {sent} bytes");
        let names = events.iter().filter(of_rank).filter_map(|event| event.get("name")?.as_str());
        // A loop around steps is seen once, what is in it in every turn.
        let mut counts = std::collections::BTreeMap::new();
        names.for_each(|name| *counts.entry(name).or_insert(0) += 1);
        assert_eq!(counts.get("repeat"), Some(&1), "{counts:?}");
        assert_eq!(counts.get("exchange and loop"), Some(&7), "{counts:?}");
        // What is computed while halos travel is seen inside of the step.
        for phase in ["post halos", "interior while halos travel", "wait for halos", "edges"] {
            assert_eq!(counts.get(phase), Some(&7), "{counts:?}");
        }
    }
}

/// Sums in any order: of whole numbers they are still exact, also on more ranks than elements.
#[test]
fn fast_sums_of_whole_numbers_are_exact() {
    let program = "
!t = !ndarray.ndarray<5x3xf64, #pantile.dist<\"block(r), whole\">>
!s = !ndarray.ndarray<5x3xf32, #pantile.dist<\"block(r), whole\">>
func.func @main() -> (!ndarray.ndarray<f64>, !ndarray.ndarray<f32>, !ndarray.ndarray<3xf64>, !ndarray.ndarray<f64>) {
  %a = ndarray.index {axis = 0} : () -> !t
  %b = ndarray.index {axis = 1} : () -> !s
  %mean = ndarray.reduction %a {op = \"mean\"} : !t -> !ndarray.ndarray<f64>
  %sum = ndarray.reduction %b {op = \"sum\"} : !s -> !ndarray.ndarray<f32>
  %columns = ndarray.reduce %a {op = \"sum\", axes = [0]} : !t -> !ndarray.ndarray<3xf64>
  %var = ndarray.reduction %a {op = \"var\"} : !t -> !ndarray.ndarray<f64>
  return %mean, %sum, %columns, %var : !ndarray.ndarray<f64>, !ndarray.ndarray<f32>, !ndarray.ndarray<3xf64>, !ndarray.ndarray<f64>
}";
    for ranks in ["1", "2", "3", "7"] {
        for options in [&["--fast"][..], &[]] {
            let mut arguments = vec!["run", "-", "-n", ranks];
            arguments.extend(options);
            let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
            let ran = pantile(&arguments, &root(), program);
            let expected = "mean = 2.0\nsum = 15.0\ncolumns = [10.0, 10.0, 10.0]\nvar = 2.0\n";
            assert_eq!(ran.stdout, expected, "{arguments:?}\n{}", ran.stderr);
        }
    }
}
