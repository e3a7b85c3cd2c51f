//! The header of `.dnpy` files: one rank's section, then a complete `.npy` stream.
//!
//! Layout: six bytes of magic, version 1.0, two bytes of length, a Python dict literal with
//! `__version__` and `dim_data`, padded with at least one space and a line break to a multiple of
//! 16 bytes. Labels of unstructured dimensions have no literal, so such sections are refused.

use crate::npy::{self, Header};
use crate::{Buffer, Code, Error, Finding, Kind, Object, Section, literal, validate};

const MAGIC: &[u8] = b"\x93DARRY";
const ALIGN: usize = 16;

/// What a `.dnpy` file says before its data.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Preamble {
    /// The section; its buffer has the shape and type of the `.npy` header.
    pub section: Section,
    /// The header of the embedded `.npy` stream.
    pub header: Header,
    /// Where the data begin.
    pub data: usize,
}

/// The bytes before the data: the header of the section, then the `.npy` header.
///
/// Keys of the dictionaries keep their order.
///
/// # Errors
/// The section breaks rules, has an unstructured dimension, does not fit the shape of `header`, or
/// is too long for the format.
pub fn write(section: &Section, header: &Header) -> Result<Vec<u8>, Error> {
    let mut findings = validate(section);
    findings.extend(misfit(section, header));
    if !findings.is_empty() {
        return Err(Error::Invalid(findings));
    }
    for (axis, dict) in section.dicts().iter().enumerate() {
        let buffer = |(_, value): &(Object, Object)| matches!(value.kind(), Kind::Indices(_));
        if dict.as_dict().unwrap_or_default().iter().any(buffer) {
            let reason = "labels of an unstructured dimension have no literal";
            return Err(Error::inexpressible("a .dnpy header", axis, reason));
        }
    }
    let value = |object: &Option<Object>| object.as_ref().map_or(Ok(String::new()), literal::write);
    let (version, dim_data) = (value(&section.version)?, value(&section.dim_data)?);
    let text = format!("{{'__version__': {version}, 'dim_data': {dim_data}, }}");
    let mut bytes = npy::wrap(MAGIC, text, ALIGN)?;
    bytes.extend(header.write()?);
    Ok(bytes)
}

/// The section and the file must speak of the same array.
fn misfit(section: &Section, header: &Header) -> Option<Finding> {
    let shape = section.shape()?;
    let same =
        shape.iter().map(|n| u64::try_from(*n).ok()).eq(header.shape.iter().map(|n| Some(*n)));
    let message = format!("the buffer's shape is {shape:?}, but the file's is {:?}", header.shape);
    (!same).then(|| Finding::new(Code::Extent, message))
}

/// Reads everything before the data from the start of `bytes`.
///
/// Nothing is judged: pass the section to [`crate::validate`].
///
/// # Errors
/// What is there and what was expected.
pub fn read(bytes: &[u8]) -> Result<Preamble, Error> {
    let (text, end) = npy::unwrap(bytes, MAGIC, &[(1, 0)])?;
    let dict = literal::parse(&text)?;
    let Some(entries) = dict.as_dict() else {
        let expected = "a dict with the keys `__version__` and `dim_data`";
        return Err(Error::header("the dnpy header", dict.to_string(), expected));
    };
    let known = |name: &str| matches!(name, "__version__" | "dim_data");
    let extra = entries.iter().map(|(key, _)| key.as_str().unwrap_or("?"));
    let extra_keys = extra.filter(|name| !known(name)).map(str::to_owned).collect();
    let (header, data) = Header::read(&bytes[end..])?;
    let shape = header.shape.iter().map(|n| i64::try_from(*n).unwrap_or(i64::MAX)).collect();
    let section = Section {
        version: dict.get("__version__").cloned(),
        buffer: Buffer::Known { shape, format: Some(header.dtype.to_string()) },
        dim_data: dict.get("dim_data").cloned(),
        extra_keys,
    };
    Ok(Preamble { section, header, data: end + data })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dim, DimKind, Dtype, Place};

    fn header(shape: &[u64]) -> Header {
        let dtype = Dtype::parse("<f4").unwrap();
        Header { dtype, fortran_order: false, shape: shape.to_vec() }
    }

    #[test]
    fn sections_round_trip() {
        let place = Place { size: 9, grid_size: 2, grid_rank: 1 };
        let cyclic = Dim::new(place, DimKind::Cyclic { start: 2, block_size: 2 }).unwrap();
        let section = Section::from_dims(&[cyclic, Dim::whole(3)], Some("<f4".to_owned()));
        let bytes = write(&section, &header(&[4, 3])).unwrap();
        let preamble = read(&bytes).unwrap();
        assert_eq!(preamble.section, section);
        assert_eq!((preamble.header, preamble.data), (header(&[4, 3]), bytes.len()));
    }

    #[test]
    fn what_cannot_be_written_is_refused() {
        let section = Section::from_dims(&[Dim::whole(3)], None);
        assert!(matches!(write(&section, &header(&[4])), Err(Error::Invalid(_))));
        let place = Place { size: 3, grid_size: 1, grid_rank: 0 };
        let kind = DimKind::Indexed { indices: vec![2, 0, 1], one_to_one: true };
        let section = Section::from_dims(&[Dim::new(place, kind).unwrap()], None);
        assert_eq!(
            write(&section, &header(&[3])).unwrap_err().to_string(),
            "axis 0: a .dnpy header cannot say this: labels of an unstructured dimension have no \
             literal"
        );
        let broken = Section { version: None, ..Section::from_dims(&[], None) };
        assert!(matches!(write(&broken, &header(&[])), Err(Error::Invalid(_))));
    }

    #[test]
    fn wrong_files_are_refused() {
        assert!(read(b"\x93NUMPY\x01\x00").is_err());
        assert!(read(&npy::wrap(MAGIC, "(1, 2)".to_owned(), 16).unwrap()).is_err());
        assert!(
            read(&npy::wrap(MAGIC, "{'dim_data': array([1])}".to_owned(), 16).unwrap()).is_err()
        );
    }
}
