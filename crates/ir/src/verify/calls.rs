//! Functions: names, the one that is run, and those that are applied to blocks.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use crate::{Function, Op, Operation, Place, Program};

/// What was found, each with the number of its function; None for the program.
pub(super) type Found = Vec<(Option<usize>, Finding)>;

/// What each function applies to blocks.
type Calls<'p> = Vec<Vec<(&'p Operation, &'p str)>>;

/// Where each function is.
type FunctionNumbers<'p> = BTreeMap<&'p str, usize>;

pub(super) fn check(program: &Program) -> Found {
    let mut found = Vec::new();
    if program.functions.is_empty() {
        found.push((None, whole("the program has no functions, expected one to run")));
    }
    let mut aliases = BTreeSet::new();
    for (name, _) in &program.aliases {
        if !aliases.insert(name) {
            found.push((None, whole(&format!("the type `!{name}` is defined twice"))));
        }
    }
    let mut places: FunctionNumbers<'_> = BTreeMap::new();
    for (number, function) in program.functions.iter().enumerate() {
        if places.contains_key(function.name.as_str()) {
            let finding = at(function, None, "there is another function with this name");
            found.push((Some(number), finding));
        }
        places.entry(&function.name).or_insert(number);
    }
    let calls: Calls<'_> = program.functions.iter().map(calls_of).collect();
    for (number, function) in program.functions.iter().enumerate() {
        for (operation, name) in &calls[number] {
            let message = match places.get(name) {
                None => format!("there is no function @{name}"),
                Some(_) if reaches(&places, &calls, name, &function.name) => {
                    format!("@{name} comes back to @{}: no recursion", function.name)
                }
                Some(_) => continue,
            };
            found.push((Some(number), at(function, Some(operation), &message)));
        }
    }
    collectives(program, &calls, &mut found);
    found
}

fn whole(message: &str) -> Finding {
    Finding {
        place: Place::default(),
        function: String::new(),
        op: String::new(),
        message: message.to_owned(),
    }
}

fn at(function: &Function, operation: Option<&Operation>, message: &str) -> Finding {
    Finding {
        place: operation.map_or(&function.place, |operation| &operation.place).clone(),
        function: function.name.clone(),
        op: operation.map(|operation| operation.op.name().to_owned()).unwrap_or_default(),
        message: message.to_owned(),
    }
}

fn calls_of(function: &Function) -> Vec<(&Operation, &str)> {
    let mut called = Vec::new();
    function.body.walk(&mut |operation| {
        if let Op::MapBlocks { function, .. } = &operation.op {
            called.push((operation, function.as_str()));
        }
    });
    called
}

/// True if `from` calls `to`, perhaps through others.
fn reaches(places: &FunctionNumbers<'_>, calls: &Calls<'_>, from: &str, to: &str) -> bool {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(name) = open.pop() {
        if name == to {
            return true;
        }
        if seen.insert(name)
            && let Some(at) = places.get(name)
        {
            open.extend(calls[*at].iter().map(|(_, called)| *called));
        }
    }
    false
}

/// Members have different blocks, so nothing collective may happen to them.
fn collectives(program: &Program, calls: &Calls<'_>, found: &mut Found) {
    let called: BTreeSet<&str> = calls.iter().flatten().map(|(_, name)| *name).collect();
    for (number, function) in program.functions.iter().enumerate() {
        if !called.contains(function.name.as_str()) {
            continue;
        }
        function.body.walk(&mut |operation| {
            if operation.op.is_collective() {
                let message = "all members take part in this, but each applies the function to \
                               blocks of its own";
                found.push((Some(number), at(function, Some(operation), message)));
            }
        });
    }
}
