//! A movement and the loop that alone reads what it brings: the loop reads it where it is.

use std::panic::Location;
use std::sync::Arc;

use pantile_comm::Rank;
use pantile_lower::{Executable, SlotId, Step};

use super::loops::{BoxLoop, ProgramMemories};
use super::prepare::{PreparedLoop, prepare_loop, prepare_movement};
use super::run::Running;
use crate::{Engine, Error, Movement};

/// The number of the external operand: the memory of the peer that is read.
const EXTERNAL: usize = usize::MAX;

/// A loop whose boxes each read the memory of one rank.
pub(crate) struct PreparedRemoteRead {
    movement: Arc<Movement>,
    from: usize,
    /// Its own boxes are those below.
    one: PreparedLoop,
    boxes: Vec<(Rank, BoxLoop)>,
}

/// The first two of some steps as one, if they can be.
pub(crate) fn prepare(
    engine: &mut Engine,
    executable: &Executable,
    steps: &[Step],
) -> Result<Option<PreparedRemoteRead>, Error> {
    let [Step::Move(step), Step::Compute(compute), ..] = steps else { return Ok(None) };
    if !engine.has_windows() || !executable.remote_reads.contains(&step.to) {
        return Ok(None);
    }
    let Some(boxes) = executable.local_remote_reads(compute, step, engine.rank()) else {
        return Ok(None);
    };
    let movement = prepare_movement(engine, executable, step)?;
    let buffer = |id: SlotId| executable.slots[id.index()].buffer;
    let from = buffer(step.from);
    if !movement.is_remote_read() || compute.stored().any(|slot| buffer(slot) == from) {
        return Ok(None);
    }
    let place = |id: SlotId| if id == step.to { EXTERNAL } else { buffer(id) };
    let mut one = prepare_loop(engine, executable, compute)?;
    one.loops.clear();
    let looking = |(peer, local): &(Rank, _)| (*peer, BoxLoop::new(local, &place, one.cost));
    let boxes = boxes.iter().map(looking).collect();
    Ok(Some(PreparedRemoteRead { movement, from, one, boxes }))
}

impl Running<'_, '_> {
    /// Runs the loop, rank by rank.
    pub(crate) fn look(
        &mut self,
        look: &PreparedRemoteRead,
        place: &'static Location<'static>,
    ) -> Result<(), Error> {
        let (tiles, context) = (&*self.tiles, &mut self.context);
        look.one.store(tiles.as_slice().into(), context)?;
        self.engine.look(&look.movement, &tiles[look.from], place, &mut |peer, shown| {
            let mut boxes = look.boxes.iter().filter(|(of, _)| *of == peer);
            let tiles = ProgramMemories::with(tiles, shown);
            boxes.try_for_each(|(_, one)| one.map(&look.one.program, tiles, context))
        })
    }
}
