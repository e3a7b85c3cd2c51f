//! What elements and operators mean, written down once more and as plainly as possible.

use num_complex::Complex;
use pantile_engine::Element;
use pantile_testkit::model::Operator;

/// An element type with the meaning of its operators.
pub trait Reference: Element {
    /// An element made from a number; different numbers need not give different elements.
    fn from_number(number: i64) -> Self;
    /// Two terms combined; `None` if the type does not have the operator.
    fn combine(operator: Operator, one: Self, other: Self) -> Option<Self>;
    /// The value of a cell that gets nothing; `None` if the type does not have the operator.
    fn identity(operator: Operator) -> Option<Self>;
    /// The bits, so that zeros with a sign and results that are no numbers compare too.
    fn bits(self) -> u128;
    /// The product of two elements, for inner products.
    fn times(self, other: Self) -> Self;
    /// Numbers without fractions: sums are exact, whatever their order.
    const EXACT: bool;
}

macro_rules! integers {
    ($($type:ty),*) => {$(
        impl Reference for $type {
            const EXACT: bool = true;

            #[allow(clippy::cast_possible_truncation, reason = "any bits do")]
            fn from_number(number: i64) -> Self {
                number as $type
            }

            fn combine(operator: Operator, one: Self, other: Self) -> Option<Self> {
                Some(match operator {
                    Operator::Sum => one.wrapping_add(other),
                    Operator::Prod => one.wrapping_mul(other),
                    Operator::Min => one.min(other),
                    Operator::Max => one.max(other),
                    Operator::And => one & other,
                    Operator::Or => one | other,
                })
            }

            fn identity(operator: Operator) -> Option<Self> {
                Some(match operator {
                    Operator::Sum | Operator::Or => 0,
                    Operator::Prod => 1,
                    Operator::Min => <$type>::MAX,
                    Operator::Max => <$type>::MIN,
                    Operator::And => !0,
                })
            }

            fn bits(self) -> u128 {
                self as u128
            }

            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
        }
    )*};
}

integers!(i8, i16, i32, i64, u8, u16, u32, u64);

impl Reference for bool {
    const EXACT: bool = true;

    fn from_number(number: i64) -> Self {
        number % 2 != 0
    }

    fn combine(operator: Operator, one: Self, other: Self) -> Option<Self> {
        Some(match operator {
            Operator::Sum | Operator::Max | Operator::Or => one || other,
            Operator::Prod | Operator::Min | Operator::And => one && other,
        })
    }

    fn identity(operator: Operator) -> Option<Self> {
        Some(matches!(operator, Operator::Prod | Operator::Min | Operator::And))
    }

    fn bits(self) -> u128 {
        u128::from(self)
    }

    fn times(self, other: Self) -> Self {
        self && other
    }
}

macro_rules! floats {
    ($($type:ty),*) => {$(
        impl Reference for $type {
            const EXACT: bool = false;

            #[allow(clippy::cast_possible_truncation, reason = "any number does")]
            fn from_number(number: i64) -> Self {
                // Tenths are rounded, so sums show the order in which they were made; now and
                // then a zero with a sign.
                if number % 11 == 0 { -0.0 } else { number as $type / 10.0 }
            }

            fn combine(operator: Operator, one: Self, other: Self) -> Option<Self> {
                Some(match operator {
                    Operator::Sum => one + other,
                    Operator::Prod => one * other,
                    Operator::Min if one == other && one.is_sign_negative() => one,
                    Operator::Min if one < other => one,
                    Operator::Min => other,
                    Operator::Max if one == other && other.is_sign_negative() => one,
                    Operator::Max if one > other => one,
                    Operator::Max => other,
                    Operator::And | Operator::Or => return None,
                })
            }

            fn identity(operator: Operator) -> Option<Self> {
                Some(match operator {
                    Operator::Sum => 0.0,
                    Operator::Prod => 1.0,
                    Operator::Min => <$type>::INFINITY,
                    Operator::Max => <$type>::NEG_INFINITY,
                    Operator::And | Operator::Or => return None,
                })
            }

            fn bits(self) -> u128 {
                u128::from(self.to_bits())
            }

            fn times(self, other: Self) -> Self {
                self * other
            }
        }

        impl Reference for Complex<$type> {
            const EXACT: bool = false;

            fn from_number(number: i64) -> Self {
                Complex::new(<$type>::from_number(number), <$type>::from_number(number / 3 - 5))
            }

            fn combine(operator: Operator, one: Self, other: Self) -> Option<Self> {
                match operator {
                    Operator::Sum => Some(Complex::new(one.re + other.re, one.im + other.im)),
                    Operator::Prod => Some(Complex::new(
                        one.re * other.re - one.im * other.im,
                        one.re * other.im + one.im * other.re,
                    )),
                    _ => None,
                }
            }

            fn identity(operator: Operator) -> Option<Self> {
                match operator {
                    Operator::Sum => Some(Complex::new(0.0, 0.0)),
                    Operator::Prod => Some(Complex::new(1.0, 0.0)),
                    _ => None,
                }
            }

            fn bits(self) -> u128 {
                (u128::from(self.re.to_bits()) << 64) | u128::from(self.im.to_bits())
            }

            fn times(self, other: Self) -> Self {
                self * other
            }
        }
    )*};
}

floats!(f32, f64);

/// Calls a generic function with each element type in turn: names and results, each computed when
/// it is asked for. A rank that stops at a fault must not go on with what the others are not at.
#[macro_export]
macro_rules! every_type {
    ($function:ident($($argument:expr),*)) => {
        pantile_lanes::DType::ALL.into_iter().map(|dtype| {
            let result = pantile_lanes::dispatch!(dtype, T => $function::<T>($($argument),*));
            (dtype.name(), result)
        })
    };
}
