//! Refusals: counted, and reported with a rate limit.

use std::collections::VecDeque;
use std::fmt::{self, Display};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What is called for refusals, with a line each.
pub type Tell = Arc<dyn Fn(&str) + Send + Sync>;

/// Most lines in [`WHILE`] (a rate limit): a client that tries a million times fills no disk.
const LINES_MAX: usize = 10;

/// See [`LINES_MAX`].
const WHILE: Duration = Duration::from_secs(60);

/// Longest text of a reason, which may have words of strangers in it.
const REASON_MAX: usize = 300;

/// Everything that was refused.
pub(crate) struct Refusals {
    count: AtomicU64,
    limiter: Mutex<LineLimiter>,
    tell: Option<Tell>,
}

/// What was told lately.
#[derive(Default)]
struct LineLimiter {
    /// When, oldest first.
    lines: VecDeque<Instant>,
    /// How many were not told since the last line.
    suppressed: u64,
}

impl Refusals {
    pub(crate) fn new(tell: Option<Tell>) -> Arc<Self> {
        Arc::new(Self { count: AtomicU64::new(0), limiter: Mutex::default(), tell })
    }

    /// How many there were so far.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// A connection or request was refused. Reasons never have tokens in them.
    pub(crate) fn note(&self, whom: &dyn Display, reason: &dyn Display) {
        self.count.fetch_add(1, Ordering::Relaxed);
        let Some(tell) = &self.tell else { return };
        let mut limiter = self.limiter.lock().unwrap_or_else(PoisonError::into_inner);
        let suppressed = limiter.next(Instant::now());
        drop(limiter);
        if let Some(suppressed) = suppressed {
            let more = match suppressed {
                0 => String::new(),
                count => format!(" (and {count} more since the last line)"),
            };
            tell(&format!("refused {whom}: {}{more}", one_line(&reason.to_string())));
        }
    }
}

impl LineLimiter {
    /// Whether one more line is told now, and how many were not told before it.
    fn next(&mut self, now: Instant) -> Option<u64> {
        while self.lines.front().is_some_and(|line| now.saturating_duration_since(*line) >= WHILE) {
            self.lines.pop_front();
        }
        if self.lines.len() >= LINES_MAX {
            self.suppressed += 1;
            return None;
        }
        self.lines.push_back(now);
        Some(std::mem::take(&mut self.suppressed))
    }
}

/// A text without ends of lines and other signs that terminals obey, and not too long.
fn one_line(text: &str) -> String {
    let plain = |sign: char| if sign.is_control() { ' ' } else { sign };
    text.chars().take(REASON_MAX).map(plain).collect()
}

impl fmt::Debug for Refusals {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Refusals({})", self.count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_lines_a_minute_and_all_are_counted() {
        let (start, mut limiter) = (Instant::now(), LineLimiter::default());
        let at = |second: u64| start + Duration::from_secs(second);
        for second in 0..10 {
            assert_eq!(limiter.next(at(second)), Some(0));
        }
        assert_eq!([limiter.next(at(20)), limiter.next(at(59))], [None, None]);
        assert_eq!(limiter.next(at(60)), Some(2), "the first is a minute ago");
        assert_eq!(limiter.next(at(60)), None);
        assert_eq!(limiter.next(at(61)), Some(1));
        assert_eq!(limiter.next(at(200)), Some(0));
    }

    #[test]
    fn what_is_told_is_one_line() {
        let (lines, silent) = (Arc::new(Mutex::new(Vec::new())), Refusals::new(None));
        let into = Arc::clone(&lines);
        let tell: Tell = Arc::new(move |line| into.lock().unwrap().push(line.to_owned()));
        let refusals = Refusals::new(Some(tell));
        for count in 1..=12 {
            refusals.note(&"127.0.0.1:5", &format!("a\n\u{1b}[2J{}", "b".repeat(1000)));
            silent.note(&"x", &"y");
            assert_eq!((refusals.count(), silent.count()), (count, count));
        }
        let lines = lines.lock().unwrap();
        assert_eq!(lines.len(), LINES_MAX);
        assert!(lines[0].starts_with("refused 127.0.0.1:5: a  [2Jbbb"), "{}", lines[0]);
        assert!(lines.iter().all(|line| line.len() < 400 && !line.contains('\n')));
    }
}
