//! Programs that a worker has lowered, by the hash of their texts.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pantile_geometry::Fingerprint;
use pantile_ir::Type;
use pantile_lower::{CompileUnit, Executable, SlotId};

use super::error::ProgramError;
use crate::wire::PROGRAM_MAX;
use pantile_engine::BoundedCache;

/// Programs that are kept, and bytes of their texts; the oldest go first.
const KEPT: usize = 256;
const TEXTS_MAX: usize = 128 << 20;

/// Most steps that a program may become.
const STEPS_MAX: usize = 1 << 20;

/// A program, ready to run.
pub(crate) struct LoweredProgram {
    text: String,
    pub(crate) unit: Arc<CompileUnit>,
    pub(crate) executable: Arc<Executable>,
    /// Bytes that it needs on any rank, at most.
    needed: u64,
    /// The same if what it spends has to be copied first.
    pub(crate) most: u64,
}

/// What this worker has lowered so far, from any client. Several threads may lower at a time.
pub(crate) struct ProgramCache {
    known: Mutex<BoundedCache<u128, Arc<LoweredProgram>>>,
    lowered: AtomicU64,
}

impl Default for ProgramCache {
    fn default() -> Self {
        Self { known: Mutex::new(BoundedCache::new(KEPT, TEXTS_MAX)), lowered: AtomicU64::new(0) }
    }
}

impl ProgramCache {
    /// How many were lowered.
    pub(crate) fn lowered(&self) -> u64 {
        self.lowered.load(Ordering::Relaxed)
    }

    /// The program of a text, if it was lowered before.
    pub(crate) fn find(&self, hash: u128, text: &str) -> Option<Arc<LoweredProgram>> {
        self.known().get(&hash).filter(|known| known.text == text).cloned()
    }

    fn known(&self) -> MutexGuard<'_, BoundedCache<u128, Arc<LoweredProgram>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The program of a text, for so many ranks with so many bytes each. It is read, verified,
    /// lowered and bounded here, whatever the client says about it.
    pub(crate) fn prepare(
        &self,
        hash: u128,
        text: &str,
        (ranks, memory): (usize, u64),
    ) -> Result<Arc<LoweredProgram>, ProgramError> {
        if text.len() > PROGRAM_MAX {
            return Err(ProgramError::TooLong { bytes: text.len(), limit: PROGRAM_MAX });
        }
        if Fingerprint::of(text).0 != hash {
            return Err(ProgramError::WrongHash);
        }
        let prepared = match self.find(hash, text) {
            Some(known) => known,
            None => self.lower(hash, text, ranks)?,
        };
        made_for(&prepared.unit, ranks)?;
        match prepared.needed {
            needed if needed > memory => Err(ProgramError::Memory { needed, memory }),
            _ => Ok(prepared),
        }
    }

    fn lower(
        &self,
        hash: u128,
        text: &str,
        ranks: usize,
    ) -> Result<Arc<LoweredProgram>, ProgramError> {
        let unit: CompileUnit = text.parse().map_err(ProgramError::Text)?;
        // Before anything is done for each of them.
        made_for(&unit, ranks)?;
        let executable = unit.compile().map_err(ProgramError::Lower)?;
        if executable.steps.len() > STEPS_MAX {
            return Err(ProgramError::TooManySteps { limit: STEPS_MAX });
        }
        self.lowered.fetch_add(1, Ordering::Relaxed);
        let (unit, executable) = (Arc::new(unit), Arc::new(executable));
        let needs = (0..ranks).map(|rank| {
            let needed = executable.needed_bytes(rank) as u64;
            (needed, needed.saturating_add(spent_bytes(&executable, rank)))
        });
        let (needed, most) = needs.fold((0, 0), |most, one| (most.0.max(one.0), most.1.max(one.1)));
        let text = text.to_owned();
        let prepared = Arc::new(LoweredProgram { text, unit, executable, needed, most });
        self.known().insert(hash, Arc::clone(&prepared), prepared.text.len());
        Ok(prepared)
    }
}

/// Bytes of the arguments that a program spends on a rank.
fn spent_bytes(executable: &Executable, rank: usize) -> u64 {
    let bytes = |(number, (slot, _)): (usize, &(SlotId, Type))| {
        let lent = executable.lent(number).filter(|lent| lent.spent)?;
        let shape = lent.home.local_shape(rank)?;
        let elements = shape.iter().fold(1_u64, |all, size| all.saturating_mul(*size as u64));
        let dtype = executable.slots[slot.index()].dtype;
        Some(elements.saturating_mul(dtype.bytes() as u64))
    };
    let spent = executable.arguments.iter().enumerate().filter_map(bytes);
    spent.fold(0, u64::saturating_add)
}

fn made_for(unit: &CompileUnit, ranks: usize) -> Result<(), ProgramError> {
    match unit.ranks() {
        made_for if made_for == ranks => Ok(()),
        made_for => Err(ProgramError::WrongRanks { made_for, ranks }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "move f64 on 2 ranks\nfrom 8 on r=2: block(r)\nto 8 on r=2: whole\n";

    #[test]
    fn programs_are_lowered_once_and_judged_every_time() {
        let program_cache = ProgramCache::default();
        let hash = Fingerprint::of(TEXT).0;
        for _ in 0..3 {
            program_cache
                .prepare(hash, TEXT, (2, 1 << 20))
                .unwrap_or_else(|error| panic!("{error}"));
        }
        assert_eq!(program_cache.lowered(), 1);
        let refused = |hash, text: &str, limits| {
            program_cache.prepare(hash, text, limits).err().expect("it is refused")
        };
        assert_eq!(refused(hash + 1, TEXT, (2, 1 << 20)), ProgramError::WrongHash);
        let other = ProgramError::WrongRanks { made_for: 2, ranks: 3 };
        assert_eq!(refused(hash, TEXT, (3, 1 << 20)), other);
        let memory = refused(hash, TEXT, (2, 10));
        assert!(matches!(memory, ProgramError::Memory { memory: 10, .. }), "{memory}");
        let text = refused(Fingerprint::of("x").0, "x", (2, 1 << 20));
        assert!(matches!(text, ProgramError::Text(_)), "{text}");
        let long = " ".repeat(PROGRAM_MAX + 1);
        let bytes = PROGRAM_MAX + 1;
        let expected = ProgramError::TooLong { bytes, limit: PROGRAM_MAX };
        assert_eq!(refused(0, &long, (2, 1 << 20)), expected);
        let many = TEXT.replace("on 2 ranks", "on 18446744073709551615 ranks");
        let other = ProgramError::WrongRanks { made_for: usize::MAX, ranks: 2 };
        assert_eq!(refused(Fingerprint::of(&many).0, &many, (2, 1 << 20)), other);
    }

    /// Loops in each other, whose slices depend on all counters.
    fn nested(depth: usize, turns: usize) -> String {
        let mut text = "program on 2 ranks\n----\n\
            !all = !ndarray.ndarray<256xf64, #pantile.dist<\"block(r)\">>\n\
            !one = !ndarray.ndarray<1xf64>\n\
            func.func @main() -> (!all) {\n\
            %zero = arith.constant 0.0 : f64\n\
            %first = arith.constant 0 : index\n\
            %step = arith.constant 1 : index\n"
            .to_owned();
        text += &format!("%turns = arith.constant {turns} : index\n");
        text += "%a0 = ndarray.create value %zero : (f64) -> !all\n";
        for level in 1..=depth {
            let outer = level - 1;
            text += &format!(
                "%r{level} = scf.for %i{level} = %first to %turns step %step \
                 iter_args(%a{level} = %a{outer}) -> (!all) {{\n"
            );
        }
        text += &format!(
            "%part = ndarray.subview %a{depth}[%i1] [1] [1] : !all to !one\n\
             %more = ndarray.ewbin %part, %part {{op = \"add\"}} : (!one, !one) -> !one\n\
             ndarray.insert_slice %more into %a{depth}[%i{depth}] [1] [1] : !one into !all\n\
             scf.yield %a{depth} : !all\n}}\n"
        );
        for level in (1..depth).rev() {
            text += &format!("scf.yield %r{} : !all\n}}\n", level + 1);
        }
        text + "return %r1 : !all\n}\n"
    }

    #[test]
    fn loops_in_each_other_are_bounded_before_they_are_written_out() {
        let program_cache = ProgramCache::default();
        let prepare =
            |text: &str| program_cache.prepare(Fingerprint::of(text).0, text, (2, 1 << 30));
        let few = prepare(&nested(2, 5)).unwrap_or_else(|error| panic!("{error}"));
        assert!(few.executable.steps.len() > 25);
        for (depth, turns) in [(2, 200), (9, 200)] {
            let error = prepare(&nested(depth, turns)).err().expect("it is refused");
            let ProgramError::Lower(error) = error else { panic!("{error}") };
            assert!(error.to_string().contains("become more than 32768 operations"), "{error}");
        }
    }
}
