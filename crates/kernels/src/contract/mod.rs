//! Matrix products: per output one chain of fused multiply-adds, in an order that nothing changes.
//!
//! Element `(i, j)` of a product is made of panels of [`PANEL`] terms along the contracted axis,
//! counted from its first index. A panel is a chain that begins at zero, panels are added in order:
//!
//! ```text
//! for each panel:  s = 0;  for k in panel: s = fma(a[i, k], b[k, j], s)
//!                  c[i, j] = s for the first panel, else c[i, j] + s
//! ```
//!
//! Each output has one chain and lanes of vectors are different outputs, so blocks, vectors, threads
//! and ranks that have other outputs do not change a bit. A complex product is two chains: the real
//! part gets the terms `re re` and `-im im` for every `k`, the imaginary part `re im` and `im re`.
//! Integers wrap. A NaN becomes the positive quiet one. Of no terms the product is zero.
//!
//! ```
//! use pantile_kernels::contract::{MatrixLayout, Packed, contract};
//! use pantile_kernels::{DType, bytes_of, bytes_of_mut};
//!
//! let (a, b, mut c) = ([1.0, 2.0, 3.0, 4.0], [5.0, 6.0], [0.0; 2]);
//! // The axes of the loop: rows of the result, its columns, and what is contracted.
//! let shape = [2, 1, 2];
//! let left = MatrixLayout { offset: 0, strides: &[2, 0, 1] };
//! let right = MatrixLayout { offset: 0, strides: &[0, 1, 1] };
//! let to = MatrixLayout { offset: 0, strides: &[1, 1, 0] };
//! contract(
//!     (DType::F64, &shape),
//!     (bytes_of(&a), left),
//!     (bytes_of(&b), right),
//!     (bytes_of_mut(&mut c), to),
//!     &mut Packed::default(),
//! )?;
//! assert_eq!(c, [17.0, 39.0]);
//! # Ok::<(), pantile_kernels::Error>(())
//! ```

pub(crate) mod lane;

pub(crate) use crate::raw::contract::THRESHOLDS;
pub use crate::raw::contract::{
    MatrixLayout, PANEL, Packed, RawMatrix, contract, contract_raw, contract_with,
};
