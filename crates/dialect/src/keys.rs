//! Numbers for halo exchanges, by which a cache knows them.

use super::rewrite::each_function;
use super::{Member, PassError};
use pantile_ir::{Block, Op, Program};

/// Numbers every `get_halo` of a program, in the order of the text.
pub(super) fn run(program: &mut Program, _: &Member) -> Result<(), PassError> {
    let mut next = 0;
    each_function(program, |_, mut body| {
        number(&mut body, &mut next);
        Ok(body)
    })
}

fn number(block: &mut Block, next: &mut i64) {
    for operation in &mut block.operations {
        if let Op::GetHalo { key, .. } = &mut operation.op {
            *key = *next;
            *next += 1;
        }
        operation.blocks.iter_mut().for_each(|inner| number(inner, next));
    }
}
