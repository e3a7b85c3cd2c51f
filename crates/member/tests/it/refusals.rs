//! Programs that are wrong: a sentence on every rank.

use std::collections::BTreeMap;

use pantile_engine::Tile;
use pantile_ir::Program;
use pantile_ir::text::parse;
use pantile_member::{
    LocalArray, MemberRunError, MemberSetting, MemberValue, OperationFault, argument,
    argument_homes, execute, run,
};

use crate::common::on_ranks;

fn parsed(text: &str) -> Program {
    parse(text, "wrong.dist").unwrap_or_else(|faults| panic!("{}\n{text}", faults[0]))
}

/// What every rank says of a program that is executed as it stands, by the passes of which nothing is
/// done; its arguments are distributed zeros.
fn said(text: &str, ranks: usize) -> Vec<String> {
    let program = parsed(text);
    let results = on_ranks(ranks, |engine| {
        let rank = engine.rank();
        let setting = MemberSetting::default();
        let entry = program.entry().unwrap();
        let homes = argument_homes(&program, &setting, ranks)?;
        let mut given = Vec::new();
        for (value, home) in entry.body.arguments.iter().zip(&homes) {
            let count = home.owned_elements(rank).map_or(0, |owned| owned.len());
            let tile = Tile::zeroed(home_dtype(&program, *value), count);
            given.push(argument(entry.ty(*value), &tile, &setting, (ranks, rank))?);
        }
        let made = execute(engine, &program, &BTreeMap::new(), given).map(|_| ());
        // Ranks that are done meet the others.
        made.and_then(|()| Ok(engine.barrier()?))
    });
    results.into_iter().map(|result| result.expect_err("it is refused")).collect()
}

fn home_dtype(program: &Program, value: pantile_ir::Value) -> pantile_lanes::DType {
    program.entry().unwrap().ty(value).dtype().unwrap()
}

/// Every rank says this, about itself or about the rank that failed.
fn check(text: &str, ranks: usize, sentence: &str) {
    for (rank, words) in said(text, ranks).iter().enumerate() {
        assert!(words.contains(sentence), "rank {rank}: {words}\nexpected {sentence}");
    }
}

const A: &str = "!a = !ndarray.ndarray<10xi64, #dist.dist_env<team = 22>>
!v = !ndarray.ndarray<6xi64, #dist.dist_env<team = 22>>
!p = !ndarray.ndarray<?xi64>
!e = !ndarray.ndarray<i64>
";

#[test]
fn misaligned_operands_are_refused_on_all_members() {
    let text = format!(
        "{A}func.func @main(%a: !a) -> !v {{
           %x = dist.subview %a[0] [6] [1] : !a to !v
           %y = dist.subview %a[4] [6] [1] : !a to !v
           %s = \"dist.ewbin\"(%x, %y) <{{op = 0 : i32}}> : (!v, !v) -> !v
           return %s : !v
         }}"
    );
    check(&text, 3, "wrong.dist:8:17: `dist.ewbin`: the operands have other rows: ");
    // The passes see it, too, and tell every rank.
    let program = parsed(&text);
    let results = on_ranks(3, |engine| {
        let setting = MemberSetting::default();
        let homes = argument_homes(&program, &setting, 3)?;
        let count = homes[0].owned_elements(engine.rank()).map_or(0, |owned| owned.len());
        let tile = Tile::zeroed(pantile_lanes::DType::I64, count);
        run(engine, &program, &setting, &[tile]).map(|_| ())
    });
    let expected = "rank 0: wrong.dist:8:17: member of `dist.ewbin`: got 3 and 0 local rows, expected \
                    the same ones, as `dist.repartition` brings them together";
    for result in results {
        assert_eq!(result.unwrap_err(), expected);
    }
}

#[test]
fn requests_that_members_cannot_meet_are_refused_on_all_members() {
    let request = |offset: i64, size: i64| {
        format!(
            "{A}func.func @main(%a: !a) -> !a {{
               %o = arith.constant {offset} : index
               %s = arith.constant {size} : index
               %b = dist.repartition %a loffs %o lsizes %s : !a, index, index to !a
               return %b : !a
             }}"
        )
    };
    let owned = "`dist.repartition`: member 0 asks for the rows 8..12, of which members own 2, expected \
                 each of them once";
    check(&request(8, 4), 2, owned);
    check(&request(-1, 4), 2, "`dist.repartition`: got -1, expected 0 or more");
}

#[test]
fn slices_and_shapes_that_do_not_fit_are_refused() {
    let statement =
        |body: &str| format!("{A}func.func @main(%a: !a, %v: !v) {{\n{body}\n  return\n}}");
    let open = "  %c = arith.constant 7 : index\n";
    check(
        &statement(&format!("{open}  %x = dist.subview %a[%c] [6] [1] : !a to !v")),
        2,
        "axis 0: 6 indices from 7 in steps of 1 leave its length 10",
    );
    check(
        &statement("  ndarray.insert_slice %v into %a[4] [6] [1] : !v into !a"),
        2,
        "`ndarray.insert_slice`: the operands have other rows: ",
    );
    check(
        &statement(
            "  %r = dist.repartition %a : !a to !a
  %o = arith.constant 2 : index
  %s = arith.constant 6 : index
  %w = dist.repartition %a loffs %o lsizes %s : !a, index, index to !a
  ndarray.insert_slice %a into %w[0] [10] [1] : !a into !a",
        ),
        2,
        "the array has halos, which must not be written",
    );
    check(
        &statement(
            "  %o = arith.constant 0 : index
  %s = arith.constant 6 : index
  %w = dist.repartition %a loffs %o lsizes %s : !a, index, index to !a
  %e = ndarray.reduction %w {op = \"sum\"} : !a -> !ndarray.ndarray<i64, #dist.dist_env<team = 22>>",
        ),
        2,
        "the rows of all members are not the 10 rows of the array, each of them once",
    );
}

#[test]
fn types_that_are_not_true_are_refused() {
    let text = "!a = !ndarray.ndarray<10xi64, #dist.dist_env<team = 22>>
!w = !ndarray.ndarray<10xi64, #dist.dist_env<team = 22 loffs = 7 lparts = 0,3,0>>
func.func @main(%a: !a) -> !w {
  %b = dist.repartition %a : !a to !w
  return %b : !w
}";
    check(text, 2, "but the type says 0, 3, 0 rows from row 7 on");
    let text = "!a = !ndarray.ndarray<10xi64, #dist.dist_env<team = 22>>
!p = !ndarray.ndarray<9xi64>
func.func @main(%a: !a) -> (!p, !p, !p) {
  %b:3 = \"dist.parts_of\"(%a) : (!a) -> (!p, !p, !p)
  return %b#0, %b#1, %b#2 : !p, !p, !p
}";
    check(text, 2, "got [0] of i64, but the type says 9 of i64");
    let text = format!(
        "{A}func.func @main(%a: !a) -> !a {{
           %o = arith.constant 8 : index
           %p:3 = \"dist.parts_of\"(%a) : (!a) -> (!p, !p, !p)
           %b = dist.init_dist_array l_offset %o parts %p#0, %p#1, %p#2 : index, !p, !p, !p to !a
           return %b : !a
         }}"
    );
    check(&text, 2, "`dist.init_dist_array`: got 13, expected rows within the whole array");
}

/// What every rank says of a program of local arrays, whose one argument is a row of zeros.
fn said_of_local(text: &str, ranks: usize) -> Vec<String> {
    let program = parsed(text);
    let results = on_ranks(ranks, |engine| {
        let zeros = Tile::zeroed(pantile_lanes::DType::F64, 3);
        let array = LocalArray::new(&[3], zeros).unwrap();
        execute(engine, &program, &BTreeMap::new(), vec![MemberValue::Local(array)])
            .and_then(|_| Ok(engine.barrier()?))
    });
    results.into_iter().map(|result| result.expect_err("it is refused")).collect()
}

#[test]
fn calls_of_the_runtime_that_do_not_fit_are_refused() {
    let halo = |own: &str, start: i64| {
        format!(
            "!p = !ndarray.ndarray<3xf64>
             !h = !ndarray.ndarray<?xf64>
             func.func @main(%a: !p) -> !h {{
               %n = arith.constant 6 : index
               %three = arith.constant 3 : index
               %m = \"distruntime.team_member\"() <{{team = 22 : i64}}> : () -> index
               %own = arith.{own} : index
               %s = arith.constant {start} : index
               %h:3 = \"distruntime.get_halo\"(%a, %n, %own, %s, %three) <{{team = 22 : i64, key = -1 : i64}}> : (!p, index, index, index, index) -> (!distruntime.asynchandle, !h, !h)
               return %h#1 : !h
             }}"
        )
    };
    // Both members say that they own the first rows.
    for words in said_of_local(&halo("constant 0", 2), 2) {
        assert!(words.contains("asks for the rows 2..5, of which members own 2"), "{words}");
    }
    for words in said_of_local(&halo("muli %m, %three", -2), 2) {
        assert!(words.contains("got -2, expected 0 or more"), "{words}");
    }
    let reduce = |op: &str| {
        format!(
            "func.func @main(%a: !ndarray.ndarray<3xf64>, %m: memref<f64>) {{
               \"distruntime.allreduce\"(%m) <{{op = \"{op}\", team = 22 : i64}}> : (memref<f64>) -> ()
               return
             }}"
        )
    };
    for op in ["mean", "var", "argmax"] {
        let sentence = format!("{op} over members needs memory that holds a reduction of rows");
        for words in said_of_local(&reduce(op), 2) {
            assert!(words.contains(&sentence), "{words}");
        }
    }
}

#[test]
fn arguments_are_those_that_the_program_takes() {
    let program = parsed("func.func @main(%a: !ndarray.ndarray<3xf64>) {\n  return\n}");
    let results = on_ranks(2, |engine| {
        let none = run(engine, &program, &MemberSetting::default(), &[]);
        assert!(matches!(none, Err(MemberRunError::Arguments { got: 0, expected: 1 })));
        execute(engine, &program, &BTreeMap::new(), Vec::new()).map(|_| ())
    });
    for result in results {
        assert!(result.unwrap_err().contains("got 0 arguments, expected 1"));
    }
    let nothing = on_ranks(1, |engine| {
        run(engine, &Program::default(), &MemberSetting::default(), &[]).map(|_| ())
    });
    assert_eq!(nothing[0], Err("the program has no function".to_owned()));
    let open = parsed("func.func @main(%a: !ndarray.ndarray<?xf64>) {\n  return\n}");
    let lengths = argument_homes(&open, &MemberSetting::default(), 2);
    assert!(matches!(lengths, Err(MemberRunError::Lower(_))), "{lengths:?}");
}

#[test]
fn faults_say_what_was_got_and_expected() {
    use OperationFault as F;
    let sentences = [
        (F::Unset, "a value is read before it is there"),
        (
            F::Operand { at: 1, got: "a handle", expected: "an index" },
            "operand 1 is a handle, expected an index",
        ),
        (F::Shapes { got: vec![2], expected: vec![3] }, "got the shape [2], expected [3]"),
        (
            F::Columns { member: 1, owner: 0, axis: 1 },
            "member 1 asks member 0 for columns of axis 1 that it has not stored",
        ),
        (F::Unlike { member: 2 }, "member 2 and member 0 ask for different things"),
        (F::NotInTeam { team: "7".to_owned() }, "this rank is not of team 7"),
        (F::NoRule, "there is no rule to execute it"),
    ];
    for (fault, sentence) in sentences {
        assert_eq!(fault.to_string(), sentence);
    }
}
