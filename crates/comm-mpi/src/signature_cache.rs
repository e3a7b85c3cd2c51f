//! The signatures of the calls that this rank was in lately, numbered.

use pantile_comm::CollectiveSignature;

/// How many are remembered: more than the operations of an ordinary loop.
const CAPACITY: usize = 16;

/// Names a call for as long as the process lives; equal numbers mean equal calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct SignatureId(u64);

/// The call that this rank is in, and those before it.
pub(crate) struct SignatureCache {
    /// The first one stands for being in none.
    entries: Vec<(SignatureId, CollectiveSignature)>,
    /// Place of the current one.
    current: usize,
    /// Place of the one to be forgotten next.
    oldest: usize,
    /// How many ids were given away; zero is none.
    ids: u64,
}

impl SignatureCache {
    pub(crate) fn new() -> Self {
        let entries = vec![(SignatureId(1), CollectiveSignature::here("no call", 0))];
        Self { entries, current: 0, oldest: 1, ids: 1 }
    }

    /// The current call, and its id.
    pub(crate) fn current(&self) -> (SignatureId, &CollectiveSignature) {
        let (id, call) = &self.entries[self.current];
        (*id, call)
    }

    /// From now on this rank is in `call`. Nothing is allocated for one that is remembered.
    pub(crate) fn enter(&mut self, call: &CollectiveSignature) {
        let found = self.entries[1..].iter().position(|(_, known)| known == call);
        self.current = found.map_or_else(|| self.insert(call), |at| at + 1);
    }

    /// From now on this rank is in no call.
    pub(crate) fn leave(&mut self) {
        self.current = 0;
    }

    fn insert(&mut self, call: &CollectiveSignature) -> usize {
        self.ids += 1;
        let entry = (SignatureId(self.ids), call.clone());
        let at = self.oldest;
        match self.entries.get_mut(at) {
            Some(old) => *old = entry,
            None => self.entries.push(entry),
        }
        self.oldest = if at < CAPACITY { at + 1 } else { 1 };
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_calls_have_equal_ids_until_forgotten() {
        let mut calls = SignatureCache::new();
        let mut id = |call: &CollectiveSignature| {
            calls.enter(call);
            assert_eq!(calls.current().1, call);
            calls.current().0
        };
        let first = CollectiveSignature::here("a", 1);
        let second = CollectiveSignature::here("a", 1);
        let known = id(&first);
        assert_eq!(id(&first), known);
        assert_ne!(id(&second), known, "the lines differ");
        for fingerprint in 2..=CAPACITY as u64 {
            assert_ne!(id(&CollectiveSignature::here("a", fingerprint)), known);
        }
        assert_ne!(id(&first), known, "forgotten, with a new id");
        calls.leave();
        assert_eq!(calls.current().1.name, "no call");
    }
}
