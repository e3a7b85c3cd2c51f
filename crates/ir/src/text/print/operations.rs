//! Printing operations: by their form if it fits, else quoted.

use super::Printer;
use super::properties::{Property, properties, text_of};
use super::types::entries_text;
use crate::text::constants::scalar_text;
use crate::text::forms::{self, Form, Piece, Signature};
use crate::text::names::{conversion, is_float, predicate_name};
use crate::text::operations::element_of;
use crate::{Attribute, Index, Op, Operation, Slice, Type, Value};
use pantile_lanes::DType;
use std::collections::BTreeSet;
use std::mem::replace;

impl<'p> Printer<'p> {
    pub(super) fn operation(&mut self, operation: &'p Operation) {
        // Operands are named before the results are: nothing may use its own result.
        let names: Vec<String> =
            operation.operands.iter().map(|value| self.value(*value)).collect();
        self.margin();
        let outside = self.scopes.last().filter(|_| !operation.blocks.is_empty()).cloned();
        let results = self.define_results(&operation.results);
        self.out.push_str(&results);
        // Results are not seen inside of blocks, where their names may be those of others.
        let behind =
            outside.and_then(|scope| self.scopes.last_mut().map(|own| replace(own, scope)));
        let name = self.name_of(operation);
        let done = self.structural(operation, name, &names)
            || forms::of(name).is_some_and(|form| self.by_form(form, operation, &names));
        if !done {
            self.generic(operation, name, &names);
        }
        if let (Some(behind), Some(own)) = (behind, self.scopes.last_mut()) {
            *own = behind;
        }
        self.out.push('\n');
    }

    fn name_of(&self, operation: &Operation) -> &'static str {
        let ty = |values: &[Value]| values.first().and_then(|value| self.known(*value));
        match (&operation.op, ty(&operation.operands), ty(&operation.results)) {
            (Op::Convert, Some(from), Some(to)) => conversion(from, to),
            (Op::Compare(_), Some(ty), _) if is_float(ty) => "arith.cmpf",
            (Op::Compare(_), ..) => "arith.cmpi",
            (op, ..) => op.name(),
        }
    }

    fn types_known(&self, values: &[Value]) -> Option<Vec<&'p Type>> {
        values.iter().map(|value| self.known(*value)).collect()
    }

    /// ` {a = 1}`, or nothing.
    pub(super) fn attributes(&self, shown: &[Property], rest: &[(String, Attribute)]) -> String {
        let shown = shown.iter().filter(|property| !property.elsewhere);
        let mut texts: Vec<String> =
            shown.map(|property| format!("{} = {}", property.name, property.text)).collect();
        if !rest.is_empty() {
            texts.push(entries_text(rest));
        }
        if texts.is_empty() { String::new() } else { format!(" {{{}}}", texts.join(", ")) }
    }

    /// `"name"(%a) <{op = 0 : i32}> ({...}) {a = 1} : (T) -> T`.
    fn generic(&mut self, operation: &'p Operation, name: &str, names: &[String]) {
        self.out.push_str(&format!("\"{name}\"({})", names.join(", ")));
        let properties = properties(&operation.op);
        if !properties.is_empty() {
            let texts: Vec<String> =
                properties.iter().map(|p| format!("{} = {}", p.name, p.text)).collect();
            self.out.push_str(&format!(" <{{{}}}>", texts.join(", ")));
        }
        for (number, block) in operation.blocks.iter().enumerate() {
            self.out.push_str(if number == 0 { " (" } else { ", " });
            self.scopes.push(BTreeSet::new());
            self.braces(block, true);
            self.scopes.pop();
        }
        if !operation.blocks.is_empty() {
            self.out.push(')');
        }
        let attributes = self.attributes(&[], &operation.attributes);
        let types = self.function_type(operation);
        self.out.push_str(&format!("{attributes} : {types}"));
    }

    fn function_type(&self, operation: &Operation) -> String {
        let operands = self.types_of(&operation.operands);
        let results = self.types_of(&operation.results);
        let one = operation.results.len() == 1;
        let results = if one { results } else { format!("({results})") };
        format!("({operands}) -> {results}")
    }

    /// Prints an operation by its form; false if the form cannot say all of it.
    fn by_form(&mut self, form: &Form, operation: &Operation, names: &[String]) -> bool {
        let properties = properties(&operation.op);
        let text = self.pieces(form, operation, (names, &properties));
        let Some(text) = text.filter(|_| operation.blocks.is_empty()) else { return false };
        let Some(signature) = self.signature(form.signature, operation) else { return false };
        let attributes = self.attributes(&properties, &operation.attributes);
        self.out.push_str(&format!("{}{text}{attributes} : {signature}", form.name));
        true
    }

    fn pieces(
        &self,
        form: &Form,
        operation: &Operation,
        (names, properties): (&[String], &[Property]),
    ) -> Option<String> {
        let operands = self.types_known(&operation.operands)?;
        let results = self.types_known(&operation.results)?;
        let segments = forms::segments(&operation.op, &operands, &results)?;
        let mut segments = segments.into_iter();
        let mut rest = names;
        let mut take = |count: usize| {
            let (taken, left) = rest.split_at_checked(count)?;
            rest = left;
            Some(taken)
        };
        let mut text = String::new();
        for piece in form.pieces {
            match piece {
                Piece::One => text.push_str(&format!(" {}", take(1)?[0])),
                Piece::Many => {
                    let values = take(segments.next()?)?.join(", ");
                    text.push_str(if values.is_empty() { "" } else { " " });
                    text.push_str(&values);
                }
                Piece::Comma => text.push(','),
                Piece::Word(word) => text.push_str(&format!(" {word}")),
                Piece::Symbol(key) | Piece::Flag(key) | Piece::Numbers(key) => {
                    text.push_str(&format!(" {}", text_of(properties, key)));
                }
                Piece::Bracket => {
                    let values = take(segments.next()?)?.join(", ");
                    text.push_str(if text.ends_with(']') { " " } else { "" });
                    text.push_str(&format!("[{values}]"));
                }
                Piece::Slice => {
                    let values = take(segments.next()?)?;
                    text.push_str(&slice_text(slice_of(&operation.op)?, values)?);
                }
                Piece::Clauses(words, ..) => {
                    for word in *words {
                        let values = take(segments.next()?)?.join(", ");
                        if !values.is_empty() {
                            text.push_str(&format!(" {word} {values}"));
                        }
                    }
                }
            }
        }
        rest.is_empty().then_some(text)
    }

    /// The types behind the colon; None if this signature cannot say them.
    fn signature(&self, signature: Signature, operation: &Operation) -> Option<String> {
        let operands = self.types_known(&operation.operands)?;
        let results = self.types_known(&operation.results)?;
        let indices = |from: usize| operands.iter().skip(from).all(|ty| **ty == Type::Index);
        let one = |text: &str| {
            let [result] = results[..] else { return None };
            Some(format!("{}{text}{}", self.ty(operands.first()?), self.ty(result)))
        };
        match signature {
            Signature::Function => Some(self.function_type(operation)),
            Signature::Arrow => one(" -> ").filter(|_| indices(1)),
            Signature::To => one(" to ").filter(|_| indices(1)),
            Signature::ToMany => {
                let results = self.types(results.iter().copied());
                let text = format!("{} to {results}", self.ty(operands.first()?));
                indices(1).then(|| text.trim_end().to_owned())
            }
            Signature::ManyTo => {
                let [result] = results[..] else { return None };
                let operands = self.types(operands.iter().copied());
                Some(format!("{operands} to {}", self.ty(result)).trim_start().to_owned())
            }
            Signature::Into | Signature::IntoSame => {
                let ([source, target], true) = (operands.get(..2)?, indices(2)) else {
                    return None;
                };
                let fits = match signature {
                    Signature::Into => results.is_empty(),
                    _ => results == [*target],
                };
                fits.then(|| format!("{} into {}", self.ty(source), self.ty(target)))
            }
            Signature::Only => (results.is_empty() && indices(1)).then(|| self.ty(operands[0])),
            Signature::Element => {
                let element = element_of(operands.first()?)?;
                (results == [&element] && indices(1)).then(|| self.ty(operands[0]))
            }
            Signature::Results => (indices(0)).then(|| self.types(results.iter().copied())),
            Signature::Same | Signature::Select => {
                let select = signature == Signature::Select;
                let truth = Type::scalar(DType::Bool);
                let rest = operands.get(usize::from(select)..)?;
                let [result] = results[..] else { return None };
                let same = rest.iter().all(|ty| *ty == result);
                let first = !select || operands.first().is_some_and(|ty| **ty == truth);
                (same && first).then(|| self.ty(result))
            }
        }
    }

    /// Loops, regions, constants, comparisons and ends of blocks; false if the form cannot say
    /// all of it.
    fn structural(&mut self, operation: &'p Operation, name: &str, names: &[String]) -> bool {
        let rest = &operation.attributes;
        let plain = operation.blocks.is_empty();
        let text = match &operation.op {
            Op::Return | Op::Yield | Op::RegionYield if plain && operation.results.is_empty() => {
                let values = self.typed(&operation.operands, names);
                Some(format!("{name}{}{values}", self.attributes(&[], rest)))
            }
            Op::Condition if plain && operation.results.is_empty() => {
                self.condition(operation, names)
            }
            Op::Constant(scalar) if plain && names.is_empty() => {
                let attributes = self.attributes(&[], rest);
                let ty = match operation.results[..] {
                    [result] => self.known(result),
                    _ => None,
                };
                let ty = ty.filter(|ty| {
                    matches!(ty, Type::Index | Type::Scalar(_))
                        && ty.dtype() == Some(scalar.dtype())
                });
                let value = scalar_text(scalar);
                ty.map(|ty| match scalar.dtype() {
                    DType::Bool => format!("{name}{attributes} {value}"),
                    _ => format!("{name}{attributes} {value} : {}", self.ty(ty)),
                })
            }
            Op::Compare(predicate) if plain => {
                let truth = Type::scalar(DType::Bool);
                let types = self.types_known(&operation.operands).unwrap_or_default();
                let results = self.types_known(&operation.results).unwrap_or_default();
                let fits = matches!(types[..], [one, other] if one == other) && results == [&truth];
                let fits = fits && matches!(types[0], Type::Index | Type::Scalar(_));
                // Floats have no comparison as unsigned numbers, and no word for it.
                let fits = fits && (!is_float(types[0]) || predicate.of_unsigned().is_none());
                fits.then(|| {
                    let word = predicate_name(*predicate, name == "arith.cmpf");
                    let attributes = self.attributes(&[], rest);
                    format!(
                        "{name} {word}, {}{attributes} : {}",
                        names.join(", "),
                        self.ty(types[0])
                    )
                })
            }
            Op::For => return self.for_loop(operation, names),
            Op::While => return self.while_loop(operation, names),
            Op::Region(env) => return self.env_region(operation, env, names),
            _ => None,
        };
        self.out.push_str(text.as_deref().unwrap_or_default());
        text.is_some()
    }

    fn condition(&self, operation: &Operation, names: &[String]) -> Option<String> {
        let (truth, passed) = operation.operands.split_first()?;
        let fits = self.known(*truth) == Some(&Type::scalar(DType::Bool));
        let attributes = self.attributes(&[], &operation.attributes);
        let values = self.typed(passed, &names[1..]);
        fits.then(|| format!("scf.condition({}){attributes}{values}", names[0]))
    }

    /// ` %a, %b : T, T`, or nothing.
    pub(super) fn typed(&self, values: &[Value], names: &[String]) -> String {
        if values.is_empty() {
            return String::new();
        }
        format!(" {} : {}", names.join(", "), self.types_of(values))
    }
}

fn slice_of(op: &Op) -> Option<&Slice> {
    match op {
        Op::Subview(slice)
        | Op::ExtractSlice(slice)
        | Op::InsertSlice(slice)
        | Op::ImmutableInsertSlice(slice)
        | Op::DistSubview { slice, .. } => Some(slice),
        _ => None,
    }
}

/// `[0, %a] [3, 3] [1, 1]`.
fn slice_text(slice: &Slice, values: &[String]) -> Option<String> {
    let mut values = values.iter();
    let mut lists = Vec::new();
    for entries in [&slice.offsets, &slice.sizes, &slice.strides] {
        let mut texts = Vec::new();
        for entry in entries {
            texts.push(match entry {
                Index::Known(number) => number.to_string(),
                Index::Operand => values.next()?.clone(),
            });
        }
        lists.push(format!("[{}]", texts.join(", ")));
    }
    Some(lists.join(" "))
}
