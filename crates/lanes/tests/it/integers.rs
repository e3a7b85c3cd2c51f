//! Integer functions against wide arithmetic, on every pair of bytes and on random words.

use crate::common::{binary, run, unary};
use pantile_lanes::{Binary, DType, LoopBody, Unary};
use pantile_testkit::cases;

/// Python's `//` and `%`, and 0 for a divisor 0.
fn floored(x: i128, y: i128) -> (i128, i128) {
    if y == 0 {
        return (0, 0);
    }
    let below = (x - x.rem_euclid(y.abs())) / y.abs();
    let quotient = if y > 0 { below } else { -below - i128::from(x.rem_euclid(-y) != 0) };
    (quotient, x - quotient * y)
}

/// The product of y factors, modulo 2^64; for a negative y what the documentation says.
fn power(x: i128, y: i128) -> i128 {
    if y < 0 {
        return match x {
            1 => 1,
            -1 => 1 - 2 * (y & 1),
            _ => 0,
        };
    }
    (0..y).fold(1i128, |product, _| (product * x) & (u64::MAX as i128))
}

struct Bodies {
    divide: LoopBody,
    rest: LoopBody,
    power: LoopBody,
    towards: LoopBody,
}

fn bodies(dtype: DType) -> Bodies {
    Bodies {
        divide: binary(Binary::FloorDivide, dtype),
        rest: binary(Binary::Remainder, dtype),
        power: binary(Binary::Pow, dtype),
        towards: binary(Binary::Divide, dtype),
    }
}

#[test]
#[allow(clippy::cast_possible_truncation, reason = "integers wrap")]
fn every_pair_of_bytes() {
    let (signed, unsigned) = (bodies(DType::I8), bodies(DType::U8));
    for x in i8::MIN..=i8::MAX {
        for y in i8::MIN..=i8::MAX {
            let (quotient, rest) = floored(x.into(), y.into());
            assert_eq!(run::<i8, i8>(&signed.divide, &[x, y]), [quotient as i8], "{x} // {y}");
            assert_eq!(run::<i8, i8>(&signed.rest, &[x, y]), [rest as i8], "{x} % {y}");
            let expected = power(x.into(), y.into()) as i8;
            assert_eq!(run::<i8, i8>(&signed.power, &[x, y]), [expected], "{x} ** {y}");
            let towards = if y == 0 { 0 } else { (i32::from(x) / i32::from(y)) as i8 };
            assert_eq!(run::<i8, i8>(&signed.towards, &[x, y]), [towards], "{x} / {y}");
            let (x, y) = (x.cast_unsigned(), y.cast_unsigned());
            let (quotient, rest) = floored(x.into(), y.into());
            assert_eq!(run::<u8, u8>(&unsigned.divide, &[x, y]), [quotient as u8], "{x} // {y}");
            assert_eq!(run::<u8, u8>(&unsigned.rest, &[x, y]), [rest as u8], "{x} % {y}");
            let expected = power(x.into(), y.into()) as u8;
            assert_eq!(run::<u8, u8>(&unsigned.power, &[x, y]), [expected], "{x} ** {y}");
        }
    }
}

#[test]
#[allow(clippy::cast_possible_truncation, reason = "integers wrap")]
fn random_words() {
    let signed = bodies(DType::I64);
    cases("integers", 2000, |rng| {
        let x = rng.bits().cast_signed() >> rng.below(64);
        let y = rng.bits().cast_signed() >> rng.below(64);
        let (quotient, rest) = floored(x.into(), y.into());
        assert_eq!(run::<i64, i64>(&signed.divide, &[x, y]), [quotient as i64], "{x} // {y}");
        assert_eq!(run::<i64, i64>(&signed.rest, &[x, y]), [rest as i64], "{x} % {y}");
        let small = y.rem_euclid(200);
        let expected = power(x.into(), small.into()) as i64;
        assert_eq!(run::<i64, i64>(&signed.power, &[x, small]), [expected], "{x} ** {small}");
    });
}

#[test]
fn shifts_bits_and_classes() {
    let of = |function, x: i16, y: i16| run::<i16, i16>(&binary(function, DType::I16), &[x, y])[0];
    assert_eq!(
        [0, 3, 15, 16, -1].map(|n| of(Binary::BitwiseLeftShift, 1, n)),
        [1, 8, -32768, 0, 0]
    );
    assert_eq!(
        [0, 1, 15, 16, -1].map(|n| of(Binary::BitwiseRightShift, -8, n)),
        [-8, -4, -1, -1, -1]
    );
    assert_eq!(of(Binary::BitwiseAnd, 12, 10), 8);
    assert_eq!(of(Binary::BitwiseOr, 12, 10), 14);
    assert_eq!(of(Binary::BitwiseXor, 12, 10), 6);
    let one = |function, x: i16| run::<i16, i16>(&unary(function, DType::I16), &[x])[0];
    assert_eq!(
        (one(Unary::BitwiseInvert, 5), one(Unary::Negative, 5), one(Unary::Abs, -5)),
        (-6, -5, 5)
    );
    assert_eq!([-7, 0, 9].map(|x| one(Unary::Sign, x)), [-1, 0, 1]);
    assert_eq!(
        [Unary::Floor, Unary::Ceil, Unary::Trunc, Unary::Round].map(|f| one(f, -7)),
        [-7; 4]
    );
    assert_eq!((one(Unary::Imag, 7), one(Unary::Square, -7)), (0, 49));
    let truth = |function, x: i16| run::<i16, bool>(&unary(function, DType::I16), &[x])[0];
    assert!(truth(Unary::SignBit, -1) && !truth(Unary::SignBit, 1) && truth(Unary::IsFinite, 3));
    assert!(!truth(Unary::IsNan, 3) && !truth(Unary::IsInf, 3) && truth(Unary::LogicalNot, 0));
    assert_eq!(run::<u32, u32>(&unary(Unary::Sign, DType::U32), &[u32::MAX]), [1]);
    assert_eq!(run::<u32, bool>(&unary(Unary::SignBit, DType::U32), &[u32::MAX]), [false]);
    assert_eq!(run::<bool, bool>(&unary(Unary::Abs, DType::Bool), &[true]), [true]);
    assert_eq!(run::<bool, bool>(&unary(Unary::Imag, DType::Bool), &[true]), [false]);
    assert_eq!(run::<bool, bool>(&unary(Unary::BitwiseInvert, DType::Bool), &[true]), [false]);
}
