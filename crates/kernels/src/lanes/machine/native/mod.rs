//! Steps as machine code: the same operations in the same order, without looking at steps again and
//! again.
//!
//! A machine that reads steps spends most of its time on finding out what to do next, where the
//! numbers are near. Here every step becomes the few instructions that it stands for, once, and a
//! pass over a chunk is one straight line of them. Vectors have 32 bytes or 64; every step rounds as it
//! does in a machine, so that the bits are the same.
//!
//! Whoever runs it promises what is promised to a [`Machine`](super::Machine).

#![allow(unsafe_code, reason = "runs machine code; see the promises of a machine")]

mod arithmetic;
mod code;
mod emit;
mod encode;
mod masks;
mod memory;
mod ops;
mod places;
#[cfg(test)]
mod tests;
mod truths;

use std::fmt;
use std::sync::Arc;

use super::{FEW, Step};
use crate::lanes::kernel::Slot;
use crate::simd::Vectors;
use code::Form;
use emit::{Emitter, MANY};
use memory::Executable;

/// Steps with slots from this one on stay steps: code says where a record lies in 32 bits.
const SLOTS_MAX: usize = 1 << 20;

/// Code of more bytes than this would not stay in the cache of instructions: it has shorter passes,
/// and stays steps if that is not enough.
const BYTES_MAX: usize = 48 << 10;

/// Steps as machine code.
#[derive(Clone)]
pub(in crate::lanes) struct Native {
    code: Arc<Executable>,
    run: Run,
}

/// Slots, the number of elements, and the slots that are asked for ahead.
type Run = unsafe extern "sysv64" fn(*const Slot, usize, *const usize, usize);

impl Native {
    /// Makes code of steps on lanes of so many bytes; none if there is no code for one of them or for
    /// these vectors, or the system has no memory for code.
    pub(in crate::lanes) fn new(steps: &[Step], lane: usize, vectors: Vectors) -> Option<Self> {
        let form = vectors.pick([None, Some(Form::Vex), Some(Form::Evex)])?;
        if steps.iter().flat_map(Step::named).any(|slot| slot >= SLOTS_MAX) {
            return None;
        }
        // In long passes instructions wait less for each other.
        let code = [MANY, FEW].into_iter().find_map(|most| {
            let code = Emitter::new(lane, form).all(steps, most)?;
            (code.len() <= BYTES_MAX).then_some(code)
        })?;
        let code = Arc::new(Executable::new(&code)?);
        // SAFETY: the code is a function of this type from its first byte on, and lives as long as
        // `code` does.
        let run = unsafe { std::mem::transmute::<*const u8, Run>(code.start()) };
        Some(Self { code, run })
    }

    /// Runs it over a block of `count` elements; slots of `fronts` will be read further on soon.
    ///
    /// # Safety
    /// The promises of a [`Machine`](super::Machine).
    pub(in crate::lanes) unsafe fn run(&self, slots: &[Slot], fronts: &[usize], count: usize) {
        // SAFETY: the caller's.
        unsafe { (self.run)(slots.as_ptr(), count, fronts.as_ptr(), fronts.len()) }
    }
}

impl fmt::Debug for Native {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Native({} bytes)", self.code.len())
    }
}
