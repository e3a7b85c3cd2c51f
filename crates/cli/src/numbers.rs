//! Numbers as people read and write them.

/// `1234567` as `1,234,567`.
pub(crate) fn count(number: impl Into<u128>) -> String {
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
pub(crate) fn size(number: usize) -> String {
    count(number as u128)
}

/// `1 message`, `2 messages`.
pub(crate) fn plural(number: impl Into<u128>, noun: &str) -> String {
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
pub(crate) fn bytes(number: u128) -> String {
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
pub(crate) fn seconds(value: f64) -> String {
    let (scaled, unit) = match value {
        v if v <= 0.0 => return "0 s".to_owned(),
        v if v < 9.995e-7 => (v * 1e9, "ns"),
        v if v < 9.995e-4 => (v * 1e6, "us"),
        v if v < 0.9995 => (v * 1e3, "ms"),
        v => (v, "s"),
    };
    format!("{} {unit}", three_digits(scaled))
}

/// Reads `4096`, `64KiB`, `1.5 GiB` or `10MB`.
///
/// # Errors
/// A sentence that says what was expected.
pub(crate) fn parse_bytes(text: &str) -> Result<usize, String> {
    const UNITS: [(&str, f64); 14] = [
        ("", 1.0),
        ("b", 1.0),
        ("kib", 1024.0),
        ("mib", 1_048_576.0),
        ("gib", 1_073_741_824.0),
        ("tib", 1_099_511_627_776.0),
        ("k", 1e3),
        ("m", 1e6),
        ("g", 1e9),
        ("t", 1e12),
        ("kb", 1e3),
        ("mb", 1e6),
        ("gb", 1e9),
        ("tb", 1e12),
    ];
    let expected = || "expected a number of bytes like 4096, 64KiB or 1.5GiB".to_owned();
    let trimmed = text.trim();
    let end = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(end);
    let unit = unit.trim().to_ascii_lowercase();
    let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(expected)?;
    if *factor == 1.0 {
        return number.parse().map_err(|_| expected());
    }
    let value = number.parse::<f64>().map_err(|_| expected())? * factor;
    if !(0.0..9e15).contains(&value) {
        return Err(expected());
    }
    #[expect(clippy::cast_possible_truncation, reason = "it is below 2^53 and not negative")]
    #[expect(clippy::cast_sign_loss, reason = "it is below 2^53 and not negative")]
    Ok(value as usize)
}

/// Reads how many of something there are: 1 to `most`.
///
/// # Errors
/// Of what it gives: a sentence that says what was expected.
pub(crate) fn up_to(most: u32) -> impl Fn(&str) -> Result<u32, String> + Clone {
    move |text| {
        let number = text.trim().parse().ok().filter(|number| (1..=most).contains(number));
        number.ok_or_else(|| format!("expected a whole number from 1 to {most}"))
    }
}

/// Reads the number of a rank.
///
/// # Errors
/// A sentence that says what was expected.
pub(crate) fn parse_rank(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "expected the number of a rank, 0 or more".to_owned())
}

/// Reads `64`, `64x32` or `64,32`: one number per axis.
///
/// # Errors
/// A sentence that says what was expected.
pub(crate) fn parse_list(text: &str) -> Result<Vec<usize>, String> {
    let entry = |part: &str| {
        part.trim().parse::<usize>().map_err(|_| {
            format!("expected whole numbers of at least 0 with `x` or `,` between, found `{part}`")
        })
    };
    text.split(['x', ',']).map(entry).collect()
}

/// `[64, 32]` as `64x32`.
pub(crate) fn shape(extents: &[usize]) -> String {
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
    fn counts_have_a_range() {
        let read = up_to(64);
        assert_eq!([" 1", "64"].map(&read), [Ok(1), Ok(64)]);
        for wrong in ["0", "65", "-1", "1.5", "x", "", "99999999999"] {
            assert_eq!(read(wrong), Err("expected a whole number from 1 to 64".to_owned()));
        }
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

    #[test]
    fn sizes_are_read() {
        assert_eq!(parse_bytes("4096"), Ok(4096));
        assert_eq!(parse_bytes("64KiB"), Ok(65536));
        assert_eq!(parse_bytes("1.5 GiB"), Ok(1_610_612_736));
        assert_eq!(parse_bytes("10 MB"), Ok(10_000_000));
        assert_eq!(parse_bytes("16G"), Ok(16_000_000_000));
        for wrong in ["", "KiB", "-1", "1.5", "4 parsecs", "1e999TiB", "99999999999TiB"] {
            assert!(parse_bytes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn lists_are_read() {
        assert_eq!(parse_list("64x32"), Ok(vec![64, 32]));
        assert_eq!(parse_list("3, 4,3"), Ok(vec![3, 4, 3]));
        for wrong in ["", "3x", "3;4", "-1", "99999999999999999999"] {
            assert!(parse_list(wrong).is_err(), "{wrong}");
        }
    }
}
