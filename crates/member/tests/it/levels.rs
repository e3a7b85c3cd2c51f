//! Programs between the passes: the executor runs what each pass leaves, with the same bytes.

use std::fmt::Write as _;

use pantile_ir::reference::{self, Array};
use pantile_ir::text::parse;
use pantile_ir::verify::verify;
use pantile_lanes::DType;
use pantile_member::{
    MemberSetting, MemberValue, PASSES, argument, argument_homes, execute, in_teams, member_program,
};
use pantile_testkit::{Rng, cases};

use crate::common::{check_tile, on_ranks, owned_tile, random_array};

/// A program of assignments between slices of two distributed arrays.
struct Writer<'r> {
    rng: &'r mut Rng,
    dtype: DType,
    shape: Vec<usize>,
    text: String,
    next: usize,
}

impl Writer<'_> {
    fn array(&self, shape: &[usize]) -> String {
        let dims: String = shape.iter().map(|length| format!("{length}x")).collect();
        let element = pantile_ir::Type::scalar(self.dtype);
        format!("!ndarray.ndarray<{dims}{element}, #dist.dist_env<team = 22 : i64>>")
    }

    fn line(&mut self, text: &str) -> String {
        self.next += 1;
        let _ = writeln!(self.text, "  %v{} = {text}", self.next);
        format!("%v{}", self.next)
    }

    fn slice(&mut self, sizes: &[usize]) -> String {
        let (mut offsets, mut strides) = (Vec::new(), Vec::new());
        for (length, size) in self.shape.iter().zip(sizes) {
            let most = if *size > 1 { (length - 1) / (size - 1) } else { 3 };
            let stride = 1 + self.rng.below(most.clamp(1, 3));
            let room = length - if *size == 0 { 0 } else { (size - 1) * stride + 1 };
            offsets.push(self.rng.below(room + 1));
            strides.push(stride);
        }
        format!("{offsets:?} {sizes:?} {strides:?}")
    }

    fn expression(&mut self, sizes: &[usize], depth: usize) -> String {
        let ty = self.array(sizes);
        if depth == 0 || self.rng.chance(1, 4) {
            let base = *self.rng.pick(&["%a", "%b"]);
            let (slice, from) = (self.slice(sizes), self.array(&self.shape.clone()));
            return self.line(&format!("ndarray.subview {base}{slice} : {from} to {ty}"));
        }
        let one = self.expression(sizes, depth - 1);
        if self.rng.chance(1, 4) {
            let op = if self.dtype == DType::Bool { "logical_not" } else { "square" };
            return self.line(&format!("ndarray.ewuny {one} {{op = \"{op}\"}} : {ty} -> {ty}"));
        }
        let other = self.expression(sizes, depth - 1);
        let op = match self.dtype {
            DType::Bool => "logical_xor",
            _ => *self.rng.pick(&["add", "multiply"]),
        };
        self.line(&format!("ndarray.ewbin {one}, {other} {{op = \"{op}\"}} : ({ty}, {ty}) -> {ty}"))
    }

    fn statement(&mut self) {
        let shape = self.shape.clone();
        let sizes: Vec<usize> = shape.iter().map(|n| 1 + self.rng.below(*n)).collect();
        let depth = self.rng.below(4);
        let source = self.expression(&sizes, depth);
        let (target, slice) = (*self.rng.pick(&["%a", "%b"]), self.slice(&sizes));
        let (from, to) = (self.array(&sizes), self.array(&shape));
        let _ = writeln!(
            self.text,
            "  ndarray.insert_slice {source} into {target}{slice} : {from} into {to}"
        );
    }
}

pub(crate) fn random_text(rng: &mut Rng) -> (String, DType, Vec<usize>) {
    let mut shape = vec![1 + rng.below(12)];
    if rng.chance(1, 2) {
        shape.push(1 + rng.below(4));
    }
    let dtype = *rng.pick(&DType::ALL);
    let mut writer = Writer { rng, dtype, shape: shape.clone(), text: String::new(), next: 0 };
    for _ in 0..1 + writer.rng.below(3) {
        writer.statement();
    }
    let (ty, text) = (writer.array(&shape), &writer.text);
    let text = format!(
        "func.func @main(%a: {ty}, %b: {ty}) -> ({ty}, {ty}) {{\n{text}  return %a, %b : {ty}, {ty}\n}}\n"
    );
    (text, dtype, shape)
}

#[test]
fn what_every_pass_leaves_gives_the_same_bytes() {
    cases("what_every_pass_leaves_gives_the_same_bytes", 60, |rng| {
        let (text, dtype, shape) = random_text(rng);
        let program = parse(&text, "levels.dist").unwrap_or_else(|f| panic!("{}\n{text}", f[0]));
        let given = [0, 1].map(|_| random_array(rng, dtype, &shape));
        let expected = reference::run(&program, &given).unwrap();
        let ranks = 1 + rng.below(5);
        for level in 1..=PASSES.len() {
            for typed in [false, true] {
                // Types with the places of parts, as `print-member` writes them.
                let more = if typed && level <= 3 { &["fold", "print-member"][..] } else { &[] };
                if typed && more.is_empty() {
                    continue;
                }
                let passes = [&PASSES[..level], more].concat();
                run_level(&program, &passes, ranks, (&given, &expected))
                    .unwrap_or_else(|fault| panic!("{passes:?} on {ranks}: {fault}\n{text}"));
            }
        }
    });
}

fn run_level(
    program: &pantile_ir::Program,
    passes: &[&str],
    ranks: usize,
    (given, expected): (&[Array], &[Array]),
) -> Result<(), String> {
    let setting = MemberSetting::default();
    let results = on_ranks(ranks, |engine| {
        let rank = engine.rank();
        let homes = argument_homes(program, &setting, ranks)?;
        let prepared = in_teams(program);
        let made = member_program(&prepared, passes, (ranks, rank), &setting.teams)?;
        verify(&made).unwrap_or_else(|findings| panic!("{passes:?}: {}\n{made}", findings[0]));
        let mut values = Vec::new();
        for (array, home) in given.iter().zip(&homes) {
            let tile = owned_tile(array, home, rank);
            let entry = prepared.entry().unwrap();
            let ty = entry.ty(entry.body.arguments[values.len()]);
            let value = argument(ty, &tile, &setting, (ranks, rank))?;
            values.push(match value {
                MemberValue::Parts(array) if passes.contains(&"member") => {
                    MemberValue::Local(array.parts[1].clone())
                }
                other => other,
            });
        }
        let made = execute(engine, &made, &setting.teams, values)?;
        let mut faults = Vec::new();
        for ((value, array), home) in made.iter().zip(expected).zip(&homes) {
            let local = match value {
                MemberValue::Parts(array) => &array.parts[1],
                MemberValue::Local(array) => array,
                _ => panic!("results are arrays"),
            };
            faults.extend(check_tile(&local.tile(), home, array, rank).err());
        }
        Ok(faults)
    });
    for faults in results {
        if let Some(fault) = faults?.first() {
            return Err(fault.clone());
        }
    }
    Ok(())
}
