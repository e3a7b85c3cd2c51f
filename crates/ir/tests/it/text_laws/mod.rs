//! Laws of the text: printing and reading are inverse, and no text makes the reader panic.

mod generate;
mod operations;

use std::collections::BTreeSet;

use pantile_ir::text::{Fault, canonical, parse, parse_type, print_function, print_type};
use pantile_testkit::{Rng, cases};

fn shown(faults: &[Fault]) -> String {
    faults.iter().map(|fault| format!("{fault}\n")).collect()
}

#[test]
fn printed_programs_read_back() {
    cases("printed_programs_read_back", 3000, |rng| {
        let program = generate::program(rng);
        let printed = program.to_string();
        let again =
            parse(&printed, "").unwrap_or_else(|faults| panic!("{}\n{printed}", shown(&faults)));
        assert_eq!(canonical(&again), canonical(&program), "{printed}");
        assert_eq!(again.to_string(), printed);
        // What was read is numbered in the order of the text already.
        let count = |p: &pantile_ir::Program| -> Vec<usize> {
            p.functions.iter().map(|f| f.values.len()).collect()
        };
        assert_eq!(count(&again), count(&canonical(&again)));
    });
}

/// A law that is never tried proves nothing: always the same programs, so that chance has no part.
#[test]
fn every_operation_is_generated() {
    let mut seen = BTreeSet::new();
    for seed in 0..3000 {
        for function in &generate::program(&mut Rng::new(seed)).functions {
            function.body.walk(&mut |operation| {
                seen.insert(operations::variant(&operation.op));
            });
        }
    }
    let missing: Vec<usize> = (0..operations::VARIANTS).filter(|v| !seen.contains(v)).collect();
    assert!(missing.is_empty(), "variants that never occurred: {missing:?}");
}

#[test]
fn printed_types_read_back() {
    cases("printed_types_read_back", 3000, |rng| {
        let program = generate::program(rng);
        for data in program.functions.iter().flat_map(|function| &function.values) {
            assert_eq!(parse_type(&print_type(&data.ty)).unwrap(), data.ty);
        }
    });
}

#[test]
fn functions_print_as_in_their_program() {
    cases("functions_print_as_in_their_program", 200, |rng| {
        let program = generate::program(rng);
        let whole = program.to_string();
        for function in &program.functions {
            assert!(whole.contains(&print_function(&program, function)));
        }
    });
}

/// Faults lie inside of the text, show its line, and are sentences.
fn check_faults(text: &str) {
    let Err(faults) = parse(text, "t") else { return };
    assert!(!faults.is_empty() && faults.len() <= 64);
    let lines: Vec<&str> = text.split('\n').collect();
    for fault in &faults {
        let line = lines.get(fault.line() - 1).unwrap_or_else(|| panic!("{fault}"));
        assert!(fault.column() <= line.chars().count() + 1, "{fault}");
        assert!(fault.column() >= 1 && fault.file() == Some("t"), "{fault}");
        assert!(!fault.message().is_empty() && !fault.message().contains('\n'), "{fault}");
        let shown = fault.to_string();
        let [_, line, carets] = shown.lines().collect::<Vec<_>>()[..] else { panic!("{fault}") };
        assert!(carets.ends_with('^') && carets.find('^') <= Some(line.len()), "{fault}");
    }
}

/// Damage: bytes, words and lines dropped, doubled, swapped or put in.
fn damaged(rng: &mut Rng, text: &str) -> String {
    let mut pieces: Vec<String> = match rng.below(3) {
        0 => text.chars().map(String::from).collect(),
        1 => text.split_inclusive('\n').map(str::to_owned).collect(),
        _ => text
            .split_inclusive(|c: char| !c.is_ascii_alphanumeric())
            .flat_map(|piece| piece.split_inclusive(' '))
            .map(str::to_owned)
            .collect(),
    };
    let words = [
        "%",
        "{",
        "}",
        "(",
        ")",
        "<",
        ">",
        "[",
        "]",
        "\"",
        "!",
        "@",
        "#",
        ",",
        ":",
        "=",
        "->",
        "\\",
        "//",
        "0x",
        "-",
        "?",
        "x",
        "99999999999999999999",
        "é",
        "\u{0}",
        "\n",
        "^bb0",
        "to",
        "index",
        "scf.for ",
        "func.func @f() {",
        "#0",
        "<{",
        "}>",
        "true",
        "1e999",
        "\"dist.parts_of\"(",
    ];
    for _ in 0..1 + rng.below(4) {
        if pieces.is_empty() {
            break;
        }
        let at = rng.below(pieces.len());
        match rng.below(6) {
            0 => drop(pieces.remove(at)),
            1 => pieces.insert(at, (*rng.pick(&words)).to_owned()),
            2 => pieces[at] = (*rng.pick(&words)).to_owned(),
            3 => pieces.truncate(at),
            4 => {
                let other = rng.below(pieces.len());
                pieces.swap(at, other);
            }
            _ => pieces.insert(at, pieces[at].clone()),
        }
    }
    pieces.concat()
}

#[test]
fn damaged_texts_are_read_or_refused() {
    cases("damaged_texts_are_read_or_refused", 6000, |rng| {
        let text = generate::program(rng).to_string();
        let text = damaged(rng, &text);
        check_faults(&text);
        if let Ok(program) = parse(&text, "t") {
            let printed = program.to_string();
            let again = parse(&printed, "").unwrap_or_else(|faults| {
                panic!("{}\n--- from\n{text}\n--- printed\n{printed}", shown(&faults))
            });
            assert_eq!(canonical(&again), canonical(&program), "{text}\n---\n{printed}");
        }
    });
}

#[test]
fn one_fault_is_listed_once() {
    // A word that no text knows, put in place of an operation: exactly one fault, in its line.
    cases("one_fault_is_listed_once", 500, |rng| {
        let text = generate::program(rng).to_string();
        let lines: Vec<&str> = text.lines().collect();
        let starts: Vec<usize> = (0..lines.len())
            .filter(|at| lines[*at].contains(" = ndarray.") && !lines[*at].ends_with('{'))
            .collect();
        if starts.is_empty() {
            return;
        }
        let at = *rng.pick(&starts);
        let mut changed: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        changed[at] = changed[at].replacen(" = ndarray.", " = nothing.", 1);
        let faults = parse(&changed.join("\n"), "t").unwrap_err();
        assert_eq!(faults.len(), 1, "{}", shown(&faults));
        assert_eq!(faults[0].line(), at + 1);
    });
}

#[test]
fn any_bytes_are_read_or_refused() {
    cases("any_bytes_are_read_or_refused", 5000, |rng| {
        let count = rng.below(60);
        let letters = b"%@!#^<>{}()[]=,:;\"\\/-?x0123456789abcfinstu.\n\t \xC3\xA9";
        let bytes: Vec<u8> = (0..count).map(|_| *rng.pick(letters)).collect();
        check_faults(&String::from_utf8_lossy(&bytes));
    });
}

#[test]
fn deep_texts_are_refused() {
    let deep = 100_000;
    let texts = [
        format!("func.func @f() attributes {{a = {}", "[".repeat(deep)),
        format!("func.func @f() attributes {{a = {}", "{b = ".repeat(deep)),
        format!("!t = {}", "!ndarray.ndarray<2xf64, ".repeat(deep)),
        format!("func.func @f() {{ {}", "region.env_region unit { ".repeat(deep)),
        format!("func.func @f() {{ {}", "\"scf.for\"() ({ ".repeat(deep)),
        format!("!t = !ndarray.ndarray<2xf64, #a<{}", "<".repeat(deep)),
    ];
    for text in &texts {
        let faults = parse(text, "deep").unwrap_err();
        assert!(faults.len() <= 64, "{}", faults.len());
        check_faults(text);
    }
}

#[test]
fn long_texts_are_read_in_order() {
    // A place costs what lies between it and the last one, not the whole text.
    let line = "  %x = arith.constant 1 : index\n  scf.for %i = %x to %x step %x {\n  }\n";
    let one = format!("func.func @f() {{\n{}  return\n}}\n", line.replace("%x", "%xNUMBER"));
    let many: String = (0..20_000)
        .map(|n| one.replace("@f", &format!("@f{n}")).replace("NUMBER", &n.to_string()))
        .collect();
    let started = std::time::Instant::now();
    let program = parse(&many, "long").unwrap();
    assert_eq!(program.functions.len(), 20_000);
    assert!(started.elapsed() < pantile_testkit::timing::SOON, "{:?}", started.elapsed());
}

#[test]
fn any_program_gets_an_answer_of_the_verifier() {
    cases("any_program_gets_an_answer_of_the_verifier", 2000, |rng| {
        let program = generate::program(rng);
        if let Err(findings) = pantile_ir::verify::verify(&program) {
            assert!(findings.iter().all(|finding| !finding.message.is_empty()));
        }
    });
}

/// The results of a region are not seen inside of it, where the same name may be that of another value.
#[test]
fn a_name_inside_of_a_region_may_be_that_of_its_results() {
    let text = "func.func @f(%a: i64) -> i64 {
  %x = region.env_region \"gpu\" -> i64 {
    %x = arith.addi %a, %a : i64
    region.env_region_yield %x : i64
  }
  return %x : i64
}
";
    assert_eq!(parse(text, "t").unwrap().to_string(), text);
}
