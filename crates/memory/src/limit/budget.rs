//! Asking for memory before it is taken, without reading files each time.

use std::fmt;

use super::{MemoryLimit, Shares, limits, narrowest};

/// So large a part of what was left may be asked for before limits are read again.
const UNREAD: u64 = 8;

/// There is not so much memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// Bytes that are needed.
    pub needed: u64,
    /// Bytes that are left, with those that this process keeps unused.
    pub left: u64,
    /// The limit that leaves least.
    pub limit: MemoryLimit,
    /// Processes that draw from it.
    pub processes: u64,
}

impl fmt::Display for Shortage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { needed, left, limit, processes } = self;
        let each = match processes {
            1 => String::new(),
            many => format!(" for each of {many} processes here"),
        };
        write!(
            out,
            "{needed} bytes of memory are needed ({}), and {left} ({}) are left{each} of the {} of {}",
            ByteSize(*needed),
            ByteSize(*left),
            ByteSize(limit.total),
            limit.kind
        )
    }
}

/// A number of bytes in readable units.
struct ByteSize(u64);

impl fmt::Display for ByteSize {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        #[allow(clippy::cast_precision_loss, reason = "shown with one digit")]
        let mut value = self.0 as f64;
        let mut unit = "bytes";
        for next in units {
            if value < 1024.0 {
                break;
            }
            (value, unit) = (value / 1024.0, next);
        }
        match unit {
            "bytes" => write!(out, "{value} bytes"),
            unit => write!(out, "{value:.1} {unit}"),
        }
    }
}

/// What a process may take. Remembers what limits left when they were last read: as long as far less
/// was asked for since, they are not read again.
#[derive(Clone, Debug, Default)]
pub struct Budget {
    shares: Shares,
    /// What was left when limits were read.
    left: u64,
    /// What was asked for since.
    asked: u64,
}

impl Budget {
    /// From now on other processes draw from the same memory.
    pub fn share(&mut self, shares: Shares) {
        *self = Self { shares, ..Self::default() };
    }

    /// Says whether so many bytes can be taken; `spare` is what this process has and does not use.
    /// True if memory is scarce: there is enough only with that.
    ///
    /// # Errors
    /// What is needed, what is left, and the limit that leaves least.
    pub fn ask(&mut self, needed: u64, spare: impl FnOnce() -> u64) -> Result<bool, Shortage> {
        self.asked = self.asked.saturating_add(needed);
        if self.asked <= self.left / UNREAD {
            return Ok(false);
        }
        self.ask_of(limits(), needed, spare)
    }

    fn ask_of(
        &mut self,
        limits: Vec<MemoryLimit>,
        needed: u64,
        spare: impl FnOnce() -> u64,
    ) -> Result<bool, Shortage> {
        let Some(limit) = narrowest(limits, &self.shares) else { return Ok(false) };
        (self.left, self.asked) = (limit.left, needed);
        if needed <= limit.left {
            return Ok(false);
        }
        let left = limit.left.saturating_add(spare());
        if needed <= left {
            return Ok(true);
        }
        let processes = self.shares.of(limit.scope);
        Err(Shortage { needed, left, limit, processes })
    }
}

#[cfg(test)]
mod tests {
    use super::super::LimitKind;
    use super::*;

    fn machine(left: u64) -> Vec<MemoryLimit> {
        vec![MemoryLimit { kind: LimitKind::Machine, total: 3 << 30, left, scope: None }]
    }

    #[test]
    fn what_is_refused_is_refused_with_numbers() {
        let mut budget = Budget::default();
        assert_eq!(budget.ask_of(machine(100), 100, || 0), Ok(false));
        assert_eq!(budget.ask_of(machine(100), 150, || 50), Ok(true), "with what is unused");
        let shortage = budget.ask_of(machine(5 << 19), 9 << 20, || 0).unwrap_err();
        assert_eq!(
            shortage.to_string(),
            "9437184 bytes of memory are needed (9.0 MiB), and 2621440 (2.5 MiB) are left of the \
             3.0 GiB of this machine"
        );
        let shared = Shortage { processes: 3, needed: 1000, left: 17, ..shortage };
        assert_eq!(
            shared.to_string(),
            "1000 bytes of memory are needed (1000 bytes), and 17 (17 bytes) are left for each of \
             3 processes here of the 3.0 GiB of this machine"
        );
        assert_eq!(budget.ask_of(Vec::new(), u64::MAX, || 0), Ok(false), "where nothing is known");
    }

    #[test]
    fn limits_are_read_again_once_much_was_asked_for() {
        let mut budget = Budget::default();
        assert!(budget.ask(u64::MAX, || 0).is_err());
        budget.left = 800;
        budget.asked = 0;
        assert!((0..10).all(|_| budget.ask(10, || 0).is_ok()));
        assert_eq!((budget.left, budget.asked), (800, 100), "nothing was read");
        assert!(budget.ask(1, || 0).is_ok());
        assert!(budget.left > 800 && budget.asked == 1, "this machine has more");
    }
}
