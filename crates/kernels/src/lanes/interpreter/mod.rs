//! A bytecode interpreter: many operations in one pass, on an accumulator of a few vectors.
//!
//! A loop for each operation writes what it computes and reads it again for the next one. Here a
//! chunk of elements goes through many operations before the next chunk is looked at, and what
//! only the next operation needs stays in registers. Every operation rounds as its loop does: the bits
//! are the same.
//!
//! Lanes are eight bytes wide, or four; integers share the registers of floats.

#![allow(unsafe_code, reason = "the interpreter is a kernel")]

#[cfg(all(target_arch = "x86_64", unix))]
mod jit;
#[cfg(target_arch = "x86_64")]
mod vector;

#[cfg(all(target_arch = "x86_64", unix))]
pub(crate) use jit::JitCode;

use super::kernel::LaneSlot;
use crate::simd::Vectors;

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{__m256, __m256d, __m512, __m512d};
#[cfg(target_arch = "x86_64")]
use vector::SimdVector;

/// One operation of the bytecode: what is done to the accumulator, with the slots that it reads or
/// writes.
#[derive(Clone, Debug)]
pub(crate) struct BytecodeOp {
    pub(crate) code: Opcode,
    /// Of opcodes that read x and y: y is loop-invariant, and one chunk of it is there; x is, of
    /// opcodes that read x alone.
    pub(crate) invariant: bool,
    /// The slot that is loaded into the accumulator before anything else, or [`NONE`].
    pub(crate) first: u32,
    /// The operands that the code has; the others are any slots of the program.
    pub(crate) x: u32,
    pub(crate) y: u32,
    /// After that, NaN becomes the one without payload.
    pub(crate) canonical: bool,
    /// The slot that the accumulator is stored to after everything else, or [`NONE`].
    pub(crate) target: u32,
    /// The table of [`Opcode::LookUp`], not empty.
    pub(crate) table: &'static [u64],
    /// What [`Opcode::Horner`] and [`Opcode::AddProducts`] have instead of y, or x and y: inputs and
    /// constants, of which one chunk is there.
    pub(crate) more: Vec<u32>,
}

/// Bytes of the longest pass: what operations use of a register that is local.
pub(crate) const PASS: usize = 512;

/// Vectors of a pass over what is left.
#[cfg(target_arch = "x86_64")]
const FEW: usize = 4;

/// The prefetch distance in bytes: farther than memory takes to arrive, and near enough to be there
/// still.
#[cfg(target_arch = "x86_64")]
const PREFETCH_DISTANCE: usize = 1024;

/// No slot.
pub(crate) const NONE: u32 = u32::MAX;

impl BytecodeOp {
    /// The slots that it reads, and then those that it writes.
    pub(crate) fn slots(&self) -> ([Option<usize>; 3], [Option<usize>; 2]) {
        let some = |slot: u32| (slot != NONE).then_some(slot as usize);
        let (x, y) = (some(self.x), some(self.y));
        let (x, y, bools) = match self.code.kind() {
            OperandKind::Alone => (None, None, None),
            OperandKind::With => (x, None, None),
            OperandKind::Both => (x, y, None),
            OperandKind::Compare => (x, None, y),
        };
        ([some(self.first), x, y], [bools, some(self.target)])
    }

    /// All slots that it names, whether its code looks at them or not.
    pub(crate) fn named(&self) -> impl Iterator<Item = usize> {
        let own = [self.first, self.x, self.y, self.target];
        let named = own.into_iter().chain(self.more.iter().copied());
        named.filter(|slot| *slot != NONE).map(|slot| slot as usize)
    }
}

/// What a code does with its slots.
pub(crate) enum OperandKind {
    /// It has none.
    Alone,
    /// It reads x.
    With,
    /// It reads x and y.
    Both,
    /// It reads x and writes y.
    Compare,
}

/// Runs bytecode over a block of `count` elements; slots of `prefetch_streams` are prefetched, as
/// they will be read further on soon.
///
/// The caller promises:
/// 1. Slots that operations read are readable and initialised for `count` elements of the lanes' width
///    (a chunk if their step is 0), those that operations write are writable for so many.
/// 2. Slots of bools are blocks of a frame: whole chunks of them may be read and written.
/// 3. The processor has the instructions that the interpreter was compiled for.
/// 4. Operations name slots that are there.
pub(crate) type Interpreter = unsafe fn(
    bytecode: &[BytecodeOp],
    slots: &[LaneSlot],
    prefetch_streams: &[usize],
    count: usize,
);

/// Bytecode as machine code, which there is none of here.
#[cfg(not(all(target_arch = "x86_64", unix)))]
#[derive(Clone, Debug)]
pub(crate) enum JitCode {}

#[cfg(not(all(target_arch = "x86_64", unix)))]
impl JitCode {
    pub(crate) fn new(_: &[BytecodeOp], _: usize, _: Vectors) -> Option<Self> {
        None
    }

    /// # Safety
    /// There is no value of this type.
    pub(crate) unsafe fn run(&self, _: &[LaneSlot], _: &[usize], _: usize) {
        match *self {}
    }
}

/// The interpreter for lanes of so many bytes, if there is one for these vectors.
pub(crate) fn interpreter(bytes: usize, vectors: Vectors) -> Option<Interpreter> {
    #[cfg(target_arch = "x86_64")]
    return match bytes {
        8 => vectors.pick([None, Some(x86::run_f64_avx2), Some(x86::run_f64_avx512)]),
        4 => vectors.pick([None, Some(x86::run_f32_avx2), Some(x86::run_f32_avx512)]),
        _ => None,
    };
    #[cfg(not(target_arch = "x86_64"))]
    return {
        let _ = (bytes, vectors);
        None
    };
}

/// True if any of some bools is true, or one after them; their number is a multiple of eight.
///
/// # Safety
/// They may be read.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn any(bools: *const u8, count: usize) -> bool {
    let words = bools.cast::<u64>();
    // SAFETY: R2, R4; promised by the caller for `count` bools, and whole words of them.
    (0..count / 8).fold(0, |all, at| all | unsafe { words.add(at).read_unaligned() }) != 0
}

/// Declares the opcodes, and the function that executes them.
macro_rules! codes {
    (
        alone { $($alone:ident |$a1:ident| $alone_is:expr;)* }
        with { $($with:ident |$a2:ident, $x2:ident| $with_is:expr;)* }
        both { $($both:ident |$a3:ident, $x3:ident, $y3:ident| $both_is:expr;)* }
        compare { $($compare:ident |$a4:ident, $x4:ident| $truth_is:expr;)* }
    ) => {
        /// What an operation does to the accumulator `a`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Opcode {
            /// a where x is true, else y.
            Keep,
            /// y where x is true, else a.
            Replace,
            /// The entry of a lookup table at a.
            LookUp,
            /// a times x, and a constant more, for each of some constants.
            Horner,
            /// a, times x if there is one, and for each of some inputs its product with a constant
            /// more, and y if there is one.
            AddProducts,
            $($alone,)*
            $($with,)*
            $($both,)*
            /// y becomes the mask, as bools; a stays.
            $($compare,)*
        }

        impl Opcode {
            /// What it does with its slots.
            pub(crate) fn kind(self) -> OperandKind {
                match self {
                    Self::LookUp $(| Self::$alone)* => OperandKind::Alone,
                    Self::Keep | Self::Replace | Self::AddProducts $(| Self::$both)* => OperandKind::Both,
                    Self::Horner $(| Self::$with)* => OperandKind::With,
                    $(Self::$compare)|* => OperandKind::Compare,
                }
            }
        }

        /// Brings one pass of a chunk through an operation; `at` are the elements before it.
        ///
        /// # Safety
        /// Promises of [`Interpreter`]; the pass ends before `count`, or the tail does.
        #[cfg(target_arch = "x86_64")]
        #[allow(clippy::too_many_lines, reason = "a list of codes, each a line or two")]
        #[inline(always)]
        unsafe fn execute<V: SimdVector, const N: usize, const SOME: bool>(
            acc: &mut [V; N],
            tails: &[V::Tail; N],
            operation: &BytecodeOp,
            slots: &[LaneSlot],
            at: usize,
        ) {
            // SAFETY: R1, R2, R4, R5, R7; `check_slots` has compared what operations name, and with `SOME`
            // only elements of the tail are touched.
            unsafe {
                // Where the pass is in a slot. There are many operations: no product, no check.
                let place = |slot: u32, at: usize| {
                    let slot = *slots.get_unchecked(slot as usize);
                    slot.start.wrapping_add(at & slot.step)
                };
                let lanes = |slot: u32| place(slot, at * V::BYTES);
                let load = |from: *mut u8, i: usize| {
                    let from = from.wrapping_add(i * V::LANES * V::BYTES);
                    if SOME { V::load_some(from, tails[i]) } else { V::load(from) }
                };
                let bools = |of: *mut u8, i: usize| of.wrapping_add(i * V::LANES);
                if operation.first != NONE {
                    let from = lanes(operation.first);
                    for i in 0..N {
                        acc[i] = load(from, i);
                    }
                }
                match operation.code {
                    Opcode::Keep => {
                        let (x, y) = (place(operation.x, at), lanes(operation.y));
                        for i in 0..N {
                            let mask = V::load_mask(bools(x, i));
                            acc[i] = acc[i].where_else(mask, load(y, i));
                        }
                    }
                    Opcode::Replace => {
                        let (x, y) = (place(operation.x, at), lanes(operation.y));
                        // A rare condition holds nowhere in most passes.
                        if any(x, N * V::LANES) {
                            for i in 0..N {
                                let mask = V::load_mask(bools(x, i));
                                acc[i] = load(y, i).where_else(mask, acc[i]);
                            }
                        }
                    }
                    Opcode::AddProducts => {
                        if operation.x != NONE {
                            let same = V::load(lanes(operation.x));
                            for i in 0..N {
                                acc[i] = acc[i].mul(same);
                            }
                        }
                        for pair in operation.more.as_chunks::<2>().0 {
                            let (x, same) = (lanes(pair[0]), V::load(lanes(pair[1])));
                            for i in 0..N {
                                acc[i] = acc[i].add(load(x, i).mul(same));
                            }
                        }
                        if operation.y != NONE {
                            let from = lanes(operation.y);
                            for i in 0..N {
                                acc[i] = acc[i].add(load(from, i));
                            }
                        }
                    }
                    Opcode::Horner => {
                        let x = lanes(operation.x);
                        for constant in &operation.more {
                            let same = V::load(lanes(*constant));
                            for i in 0..N {
                                acc[i] = acc[i].mul_add(load(x, i), same);
                            }
                        }
                    }
                    Opcode::LookUp => {
                        for i in 0..N {
                            acc[i] = acc[i].look_up(operation.table);
                        }
                    }
                    $(Opcode::$alone => {
                        for i in 0..N {
                            let $a1 = acc[i];
                            acc[i] = $alone_is;
                        }
                    })*
                    $(Opcode::$with => {
                        let from = lanes(operation.x);
                        if operation.invariant {
                            let same = V::load(from);
                            for i in 0..N {
                                let ($a2, $x2) = (acc[i], same);
                                acc[i] = $with_is;
                            }
                        } else {
                            for i in 0..N {
                                let ($a2, $x2) = (acc[i], load(from, i));
                                acc[i] = $with_is;
                            }
                        }
                    })*
                    $(Opcode::$both => {
                        let (x, y) = (lanes(operation.x), lanes(operation.y));
                        if operation.invariant {
                            // Loads are what many operations wait for: one instead of many.
                            let same = V::load(y);
                            for i in 0..N {
                                let ($a3, $x3, $y3) = (acc[i], load(x, i), same);
                                acc[i] = $both_is;
                            }
                        } else {
                            for i in 0..N {
                                let ($a3, $x3, $y3) = (acc[i], load(x, i), load(y, i));
                                acc[i] = $both_is;
                            }
                        }
                    })*
                    $(Opcode::$compare => {
                        let (from, to) = (lanes(operation.x), place(operation.y, at));
                        for i in 0..N {
                            let ($a4, $x4) = (acc[i], load(from, i));
                            V::store_mask($truth_is, bools(to, i));
                        }
                    })*
                }
                if operation.canonical {
                    for i in 0..N {
                        acc[i] = acc[i].canonical();
                    }
                }
                if operation.target != NONE {
                    let to = lanes(operation.target);
                    let to = |i: usize| to.wrapping_add(i * V::LANES * V::BYTES);
                    if SOME {
                        for i in 0..N {
                            acc[i].store_some(to(i), tails[i]);
                        }
                    } else if slots.get_unchecked(operation.target as usize).non_temporal {
                        for i in 0..N {
                            acc[i].stream(to(i));
                        }
                    } else {
                        for i in 0..N {
                            acc[i].store(to(i));
                        }
                    }
                }
            }
        }
    };
}

codes! {
    alone {
        Neg |a| a.neg();
        Abs |a| a.abs();
        Sqrt |a| a.sqrt();
        Floor |a| a.floor();
        Ceil |a| a.ceil();
        Trunc |a| a.trunc();
        RoundEven |a| a.round_even();
        Canonical |a| a.canonical();
        Square |a| a.mul(a);
    }
    with {
        Add |a, x| a.add(x);
        Sub |a, x| a.sub(x);
        SubFrom |a, x| x.sub(a);
        Mul |a, x| a.mul(x);
        Div |a, x| a.div(x);
        DivInto |a, x| x.div(a);
        Min |a, x| a.min(x);
        Max |a, x| a.max(x);
        AtMost |a, x| a.at_most(x);
        AtLeast |a, x| a.at_least(x);
        Plus |a, x| a.plus(x);
        Minus |a, x| a.minus(x);
        MinusFrom |a, x| x.minus(a);
        And |a, x| a.and(x);
        Or |a, x| a.or(x);
        Xor |a, x| a.xor(x);
        Shl |a, x| a.shl(x);
        ShlBy |a, x| x.shl(a);
        Shr |a, x| a.shr(x);
        ShrBy |a, x| x.shr(a);
    }
    both {
        TimesPlus |a, x, y| a.mul_add(x, y);
        PlusFused |a, x, y| x.mul_add(y, a);
        NegTimesPlus |a, x, y| a.neg().mul_add(x, y);
        FusedMinus |a, x, y| x.mul_add(y, a.neg());
        AddThenAdd |a, x, y| a.add(x).add(y);
        MulThenAdd |a, x, y| a.mul(x).add(y);
        MulThenMul |a, x, y| a.mul(x).mul(y);
        SubThenSubFrom |a, x, y| y.sub(a.sub(x));
        AddSum |a, x, y| a.add(x.add(y));
        AddDifference |a, x, y| a.add(x.sub(y));
        AddProduct |a, x, y| a.add(x.mul(y));
        AddQuotient |a, x, y| a.add(x.div(y));
        SubSum |a, x, y| a.sub(x.add(y));
        SubDifference |a, x, y| a.sub(x.sub(y));
        SubProduct |a, x, y| a.sub(x.mul(y));
        SubQuotient |a, x, y| a.sub(x.div(y));
        SubFromSum |a, x, y| x.add(y).sub(a);
        SubFromDifference |a, x, y| x.sub(y).sub(a);
        SubFromProduct |a, x, y| x.mul(y).sub(a);
        SubFromQuotient |a, x, y| x.div(y).sub(a);
        MulSum |a, x, y| a.mul(x.add(y));
        MulDifference |a, x, y| a.mul(x.sub(y));
        MulProduct |a, x, y| a.mul(x.mul(y));
        MulQuotient |a, x, y| a.mul(x.div(y));
    }
    compare {
        Eq |a, x| a.eq(x);
        Ne |a, x| a.ne(x);
        Lt |a, x| a.lt(x);
        Le |a, x| a.le(x);
        Gt |a, x| x.lt(a);
        Ge |a, x| x.le(a);
        Same |a, x| a.same(x);
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{
        __m256, __m256d, __m512, __m512d, BytecodeOp, FEW, LaneSlot, PASS, PREFETCH_DISTANCE,
        SimdVector, execute,
    };
    use crate::simd::prefetch;

    /// # Safety
    /// Promises 1 and 2 of the interpreter.
    #[inline(always)]
    unsafe fn run<V: SimdVector, const N: usize>(
        bytecode: &[BytecodeOp],
        slots: &[LaneSlot],
        prefetch_streams: &[usize],
        count: usize,
    ) {
        const { assert!(N * size_of::<V>() <= PASS && FEW <= N, "a pass has its bytes") };
        let mut at = 0;
        // SAFETY: R2, R4, R5, R7; passes end before `count`, the last ones by their tails.
        unsafe {
            let all = [V::tail(V::LANES); N];
            while at + N * V::LANES <= count {
                for stream in prefetch_streams {
                    let place =
                        slots[*stream].start.wrapping_add(at * V::BYTES + PREFETCH_DISTANCE);
                    for line in (0..N * size_of::<V>()).step_by(64) {
                        prefetch(place.wrapping_add(line));
                    }
                }
                let mut acc = [V::zero(); N];
                for one in bytecode {
                    execute::<V, N, false>(&mut acc, &all, one, slots, at);
                }
                at += N * V::LANES;
            }
            // What is left is not worth a long pass, and most of it needs no masks.
            let all = [V::tail(V::LANES); FEW];
            while at + FEW * V::LANES <= count {
                let mut acc = [V::zero(); FEW];
                for one in bytecode {
                    execute::<V, FEW, false>(&mut acc, &all, one, slots, at);
                }
                at += FEW * V::LANES;
            }
            while at < count {
                let mut tails = [V::tail(V::LANES); FEW];
                for (place, tail) in tails.iter_mut().enumerate() {
                    *tail = V::tail((count - at).saturating_sub(place * V::LANES));
                }
                let mut acc = [V::zero(); FEW];
                for one in bytecode {
                    execute::<V, FEW, true>(&mut acc, &tails, one, slots, at);
                }
                at += FEW * V::LANES;
            }
        }
    }

    /// Declares interpreters of `$n` vectors; a pass is a chunk at most.
    macro_rules! interpreters {
        ($($name:ident, $features:literal, $vector:ident, $n:literal;)*) => {$(
            /// # Safety
            /// Promises of the interpreter.
            #[target_feature(enable = $features)]
            pub(crate) unsafe fn $name(
                bytecode: &[BytecodeOp],
                slots: &[LaneSlot],
                prefetch_streams: &[usize],
                count: usize,
            ) {
                // SAFETY: R7; `interpreter` chooses functions by the vectors that were detected.
                unsafe { run::<$vector, $n>(bytecode, slots, prefetch_streams, count) }
            }
        )*};
    }

    interpreters! {
        run_f64_avx512, "avx2,fma,avx512f,avx512bw,avx512cd,avx512dq,avx512vl", __m512d, 8;
        run_f32_avx512, "avx2,fma,avx512f,avx512bw,avx512cd,avx512dq,avx512vl", __m512, 8;
        run_f64_avx2, "avx2,fma", __m256d, 8;
        run_f32_avx2, "avx2,fma", __m256, 8;
    }
}
