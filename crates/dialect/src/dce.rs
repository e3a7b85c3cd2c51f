//! Dead code: what is not read is left out.
//!
//! Collective operations stay whatever becomes of their results: other members wait for them.
//! So do writes to arguments, and loops whose number of turns is not known. Writes to an array
//! that is made here and read nowhere go with the array.

use std::collections::{BTreeMap, BTreeSet};

use super::alias::Aliases;
use super::rewrite::{each_function, uses};
use super::{Member, PassError};
use pantile_ir::{Block, Function, Op, Operation, Program, Value};

pub(super) fn run(program: &mut Program, _: &Member) -> Result<(), PassError> {
    each_function(program, |function, mut body| {
        loop {
            let before = count(&body);
            unread_arrays(function, &mut body);
            unused(&mut body);
            if count(&body) == before {
                return Ok(body);
            }
        }
    })
}

fn count(block: &Block) -> usize {
    let mut count = 0;
    block.walk(&mut |_| count += 1);
    count
}

/// True if an operation does nothing but give its results, so that it can be left out.
pub(super) fn is_pure(op: &Op) -> bool {
    let acts = matches!(
        op,
        Op::Return
            | Op::Yield
            | Op::Condition
            | Op::RegionYield
            | Op::While
            | Op::InsertSlice(_)
            | Op::Delete
    );
    !acts && !op.is_collective()
}

fn removable(operation: &Operation) -> bool {
    let mut pure = true;
    operation.walk(&mut |inner| {
        let ends = matches!(inner.op, Op::Yield | Op::RegionYield);
        pure &= is_pure(&inner.op) || ends;
    });
    pure
}

/// Takes out operations without used results, last ones first.
pub(super) fn unused(body: &mut Block) {
    let mut uses = uses(body);
    sweep(body, &mut uses);
}

fn sweep(block: &mut Block, uses: &mut BTreeMap<Value, usize>) {
    let operations = std::mem::take(&mut block.operations);
    for mut operation in operations.into_iter().rev() {
        let used = operation.results.iter().any(|value| uses.get(value).is_some_and(|n| *n > 0));
        if !used && removable(&operation) && !operation.results.is_empty() {
            operation.walk(&mut |inner| {
                for operand in &inner.operands {
                    uses.entry(*operand).and_modify(|count| *count -= 1);
                }
            });
            continue;
        }
        // A loop without results may have lost all that it did.
        let idle = operation.results.is_empty()
            && matches!(operation.op, Op::For | Op::Region(_))
            && removable(&operation);
        if idle {
            operation.walk(&mut |inner| {
                for operand in &inner.operands {
                    uses.entry(*operand).and_modify(|count| *count -= 1);
                }
            });
            continue;
        }
        for inner in operation.blocks.iter_mut().rev() {
            sweep(inner, uses);
        }
        block.operations.push(operation);
    }
    block.operations.reverse();
}

/// Takes out what is only written: inserts into arrays that are not read.
fn unread_arrays(function: &Function, body: &mut Block) {
    let aliases = Aliases::new(function, body);
    let mut read: BTreeSet<usize> =
        body.arguments.iter().map(|value| aliases.class(*value)).collect();
    body.walk(&mut |operation| {
        let kept = match operation.op {
            Op::Subview(_) | Op::DistSubview { .. } | Op::Cast => &operation.operands[1..],
            Op::Delete => &[],
            Op::InitDist | Op::PartsOf => &[],
            Op::InsertSlice(_) => {
                read.insert(aliases.class(operation.operands[0]));
                &operation.operands[2..]
            }
            _ => &operation.operands[..],
        };
        read.extend(kept.iter().map(|value| aliases.class(*value)));
        // What comes from elsewhere is seen elsewhere.
        if matches!(operation.op, Op::FromMemRef | Op::GetHalo { .. }) {
            read.extend(operation.results.iter().map(|value| aliases.class(*value)));
        }
    });
    forget(body, &|operation| {
        let written = match operation.op {
            Op::InsertSlice(_) => operation.operands[1],
            Op::Delete => operation.operands[0],
            _ => return false,
        };
        !read.contains(&aliases.class(written))
    });
}

fn forget(block: &mut Block, gone: &dyn Fn(&Operation) -> bool) {
    block.operations.retain(|operation| !gone(operation));
    for operation in &mut block.operations {
        operation.blocks.iter_mut().for_each(|block| forget(block, gone));
    }
}
