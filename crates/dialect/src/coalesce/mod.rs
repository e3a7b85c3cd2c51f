//! One repartition for all that is read of an array between two writes to it.
//!
//! What a member needs for the elements that it will write is found from the targets of inserts,
//! up through the elementwise operations: each read of the tree then is a view of a box that is
//! fetched once.
//!
//! ```text
//!   v1 = a[s1]   rp(v1)                   box = bb(s1, T)   box = bb(s2, T, box)
//!   v2 = a[s2]   rp(v2)            ->     A = rp(a, box)
//!   insert rp(rp(v1) + rp(v2), T)         insert A[s1]@T + A[s2]@T
//! ```
//!
//! Reads keep their place between the writes of their array; arrays that are written through,
//! returned or reduced are not read from boxes. Everything goes by the order of the program, so
//! that all members do the same.

mod block;
mod reads;
mod write;

pub(super) use block::DefUse;

use super::alias::Aliases;
use super::rewrite::each_function;
use super::{Member, PassError, dce};
use pantile_ir::{Block, Function, Op, Operation, Program};

pub(super) fn run(program: &mut Program, _: &Member) -> Result<(), PassError> {
    each_function(program, |function, body| {
        let aliases = Aliases::new(function, &body);
        let mut body = blocks(function, &aliases, body);
        dce::unused(&mut body);
        Ok(body)
    })
}

fn blocks(function: &mut Function, aliases: &Aliases, mut block: Block) -> Block {
    for operation in &mut block.operations {
        let inner = std::mem::take(&mut operation.blocks);
        operation.blocks =
            inner.into_iter().map(|inner| blocks(function, aliases, inner)).collect();
    }
    if !block.operations.iter().any(|operation| is_dist(&operation.op)) {
        return block;
    }
    let plan = reads::plan(function, aliases, &block);
    write::write(function, plan, block)
}

fn is_dist(op: &Op) -> bool {
    matches!(op, Op::Repartition { .. } | Op::DistSubview { .. }) || is_elementwise(op)
}

/// True for the elementwise operations of members.
pub(super) fn is_elementwise(op: &Op) -> bool {
    matches!(op, Op::DistUnary(_) | Op::DistBinary(_))
}

/// The operands of an elementwise operation that are arrays.
pub(super) fn arrays_of(operation: &Operation) -> usize {
    match operation.op {
        Op::DistBinary(_) => 2,
        _ => 1,
    }
}
