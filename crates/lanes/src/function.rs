//! The elementwise functions by name and by the numbers that the dialect gives them.

use crate::DType;

/// Declares an enum of functions with their names and, where the dialect has one, their number.
macro_rules! functions {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal $(, $id:literal)?;)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$doc])* $variant,)*
        }

        impl $name {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Its name in texts.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }

            /// Its number in the dialect, if that knows it.
            #[must_use]
            pub fn id(self) -> Option<i64> {
                let id: &[i64] = match self {
                    $(Self::$variant => &[$($id)?],)*
                };
                id.first().copied()
            }

            /// The one with this name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|function| function.name() == name)
            }

            /// The one with this number.
            #[must_use]
            pub fn from_id(id: i64) -> Option<Self> {
                Self::ALL.iter().copied().find(|function| function.id() == Some(id))
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

functions! {
    /// A function of one element.
    Unary {
        /// The magnitude; of a complex number a real one.
        Abs = "abs", 0;
        /// Inverse cosine.
        Acos = "acos", 1;
        /// Inverse hyperbolic cosine.
        Acosh = "acosh", 2;
        /// Inverse sine.
        Asin = "asin", 3;
        /// Inverse hyperbolic sine.
        Asinh = "asinh", 4;
        /// Inverse tangent.
        Atan = "atan", 5;
        /// Inverse hyperbolic tangent.
        Atanh = "atanh", 6;
        /// The next whole number above.
        Ceil = "ceil", 7;
        /// Cosine.
        Cos = "cos", 8;
        /// Hyperbolic cosine.
        Cosh = "cosh", 9;
        /// The error function.
        Erf = "erf", 10;
        /// e to the power.
        Exp = "exp", 11;
        /// e to the power, less one.
        Expm1 = "expm1", 12;
        /// The next whole number below.
        Floor = "floor", 13;
        /// Neither infinite nor NaN.
        IsFinite = "isfinite", 14;
        /// Infinite.
        IsInf = "isinf", 15;
        /// Not a number.
        IsNan = "isnan", 16;
        /// The natural logarithm.
        Log = "log", 17;
        /// The natural logarithm of one more.
        Log1p = "log1p", 18;
        /// The logarithm to base 2.
        Log2 = "log2", 19;
        /// The logarithm to base 10.
        Log10 = "log10", 20;
        /// The nearest whole number, halves to even.
        Round = "round", 21;
        /// -1, 0 or 1; of a complex number the one of magnitude 1 in its direction.
        Sign = "sign", 22;
        /// Sine.
        Sin = "sin", 23;
        /// Hyperbolic sine.
        Sinh = "sinh", 24;
        /// Times itself.
        Square = "square", 25;
        /// The square root.
        Sqrt = "sqrt", 26;
        /// Tangent.
        Tan = "tan", 27;
        /// Hyperbolic tangent.
        Tanh = "tanh", 28;
        /// The whole number towards zero.
        Trunc = "trunc", 29;
        /// With the other sign.
        Negative = "negative", 30;
        /// Itself.
        Positive = "positive", 31;
        /// True where zero.
        LogicalNot = "logical_not", 32;
        /// Every bit flipped.
        BitwiseInvert = "bitwise_invert";
        /// The conjugate.
        Conj = "conj";
        /// The real part.
        Real = "real";
        /// The imaginary part.
        Imag = "imag";
        /// One over it.
        Reciprocal = "reciprocal";
        /// True where the sign bit is set.
        SignBit = "signbit";
    }
}

functions! {
    /// A function of two elements.
    Binary {
        /// Sum.
        Add = "add", 0;
        /// The angle of the point (second, first).
        Atan2 = "atan2", 1;
        /// Bits of both.
        BitwiseAnd = "bitwise_and", 2;
        /// Bits moved up.
        BitwiseLeftShift = "bitwise_left_shift", 3;
        /// Bits of either.
        BitwiseOr = "bitwise_or", 4;
        /// Bits moved down, the sign kept.
        BitwiseRightShift = "bitwise_right_shift", 5;
        /// Bits of one of them.
        BitwiseXor = "bitwise_xor", 6;
        /// Equal.
        Equal = "equal", 7;
        /// The whole number below the quotient.
        FloorDivide = "floor_divide", 8;
        /// First above second.
        Greater = "greater", 9;
        /// First not below second.
        GreaterEqual = "greater_equal", 10;
        /// First below second.
        Less = "less", 11;
        /// First not above second.
        LessEqual = "less_equal", 12;
        /// log(exp(first) + exp(second)).
        LogAddExp = "logaddexp", 13;
        /// Both are not zero.
        LogicalAnd = "logical_and", 14;
        /// One is not zero.
        LogicalOr = "logical_or", 15;
        /// Exactly one is not zero.
        LogicalXor = "logical_xor", 16;
        /// The greater one.
        Maximum = "maximum", 18;
        /// The smaller one.
        Minimum = "minimum", 19;
        /// What floor_divide leaves; has the sign of the second.
        Remainder = "remainder", 20;
        /// Product.
        Multiply = "multiply", 21;
        /// Not equal.
        NotEqual = "not_equal", 22;
        /// First to the power of second.
        Pow = "pow", 23;
        /// Difference.
        Subtract = "subtract", 24;
        /// Quotient.
        Divide = "divide", 25;
        /// The magnitude of the first with the sign of the second.
        CopySign = "copysign";
        /// The length of the vector of both.
        Hypot = "hypot";
        /// The next number from the first towards the second.
        NextAfter = "nextafter";
    }
}

/// A function of lanes that a body has as one operation. Its meaning is its expansion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LaneFunction {
    /// Inverse cosine.
    Acos,
    /// Inverse hyperbolic cosine.
    Acosh,
    /// Inverse sine.
    Asin,
    /// Inverse hyperbolic sine.
    Asinh,
    /// Inverse tangent.
    Atan,
    /// The angle of the point (second, first).
    Atan2,
    /// Inverse hyperbolic tangent.
    Atanh,
    /// Cosine.
    Cos,
    /// Hyperbolic cosine.
    Cosh,
    /// The error function.
    Erf,
    /// e to the power.
    Exp,
    /// e to the power, less one.
    Expm1,
    /// The length of the vector of both.
    Hypot,
    /// The natural logarithm.
    Log,
    /// The natural logarithm of one more.
    Log1p,
    /// The logarithm to base 2.
    Log2,
    /// The logarithm to base 10.
    Log10,
    /// log(exp(first) + exp(second)).
    LogAddExp,
    /// A random number of the normal distribution, at an index, of a seed and a stream.
    Normal,
    /// First to the power of second.
    Pow,
    /// Sine.
    Sin,
    /// Hyperbolic sine.
    Sinh,
    /// Tangent.
    Tan,
    /// Hyperbolic tangent.
    Tanh,
    /// A random number in [0, 1), at an index, of a seed and a stream.
    Uniform,
}

impl LaneFunction {
    /// All of them, in their order.
    pub const ALL: &'static [Self] = &[
        Self::Acos,
        Self::Acosh,
        Self::Asin,
        Self::Asinh,
        Self::Atan,
        Self::Atan2,
        Self::Atanh,
        Self::Cos,
        Self::Cosh,
        Self::Erf,
        Self::Exp,
        Self::Expm1,
        Self::Hypot,
        Self::Log,
        Self::Log1p,
        Self::Log2,
        Self::Log10,
        Self::LogAddExp,
        Self::Normal,
        Self::Pow,
        Self::Sin,
        Self::Sinh,
        Self::Tan,
        Self::Tanh,
        Self::Uniform,
    ];

    /// The type of the lanes that it takes. It gives `F64`.
    #[must_use]
    pub fn takes(self) -> DType {
        if matches!(self, Self::Normal | Self::Uniform) { DType::U64 } else { DType::F64 }
    }

    /// How many lanes it takes.
    #[must_use]
    pub fn arity(self) -> usize {
        match self {
            Self::Normal | Self::Uniform => 3,
            Self::Atan2 | Self::Hypot | Self::LogAddExp | Self::Pow => 2,
            _ => 1,
        }
    }
}

impl Unary {
    /// The operation on `F64` lanes that it is, if it is one.
    #[must_use]
    pub fn function(self) -> Option<LaneFunction> {
        Some(match self {
            Self::Acos => LaneFunction::Acos,
            Self::Acosh => LaneFunction::Acosh,
            Self::Asin => LaneFunction::Asin,
            Self::Asinh => LaneFunction::Asinh,
            Self::Atan => LaneFunction::Atan,
            Self::Atanh => LaneFunction::Atanh,
            Self::Cos => LaneFunction::Cos,
            Self::Cosh => LaneFunction::Cosh,
            Self::Erf => LaneFunction::Erf,
            Self::Exp => LaneFunction::Exp,
            Self::Expm1 => LaneFunction::Expm1,
            Self::Log => LaneFunction::Log,
            Self::Log1p => LaneFunction::Log1p,
            Self::Log2 => LaneFunction::Log2,
            Self::Log10 => LaneFunction::Log10,
            Self::Sin => LaneFunction::Sin,
            Self::Sinh => LaneFunction::Sinh,
            Self::Tan => LaneFunction::Tan,
            Self::Tanh => LaneFunction::Tanh,
            _ => return None,
        })
    }
}

impl Binary {
    /// The operation on `F64` lanes that it is, if it is one.
    #[must_use]
    pub fn function(self) -> Option<LaneFunction> {
        Some(match self {
            Self::Atan2 => LaneFunction::Atan2,
            Self::Hypot => LaneFunction::Hypot,
            Self::LogAddExp => LaneFunction::LogAddExp,
            Self::Pow => LaneFunction::Pow,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_find_their_function() {
        for function in Unary::ALL {
            assert_eq!(Unary::from_name(function.name()), Some(*function));
            assert!(function.id().is_none_or(|id| Unary::from_id(id) == Some(*function)));
        }
        for function in Binary::ALL {
            assert_eq!(Binary::from_name(function.name()), Some(*function));
            assert!(function.id().is_none_or(|id| Binary::from_id(id) == Some(*function)));
        }
        assert_eq!(Unary::from_id(32), Some(Unary::LogicalNot));
        assert_eq!(Binary::from_id(17), None, "matmul is no elementwise function");
        assert_eq!(Binary::from_id(25), Some(Binary::Divide));
        assert_eq!(Unary::from_name("sinus"), None);
    }
}
