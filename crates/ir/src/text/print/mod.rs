//! Printing programs.

mod loops;
mod operations;
mod properties;
pub(super) mod types;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::{Block, Function, Program, Type, Value};
use types::{Symbol, entries_text};

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut aliases = BTreeMap::new();
        for (name, ty) in &self.aliases {
            let text = ty.to_string();
            let known = aliases.get(&text);
            writeln!(f, "!{name} = {}", known.map_or(text.as_str(), String::as_str))?;
            aliases.entry(text).or_insert_with(|| format!("!{name}"));
        }
        for (number, function) in self.functions.iter().enumerate() {
            if number > 0 || !self.aliases.is_empty() {
                writeln!(f)?;
            }
            f.write_str(&Printer::new(&aliases, function).function())?;
        }
        Ok(())
    }
}

/// One function of a program as text; types are written with the program's aliases.
#[must_use]
pub fn print_function(program: &Program, function: &Function) -> String {
    let mut aliases = BTreeMap::new();
    for (name, ty) in &program.aliases {
        aliases.entry(ty.to_string()).or_insert_with(|| format!("!{name}"));
    }
    Printer::new(&aliases, function).function()
}

/// A type as text, without aliases.
#[must_use]
pub fn print_type(ty: &Type) -> String {
    ty.to_string()
}

/// A function while it is printed.
pub(super) struct Printer<'p> {
    aliases: &'p BTreeMap<String, String>,
    function: &'p Function,
    out: String,
    /// The text of each value, `%` included; empty until it is defined.
    names: Vec<String>,
    /// The names that are seen, one set for each open block.
    scopes: Vec<BTreeSet<String>>,
    /// The next number for a value without a name.
    next: usize,
    indent: usize,
}

impl<'p> Printer<'p> {
    fn new(aliases: &'p BTreeMap<String, String>, function: &'p Function) -> Self {
        let names = vec![String::new(); function.values.len()];
        let scopes = vec![BTreeSet::new()];
        Self { aliases, function, out: String::new(), names, scopes, next: 0, indent: 0 }
    }

    fn function(mut self) -> String {
        let arguments = self.define_arguments(&self.function.body.arguments);
        let results = match &self.function.results[..] {
            [] => String::new(),
            [one] => format!(" -> {}", self.ty(one)),
            many => format!(" -> ({})", self.types(many.iter())),
        };
        let attributes = match &self.function.attributes[..] {
            [] => String::new(),
            entries => format!(" attributes {{{}}}", entries_text(entries)),
        };
        let name = Symbol(&self.function.name);
        self.out = format!("func.func {name}({arguments}){results}{attributes} {{\n");
        self.operations(&self.function.body);
        self.out.push_str("}\n");
        self.out
    }

    /// `%a: T, %b: T`; from here on they have these names.
    fn define_arguments(&mut self, arguments: &[Value]) -> String {
        let mut texts = Vec::new();
        for argument in arguments {
            let name = self.define(&[*argument]);
            texts.push(format!("{name}: {}", self.ty_of(*argument)));
        }
        texts.join(", ")
    }

    fn ty(&self, ty: &Type) -> String {
        let text = ty.to_string();
        self.aliases.get(&text).cloned().unwrap_or(text)
    }

    fn types<'t>(&self, types: impl Iterator<Item = &'t Type>) -> String {
        types.map(|ty| self.ty(ty)).collect::<Vec<_>>().join(", ")
    }

    fn known(&self, value: Value) -> Option<&'p Type> {
        self.function.values.get(value.index()).map(|data| &data.ty)
    }

    fn ty_of(&self, value: Value) -> String {
        self.known(value).map_or_else(|| "!unknown".to_owned(), |ty| self.ty(ty))
    }

    fn types_of(&self, values: &[Value]) -> String {
        values.iter().map(|value| self.ty_of(*value)).collect::<Vec<_>>().join(", ")
    }

    fn value(&self, value: Value) -> String {
        match self.names.get(value.index()) {
            Some(name) if !name.is_empty() => name.clone(),
            _ => format!("%undefined_{}", value.index()),
        }
    }

    /// Names for values that belong together: `%a`, or `%a:2` for `%a#0` and `%a#1`.
    fn define(&mut self, values: &[Value]) -> String {
        let given = values.first().and_then(|value| self.given(*value));
        let name = match given {
            Some(name) => self.unique(&name),
            None => {
                self.next += 1;
                (self.next - 1).to_string()
            }
        };
        let one = values.len() == 1;
        for (number, value) in values.iter().enumerate() {
            if let Some(text) = self.names.get_mut(value.index()) {
                *text = if one { format!("%{name}") } else { format!("%{name}#{number}") };
            }
        }
        let text = if one { format!("%{name}") } else { format!("%{name}:{}", values.len()) };
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name);
        }
        text
    }

    /// The name that somebody gave, with letters that the text allows; numbers are no names.
    fn given(&self, value: Value) -> Option<String> {
        let name = self.function.values.get(value.index())?.name.as_deref()?;
        if name.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let fits = |c: char| c.is_ascii_alphanumeric() || "_$.".contains(c);
        let next = name.chars().skip(1).map(Some).chain([None]);
        let letter = |(c, next): (char, Option<char>)| {
            if fits(c) || (c == '-' && next.is_some_and(fits)) { c } else { '_' }
        };
        Some(name.chars().zip(next).map(letter).collect())
    }

    /// A name that is not seen here yet.
    fn unique(&self, name: &str) -> String {
        let seen = |name: &str| self.scopes.iter().any(|scope| scope.contains(name));
        if !seen(name) {
            return name.to_owned();
        }
        let others = (1_usize..).map(|number| format!("{name}_{number}"));
        others.into_iter().find(|name| !seen(name)).unwrap_or_default()
    }

    /// `%a, %b:2 = `: the names of results; those that share a name are a group.
    fn define_results(&mut self, results: &[Value]) -> String {
        let mut texts = Vec::new();
        let mut rest = results;
        while let Some(first) = rest.first() {
            let name = self.given(*first);
            let same = rest.iter().take_while(|value| self.given(**value) == name).count();
            texts.push(self.define(&rest[..same]));
            rest = &rest[same..];
        }
        if texts.is_empty() { String::new() } else { format!("{} = ", texts.join(", ")) }
    }

    fn margin(&mut self) {
        self.out.extend(std::iter::repeat_n("  ", self.indent));
    }

    /// The operations of a block, indented once more.
    fn operations(&mut self, block: &'p Block) {
        self.indent += 1;
        for operation in &block.operations {
            self.operation(operation);
        }
        self.indent -= 1;
    }

    /// ` {`, the block with its arguments if they are not named elsewhere, and `}`.
    fn braces(&mut self, block: &'p Block, label: bool) {
        self.out.push_str("{\n");
        if label && !block.arguments.is_empty() {
            let arguments = self.define_arguments(&block.arguments);
            self.margin();
            self.out.push_str(&format!("^bb0({arguments}):\n"));
        }
        self.operations(block);
        self.margin();
        self.out.push('}');
    }
}
