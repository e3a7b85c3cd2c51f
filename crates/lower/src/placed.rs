//! Placement made visible: the program in which every array says where it lives.
//!
//! The lowering runs a loop where the least has to move for it, so the results live there. Here
//! these homes are written into the types. What is made from nothing stays open: the loop that
//! needs it makes it where it runs. Lowering the placed program gives the same steps.

use std::collections::BTreeMap;

use pantile_geometry::Distribution;

use super::expr::ExprId;
use super::place::{self};
use super::{LowerError, LowerErrorKind, Lowering, PlaceError, Setting, SlotId};
use pantile_ir::{Block, Env, Function, Op, Operation, Place, Program, Type, Value};

/// Where values live; `None` where two places of a value differ or it lives nowhere yet.
pub(crate) type Homes = BTreeMap<Value, Option<Distribution>>;

/// A program of values in which every array of the entry function says where it lives, so that the
/// least moves. Arrays that say so already stay where they are.
///
/// # Errors
/// As [`super::lower`].
pub fn place(program: &Program, setting: &Setting) -> Result<Program, LowerError> {
    let Some(function) = program.entry() else {
        return Err(LowerErrorKind::NoFunction.at(Place::default()));
    };
    let mut lowering = Lowering::new(program, function, setting);
    lowering.homes = Some(Homes::new());
    let done = lowering.entry();
    done.map_err(|kind| kind.at(lowering.place.clone()))?;
    let homes = lowering.homes.take().unwrap_or_default();
    let texts = agreed(function, &homes, setting);
    let name = function.name.clone();
    let mut placed = program.clone();
    for function in placed.functions.iter_mut().filter(|function| function.name == name) {
        write(function, &texts);
    }
    name_types(&mut placed, &name);
    Ok(placed)
}

impl Lowering<'_> {
    /// Remembers where an operation's results, and the arguments of its blocks, live.
    pub(crate) fn note_homes(&mut self, operation: &Operation) -> Result<(), PlaceError> {
        // Inside of a called function values have other numbers.
        if self.homes.is_none() || self.calls > 0 {
            return Ok(());
        }
        let inside = operation.blocks.iter().flat_map(|block| &block.arguments);
        for value in operation.results.iter().chain(inside) {
            self.note_home(*value)?;
        }
        Ok(())
    }

    /// Remembers where a value lives.
    pub(crate) fn note_home(&mut self, value: Value) -> Result<(), PlaceError> {
        let Some(expr) = self.env.get(&value).copied() else { return Ok(()) };
        let home = self.lives(expr)?;
        let Some(homes) = &mut self.homes else { return Ok(()) };
        let known = homes.entry(value).or_insert_with(|| home.clone());
        if *known != home {
            *known = None;
        }
        Ok(())
    }

    /// Remembers where what is returned was put at last.
    pub(crate) fn note_results(
        &mut self,
        function: &Function,
        slots: &[(SlotId, Type)],
    ) -> Result<(), PlaceError> {
        let Some(homes) = &mut self.homes else { return Ok(()) };
        let mut put = Homes::new();
        for (value, (slot, _)) in returned(function).iter().zip(slots) {
            let home = Some(place::plain(&self.slots[slot.index()].home)?);
            let known = put.entry(*value).or_insert_with(|| home.clone());
            if *known != home {
                *known = None;
            }
        }
        // What is made from nothing stays open.
        put.retain(|value, _| homes.get(value).is_some_and(Option::is_some));
        homes.extend(put);
        Ok(())
    }

    /// Where an expression is, or would be computed; `None` if it is made from nothing but scalars,
    /// which is done where it is needed.
    fn lives(&self, expr: ExprId) -> Result<Option<Distribution>, PlaceError> {
        let home = |slot: SlotId| place::plain(&self.slots[slot.index()].home).map(Some);
        if let Some(slot) = self.plain_slot(expr) {
            return home(slot);
        }
        // Another value of the same scalars may have been put somewhere; this one is still open.
        if self.leaves(&[expr]).iter().all(|(_, access)| access.is_empty()) {
            return Ok(None);
        }
        match self.made.get(&expr) {
            Some(slot) => home(*slot),
            None => self.domain_for(&[expr], &self.exprs[expr].shape).map(Some),
        }
    }
}

/// The text for each value that gets one. Values that must have one type get one only if they
/// all live at the same home.
fn agreed(function: &Function, homes: &Homes, setting: &Setting) -> BTreeMap<Value, String> {
    let mut ties = Ties::new(function.values.len());
    ties.block(&function.body);
    let mut classes: BTreeMap<usize, Vec<Value>> = BTreeMap::new();
    for value in function.all_values() {
        classes.entry(ties.root(value.index())).or_default().push(value);
    }
    let home_of = |value: &Value| homes.get(value).and_then(Option::as_ref);
    let mut texts = BTreeMap::new();
    for values in classes.into_values() {
        let home = home_of(&values[0]);
        let together = values.iter().all(|value| home_of(value) == home);
        let open = values.iter().all(|value| is_open(function.ty(*value)));
        if let Some(home) = home.filter(|_| together && open) {
            let text = template(home, setting);
            texts.extend(values.into_iter().map(|value| (value, text.clone())));
        }
    }
    texts
}

/// True for an array with axes that does not say where it lives.
fn is_open(ty: &Type) -> bool {
    let says = |env: &Env| matches!(env, Env::Dist(_) | Env::Placement(_));
    ty.as_array().is_some_and(|array| array.ndim() > 0 && !array.envs.iter().any(says))
}

/// The text of a home without its shape; also without its mesh if that is all ranks in a line.
fn template(home: &Distribution, setting: &Setting) -> String {
    let ranks = setting.cut_over.unwrap_or(setting.ranks);
    let text = home.to_string();
    let text = text.split_once(" on ").map_or(text.as_str(), |(_, rest)| rest);
    // Cuts and lists are those of so many ranks.
    let general = !text.contains("cuts") && !text.contains("indexed");
    match text.strip_prefix(&format!("r={ranks}: ")).filter(|_| general) {
        Some(short) if !short.split(", ").all(|axis| axis == "whole") => short.to_owned(),
        Some(_) if ranks == setting.ranks => "copies".to_owned(),
        _ => text.to_owned(),
    }
}

fn write(function: &mut Function, texts: &BTreeMap<Value, String>) {
    for (value, text) in texts {
        add(&mut function.values[value.index()].ty, text);
    }
    let returned = returned(function).to_vec();
    for (ty, value) in function.results.iter_mut().zip(returned) {
        if let Some(text) = texts.get(&value) {
            add(ty, text);
        }
    }
}

/// The values that a function returns.
fn returned(function: &Function) -> &[Value] {
    let last = function.body.operations.last().filter(|last| last.op == Op::Return);
    last.map_or(&[], |last| &last.operands)
}

fn add(ty: &mut Type, text: &str) {
    if let Type::Array(array) = ty {
        array.envs.push(Env::Placement(text.into()));
        array.envs.sort_by_key(ToString::to_string);
    }
}

/// Gives every type that was placed a short name: that of the type before, and a number.
fn name_types(program: &mut Program, function: &str) {
    let Some(function) = program.functions.iter().find(|other| other.name == function) else {
        return;
    };
    let placed = function.values.iter().map(|value| &value.ty);
    let mut aliases = program.aliases.clone();
    for ty in placed.filter(|ty| ty.as_array().is_some_and(|array| array.ndim() > 0)) {
        if aliases.iter().any(|(_, known)| known == ty) || is_open(ty) {
            continue;
        }
        let before = unplaced(ty);
        let stem = aliases.iter().find(|(_, known)| *known == before);
        let stem = stem.map_or("at", |(name, _)| name.as_str()).to_owned();
        let taken = |name: &String| aliases.iter().any(|(other, _)| other == name);
        let name = (1_usize..).map(|number| format!("{stem}{number}")).find(|name| !taken(name));
        aliases.extend(name.map(|name| (name, ty.clone())));
    }
    program.aliases = aliases;
}

/// The type without where it lives.
fn unplaced(ty: &Type) -> Type {
    let mut ty = ty.clone();
    if let Type::Array(array) = &mut ty {
        array.envs.retain(|env| !matches!(env, Env::Placement(_)));
    }
    ty
}

/// Values that must have the same type, because a loop hands one on as the other.
struct Ties(Vec<usize>);

impl Ties {
    fn new(values: usize) -> Self {
        Self((0..values).collect())
    }

    fn root(&self, mut value: usize) -> usize {
        while self.0[value] != value {
            value = self.0[value];
        }
        value
    }

    fn tie(&mut self, ones: &[Value], others: &[Value]) {
        for (one, other) in ones.iter().zip(others) {
            let (one, other) = (self.root(one.index()), self.root(other.index()));
            self.0[one.max(other)] = one.min(other);
        }
    }

    fn block(&mut self, block: &Block) {
        for operation in &block.operations {
            operation.blocks.iter().for_each(|inner| self.block(inner));
            self.operation(operation);
        }
    }

    fn operation(&mut self, operation: &Operation) {
        let end = |block: &Block| -> Vec<Value> {
            block.operations.last().map_or_else(Vec::new, |last| last.operands.clone())
        };
        match (&operation.op, &operation.blocks[..]) {
            (Op::For, [body]) => {
                let initial = &operation.operands[3..];
                self.tie(initial, &body.arguments[1..]);
                self.tie(initial, &end(body));
                self.tie(initial, &operation.results);
            }
            (Op::While, [before, after]) => {
                self.tie(&operation.operands, &before.arguments);
                self.tie(&operation.operands, &end(after));
                self.tie(&operation.results, &after.arguments);
                self.tie(&operation.results, end(before).get(1..).unwrap_or(&[]));
            }
            (Op::Region(_), [body]) => self.tie(&operation.results, &end(body)),
            // Its text has one type for both.
            (Op::ImmutableInsertSlice(_), _) => {
                self.tie(&operation.results, &operation.operands[1..2]);
            }
            _ => {}
        }
    }
}
