//! Array files (`.npy`), read and written by all ranks at once, each its own part.

mod error;
mod read;
mod write;

use pantile_engine::DType;
use pantile_protocol::{Dtype, DtypeKind, Endian};

pub use error::NpyError;
pub use read::{NpyFile, load};
pub use write::{create, save, write_owned};

/// The type of elements that a file has.
fn element_type(dtype: Dtype) -> Option<DType> {
    DType::ALL.into_iter().find(|one| alike(file_type(*one), dtype))
}

/// True if two types differ in the order of bytes at most.
fn alike(one: Dtype, other: Dtype) -> bool {
    (one.kind(), one.bytes()) == (other.kind(), other.bytes())
}

/// How a file names a type of elements.
fn file_type(dtype: DType) -> Dtype {
    let kind = match dtype {
        DType::Bool => DtypeKind::Bool,
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => DtypeKind::Int,
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => DtypeKind::Uint,
        DType::F32 | DType::F64 => DtypeKind::Float,
        DType::C64 | DType::C128 => DtypeKind::Complex,
    };
    let bytes = u8::try_from(dtype.bytes()).unwrap_or(u8::MAX);
    Dtype::new(kind, bytes, Endian::Little).expect("files know every element type")
}

/// Bytes that are in the other order turned around, in place: of complex numbers each part.
fn swap(dtype: DType, bytes: &mut [u8]) {
    let size = match dtype {
        DType::C64 => 4,
        DType::C128 => 8,
        other => other.bytes(),
    };
    bytes.chunks_exact_mut(size).for_each(<[u8]>::reverse);
}

/// True if this machine has the most significant byte first.
const BIG: bool = cfg!(target_endian = "big");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_has_a_name_in_files() {
        for dtype in DType::ALL {
            assert_eq!(element_type(file_type(dtype)), Some(dtype));
        }
        let names = DType::ALL.map(|dtype| file_type(dtype).to_string());
        let expected = "|b1 |i1 <i2 <i4 <i8 |u1 <u2 <u4 <u8 <f4 <f8 <c8 <c16";
        assert_eq!(names.join(" "), expected);
    }

    #[test]
    fn parts_of_complex_numbers_are_turned_alone() {
        let mut bytes = [1, 2, 3, 4, 5, 6, 7, 8];
        swap(DType::C64, &mut bytes);
        assert_eq!(bytes, [4, 3, 2, 1, 8, 7, 6, 5]);
        swap(DType::F64, &mut bytes);
        assert_eq!(bytes, [5, 6, 7, 8, 1, 2, 3, 4]);
    }
}
