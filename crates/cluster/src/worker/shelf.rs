//! Programs that a worker has lowered, by the hash of their texts.

use std::collections::BTreeMap;
use std::sync::Arc;

use pantile_geometry::Fingerprint;
use pantile_ir::lower::{Executable, Recipe};

use crate::wire::PROGRAM_MAX;

/// Programs that are kept; then it starts afresh.
const KEPT: usize = 256;

/// Most steps that a program may become.
const STEPS_MAX: usize = 1 << 20;

/// A program, ready to run.
pub(crate) struct Prepared {
    text: String,
    pub(crate) recipe: Arc<Recipe>,
    pub(crate) executable: Arc<Executable>,
}

/// What this worker has lowered so far, whoever sent it.
#[derive(Default)]
pub(crate) struct Shelf {
    known: BTreeMap<u128, Arc<Prepared>>,
    /// How many were lowered.
    pub(crate) lowered: u64,
}

impl Shelf {
    /// The program of a text, for so many ranks with so many bytes each. It is read, verified, lowered
    /// and bounded here, whoever says what about it.
    pub(crate) fn prepare(
        &mut self,
        hash: u128,
        text: &str,
        (ranks, memory): (usize, u64),
    ) -> Result<Arc<Prepared>, String> {
        if text.len() > PROGRAM_MAX {
            return Err(format!(
                "a program of {} bytes, expected at most {PROGRAM_MAX}",
                text.len()
            ));
        }
        if Fingerprint::of(text).0 != hash {
            return Err("a program that is not the one of its hash".to_owned());
        }
        let found = self.known.get(&hash).filter(|known| known.text == text);
        let prepared = match found {
            Some(known) => Arc::clone(known),
            None => self.lower(hash, text)?,
        };
        let made_for = prepared.recipe.ranks();
        if made_for != ranks {
            return Err(format!("a program for {made_for} ranks, expected one for {ranks}"));
        }
        let needed = (0..ranks.min(4096)).map(|rank| prepared.executable.needed_bytes(rank)).max();
        match needed.map(|needed| needed as u64) {
            Some(needed) if needed > memory => Err(format!(
                "the program needs {needed} bytes of memory on a rank, but each can have {memory}"
            )),
            _ => Ok(prepared),
        }
    }

    fn lower(&mut self, hash: u128, text: &str) -> Result<Arc<Prepared>, String> {
        let recipe: Recipe = text.parse().map_err(|error| format!("{error}"))?;
        let executable = recipe.compile().map_err(|error| error.to_string())?;
        if executable.steps.len() > STEPS_MAX {
            return Err(format!("a program of more than {STEPS_MAX} steps"));
        }
        self.lowered += 1;
        if self.known.len() >= KEPT {
            self.known.clear();
        }
        let (recipe, executable) = (Arc::new(recipe), Arc::new(executable));
        let prepared = Arc::new(Prepared { text: text.to_owned(), recipe, executable });
        self.known.insert(hash, Arc::clone(&prepared));
        Ok(prepared)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "move f64 on 2 ranks\nfrom 8 on r=2: block(r)\nto 8 on r=2: whole\n";

    #[test]
    fn programs_are_lowered_once_and_judged_every_time() {
        let mut shelf = Shelf::default();
        let hash = Fingerprint::of(TEXT).0;
        for _ in 0..3 {
            shelf.prepare(hash, TEXT, (2, 1 << 20)).unwrap_or_else(|error| panic!("{error}"));
        }
        assert_eq!(shelf.lowered, 1);
        let mut refused = |hash, text: &str, limits, words: &str| {
            let error = shelf.prepare(hash, text, limits).err().unwrap_or_default();
            assert!(error.contains(words), "{error}");
        };
        refused(hash + 1, TEXT, (2, 1 << 20), "not the one of its hash");
        refused(hash, TEXT, (3, 1 << 20), "a program for 2 ranks, expected one for 3");
        refused(hash, TEXT, (2, 10), "each can have 10");
        refused(Fingerprint::of("x").0, "x", (2, 1 << 20), "expected `program on N ranks`");
        let long = " ".repeat(PROGRAM_MAX + 1);
        refused(0, &long, (2, 1 << 20), "expected at most");
    }
}
