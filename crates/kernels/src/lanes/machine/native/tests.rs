//! Machine code against the machine that reads steps: every code, every rest, every way to store.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![allow(clippy::cast_possible_truncation, reason = "numbers of slots are small, lanes narrow")]

use pantile_testkit::{Rng, cases};

use super::super::{Code, Kind, NONE, Step, machine};
use super::code::Form;
use super::emit::{Emitter, MANY};
use super::{BYTES_MAX, Native};
use crate::lanes::kernel::{CHUNK, EACH, Slot};
use crate::simd::Vectors;

/// All codes that there is machine code for, but for those that have lists.
const CODES: [Code; 62] = [
    Code::Keep,
    Code::Replace,
    Code::Neg,
    Code::Abs,
    Code::Sqrt,
    Code::Floor,
    Code::Ceil,
    Code::Trunc,
    Code::RoundEven,
    Code::Canonical,
    Code::Square,
    Code::Add,
    Code::Sub,
    Code::SubFrom,
    Code::Mul,
    Code::Div,
    Code::DivInto,
    Code::Min,
    Code::Max,
    Code::AtMost,
    Code::AtLeast,
    Code::Plus,
    Code::Minus,
    Code::MinusFrom,
    Code::And,
    Code::Or,
    Code::Xor,
    Code::Shl,
    Code::ShlBy,
    Code::Shr,
    Code::ShrBy,
    Code::TimesPlus,
    Code::PlusFused,
    Code::NegTimesPlus,
    Code::FusedMinus,
    Code::AddThenAdd,
    Code::MulThenAdd,
    Code::MulThenMul,
    Code::SubThenSubFrom,
    Code::AddSum,
    Code::AddDifference,
    Code::AddProduct,
    Code::AddQuotient,
    Code::SubSum,
    Code::SubDifference,
    Code::SubProduct,
    Code::SubQuotient,
    Code::SubFromSum,
    Code::SubFromDifference,
    Code::SubFromProduct,
    Code::SubFromQuotient,
    Code::MulSum,
    Code::MulDifference,
    Code::MulProduct,
    Code::MulQuotient,
    Code::Eq,
    Code::Ne,
    Code::Lt,
    Code::Le,
    Code::Gt,
    Code::Ge,
    Code::Same,
];

/// Elements of a slot, and room that nobody may touch.
const MOST: usize = 200;

/// Slots of a test: inputs, then constants, then truth values, then targets.
const INPUTS: u32 = 6;
/// More constants than have registers.
const CONSTANTS: u32 = 20;
const TRUTHS: u32 = INPUTS + CONSTANTS;
const TARGETS: u32 = TRUTHS + 2;
const SLOTS: usize = TARGETS as usize + 10;

/// Memory of all slots, each aligned to a line.
#[derive(Clone)]
#[repr(align(64))]
struct Room([[u64; MOST]; SLOTS]);

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

fn room(rng: &mut Rng, lane: usize) -> Box<Room> {
    let mut room = Box::new(Room([[0; MOST]; SLOTS]));
    for (slot, words) in room.0.iter_mut().enumerate() {
        let slot = slot as u32;
        let constant = (INPUTS..TRUTHS).contains(&slot).then(|| number(rng, lane));
        for word in &mut *words {
            let [low, high] = [0, 1].map(|_| constant.unwrap_or_else(|| number(rng, lane)));
            *word = if lane == 8 { low } else { low | high << 32 };
        }
        if (TRUTHS..TARGETS).contains(&slot) {
            // Often none at all.
            let rare = *rng.pick(&[0, 1, 2]);
            let truth = |rng: &mut Rng| u8::from(rng.below(2) < rare && rng.below(2) == 0);
            *words = [0; MOST].map(|_: u64| u64::from_le_bytes([0; 8].map(|_: u8| truth(rng))));
        }
    }
    room
}

fn slots(room: &mut Room, past: bool) -> Vec<Slot> {
    let slot = |(number, words): (usize, &mut [u64; MOST])| {
        let number = number as u32;
        let step = if (INPUTS..TRUTHS).contains(&number) { 0 } else { EACH };
        let past = past && number >= TARGETS;
        Slot { start: words.as_mut_ptr().cast(), step, past }
    };
    room.0.iter_mut().enumerate().map(slot).collect()
}

fn random_step(rng: &mut Rng, code: Code, target: u32, is_first: bool) -> Step {
    let input = |rng: &mut Rng| rng.below(INPUTS as usize) as u32;
    let constant = |rng: &mut Rng| INPUTS + rng.below(CONSTANTS as usize) as u32;
    let flat = rng.below(2) == 0;
    let mut step = Step {
        code,
        flat: false,
        first: if is_first || rng.below(3) == 0 { input(rng) } else { NONE },
        x: input(rng),
        y: input(rng),
        canonical: rng.below(4) == 0 && takes_bits(code) == Some(false),
        target: NONE,
        words: &[],
        more: Vec::new(),
    };
    match (code, code.kind()) {
        (Code::Keep | Code::Replace, _) => step.x = TRUTHS,
        (Code::Horner, _) => {
            (step.flat, step.more) = (true, (0..3).map(|_| constant(rng)).collect());
        }
        (Code::AddProducts, _) => {
            step.flat = true;
            step.more = (0..6).flat_map(|_| [input(rng), constant(rng)]).collect();
            step.x = if flat { constant(rng) } else { NONE };
            step.y = if rng.below(2) == 0 { input(rng) } else { NONE };
        }
        (_, Kind::Truth) => {
            step.y = TRUTHS + 1;
            if flat {
                (step.flat, step.x) = (true, constant(rng));
            }
        }
        (_, Kind::With) if flat => (step.flat, step.x) = (true, constant(rng)),
        (_, Kind::Both) if flat => (step.flat, step.y) = (true, constant(rng)),
        _ => {}
    }
    if !matches!(code.kind(), Kind::Truth) && rng.below(2) == 0 {
        step.target = target;
    }
    step
}

/// Runs steps both ways on the same memory; all of it has to be the same afterwards.
fn check(rng: &mut Rng, steps: &[Step], lane: usize, vectors: Vectors) {
    let machine = machine(lane, vectors).unwrap();
    let native = Native::new(steps, lane, vectors).unwrap();
    let count = rng.below(MOST * 8 / lane - CHUNK / 2);
    let before = room(rng, lane);
    let past = rng.below(3) == 0;
    let (mut one, mut other) = (before.clone(), before);
    let (expected, got) = (slots(&mut one, past), slots(&mut other, past));
    let fronts: &[usize] = if rng.below(2) == 0 { &[] } else { &[0, 2] };
    // SAFETY: all slots have room for more than `count` elements, whole chunks of truth values too.
    unsafe {
        machine(steps, &expected, fronts, count);
        native.run(&got, fronts, count);
    }
    // Constants that have registers are there in all lanes, others only in those that are left.
    for truths in (TRUTHS..TARGETS).filter(|_| vectors.bytes() == 64) {
        forget([&mut one, &mut other].map(|room| &mut room.0[truths as usize]), count);
    }
    let signs = zero_has_its_sign() || steps.iter().all(|step| step.code != Code::NegTimesPlus);
    let mut rooms = one.0.iter().zip(&other.0);
    let same = rooms.all(|(one, other)| same_lanes(one, other, lane, signs));
    assert!(same, "{steps:#?} of {count} lanes of {lane} bytes, {}", vectors.name());
}

/// Makes truth values the same that any pass over what is left may write as it likes.
fn forget(truths: [&mut [u64; MOST]; 2], count: usize) {
    for words in truths {
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
fn takes_bits(code: Code) -> Option<bool> {
    match code {
        Code::Keep | Code::Replace => None,
        Code::Plus | Code::Minus | Code::MinusFrom | Code::And | Code::Or | Code::Xor => Some(true),
        Code::Shl | Code::ShlBy | Code::Shr | Code::ShrBy | Code::Same => Some(true),
        _ => Some(false),
    }
}

/// All codes that there is machine code for.
fn codes() -> impl Iterator<Item = Code> {
    CODES.into_iter().chain([Code::Horner, Code::AddProducts])
}

/// True if `3 - 1 * 3` is a zero without a sign, as it should be; some that play a processor give it
/// one.
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
    Vectors::all().filter(|vectors| vectors.native())
}

#[test]
fn every_code_computes_what_a_machine_does() {
    cases("every code", 40, |rng| {
        for (code, lane) in codes().flat_map(|code| [(code, 8), (code, 4)]) {
            let mut step = random_step(rng, code, TARGETS, true);
            if !matches!(code.kind(), Kind::Truth) {
                step.target = TARGETS;
            }
            all().for_each(|vectors| check(rng, std::slice::from_ref(&step), lane, vectors));
        }
    });
}

#[test]
fn chains_compute_what_a_machine_does() {
    cases("chains", 2000, |rng| {
        let most = if rng.below(9) == 0 { 70 } else { 9 };
        let count = 1 + rng.below(most);
        // The bits of a NaN that arithmetic makes are open: nobody looks at them here.
        let on_bits = rng.below(4) == 0;
        // A wrong sign would go through the rest of a chain.
        let fits = |code: &Code| {
            takes_bits(*code).unwrap_or(on_bits) == on_bits
                && (*code != Code::NegTimesPlus || zero_has_its_sign())
        };
        let codes: Vec<Code> = codes().filter(fits).collect();
        let mut steps = Vec::new();
        for at in 0..count {
            let code = *rng.pick(&codes);
            steps.push(random_step(rng, code, TARGETS + (at % 10) as u32, at == 0));
        }
        let lane = *rng.pick(&[8, 4]);
        all().for_each(|vectors| check(rng, &steps, lane, vectors));
    });
}

#[test]
fn what_there_is_no_code_for_stays_steps() {
    let look_up = Step {
        code: Code::LookUp,
        flat: false,
        first: 0,
        x: 0,
        y: 0,
        canonical: false,
        target: TARGETS,
        words: &[1, 2],
        more: Vec::new(),
    };
    let steps = [look_up];
    assert!(Vectors::all().all(|vectors| Native::new(&steps, 8, vectors).is_none()));
}

#[test]
fn long_code_has_shorter_passes_before_it_stays_steps() {
    cases("long code", 10, |rng| {
        let mut steps: Vec<Step> =
            (0..120).map(|at| random_step(rng, Code::Min, TARGETS, at == 0)).collect();
        for (at, step) in steps.iter_mut().enumerate() {
            step.target = if at == 119 { TARGETS } else { NONE };
        }
        for (vectors, lane) in all().flat_map(|vectors| [(vectors, 8), (vectors, 4)]) {
            let form = vectors.pick([Form::Vex, Form::Vex, Form::Evex]);
            let code = Emitter::new(lane, form).all(&steps, MANY).unwrap();
            assert!(code.len() > BYTES_MAX, "{} bytes", code.len());
            check(rng, &steps, lane, vectors);
            let more = [&steps[..], &steps[..]].concat();
            assert!(Native::new(&more, lane, vectors).is_none());
        }
    });
}
