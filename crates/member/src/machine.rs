//! One operation of a member's program after the other.

use std::collections::BTreeMap;

use pantile_comm::Rank;
use pantile_engine::Engine;
use pantile_ir::{Attribute, Block, Op, Operation, Place, Program, Scalar};

use crate::compute::{TaskRunner, own_world};
use crate::error::OperationFault;
use crate::frame::{ValueFrame, wrong};
use crate::held::{MemberValue, PartedArray};

/// The ranks of a team, and which of them this is.
#[derive(Clone, Debug)]
pub(crate) struct MemberTeam {
    pub(crate) ranks: Vec<Rank>,
    /// Nothing if this rank is not of the team: it has no rows then.
    pub(crate) me: Option<usize>,
    pub(crate) name: String,
}

impl MemberTeam {
    /// The place of this rank.
    pub(crate) fn member(&self) -> Result<usize, OperationFault> {
        self.me.ok_or_else(|| OperationFault::NotInTeam { team: self.name.clone() })
    }
}

/// A program of one member while it runs.
pub(crate) struct MemberMachine<'p, 'e> {
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

impl<'p, 'e> MemberMachine<'p, 'e> {
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
    pub(crate) fn team(&self, team: &Attribute) -> MemberTeam {
        let name = team.team_name();
        let all = || (0..self.engine.size()).collect();
        let ranks: Vec<Rank> = self.teams.get(&name).cloned().unwrap_or_else(all);
        let rank = self.engine.rank();
        MemberTeam { me: ranks.iter().position(|one| *one == rank), ranks, name }
    }

    /// What the end of a block hands on.
    pub(crate) fn block(
        &mut self,
        frame: &mut ValueFrame<'p>,
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
        frame: &mut ValueFrame<'p>,
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
        frame: &ValueFrame<'p>,
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
            Op::DistSubview { slice, target } => one(self.view(frame, operation, (slice, *target))),
            Op::ExtractSlice(slice) => {
                one(self.view(frame, operation, (slice, false)).and_then(|view| copied(&view)))
            }
            Op::DistUnary(_) | Op::DistBinary(_) if !self.pure => {
                one(self.elementwise(frame, operation))
            }
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

fn dim(frame: &ValueFrame<'_>, operation: &Operation) -> Result<MemberValue, OperationFault> {
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

fn to_tensor(frame: &ValueFrame<'_>, operation: &Operation) -> Result<MemberValue, OperationFault> {
    let array = match frame.operand(operation, 0)? {
        MemberValue::Parts(array) => array.parts[1].copy()?,
        _ => frame.local(operation, 0)?.copy()?,
    };
    Ok(MemberValue::Local(array))
}
