//! Element types by name: the `descr` of `.npy` headers and the formats of buffers.

use std::fmt;

/// The sort of number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DtypeKind {
    /// Truth value, one byte.
    Bool,
    /// Signed integer.
    Int,
    /// Unsigned integer.
    Uint,
    /// Floating point.
    Float,
    /// Two floating-point numbers.
    Complex,
}

/// The order of bytes in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Endian {
    /// Least significant byte first; also used where there is one byte only.
    Little,
    /// Most significant byte first.
    Big,
}

/// An element type: bool, i1-i8, u1-u8, f4, f8, c8 or c16, with its byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dtype {
    kind: DtypeKind,
    bytes: u8,
    endian: Endian,
}

impl Dtype {
    /// An element type; `None` if there is no such type.
    #[must_use]
    pub fn new(kind: DtypeKind, bytes: u8, endian: Endian) -> Option<Self> {
        let sizes: &[u8] = match kind {
            DtypeKind::Bool => &[1],
            DtypeKind::Int | DtypeKind::Uint => &[1, 2, 4, 8],
            DtypeKind::Float => &[4, 8],
            DtypeKind::Complex => &[8, 16],
        };
        let endian = if bytes == 1 { Endian::Little } else { endian };
        sizes.contains(&bytes).then_some(Self { kind, bytes, endian })
    }

    /// The sort of number.
    #[must_use]
    pub fn kind(self) -> DtypeKind {
        self.kind
    }

    /// Bytes of one element.
    #[must_use]
    pub fn bytes(self) -> usize {
        usize::from(self.bytes)
    }

    /// The order of bytes.
    #[must_use]
    pub fn endian(self) -> Endian {
        self.endian
    }

    /// Reads the form of array files: `<f8`, `>i4`, `|b1`.
    ///
    /// One-byte types may carry any order mark; longer ones must say `<` or `>`, because a file
    /// whose byte order depends on its reader has none.
    #[must_use]
    pub fn parse(descr: &str) -> Option<Self> {
        let mut chars = descr.chars();
        let (order, letter) = (chars.next()?, chars.next()?);
        let bytes: u8 =
            chars.as_str().parse().ok().filter(|_| !chars.as_str().starts_with(['+', '0']))?;
        let kind = match letter {
            'b' => DtypeKind::Bool,
            'i' => DtypeKind::Int,
            'u' => DtypeKind::Uint,
            'f' => DtypeKind::Float,
            'c' => DtypeKind::Complex,
            _ => return None,
        };
        let endian = match order {
            '<' => Endian::Little,
            '>' => Endian::Big,
            '|' | '=' if bytes == 1 => Endian::Little,
            _ => return None,
        };
        Self::new(kind, bytes, endian)
    }

    /// Reads the format of a buffer: an optional order mark and one letter, as `struct` has them,
    /// with `Zf` and `Zd` for complex numbers. Without a mark the machine's order and C sizes.
    #[must_use]
    pub fn parse_format(format: &str) -> Option<Self> {
        let native = if cfg!(target_endian = "big") { Endian::Big } else { Endian::Little };
        let (endian, c_sizes, letters) = match format.chars().next()? {
            '@' => (native, true, &format[1..]),
            '=' => (native, false, &format[1..]),
            '<' => (Endian::Little, false, &format[1..]),
            '>' | '!' => (Endian::Big, false, &format[1..]),
            _ => (native, true, format),
        };
        let long =
            if c_sizes && cfg!(all(target_pointer_width = "64", not(windows))) { 8 } else { 4 };
        let (kind, bytes) = match letters {
            "?" => (DtypeKind::Bool, 1),
            "b" => (DtypeKind::Int, 1),
            "B" => (DtypeKind::Uint, 1),
            "h" => (DtypeKind::Int, 2),
            "H" => (DtypeKind::Uint, 2),
            "i" => (DtypeKind::Int, 4),
            "I" => (DtypeKind::Uint, 4),
            "l" => (DtypeKind::Int, long),
            "L" => (DtypeKind::Uint, long),
            "q" => (DtypeKind::Int, 8),
            "Q" => (DtypeKind::Uint, 8),
            "f" => (DtypeKind::Float, 4),
            "d" => (DtypeKind::Float, 8),
            "Zf" => (DtypeKind::Complex, 8),
            "Zd" => (DtypeKind::Complex, 16),
            _ => return None,
        };
        Self::new(kind, bytes, endian)
    }

    /// True if two names mean the same type; names that are not known mean themselves.
    #[must_use]
    pub fn same(a: &str, b: &str) -> bool {
        let known = |name| Self::parse(name).or_else(|| Self::parse_format(name));
        a == b || known(a).is_some_and(|dtype| known(b) == Some(dtype))
    }
}

/// As array files write it: `<f8`, `|b1`.
impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let order = match (self.bytes, self.endian) {
            (1, _) => '|',
            (_, Endian::Little) => '<',
            (_, Endian::Big) => '>',
        };
        let letter = match self.kind {
            DtypeKind::Bool => 'b',
            DtypeKind::Int => 'i',
            DtypeKind::Uint => 'u',
            DtypeKind::Float => 'f',
            DtypeKind::Complex => 'c',
        };
        write!(f, "{order}{letter}{}", self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for name in ["|b1", "|i1", "|u1", "<i2", ">i4", "<u8", "<f4", ">f8", "<c8", "<c16"] {
            assert_eq!(Dtype::parse(name).unwrap().to_string(), name);
        }
        assert_eq!(Dtype::parse("<b1").unwrap().to_string(), "|b1");
        for name in ["", "<", "<f", "<f2", "|f8", "=i4", "f8", "<i3", "<b2", "<f08", "<f+8", "<O8"]
        {
            assert_eq!(Dtype::parse(name), None, "{name}");
        }
    }

    #[test]
    fn formats_and_names_compare() {
        assert!(Dtype::same("<d", "<f8"));
        assert!(Dtype::same("<q", "<i8"));
        assert!(!Dtype::same(">d", "<f8"));
        assert!(!Dtype::same("<Zd", "<f8"));
        assert!(Dtype::same("T{d:x:}", "T{d:x:}"));
        assert!(!Dtype::same("é", "ü"));
    }
}
