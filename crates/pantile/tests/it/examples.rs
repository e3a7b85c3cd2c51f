//! Examples print the same on any number of ranks.

use std::path::PathBuf;
use std::process::Command;

/// Examples lie beside the folder of the tests.
fn example(name: &str) -> PathBuf {
    let mut folder = std::env::current_exe().unwrap();
    folder.pop();
    folder.pop();
    let path = folder.join("examples").join(name);
    assert!(path.exists(), "`cargo test -p pantile` builds the examples, `--test` alone does not");
    path
}

fn output(name: &str, arguments: &[&str], ranks: usize) -> String {
    let mut command = Command::new(example(name));
    command.args(arguments).env("PANTILE_RANKS", ranks.to_string());
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{name} on {ranks} ranks: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn examples_print_the_same_on_any_number_of_ranks() {
    let cases: [(&str, &[&str], &str); 8] = [
        ("jacobi", &["20", "30"], "heat of the plate: "),
        ("cg", &["40"], "20 turns, residual "),
        ("standardise", &["1000", "3"], "deviations after: [1.0, 1.0, 1.0]"),
        ("black_scholes", &["300"], "first option: call "),
        ("star", &[], "norm 22\n"),
        ("transpose", &[], "error 0, total 550495000\n"),
        ("wave", &["40"], "distance from the exact wave "),
        ("shallow_water", &["10"], "distance from the gyre "),
    ];
    for (name, arguments, words) in cases {
        let alone = output(name, arguments, 1);
        assert!(alone.contains(words), "{name}: {alone}");
        for ranks in [2, 3, 4] {
            assert_eq!(output(name, arguments, ranks), alone, "{name} on {ranks} ranks");
        }
    }
}

/// These assert the numbers of the programs of the same names in `examples/` when they do all steps.
#[test]
fn twins_give_the_numbers_of_the_programs() {
    let wave = "distance from the exact wave 7.224068445110564e-3, \
                change of volume -2.2043619100214906e-14\n";
    for ranks in [1, 4] {
        assert_eq!(output("wave", &[], ranks), wave, "{ranks} ranks");
    }
    assert!(output("shallow_water", &[], 2).contains("fastest 0.04218268896086"));
}
