//! Numbers as people write them on a command line.

pub(crate) use pantile_text::numbers::{bytes, count, plural, seconds, shape, size};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_a_range() {
        let read = up_to(64);
        assert_eq!([" 1", "64"].map(&read), [Ok(1), Ok(64)]);
        for wrong in ["0", "65", "-1", "1.5", "x", "", "99999999999"] {
            assert_eq!(read(wrong), Err("expected a whole number from 1 to 64".to_owned()));
        }
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
