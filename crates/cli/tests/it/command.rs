//! What golden files cannot say: closed pipes, large meshes, files that are written, odd bytes.

use crate::common::{pantile, root, words};
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::Instant;

const TILES: &str = "65536x65536 on x=1024, y=1024: block(x), block(y)";
const HALOS: &str = "65536x65536 on x=1024, y=1024: block(x) halo 1, block(y) halo 1";

fn run(line: &str, input: &str) -> crate::common::Ran {
    pantile(&words(line), &root(), input)
}

#[test]
fn a_closed_pipe_is_no_error() {
    let listing = ["plan", "8192 on r=64: block(r)", "8192 on r=64: cyclic(r, 1)", "--all"];
    for arguments in [
        &listing[..],
        &["--help"],
        &["halo", "--size", "9999", "--ranks", "999", "--kernel", "3", "--all"],
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_pantile"))
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // The reader goes away before anything was written, or in the middle of it.
        drop(child.stdout.take());
        let mut complaint = String::new();
        child.stderr.take().unwrap().read_to_string(&mut complaint).unwrap();
        assert_eq!((complaint.as_str(), child.wait().unwrap().code()), ("", Some(0)));
    }
}

#[test]
fn a_million_ranks_are_answered_at_once() {
    let start = Instant::now();
    let share = run(&format!("plan \"{TILES}\" \"{HALOS}\" --rank 524800"), "");
    assert!(share.stdout.contains("receives 260 elements, 2.03 KiB, in 8 messages"));
    let all = run(&format!("plan \"{TILES}\" \"{HALOS}\""), "");
    // 1023 inner borders of 65536 cells, both ways, on both axes; 1023 * 1023 corners of 4.
    let moved = 2 * 2 * 1023 * 65536 + 4 * 1023 * 1023;
    let messages = 2 * 2 * 1023 * 1024 + 4 * 1023 * 1023;
    let json = run(&format!("plan \"{TILES}\" \"{HALOS}\" --json"), "").stdout;
    assert!(json.contains(&format!("\"moved\": {moved}")), "{json}");
    assert!(json.contains(&format!("\"messages\": {messages}")), "{json}");
    assert!(all.stdout.contains("Not listed: 1,048,576 ranks are more than 4,096"));
    assert!(start.elapsed() < pantile_testkit::timing::SOON, "took {:?}", start.elapsed());
}

#[test]
fn everybody_to_everybody_is_not_listed_by_mistake() {
    let line = "plan \"4096 on r=4096: whole; sum(r)\" \"4096 on r=4096: whole\"";
    let ran = run(line, "");
    assert_eq!(ran.code, 0);
    assert!(ran.stdout.contains("16,773,120 messages"), "{}", ran.stdout);
    assert_eq!(run(&format!("{line} --all"), "").code, 1);
}

#[test]
fn plans_are_read_back_as_they_were_printed() {
    let ends = "\"6x4 on x=2, y=2: block(x), block(y)\" \"6x4 on x=2, y=2: block(x) halo 1, block(y) halo 1\"";
    let ways = ["", "--path axes", "--path best", "--adjoint", "--within 16", "--path faces"];
    for way in ways {
        for form in ["--text", "--json"] {
            let printed = run(&format!("plan {ends} {way} {form}"), "");
            assert_eq!(printed.code, 0, "{way} {form}: {}", printed.stderr);
            let checked = run("check -", &printed.stdout);
            // Without its edges and corners a plan is not complete, and `check` says so.
            let expected = i32::from(way == "--path faces" && checked.code == 1);
            assert_eq!(checked.code, expected, "{way} {form}: {}", checked.stdout);
        }
    }
}

#[test]
fn pictures_go_to_a_file() {
    let path = std::env::temp_dir().join(format!("pantile-{}.svg", std::process::id()));
    let name = path.to_str().unwrap();
    let ran = run(&format!("draw \"8x6 on x=2, y=2: block(x), block(y)\" -o {name}"), "");
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""));
    let written = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(written.starts_with("<svg"), "{written}");
    let printed = run("draw \"8x6 on x=2, y=2: block(x), block(y)\"", "").stdout;
    assert_eq!(printed, written);
}

#[test]
fn every_picture_is_svg() {
    let tiles = "\"8x6 on x=2, y=2: block(x), block(y)\"";
    let halos = "\"8x6 on x=2, y=2: block(x) halo 1, block(y) halo 1\"";
    for line in [
        &format!("draw {tiles} {halos}"),
        &format!("draw {tiles} {halos} --matrix"),
        "draw --broadcast 1x3 2x3",
        "draw --reduce 2x3 1x3@6",
        "draw --allreduce 2x3 --axes 0",
        "draw --allreduce 2x3@6,5,4,3,2,1",
        "halo --size 10 --ranks 3 --kernel 3 --draw",
    ] {
        let ran = run(line, "");
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{line}");
        assert!(ran.stdout.starts_with("<svg") && ran.stdout.ends_with("</svg>\n"), "{line}");
    }
}

#[test]
fn a_plan_is_drawn_beside_its_listing() {
    let path = std::env::temp_dir().join(format!("pantile-{}.svg", std::process::id()));
    let path = path.to_str().unwrap();
    for (source, target) in [
        ("8 on r=4: block(r)", "8 on r=4: block(r) halo 1"),
        ("900 on r=900: block(r)", "900 on r=900: block(r) halo 1"), // too many tiles: a table
    ] {
        let ran = run(&format!("plan \"{source}\" \"{target}\" --draw {path}"), "");
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{source}");
        assert!(ran.stdout.contains("moved"), "{}", ran.stdout);
        let picture = std::fs::read_to_string(path).unwrap();
        std::fs::remove_file(path).unwrap();
        assert!(picture.starts_with("<svg") && picture.ends_with("</svg>\n"), "{source}");
    }
    let ran = run("plan \"8 on r=2: block(r)\" \"8 on r=2: whole\" --draw no/such/folder.svg", "");
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("no/such/folder.svg: cannot be written"), "{}", ran.stderr);
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let path = std::env::temp_dir().join(format!("pantile-{}.bin", std::process::id()));
    std::fs::write(&path, [b'8', 0xff, 0xfe]).unwrap();
    let ran = run(&format!("check {}", path.to_str().unwrap()), "");
    std::fs::remove_file(&path).unwrap();
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("byte 1 is not UTF-8"), "{}", ran.stdout);
}

#[test]
fn mangled_arguments_never_panic() {
    let good = [
        "8x6 on x=2, y=2: block(x) halo 1, cyclic(y, 2)",
        "8x6 on r=4: indexed(r, [0 3] [1] [2 4..8] []), whole; sum(1)",
    ];
    let pool = ["", "0", "-", "x", " ", ":", "(", ")", "99999999999999999999", "é", "*", ","];
    let mut state: usize = 7;
    let mut below = |n: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    for _ in 0..150 {
        let mut texts = good.map(|text| text.chars().collect::<Vec<_>>());
        for text in &mut texts {
            for _ in 0..below(4) {
                let at = below(text.len());
                let end = (at + below(3)).min(text.len());
                text.splice(at..end, pool[below(pool.len())].chars());
            }
        }
        let mut arguments = vec!["plan".to_owned(), "--".to_owned()];
        arguments.extend(texts.map(|text| text.into_iter().collect::<String>()));
        let ran = pantile(&arguments, &root(), "");
        assert!((0..=2).contains(&ran.code), "{arguments:?}: {}", ran.stderr);
        assert!(!ran.stderr.contains("panicked"), "{arguments:?}: {}", ran.stderr);
    }
}

#[test]
fn passes_are_listed() {
    let listed = run("opt - --pass help", "");
    assert_eq!((listed.code, listed.stderr.as_str()), (0, ""));
    let names: Vec<&str> =
        listed.stdout.lines().filter_map(|line| line.split_whitespace().next()).collect();
    for name in ["values", "lower", "fuse", "bundle", "overlap-halos", "reuse"] {
        assert!(names.contains(&name), "{name}: {}", listed.stdout);
    }
    let text = "func.func @main() {\n  return\n}\n";
    let unknown = run("opt - --pass melt", text);
    assert_eq!((unknown.code, unknown.stdout.as_str()), (1, ""));
    assert_eq!(
        unknown.stderr,
        format!("error: there is no pass `melt`; there are\n{}", listed.stdout)
    );
    // Every pass over programs leaves a sound program of a sound one.
    for name in names.iter().take_while(|name| **name != "lower") {
        let ran = run(&format!("opt examples/heat.dist -n 4 --pass values --pass {name}"), "");
        assert!(ran.code == 0 || ran.stderr.contains(name), "{name}: {}", ran.stderr);
    }
}

/// What is read behind a loop may need a wider halo of what the loop stores than the loop itself does.
#[test]
fn halos_computed_in_a_loop_are_as_wide_as_is_read_behind_it() {
    let program = include_str!("halo_behind_a_loop.dist");
    let plain = run("run - -n 1", program).stdout;
    assert!(plain.contains("1920.0, 2688.0, 3584.0"), "{plain}");
    for ranks in 2..=5 {
        for steps in 1..=4 {
            let line = format!("run - -n {ranks} --steps-per-exchange {steps}");
            assert_eq!(run(&line, program).stdout, plain, "{line}");
        }
    }
}
