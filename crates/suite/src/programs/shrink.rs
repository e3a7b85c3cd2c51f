//! A smaller program that still fails.

use pantile_ir::{Block, Op, Value};

use super::Trial;

/// Drops results and operations as long as the program still fails.
#[must_use]
pub fn shrink(mut trial: Trial, fails: &dyn Fn(&Trial) -> bool) -> Trial {
    loop {
        let smaller = candidates(&trial).into_iter().find(|one| fails(one));
        match smaller {
            Some(smaller) => trial = smaller,
            None => return trial,
        }
    }
}

/// Programs with one result or one operation less.
fn candidates(trial: &Trial) -> Vec<Trial> {
    let mut found = Vec::new();
    let entry = &trial.program.functions[0];
    for number in (0..entry.results.len()).filter(|_| entry.results.len() > 1) {
        let mut less = trial.clone();
        let function = &mut less.program.functions[0];
        function.results.remove(number);
        if let Some(end) = function.body.operations.last_mut() {
            end.operands.remove(number);
        }
        found.push(less);
    }
    for number in 1..trial.program.functions.len() {
        let mut less = trial.clone();
        less.program.functions.remove(number);
        found.push(less);
    }
    for number in (0..entry.body.arguments.len()).rev() {
        let mut less = trial.clone();
        less.program.functions[0].body.arguments.remove(number);
        less.arguments.remove(number);
        if is_closed(&less.program.functions[0].body) {
            found.push(less);
        }
    }
    let mut count = 0;
    entry.body.walk(&mut |_| count += 1);
    for number in (0..count).rev() {
        let mut less = trial.clone();
        let function = &mut less.program.functions[0];
        if without(&mut function.body, &mut { number }) && is_closed(&function.body) {
            found.push(less);
        }
    }
    found
}

/// Takes out the operation with this number; false if it ends a block.
fn without(block: &mut Block, number: &mut usize) -> bool {
    for at in 0..block.operations.len() {
        if *number == 0 {
            let ends = matches!(
                block.operations[at].op,
                Op::Return | Op::Yield | Op::Condition | Op::RegionYield
            );
            if !ends {
                block.operations.remove(at);
            }
            return !ends;
        }
        *number -= 1;
        let mut inner = 0;
        block.operations[at].walk(&mut |_| inner += 1);
        if *number < inner - 1 {
            return block.operations[at].blocks.iter_mut().any(|block| {
                let mut own = 0;
                block.walk(&mut |_| own += 1);
                if *number < own {
                    without(block, number)
                } else {
                    *number -= own;
                    false
                }
            });
        }
        *number -= inner - 1;
    }
    false
}

/// Every value that is used is made somewhere.
fn is_closed(body: &Block) -> bool {
    let mut made: Vec<Value> = body.arguments.clone();
    let mut used: Vec<Value> = Vec::new();
    body.walk(&mut |operation| {
        made.extend(&operation.results);
        operation.blocks.iter().for_each(|block| made.extend(&block.arguments));
        used.extend(&operation.operands);
    });
    used.iter().all(|value| made.contains(value))
}
