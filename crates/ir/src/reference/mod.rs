//! The meaning of a program: a naive evaluator on whole arrays.
//!
//! It does what the text says, one element after the other: arrays are shared cells, a view is a
//! list of places in the cells of another array, an assignment writes them. It knows nothing of
//! ranks, and shares neither passes nor kernels with what makes programs fast; only functions such
//! as `exp` are those of the crate `lanes`, which are their own definition.
//!
//! ```
//! use pantile_ir::reference::{Array, run};
//! use pantile_ir::text::parse;
//! let text = "func.func @main(%a: !ndarray.ndarray<4xf64>) -> !ndarray.ndarray<f64> {
//!   %s = ndarray.reduction %a {op = \"sum\"} : !ndarray.ndarray<4xf64> -> !ndarray.ndarray<f64>
//!   return %s : !ndarray.ndarray<f64>
//! }";
//! let given = Array::of(&[4], &[1e100, 1.0, -1e100, 0.5]);
//! let results = run(&parse(text, "sum.dist").unwrap(), &[given]).unwrap();
//! assert_eq!(results, [Array::of(&[], &[1.5])]);
//! ```

mod arrays;
mod create;
mod elementwise;
mod error;
mod exact;
mod functions;
mod loops;
mod machine;
mod made;
mod matmul;
mod number;
mod reduce;
mod shapes;

use std::fmt;

use pantile_lanes::{DType, Element, Scalar};

pub use error::{EvaluationError, OperandError, SliceFault, StructureError};
pub use number::cast;

use crate::{Place, Program};

/// How many elements [`run`] computes before it gives up.
pub const STEPS: u64 = 10_000_000;

/// A whole array; a scalar or an index is one without axes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// The type of its elements.
    pub dtype: DType,
    /// The length of each axis.
    pub shape: Vec<usize>,
    /// Its elements, row-major.
    pub data: Vec<Scalar>,
}

impl Array {
    /// An array of these elements.
    #[must_use]
    pub fn of<T: Element>(shape: &[usize], data: &[T]) -> Self {
        let data = data.iter().map(|value| Scalar::of(*value)).collect();
        Self { dtype: T::DTYPE, shape: shape.to_vec(), data }
    }

    /// Its elements, if they have this type.
    #[must_use]
    pub fn to_vec<T: Element>(&self) -> Option<Vec<T>> {
        self.data.iter().map(Scalar::get).collect()
    }
}

/// Why a program has no results, and where that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub error: EvaluationError,
    /// Where.
    pub place: Place,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.error)
    }
}

impl std::error::Error for Fault {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// The results of a program's entry function.
///
/// # Errors
/// If the arguments are not those that the function takes, if an operation has no meaning for
/// what it is given, or after [`STEPS`] elements.
pub fn run(program: &Program, arguments: &[Array]) -> Result<Vec<Array>, Fault> {
    run_within(program, arguments, STEPS)
}

/// As [`run`], with another limit. Turns of loops and operations count as an element each.
///
/// # Errors
/// As [`run`].
pub fn run_within(program: &Program, arguments: &[Array], steps: u64) -> Result<Vec<Array>, Fault> {
    let mut machine = machine::Machine::new(program, steps);
    machine.entry(arguments).map_err(|error| Fault { error, place: machine.place().clone() })
}
