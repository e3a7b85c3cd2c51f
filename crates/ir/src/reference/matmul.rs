//! Products of matrices, one element after the other.

use pantile_lanes::{Binary, DType, Scalar};

use super::arrays::{indices, number, size, spread};
use super::machine::Machine;
use super::number::{Number, read, write};
use super::reduce::Request;
use super::{Array, EvaluationError};
use crate::{Dim, Reduction, infer};

/// Terms that are added one after the other before panels are.
const PANEL: usize = 256;

impl Machine<'_> {
    pub(super) fn matmul(&mut self, left: &Array, right: &Array) -> Result<Array, EvaluationError> {
        let dtype = infer::matmul_dtype(left.dtype, right.dtype)?;
        let known = |array: &Array| array.shape.iter().copied().map(Some).collect::<Vec<Dim>>();
        let shape = infer::matmul_shape(&known(left), &known(right))?;
        let shape: Vec<usize> = shape.into_iter().flatten().collect();
        let (left, right) = (self.cast(left, dtype)?, self.cast(right, dtype)?);
        if left.shape.len() == 1 && right.shape.len() == 1 {
            return self.of_vectors(&left, &right);
        }
        // A vector is a matrix of one row on the left, of one column on the right.
        let mut full = shape.clone();
        let (mut one, mut other) = (left.shape.clone(), right.shape.clone());
        if one.len() == 1 {
            one.insert(0, 1);
            full.insert(full.len() - 1, 1);
        }
        if other.len() == 1 {
            other.push(1);
            full.push(1);
        }
        let (outer, inner) = full.split_at(full.len() - 2);
        let terms = one[one.len() - 1];
        let lengths = |last: [usize; 2]| outer.iter().copied().chain(last).collect::<Vec<_>>();
        let (rows, columns) = (lengths([inner[0], terms]), lengths([terms, inner[1]]));
        self.spend(size(&full)?.saturating_mul(terms.max(1)))?;
        let left = spread(&Array { shape: one, ..left }, &rows)?;
        let right = spread(&Array { shape: other, ..right }, &columns)?;
        let at = |index: &Vec<usize>| {
            let (outer, place) = index.split_at(index.len() - 2);
            let pair = |term: usize| {
                let index =
                    |last: [usize; 2]| outer.iter().copied().chain(last).collect::<Vec<_>>();
                let row = left[number(&rows, &index([place[0], term]))];
                (row, right[number(&columns, &index([term, place[1]]))])
            };
            chain(&(0..terms).map(pair).collect::<Vec<_>>(), dtype)
        };
        Ok(Array { dtype, shape, data: indices(&full).iter().map(at).collect() })
    }

    /// The exact sum of the products of elements, each rounded once.
    fn of_vectors(&mut self, left: &Array, right: &Array) -> Result<Array, EvaluationError> {
        let products = self.binary(Binary::Multiply, left, right, None)?;
        let request = Request {
            reduction: Reduction::Sum,
            axes: None,
            keepdims: false,
            correction: 0.0,
            wanted: Some(products.dtype),
        };
        self.reduce(&products, &request)
    }
}

/// The terms of an element: chains of panels, added in order.
fn chain(pairs: &[(Scalar, Scalar)], dtype: DType) -> Scalar {
    let narrow = matches!(dtype, DType::F32 | DType::C64);
    let mut sums: Option<(i128, f64, f64)> = None;
    for panel in pairs.chunks(PANEL) {
        let (mut whole, mut re, mut im) = (0i128, 0.0, 0.0);
        for (one, other) in panel {
            match (read(*one), read(*other)) {
                (Number::Whole(a), Number::Whole(b)) => {
                    whole = whole.wrapping_add(a.wrapping_mul(b));
                }
                (Number::Real(a), Number::Real(b)) => re = fused(a, b, re, narrow),
                (Number::Complex(a, b), Number::Complex(c, d)) => {
                    re = fused(-b, d, fused(a, c, re, narrow), narrow);
                    im = fused(b, c, fused(a, d, im, narrow), narrow);
                }
                _ => {}
            }
        }
        sums = Some(sums.map_or((whole, re, im), |(all, real, imaginary)| {
            (all.wrapping_add(whole), plus(real, re, narrow), plus(imaginary, im, narrow))
        }));
    }
    let (whole, re, im) = sums.unwrap_or_default();
    match dtype {
        DType::F32 | DType::F64 => write(Number::Real(re), dtype),
        DType::C64 | DType::C128 => write(Number::Complex(re, im), dtype),
        _ => write(Number::Whole(whole), dtype),
    }
}

/// `a * b + c`, rounded once.
#[allow(clippy::cast_possible_truncation, reason = "they are numbers of the narrow type")]
fn fused(a: f64, b: f64, c: f64, narrow: bool) -> f64 {
    match narrow {
        true => f64::from((a as f32).mul_add(b as f32, c as f32)),
        false => a.mul_add(b, c),
    }
}

/// The sum, rounded once.
#[allow(clippy::cast_possible_truncation, reason = "they are numbers of the narrow type")]
fn plus(a: f64, b: f64, narrow: bool) -> f64 {
    if narrow { f64::from(a as f32 + b as f32) } else { a + b }
}
