//! The calls that this rank was in lately, numbered.

use pantile_comm::Call;

/// How many are remembered: more than the operations of an ordinary loop.
const REMEMBERED: usize = 16;

/// Names a call for as long as the process lives; equal numbers mean equal calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Number(u64);

/// The call that this rank is in, and those before it.
pub(crate) struct Calls {
    /// The first one stands for being in none.
    recent: Vec<(Number, Call)>,
    /// Place of the current one.
    current: usize,
    /// Place of the one to be forgotten next.
    oldest: usize,
    /// How many numbers were given away; zero is none.
    given: u64,
}

impl Calls {
    pub(crate) fn new() -> Self {
        let recent = vec![(Number(1), Call::here("no call", 0))];
        Self { recent, current: 0, oldest: 1, given: 1 }
    }

    /// The current call, and its number.
    pub(crate) fn current(&self) -> (Number, &Call) {
        let (number, call) = &self.recent[self.current];
        (*number, call)
    }

    /// From now on this rank is in `call`. Nothing is allocated for one that is remembered.
    pub(crate) fn enter(&mut self, call: &Call) {
        let found = self.recent[1..].iter().position(|(_, known)| known == call);
        self.current = found.map_or_else(|| self.remember(call), |at| at + 1);
    }

    /// From now on this rank is in no call.
    pub(crate) fn leave(&mut self) {
        self.current = 0;
    }

    fn remember(&mut self, call: &Call) -> usize {
        self.given += 1;
        let entry = (Number(self.given), call.clone());
        let at = self.oldest;
        match self.recent.get_mut(at) {
            Some(old) => *old = entry,
            None => self.recent.push(entry),
        }
        self.oldest = if at < REMEMBERED { at + 1 } else { 1 };
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_calls_have_equal_numbers_until_forgotten() {
        let mut calls = Calls::new();
        let mut number = |call: &Call| {
            calls.enter(call);
            assert_eq!(calls.current().1, call);
            calls.current().0
        };
        let first = Call::here("a", 1);
        let second = Call::here("a", 1);
        let known = number(&first);
        assert_eq!(number(&first), known);
        assert_ne!(number(&second), known, "the lines differ");
        for fingerprint in 2..=REMEMBERED as u64 {
            assert_ne!(number(&Call::here("a", fingerprint)), known);
        }
        assert_ne!(number(&first), known, "forgotten, and numbered anew");
        calls.leave();
        assert_eq!(calls.current().1.name, "no call");
    }
}
