//! How a large loop is cut for the threads of a rank: the names and the formulas of the schedulers of
//! loops.
//!
//! Pure: lengths in, lengths out. Which elements are computed together never changes a result.

use std::fmt;
use std::str::FromStr;

/// How the units of a loop become pieces, which threads take one after the other.
///
/// With `N` units in all, `P` threads, `r` units left and `s` pieces made before, a piece has so many
/// units, at least the grain and at most `r`:
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scheme {
    /// As many equal pieces for every thread, up to four of each if they are large; threads keep to
    /// their own as long as they have some. This is the default.
    #[default]
    Even,
    /// `N div P`.
    Static,
    /// One.
    SelfScheduling,
    /// Guided: `ceil(r / P)`.
    Guided,
    /// Trapezoid: `f - s * d` with `f = ceil(N / 2P)`, `n = ceil(2N / (f + 1))` and
    /// `d = floor((f - 1) / (n - 1))`.
    Trapezoid,
    /// Factoring: `ceil((N div P) / 2^(s div P + 1))`.
    Factoring,
    /// Trapezoid factoring: `ceil(r / 2P)`.
    TrapezoidFactoring,
    /// Fixed increase: `c + s * b` with `c = ceil(N / ((2 + g) P))` and
    /// `b = ceil(2N / (P g (g - 1)))`, where `g` is the number of rounds of factoring.
    FixedIncrease,
    /// Variable increase: `c * ceil(2 (1 - 1 / 2^(s div P)))`, with the `c` of fixed increase.
    VariableIncrease,
    /// Performance loop: `ceil(N / 2P)` as long as half of the units are left, then `ceil(r / P)`.
    PerformanceLoop,
    /// Probabilistic: `ceil(r / 1.5P)`.
    Probabilistic,
    /// Modified static: `ceil((N div P) / 4)`.
    ModifiedStatic,
    /// Modified fixed size: `ceil(t ln 2 / ln t)` with `t = (N + P - 1) div P`.
    ModifiedFixedSize,
    /// As modified static, with the grain `N div (2^(1 + floor(0.618 log2(N div P))) P)`.
    Automatic,
}

impl Scheme {
    /// All of them, with the names by which they are asked for.
    pub const ALL: [(&'static str, Self); 14] = [
        ("EVEN", Self::Even),
        ("STATIC", Self::Static),
        ("SS", Self::SelfScheduling),
        ("GSS", Self::Guided),
        ("TSS", Self::Trapezoid),
        ("FAC2", Self::Factoring),
        ("TFSS", Self::TrapezoidFactoring),
        ("FISS", Self::FixedIncrease),
        ("VISS", Self::VariableIncrease),
        ("PLS", Self::PerformanceLoop),
        ("PSS", Self::Probabilistic),
        ("MSTATIC", Self::ModifiedStatic),
        ("MFSC", Self::ModifiedFixedSize),
        ("AUTO", Self::Automatic),
    ];

    /// What the variable `PANTILE_SCHEME` says; the default if there is none.
    ///
    /// # Errors
    /// If it names none.
    pub fn from_variable(text: Option<&str>) -> Result<Self, SchemeError> {
        let Some(text) = text else { return Ok(Self::default()) };
        text.parse().map_err(|error| SchemeError { variable: true, ..error })
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, scheme)| *scheme == self).map_or("", |(name, _)| name)
    }

    /// The units of each piece of so many units, for so many threads: none is empty, and together
    /// they are all. No piece but the last has fewer than `grain`. No threads are one, and so is no
    /// grain.
    #[must_use]
    pub fn pieces(self, units: usize, threads: usize, grain: usize) -> Vec<usize> {
        let all = Loop::new(units, threads.max(1));
        let grain = match self {
            Self::Automatic => all.automatic_grain(),
            _ => grain,
        };
        let (mut pieces, mut left) = (Vec::new(), units);
        while left > 0 {
            let own = all.piece(self, left, pieces.len()).max(grain).clamp(1, left);
            pieces.push(own);
            left -= own;
        }
        pieces
    }
}

/// What the formulas are made of.
struct Loop {
    units: usize,
    threads: usize,
    /// Units of each thread, rounded down.
    share: usize,
}

impl Loop {
    fn new(units: usize, threads: usize) -> Self {
        Self { units, threads, share: units / threads }
    }

    /// Units of a piece, with so many left and so many pieces before; out of bounds, perhaps.
    fn piece(&self, scheme: Scheme, left: usize, before: usize) -> usize {
        let (units, threads) = (self.units, self.threads);
        match scheme {
            Scheme::Even => units.div_ceil(threads),
            Scheme::Static => self.share,
            Scheme::SelfScheduling => 1,
            Scheme::Guided => left.div_ceil(threads),
            Scheme::Trapezoid => self.trapezoid(before).unwrap_or(left),
            Scheme::Factoring => self.factored(before),
            Scheme::TrapezoidFactoring => left.div_ceil(2 * threads),
            Scheme::FixedIncrease => {
                let rounds = self.rounds();
                let steps = threads * rounds * rounds.saturating_sub(1);
                // Without a second round there is nothing to increase by: the rest is one piece.
                let more = if steps == 0 { left } else { (2 * units).div_ceil(steps) };
                self.first().saturating_add(before.saturating_mul(more))
            }
            // The factor is 0 in the first round, 1 in the second, and 2 from then on.
            Scheme::VariableIncrease => self.first() * (before / threads).min(2),
            Scheme::PerformanceLoop if 2 * left >= units => units.div_ceil(2 * threads),
            Scheme::PerformanceLoop => left.div_ceil(threads),
            Scheme::Probabilistic => (2 * left).div_ceil(3 * threads),
            Scheme::ModifiedStatic | Scheme::Automatic => self.share.div_ceil(4),
            Scheme::ModifiedFixedSize => self.fixed_size(),
        }
    }

    /// Pieces become smaller by the same number each; nothing once they would be below 0.
    fn trapezoid(&self, before: usize) -> Option<usize> {
        let first = self.units.div_ceil(2 * self.threads);
        let count = (2 * self.units).div_ceil(first + 1);
        let less = (first - 1).checked_div(count - 1).unwrap_or(0);
        first.checked_sub(before.saturating_mul(less))
    }

    /// Half of the rest of each thread, round by round.
    fn factored(&self, before: usize) -> usize {
        let round = u32::try_from(before / self.threads + 1).unwrap_or(u32::MAX);
        1usize.checked_shl(round).map_or(1, |parts| self.share.div_ceil(parts)).max(1)
    }

    /// Full rounds of factoring.
    fn rounds(&self) -> usize {
        let (mut done, mut pieces) = (0, 0);
        while done < self.units {
            done += self.factored(pieces);
            pieces += 1;
        }
        pieces / self.threads
    }

    /// The first piece of those that increase.
    fn first(&self) -> usize {
        self.units.div_ceil((2 + self.rounds()) * self.threads)
    }

    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a few units more or less change no result"
    )]
    fn fixed_size(&self) -> usize {
        let share = self.units.div_ceil(self.threads);
        if share < 2 {
            return 1;
        }
        let share = share as f64;
        (share * std::f64::consts::LN_2 / share.ln()).ceil() as usize
    }

    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a few units more or less change no result"
    )]
    fn automatic_grain(&self) -> usize {
        let halvings = (0.618 * (self.share.max(1) as f64).log2()).floor() as u32;
        self.units / ((2usize << halvings) * self.threads)
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl FromStr for Scheme {
    type Err = SchemeError;

    /// The scheme of this name, in letters of any size.
    fn from_str(text: &str) -> Result<Self, SchemeError> {
        let wanted = text.trim();
        let found = Self::ALL.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
        let unknown = || SchemeError { text: text.to_owned(), variable: false };
        found.map(|(_, scheme)| *scheme).ok_or_else(unknown)
    }
}

/// A name that is none of a scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemeError {
    text: String,
    variable: bool,
}

impl fmt::Display for SchemeError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Scheme::ALL.map(|(name, _)| name).join(", ");
        match self.variable {
            true => write!(out, "PANTILE_SCHEME is `{}`, expected one of {names}", self.text),
            false => write!(out, "got scheme `{}`, expected one of {names}", self.text),
        }
    }
}

impl std::error::Error for SchemeError {}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pieces of a text: `63*15 55` are fifteen of 63 and one of 55.
    fn listed(text: &str) -> Vec<usize> {
        let number = |text: &str| text.parse::<usize>().expect("a number");
        let run = |word: &str| match word.split_once('*') {
            Some((one, count)) => vec![number(one); number(count)],
            None => vec![number(word)],
        };
        text.split_whitespace().flat_map(run).collect()
    }

    fn check(name: &str, units: usize, expected: &str) {
        let scheme: Scheme = name.parse().expect(name);
        assert_eq!(scheme.pieces(units, 4, 1), listed(expected), "{name} of {units}");
    }

    #[test]
    fn pieces_of_a_thousand_for_four_threads() {
        check("STATIC", 1000, "250*4");
        check("SS", 1000, "1*1000");
        check("GSS", 1000, "250 188 141 106 79 59 45 33 25 19 14 11 8 6 4 3 3 2 1 1 1 1");
        check("TSS", 1000, "125 117 109 101 93 85 77 69 61 53 45 37 28");
        check("FAC2", 1000, "125*4 63*4 32*4 16*4 8*4 4*4 2*4");
        check(
            "TFSS",
            1000,
            "125 110 96 84 74 64 56 49 43 38 33 29 25 22 19 17 15 13 11 10 9 8 7 6 5 4 4 3 3 3 2*4 1*7",
        );
        check("FISS", 1000, "28 40 52 64 76 88 100 112 124 136 148 32");
        check("VISS", 1000, "1*4 28*4 56*15 44");
        check("PLS", 1000, "125*5 94 71 53 40 30 22 17 12 9 7 5 4 3 2 2 1*4");
        check(
            "PSS",
            1000,
            "167 139 116 97 81 67 56 47 39 32 27 22 19 16 13 11 9 7 6 5 4 4 3 3 2 2 1*6",
        );
        check("MSTATIC", 1000, "63*15 55");
        check("AUTO", 1000, "63*15 55");
        check("MFSC", 1000, "32*31 8");
        check("EVEN", 1000, "250*4");
    }

    #[test]
    fn pieces_of_few_and_of_a_rest() {
        check("STATIC", 10, "2*5");
        check("GSS", 10, "3 2 2 1 1 1");
        check("TSS", 10, "2*5");
        check("FAC2", 10, "1*10");
        check("FISS", 10, "1 4 5");
        check("MFSC", 10, "2*5");
        check("STATIC", 1003, "250*4 3");
    }

    #[test]
    fn every_scheme_covers_every_loop() {
        let lengths = (0..40).chain([63, 64, 65, 1000, 4095, 4096]);
        for units in lengths {
            for threads in [0, 1, 2, 3, 4, 7, 64, 256] {
                for (name, scheme) in Scheme::ALL {
                    for grain in [0, 1, 5, usize::MAX] {
                        let pieces = scheme.pieces(units, threads, grain);
                        let what = format!("{name}: {units} for {threads} with grain {grain}");
                        assert_eq!(pieces.iter().sum::<usize>(), units, "{what}");
                        assert!(!pieces.contains(&0), "{what}");
                        let full = &pieces[..pieces.len().saturating_sub(1)];
                        let own = scheme == Scheme::Automatic;
                        assert!(own || full.iter().all(|piece| *piece >= grain), "{what}");
                    }
                }
            }
        }
    }

    #[test]
    fn names_are_read_and_unknown_ones_told_with_all_others() {
        for (name, scheme) in Scheme::ALL {
            assert_eq!((name.parse(), scheme.to_string().as_str()), (Ok(scheme), name));
            assert_eq!(format!(" {} ", name.to_lowercase()).parse(), Ok(scheme));
        }
        assert_eq!(Scheme::from_variable(None), Ok(Scheme::Even));
        assert_eq!(Scheme::from_variable(Some("gss")), Ok(Scheme::Guided));
        let names =
            "EVEN, STATIC, SS, GSS, TSS, FAC2, TFSS, FISS, VISS, PLS, PSS, MSTATIC, MFSC, AUTO";
        let error = Scheme::from_variable(Some("fast")).expect_err("unknown").to_string();
        assert_eq!(error, format!("PANTILE_SCHEME is `fast`, expected one of {names}"));
        let error = "".parse::<Scheme>().expect_err("none").to_string();
        assert_eq!(error, format!("got scheme ``, expected one of {names}"));
    }
}
