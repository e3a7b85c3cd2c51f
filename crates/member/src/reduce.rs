//! Reductions over members, and single elements.
//!
//! Sums and products of floats are rounded once, whatever the number of members: memory that a
//! member fills with a reduction of its rows remembers these rows, and all members reduce them
//! together. Everything else is put together from what is in the memories.

use pantile_comm::CollectiveSignature;
use pantile_engine::Tile;
use pantile_ir::{ArrayType, Attribute, Op, Operation, Reduction, Scalar, Type};

use crate::compute::{Given, Task};
use crate::error::OperationFault;
use crate::exchange::{fetched, told};
use crate::frame::{ValueFrame, wrong};
use crate::held::{MemberValue, PartLayout, PartedArray, Spread};
use crate::local::{LocalArray, Partial};
use crate::machine::{MemberMachine, MemberTeam};
use crate::tasks::{copies_env, given, needs_rows, placed};

impl<'p> MemberMachine<'p, '_> {
    /// `allreduce`: every member gets what is left of the memories of all.
    pub(crate) fn all_reduce(
        &mut self,
        frame: &ValueFrame<'p>,
        operation: &'p Operation,
        (reduction, team): (Reduction, Option<&Attribute>),
    ) -> Result<(), OperationFault> {
        let memory = frame.local(operation, 0)?;
        let name = team.cloned().unwrap_or(Attribute::int(0));
        let team = self.team(&name);
        let me = team.member()?;
        let partial = memory.partial();
        let mut record = vec![
            usize::from(memory.dtype().code()),
            Reduction::ALL.iter().position(|one| *one == reduction).unwrap_or(0),
            usize::from(partial.is_some()),
        ];
        if let Some(partial) = &partial {
            record.extend(partial.rows.shape());
        }
        let all = told(self.engine, &team, ("member reduction", &record))?;
        let unlike = |one: &Vec<usize>| one.get(..2) != all[0].get(..2);
        if let Some(member) = all.iter().position(unlike) {
            return Err(OperationFault::Unlike { member });
        }
        let exact = needs_rows(reduction, memory.dtype());
        let made = match partial {
            Some(partial) if exact && all.iter().all(|one| one.get(2) == Some(&1)) => {
                let rows: Vec<usize> =
                    all.iter().map(|one| one.get(3).copied().unwrap_or(0)).collect();
                self.reduce_rows(&partial, (reduction, &name), (&team, me, &rows))?
            }
            _ => self.reduce_memories(&memory, reduction, &team)?,
        };
        memory.write(&made.reshaped(memory.shape())?)
    }

    /// The reduction of the rows of all members.
    fn reduce_rows(
        &mut self,
        partial: &Partial,
        (reduction, name): (Reduction, &Attribute),
        (team, me, counts): (&MemberTeam, usize, &[usize]),
    ) -> Result<LocalArray, OperationFault> {
        let Op::Reduce { reduction: of_rows, axes, keepdims, correction } = partial.op.clone()
        else {
            return Err(OperationFault::NoRule);
        };
        let mut named = of_rows;
        if reduction == Reduction::Mean {
            named = reduction.into();
        }
        let op = Op::Reduce { reduction: named, axes, keepdims, correction };
        let rows = &partial.rows;
        let first: usize = counts[..me].iter().sum();
        let columns = rows.shape().iter().skip(1).map(|length| 0..*length);
        let owned: Vec<_> = std::iter::once(first..first + counts[me]).chain(columns).collect();
        let mut shape = rows.shape().to_vec();
        shape[0] = counts.iter().sum();
        // Where some ranks are of no team, they do not compute: each member reduces all rows.
        let all = team.ranks.len() < self.engine.size();
        let wanted = match all {
            true => shape.iter().map(|length| 0..*length).collect(),
            false => PartLayout::default_of(&shape, team)?.owned(),
        };
        let own = fetched(self.engine, team, (rows, &owned), &wanted)?;
        let ty = placed(ArrayType::new(&shape, rows.dtype()), name);
        let left = reduced_shape(&op, &shape);
        let dtype = pantile_ir::infer::reduced_dtype(named.function, rows.dtype());
        let dtype = match reduction {
            Reduction::Sum | Reduction::Prod => None,
            _ => dtype.ok(),
        };
        let result = ArrayType::new(&left, dtype.unwrap_or(partial.dtype));
        let place = self.at.1.clone();
        if all {
            return self.reduce_alone(&op, &own, result);
        }
        let results = vec![Type::Array(result.placed(copies_env()))];
        let operands = vec![(ty, Given::Tile(own.tile()))];
        match self.run_together(&op, operands, (results, &place))?.pop() {
            Some(MemberValue::Local(made)) => Ok(made),
            _ => Err(OperationFault::NoRule),
        }
    }

    /// What is left of numbers, one from each member.
    fn reduce_memories(
        &mut self,
        memory: &LocalArray,
        reduction: Reduction,
        team: &MemberTeam,
    ) -> Result<LocalArray, OperationFault> {
        use Reduction as R;
        if !matches!(reduction, R::Sum | R::Prod | R::Max | R::Min | R::Any | R::All) {
            return Err(OperationFault::NotReduced { reduction: reduction.name() });
        }
        let call = CollectiveSignature::here("member reduction", 2);
        let tile = memory.tile();
        let records = self.engine.gather(&call, &team.ranks, tile.as_bytes())?;
        if let Some(member) = records.iter().position(|one| one.len() != records[0].len()) {
            return Err(OperationFault::Unlike { member });
        }
        let stacked = Tile::from_bytes(memory.dtype(), &records.concat());
        let shape = [&[team.ranks.len()], memory.shape()].concat();
        let stacked = LocalArray::new(&shape, stacked.ok_or(OperationFault::NoRule)?)?;
        if needs_rows(reduction, memory.dtype())
            && reduction == R::Sum
            && let Some(only) = only_one(&stacked, &records, memory)?
        {
            return Ok(only);
        }
        let axes = Some(vec![0]);
        let op = Op::Reduce { reduction: reduction.into(), axes, keepdims: false, correction: 0 };
        self.reduce_alone(&op, &stacked, ArrayType::new(memory.shape(), memory.dtype()))
    }

    /// A reduction of a local array.
    fn reduce_alone(
        &mut self,
        op: &Op,
        of: &LocalArray,
        result: ArrayType,
    ) -> Result<LocalArray, OperationFault> {
        let shape = result.known_shape().unwrap_or_default();
        let (operands, results) = (vec![given(of)], vec![Type::Array(result)]);
        let place = self.at.1.clone();
        let task = Task { op, operands, results, program: self.program, place: &place };
        let made = self.alone.run(&mut self.own, &task)?.pop();
        LocalArray::new(&shape, made.ok_or(OperationFault::NoRule)?.1)
    }

    /// One element of an array, for every member.
    pub(crate) fn load(
        &mut self,
        frame: &ValueFrame<'p>,
        operation: &Operation,
    ) -> Result<MemberValue, OperationFault> {
        let at = frame.counts(operation, 1..operation.operands.len())?;
        let array = match frame.operand(operation, 0)? {
            MemberValue::Local(array) => return element(array, &at),
            MemberValue::Parts(array) => array.clone(),
            other => return Err(wrong(0, other, "an array")),
        };
        let inside = at.len() == array.shape.len()
            && at.iter().zip(&array.shape).all(|(at, length)| at < length);
        if !inside {
            return Err(OperationFault::Shapes { got: at, expected: array.shape });
        }
        if array.spread == Spread::Everywhere {
            return element(&array.stored()?, &at);
        }
        let record = own_element(&array, &at)?;
        let call = CollectiveSignature::here("member element", 1);
        // Also ranks of no team go on with it, where all ranks execute every operation.
        let ranks = match self.pure {
            true => (0..self.engine.size()).collect(),
            false => self.team(&array.team).ranks,
        };
        let records = self.engine.gather(&call, &ranks, &record)?;
        // From the member that owns it, else from one that has it in a halo.
        let found = [1_u8, 0]
            .into_iter()
            .find_map(|owned| records.iter().find_map(|record| record.strip_prefix(&[owned])));
        let scalar = found.and_then(|bytes| Scalar::from_bytes(array.dtype, bytes));
        let nobody = OperationFault::NotCovered { rows: array.shape[0] };
        Ok(MemberValue::Number(scalar.ok_or(nobody)?))
    }
}

/// The shape of what a reduction leaves.
fn reduced_shape(op: &Op, shape: &[usize]) -> Vec<usize> {
    let Op::Reduce { axes, keepdims, .. } = op else { return shape.to_vec() };
    let goes = |axis: usize| axes.as_ref().is_none_or(|axes| axes.contains(&axis));
    let kept = |axis: usize| match goes(axis) {
        true => keepdims.then_some(1),
        false => Some(shape[axis]),
    };
    (0..shape.len()).filter_map(kept).collect()
}

/// Where at most one member brings something else than what adds nothing, that with all its bits.
fn only_one(
    stacked: &LocalArray,
    records: &[Vec<u8>],
    memory: &LocalArray,
) -> Result<Option<LocalArray>, OperationFault> {
    let size = memory.dtype().bytes();
    let count = records[0].len() / size;
    let nothing = nothing(stacked.dtype());
    let mut bytes = Vec::with_capacity(records[0].len());
    for number in 0..count {
        let of = |record: &Vec<u8>| record[number * size..(number + 1) * size].to_vec();
        let all: Vec<Vec<u8>> = records.iter().map(of).collect();
        let mut some = all.iter().filter(|one| **one != nothing);
        match (some.next(), some.next()) {
            (only, None) => bytes.extend(only.unwrap_or(&nothing)),
            _ => return Ok(None),
        }
    }
    let tile = Tile::from_bytes(memory.dtype(), &bytes).ok_or(OperationFault::NoRule)?;
    LocalArray::new(memory.shape(), tile).map(Some)
}

/// The bytes of what changes no float when it is added.
fn nothing(dtype: pantile_engine::DType) -> Vec<u8> {
    match dtype.bytes() {
        4 => (-0.0_f32).to_ne_bytes().to_vec(),
        8 if dtype == pantile_engine::DType::C64 => [(-0.0_f32).to_ne_bytes(); 2].concat(),
        8 => (-0.0_f64).to_ne_bytes().to_vec(),
        _ => [(-0.0_f64).to_ne_bytes(); 2].concat(),
    }
}

/// An element of a local array.
pub(crate) fn element(array: &LocalArray, at: &[usize]) -> Result<MemberValue, OperationFault> {
    let inside =
        at.len() == array.shape().len() && at.iter().zip(array.shape()).all(|(at, n)| at < n);
    if !inside {
        let (got, expected) = (at.to_vec(), array.shape().to_vec());
        return Err(OperationFault::Shapes { got, expected });
    }
    let one = array.part(&at.iter().map(|at| *at..at + 1).collect::<Vec<_>>())?;
    let scalar = Scalar::from_bytes(array.dtype(), one.tile().as_bytes());
    Ok(MemberValue::Number(scalar.ok_or(OperationFault::NoRule)?))
}

/// The bytes of an element behind whether this member owns it; nothing if it has not got it.
fn own_element(array: &PartedArray, at: &[usize]) -> Result<Vec<u8>, OperationFault> {
    let layout = &array.layout;
    let stored = layout.boxed(layout.stored_rows());
    if !stored.iter().zip(at).all(|(range, at)| range.contains(at)) {
        return Ok(Vec::new());
    }
    let local: Vec<usize> = stored.iter().zip(at).map(|(range, at)| at - range.start).collect();
    let owned = u8::from(layout.owned_rows().contains(&at[0]));
    let MemberValue::Number(scalar) = element(&array.stored()?, &local)? else {
        return Err(OperationFault::NoRule);
    };
    Ok([&[owned], scalar.as_bytes()].concat())
}
