//! Reading loops, regions, constants, comparisons and the ends of blocks.

use pantile_lanes::DType;

use super::attributes::Dict;
use super::operations::Written;
use super::reader::{Parsed, Reader};
use super::scope::Name;
use crate::{Block, Op, Operation, Type};

impl<'a> Reader<'a> {
    /// Reads an operation that has no form in the table; None if it is not one of these.
    pub(super) fn structural(&mut self, name: &str, written: &mut Written) -> Parsed<Option<Op>> {
        // The quoted form without its quotes would start with a bracket.
        if self.looks_at("(") && !["scf.while", "scf.condition"].contains(&name) {
            return Ok(None);
        }
        Ok(Some(match name {
            "return" | "func.return" => self.ending(written, Op::Return)?,
            "scf.yield" => self.ending(written, Op::Yield)?,
            "region.env_region_yield" => self.ending(written, Op::RegionYield)?,
            "scf.condition" => {
                self.expect("(")?;
                let truth = self.operand()?;
                self.check_type(truth, &Type::scalar(DType::Bool))?;
                self.expect(")")?;
                self.attributes(&mut written.dict)?;
                self.values_and_types(written)?;
                written.operands.insert(0, truth);
                Op::Condition
            }
            "scf.for" => self.for_loop(written)?,
            "scf.while" => self.while_loop(written)?,
            "region.env_region" => self.env_region(written)?,
            "arith.constant" | "complex.constant" => {
                self.attributes(&mut written.dict)?;
                let (scalar, ty) = self.constant(name == "complex.constant")?;
                written.results = vec![ty];
                Op::Constant(scalar)
            }
            "arith.cmpi" | "arith.cmpf" => self.compare(name, written)?,
            _ => return Ok(None),
        }))
    }

    /// `{attributes} %a, %b : T, T`.
    fn ending(&mut self, written: &mut Written, op: Op) -> Parsed<Op> {
        self.attributes(&mut written.dict)?;
        self.values_and_types(written)?;
        Ok(op)
    }

    fn values_and_types(&mut self, written: &mut Written) -> Parsed<()> {
        if !self.looks_at("%") || self.looks_at_result() {
            return Ok(());
        }
        written.operands = self.list(Self::operand)?;
        self.expect(":")?;
        let at = self.offset();
        let types = self.types()?;
        self.check_types(at, &written.operands, &types)
    }

    /// True if the next value is being defined: the start of another operation.
    fn looks_at_result(&mut self) -> bool {
        let rest = self.rest();
        let inside = |c: char| c.is_ascii_alphanumeric() || "%$_.-:, ".contains(c);
        let end = rest.find(|c| !inside(c)).unwrap_or(rest.len());
        let named = |part: &str| part.trim().starts_with('%') && !part.trim().contains(' ');
        rest[end..].starts_with('=') && rest[..end].split(',').all(named)
    }

    fn compare(&mut self, name: &str, written: &mut Written) -> Parsed<Op> {
        let at = self.offset();
        let word = self.word("a comparison")?;
        let op = self.comparison(name, word, at)?;
        self.expect(",")?;
        written.operands = self.list(Self::operand)?;
        self.attributes(&mut written.dict)?;
        self.expect(":")?;
        let at = self.offset();
        let ty = self.ty()?;
        self.check_types(at, &written.operands, &[ty.clone(), ty.clone()])?;
        let float = super::names::is_float(&ty);
        if float != (name == "arith.cmpf") || !matches!(ty, Type::Index | Type::Scalar(_)) {
            return Err(self.fault(at, format!("`{name}` does not compare {ty}")));
        }
        written.results = vec![Type::scalar(DType::Bool)];
        Ok(op)
    }

    /// `%i = %lower to %upper step %step iter_args(%a = %x) -> (T) { ... }`.
    fn for_loop(&mut self, written: &mut Written) -> Parsed<Op> {
        let mut names = vec![self.name()?];
        self.expect("=")?;
        let lower = self.operand()?;
        self.expect_word("to")?;
        let upper = self.operand()?;
        self.expect_word("step")?;
        let bounds = [lower, upper, self.operand()?];
        bounds.iter().try_for_each(|bound| self.check_type(*bound, &Type::Index))?;
        written.operands = bounds.to_vec();
        let mut types = vec![Type::Index];
        if self.eat_word("iter_args") {
            self.expect("(")?;
            let (carried, values) = self.bindings(")")?;
            self.expect("->")?;
            let at = self.offset();
            written.results = self.result_types()?;
            self.check_types(at, &values, &written.results)?;
            names.extend(carried);
            written.operands.extend(values);
            types.extend(written.results.iter().cloned());
        }
        self.expect("{")?;
        let mut body = self.region(&names, types)?;
        let implied = written.results.is_empty().then_some(Op::Yield);
        self.end_block(&mut body, implied);
        written.blocks.push(body);
        self.attributes(&mut written.dict)?;
        Ok(Op::For)
    }

    /// `(%a = %x) : (T) -> (T) { ... } do { ^bb0(%b: T): ... }`.
    fn while_loop(&mut self, written: &mut Written) -> Parsed<Op> {
        let mut names: Vec<Name<'a>> = Vec::new();
        if self.eat("(") {
            (names, written.operands) = self.bindings(")")?;
        }
        self.expect(":")?;
        let at = self.offset();
        let types = self.types_in_brackets()?;
        self.check_types(at, &written.operands, &types)?;
        self.expect("->")?;
        written.results = self.result_types()?;
        if self.eat_word("attributes") {
            self.expect_braces(&mut written.dict)?;
        }
        self.expect("{")?;
        let before = self.region(&names, types)?;
        self.expect_word("do")?;
        self.expect("{")?;
        let mut after = self.region(&[], Vec::new())?;
        let implied = written.operands.is_empty().then_some(Op::Yield);
        self.end_block(&mut after, implied);
        written.blocks = vec![before, after];
        Ok(Op::While)
    }

    pub(super) fn expect_braces(&mut self, dict: &mut Dict) -> Parsed<()> {
        if self.looks_at("{") { self.attributes(dict) } else { Err(self.expected("`{`")) }
    }

    /// `{attributes} attribute %a : T -> T { ... }`.
    fn env_region(&mut self, written: &mut Written) -> Parsed<Op> {
        self.attributes(&mut written.dict)?;
        let env = self.attribute()?;
        self.values_and_types(written)?;
        if self.eat("->") {
            written.results =
                if self.looks_at("(") { self.types_in_brackets()? } else { self.types()? };
        }
        self.expect("{")?;
        let mut body = self.region(&[], Vec::new())?;
        let implied = written.results.is_empty().then_some(Op::RegionYield);
        self.end_block(&mut body, implied);
        written.blocks.push(body);
        Ok(Op::Region(env))
    }

    /// Where a block hands nothing on, its end may be left out.
    fn end_block(&mut self, block: &mut Block, implied: Option<Op>) {
        let Some(op) = implied else { return };
        let ended = |operation: &Operation| {
            matches!(operation.op, Op::Yield | Op::RegionYield | Op::Return | Op::Condition)
        };
        if !block.operations.last().is_some_and(ended) {
            let place = self.place(self.at - 1);
            block.operations.push(Operation::new(op, Vec::new(), Vec::new()).at(place));
        }
    }
}
