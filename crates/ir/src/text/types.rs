//! Reading types.

use pantile_lanes::DType;

use super::print::types::sort_envs;
use super::reader::{Parsed, Reader};
use crate::{ArrayType, Attribute, Dim, DistEnv, Element, Env, LocalParts, Spelling, Type};

/// Most axes of an array.
const AXES_LIMIT: usize = 32;

/// Element types by name; `complex<...>` is read apart.
const ELEMENTS: [(&str, DType, Spelling); 16] = [
    ("i1", DType::Bool, Spelling::Plain),
    ("i8", DType::I8, Spelling::Plain),
    ("i16", DType::I16, Spelling::Plain),
    ("i32", DType::I32, Spelling::Plain),
    ("i64", DType::I64, Spelling::Plain),
    ("si8", DType::I8, Spelling::Signed),
    ("si16", DType::I16, Spelling::Signed),
    ("si32", DType::I32, Spelling::Signed),
    ("si64", DType::I64, Spelling::Signed),
    ("ui8", DType::U8, Spelling::Plain),
    ("ui16", DType::U16, Spelling::Plain),
    ("ui32", DType::U32, Spelling::Plain),
    ("ui64", DType::U64, Spelling::Plain),
    ("f32", DType::F32, Spelling::Plain),
    ("f64", DType::F64, Spelling::Plain),
    ("index", DType::I64, Spelling::Index),
];

impl<'a> Reader<'a> {
    /// True if a type can start here.
    pub(super) fn looks_at_type(&mut self) -> bool {
        let word = self.peek_word();
        self.looks_at("!")
            || ELEMENTS.iter().any(|(name, ..)| *name == word)
            || ["complex", "memref", "tensor", "ndarray.ndarray"].contains(&word)
    }

    /// Reads a type.
    pub(super) fn ty(&mut self) -> Parsed<Type> {
        let at = self.offset();
        if self.eat("!") {
            let name = self.suffix("the name of a type")?;
            return match name {
                "ndarray.ndarray" => self.deeper(Self::array),
                "distruntime.asynchandle" => Ok(Type::Handle),
                alias => self
                    .aliases
                    .get(alias)
                    .cloned()
                    .ok_or_else(|| self.fault(at, format!("there is no type `!{alias}`"))),
            };
        }
        let word = self.peek_word();
        if ["memref", "tensor", "ndarray.ndarray"].contains(&word) {
            self.at += word.len();
            return match word {
                "memref" => self.buffer().map(|(shape, element)| Type::MemRef(shape, element)),
                "tensor" => self.buffer().map(|(shape, element)| Type::Tensor(shape, element)),
                _ => self.deeper(Self::array),
            };
        }
        if !self.looks_at_type() {
            return Err(self.expected("a type"));
        }
        let element = self.element()?;
        let index = element.spelling == Spelling::Index;
        Ok(if index { Type::Index } else { Type::Scalar(element) })
    }

    /// Types between commas; maybe none.
    pub(super) fn types(&mut self) -> Parsed<Vec<Type>> {
        if self.looks_at_type() { self.list(Self::ty) } else { Ok(Vec::new()) }
    }

    /// `(T, T)`.
    pub(super) fn types_in_brackets(&mut self) -> Parsed<Vec<Type>> {
        self.expect("(")?;
        self.list_until(")", Self::ty)
    }

    /// What follows `->`: one type, or several in brackets.
    pub(super) fn result_types(&mut self) -> Parsed<Vec<Type>> {
        if self.looks_at("(") { self.types_in_brackets() } else { Ok(vec![self.ty()?]) }
    }

    fn element(&mut self) -> Parsed<Element> {
        let word = self.peek_word();
        if word == "complex" {
            self.at += word.len();
            self.expect("<")?;
            let dtype = match self.peek_word() {
                "f32" => DType::C64,
                "f64" => DType::C128,
                _ => return Err(self.expected("`f32` or `f64`")),
            };
            self.word("a type")?;
            self.expect(">")?;
            return Ok(dtype.into());
        }
        let found = ELEMENTS.iter().find(|(name, ..)| *name == word);
        let Some((_, dtype, spelling)) = found else {
            return Err(self.expected(
                "an element type (`i1`, `i8`..`i64`, `si8`.., `ui8`.., `index`, `f32`, `f64`, `complex<...>`)",
            ));
        };
        self.at += word.len();
        Ok(Element { dtype: *dtype, spelling: *spelling })
    }

    /// `?` or a length, directly at the place.
    fn dim(&mut self) -> Parsed<Dim> {
        if self.byte() == b'?' {
            self.at += 1;
            return Ok(None);
        }
        self.digits("a length or `?`").map(Some)
    }

    /// `4x?x`: lengths, each followed by `x`.
    fn shape(&mut self) -> Parsed<Vec<Dim>> {
        self.offset();
        let mut shape = Vec::new();
        while self.byte() == b'?' || self.byte().is_ascii_digit() {
            let at = self.at;
            shape.push(self.dim()?);
            if shape.len() > AXES_LIMIT {
                return Err(self.fault(at, format!("more than {AXES_LIMIT} axes")));
            }
            if self.byte() != b'x' {
                return Err(self.expected("`x` and an element type"));
            }
            self.at += 1;
        }
        Ok(shape)
    }

    /// `<3x4xf64>`.
    fn buffer(&mut self) -> Parsed<(Vec<Dim>, Element)> {
        self.expect("<")?;
        let made = (self.shape()?, self.element()?);
        self.expect(">")?;
        Ok(made)
    }

    /// What follows `!ndarray.ndarray`.
    fn array(&mut self) -> Parsed<Type> {
        self.expect("<")?;
        let (shape, element) = (self.shape()?, self.element()?);
        let layout = if self.eat(":") { Some(self.string("a layout in quotes")?) } else { None };
        let mut envs = Vec::new();
        while self.eat(",") {
            let ndim = shape.len();
            envs.push(self.named_or_here(|reader| reader.env(ndim))?);
        }
        if !self.eat(">") {
            return Err(self.expected("`,` or `>`"));
        }
        sort_envs(&mut envs);
        Ok(Type::Array(ArrayType { shape, element, layout, envs }))
    }

    fn env(&mut self, ndim: usize) -> Parsed<Env> {
        if self.eat_env("#dist.dist_env") {
            let env = self.dist_env(ndim)?;
            self.expect(">")?;
            return Ok(Env::Dist(env));
        }
        if self.eat_env("#pantile.dist") {
            let text = self.string("a distribution in quotes")?;
            self.expect(">")?;
            return Ok(Env::Placement(text.into()));
        }
        // Only what says nothing but a device is understood; the rest is carried along.
        let start = self.offset();
        if self.eat_env("#region.gpu_env") && self.eat_word("device") && self.eat("=") {
            let device = self.string("the name of a device in quotes")?;
            if self.eat(">") {
                return Ok(Env::Gpu(device));
            }
        }
        self.at = start;
        self.attribute().map(Env::Other)
    }

    /// `#name<`, as a whole word.
    fn eat_env(&mut self, name: &str) -> bool {
        let start = self.offset();
        if self.eat(name) && self.eat("<") {
            return true;
        }
        self.at = start;
        false
    }

    fn dist_env(&mut self, ndim: usize) -> Parsed<DistEnv> {
        if self.peek_word() != "team" {
            return Err(self.expected("`team`: a distributed array names its team"));
        }
        self.expect_word("team")?;
        self.expect("=")?;
        let team: Attribute = self.attribute()?;
        let at = self.offset();
        if !self.eat_word("loffs") {
            return Ok(DistEnv { team, local: None });
        }
        self.expect("=")?;
        let offsets = self.list(Self::local_offset)?;
        if offsets.len() != ndim {
            let message = format!("got {} local offsets for {ndim} axes", offsets.len());
            return Err(self.fault(at, message));
        }
        let at = self.offset();
        if self.peek_word() != "lparts" {
            return Err(self.expected("`lparts`: local offsets are followed by local parts"));
        }
        self.expect_word("lparts")?;
        self.expect("=")?;
        let parts = self.list(|reader| reader.part(ndim))?;
        if ![1, 3].contains(&parts.len()) {
            let message = format!("got {} local parts, expected 1 or 3", parts.len());
            return Err(self.fault(at, message));
        }
        Ok(DistEnv { team, local: Some(LocalParts { offsets, parts }) })
    }

    fn local_offset(&mut self) -> Parsed<Option<i64>> {
        if self.eat("?") {
            return Ok(None);
        }
        let at = self.offset();
        let number = self.number("an offset or `?`")?;
        number.parse().map(Some).map_err(|_| {
            self.fault(at, format!("expected a whole number of 64 bits or `?`, found {number}"))
        })
    }

    fn part(&mut self, ndim: usize) -> Parsed<Vec<Dim>> {
        let at = self.offset();
        let mut part = vec![self.dim()?];
        while self.byte() == b'x' && part.len() <= AXES_LIMIT {
            self.at += 1;
            part.push(self.dim()?);
        }
        if part.len() != ndim {
            let message = format!("a local part has {} axes, the offsets have {ndim}", part.len());
            return Err(self.fault(at, message));
        }
        Ok(part)
    }
}
