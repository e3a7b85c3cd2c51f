//! Golden values of every primitive operation.

use super::*;

/// The value of one operation on the inputs.
fn run(inputs: &[Scalar], op: impl Fn(&[crate::LaneNode]) -> LaneOp) -> Scalar {
    let mut body = LoopBody::new();
    let nodes: Vec<_> = inputs.iter().map(|x| body.input(x.dtype()).unwrap()).collect();
    let node = body.push(op(&nodes)).unwrap();
    body.output(node);
    evaluate(&body, inputs).unwrap()[0]
}

fn one<T: Element>(op: UnaryOp, x: T) -> T {
    run(&[Scalar::of(x)], |n| LaneOp::Unary(op, n[0])).get().unwrap()
}

fn two<T: Element>(op: BinaryOp, x: T, y: T) -> T {
    run(&[Scalar::of(x), Scalar::of(y)], |n| LaneOp::Binary(op, n[0], n[1])).get().unwrap()
}

fn boolean<T: Element>(op: BinaryOp, x: T, y: T) -> bool {
    run(&[Scalar::of(x), Scalar::of(y)], |n| LaneOp::Binary(op, n[0], n[1])).get().unwrap()
}

fn cast<T: Element, U: Element>(x: T) -> U {
    run(&[Scalar::of(x)], |n| LaneOp::Cast(n[0], U::DTYPE)).get().unwrap()
}

#[test]
fn integers_wrap_and_divide_towards_zero() {
    assert_eq!(two(BinaryOp::Add, i8::MAX, 1), i8::MIN);
    assert_eq!(two(BinaryOp::Sub, 0u16, 1), u16::MAX);
    assert_eq!(two(BinaryOp::Mul, 1u32 << 31, 2), 0);
    assert_eq!((two(BinaryOp::Div, -7i32, 2), two(BinaryOp::Rem, -7i32, 2)), (-3, -1));
    assert_eq!((two(BinaryOp::Div, 7i64, 0), two(BinaryOp::Rem, 7i64, 0)), (0, 0));
    assert_eq!((two(BinaryOp::Div, i64::MIN, -1), two(BinaryOp::Rem, i64::MIN, -1)), (i64::MIN, 0));
    assert_eq!((two(BinaryOp::Min, -1i8, 1), two(BinaryOp::Max, 255u8, 1)), (-1, 255));
    assert_eq!(two(BinaryOp::And, 12u8, 10), 8);
    assert_eq!(two(BinaryOp::Or, 12u8, 10), 14);
    assert_eq!(two(BinaryOp::Xor, 12u8, 10), 6);
    assert_eq!(two(BinaryOp::MulHigh, u64::MAX, u64::MAX), u64::MAX - 1);
    assert_eq!((one(UnaryOp::Neg, i8::MIN), one(UnaryOp::Abs, i8::MIN)), (i8::MIN, i8::MIN));
    assert_eq!(
        (one(UnaryOp::Abs, -5i32), one(UnaryOp::Abs, 250u8), one(UnaryOp::Not, 5u8)),
        (5, 250, 250)
    );
}

#[test]
fn amounts_of_shifts_are_unsigned_and_end_at_the_width() {
    assert_eq!([0i8, 7, 8, -1].map(|n| two(BinaryOp::Shl, 1i8, n)), [1, -128, 0, 0]);
    assert_eq!([0i8, 1, 7, 8, -1].map(|n| two(BinaryOp::Shr, -128i8, n)), [-128, -64, -1, -1, -1]);
    assert_eq!([0u8, 1, 7, 8, 255].map(|n| two(BinaryOp::Shr, 128u8, n)), [128, 64, 1, 0, 0]);
    assert_eq!([63u64, 64, 1 << 40].map(|n| two(BinaryOp::Shr, u64::MAX, n)), [1, 0, 0]);
    assert_eq!([63i64, 64, i64::MIN].map(|n| two(BinaryOp::Shr, 5i64, n)), [0, 0, 0]);
}

#[test]
fn bools_add_as_or_and_multiply_as_and() {
    for (x, y) in [(false, false), (false, true), (true, false), (true, true)] {
        assert_eq!(two(BinaryOp::Add, x, y), x || y);
        assert_eq!(two(BinaryOp::Max, x, y), x || y);
        assert_eq!(two(BinaryOp::Mul, x, y), x && y);
        assert_eq!(two(BinaryOp::Min, x, y), x && y);
        assert_eq!(two(BinaryOp::Xor, x, y), x != y);
        assert_eq!(boolean(BinaryOp::Lt, x, y), !x && y);
        assert_eq!(boolean(BinaryOp::Le, x, y), !x || y);
    }
    assert!(!one(UnaryOp::Not, true));
}

#[test]
fn floats_follow_the_standard() {
    let bits = |x: f64| x.to_bits();
    assert_eq!(bits(two(BinaryOp::Min, 0.0, -0.0)), bits(-0.0));
    assert_eq!(bits(two(BinaryOp::Max, -0.0, 0.0)), bits(0.0));
    assert!(
        two(BinaryOp::Min, f64::NAN, 1.0).is_nan() && two(BinaryOp::Max, 1.0, f64::NAN).is_nan()
    );
    assert_eq!(two(BinaryOp::Rem, -5.5f64, 2.0), -1.5);
    assert_eq!(two(BinaryOp::Div, 1.0f32, 0.0), f32::INFINITY);
    assert_eq!(bits(one(UnaryOp::Neg, 0.0)), bits(-0.0));
    assert_eq!(one(UnaryOp::RoundEven, 2.5f64), 2.0);
    assert_eq!((one(UnaryOp::Floor, -0.5f32), one(UnaryOp::Ceil, 0.5f32)), (-1.0, 1.0));
    assert_eq!((one(UnaryOp::Trunc, -1.5f32), one(UnaryOp::Sqrt, 9.0f32)), (-1.0, 3.0));
    assert_eq!(bits(one(UnaryOp::Canonical, -f64::NAN)), 0x7ff8 << 48);
    assert_eq!(one(UnaryOp::Canonical, f32::from_bits(0xffc0_1234)).to_bits(), 0x7fc0_0000);
    assert_eq!(one(UnaryOp::Canonical, -1.0), -1.0);
    assert!(
        boolean(BinaryOp::Ne, f64::NAN, f64::NAN) && !boolean(BinaryOp::Eq, f64::NAN, f64::NAN)
    );
    assert!(!boolean(BinaryOp::Lt, f64::NAN, 1.0) && !boolean(BinaryOp::Le, 1.0, f64::NAN));
    assert!(boolean(BinaryOp::Eq, 0.0, -0.0) && boolean(BinaryOp::Le, -1.0f32, -1.0));
    let once = [Scalar::of(1.0 + f64::EPSILON), Scalar::of(1.0 - f64::EPSILON), Scalar::of(-1.0)];
    let got = run(&once, |n| LaneOp::MulAdd(n[0], n[1], n[2]));
    assert_eq!(got.get::<f64>(), Some(-f64::EPSILON * f64::EPSILON));
}

#[test]
fn casts_wrap_saturate_and_round() {
    assert_eq!(cast::<_, i8>(300i32), 44);
    assert_eq!(cast::<_, u64>(-1i8), u64::MAX);
    assert_eq!([-1.5, 300.0, f64::NAN, 2.9].map(cast::<_, u8>), [0, 255, 0, 2]);
    assert_eq!(cast::<_, i64>(-1e30f32), i64::MIN);
    assert_eq!([0.0, -0.0, f64::NAN, 0.1].map(cast::<_, bool>), [false, false, true, true]);
    assert_eq!(
        (cast::<_, f32>(true), cast::<_, bool>(2u8), cast::<_, bool>(true)),
        (1.0, true, true)
    );
    assert_eq!(cast::<_, f32>(16_777_217.0f64), 16_777_216.0);
    assert_eq!(cast::<_, f64>(u64::MAX), 18_446_744_073_709_551_616.0);
}

#[test]
fn selects_bits_and_tables() {
    let values = [Scalar::of(true), Scalar::of(1u8), Scalar::of(2u8)];
    assert_eq!(run(&values, |n| LaneOp::Select(n[0], n[1], n[2])), Scalar::of(1u8));
    let bits = run(&[Scalar::of(1.0f64)], |n| LaneOp::Bits(n[0], DType::U64));
    assert_eq!(bits, Scalar::of(1.0f64.to_bits()));
    let table = LookupTable { name: "squares", entries: &[0, 1, 4] };
    for (place, word) in [(1u64, 1u64), (2, 4), (3, 4), (u64::MAX, 4)] {
        let got = run(&[Scalar::of(place)], |n| LaneOp::Table(table, n[0]));
        assert_eq!(got, Scalar::of(word));
    }
}

#[test]
fn inputs_must_fit_the_body() {
    let mut body = LoopBody::new();
    let x = body.input(DType::F64).unwrap();
    body.output(x);
    let wrong = Error::WrongInputs { got: vec![DType::F32], expected: vec![DType::F64] };
    assert_eq!(wrong.to_string(), "got inputs (f32), expected (f64)");
    assert_eq!(evaluate(&body, &[Scalar::of(1.0f32)]), Err(wrong));
    assert!(evaluate(&body, &[]).is_err());
}
