//! `pantile explain --passes`: what each pass of the lowering did.

use anyhow::Result;
use pantile_ir::Program;
use pantile_lower::{Setting, Stage, StageSize, compile_observed};
use pantile_text::json::Value;

use crate::numbers::{bytes, count};
use crate::report::Report;
use crate::table::{Align, aligned};

/// What there is after a pass.
struct AfterPass {
    pass: &'static str,
    about: &'static str,
    size: StageSize,
}

/// Lowers a program and tells how large it is after each pass.
pub(crate) fn report(program: &Program, setting: &Setting, json: bool) -> Result<Report> {
    let size = Stage::Program(program.clone()).size();
    let mut all = vec![AfterPass { pass: "", about: "as it was read", size }];
    compile_observed(program, setting, &mut |pass, stage| {
        all.push(AfterPass { pass: pass.name, about: pass.about, size: stage.size() });
    })?;
    Ok(match json {
        true => Report::json(&Value::object([("passes", Value::array(all.iter().map(to_json)))])),
        false => Report::text(to_text(&all)),
    })
}

fn to_text(all: &[AfterPass]) -> String {
    let head = ["pass", "operations", "loops", "movements", "overlapped", "memory", "what it does"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for (number, AfterPass { pass, about, size }) in all.iter().enumerate() {
        let before = number.checked_sub(1).map(|before| all[before].size);
        // What a pass leaves as it was is not worth a second look.
        let changed = |of: fn(&StageSize) -> usize, text: fn(u128) -> String| match of(size) {
            0 => ".".to_owned(),
            now if before.is_some_and(|before| of(&before) == now) => "=".to_owned(),
            now => text(now as u128),
        };
        rows.push(vec![
            (*pass).to_owned(),
            changed(|size| size.operations, count),
            changed(|size| size.loops, count),
            changed(|size| size.movements, count),
            changed(|size| size.overlapped, count),
            changed(|size| size.bytes, bytes),
            (*about).to_owned(),
        ]);
    }
    let mut align = [Align::Right; 7];
    (align[0], align[6]) = (Align::Left, Align::Left);
    let note = "\nOperations of a program; loops and movements of its steps, those beside which a loop runs, and \
                memory of\nthe rank that needs most. `=`: as before. `pantile opt --pass NAME` shows what a pass makes.\n";
    aligned(&rows, &align, 2) + note
}

fn to_json(AfterPass { pass, about, size }: &AfterPass) -> Value {
    Value::object([
        ("pass", (*pass).into()),
        ("about", (*about).into()),
        ("operations", size.operations.into()),
        ("loops", size.loops.into()),
        ("movements", size.movements.into()),
        ("overlapped", size.overlapped.into()),
        ("bytes", size.bytes.into()),
    ])
}
