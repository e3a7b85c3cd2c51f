//! Runtime dispatch: the same loop compiled for several instruction sets, chosen when it runs.

#![allow(unsafe_code, reason = "calls code for instruction sets that were detected")]

use std::sync::OnceLock;

/// An instruction set that loops are compiled for, and that this processor has.
///
/// Results never depend on it; only the time does.
///
/// Invariants:
/// 1. A value for a set exists only where the processor was found to have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Vectors {
    set: InstructionSet,
    /// Bytecode of programs becomes machine code (JIT).
    jit: bool,
}

/// The sets that loops are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum InstructionSet {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Vectors {
    /// What every processor has.
    pub const PORTABLE: Self = Self { set: InstructionSet::Portable, jit: false };

    /// The widest vectors of this processor, or those that `PANTILE_VECTORS` names: `portable`,
    /// `avx2` or `avx512`, or `avx2-steps` or `avx512-steps`, without the JIT, by the bytecode
    /// interpreter. It is read once. Another word, or a set that this processor has not, leaves the
    /// widest.
    #[must_use]
    pub fn widest() -> Self {
        static CHOSEN: OnceLock<Vectors> = OnceLock::new();
        *CHOSEN.get_or_init(|| Self::named(std::env::var("PANTILE_VECTORS").ok().as_deref()))
    }

    /// The set with this name, if this processor has it; else its widest.
    fn named(name: Option<&str>) -> Self {
        let widest = Self::all().next_back().unwrap_or(Self::PORTABLE);
        Self::all().find(|vectors| Some(vectors.name()) == name).unwrap_or(widest)
    }

    /// Its name, as `PANTILE_VECTORS` has it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self.jit {
            true => self.pick(["portable", "avx2", "avx512"]),
            false => self.pick(["portable", "avx2-steps", "avx512-steps"]),
        }
    }

    /// True if bytecode of programs becomes machine code (JIT).
    pub(crate) fn jit(self) -> bool {
        self.jit
    }

    /// All sets that this processor has, narrow ones first.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let sets = [
            (InstructionSet::Portable, true),
            (InstructionSet::Avx2, has_avx2()),
            (InstructionSet::Avx512, has_avx512()),
        ];
        #[cfg(not(target_arch = "x86_64"))]
        let sets = [(InstructionSet::Portable, true)];
        let both = |set: InstructionSet| {
            let most = if set == InstructionSet::Portable { 1 } else { 2 };
            [false, true].into_iter().take(most).map(move |jit| Self { set, jit })
        };
        sets.into_iter().filter(|(_, here)| *here).flat_map(move |(set, _)| both(set))
    }

    /// Bytes of a vector.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self.set {
            InstructionSet::Portable => 16,
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 => 32,
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512 => 64,
        }
    }

    /// The one of three things that is for these vectors: portable, AVX2 with FMA, AVX-512.
    pub(crate) fn pick<T>(self, [portable, avx2, avx512]: [T; 3]) -> T {
        match self.bytes() {
            64 => avx512,
            32 => avx2,
            _ => portable,
        }
    }

    /// These vectors, but at most 32 bytes: a few lanes that stay in registers become better code.
    pub(crate) fn narrow(self) -> Self {
        match self.set {
            // Invariant 1: AVX-512 is only there beside AVX2.
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512 => Self { set: InstructionSet::Avx2, ..self },
            _ => self,
        }
    }

    /// Runs a loop that was compiled for these vectors.
    #[inline]
    pub(crate) fn run<B: VectorLoop>(self, body: B) -> B::Output {
        match self.set {
            InstructionSet::Portable => body.run(self),
            // SAFETY: R7; `Vectors::all` makes values of sets that were detected only.
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 => unsafe { with_avx2(body) },
            // SAFETY: R7; `Vectors::all` makes values of sets that were detected only.
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512 => unsafe { with_avx512(body) },
        }
    }
}

/// Prefetches the cache line of a place that may soon be read; any place will do.
#[inline(always)]
pub(crate) fn prefetch<T>(place: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: R7; a hint that never faults, which every x86-64 has.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(place.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

/// A loop that the compiler turns into vector code.
pub(crate) trait VectorLoop {
    /// What comes out.
    type Output;

    /// Runs it; must be `#[inline(always)]`, so that it is compiled for its caller's vectors,
    /// which are given as a constant.
    fn run(self, vectors: Vectors) -> Self::Output;
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    has_avx2()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512cd")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_avx2<B: VectorLoop>(body: B) -> B::Output {
    body.run(Vectors { set: InstructionSet::Avx2, jit: true })
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
fn with_avx512<B: VectorLoop>(body: B) -> B::Output {
    body.run(Vectors { set: InstructionSet::Avx512, jit: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct SumLoop<'a>(&'a [u32]);

    impl VectorLoop for SumLoop<'_> {
        type Output = (u32, usize);

        #[inline(always)]
        fn run(self, vectors: Vectors) -> Self::Output {
            (self.0.iter().sum(), vectors.bytes())
        }
    }

    #[test]
    fn every_set_runs_the_same_loop() {
        let numbers: Vec<u32> = (0..1000).collect();
        assert_eq!(Vectors::all().next(), Some(Vectors::PORTABLE));
        for vectors in Vectors::all() {
            assert_eq!(vectors.run(SumLoop(&numbers)), (499_500, vectors.bytes()));
        }
    }

    #[test]
    fn a_name_chooses_a_set_that_is_there() {
        let widest = Vectors::all().next_back();
        for vectors in Vectors::all() {
            assert_eq!(Vectors::named(Some(vectors.name())), vectors);
            assert!(Some(vectors) <= widest);
        }
        for other in [None, Some(""), Some("sse9"), Some("AVX2")] {
            assert_eq!(Some(Vectors::named(other)), widest, "{other:?}");
        }
        assert_eq!(Vectors::PORTABLE.name(), "portable");
    }
}
