//! Reading programs: aliases, functions, blocks, and going on after a fault.

use std::collections::BTreeMap;

use pantile_text::Fault;

use super::attributes::Dict;
use super::forms;
use super::reader::{Parsed, Reader, Stop};
use super::scope::Name;
use crate::{Attribute, Block, Function, Operation, Program, Type};

/// Longest text that is read, in bytes.
const TEXT_LIMIT: usize = 1 << 26;

/// Most faults that are listed.
const FAULTS_LIMIT: usize = 64;

/// Operations that are not in the table of forms.
const OTHERS: [&str; 22] = [
    "return",
    "func.return",
    "scf.for",
    "scf.while",
    "scf.condition",
    "scf.yield",
    "region.env_region",
    "region.env_region_yield",
    "arith.constant",
    "complex.constant",
    "arith.cmpi",
    "arith.cmpf",
    "dist.local_offsets_of",
    "dist.parts_of",
    "dist.default_partition",
    "dist.ewuny",
    "dist.ewbin",
    "distruntime.team_size",
    "distruntime.team_member",
    "distruntime.allreduce",
    "distruntime.get_halo",
    "distruntime.wait",
];

/// Reads a program. `file` is the name of the text in places and may be empty.
///
/// # Errors
/// All faults that can be found: after one of them reading goes on at the next operation, and
/// what an operation at fault would have defined counts as defined.
pub fn parse(text: &str, file: &str) -> Result<Program, Vec<Fault>> {
    let mut reader = Reader::new(text, file);
    let mut program = Program::default();
    if text.len() > TEXT_LIMIT {
        let message = format!("a text of {} bytes, expected at most {TEXT_LIMIT}", text.len());
        reader.note(Fault::at("", 0, message).in_file(&file.into()).into());
        return Err(reader.faults);
    }
    reader.program(&mut program);
    if reader.faults.is_empty() { Ok(program) } else { Err(reader.faults) }
}

/// Reads a type.
///
/// # Errors
/// The text is not a type, or goes on behind it.
pub fn parse_type(text: &str) -> Result<Type, Fault> {
    let mut reader = Reader::new(text, "");
    let made = reader.ty().and_then(|ty| {
        if reader.at_end() { Ok(ty) } else { Err(reader.expected("the end of the text")) }
    });
    made.map_err(|stop| match stop {
        Stop::Fault(fault) => *fault,
        Stop::Silent => Fault::at("", 0, "expected a type"),
    })
}

impl<'a> Reader<'a> {
    fn note(&mut self, stop: Stop) {
        let Stop::Fault(fault) = stop else { return };
        // What is missing at the end of the text is missing in every open region.
        let place = |fault: &Fault| (fault.line(), fault.column());
        let said = self.faults.last().is_some_and(|last| place(last) == place(&fault));
        if !said && !self.is_full() {
            self.faults.push(*fault);
        }
    }

    fn is_full(&self) -> bool {
        self.faults.len() >= FAULTS_LIMIT
    }

    fn program(&mut self, program: &mut Program) {
        let mut module = false;
        while !self.at_end() && !self.is_full() {
            let start = self.offset();
            let made = if self.looks_at("!") {
                self.alias().map(|alias| program.aliases.push(alias))
            } else if self.looks_at("#") {
                self.attribute_alias()
            } else if module && self.eat("}") {
                module = false;
                Ok(())
            } else if !module && self.eat_word("module") {
                module = true;
                self.module_head()
            } else {
                self.function(program)
            };
            if let Err(stop) = made {
                self.note(stop);
                self.recover(start, |rest| {
                    ["func.func", "!", "#", "}", "module"].iter().any(|word| rest.starts_with(word))
                });
                // A brace that closes nothing would be met for ever.
                if !module && self.looks_at("}") {
                    self.at += 1;
                }
            }
        }
        if module && !self.is_full() {
            let stop = self.expected("`}` at the end of the module");
            self.note(stop);
        }
    }

    fn module_head(&mut self) -> Parsed<()> {
        if self.looks_at("@") {
            self.symbol()?;
        }
        self.expect("{")
    }

    /// `!name = type`.
    fn alias(&mut self) -> Parsed<(String, Type)> {
        let at = self.offset();
        self.expect("!")?;
        let name = self.suffix("the name of a type")?;
        if name.contains(['.', '-']) || name.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(self.fault(at, "the name of a type has letters, digits and `_` only"));
        }
        self.expect("=")?;
        let ty = self.ty()?;
        if self.aliases.contains_key(name) {
            return Err(self.fault(at, format!("`!{name}` is defined twice")));
        }
        self.aliases.insert(name, ty.clone());
        Ok((name.to_owned(), ty))
    }

    /// `func.func @name(%a: T) -> T attributes {...} { ... }`; a `private` or `public` in front of
    /// the name is the attribute `sym_visibility`.
    fn function(&mut self, program: &mut Program) -> Parsed<()> {
        if !self.eat_word("func.func") {
            return Err(self.expected("`func.func`, a type alias or the end of the text"));
        }
        let mut dict = Dict::default();
        let at = self.offset();
        if let word @ ("private" | "public" | "nested") = self.peek_word() {
            self.expect_word(word)?;
            let word = Attribute::String(word.to_owned());
            self.put(&mut dict, at, "sym_visibility", word)?;
        }
        let at = self.offset();
        let place = self.place(at);
        let name = self.symbol()?;
        if !self.functions.insert(name.clone()) {
            let stop = self.fault(at, format!("function `@{name}` is defined twice"));
            self.note(stop);
        }
        self.expect("(")?;
        let arguments = self.list_until(")", Self::argument)?;
        let (names, types): (Vec<Name<'a>>, Vec<Type>) = arguments.into_iter().unzip();
        let results = if self.eat("->") { self.result_types()? } else { Vec::new() };
        if self.eat_word("attributes") {
            self.expect_braces(&mut dict)?;
        }
        self.expect("{")?;
        self.values = Vec::new();
        self.scopes = vec![BTreeMap::new()];
        let body = self.region(&names, types)?;
        let values = std::mem::take(&mut self.values);
        let attributes = dict.rest();
        program.functions.push(Function { name, results, body, values, attributes, place });
        Ok(())
    }

    /// `%a: T`.
    fn argument(&mut self) -> Parsed<(Name<'a>, Type)> {
        let name = self.name()?;
        self.expect(":")?;
        Ok((name, self.ty()?))
    }

    /// Operations up to the closing brace; the opening one was read.
    pub(super) fn region(&mut self, names: &[Name<'a>], types: Vec<Type>) -> Parsed<Block> {
        self.scopes.push(BTreeMap::new());
        let made = self.deeper(|reader| {
            let mut block = Block { arguments: reader.define(names, types)?, operations: vec![] };
            reader.label(&mut block)?;
            reader.operations(&mut block)?;
            Ok(block)
        });
        self.scopes.pop();
        made
    }

    /// `^bb0(%a: T):` if there is one.
    fn label(&mut self, block: &mut Block) -> Parsed<()> {
        let at = self.offset();
        if !self.eat("^") {
            return Ok(());
        }
        self.suffix("the name of a block")?;
        let arguments = if self.eat("(") { self.list_until(")", Self::argument)? } else { vec![] };
        self.expect(":")?;
        if !block.arguments.is_empty() {
            return Err(self.fault(at, "the arguments of this block are named already"));
        }
        let (names, types): (Vec<Name<'a>>, Vec<Type>) = arguments.into_iter().unzip();
        block.arguments = self.define(&names, types)?;
        Ok(())
    }

    fn operations(&mut self, block: &mut Block) -> Parsed<()> {
        while !self.eat("}") {
            if self.at_end() {
                return Err(self.expected("an operation or `}`"));
            }
            if self.is_full() {
                return Err(Stop::Silent);
            }
            let start = self.offset();
            let mut names = Vec::new();
            match self.operation(&mut names) {
                Ok(operation) => block.operations.push(operation),
                Err(stop) => {
                    self.note(stop);
                    self.lose(&names);
                    self.recover(start, starts_operation);
                }
            }
        }
        Ok(())
    }

    /// `%a, %b:2 =`, if there are names.
    pub(super) fn result_names(&mut self) -> Parsed<Vec<Name<'a>>> {
        if !self.looks_at("%") {
            return Ok(Vec::new());
        }
        let names = self.list(|reader| {
            let mut name = reader.name()?;
            if reader.byte() == b':' {
                reader.at += 1;
                let at = reader.at;
                let count = reader.digits("the number of results")?;
                name.count = u32::try_from(count)
                    .ok()
                    .filter(|count| *count > 0)
                    .ok_or_else(|| reader.fault(at, format!("{count} is no number of results")))?;
            }
            Ok(name)
        })?;
        self.expect("=")?;
        Ok(names)
    }

    fn operation(&mut self, names: &mut Vec<Name<'a>>) -> Parsed<Operation> {
        *names = self.result_names()?;
        let at = self.offset();
        let place = self.place(at);
        let (mut written, op) = self.written()?;
        let named: usize = names.iter().map(|name| name.count as usize).sum();
        let count = written.results.len();
        if !names.is_empty() && named != count {
            let message = format!("`{}` has {count} results, {named} are named", written.name);
            return Err(self.fault(names[0].at, message));
        }
        let types = std::mem::take(&mut written.results);
        let results = self.define_results(names, types)?;
        Ok(Operation {
            op,
            operands: written.values(),
            results,
            place,
            blocks: written.blocks,
            attributes: written.dict.rest(),
        })
    }

    fn define_results(
        &mut self,
        names: &[Name<'a>],
        types: Vec<Type>,
    ) -> Parsed<Vec<crate::Value>> {
        if !names.is_empty() || types.is_empty() {
            return self.define(names, types);
        }
        // Nobody wants them: they exist all the same, without a name.
        let count = u32::try_from(types.len()).unwrap_or(u32::MAX);
        self.scopes.push(BTreeMap::new());
        let made = self.define(&[Name { name: "0", count, at: self.at }], types);
        self.scopes.pop();
        made
    }

    /// Goes on behind the operation that starts at `start`, with what it has in braces, at the
    /// next line that looks like a start; never behind a brace that was opened before.
    fn recover(&mut self, start: usize, starts: impl Fn(&str) -> bool) {
        let text = self.text();
        // Looking for the next token may have led to another line.
        let stopped = start + text[start..self.at.max(start)].trim_end().len();
        let bytes = text.as_bytes();
        let (mut at, mut depth, mut line_depth) = (start, 0_usize, 0_usize);
        while at < bytes.len() {
            match bytes[at] {
                b'/' if bytes[at..].starts_with(b"//") => {
                    at += text[at..].find('\n').unwrap_or(text.len() - at);
                    continue;
                }
                b'"' => {
                    at = behind_string(bytes, at);
                    // A string that does not end takes the braces of its line with it.
                    if bytes.get(at) != Some(&b'"') {
                        depth = line_depth;
                    }
                }
                b'{' => depth += 1,
                b'}' if depth == 0 => break,
                b'}' => depth -= 1,
                b'\n' if depth > 0 || at < stopped => line_depth = depth,
                b'\n' => {
                    let rest = text[at..].trim_start();
                    if starts(rest) {
                        break;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        self.at = at.min(bytes.len());
        if self.at <= start {
            // Nothing was skipped: the fault is the brace itself, and the caller looks at it.
            self.at = start;
        }
    }

    /// True if there is an operation with this name.
    pub(super) fn is_known(&self, name: &str) -> bool {
        OTHERS.contains(&name) || forms::of(name).is_some()
    }

    /// There is no such operation, or not in this form; names the one that was meant, perhaps.
    pub(super) fn unknown(&self, at: usize, name: &str, quoted: bool) -> Stop {
        if self.is_known(name) {
            let message = match quoted {
                true => format!("`{name}` has no form in quotes, expected its own one"),
                false => format!(
                    "`{name}` has no short form, expected \"{name}\"(OPERANDS) <{{...}}> : (TYPES) -> TYPES"
                ),
            };
            return self.fault(at, message);
        }
        let names = OTHERS.iter().copied().chain(forms::FORMS.iter().map(|form| form.name));
        let near = names.map(|known| (distance(known, name), known)).min();
        let hint = match near {
            Some((far, known)) if far <= 2 => format!("; did you mean `{known}`?"),
            _ => String::new(),
        };
        let shown: String = name.chars().take(40).collect();
        self.fault(at, format!("there is no operation `{shown}`{hint}"))
    }
}

/// True if an operation or the end of a block may start like this.
fn starts_operation(rest: &str) -> bool {
    let word = rest.split(|c: char| !c.is_ascii_alphanumeric() && !"._".contains(c)).next();
    let word = word.unwrap_or_default();
    rest.starts_with(['%', '"', '}']) || word == "return" || word.contains('.')
}

/// The last byte of the string that starts here, or of its line.
fn behind_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != b'"' && bytes[at] != b'\n' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    if bytes.get(at) == Some(&b'\n') { at - 1 } else { at }
}

/// How many letters differ: changed, left out, too many.
fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    if one.len().abs_diff(other.len()) > 2 {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, b) in other.iter().enumerate() {
            let change = corner + usize::from(a != b);
            corner = row[j + 1];
            row[j + 1] = change.min(corner + 1).min(row[j] + 1);
        }
    }
    row[other.len()]
}
