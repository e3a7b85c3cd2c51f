//! Programs: functions of blocks of operations in SSA form.

use std::fmt;
use std::sync::Arc;

use crate::{Attribute, Op, Type};

/// A value of a function: its place in the function's list of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value(pub(crate) u32);

impl Value {
    /// Its place in the function's list of values.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Where something was written: a text or a source file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Place {
    /// The file; empty for a text without a name.
    pub file: Arc<str>,
    /// Line from 1; 0 if nobody wrote it (a pass made it).
    pub line: u32,
    /// Column from 1.
    pub column: u32,
}

impl Place {
    /// True if it tells a reader where to look: not made by a pass, and in a file. What was typed in a
    /// shell or given to `python -c` is in none.
    #[must_use]
    pub fn is_in_a_file(&self) -> bool {
        self.line != 0 && !matches!(&*self.file, "<string>" | "<stdin>")
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&*self.file, self.line) {
            (_, 0) => write!(f, "made by a pass"),
            ("", line) => write!(f, "line {line}, column {}", self.column),
            (file, line) => write!(f, "{file}:{line}:{}", self.column),
        }
    }
}

/// What is known of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ValueData {
    /// Its type.
    pub ty: Type,
    /// Its name without `%`, if somebody gave one. The results of one operation may share a name;
    /// they are then `%name#0`, `%name#1`, ...
    pub name: Option<Arc<str>>,
}

/// An operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Operation {
    /// What it does.
    pub op: Op,
    /// What it takes; the order is that of the documentation of [`Op`].
    pub operands: Vec<Value>,
    /// What it gives.
    pub results: Vec<Value>,
    /// The bodies of loops and regions.
    pub blocks: Vec<Block>,
    /// Attributes that have no meaning of their own here; carried along.
    pub attributes: Vec<(String, Attribute)>,
    /// Where it was written.
    pub place: Place,
}

/// Operations in order, with arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Block {
    /// Its arguments.
    pub arguments: Vec<Value>,
    /// Its operations; the last one ends it (`return`, `scf.yield`, `scf.condition`).
    pub operations: Vec<Operation>,
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Function {
    /// Its name without `@`.
    pub name: String,
    /// The types of its results.
    pub results: Vec<Type>,
    /// Its arguments and operations.
    pub body: Block,
    /// All its values, those of nested blocks too.
    pub values: Vec<ValueData>,
    /// Attributes that are carried along.
    pub attributes: Vec<(String, Attribute)>,
    /// Where it was written.
    pub place: Place,
}

/// A program: functions, of which the first (or the one called `main`) is run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Program {
    /// The functions in order.
    pub functions: Vec<Function>,
    /// Names of types, as written: `!grid = !ndarray.ndarray<...>`.
    pub aliases: Vec<(String, Type)>,
}

impl Program {
    /// The function that is run: `main`, else the first.
    #[must_use]
    pub fn entry(&self) -> Option<&Function> {
        let main = self.functions.iter().find(|function| function.name == "main");
        main.or(self.functions.first())
    }

    /// The function with this name.
    #[must_use]
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|function| function.name == name)
    }

    /// How many operations are written in it, those in loops once.
    #[must_use]
    pub fn operations(&self) -> usize {
        self.functions.iter().map(|function| function.body.all_operations()).sum()
    }
}

impl Block {
    fn all_operations(&self) -> usize {
        let inside = |operation: &Operation| {
            1 + operation.blocks.iter().map(Self::all_operations).sum::<usize>()
        };
        self.operations.iter().map(inside).sum()
    }
}

impl Function {
    /// A function without arguments and operations.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            results: Vec::new(),
            body: Block::default(),
            values: Vec::new(),
            attributes: Vec::new(),
            place: Place::default(),
        }
    }

    /// A new value of this type.
    ///
    /// # Panics
    /// If there are 2^32 of them.
    pub fn value(&mut self, ty: Type) -> Value {
        let number = u32::try_from(self.values.len()).expect("fewer than 2^32 values");
        self.values.push(ValueData { ty, name: None });
        Value(number)
    }

    /// All its values, in order.
    pub fn all_values(&self) -> impl Iterator<Item = Value> + use<> {
        (0..).map(Value).take(self.values.len())
    }

    /// The type of a value.
    #[must_use]
    pub fn ty(&self, value: Value) -> &Type {
        &self.values[value.index()].ty
    }
}

impl Operation {
    /// An operation that nobody wrote.
    #[must_use]
    pub fn new(op: Op, operands: Vec<Value>, results: Vec<Value>) -> Self {
        Self {
            op,
            operands,
            results,
            blocks: Vec::new(),
            attributes: Vec::new(),
            place: Place::default(),
        }
    }

    /// The same operation, written there.
    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.place = place;
        self
    }

    /// Calls `f` with every operation inside of this one, and with this one first.
    pub fn walk<'a>(&'a self, f: &mut dyn FnMut(&'a Operation)) {
        f(self);
        for block in &self.blocks {
            block.operations.iter().for_each(|operation| operation.walk(f));
        }
    }
}

impl Block {
    /// Calls `f` with every operation, nested ones too, in the order of the text.
    pub fn walk<'a>(&'a self, f: &mut dyn FnMut(&'a Operation)) {
        self.operations.iter().for_each(|operation| operation.walk(f));
    }
}
