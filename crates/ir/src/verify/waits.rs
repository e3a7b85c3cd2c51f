//! Handles are waited for once; what they protect is left alone until then.

use std::collections::BTreeMap;

use super::Checker;
use crate::{Block, Op, Operation, Type, Value};

/// What is known about handles at a place in the text.
#[derive(Default)]
struct Open<'p> {
    /// Handles: the operation that made it, the loop around it, and whether it was waited for.
    handles: BTreeMap<Value, Handle<'p>>,
    /// Values that may not be used yet, and the handle that protects them.
    protected: BTreeMap<Value, Value>,
    /// Arrays that are being sent, and the handle.
    sent: Vec<(Value, Value)>,
    /// The arrays that views and casts show.
    bases: BTreeMap<Value, Value>,
}

struct Handle<'p> {
    made_by: &'p Operation,
    around: Option<*const Operation>,
    waited: bool,
}

impl Open<'_> {
    fn base(&self, value: Value) -> Value {
        self.bases.get(&value).copied().unwrap_or(value)
    }
}

impl<'p> Checker<'p> {
    pub(super) fn waits(&mut self) {
        let function = self.function;
        let mut open = Open::default();
        self.waits_in(&function.body, &mut open, None);
        for (value, handle) in &open.handles {
            if !handle.waited {
                let message = format!("{} is never waited for", self.show(*value));
                self.report(handle.made_by, message);
            }
        }
    }

    fn waits_in(
        &mut self,
        block: &'p Block,
        open: &mut Open<'p>,
        around: Option<*const Operation>,
    ) {
        for operation in &block.operations {
            self.uses(operation, open);
            match &operation.op {
                Op::Wait => self.wait(operation, open, around),
                Op::GetHalo { .. } | Op::CopyReshape { .. } | Op::CopyPermute { .. } => {
                    self.starts(operation, open, around);
                }
                Op::Cast | Op::Subview(_) => {
                    let (from, to) = (operation.operands[0], operation.results[0]);
                    let base = open.base(from);
                    open.bases.insert(to, base);
                    if let Some(handle) = open.protected.get(&from).copied() {
                        open.protected.insert(to, handle);
                    }
                }
                Op::InsertSlice(_) => self.writes(operation, operation.operands[1], open),
                Op::Delete => self.writes(operation, operation.operands[0], open),
                _ => {}
            }
            let inside = match operation.op {
                Op::For | Op::While => Some(std::ptr::from_ref(operation)),
                _ => around,
            };
            for block in &operation.blocks {
                self.waits_in(block, open, inside);
            }
        }
    }

    /// Handles are for waiting only, and what they protect is for later.
    fn uses(&mut self, operation: &Operation, open: &Open<'_>) {
        for operand in &operation.operands {
            if *self.ty(*operand) == Type::Handle && operation.op != Op::Wait {
                let message =
                    format!("{} is a handle, it can only be waited for", self.show(*operand));
                self.report(operation, message);
            }
            let Some(handle) = open.protected.get(operand) else { continue };
            let looks = matches!(operation.op, Op::Cast);
            if !looks && !open.handles[handle].waited {
                let message = format!(
                    "{} is used before {} is waited for",
                    self.show(*operand),
                    self.show(*handle)
                );
                self.report(operation, message);
            }
        }
    }

    fn starts(
        &mut self,
        operation: &'p Operation,
        open: &mut Open<'p>,
        around: Option<*const Operation>,
    ) {
        let Some((handle, made)) = operation.results.split_first() else { return };
        open.handles.insert(*handle, Handle { made_by: operation, around, waited: false });
        open.protected.extend(made.iter().map(|value| (*value, *handle)));
        if let Some(sent) = operation.operands.first() {
            open.sent.push((open.base(*sent), *handle));
        }
    }

    fn wait(
        &mut self,
        operation: &Operation,
        open: &mut Open<'_>,
        around: Option<*const Operation>,
    ) {
        let value = operation.operands[0];
        if *self.ty(value) != Type::Handle {
            return;
        }
        let name = self.show(value);
        let message = match open.handles.get_mut(&value) {
            None => Some(format!("{name} comes from no operation of this function")),
            Some(handle) if handle.waited => Some(format!("{name} is waited for twice")),
            Some(handle) => {
                handle.waited = true;
                (handle.around != around)
                    .then(|| format!("{name} was made outside of the loop around its wait"))
            }
        };
        if let Some(message) = message {
            self.report(operation, message);
        }
    }

    /// What is being sent may not be written.
    fn writes(&mut self, operation: &Operation, target: Value, open: &Open<'_>) {
        let base = open.base(target);
        let sending =
            open.sent.iter().find(|(array, handle)| *array == base && !open.handles[handle].waited);
        if let Some((_, handle)) = sending {
            let message = format!(
                "{} is being sent until {} is waited for",
                self.show(target),
                self.show(*handle)
            );
            self.report(operation, message);
        }
    }
}
