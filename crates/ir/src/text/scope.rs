//! The names of values: what they mean, and where they are seen.

use super::reader::{Parsed, Reader, Stop};
use crate::{Type, Value, ValueData};

/// What a name means.
#[derive(Clone, Copy, Debug)]
pub(super) enum Known {
    /// Values next to each other, named at this offset.
    Values { first: u32, count: u32, at: usize },
    /// The operation that would have made it was at fault.
    Lost,
}

/// A use of a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operand {
    pub(super) value: Value,
    pub(super) at: usize,
}

/// Names before `=`: `%a` or `%a:2`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name<'a> {
    pub(super) name: &'a str,
    pub(super) count: u32,
    pub(super) at: usize,
}

impl<'a> Reader<'a> {
    fn known(&self, name: &str) -> Option<Known> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name)).copied()
    }

    /// Reads `%a` or `%a#1`.
    pub(super) fn operand(&mut self) -> Parsed<Operand> {
        let at = self.offset();
        if !self.eat("%") {
            return Err(self.expected("a value (`%name`)"));
        }
        let name = self.suffix("the name of a value")?;
        let number = if self.byte() == b'#' {
            self.at += 1;
            self.digits("the number of a result")?
        } else {
            0
        };
        match self.known(name) {
            None => Err(self.fault(at, format!("there is no value `%{name}` here"))),
            Some(Known::Lost) => Err(Stop::Silent),
            Some(Known::Values { first, count, .. }) => {
                let offset = u32::try_from(number).ok().filter(|number| *number < count);
                let value = offset.map(|offset| Value(first + offset));
                let value = value.ok_or_else(|| {
                    let message = format!("`%{name}` has {count} values, there is no #{number}");
                    self.fault(at, message)
                })?;
                Ok(Operand { value, at })
            }
        }
    }

    /// The type of a value.
    pub(super) fn type_of(&self, value: Value) -> &Type {
        &self.values[value.index()].ty
    }

    /// An operand must have the type that is written for it.
    pub(super) fn check_type(&self, operand: Operand, written: &Type) -> Parsed<()> {
        let known = self.type_of(operand.value);
        if known == written {
            return Ok(());
        }
        Err(self.fault(operand.at, format!("this value has type {known}, not {written}")))
    }

    /// As many types as operands, and the right ones.
    pub(super) fn check_types(
        &self,
        at: usize,
        operands: &[Operand],
        types: &[Type],
    ) -> Parsed<()> {
        if operands.len() != types.len() {
            let message = format!(
                "expected a type for each of {} operands, found {}",
                operands.len(),
                types.len()
            );
            return Err(self.fault(at, message));
        }
        operands.iter().zip(types).try_for_each(|(operand, ty)| self.check_type(*operand, ty))
    }

    /// Reads a name that is to be defined: `%a`, or `%a:2` where several are allowed.
    pub(super) fn name(&mut self) -> Parsed<Name<'a>> {
        let at = self.offset();
        if !self.eat("%") {
            return Err(self.expected("a value (`%name`)"));
        }
        Ok(Name { name: self.suffix("the name of a value")?, count: 1, at })
    }

    /// Names must be new where they are seen.
    pub(super) fn check_new(&self, name: &Name<'_>) -> Parsed<()> {
        let Some(known) = self.known(name.name) else { return Ok(()) };
        let first = match known {
            Known::Values { at, .. } => format!(": first at line {}", self.place(at).line),
            Known::Lost => String::new(),
        };
        Err(self.fault(name.at, format!("`%{}` is defined twice{first}", name.name)))
    }

    /// Makes values of these types with these names; as many as the names say.
    pub(super) fn define(&mut self, names: &[Name<'a>], types: Vec<Type>) -> Parsed<Vec<Value>> {
        let mut types = types.into_iter();
        let mut made = Vec::new();
        for name in names {
            self.check_new(name)?;
            let first = u32::try_from(self.values.len())
                .map_err(|_| self.fault(name.at, "more than 2^32 values"))?;
            // A number is no name: values without one are numbered when they are printed.
            let unnamed = name.name.bytes().all(|byte| byte.is_ascii_digit());
            let given = (!unnamed).then(|| name.name.into());
            for (value, ty) in (first..).zip(types.by_ref().take(name.count as usize)) {
                made.push(Value(value));
                self.values.push(ValueData { ty, name: given.clone() });
            }
            let known = Known::Values { first, count: name.count, at: name.at };
            self.see(name.name, known);
        }
        Ok(made)
    }

    fn see(&mut self, name: &'a str, known: Known) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, known);
        }
    }

    /// Names whose operation was at fault: their uses are not faults of their own.
    pub(super) fn lose(&mut self, names: &[Name<'a>]) {
        for name in names {
            if self.known(name.name).is_none() {
                self.see(name.name, Known::Lost);
            }
        }
    }
}
