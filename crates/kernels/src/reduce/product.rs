//! Products of floats: a fixed tree over the positions of the factors.
//!
//! ```text
//! leaves of 256 factors, each multiplied from the first to the last
//!  l0   l1   l2   l3   l4
//!    \ /       \ /      |
//!    m0        m1       m2      pairs by position; an odd last one goes up as it is
//!       \     /         |
//!         n0            n1
//!             \       /
//!                p
//! ```

use crate::combine::{Apply, DoProd};
use crate::{Complex, Element};

/// Factors of a leaf.
pub const LEAF: usize = 256;

/// A type whose products depend on their order.
pub trait ProductFactor: Element {
    /// The product of no factors.
    const ONE: Self;

    /// The product, of complex numbers by the plain formula.
    #[must_use]
    fn times(self, other: Self) -> Self;
}

macro_rules! factors {
    ($($type:ty => $one:expr),* $(,)?) => {$(
        impl ProductFactor for $type {
            const ONE: Self = $one;

            #[inline]
            fn times(self, other: Self) -> Self {
                DoProd::apply(self, other)
            }
        }
    )*};
}

factors! {
    f32 => 1.0,
    f64 => 1.0,
    Complex<f32> => Complex { re: 1.0, im: 0.0 },
    Complex<f64> => Complex { re: 1.0, im: 0.0 },
}

/// The product of the factors of one leaf, from the first to the last; one if there are none.
pub fn product_of_leaf<T: ProductFactor>(factors: impl IntoIterator<Item = T>) -> T {
    factors.into_iter().reduce(T::times).unwrap_or(T::ONE)
}

/// The product of leaves, pairwise by position; one if there are none. The leaves are used up.
pub fn product_of_leaves<T: ProductFactor>(leaves: &mut [T]) -> T {
    let mut count = leaves.len();
    while count > 1 {
        for pair in 0..count / 2 {
            leaves[pair] = leaves[2 * pair].times(leaves[2 * pair + 1]);
        }
        if count % 2 == 1 {
            leaves[count / 2] = leaves[count - 1];
        }
        count = count.div_ceil(2);
    }
    leaves.first().copied().unwrap_or(T::ONE)
}

/// The product of factors in their global order.
///
/// ```
/// use pantile_kernels::reduce::tree_product;
///
/// assert_eq!(tree_product([2.0, 3.0, 7.0]), 42.0);
/// ```
pub fn tree_product<T: ProductFactor>(factors: impl IntoIterator<Item = T>) -> T {
    let mut factors = factors.into_iter().peekable();
    let mut leaves = Vec::new();
    while factors.peek().is_some() {
        leaves.push(product_of_leaf(factors.by_ref().take(LEAF)));
    }
    product_of_leaves(&mut leaves)
}
