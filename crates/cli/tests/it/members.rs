//! `pantile run --member`: the same output as `pantile run`, on any number of ranks.

use std::fs;
use std::path::PathBuf;

use crate::common::{Ran, pantile, root};

/// Steps in time of long programs, and what they are cut to.
const LONG: [(&str, &str); 2] = [("451 : index", "4 : index"), ("500 : index", "20 : index")];

fn programs(folder: &str) -> Vec<PathBuf> {
    let mut list: Vec<PathBuf> = fs::read_dir(root().join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "dist"))
        .collect();
    list.sort();
    list
}

fn run(more: &[&str], input: &str) -> Ran {
    let words = [&["run", "-"][..], more].concat();
    pantile(&words.into_iter().map(str::to_owned).collect::<Vec<_>>(), &root(), input)
}

/// The text of a program with few steps in time.
fn short(path: &PathBuf) -> String {
    let text = fs::read_to_string(path).unwrap();
    LONG.iter().fold(text, |text, (long, few)| text.replace(long, few))
}

#[test]
fn every_example_prints_the_same_by_its_members() {
    let mut made = 0;
    for path in programs("examples") {
        let text = short(&path);
        let plain = run(&["-n", "2"], &text);
        for ranks in ["1", "2", "3", "4"] {
            let ran = run(&["--member", "-n", ranks], &text);
            assert_eq!(ran.stdout, plain.stdout, "{} on {ranks}: {}", path.display(), ran.stderr);
            assert_eq!(ran.code, 0);
            made += usize::from(ran.stderr.contains("a program for each"));
        }
    }
    assert_eq!(made, 5 * 4, "the passes make programs for the members of five examples");
}

#[test]
fn every_golden_program_without_arguments_prints_the_same_by_its_members() {
    let mut compared = 0;
    for folder in ["filetests/passes", "filetests/programs", "filetests/opt/data"] {
        for path in programs(folder) {
            let text = fs::read_to_string(&path).unwrap();
            let plain = run(&["-n", "2"], &text);
            if plain.code != 0 {
                continue;
            }
            for ranks in ["1", "2", "3", "4"] {
                let ran = run(&["--member", "-n", ranks], &text);
                let name = path.display();
                assert_eq!(ran.stdout, plain.stdout, "{name} on {ranks}: {}", ran.stderr);
            }
            compared += 1;
        }
    }
    assert!(compared >= 2, "only {compared} programs run without arguments");
}

#[test]
fn arguments_and_results_are_files_of_members_too() {
    let folder = std::env::temp_dir().join(format!("pantile-members-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let (given, one, other) =
        (folder.join("given.npy"), folder.join("one.npy"), folder.join("other.npy"));
    let made = "func.func @main() -> !ndarray.ndarray<40x30xf64> {
  %seed = arith.constant 3 : i64
  %g = ndarray.random %seed {kind = \"normal\", stream = 0} : (i64) -> !ndarray.ndarray<40x30xf64>
  return %g : !ndarray.ndarray<40x30xf64>
}";
    let out = |path: &PathBuf| format!("0={}", path.display());
    assert_eq!(run(&["--out", &out(&given)], made).code, 0);
    let text = "!a = !ndarray.ndarray<?x30xf64, #dist.dist_env<team = 5>>
!v = !ndarray.ndarray<38x30xf64, #dist.dist_env<team = 5>>
func.func @main(%a: !a, %f: f64) -> (!a, !ndarray.ndarray<f64, #dist.dist_env<team = 5>>) {
  %x = ndarray.subview %a[0, 0] [38, 30] [1, 1] : !a to !v
  %y = ndarray.subview %a[2, 0] [38, 30] [1, 1] : !a to !v
  %s = ndarray.ewbin %x, %y {op = \"add\"} : (!v, !v) -> !v
  %h = ndarray.ewbin %s, %f {op = \"multiply\"} : (!v, f64) -> !v
  ndarray.insert_slice %h into %a[1, 0] [38, 30] [1, 1] : !v into !a
  %m = ndarray.reduction %a {op = \"mean\"} : !a -> !ndarray.ndarray<f64, #dist.dist_env<team = 5>>
  return %a, %m : !a, !ndarray.ndarray<f64, #dist.dist_env<team = 5>>
}";
    let argument = format!("a={}", given.display());
    let arguments = ["--arg", &argument, "--arg", "f=0.3", "-n", "3", "--out"];
    let plain = run(&[&arguments[..], &[&out(&one)]].concat(), text);
    let more = ["--team", "5=2,0", "--member"];
    let member = run(&[&arguments[..], &[&out(&other)], &more[..]].concat(), text);
    assert_eq!((member.code, &member.stdout), (0, &plain.stdout), "{}", member.stderr);
    assert!(member.stderr.contains("a program for each"), "{}", member.stderr);
    assert_eq!(fs::read(&one).unwrap(), fs::read(&other).unwrap());
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn misaligned_operands_are_refused_with_a_sentence() {
    let text = "!a = !ndarray.ndarray<10xi64, #dist.dist_env<team = 22>>
!v = !ndarray.ndarray<6xi64, #dist.dist_env<team = 22>>
func.func @main() -> !v {
  %a = ndarray.create : () -> !a
  %x = dist.subview %a[0] [6] [1] : !a to !v
  %y = dist.subview %a[4] [6] [1] : !a to !v
  %s = \"dist.ewbin\"(%x, %y) <{op = 0 : i32}> : (!v, !v) -> !v
  return %s : !v
}";
    let ran = run(&["--member", "-n", "2"], text);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    let sentence = "error: rank 0: standard input:7:8: member of `dist.ewbin`: got 5 and 1 local rows, \
                    expected the same ones, as `dist.repartition` brings them together\n";
    assert_eq!(ran.stderr, sentence);
}

/// With `PANTILE_MPI_COMMAND` the command that was built with the feature `mpi`: members as processes.
#[test]
fn members_are_processes_under_mpirun() {
    let Some(command) = std::env::var_os("PANTILE_MPI_COMMAND") else { return };
    for name in ["heat", "standardise", "transpose"] {
        for ranks in ["1", "2", "4"] {
            let output = std::process::Command::new("mpirun.openmpi")
                .args(["--oversubscribe", "-n", ranks])
                .arg(&command)
                .args(["run", "--member", &format!("examples/{name}.dist")])
                .current_dir(root())
                .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
                .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
                .output()
                .unwrap();
            let expected = fs::read(root().join(format!("filetests/run/{name}.out"))).unwrap();
            let words = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.stdout, expected, "{name} on {ranks}: {words}");
        }
    }
}
