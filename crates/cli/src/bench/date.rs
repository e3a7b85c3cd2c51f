//! The day on which figures were measured.

use std::time::{SystemTime, UNIX_EPOCH};

/// Today in UTC, as `2026-11-19`.
pub(super) fn today() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    date_of(since.as_secs() / 86_400)
}

/// The date so many days after 1 January 1970.
fn date_of(days: u64) -> String {
    let (mut year, mut rest) = (1970, days);
    while rest >= days_of(year) {
        rest -= days_of(year);
        year += 1;
    }
    let february = days_of(year) - 337;
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if rest < length {
            break;
        }
        rest -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", rest + 1)
}

/// Days of a year.
fn days_of(year: u64) -> u64 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    if leap { 366 } else { 365 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_dates() {
        let check = |days, expected: &str| assert_eq!(date_of(days), expected);
        check(0, "1970-01-01");
        check(30, "1970-01-31");
        check(31, "1970-02-01");
        check(364, "1970-12-31");
        check(365, "1971-01-01");
        // A leap year divisible by 400, one that is not divisible by 100, and 2100, which is none.
        check(11_016, "2000-02-29");
        check(11_017, "2000-03-01");
        check(19_782, "2024-02-29");
        check(20_776, "2026-11-19");
        check(47_540, "2100-02-28");
        check(47_541, "2100-03-01");
    }
}
