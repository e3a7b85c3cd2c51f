//! The header of `.npy` files.
//!
//! Layout: six bytes of magic, major and minor version, the length of the text (two bytes in
//! version 1.0, four in 2.0 and 3.0, little-endian), then a Python dict literal with the keys
//! `descr`, `fortran_order` and `shape`, padded with spaces and ended by a line break so that the
//! data begin at a multiple of 64. Room is left for the first axis to grow, as NumPy does.

use crate::{Dtype, Error, Kind, Object, literal};

const MAGIC: &[u8] = b"\x93NUMPY";
const ALIGN: usize = 64;
/// Digits that NumPy reserves for the axis along which a file may grow.
const GROWTH_DIGITS: usize = 21;

/// What a `.npy` header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Element type.
    pub dtype: Dtype,
    /// Whether the first axis is contiguous rather than the last.
    pub fortran_order: bool,
    /// Extents.
    pub shape: Vec<u64>,
}

impl Header {
    /// Bytes of data after the header; `None` if that does not fit 64 bits.
    #[must_use]
    pub fn data_bytes(&self) -> Option<u64> {
        let size = u64::try_from(self.dtype.bytes()).ok()?;
        if self.shape.contains(&0) {
            return Some(0);
        }
        self.shape.iter().try_fold(size, |bytes, extent| bytes.checked_mul(*extent))
    }

    /// The bytes of the header, version 1.0, exactly as NumPy writes them.
    ///
    /// # Errors
    /// The header does not fit the 65,535 bytes that version 1.0 allows.
    pub fn write(&self) -> Result<Vec<u8>, Error> {
        let shape = Object::tuple(self.shape.iter().map(|n| Kind::Int((*n).into()).into()));
        let descr = self.dtype.to_string();
        let order = if self.fortran_order { "True" } else { "False" };
        let shape = literal::write(&shape)?;
        let mut text =
            format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
        let grows = if self.fortran_order { self.shape.last() } else { self.shape.first() };
        if let Some(extent) = grows {
            let digits = extent.to_string().len();
            text.push_str(&" ".repeat(GROWTH_DIGITS.saturating_sub(digits)));
        }
        wrap(MAGIC, text, ALIGN)
    }

    /// Reads a header from the start of `bytes`; also returns where the data begin.
    ///
    /// # Errors
    /// What is there and what was expected, if this is not a header of version 1.0, 2.0 or 3.0.
    pub fn read(bytes: &[u8]) -> Result<(Self, usize), Error> {
        let (text, end) = unwrap(bytes, MAGIC, &[(1, 0), (2, 0), (3, 0)])?;
        let dict = literal::parse(&text)?;
        for key in ["descr", "fortran_order", "shape"] {
            if dict.get(key).is_none() {
                return Err(Error::header("the npy header", format!("without `{key}`"), KEYS));
            }
        }
        if dict.as_dict().is_some_and(|entries| entries.len() != 3) {
            return Err(Error::header("the npy header", dict.to_string(), KEYS));
        }
        Ok((Self { dtype: descr(&dict)?, fortran_order: order(&dict)?, shape: shape(&dict)? }, end))
    }
}

const KEYS: &str = "a dict with the keys `descr`, `fortran_order` and `shape`";

fn descr(dict: &Object) -> Result<Dtype, Error> {
    let value = dict.get("descr");
    let dtype = value.and_then(Object::as_str).and_then(Dtype::parse);
    let expected = "one of b1, i1-i8, u1-u8, f4, f8, c8, c16 after `<`, `>` or `|`";
    dtype.ok_or_else(|| Error::header("`descr`", value.map(show).unwrap_or_default(), expected))
}

fn order(dict: &Object) -> Result<bool, Error> {
    let value = dict.get("fortran_order");
    let expected = "True or False";
    value.and_then(Object::as_bool).ok_or_else(|| {
        Error::header("`fortran_order`", value.map(show).unwrap_or_default(), expected)
    })
}

fn shape(dict: &Object) -> Result<Vec<u64>, Error> {
    let value = dict.get("shape");
    let items = value.and_then(Object::as_tuple).ok_or_else(|| {
        Error::header("`shape`", value.map(show).unwrap_or_default(), "a tuple of extents")
    })?;
    let extent = |item: &Object| {
        let extent = item.as_i64().and_then(|extent| u64::try_from(extent).ok());
        let expected = "a whole number from 0 to 2^63 - 1";
        extent.ok_or_else(|| Error::header("an extent of `shape`", show(item), expected))
    };
    items.iter().map(extent).collect()
}

fn show(object: &Object) -> String {
    object.to_string()
}

/// Puts magic, version 1.0, length and padding around a header text: at least one space, a line
/// break, and the whole a multiple of `align` bytes.
pub(crate) fn wrap(magic: &[u8], mut text: String, align: usize) -> Result<Vec<u8>, Error> {
    let fixed = magic.len() + 4;
    let used = fixed + text.len() + 1;
    text.push_str(&" ".repeat(align - used % align));
    text.push('\n');
    let length = u16::try_from(text.len()).map_err(|_| Error::TooMany {
        what: "bytes of header",
        count: text.len() as u128,
        limit: u16::MAX.into(),
    })?;
    let mut bytes = magic.to_vec();
    bytes.extend([1, 0]);
    bytes.extend(length.to_le_bytes());
    bytes.extend(text.into_bytes());
    Ok(bytes)
}

/// The header text inside `bytes` and where it ends.
pub(crate) fn unwrap(
    bytes: &[u8],
    magic: &[u8],
    versions: &[(u8, u8)],
) -> Result<(String, usize), Error> {
    let short =
        || Error::header("the file", format!("{} bytes long", bytes.len()), "a whole header");
    let rest = bytes.strip_prefix(magic).ok_or_else(|| {
        if magic.starts_with(bytes) {
            return short();
        }
        let first = bytes[..magic.len().min(bytes.len())].escape_ascii();
        let expected = "the byte \\x93 and the name of the format";
        Error::header("the beginning of the file", format!("`{first}`"), expected)
    })?;
    let version = match rest {
        [major, minor, ..] => (*major, *minor),
        _ => return Err(short()),
    };
    if !versions.contains(&version) {
        let got = format!("{}.{}", version.0, version.1);
        let expected = if versions.len() == 1 { "1.0" } else { "1.0, 2.0 or 3.0" };
        return Err(Error::header("the format version", got, expected));
    }
    let (length, fixed) = match (version.0, &rest[2..]) {
        (1, [a, b, ..]) => (usize::from(u16::from_le_bytes([*a, *b])), magic.len() + 4),
        (2.., [a, b, c, d, ..]) => {
            let length = u32::from_le_bytes([*a, *b, *c, *d]);
            (usize::try_from(length).map_err(|_| short())?, magic.len() + 6)
        }
        _ => return Err(short()),
    };
    let header =
        fixed.checked_add(length).and_then(|end| bytes.get(fixed..end)).ok_or_else(short)?;
    // Versions 1.0 and 2.0 are latin-1, where a byte is a character.
    let text = match version.0 {
        3 => String::from_utf8(header.to_vec())
            .map_err(|_| Error::header("the header", "not UTF-8", "UTF-8 text"))?,
        _ => header.iter().map(|byte| char::from(*byte)).collect(),
    };
    Ok((text, fixed + length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pantile_testkit::cases;

    fn header(descr: &str, fortran_order: bool, shape: &[u64]) -> Header {
        Header { dtype: Dtype::parse(descr).unwrap(), fortran_order, shape: shape.to_vec() }
    }

    #[test]
    fn written_as_numpy_writes() {
        let bytes = header("<f8", false, &[3, 4]).write().unwrap();
        let text = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }";
        let expected = [b"\x93NUMPY\x01\x00\x76\x00".as_slice(), text.as_bytes()].concat();
        assert_eq!(bytes[..expected.len()], expected);
        assert_eq!((bytes.len(), bytes[127]), (128, b'\n'));
        assert!(bytes[expected.len()..127].iter().all(|byte| *byte == b' '));
        // 128 bytes would hold this text, but not with the room for growth.
        let long = header("<f8", false, &[1; 17]).write().unwrap();
        assert_eq!(long.len(), 192);
    }

    /// A text that would fit exactly still gets a space: one more block.
    #[test]
    fn at_least_one_space_is_added() {
        for (length, whole) in [(4, 16), (5, 32), (20, 32), (21, 48), (22, 48)] {
            let bytes = wrap(b"magic!", "x".repeat(length), 16).unwrap();
            assert_eq!(bytes.len(), whole, "{length}");
            assert!(bytes.ends_with(b" \n"), "{length}");
        }
        assert!(wrap(MAGIC, "x".repeat(70_000), 64).is_err());
    }

    #[test]
    fn headers_round_trip() {
        let dtypes = ["|b1", "|i1", "<i2", ">i4", "<i8", "|u1", "<u4", "<f4", ">f8", "<c8", "<c16"];
        cases("npy headers", 2_000, |rng| {
            let shape: Vec<u64> =
                (0..rng.below(6)).map(|_| rng.bits() >> (1 + rng.below(63))).collect();
            let dtype: &str = rng.pick::<&str>(&dtypes);
            let header = header(dtype, rng.chance(1, 2), &shape);
            let mut bytes = header.write().unwrap();
            assert_eq!(bytes.len() % 64, 0);
            let length = bytes.len();
            bytes.extend([1, 2, 3]);
            assert_eq!(Header::read(&bytes).unwrap(), (header.clone(), length));
            let wide = u32::try_from(length - 10).unwrap().to_le_bytes();
            for major in [2, 3] {
                let magic = [b"\x93NUMPY".as_slice(), &[major, 0], &wide, &bytes[10..]].concat();
                assert_eq!(Header::read(&magic).unwrap(), (header.clone(), length + 2));
            }
        });
    }

    #[test]
    fn wrong_headers_say_what_is_wrong() {
        let fails = |text: &str, message: &str| {
            let bytes = wrap(MAGIC, text.to_owned(), 64).unwrap();
            assert_eq!(Header::read(&bytes).unwrap_err().to_string(), message);
        };
        let keys = "expected a dict with the keys `descr`, `fortran_order` and `shape`";
        fails("{'descr': '<f8'}", &format!("the npy header is without `fortran_order`, {keys}"));
        fails("3", &format!("the npy header is without `descr`, {keys}"));
        fails(
            "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
            "an extent of `shape` is -1, expected a whole number from 0 to 2^63 - 1",
        );
        fails(
            "{'descr': '<f8', 'fortran_order': False, 'shape': 3}",
            "`shape` is 3, expected a tuple of extents",
        );
        fails(
            "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': ()}",
            "`descr` is a list of 1, expected one of b1, i1-i8, u1-u8, f4, f8, c8, c16 after \
             `<`, `>` or `|`",
        );
        assert!(Header::read(b"\x93NUMPY\x01\x00\xff\xff{").is_err());
        assert!(Header::read(b"\x93NUMPY\x02\x00\xff\xff\xff\xff{").is_err());
        assert!(Header::read(b"\x93NUMPY\x04\x00\x01\x00 ").is_err());
        let wrong = |bytes: &[u8]| Header::read(bytes).unwrap_err().to_string();
        assert_eq!(wrong(b"\x93NUMPY"), "the file is 6 bytes long, expected a whole header");
        assert_eq!(wrong(b""), "the file is 0 bytes long, expected a whole header");
        assert_eq!(
            wrong(b"hello\n and more"),
            "the beginning of the file is `hello\\n`, expected the byte \\x93 and the name of the \
             format"
        );
    }

    #[test]
    fn data_sizes_do_not_overflow() {
        assert_eq!(header("<f8", false, &[3, 4]).data_bytes(), Some(96));
        assert_eq!(header("<f8", false, &[u64::MAX, 2]).data_bytes(), None);
        assert_eq!(header("<f8", false, &[u64::MAX, 2, 0]).data_bytes(), Some(0));
        assert_eq!(header("<f8", false, &[]).data_bytes(), Some(8));
    }
}
