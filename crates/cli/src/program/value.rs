//! Single elements as text.

use pantile_lanes::{Complex, DType, Scalar, dispatch};

/// Reads an element of a type.
///
/// # Errors
/// A sentence that says what was expected.
pub(crate) fn parse(dtype: DType, text: &str) -> Result<Scalar, String> {
    let text = text.trim();
    let expected = || format!("expected {}, found `{text}`", wanted(dtype));
    let scalar = dispatch!(dtype, T {
        bool => match text {
            "true" | "True" | "1" => Some(Scalar::of(true)),
            "false" | "False" | "0" => Some(Scalar::of(false)),
            _ => None,
        },
        integers | floats => text.parse::<T>().ok().map(Scalar::of),
        complex => complex(text).map(Scalar::of::<T>),
    });
    scalar.ok_or_else(expected)
}

/// What an element of a type looks like.
fn wanted(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "true or false",
        DType::I8 => "a whole number from -128 to 127",
        DType::I16 => "a whole number from -32768 to 32767",
        DType::I32 => "a whole number of 32 bits",
        DType::I64 => "a whole number of 64 bits",
        DType::U8 => "a whole number from 0 to 255",
        DType::U16 => "a whole number from 0 to 65535",
        DType::U32 => "a whole number of 32 bits, 0 or more",
        DType::U64 => "a whole number of 64 bits, 0 or more",
        DType::F32 | DType::F64 => "a number like 3.5, 1e-3, inf or nan",
        DType::C64 | DType::C128 => "a number like 3.5, 2j or 1.5-2j",
    }
}

/// `1.5`, `2j`, `1.5-2j`, also in brackets.
fn complex<T: std::str::FromStr + Default>(text: &str) -> Option<Complex<T>> {
    let inner = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(text);
    let Some(body) = inner.strip_suffix('j') else {
        return Some(Complex { re: inner.parse().ok()?, im: T::default() });
    };
    // The sign between the parts is the last one that is neither in front nor of an exponent.
    let bytes = body.as_bytes();
    let mut signs = (1..bytes.len()).filter(|at| matches!(bytes[*at], b'+' | b'-'));
    match signs.rfind(|at| !matches!(bytes[at - 1], b'e' | b'E')) {
        Some(at) => Some(Complex { re: body[..at].parse().ok()?, im: body[at..].parse().ok()? }),
        None => Some(Complex { re: T::default(), im: body.parse().ok()? }),
    }
}

/// The element with these bytes as text: floats with the fewest digits that read back the same.
pub(crate) fn show(dtype: DType, bytes: &[u8]) -> String {
    let Some(scalar) = Scalar::from_bytes(dtype, bytes) else { return "?".to_owned() };
    let shown = dispatch!(dtype, T {
        bool | integers | floats => scalar.get::<T>().map(|value| format!("{value:?}")),
        complex => {
            scalar.get::<T>().map(|z| pair(format!("{:?}", z.re), format!("{:?}", z.im)))
        },
    });
    shown.unwrap_or_else(|| "?".to_owned())
}

fn pair(re: String, im: String) -> String {
    let sign = if im.starts_with('-') { "" } else { "+" };
    format!("({re}{sign}{im}j)")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_read_back() {
        let texts = [
            (DType::Bool, "true"),
            (DType::I8, "-128"),
            (DType::I16, "-32768"),
            (DType::I32, "-7"),
            (DType::I64, "9223372036854775807"),
            (DType::U8, "255"),
            (DType::U16, "65535"),
            (DType::U32, "4294967295"),
            (DType::U64, "18446744073709551615"),
            (DType::F32, "0.1"),
            (DType::F64, "0.1"),
            (DType::F64, "1e-7"),
            (DType::F64, "-0.0"),
            (DType::F64, "NaN"),
            (DType::F64, "-inf"),
            (DType::C64, "(0.1-2.5j)"),
            (DType::C128, "(1e-10+1e-20j)"),
        ];
        for (dtype, text) in texts {
            let scalar = parse(dtype, text).unwrap();
            assert_eq!(show(dtype, scalar.as_bytes()), text, "{dtype}");
        }
        assert_eq!(parse(DType::C128, "2j").unwrap(), Scalar::of(Complex::new(0.0, 2.0)));
        assert_eq!(parse(DType::C128, "-1e+3").unwrap(), Scalar::of(Complex::new(-1e3, 0.0)));
    }

    #[test]
    fn other_texts_are_refused() {
        for (dtype, text) in [
            (DType::Bool, "yes"),
            (DType::I8, "128"),
            (DType::U64, "-1"),
            (DType::I64, "3.5"),
            (DType::F64, "three"),
            (DType::C64, "1+j2"),
        ] {
            assert!(parse(dtype, text).unwrap_err().starts_with("expected "), "{text}");
        }
    }
}
