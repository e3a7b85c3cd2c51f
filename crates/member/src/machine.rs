//! One operation of a member's program after the other.

use std::collections::BTreeMap;

use pantile_comm::Rank;
use pantile_engine::Engine;
use pantile_ir::{
    Attribute, Block, Function, Op, Operation, Place, Program, Scalar, Type, Value,
};

use crate::compute::{TaskRunner, own_world};
use crate::error::OperationFault;
use crate::held::{MemberValue, PartedArray};
use crate::local::LocalArray;

/// The ranks of a team, and which of them this is.
#[derive(Clone, Debug)]
pub(crate) struct Team {
    pub(crate) ranks: Vec<Rank>,
    /// Nothing if this rank is not of the team: it has no rows then.
    pub(crate) me: Option<usize>,
    pub(crate) name: String,
}

impl Team {
    /// The place of this rank.
    pub(crate) fn member(&self) -> Result<usize, OperationFault> {
        self.me.ok_or_else(|| OperationFault::NotInTeam { team: self.name.clone() })
    }
}

/// A function while it runs.
pub(crate) struct Frame<'p> {
    function: &'p Function,
    values: Vec<Option<MemberValue>>,
}

/// A program of one member while it runs.
pub(crate) struct Machine<'p, 'e> {
    pub(crate) program: &'p Program,
    pub(crate) engine: &'e mut Engine,
    pub(crate) teams: &'e BTreeMap<String, Vec<Rank>>,
    /// What the member computes by itself.
    pub(crate) own: Engine,
    pub(crate) alone: TaskRunner,
    /// What all members compute together.
    pub(crate) together: TaskRunner,
    /// True if arrays never change: a view is then a copy.
    pub(crate) pure: bool,
    /// The operation that runs now.
    pub(crate) at: (&'static str, Place),
}

impl<'p> Frame<'p> {
    pub(crate) fn new(function: &'p Function) -> Self {
        Self { function, values: vec![None; function.values.len()] }
    }

    pub(crate) fn ty(&self, value: Value) -> &'p Type {
        self.function.ty(value)
    }

    /// The declared type of a result.
    pub(crate) fn result_type(
        &self,
        operation: &Operation,
        at: usize,
    ) -> Result<&'p Type, OperationFault> {
        let value = operation.results.get(at).ok_or(OperationFault::NoRule)?;
        Ok(self.ty(*value))
    }

    /// Gives a value what it is, which has to be what its type says.
    pub(crate) fn set(&mut self, value: Value, held: MemberValue) -> Result<(), OperationFault> {
        let ty = self.ty(value);
        let held = match (held, ty) {
            // An array without axes is an element, and an element such an array.
            (MemberValue::Number(scalar), Type::Array(_)) => {
                MemberValue::Local(number_array(&scalar)?)
            }
            (held, _) => held,
        };
        held.check(ty)?;
        self.values[value.index()] = Some(held);
        Ok(())
    }

    pub(crate) fn set_all(
        &mut self,
        values: &[Value],
        held: Vec<MemberValue>,
    ) -> Result<(), OperationFault> {
        if values.len() != held.len() {
            let (got, expected) = (vec![held.len()], vec![values.len()]);
            return Err(OperationFault::Shapes { got, expected });
        }
        values.iter().zip(held).try_for_each(|(value, held)| self.set(*value, held))
    }

    /// What a value is.
    pub(crate) fn get(&self, value: Value) -> Result<&MemberValue, OperationFault> {
        self.values.get(value.index()).and_then(Option::as_ref).ok_or(OperationFault::Unset)
    }

    /// What an operand is.
    pub(crate) fn operand(
        &self,
        operation: &Operation,
        at: usize,
    ) -> Result<&MemberValue, OperationFault> {
        self.get(*operation.operands.get(at).ok_or(OperationFault::Unset)?)
    }

    /// The local array that an operand is.
    pub(crate) fn local(
        &self,
        operation: &Operation,
        at: usize,
    ) -> Result<LocalArray, OperationFault> {
        match self.operand(operation, at)? {
            MemberValue::Local(array) => Ok(array.clone()),
            MemberValue::Number(scalar) => number_array(scalar),
            other => Err(wrong(at, other, "a local array")),
        }
    }

    /// The distributed array that an operand is.
    pub(crate) fn parts(
        &self,
        operation: &Operation,
        at: usize,
    ) -> Result<PartedArray, OperationFault> {
        match self.operand(operation, at)? {
            MemberValue::Parts(array) => Ok(array.clone()),
            other => Err(wrong(at, other, "a distributed array")),
        }
    }

    /// The whole number that an operand is.
    pub(crate) fn index(&self, operation: &Operation, at: usize) -> Result<i64, OperationFault> {
        let held = self.operand(operation, at)?;
        let found = match held {
            MemberValue::Number(scalar) => scalar.get::<i64>(),
            _ => None,
        };
        found.ok_or_else(|| wrong(at, held, "an index"))
    }

    /// Lengths and offsets that operands are.
    pub(crate) fn counts(
        &self,
        operation: &Operation,
        range: std::ops::Range<usize>,
    ) -> Result<Vec<usize>, OperationFault> {
        let count = |at: usize| count(self.index(operation, at)?);
        range.map(count).collect()
    }
}

/// A number that counts something.
pub(crate) fn count(got: i64) -> Result<usize, OperationFault> {
    usize::try_from(got).map_err(|_| OperationFault::Number { got, expected: "0 or more" })
}

/// An array without axes.
pub(crate) fn number_array(scalar: &Scalar) -> Result<LocalArray, OperationFault> {
    let tile = pantile_engine::Tile::from_bytes(scalar.dtype(), scalar.as_bytes());
    LocalArray::new(&[], tile.ok_or(OperationFault::Unset)?)
}

pub(crate) fn wrong(
    at: usize,
    held: &MemberValue,
    expected: &'static str,
) -> OperationFault {
    OperationFault::Operand { at, got: held.kind(), expected }
}

impl<'p, 'e> Machine<'p, 'e> {
    pub(crate) fn new(
        program: &'p Program,
        engine: &'e mut Engine,
        teams: &'e BTreeMap<String, Vec<Rank>>,
        (looks, pure): (bool, bool),
    ) -> Self {
        let together = TaskRunner::new(engine.size(), teams, looks);
        let alone = TaskRunner::new(1, &BTreeMap::new(), true);
        let at = ("func.func", Place::default());
        Self { program, engine, teams, own: own_world(), alone, together, pure, at }
    }

    /// A team, and the place of this rank in it.
    pub(crate) fn team(&self, team: &Attribute) -> Team {
        let name = team.team_name();
        let all = || (0..self.engine.size()).collect();
        let ranks: Vec<Rank> = self.teams.get(&name).cloned().unwrap_or_else(all);
        let rank = self.engine.rank();
        Team { me: ranks.iter().position(|one| *one == rank), ranks, name }
    }

    /// What the end of a block hands on.
    pub(crate) fn block(
        &mut self,
        frame: &mut Frame<'p>,
        block: &'p Block,
    ) -> Result<Vec<MemberValue>, OperationFault> {
        for operation in &block.operations {
            self.at = (operation.op.name(), operation.place.clone());
            if let Op::Return | Op::Yield | Op::RegionYield | Op::Condition = operation.op {
                let handed = operation.operands.iter().map(|value| copied(frame.get(*value)?));
                return handed.collect();
            }
            self.operation(frame, operation)?;
        }
        Ok(Vec::new())
    }

    fn operation(
        &mut self,
        frame: &mut Frame<'p>,
        operation: &'p Operation,
    ) -> Result<(), OperationFault> {
        match &operation.op {
            Op::For => self.repeat(frame, operation),
            Op::While => self.repeat_while(frame, operation),
            Op::Region(_) => {
                let block = operation.blocks.first().ok_or(OperationFault::NoRule)?;
                let values = self.block(frame, block)?;
                frame.set_all(&operation.results, values)
            }
            Op::Delete | Op::Wait => Ok(()),
            Op::InsertSlice(slice) => self.insert(frame, operation, slice),
            Op::AllReduce { reduction, team } => {
                self.all_reduce(frame, operation, (reduction.function, team.as_ref()))
            }
            _ => {
                let made = self.results(frame, operation)?;
                frame.set_all(&operation.results, made)
            }
        }
    }

    /// The results of an operation that changes nothing.
    fn results(
        &mut self,
        frame: &Frame<'p>,
        operation: &'p Operation,
    ) -> Result<Vec<MemberValue>, OperationFault> {
        let one = |held: Result<MemberValue, OperationFault>| held.map(|held| vec![held]);
        match &operation.op {
            Op::Constant(scalar) => Ok(vec![MemberValue::Number(*scalar)]),
            Op::Arith(_) | Op::Compare(_) | Op::SelectScalar | Op::Convert => {
                one(self.number(frame, operation))
            }
            Op::TeamSize(team) => index(self.team(team).ranks.len()),
            // Ranks of no team go on with the others, and have no rows.
            Op::TeamMember(team) if self.pure => index(self.team(team).me.unwrap_or(0)),
            Op::TeamMember(team) => self.team(team).member().and_then(index),
            Op::Dim => one(dim(frame, operation)),
            Op::Load => one(self.load(frame, operation)),
            Op::DefaultPartition
            | Op::LocalOffsetsOf
            | Op::LocalTarget
            | Op::BoundingBox { .. }
            | Op::LocalCore { .. } => crate::queries::answers(frame, operation),
            Op::InitDist => one(crate::parts::bound(frame, operation)),
            Op::PartsOf => crate::parts::parts_of(frame, operation),
            // Where all arrays are in their default partition, who asks for what does not matter.
            Op::Repartition { .. } if self.pure => one(copied(frame.operand(operation, 0)?)),
            Op::Repartition { request } => one(self.repartition(frame, operation, *request)),
            Op::Subview(slice) => one(self.view(frame, operation, (slice, false))),
            Op::DistSubview { slice, target } => {
                one(self.view(frame, operation, (slice, *target)))
            }
            Op::ExtractSlice(slice) => {
                one(self.view(frame, operation, (slice, false)).and_then(|view| copied(&view)))
            }
            Op::DistUnary(_) | Op::DistBinary(_) if !self.pure => one(self.elementwise(frame, operation)),
            Op::GetHalo { team, .. } => self.get_halo(frame, operation, team),
            Op::CopyReshape { team } => self.copy_reshape(frame, operation, team),
            Op::CopyPermute { team, axes } => self.copy_permute(frame, operation, team, axes),
            Op::FromMemRef | Op::Cast => Ok(vec![frame.operand(operation, 0)?.clone()]),
            Op::ToTensor => one(to_tensor(frame, operation)),
            Op::Copy => one(copied(frame.operand(operation, 0)?)),
            _ => self.computed(frame, operation),
        }
    }
}

/// An index as the only result.
fn index(number: usize) -> Result<Vec<MemberValue>, OperationFault> {
    let number = i64::try_from(number).unwrap_or(i64::MAX);
    Ok(vec![MemberValue::Number(Scalar::of(number))])
}

/// A value of its own with the elements as they are now.
pub(crate) fn copied(held: &MemberValue) -> Result<MemberValue, OperationFault> {
    Ok(match held {
        MemberValue::Local(array) => {
            let made = array.copy()?;
            if let Some(partial) = array.partial() {
                made.note_partial((*partial).clone());
            }
            MemberValue::Local(made)
        }
        MemberValue::Parts(array) => {
            let [left, owned, right] = &array.parts;
            let parts = [left.copy()?, owned.copy()?, right.copy()?];
            MemberValue::Parts(PartedArray { parts, ..array.clone() })
        }
        other => other.clone(),
    })
}

fn dim(frame: &Frame<'_>, operation: &Operation) -> Result<MemberValue, OperationFault> {
    let axis = frame.index(operation, 1)?;
    let shape = match frame.operand(operation, 0)? {
        MemberValue::Local(array) => array.shape().to_vec(),
        MemberValue::Parts(array) => array.shape.clone(),
        other => return Err(wrong(0, other, "an array")),
    };
    let length = usize::try_from(axis).ok().and_then(|axis| shape.get(axis));
    let beyond = OperationFault::Number { got: axis, expected: "an axis of the array" };
    let length = i64::try_from(*length.ok_or(beyond)?).unwrap_or(i64::MAX);
    Ok(MemberValue::Number(Scalar::of(length)))
}

fn to_tensor(frame: &Frame<'_>, operation: &Operation) -> Result<MemberValue, OperationFault> {
    let array = match frame.operand(operation, 0)? {
        MemberValue::Parts(array) => array.parts[1].copy()?,
        _ => frame.local(operation, 0)?.copy()?,
    };
    Ok(MemberValue::Local(array))
}
