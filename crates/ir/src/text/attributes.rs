//! Reading attributes, and the list of those that an operation has.

use pantile_lanes::DType;

use super::reader::{Parsed, Reader, Stop};
use crate::{Attribute, Type};

/// The attributes of an operation while it is read, each with its offset.
#[derive(Default)]
pub(super) struct Dict {
    entries: Vec<(String, Attribute, usize)>,
}

impl Dict {
    /// Takes an attribute out.
    pub(super) fn take(&mut self, name: &str) -> Option<(Attribute, usize)> {
        let place = self.entries.iter().position(|(known, ..)| known == name)?;
        let (_, attribute, at) = self.entries.remove(place);
        Some((attribute, at))
    }

    /// What nobody took.
    pub(super) fn rest(self) -> Vec<(String, Attribute)> {
        self.entries.into_iter().map(|(name, attribute, _)| (name, attribute)).collect()
    }
}

impl<'a> Reader<'a> {
    /// Adds an attribute; each may be said once.
    pub(super) fn put(
        &self,
        dict: &mut Dict,
        at: usize,
        name: &str,
        attribute: Attribute,
    ) -> Parsed<()> {
        if dict.entries.iter().any(|(known, ..)| known == name) {
            return Err(self.fault(at, format!("attribute `{name}` is given twice")));
        }
        dict.entries.push((name.to_owned(), attribute, at));
        Ok(())
    }

    /// `{name = attribute, ...}` if there is one.
    pub(super) fn attributes(&mut self, dict: &mut Dict) -> Parsed<()> {
        if self.eat("{") { self.entries(dict) } else { Ok(()) }
    }

    /// `<{name = attribute, ...}>` if there is one.
    pub(super) fn properties(&mut self, dict: &mut Dict) -> Parsed<()> {
        if !self.looks_at("<") {
            return Ok(());
        }
        self.expect("<")?;
        self.expect("{")?;
        self.entries(dict)?;
        self.expect(">")
    }

    fn entries(&mut self, dict: &mut Dict) -> Parsed<()> {
        self.deeper(|reader| {
            let entries = reader.list_until("}", |reader| {
                let at = reader.offset();
                let name = reader.key()?;
                let value = if reader.eat("=") { reader.attribute()? } else { Attribute::Unit };
                Ok((at, name, value))
            })?;
            for (at, name, value) in entries {
                reader.put(dict, at, &name, value)?;
            }
            Ok(())
        })
    }

    fn key(&mut self) -> Parsed<String> {
        if self.looks_at("\"") {
            return self.string("a name");
        }
        self.word("the name of an attribute").map(str::to_owned)
    }

    /// `@name` or `@"name"`.
    pub(super) fn symbol(&mut self) -> Parsed<String> {
        if !self.eat("@") {
            return Err(self.expected("the name of a function (`@name`)"));
        }
        if self.byte() == b'"' {
            return self.string("a name");
        }
        self.suffix("a name").map(str::to_owned)
    }

    /// Reads an attribute.
    pub(super) fn attribute(&mut self) -> Parsed<Attribute> {
        self.deeper(|reader| reader.named_or_here(Self::attribute_here))
    }

    /// `#name = attribute`: read here to find its end, and again wherever it is named.
    pub(super) fn attribute_alias(&mut self) -> Parsed<()> {
        let at = self.offset();
        self.expect("#")?;
        let name = self.suffix("the name of an attribute")?;
        self.expect("=")?;
        let start = self.offset();
        self.attribute()?;
        // One that names others could stand for a text without end.
        let inside = &self.text()[start..self.at];
        let named = self.attributes.keys().find(|other| {
            inside.match_indices(&format!("#{other}")).any(|(place, found)| {
                let next = inside.as_bytes().get(place + found.len()).copied().unwrap_or(0);
                !(next.is_ascii_alphanumeric() || matches!(next, b'_' | b'$' | b'.' | b'-'))
            })
        });
        if let Some(other) = named {
            let message = format!("`#{name}` names `#{other}`, expected what that stands for");
            return Err(self.fault(start, message));
        }
        if self.attributes.insert(name, start).is_some() {
            return Err(self.fault(at, format!("`#{name}` is defined twice")));
        }
        Ok(())
    }

    /// Reads what stands here or, if that is the name of an attribute, what that stands for.
    pub(super) fn named_or_here<T>(&mut self, read: impl Fn(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let start = self.offset();
        if self.eat("#") {
            let name = self.suffix("the name of an attribute")?;
            if let Some(place) = self.attributes.get(name).copied() {
                let end = std::mem::replace(&mut self.at, place);
                let made = read(self)?;
                self.at = end;
                return Ok(made);
            }
        }
        self.at = start;
        read(self)
    }

    fn attribute_here(&mut self) -> Parsed<Attribute> {
        if self.looks_at_number() {
            return self.number_attribute();
        }
        let rest = self.rest();
        match rest.bytes().next().unwrap_or(0) {
            b'"' => return self.string("a string").map(Attribute::String),
            b'@' => return self.symbol().map(Attribute::Symbol),
            b'[' => {
                self.expect("[")?;
                return self.list_until("]", Self::attribute).map(Attribute::List);
            }
            b'{' => {
                let mut dict = Dict::default();
                self.attributes(&mut dict)?;
                return Ok(Attribute::Dict(dict.rest()));
            }
            b'#' => return self.opaque(),
            _ => {}
        }
        match self.peek_word() {
            "true" => self.word("").map(|_| Attribute::Bool(true)),
            "false" => self.word("").map(|_| Attribute::Bool(false)),
            "unit" => self.word("").map(|_| Attribute::Unit),
            "array" => self.dense(),
            _ if self.looks_at_type() => self.ty().map(|ty| Attribute::Type(Box::new(ty))),
            _ => Err(self.expected("an attribute")),
        }
    }

    /// `array<i64: 1, 2>` is the list of its numbers.
    fn dense(&mut self) -> Parsed<Attribute> {
        self.expect_word("array")?;
        self.expect("<")?;
        self.ty()?;
        let numbers = if self.eat(":") { self.list(Self::attribute)? } else { Vec::new() };
        self.expect(">")?;
        Ok(Attribute::List(numbers))
    }

    fn number_attribute(&mut self) -> Parsed<Attribute> {
        let at = self.offset();
        let number = self.number("a number")?;
        let ty = if self.eat(":") { Some((self.offset(), self.ty()?)) } else { None };
        let scalar = match &ty {
            None => None,
            Some((_, Type::Index)) => Some(DType::I64),
            Some((_, Type::Scalar(element))) => Some(element.dtype),
            Some((at, other)) => {
                return Err(self.fault(*at, format!("{other} is no type of a number")));
            }
        };
        let ty = ty.map(|(_, ty)| ty);
        let float = matches!(scalar, Some(DType::F32 | DType::F64));
        if !float && !is_decimal(number) {
            let value = whole(number).ok_or_else(|| self.too_large(at, number))?;
            // A whole number without a type is an `i64`: both spellings mean the same.
            return Ok(Attribute::Int(value, ty.filter(|ty| *ty != Type::scalar(DType::I64))));
        }
        if scalar.is_some() && !float {
            return Err(self.fault(at, format!("{number} is not a whole number")));
        }
        let bits = match hexadecimal(number) {
            Some(bits) if scalar == Some(DType::F32) && bits <= u64::from(u32::MAX) => {
                let bits = u32::try_from(bits).unwrap_or_default();
                f64::from(f32::from_bits(bits)).to_bits()
            }
            Some(bits) => bits,
            None if number.contains('x') => return Err(self.too_large(at, number)),
            None => number.parse().map_err(|_| self.too_large(at, number)).map(f64::to_bits)?,
        };
        Ok(Attribute::Float(bits, ty.filter(|ty| *ty != Type::scalar(DType::F64))))
    }

    fn too_large(&self, at: usize, number: &str) -> Stop {
        self.fault(at, format!("{number} is too large"))
    }

    /// Anything else that starts with `#`, up to the bracket that closes it.
    fn opaque(&mut self) -> Parsed<Attribute> {
        let start = self.offset();
        self.expect("#")?;
        self.suffix("the name of an attribute")?;
        if self.byte() == b'<' {
            let mut open = Vec::new();
            loop {
                match self.byte() {
                    b'"' => drop(self.string("a string")?),
                    0 | b'\n' => return Err(self.fault(start, "this attribute does not end")),
                    byte => {
                        match byte {
                            b'<' => open.push(b'>'),
                            b'(' => open.push(b')'),
                            b'[' => open.push(b']'),
                            b'{' => open.push(b'}'),
                            b'>' if self.text()[..self.at].ends_with('-') => {}
                            b'>' | b')' | b']' | b'}' if open.pop() != Some(byte) => {
                                return Err(self.fault(self.at, "this bracket closes nothing"));
                            }
                            _ => {}
                        }
                        self.at += 1;
                    }
                }
                if open.is_empty() {
                    break;
                }
            }
        }
        Ok(Attribute::Opaque(self.text()[start..self.at].to_owned()))
    }
}

/// True if a number has a point or an exponent.
pub(super) fn is_decimal(number: &str) -> bool {
    !number.contains('x') && number.contains(['.', 'e', 'E'])
}

/// A whole number, decimal or hexadecimal.
pub(super) fn whole(number: &str) -> Option<i128> {
    let (sign, digits) = number.strip_prefix('-').map_or((1, number), |digits| (-1, digits));
    let value: i128 = match digits.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some(sign * value)
}

/// The bits of a number that is written in hexadecimal.
pub(super) fn hexadecimal(number: &str) -> Option<u64> {
    u64::from_str_radix(number.strip_prefix("0x")?, 16).ok()
}
