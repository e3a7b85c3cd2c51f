//! The element types, and slices of elements as bytes.

use std::fmt::{self, Debug};
use std::str::FromStr;

use bytemuck::{AnyBitPattern, CheckedBitPattern, NoUninit, checked::CheckedCastError};
use num_complex::Complex;

use crate::Error;

/// The type of an array's elements, as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DType {
    /// A bool: one byte, 0 or 1.
    Bool,
    /// Signed, 8 bits.
    I8,
    /// Signed, 16 bits.
    I16,
    /// Signed, 32 bits.
    I32,
    /// Signed, 64 bits.
    I64,
    /// Unsigned, 8 bits.
    U8,
    /// Unsigned, 16 bits.
    U16,
    /// Unsigned, 32 bits.
    U32,
    /// Unsigned, 64 bits.
    U64,
    /// Binary floating point, 32 bits.
    F32,
    /// Binary floating point, 64 bits.
    F64,
    /// Complex of two `f32`: 8 bytes.
    C64,
    /// Complex of two `f64`: 16 bytes.
    C128,
}

impl DType {
    /// All types, in the order of their codes.
    pub const ALL: [Self; 13] = [
        Self::Bool,
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::U8,
        Self::U16,
        Self::U32,
        Self::U64,
        Self::F32,
        Self::F64,
        Self::C64,
        Self::C128,
    ];

    /// Size of an element in bytes: 1, 2, 4, 8 or 16.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 | Self::C64 => 8,
            Self::C128 => 16,
        }
    }

    /// Alignment of an element in bytes; that of a complex number is its parts'.
    #[must_use]
    pub fn align(self) -> usize {
        match self {
            Self::C64 => 4,
            Self::C128 => 8,
            other => other.bytes(),
        }
    }

    /// Its name in texts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::C64 => "c64",
            Self::C128 => "c128",
        }
    }

    /// A number that stands for the type in messages; it never changes.
    #[must_use]
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The type with this code.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }
}

impl FromStr for DType {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|dtype| dtype.name() == name);
        found.ok_or_else(|| Error::UnknownDType { name: name.to_owned() })
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

mod sealed {
    pub trait Sealed {}
}

/// A type that elements of arrays can have; only those named by [`DType`].
///
/// An element has no padding, so it may be looked at as bytes; whether bytes are an element is
/// checked (only `bool` refuses some).
pub trait Element:
    sealed::Sealed + NoUninit + CheckedBitPattern + Send + Sync + PartialEq + Debug + Default + 'static
{
    /// The type as a value.
    const DTYPE: DType;
}

macro_rules! elements {
    ($($type:ty => $dtype:ident),* $(,)?) => {$(
        impl sealed::Sealed for $type {}
        impl Element for $type {
            const DTYPE: DType = DType::$dtype;
        }
    )*};
}

elements! {
    bool => Bool, i8 => I8, i16 => I16, i32 => I32, i64 => I64, u8 => U8, u16 => U16, u32 => U32,
    u64 => U64, f32 => F32, f64 => F64, Complex<f32> => C64, Complex<f64> => C128,
}

/// Elements as bytes, in the machine's order.
#[must_use]
pub fn bytes_of<T: Element>(elements: &[T]) -> &[u8] {
    bytemuck::cast_slice(elements)
}

/// Elements as bytes that may be overwritten: every type but `bool`, for which not every byte is
/// a value (see [`bools_of_mut`]).
///
/// ```compile_fail
/// pantile_lanes::bytes_of_mut(&mut [true]);
/// ```
#[must_use]
pub fn bytes_of_mut<T: Element + AnyBitPattern>(elements: &mut [T]) -> &mut [u8] {
    bytemuck::cast_slice_mut(elements)
}

/// Bytes as elements.
///
/// # Errors
/// If the bytes are not aligned or not a whole number of elements, or, for `bool`, if one of them
/// is neither 0 nor 1.
pub fn elements_of<T: Element>(bytes: &[u8]) -> Result<&[T], Error> {
    bytemuck::checked::try_cast_slice(bytes).map_err(|error| match error {
        CheckedCastError::InvalidBitPattern => first_wrong_bool(bytes),
        CheckedCastError::PodCastError(_) => Error::Misfit { dtype: T::DTYPE, bytes: bytes.len() },
    })
}

/// Bytes as bools, everything but 0 being true: rewrites them to 0 and 1.
pub fn bools_of_mut(bytes: &mut [u8]) -> &mut [bool] {
    bytes.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
    bytemuck::checked::cast_slice_mut(bytes)
}

/// The first byte that is neither 0 nor 1.
fn first_wrong_bool(bytes: &[u8]) -> Error {
    let wrong = bytes.iter().enumerate().find(|(_, byte)| **byte > 1);
    let (offset, got) = wrong.map_or((0, 0), |(offset, byte)| (offset, *byte));
    Error::NotBool { got, offset }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Element>(name: &str, bytes: usize) {
        assert_eq!(T::DTYPE.name(), name);
        assert_eq!(name.parse(), Ok(T::DTYPE));
        assert_eq!(T::DTYPE.to_string(), name);
        assert_eq!(T::DTYPE.bytes(), bytes);
        assert_eq!((size_of::<T>(), align_of::<T>()), (bytes, T::DTYPE.align()));
        assert_eq!(DType::from_code(T::DTYPE.code()), Some(T::DTYPE));
        let elements = [T::default(); 3];
        assert_eq!(elements_of::<T>(bytes_of(&elements)), Ok(&elements[..]));
    }

    #[test]
    fn every_type_has_its_size_name_and_code() {
        check::<bool>("bool", 1);
        check::<i8>("i8", 1);
        check::<i16>("i16", 2);
        check::<i32>("i32", 4);
        check::<i64>("i64", 8);
        check::<u8>("u8", 1);
        check::<u16>("u16", 2);
        check::<u32>("u32", 4);
        check::<u64>("u64", 8);
        check::<f32>("f32", 4);
        check::<f64>("f64", 8);
        check::<Complex<f32>>("c64", 8);
        check::<Complex<f64>>("c128", 16);
        let codes: Vec<u8> = DType::ALL.iter().map(|dtype| dtype.code()).collect();
        assert_eq!(codes, (0..13).collect::<Vec<u8>>());
        assert_eq!(DType::from_code(13), None);
        let wrong = "f16".parse::<DType>().unwrap_err();
        assert_eq!(wrong, Error::UnknownDType { name: "f16".to_owned() });
    }

    #[test]
    fn bytes_become_bools_only_if_they_are() {
        assert_eq!(elements_of::<bool>(&[0, 1, 1]), Ok(&[false, true, true][..]));
        assert_eq!(elements_of::<bool>(&[1, 2]), Err(Error::NotBool { got: 2, offset: 1 }));
        assert_eq!(bools_of_mut(&mut [0, 7, 1]), [false, true, true]);
    }

    #[test]
    fn misfitting_bytes_are_refused() {
        let bytes = bytes_of(&[1u64, 2]);
        assert_eq!(
            elements_of::<u32>(&bytes[..7]),
            Err(Error::Misfit { dtype: DType::U32, bytes: 7 })
        );
        assert!(elements_of::<u32>(&bytes[1..9]).is_err());
    }

    #[test]
    fn bytes_of_numbers_may_be_written() {
        let mut numbers = [0u16; 2];
        bytes_of_mut(&mut numbers).fill(1);
        assert_eq!(numbers, [257, 257]);
    }
}
