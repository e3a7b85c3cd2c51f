//! Machine code against the interpreter: every code, every rest, every way to store.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![allow(clippy::cast_possible_truncation, reason = "numbers of slots are small, lanes narrow")]

use pantile_testkit::{Rng, cases};

use super::super::{BytecodeOp, NONE, Opcode, OperandKind, interpreter};
use super::assembler::VectorEncoding;
use super::emit::{Emitter, MANY};
use super::{BYTES_MAX, JitCode};
use crate::lanes::kernel::{CHUNK, EACH, LaneSlot};
use crate::simd::Vectors;

/// All opcodes that the JIT has, but for those that have lists.
const OPCODES: [Opcode; 62] = [
    Opcode::Keep,
    Opcode::Replace,
    Opcode::Neg,
    Opcode::Abs,
    Opcode::Sqrt,
    Opcode::Floor,
    Opcode::Ceil,
    Opcode::Trunc,
    Opcode::RoundEven,
    Opcode::Canonical,
    Opcode::Square,
    Opcode::Add,
    Opcode::Sub,
    Opcode::SubFrom,
    Opcode::Mul,
    Opcode::Div,
    Opcode::DivInto,
    Opcode::Min,
    Opcode::Max,
    Opcode::AtMost,
    Opcode::AtLeast,
    Opcode::Plus,
    Opcode::Minus,
    Opcode::MinusFrom,
    Opcode::And,
    Opcode::Or,
    Opcode::Xor,
    Opcode::Shl,
    Opcode::ShlBy,
    Opcode::Shr,
    Opcode::ShrBy,
    Opcode::TimesPlus,
    Opcode::PlusFused,
    Opcode::NegTimesPlus,
    Opcode::FusedMinus,
    Opcode::AddThenAdd,
    Opcode::MulThenAdd,
    Opcode::MulThenMul,
    Opcode::SubThenSubFrom,
    Opcode::AddSum,
    Opcode::AddDifference,
    Opcode::AddProduct,
    Opcode::AddQuotient,
    Opcode::SubSum,
    Opcode::SubDifference,
    Opcode::SubProduct,
    Opcode::SubQuotient,
    Opcode::SubFromSum,
    Opcode::SubFromDifference,
    Opcode::SubFromProduct,
    Opcode::SubFromQuotient,
    Opcode::MulSum,
    Opcode::MulDifference,
    Opcode::MulProduct,
    Opcode::MulQuotient,
    Opcode::Eq,
    Opcode::Ne,
    Opcode::Lt,
    Opcode::Le,
    Opcode::Gt,
    Opcode::Ge,
    Opcode::Same,
];

/// Elements of a slot, and room that no code may touch.
const MOST: usize = 200;

/// Slots of a test: inputs, then constants, then bools, then targets.
const INPUTS: u32 = 6;
/// More constants than have registers.
const CONSTANTS: u32 = 20;
const BOOLS: u32 = INPUTS + CONSTANTS;
const TARGETS: u32 = BOOLS + 2;
const SLOTS: usize = TARGETS as usize + 10;

/// Memory of all slots, each aligned to a line.
#[derive(Clone)]
#[repr(align(64))]
struct SlotMemory([[u64; MOST]; SLOTS]);

/// Numbers that are special more often than not.
fn number(rng: &mut Rng, lane: usize) -> u64 {
    let wide = [0.0, -0.0, 1.0, -1.5, 2.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 3.0, 1e-310];
    let value = match rng.below(3) {
        0 => *rng.pick(&wide),
        1 => rng.below(7) as f64 - 3.0,
        _ => f64::from_bits(rng.bits()),
    };
    if lane == 8 { value.to_bits() } else { u64::from((value as f32).to_bits()) }
}

fn room(rng: &mut Rng, lane: usize) -> Box<SlotMemory> {
    let mut room = Box::new(SlotMemory([[0; MOST]; SLOTS]));
    for (slot, words) in room.0.iter_mut().enumerate() {
        let slot = slot as u32;
        let constant = (INPUTS..BOOLS).contains(&slot).then(|| number(rng, lane));
        for word in &mut *words {
            let [low, high] = [0, 1].map(|_| constant.unwrap_or_else(|| number(rng, lane)));
            *word = if lane == 8 { low } else { low | high << 32 };
        }
        if (BOOLS..TARGETS).contains(&slot) {
            // Often none at all.
            let density = *rng.pick(&[0, 1, 2]);
            let compare = |rng: &mut Rng| u8::from(rng.below(2) < density && rng.below(2) == 0);
            *words = [0; MOST].map(|_: u64| u64::from_le_bytes([0; 8].map(|_: u8| compare(rng))));
        }
    }
    room
}

fn slots(room: &mut SlotMemory, non_temporal: bool) -> Vec<LaneSlot> {
    let slot = |(number, words): (usize, &mut [u64; MOST])| {
        let number = number as u32;
        let step = if (INPUTS..BOOLS).contains(&number) { 0 } else { EACH };
        let non_temporal = non_temporal && number >= TARGETS;
        LaneSlot { start: words.as_mut_ptr().cast(), step, non_temporal }
    };
    room.0.iter_mut().enumerate().map(slot).collect()
}

fn random_operation(rng: &mut Rng, code: Opcode, target: u32, is_first: bool) -> BytecodeOp {
    let input = |rng: &mut Rng| rng.below(INPUTS as usize) as u32;
    let constant = |rng: &mut Rng| INPUTS + rng.below(CONSTANTS as usize) as u32;
    let invariant = rng.below(2) == 0;
    let mut operation = BytecodeOp {
        code,
        invariant: false,
        first: if is_first || rng.below(3) == 0 { input(rng) } else { NONE },
        x: input(rng),
        y: input(rng),
        canonical: rng.below(4) == 0 && takes_bits(code) == Some(false),
        target: NONE,
        table: &[],
        more: Vec::new(),
    };
    match (code, code.kind()) {
        (Opcode::Keep | Opcode::Replace, _) => operation.x = BOOLS,
        (Opcode::Horner, _) => {
            (operation.invariant, operation.more) = (true, (0..3).map(|_| constant(rng)).collect());
        }
        (Opcode::AddProducts, _) => {
            operation.invariant = true;
            operation.more = (0..6).flat_map(|_| [input(rng), constant(rng)]).collect();
            operation.x = if invariant { constant(rng) } else { NONE };
            operation.y = if rng.below(2) == 0 { input(rng) } else { NONE };
        }
        (_, OperandKind::Compare) => {
            operation.y = BOOLS + 1;
            if invariant {
                (operation.invariant, operation.x) = (true, constant(rng));
            }
        }
        (_, OperandKind::With) if invariant => {
            (operation.invariant, operation.x) = (true, constant(rng))
        }
        (_, OperandKind::Both) if invariant => {
            (operation.invariant, operation.y) = (true, constant(rng))
        }
        _ => {}
    }
    if !matches!(code.kind(), OperandKind::Compare) && rng.below(2) == 0 {
        operation.target = target;
    }
    operation
}

/// Runs bytecode both ways on the same memory; all of it has to be the same afterwards.
fn check(rng: &mut Rng, bytecode: &[BytecodeOp], lane: usize, vectors: Vectors) {
    let interpreter = interpreter(lane, vectors).unwrap();
    let jit = JitCode::new(bytecode, lane, vectors).unwrap();
    let count = rng.below(MOST * 8 / lane - CHUNK / 2);
    let before = room(rng, lane);
    let non_temporal = rng.below(3) == 0;
    let (mut one, mut other) = (before.clone(), before);
    let (expected, got) = (slots(&mut one, non_temporal), slots(&mut other, non_temporal));
    let prefetch_streams: &[usize] = if rng.below(2) == 0 { &[] } else { &[0, 2] };
    // SAFETY: all slots have room for more than `count` elements, whole chunks of bools too.
    unsafe {
        interpreter(bytecode, &expected, prefetch_streams, count);
        jit.run(&got, prefetch_streams, count);
    }
    // Constants that have registers are there in all lanes, others only in those that are left.
    for bools in (BOOLS..TARGETS).filter(|_| vectors.bytes() == 64) {
        forget([&mut one, &mut other].map(|room| &mut room.0[bools as usize]), count);
    }
    let signs = zero_has_its_sign()
        || bytecode.iter().all(|operation| operation.code != Opcode::NegTimesPlus);
    let mut rooms = one.0.iter().zip(&other.0);
    let same = rooms.all(|(one, other)| same_lanes(one, other, lane, signs));
    assert!(same, "{bytecode:#?} of {count} lanes of {lane} bytes, {}", vectors.name());
}

/// Makes bools the same that any pass over what is left may write as it likes.
fn forget(bools: [&mut [u64; MOST]; 2], count: usize) {
    for words in bools {
        for at in count..count.next_multiple_of(64) {
            words[at / 8] &= !(0xFF << (at % 8 * 8));
        }
    }
}

/// The same bits; of a NaN any, and without `signs` zeros with any.
fn same_lanes(one: &[u64; MOST], other: &[u64; MOST], lane: usize, signs: bool) -> bool {
    let zero = |bits: u64| !signs && bits << (64 - 8 * lane as u32) << 1 == 0;
    let nan = |bits: u64| match lane {
        8 => f64::from_bits(bits).is_nan(),
        _ => f32::from_bits(bits as u32).is_nan(),
    };
    let lanes = |word: u64| if lane == 8 { [word, 0] } else { [word & 0xFFFF_FFFF, word >> 32] };
    one.iter().zip(other).all(|(one, other)| {
        let pairs = lanes(*one).into_iter().zip(lanes(*other));
        pairs.into_iter().all(|(one, other)| {
            one == other || (nan(one) && nan(other)) || (zero(one) && zero(other))
        })
    })
}

/// Whether a code is for integers, which share their bits with floats; none if it is for both.
fn takes_bits(code: Opcode) -> Option<bool> {
    match code {
        Opcode::Keep | Opcode::Replace => None,
        Opcode::Plus
        | Opcode::Minus
        | Opcode::MinusFrom
        | Opcode::And
        | Opcode::Or
        | Opcode::Xor => Some(true),
        Opcode::Shl | Opcode::ShlBy | Opcode::Shr | Opcode::ShrBy | Opcode::Same => Some(true),
        _ => Some(false),
    }
}

/// All opcodes that the JIT has.
fn codes() -> impl Iterator<Item = Opcode> {
    OPCODES.into_iter().chain([Opcode::Horner, Opcode::AddProducts])
}

/// True if `3 - 1 * 3` is a zero without a sign, as it should be; some emulators give it one.
fn zero_has_its_sign() -> bool {
    let (one, three, mut zero) = (1.0f64, 3.0f64, 3.0f64);
    if all().next().is_some() {
        // SAFETY: where there is machine code the processor has this instruction.
        unsafe {
            std::arch::asm!(
                "vfnmadd231pd {zero}, {one}, {three}",
                zero = inout(xmm_reg) zero,
                one = in(xmm_reg) one,
                three = in(xmm_reg) three,
                options(nomem, nostack),
            );
        }
        return zero.is_sign_positive();
    }
    true
}

/// The vectors of this processor that there is machine code for.
fn all() -> impl Iterator<Item = Vectors> {
    Vectors::all().filter(|vectors| vectors.jit())
}

#[test]
fn every_opcode_computes_what_the_interpreter_does() {
    cases("every code", 40, |rng| {
        for (code, lane) in codes().flat_map(|code| [(code, 8), (code, 4)]) {
            let mut operation = random_operation(rng, code, TARGETS, true);
            if !matches!(code.kind(), OperandKind::Compare) {
                operation.target = TARGETS;
            }
            all().for_each(|vectors| check(rng, std::slice::from_ref(&operation), lane, vectors));
        }
    });
}

#[test]
fn chains_compute_what_the_interpreter_does() {
    cases("chains", 2000, |rng| {
        let most = if rng.below(9) == 0 { 70 } else { 9 };
        let count = 1 + rng.below(most);
        // The bits of a NaN that arithmetic makes are open: they are not compared here.
        let on_bits = rng.below(4) == 0;
        // A wrong sign would go through the rest of a chain.
        let fits = |code: &Opcode| {
            takes_bits(*code).unwrap_or(on_bits) == on_bits
                && (*code != Opcode::NegTimesPlus || zero_has_its_sign())
        };
        let codes: Vec<Opcode> = codes().filter(fits).collect();
        let mut bytecode = Vec::new();
        for at in 0..count {
            let code = *rng.pick(&codes);
            bytecode.push(random_operation(rng, code, TARGETS + (at % 10) as u32, at == 0));
        }
        let lane = *rng.pick(&[8, 4]);
        all().for_each(|vectors| check(rng, &bytecode, lane, vectors));
    });
}

#[test]
fn what_the_jit_has_no_code_for_is_interpreted() {
    let look_up = BytecodeOp {
        code: Opcode::LookUp,
        invariant: false,
        first: 0,
        x: 0,
        y: 0,
        canonical: false,
        target: TARGETS,
        table: &[1, 2],
        more: Vec::new(),
    };
    let bytecode = [look_up];
    assert!(Vectors::all().all(|vectors| JitCode::new(&bytecode, 8, vectors).is_none()));
}

#[test]
fn long_code_has_shorter_passes_before_it_is_interpreted() {
    cases("long code", 10, |rng| {
        let mut bytecode: Vec<BytecodeOp> =
            (0..120).map(|at| random_operation(rng, Opcode::Min, TARGETS, at == 0)).collect();
        for (at, operation) in bytecode.iter_mut().enumerate() {
            operation.target = if at == 119 { TARGETS } else { NONE };
        }
        for (vectors, lane) in all().flat_map(|vectors| [(vectors, 8), (vectors, 4)]) {
            let form =
                vectors.pick([VectorEncoding::Vex, VectorEncoding::Vex, VectorEncoding::Evex]);
            let code = Emitter::new(lane, form).all(&bytecode, MANY).unwrap();
            assert!(code.len() > BYTES_MAX, "{} bytes", code.len());
            check(rng, &bytecode, lane, vectors);
            let more = [&bytecode[..], &bytecode[..]].concat();
            assert!(JitCode::new(&more, lane, vectors).is_none());
        }
    });
}
