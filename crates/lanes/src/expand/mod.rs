//! Elementwise functions as rewrites into primitive operations.
//!
//! [`unary`] and [`binary`] take lanes in the type that the function computes in (see
//! [`Unary::types`] and [`Binary::types`]; [`cast`] brings them there) and add nodes without
//! branches, so that every lane costs the same and gives the same bits wherever it is computed.
//!
//! Functions such as `exp` are one node, [`LaneOp::Call`]; what it means is its [`expansion`].
//! Their formulas are written once, for two readers: [`expansion`] writes them out as nodes, and
//! [`plain`] computes them at once, for crates that compile them into loops.
//!
//! ```
//! use pantile_lanes::expand::{self, ElementLanes};
//! use pantile_lanes::{LoopBody, DType, Scalar, Unary, evaluate};
//! let mut body = LoopBody::new();
//! let x = ElementLanes::Real(body.input(DType::F64)?);
//! let ElementLanes::Real(y) = expand::unary(&mut body, Unary::Log10, x)? else { unreachable!() };
//! body.output(y);
//! assert_eq!(evaluate(&body, &[Scalar::of(1000.0)])?, [Scalar::of(3.0)]);
//! # Ok::<(), pantile_lanes::Error>(())
//! ```
//!
//! # Errors of the approximations
//!
//! In units of the last place of the exact result, the largest of at least 80 000 points for each
//! function, over its whole range (tiny and huge numbers, thresholds, neighbourhoods of zeros and
//! poles); half a unit is the best there is. Nodes are those that compute: no constants, inputs or
//! reinterpreted bits.
//!
//! | `F64`       | error | nodes | | `F64`     | error | nodes | | `F64`       | error | nodes |
//! |-------------|-------|-------|-|-----------|-------|-------|-|-------------|-------|-------|
//! | `exp`       | 0.94  |    26 | | `sin`     | 0.71  |   124 | | `sinh`      | 0.75  |    64 |
//! | `expm1`     | 0.93  |    82 | | `cos`     | 0.74  |   124 | | `cosh`      | 0.89  |    53 |
//! | `log`       | 0.51  |    36 | | `tan`     | 0.77  |   138 | | `tanh`      | 0.66  |    70 |
//! | `log1p`     | 0.50  |    71 | | `asin`    | 0.58  |    44 | | `asinh`     | 0.50  |   134 |
//! | `log2`      | 0.50  |    55 | | `acos`    | 0.58  |    70 | | `acosh`     | 0.50  |   128 |
//! | `log10`     | 0.50  |    55 | | `atan`    | 0.51  |    72 | | `atanh`     | 0.50  |    90 |
//! | `pow`       | 0.70  |   135 | | `atan2`   | 0.51  |   110 | | `erf`       | 0.51  |    44 |
//! | `logaddexp` | 0.89  |   129 | | `hypot`   | 0.74  |    45 | | `sqrt`      | 0.50  |     1 |
//!
//! Subnormal results are included. `log2` of whole powers of 2 and `log10` of whole powers of 10
//! are exact, and so is `pow` wherever the power is a float. `logaddexp` may lose relative accuracy
//! where its terms cancel, next to a result of 0.
//!
//! `F32` functions are computed in `F64` and rounded: with the errors above they miss the nearest
//! float for a few arguments in 10^9, those nearly halfway between two.
//!
//! Complex functions have errors up to about 4 units in each part (1 for `sqrt` and the logarithms,
//! 2 for `log1p`), measured at 20 000 points each. The real part of `expm1` and the parts of
//! products and of `pow` may cancel: there it is 4 units of the larger part; so it is for quotients
//! with parts more than 2^500 apart. `C64` is computed in `F64` and rounded, but for sums,
//! differences and products.
//!
//! # What is left open elsewhere
//!
//! - The bits of a NaN that a function gives are open; `signbit` and `copysign` read the sign of
//!   whatever they get.
//! - Integers: `floor_divide` and `remainder` by 0 give 0; `pow` wraps, and a negative exponent
//!   gives 0 unless the base is 1 or -1 (0 to a negative power is 0 too); `divide` of lanes that
//!   stay integers goes towards zero.
//! - `sign` of a zero is +0. A complex number with one infinite part has the sign of that part.
//! - Complex `pow` multiplies for whole real exponents below 128 in magnitude.
//! - `floor_divide` and `remainder` of floats are Python's.

mod arc;
mod build;
mod complex;
mod constants;
mod exponential;
mod logarithm;
pub mod plain;
mod power;
mod random;
mod real;
mod simple;
mod trigonometry;
mod whole;

use crate::{Binary, DType, Error, LaneNode, LaneOp, LoopBody, Unary};
use build::{FormulaBuilder, NodeWriter};
pub use random::{normal, uniform, words};
pub use whole::expansion;

/// An element inside a body: one lane, or the two parts of a complex number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementLanes {
    /// A real number, an integer or a bool.
    Real(LaneNode),
    /// The real and the imaginary part, of the same float type.
    Complex(LaneNode, LaneNode),
}

impl ElementLanes {
    /// The type of the element.
    ///
    /// # Errors
    /// If the parts of a complex number are not two floats of the same type.
    pub fn dtype(self, body: &LoopBody) -> Result<DType, Error> {
        match self {
            Self::Real(x) => Ok(body.dtype(x)),
            Self::Complex(re, im) => match (body.dtype(re), body.dtype(im)) {
                (DType::F32, DType::F32) => Ok(DType::C64),
                (DType::F64, DType::F64) => Ok(DType::C128),
                (_, dtype) => Err(Error::WrongLane { op: format!("{self:?}"), dtype }),
            },
        }
    }
}

/// Adds a function of one element, which must be in the type that the function computes in.
///
/// # Errors
/// If the function has no meaning for the type, or computes in another.
pub fn unary(body: &mut LoopBody, function: Unary, x: ElementLanes) -> Result<ElementLanes, Error> {
    let dtype = x.dtype(body)?;
    let (compute, _) = function.types(dtype)?;
    if compute != dtype {
        return Err(Error::WrongTypes { function: function.name(), dtypes: vec![dtype] });
    }
    let mut build = NodeWriter::new(body);
    match x {
        ElementLanes::Real(x) => Ok(ElementLanes::Real(real::unary(&mut build, function, x))),
        ElementLanes::Complex(re, im) => Ok(complex::unary(&mut build, function, (re, im))),
    }
}

/// Adds a function of two elements, both in the type that the function computes in. Integers may
/// also be divided as they are: towards zero.
///
/// # Errors
/// If the function has no meaning for the types, or computes in another.
pub fn binary(
    body: &mut LoopBody,
    function: Binary,
    x: ElementLanes,
    y: ElementLanes,
) -> Result<ElementLanes, Error> {
    let dtypes = [x.dtype(body)?, y.dtype(body)?];
    let (compute, _) = function.types(dtypes[0], dtypes[1])?;
    let whole = function == Binary::Divide && dtypes[0] != DType::Bool;
    if dtypes[0] != dtypes[1] || (compute != dtypes[0] && !whole) {
        return Err(Error::WrongTypes { function: function.name(), dtypes: dtypes.to_vec() });
    }
    let mut build = NodeWriter::new(body);
    match (x, y) {
        (ElementLanes::Real(x), ElementLanes::Real(y)) => {
            Ok(ElementLanes::Real(real::binary(&mut build, function, x, y)))
        }
        (ElementLanes::Complex(re, im), ElementLanes::Complex(other_re, other_im)) => {
            Ok(complex::binary(&mut build, function, (re, im), (other_re, other_im)))
        }
        _ => Err(Error::WrongTypes { function: function.name(), dtypes: dtypes.to_vec() }),
    }
}

/// Adds a cast. From real to complex the imaginary part is +0; from complex to real it is
/// dropped, but a complex number is true if either part is not zero.
///
/// # Errors
/// If the lane is not an element.
pub fn cast(body: &mut LoopBody, x: ElementLanes, to: DType) -> Result<ElementLanes, Error> {
    if x.dtype(body)? == to {
        return Ok(x);
    }
    let part = match to {
        DType::C64 => DType::F32,
        DType::C128 => DType::F64,
        other => other,
    };
    let mut b = NodeWriter::new(body);
    Ok(match x {
        ElementLanes::Real(x) if part == to => ElementLanes::Real(b.cast(x, to)),
        ElementLanes::Real(x) => ElementLanes::Complex(b.cast(x, part), b.small(0, part)),
        ElementLanes::Complex(re, im) if part != to => {
            ElementLanes::Complex(b.cast(re, part), b.cast(im, part))
        }
        ElementLanes::Complex(re, im) if to == DType::Bool => {
            let (re, im) = (b.cast(re, to), b.cast(im, to));
            ElementLanes::Real(b.or(re, im))
        }
        ElementLanes::Complex(re, _) => ElementLanes::Real(b.cast(re, to)),
    })
}

/// Adds a choice between two elements of the same type.
///
/// # Errors
/// If the first is no bool or the others differ in type.
pub fn select(
    body: &mut LoopBody,
    which: LaneNode,
    yes: ElementLanes,
    no: ElementLanes,
) -> Result<ElementLanes, Error> {
    let dtype = no.dtype(body)?;
    match (yes, no) {
        (ElementLanes::Real(yes), ElementLanes::Real(no)) => {
            Ok(ElementLanes::Real(body.push(LaneOp::Select(which, yes, no))?))
        }
        (ElementLanes::Complex(yes_re, yes_im), ElementLanes::Complex(no_re, no_im)) => {
            Ok(ElementLanes::Complex(
                body.push(LaneOp::Select(which, yes_re, no_re))?,
                body.push(LaneOp::Select(which, yes_im, no_im))?,
            ))
        }
        _ => Err(Error::WrongLane { op: "select".to_owned(), dtype }),
    }
}
