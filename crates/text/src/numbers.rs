//! Numbers as people read them.

/// `1234567` as `1,234,567`.
#[must_use]
pub fn count(number: impl Into<u128>) -> String {
    let digits = number.into().to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A size, which always fits 128 bits.
#[must_use]
pub fn size(number: usize) -> String {
    count(number as u128)
}

/// `1 message`, `2 messages`.
#[must_use]
pub fn plural(number: impl Into<u128>, noun: &str) -> String {
    let number = number.into();
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

/// Three digits that matter, at least all those before the point.
fn three_digits(value: f64) -> String {
    let digits = match value {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    let text = format!("{value:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// `1536` as `1.5 KiB`; below one KiB exactly.
#[must_use]
pub fn bytes(number: u128) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if number < 1024 {
        return format!("{number} B");
    }
    let mut value = number as f64 / 1024.0;
    let mut unit = 0;
    // 1023.6 would be rounded to 1024.
    while value >= 1023.5 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{} {}", three_digits(value), UNITS[unit])
}

/// `1.23e-5` as `12.3 us`.
#[must_use]
pub fn seconds(value: f64) -> String {
    let (scaled, unit) = match value {
        v if v <= 0.0 => return "0 s".to_owned(),
        v if v < 9.995e-7 => (v * 1e9, "ns"),
        v if v < 9.995e-4 => (v * 1e6, "us"),
        v if v < 0.9995 => (v * 1e3, "ms"),
        v => (v, "s"),
    };
    format!("{} {unit}", three_digits(scaled))
}

/// `[64, 32]` as `64x32`.
#[must_use]
pub fn shape(extents: &[usize]) -> String {
    if extents.is_empty() {
        return "scalar".to_owned();
    }
    extents.iter().map(usize::to_string).collect::<Vec<_>>().join("x")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_commas() {
        let shown = [0_u32, 999, 1000, 1_234_567].map(count);
        assert_eq!(shown, ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(plural(1_u32, "message"), "1 message");
        assert_eq!(plural(1024_u32, "message"), "1,024 messages");
    }

    #[test]
    fn bytes_have_binary_units() {
        let shown = [0, 1023, 1024, 1536, 1_048_575, 1_048_576, 123 << 30].map(bytes);
        assert_eq!(shown, ["0 B", "1023 B", "1 KiB", "1.5 KiB", "1 MiB", "1 MiB", "123 GiB"]);
        assert_eq!(bytes(u128::MAX).split(' ').next_back(), Some("EiB"));
    }

    #[test]
    fn times_have_three_digits() {
        let shown = [0.0, 5e-10, 1.234e-5, 9.999e-4, 0.0123, 1.0, 123.4].map(seconds);
        assert_eq!(shown, ["0 s", "0.5 ns", "12.3 us", "1 ms", "12.3 ms", "1 s", "123 s"]);
    }
}
