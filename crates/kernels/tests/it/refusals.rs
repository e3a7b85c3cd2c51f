//! What the functions on slices refuse.

use pantile_geometry::Operator;
use pantile_kernels::{Combination, DType, Error, Layout, Nest, Scalar, pack};

fn dense(len: usize) -> Nest {
    Nest::joint(&Layout::dense(0, len), &Layout::dense(1, len)).unwrap()
}

fn check(got: Result<(), Error>, error: &Error, words: &str) {
    assert_eq!(got.as_ref(), Err(error));
    assert_eq!(error.to_string(), words);
}

#[test]
fn buffers_that_are_too_short() {
    let words = "buffer has 15 bytes, expected at least 16";
    let short = Error::Short { got: 15, expected: 16 };
    check(pack::copy_bytes(&dense(4), 4, &[0; 15], &mut [0; 20], false), &short, words);
    check(pack::copy_bytes(&dense(3), 4, &[0; 12], &mut [0; 15], true), &short, words);
    let sum = Combination::new(DType::I32, Operator::Sum).unwrap();
    check(pack::combine_bytes(&dense(4), sum, &[0; 15], &mut [0; 20]), &short, words);
    check(pack::combine_bytes(&dense(3), sum, &[0; 16], &mut [0; 15]), &short, words);
    let nests = [&dense(3), &dense(3)];
    let two = pack::combine_two_bytes(nests, sum, [&[0; 12], &[0; 12]], &mut [0; 15], false);
    check(two, &short, words);
    let value = Scalar::of(1u32);
    check(pack::fill_bytes(&Layout::dense(1, 3), &value, &mut [0; 15]), &short, words);
    let words = "buffer has 4 bytes, expected at least 8";
    let short = Error::Short { got: 4, expected: 8 };
    check(pack::fill_elements(&Layout::dense(1, 1), 1i32, &mut [0]), &short, words);
    check(pack::copy_elements(&dense(1), &[1i32], &mut [0]), &short, words);
    check(pack::combine_elements(&dense(1), sum, &[1i32], &mut [0]), &short, words);
}

#[test]
fn sizes_and_types_that_do_not_fit() {
    let got = pack::copy_bytes(&dense(1), 3, &[0; 8], &mut [0; 8], false);
    let words = "got elements of 3 bytes, expected 1, 2, 4, 8 or 16";
    check(got, &Error::ElementBytes { got: 3 }, words);
    let sum = Combination::new(DType::I32, Operator::Sum).unwrap();
    let got = pack::combine_elements(&dense(1), sum, &[1f32], &mut [0.0, 0.0]);
    let error = Error::DTypes { got: DType::F32, expected: DType::I32 };
    check(got, &error, "got a value of type f32, expected i32");
    let got = sum.apply(&Scalar::of(1i32), &Scalar::of(1i64)).map(|_| ());
    let error = Error::DTypes { got: DType::I64, expected: DType::I32 };
    check(got, &error, "got a value of type i64, expected i32");
    let got = Combination::new(DType::F64, Operator::And).map(|_| ());
    let error = Error::Unsupported { operator: Operator::And, dtype: DType::F64 };
    check(got, &error, "operator and is not defined for elements of type f64");
}

#[test]
fn bytes_that_are_no_bools() {
    let or = Combination::new(DType::Bool, Operator::Or).unwrap();
    let error = Error::Elements(pantile_lanes::Error::NotBool { got: 3, offset: 1 });
    let words = "byte 1 is 3, expected 0 or 1 as a bool";
    check(pack::combine_bytes(&dense(2), or, &[0, 3], &mut [0; 3]), &error, words);
    check(pack::combine_bytes(&dense(2), or, &[0, 1], &mut [0, 3, 0]), &error, words);
    let nests = [&dense(2), &dense(2)];
    let got = pack::combine_two_bytes(nests, or, [&[0, 0], &[0, 3]], &mut [0; 3], false);
    check(got, &error, words);
    // Bytes between the cells are not looked at.
    assert_eq!(pack::combine_bytes(&dense(1), or, &[1, 9], &mut [9, 0, 9]), Ok(()));
}

#[test]
fn bools_stay_bools() {
    let mut target = [false, true, false];
    let or = Combination::new(DType::Bool, Operator::Sum).unwrap();
    pack::combine_elements(&dense(2), or, &[true, true], &mut target).unwrap();
    assert_eq!(target, [false, true, true]);
    pack::copy_elements(&dense(2), &[false, true], &mut target).unwrap();
    assert_eq!(target, [false, false, true]);
    pack::fill_elements(&Layout::dense(0, 2), true, &mut target).unwrap();
    assert_eq!(target, [true, true, true]);
}
