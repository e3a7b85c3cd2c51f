//! One element whose type is known at run time.

use crate::{DType, Element, bytes_of, elements_of};

/// One element of any type.
///
/// Invariants:
/// 1. The first `dtype.bytes()` bytes are an element of type `dtype`; the others are 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scalar {
    dtype: DType,
    bytes: AlignedBytes,
}

/// Sixteen bytes that are aligned for every element type.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(align(16))]
struct AlignedBytes([u8; 16]);

impl Scalar {
    /// The scalar of a value.
    #[must_use]
    pub fn of<T: Element>(value: T) -> Self {
        let mut bytes = AlignedBytes([0; 16]);
        bytes.0[..size_of::<T>()].copy_from_slice(bytes_of(&[value]));
        Self { dtype: T::DTYPE, bytes }
    }

    /// The scalar of these bytes in the machine's order, if they are an element of that type.
    #[must_use]
    pub fn from_bytes(dtype: DType, bytes: &[u8]) -> Option<Self> {
        if bytes.len() != dtype.bytes() || (dtype == DType::Bool && bytes[0] > 1) {
            return None;
        }
        let mut aligned = AlignedBytes([0; 16]);
        aligned.0[..bytes.len()].copy_from_slice(bytes);
        Some(Self { dtype, bytes: aligned })
    }

    /// Its type.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Its bytes, in the machine's order.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes.0[..self.dtype.bytes()]
    }

    /// Its value, if it has this type.
    #[must_use]
    pub fn get<T: Element>(&self) -> Option<T> {
        let same = T::DTYPE == self.dtype;
        same.then(|| elements_of(self.as_bytes()).ok()?.first().copied()).flatten()
    }
}

impl std::fmt::Debug for Scalar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{:?}", self.dtype, self.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_with_their_type_only() {
        let scalar = Scalar::of(-2.5f64);
        assert_eq!(scalar.get::<f64>(), Some(-2.5));
        assert_eq!(scalar.get::<u64>(), None);
        assert_eq!(Scalar::from_bytes(DType::F64, scalar.as_bytes()), Some(scalar));
        assert_eq!(Scalar::from_bytes(DType::F32, scalar.as_bytes()), None);
        assert_eq!(Scalar::from_bytes(DType::Bool, &[2]), None);
        assert_eq!(Scalar::of(true).get::<bool>(), Some(true));
    }
}
