//! Loops.

use std::collections::BTreeSet;

use pantile_lanes::{Binary, DType, Scalar};

use super::communication_insertion::{Target, whole_region};
use super::expr::ExprId;
use super::place;
use super::{Carried, LoopError, LowerErrorKind, Lowering, Repeat, SlotId, Step, TripCount};
use pantile_ir::{Block, Index, Op, Operation, Value};

/// Loops whose turns differ in what moves are written out; this many turns at most.
const MOST_TURNS: u64 = 10_000;

/// The counter of a loop, where that is known before the program runs: from `lower` on by `step`,
/// which is at least 1, below `upper`.
#[derive(Clone, Copy)]
struct Range {
    lower: i64,
    upper: i64,
    step: i64,
}

impl Range {
    /// How many turns there are.
    fn turns(self) -> Option<u64> {
        let [lower, upper, step] = [self.lower, self.upper, self.step].map(i128::from);
        u64::try_from((upper - lower + step - 1).div_euclid(step).max(0)).ok()
    }

    /// The same turns, `each` of them as a round, and those that are left over: `0..7` in rounds of
    /// 3 is `0..6` by 3, and `6..7`. `None` if there is no round of several turns.
    fn in_rounds(self, each: usize) -> Option<(Self, Self)> {
        let rounds = self.turns()?.checked_div(u64::try_from(each).ok()?)?;
        if each < 2 || rounds == 0 {
            return None;
        }
        let step = self.step.checked_mul(i64::try_from(each).ok()?)?;
        let end = step.checked_mul(i64::try_from(rounds).ok()?)?.checked_add(self.lower)?;
        Some((Self { upper: end, step, ..self }, Self { lower: end, ..self }))
    }
}

impl<'a> Lowering<'a> {
    /// `scf.for`.
    pub(crate) fn repeat_count(&mut self, operation: &'a Operation) -> Result<(), LowerErrorKind> {
        let block = &operation.blocks[0];
        let bounds: Vec<ExprId> = operation.operands[..3]
            .iter()
            .map(|value| self.value(*value))
            .collect::<Result<_, _>>()?;
        let known: Vec<Option<i64>> = bounds
            .iter()
            .map(|expr| self.exprs.known(*expr).and_then(|value| value.get::<i64>()))
            .collect();
        if known[2].is_some_and(|step| step < 1) {
            return Err(LoopError::Step { got: known[2].unwrap_or(0) }.into());
        }
        let range = match known[..] {
            [Some(lower), Some(upper), Some(step)] => Some(Range { lower, upper, step }),
            _ => None,
        };
        if shapes_depend(block, block.arguments[0]) {
            let Some(range) = range else {
                return Err(LoopError::UnknownBounds.into());
            };
            return self.unrolled(operation, range);
        }
        // Several turns of the program are one of the steps, if that saves exchanges.
        let each = self.setting.steps_per_exchange;
        let Some((rounds, rest)) = range.and_then(|range| range.in_rounds(each)) else {
            let turns = range.and_then(Range::turns);
            return self.rounds(operation, &bounds, turns, (1, 0)).map(|_| ());
        };
        let [upper, step] =
            [rounds.upper, rounds.step].map(|bound| self.exprs.constant(Scalar::of(bound), &[]));
        let each = (each, rest.step);
        let current = self.rounds(operation, &[bounds[0], upper, step], rounds.turns(), each)?;
        match rest.turns() {
            None | Some(0) => Ok(()),
            Some(left) => {
                let counter = self.exprs.constant(Scalar::of(rest.lower), &[]);
                self.last_turns(operation, (counter, rest.step), left, &current)
            }
        }
    }

    /// A loop each of whose rounds is `each` turns of the program, by `step` of the counter from one
    /// to the next. Its bounds are those of rounds, of which there are so many, if that is known.
    /// Gives the slots of what it carries.
    fn rounds(
        &mut self,
        operation: &'a Operation,
        bounds: &[ExprId],
        turns: Option<u64>,
        (each, step): (usize, i64),
    ) -> Result<Vec<SlotId>, LowerErrorKind> {
        let block = &operation.blocks[0];
        let mut slots = Vec::new();
        for bound in bounds {
            let bound = self.exprs.cast(*bound, DType::I64);
            slots.push(self.scalar_slot(bound)?);
        }
        let initial = self.initial(&operation.operands[3..])?;
        let counter_home = place::everywhere(&[], self.ranks)?;
        let counter = self.new_slot(DType::I64, counter_home);
        let counter_expr = self.exprs.slot(counter, DType::I64, &[]);
        let current = self.current(&initial, &block.arguments[1..]);
        let outer = std::mem::take(&mut self.steps);
        let known = (self.made.clone(), self.copies.clone(), self.sums.clone());
        let first = self.slots.len();
        let each = u64::try_from(each)?;
        let next = self.turns(block, (counter_expr, step), each, &current)?;
        let carried = self.carry(&initial, &current, &next, first)?;
        (self.made, self.copies, self.sums) = known;
        let body = std::mem::replace(&mut self.steps, outer);
        let turns =
            TripCount::Count { lower: slots[0], upper: slots[1], step: slots[2], counter, turns };
        let place = operation.place.clone();
        self.steps.push(Step::Repeat(Box::new(Repeat { turns, body, carried, place })));
        self.bind(&operation.results, &current);
        Ok(current)
    }

    /// The turns that rounds of several turns leave over.
    fn last_turns(
        &mut self,
        operation: &'a Operation,
        counter: (ExprId, i64),
        left: u64,
        current: &[SlotId],
    ) -> Result<(), LowerErrorKind> {
        let block = &operation.blocks[0];
        self.bind(&block.arguments[1..], current);
        let last = self.turns(block, counter, left, current)?;
        for (value, (expr, slot)) in operation.results.iter().zip(last.into_iter().zip(current)) {
            let home = self.slots[slot.index()].home.clone();
            let slot = self.materialise(expr, Some(&home))?;
            self.bind(std::slice::from_ref(value), &[slot]);
        }
        Ok(())
    }

    /// Some turns of a loop one after the other, from a value of its counter on. What they carry
    /// is bound for the first one, and lives like `current` in between.
    fn turns(
        &mut self,
        block: &'a Block,
        (counter, step): (ExprId, i64),
        turns: u64,
        current: &[SlotId],
    ) -> Result<Vec<ExprId>, LowerErrorKind> {
        self.env.insert(block.arguments[0], counter);
        let mut next = self.block(block)?;
        for turn in 1..turns {
            let turn = i64::try_from(turn)?;
            let more = self.exprs.constant(Scalar::of(turn * step), &[]);
            let at = self.binary(Binary::Add, counter, more, Some(DType::I64))?;
            self.env.insert(block.arguments[0], at);
            if next.len() != current.len() {
                break;
            }
            for ((value, expr), slot) in block.arguments[1..].iter().zip(next).zip(current) {
                let home = self.slots[slot.index()].home.clone();
                let same = self.exprs[expr].shape == home.shape();
                let slot = self.materialise(expr, same.then_some(&home))?;
                self.bind(std::slice::from_ref(value), &[slot]);
            }
            next = self.block(block)?;
        }
        Ok(next)
    }

    /// A loop written out turn by turn.
    fn unrolled(&mut self, operation: &'a Operation, range: Range) -> Result<(), LowerErrorKind> {
        let block = &operation.blocks[0];
        let turns = range.turns().unwrap_or(u64::MAX);
        if turns > MOST_TURNS {
            return Err(LoopError::TooManyTurns { turns, limit: MOST_TURNS }.into());
        }
        let mut carried: Vec<ExprId> = operation.operands[3..]
            .iter()
            .map(|value| self.value(*value))
            .collect::<Result<_, _>>()?;
        let mut at = range.lower;
        for _ in 0..turns {
            let counter = self.exprs.constant(Scalar::of(at), &[]);
            self.env.insert(block.arguments[0], counter);
            for (value, expr) in block.arguments[1..].iter().zip(&carried) {
                self.env.insert(*value, *expr);
            }
            let next = self.block(block)?;
            // Otherwise a loop would become one expression as deep as it has turns.
            carried = next.into_iter().map(|expr| self.stored(expr)).collect::<Result<_, _>>()?;
            at = at.wrapping_add(range.step);
        }
        for (value, expr) in operation.results.iter().zip(carried) {
            self.env.insert(*value, expr);
        }
        Ok(())
    }

    /// `scf.while`.
    pub(crate) fn repeat_while(&mut self, operation: &'a Operation) -> Result<(), LowerErrorKind> {
        let (before, after) = (&operation.blocks[0], &operation.blocks[1]);
        let initial = self.initial(&operation.operands)?;
        let current = self.current(&initial, &before.arguments);
        let outer = std::mem::take(&mut self.steps);
        let known = (self.made.clone(), self.copies.clone(), self.sums.clone());
        let first = self.slots.len();
        let passed = self.block(before)?;
        let (condition, passed) = passed.split_first().ok_or(LoopError::NoCondition)?;
        let condition = self.scalar_slot(*condition)?;
        let passed: Vec<SlotId> =
            passed.iter().map(|expr| self.materialise(*expr, None)).collect::<Result<_, _>>()?;
        self.bind(&after.arguments, &passed);
        let steps_before = std::mem::take(&mut self.steps);
        let next = self.block(after)?;
        let carried = self.carry(&initial, &current, &next, first)?;
        (self.made, self.copies, self.sums) = known;
        let body = std::mem::replace(&mut self.steps, outer);
        let turns = TripCount::While { before: steps_before, condition };
        let place = operation.place.clone();
        self.steps.push(Step::Repeat(Box::new(Repeat { turns, body, carried, place })));
        self.bind(&operation.results, &passed);
        Ok(())
    }

    /// A scalar on every rank.
    fn scalar_slot(&mut self, expr: ExprId) -> Result<SlotId, LowerErrorKind> {
        let home = place::everywhere(&[], self.ranks)?;
        if !self.exprs[expr].shape.is_empty() {
            return Err(LoopError::NotScalar.into());
        }
        self.materialise(expr, Some(&home))
    }

    /// The slots of the values that enter a loop.
    fn initial(&mut self, values: &[Value]) -> Result<Vec<SlotId>, LowerErrorKind> {
        let exprs: Vec<ExprId> =
            values.iter().map(|value| self.value(*value)).collect::<Result<_, _>>()?;
        exprs.into_iter().map(|expr| self.materialise(expr, None)).collect()
    }

    /// Slots for carried values in a turn.
    fn current(&mut self, initial: &[SlotId], arguments: &[Value]) -> Vec<SlotId> {
        let mut current = Vec::new();
        for slot in initial {
            let (dtype, home) =
                (self.slots[slot.index()].dtype, self.slots[slot.index()].home.clone());
            current.push(self.new_slot(dtype, home));
        }
        self.bind(arguments, &current);
        current
    }

    fn bind(&mut self, values: &[Value], slots: &[SlotId]) {
        for (value, slot) in values.iter().zip(slots) {
            let info = &self.slots[slot.index()];
            let (dtype, shape) = (info.dtype, info.home.shape().to_vec());
            let expr = self.exprs.slot(*slot, dtype, &shape);
            self.env.insert(*value, expr);
        }
    }

    /// The values for the next turn: each in a slot of its own that lives where it has to.
    fn carry(
        &mut self,
        initial: &[SlotId],
        current: &[SlotId],
        next: &[ExprId],
        first: usize,
    ) -> Result<Vec<Carried>, LowerErrorKind> {
        if next.len() != current.len() {
            let (got, expected) = (next.len(), current.len());
            return Err(LoopError::Values { got, expected }.into());
        }
        // In the order in which they were written: what is computed last may take the memory of
        // what the others have read.
        let mut order: Vec<(ExprId, SlotId)> =
            next.iter().copied().zip(current.iter().copied()).collect();
        order.sort_unstable();
        for (expr, slot) in order {
            let home = self.slots[slot.index()].home.clone();
            if self.exprs.depth(expr) > 0 && self.exprs[expr].shape == home.shape() {
                self.materialise(expr, Some(&home))?;
            }
        }
        let mut used: BTreeSet<SlotId> = BTreeSet::new();
        let mut carried = Vec::new();
        for ((initial, current_slot), expr) in initial.iter().zip(current).zip(next) {
            let home = self.slots[current_slot.index()].home.clone();
            let shape = &self.exprs[*expr].shape;
            if shape != home.shape()
                || self.exprs[*expr].dtype != self.slots[current_slot.index()].dtype
            {
                let (before, after) = (home.shape().to_vec(), shape.clone());
                return Err(LoopError::Shape { before, after }.into());
            }
            let mut slot = self.materialise(*expr, Some(&home))?;
            let own = slot.index() >= first || current.contains(&slot);
            if !own || !used.insert(slot) {
                slot = self.copied(slot)?;
                used.insert(slot);
            }
            carried.push(Carried { initial: *initial, current: *current_slot, next: slot });
        }
        for one in &carried {
            self.same_room(one.initial, one.current);
            self.same_room(one.current, one.next);
        }
        Ok(carried)
    }

    /// A copy of a slot in another one of the same home.
    fn copied(&mut self, slot: SlotId) -> Result<SlotId, LowerErrorKind> {
        let (dtype, home) = (self.slots[slot.index()].dtype, self.slots[slot.index()].home.clone());
        let expr = self.exprs.slot(slot, dtype, home.shape());
        let to = self.new_slot(dtype, home.clone());
        let region = whole_region(home.shape());
        self.compute(vec![(expr, Target::Store(to))], (&home, region), &[], Vec::new())?;
        Ok(to)
    }
}

/// True if a slice, a length or an index inside of a block depends on `counter`.
fn shapes_depend(block: &Block, counter: Value) -> bool {
    let mut tainted: BTreeSet<Value> = BTreeSet::from([counter]);
    let mut found = false;
    block.walk(&mut |operation| {
        let touched =
            |from: usize| operation.operands.iter().skip(from).any(|value| tainted.contains(value));
        let dynamic = |list: &[Index]| list.contains(&Index::Operand);
        found |= match &operation.op {
            Op::Subview(slice) | Op::ExtractSlice(slice) | Op::DistSubview { slice, .. } => {
                touched(1)
                    && (dynamic(&slice.offsets) || dynamic(&slice.sizes) || dynamic(&slice.strides))
            }
            Op::InsertSlice(_) | Op::ImmutableInsertSlice(_) => touched(2),
            Op::Load | Op::Dim | Op::Reshape { .. } => touched(1),
            Op::Create { value } => {
                let lengths = operation.operands.len() - usize::from(*value);
                operation.operands[..lengths].iter().any(|value| tainted.contains(value))
            }
            Op::Linspace { .. } => {
                operation.operands.get(2).is_some_and(|value| tainted.contains(value))
            }
            _ => false,
        };
        let scalar = matches!(op_class(&operation.op), Class::Scalar);
        if scalar && touched(0) {
            tainted.extend(operation.results.iter().copied());
        }
    });
    found
}

enum Class {
    Scalar,
    Other,
}

/// Scalar arithmetic passes a dependence on.
fn op_class(op: &Op) -> Class {
    match op {
        Op::Arith(_) | Op::Compare(_) | Op::SelectScalar | Op::Convert => Class::Scalar,
        _ => Class::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of a counter, one by one.
    fn values(range: Range) -> Vec<i64> {
        let mut values = Vec::new();
        let mut at = range.lower;
        while at < range.upper {
            values.push(at);
            at += range.step;
        }
        values
    }

    #[test]
    fn rounds_and_the_rest_are_all_turns() {
        for (lower, length) in [-3, 0, 5].into_iter().flat_map(|l| (-2..20).map(move |n| (l, n))) {
            for (step, each) in (1..4).flat_map(|step| (0..6).map(move |each| (step, each))) {
                let range = Range { lower, upper: lower + length, step };
                let all = values(range);
                assert_eq!(range.turns(), Some(all.len() as u64));
                let Some((rounds, rest)) = range.in_rounds(each) else {
                    assert!(each < 2 || all.len() < each);
                    continue;
                };
                let turn = |start: i64| (0..each as i64).map(move |turn| start + turn * step);
                let mut met: Vec<i64> = values(rounds).into_iter().flat_map(turn).collect();
                assert!(values(rest).len() < each);
                met.extend(values(rest));
                assert_eq!(met, all, "{lower} by {step}, {each} as one");
            }
        }
    }

    #[test]
    fn loops_up_to_the_end_of_the_numbers_do_not_overflow() {
        let all = Range { lower: i64::MIN, upper: i64::MAX, step: 1 };
        assert_eq!((all.turns(), all.in_rounds(1).is_none()), (Some(u64::MAX), true));
        let far = Range { lower: i64::MAX - 3, upper: i64::MAX, step: i64::MAX };
        assert_eq!((far.turns(), far.in_rounds(2).is_none()), (Some(1), true));
        // Their rounds would end beyond the numbers.
        let near = Range { lower: 0, upper: i64::MAX, step: i64::MAX / 2 };
        assert_eq!((near.turns(), near.in_rounds(3).is_none()), (Some(3), true));
    }
}
