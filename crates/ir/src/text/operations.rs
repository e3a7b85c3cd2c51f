//! Reading operations: by their form, quoted, or (loops and regions) by functions of their own.

use super::attributes::Dict;
use super::build::{DYNAMIC, Head};
use super::forms::{self, Form, Piece, Signature};
use super::names;
use super::reader::{Parsed, Reader};
use super::scope::{Name, Operand};
use crate::{Attribute, Block, Op, Spelling, Type, Value};

/// An operation while it is read.
#[derive(Default)]
pub(super) struct Written {
    pub(super) name: String,
    pub(super) at: usize,
    pub(super) operands: Vec<Operand>,
    /// The lengths of those lists of operands that may have any length.
    pub(super) segments: Vec<usize>,
    pub(super) dict: Dict,
    pub(super) results: Vec<Type>,
    pub(super) blocks: Vec<Block>,
}

impl Written {
    pub(super) fn values(&self) -> Vec<Value> {
        self.operands.iter().map(|operand| operand.value).collect()
    }
}

impl<'a> Reader<'a> {
    /// Reads an operation behind its names, and says what it does.
    pub(super) fn written(&mut self) -> Parsed<(Written, Op)> {
        let at = self.offset();
        if self.looks_at("\"") {
            let name = self.string("the name of an operation")?;
            let mut written = Written { name, at, ..Written::default() };
            self.generic(&mut written)?;
            return self.finished(written, None);
        }
        let name = self.word("an operation")?;
        let mut written = Written { name: name.to_owned(), at, ..Written::default() };
        if let Some(form) = forms::of(name) {
            // The quoted form without its quotes is understood, too.
            if self.looks_at("(") {
                self.generic(&mut written)?;
                return self.finished(written, None);
            }
            self.by_form(form, &mut written)?;
            return self.finished(written, Some(form));
        }
        if let Some(op) = self.structural(name, &mut written)? {
            return Ok((written, op));
        }
        if self.looks_at("(") && self.is_known(name) {
            self.generic(&mut written)?;
            return self.finished(written, None);
        }
        Err(self.unknown(at, name, false))
    }

    fn finished(&self, mut written: Written, form: Option<&Form>) -> Parsed<(Written, Op)> {
        let mut dict = std::mem::take(&mut written.dict);
        let head = Head {
            name: &written.name,
            at: written.at,
            operands: written.operands.iter().map(|operand| self.type_of(operand.value)).collect(),
            results: written.results.iter().collect(),
        };
        let op = self.build(&head, &mut dict)?;
        let op = op.ok_or_else(|| self.unknown(written.at, &written.name, true))?;
        self.check_words(&head, &op)?;
        if form.is_some() {
            let segments = forms::segments(&op, &head.operands, &head.results);
            if segments.as_ref() != Some(&written.segments) {
                let message = match segments {
                    Some(segments) => format!(
                        "the lists of operands have {:?} entries, expected {segments:?}",
                        written.segments
                    ),
                    None => format!("`{}` has too many or too few operands", written.name),
                };
                return Err(self.fault(written.at, message));
            }
        }
        written.dict = dict;
        Ok((written, op))
    }

    /// Names that depend on types must fit them.
    fn check_words(&self, head: &Head<'_>, op: &Op) -> Parsed<()> {
        let [from, ..] = head.operands[..] else { return Ok(()) };
        match (op, &head.results[..]) {
            (Op::Convert, [to]) => {
                let fitting = names::conversion(from, to);
                // Of a truth the conversions of unsigned numbers make 0 and 1, as ours do.
                let of_truth = match to {
                    Type::Index => "arith.index_castui",
                    to if names::is_float(to) => "arith.uitofp",
                    _ => "arith.extui",
                };
                let truth = *from == Type::scalar(pantile_lanes::DType::Bool) && from != *to;
                let fits = head.name == fitting || (truth && head.name == of_truth);
                if head.name == "arith.convert" || fits {
                    return Ok(());
                }
                let message =
                    format!("from {from} to {to} converts `{fitting}`, not `{}`", head.name);
                Err(self.fault(head.at, message))
            }
            (Op::Compare(_), _) if names::is_float(from) != (head.name == "arith.cmpf") => {
                Err(self.fault(head.at, format!("`{}` does not compare {from}", head.name)))
            }
            _ => Ok(()),
        }
    }

    /// `(%a, %b) <{properties}> ({regions}) {attributes} : (T, T) -> T`.
    fn generic(&mut self, written: &mut Written) -> Parsed<()> {
        self.expect("(")?;
        written.operands = self.list_until(")", Self::operand)?;
        self.properties(&mut written.dict)?;
        if self.eat("(") {
            written.blocks = self.list_until(")", Self::generic_region)?;
        }
        self.attributes(&mut written.dict)?;
        self.expect(":")?;
        self.function_type(written)
    }

    fn generic_region(&mut self) -> Parsed<Block> {
        self.expect("{")?;
        self.region(&[], Vec::new())
    }

    /// `(T, T) -> T`.
    fn function_type(&mut self, written: &mut Written) -> Parsed<()> {
        let at = self.offset();
        let types = self.types_in_brackets()?;
        self.check_types(at, &written.operands, &types)?;
        self.expect("->")?;
        written.results = self.result_types()?;
        Ok(())
    }

    fn by_form(&mut self, form: &Form, written: &mut Written) -> Parsed<()> {
        for piece in form.pieces {
            self.piece(*piece, written)?;
        }
        self.attributes(&mut written.dict)?;
        self.expect(":")?;
        self.signature(form.signature, written)
    }

    fn piece(&mut self, piece: Piece, written: &mut Written) -> Parsed<()> {
        let at = self.offset();
        match piece {
            Piece::One => {
                // Between values without a word a comma may stand.
                if !written.operands.is_empty() {
                    self.eat(",");
                }
                written.operands.push(self.operand()?);
            }
            Piece::Many => {
                if !written.operands.is_empty() {
                    self.eat(",");
                }
                let values =
                    if self.looks_at("%") { self.list(Self::operand)? } else { Vec::new() };
                self.segment(written, values);
            }
            Piece::Comma => {
                if !self.looks_at(",") {
                    return Err(self.expected("`,` and another value"));
                }
            }
            Piece::Word(word) => self.expect_word(word)?,
            Piece::Symbol(key) => {
                let symbol = self.symbol()?;
                self.put(&mut written.dict, at, key, Attribute::Symbol(symbol))?;
            }
            Piece::Flag(key) => {
                let value = match self.peek_word() {
                    "true" => true,
                    "false" => false,
                    _ => return Err(self.expected("`true` or `false`")),
                };
                self.word("")?;
                self.put(&mut written.dict, at, key, Attribute::Bool(value))?;
            }
            Piece::Bracket => {
                self.expect("[")?;
                let values = self.list_until("]", Self::operand)?;
                self.segment(written, values);
            }
            Piece::Slice => self.slice_lists(written)?,
            Piece::Numbers(key) => {
                let numbers = self.attribute()?;
                self.put(&mut written.dict, at, key, numbers)?;
            }
            Piece::Clauses(words, optional, key) => {
                self.clauses(words, (optional, key), written)?;
            }
        }
        Ok(())
    }

    fn segment(&mut self, written: &mut Written, values: Vec<Operand>) {
        written.segments.push(values.len());
        written.operands.extend(values);
    }

    /// `[0, %a] [3, 3] [1, 1]`.
    fn slice_lists(&mut self, written: &mut Written) -> Parsed<()> {
        let mut values = Vec::new();
        for name in ["static_offsets", "static_sizes", "static_strides"] {
            let at = self.offset();
            self.expect("[")?;
            let list = self.list_until("]", |reader| {
                if reader.looks_at("%") {
                    values.push(reader.operand()?);
                    return Ok(Attribute::int(DYNAMIC));
                }
                let at = reader.offset();
                let number = reader.number("a whole number or a value")?;
                let number = number.parse().map_err(|_| {
                    reader.fault(at, format!("{number} is no whole number of 64 bits"))
                })?;
                Ok(Attribute::int(number))
            })?;
            self.put(&mut written.dict, at, name, Attribute::List(list))?;
        }
        self.segment(written, values);
        Ok(())
    }

    /// Words with values, in any order, each at most once.
    fn clauses(
        &mut self,
        words: &[&str],
        (optional, key): (usize, &str),
        written: &mut Written,
    ) -> Parsed<()> {
        let start = self.offset();
        let mut found: Vec<Option<Vec<Operand>>> = vec![None; words.len()];
        loop {
            let at = self.offset();
            let word = self.peek_word();
            let Some(place) = words.iter().position(|known| *known == word) else { break };
            self.at += word.len();
            if found[place].is_some() {
                return Err(self.fault(at, format!("`{word}` is given twice")));
            }
            found[place] = Some(self.list(Self::operand)?);
        }
        let given = found[optional..].iter().filter(|values| values.is_some()).count();
        if given > 0 && given < words.len() - optional {
            let both = words[optional..].join("` and `");
            return Err(self.fault(start, format!("expected `{both}` together")));
        }
        if !key.is_empty() {
            self.put(&mut written.dict, start, key, Attribute::Bool(given > 0))?;
        }
        for values in found {
            self.segment(written, values.unwrap_or_default());
        }
        Ok(())
    }

    fn signature(&mut self, signature: Signature, written: &mut Written) -> Parsed<()> {
        let at = self.offset();
        match signature {
            Signature::Function => return self.function_type(written),
            Signature::Arrow | Signature::To => {
                self.first_types(written, 1)?;
                self.between(signature)?;
                written.results = vec![self.ty()?];
            }
            Signature::ToMany => {
                self.first_types(written, 1)?;
                self.expect_word("to")?;
                written.results = self.types()?;
            }
            Signature::ManyTo => {
                let types = self.types()?;
                self.check_types(at, &written.operands, &types)?;
                self.expect_word("to")?;
                written.results = vec![self.ty()?];
            }
            Signature::Into => self.first_types(written, 2)?,
            Signature::IntoSame => {
                self.first_types(written, 2)?;
                written.results =
                    written.operands[1..2].iter().map(|o| self.type_of(o.value).clone()).collect();
            }
            Signature::Only => self.first_types(written, 1)?,
            Signature::Element => {
                let ty = self
                    .first_types(written, 1)
                    .and(Ok(self.type_of(written.operands[0].value)))?;
                let ty = element_of(ty).ok_or_else(|| self.fault(at, "expected an array"))?;
                written.results = vec![ty];
            }
            Signature::Results => {
                self.check_indices(&written.operands)?;
                written.results = self.types()?;
            }
            Signature::Same | Signature::Select => {
                let ty = self.ty()?;
                let skip = usize::from(signature == Signature::Select);
                let first = Type::scalar(pantile_lanes::DType::Bool);
                for operand in &written.operands[..skip] {
                    self.check_type(*operand, &first)?;
                }
                for operand in &written.operands[skip..] {
                    self.check_type(*operand, &ty)?;
                }
                written.results = vec![ty];
            }
        }
        Ok(())
    }

    fn between(&mut self, signature: Signature) -> Parsed<()> {
        if signature == Signature::Arrow { self.expect("->") } else { self.expect_word("to") }
    }

    /// The types of the first operands, `into` between them; the others are indices.
    fn first_types(&mut self, written: &Written, count: usize) -> Parsed<()> {
        for (number, operand) in written.operands[..count].iter().enumerate() {
            if number > 0 {
                self.expect_word("into")?;
            }
            let ty = self.ty()?;
            self.check_type(*operand, &ty)?;
        }
        self.check_indices(&written.operands[count..])
    }

    fn check_indices(&self, operands: &[Operand]) -> Parsed<()> {
        operands.iter().try_for_each(|operand| self.check_type(*operand, &Type::Index))
    }

    /// Names, then operands: `%a = %x, %b = %y`.
    pub(super) fn bindings(&mut self, close: &str) -> Parsed<(Vec<Name<'a>>, Vec<Operand>)> {
        let pairs = self.list_until(close, |reader| {
            let name = reader.name()?;
            reader.expect("=")?;
            Ok((name, reader.operand()?))
        })?;
        Ok(pairs.into_iter().unzip())
    }
}

/// The type of an element of an array.
pub(super) fn element_of(ty: &Type) -> Option<Type> {
    let element = ty.as_array()?.element;
    let index = element.spelling == Spelling::Index;
    Some(if index { Type::Index } else { Type::Scalar(element) })
}
