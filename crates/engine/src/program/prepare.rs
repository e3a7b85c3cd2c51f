//! Steps become loops and movements of one rank.

use std::cell::RefCell;
use std::sync::Arc;

use pantile_comm::Rank;
use pantile_kernels::DType;
use pantile_kernels::lanes::LoopProgram;
use pantile_lower::{
    Compute, Exchange, Executable, LocalLoop, Move, Repeat, SlotId, Step, TripCount, Write,
};

use super::contract::PreparedContract;
use super::fold::{PreparedFinish, PreparedProduct};
use super::loops::{BoxCopy, BoxLoop, dense};
use super::remote_read::{self, PreparedRemoteRead};
use super::wavefront::Wavefront;
use crate::aggregation::AggregatedExchange;
use crate::{Engine, Error, Movement};

/// A step of one rank.
pub(crate) enum Prepared {
    Compute(Box<PreparedLoop>),
    Move {
        movement: Arc<Movement>,
        from: usize,
        to: usize,
    },
    Exchange(Box<PreparedExchange>),
    RemoteRead(Box<PreparedRemoteRead>),
    Finish(PreparedFinish),
    Product(PreparedProduct),
    Contract(PreparedContract),
    /// Elements copied within the memory of the rank.
    Copies(Vec<BoxCopy>),
    Repeat(Box<PreparedRepeat>),
}

/// A fused loop of one rank.
pub(crate) struct PreparedLoop {
    pub(crate) program: Arc<LoopProgram>,
    pub(crate) loops: Vec<BoxLoop>,
    /// What an element costs, about as much as so many bytes of memory.
    pub(crate) cost: usize,
    pub(crate) copies: Vec<BoxCopy>,
    /// How outputs are folded; none if they are stored.
    pub(crate) folds: Vec<pantile_kernels::reduce::LaneFold>,
    /// Slots of folds, which start at the neutral element.
    pub(crate) reduced: Vec<usize>,
    /// How it follows the step before it, if it can go right behind it.
    pub(crate) wavefront: Option<Wavefront>,
}

/// Halos that travel, and what is done meanwhile and then.
pub(crate) struct PreparedExchange {
    pub(crate) aggregated: RefCell<AggregatedExchange>,
    pub(crate) tiles: Vec<usize>,
    /// A loop whose boxes need no halos, and the boxes that do.
    pub(crate) during: Option<(PreparedLoop, Vec<BoxLoop>)>,
}

/// A loop around steps.
pub(crate) struct PreparedRepeat {
    pub(crate) turns: PreparedTurns,
    pub(crate) body: Vec<Prepared>,
    /// Memories that are copied before the first turn.
    pub(crate) entry: Vec<(usize, usize)>,
    /// Memories that trade places after a turn.
    pub(crate) swaps: Vec<(usize, usize)>,
}

/// How often steps are done again; numbers are those of tiles.
pub(crate) enum PreparedTurns {
    Count { lower: usize, upper: usize, step: usize, counter: usize },
    While { before: Vec<Prepared>, condition: usize },
}

/// Type and number of elements of every buffer of an executable on a rank.
pub(crate) fn sizes(executable: &Executable, rank: Rank) -> Vec<(DType, usize)> {
    let mut sizes: Vec<Option<(DType, usize)>> = vec![None; executable.buffers];
    for slot in executable.slots.iter().filter(|slot| slot.buffer < executable.buffers) {
        let len = slot.home.local_shape(rank).map_or(0, |shape| shape.iter().product());
        sizes[slot.buffer].get_or_insert((slot.dtype, len));
    }
    sizes.into_iter().map(|size| size.unwrap_or((DType::Bool, 0))).collect()
}

/// Prepares steps.
pub(crate) fn steps(
    engine: &mut Engine,
    executable: &Executable,
    steps: &[Step],
) -> Result<Vec<Prepared>, Error> {
    let mut prepared = Vec::with_capacity(steps.len());
    while let Some(step) = steps.get(prepared.len()) {
        match remote_read::prepare(engine, executable, &steps[prepared.len()..])? {
            // Steps keep their numbers: nothing is left to do in the first one.
            Some(look) => {
                prepared
                    .extend([Prepared::Copies(Vec::new()), Prepared::RemoteRead(Box::new(look))]);
            }
            None => prepared.push(prepare(engine, executable, step)?),
        }
    }
    follow(&mut prepared);
    Ok(prepared)
}

/// Finds the loops that can go right behind the step before them. One that another follows follows
/// none.
fn follow(steps: &mut [Prepared]) {
    let mut first = 0;
    while let [one, other, ..] = &mut steps[first..] {
        first += 1;
        if let Some(wavefront) = Wavefront::between(one, other)
            && let Prepared::Compute(second) = other
        {
            second.wavefront = Some(wavefront);
            first += 1;
        }
    }
}

fn prepare(engine: &mut Engine, executable: &Executable, step: &Step) -> Result<Prepared, Error> {
    let slot = |id: SlotId| &executable.slots[id.index()];
    Ok(match step {
        Step::Compute(compute) => {
            Prepared::Compute(Box::new(prepare_loop(engine, executable, compute)?))
        }
        Step::Move(step) => {
            let movement = prepare_movement(engine, executable, step)?;
            Prepared::Move { movement, from: slot(step.from).buffer, to: slot(step.to).buffer }
        }
        Step::Exchange(step) => {
            Prepared::Exchange(Box::new(prepare_exchange(engine, executable, step)?))
        }
        Step::Finish(finish) => {
            let prepared = PreparedFinish::new(executable, finish, engine.rank());
            prepared.map_or_else(|| Prepared::Copies(Vec::new()), Prepared::Finish)
        }
        Step::Product(product) => {
            let prepared = PreparedProduct::new(executable, product, engine.rank());
            prepared.map_or_else(|| Prepared::Copies(Vec::new()), Prepared::Product)
        }
        Step::Contract(contract) => {
            Prepared::Contract(PreparedContract::new(executable, contract, engine.rank()))
        }
        Step::Reshape { from, to } => {
            Prepared::Copies(prepare_reshape(executable, *from, *to, engine.rank())?)
        }
        Step::Repeat(repeat) => {
            Prepared::Repeat(Box::new(prepare_repeat(engine, executable, repeat)?))
        }
    })
}

/// The movement of a step.
pub(crate) fn prepare_movement(
    engine: &mut Engine,
    executable: &Executable,
    step: &Move,
) -> Result<Arc<Movement>, Error> {
    let slot = |id: SlotId| &executable.slots[id.index()];
    // Where memory has room for halos, the movement has to know.
    let source = if step.source.has_terms() { &step.source } else { &slot(step.from).home };
    engine.movement(step.name, source, &slot(step.to).home, slot(step.from).dtype)
}

/// A loop of this rank.
pub(crate) fn prepare_loop(
    engine: &Engine,
    executable: &Executable,
    compute: &Compute,
) -> Result<PreparedLoop, Error> {
    let rank = engine.rank();
    let buffer = |id: SlotId| executable.slots[id.index()].buffer;
    let mut copies = Vec::new();
    for (to, from) in &compute.pass_through {
        if buffer(*to) != buffer(*from) {
            let dtype = executable.slots[to.index()].dtype;
            for one in executable.local_background(compute, (*to, *from), rank) {
                copies.push(BoxCopy::of(&one, dtype, &buffer)?);
            }
        }
    }
    let folds = compute.writes.iter().map(|write| match write {
        Write::Fold(fold, ..) => Some(super::fold::kernel_fold(*fold)),
        Write::Slot(..) => None,
    });
    let folds = folds.collect::<Option<_>>().unwrap_or_default();
    let reduced = compute.writes.iter().filter_map(|write| match write {
        Write::Fold(_, slot, _) => Some(buffer(*slot)),
        Write::Slot(..) => None,
    });
    let program = engine.loop_cache().compiled(&compute.body)?;
    let lanes = program.inputs().iter().chain(program.outputs());
    // An operation costs about as much as a byte.
    let cost = lanes.map(|dtype| dtype.bytes()).sum::<usize>() + compute.body.operations();
    Ok(PreparedLoop {
        program,
        loops: boxes(&executable.local_loops(compute, rank), &buffer, cost),
        cost,
        copies,
        folds,
        reduced: reduced.collect(),
        wavefront: None,
    })
}

fn boxes(loops: &[LocalLoop], buffer: &dyn Fn(SlotId) -> usize, cost: usize) -> Vec<BoxLoop> {
    loops.iter().map(|one| BoxLoop::new(one, buffer, cost)).collect()
}

/// The copy from one shape to another, one of which is a dense row.
fn prepare_reshape(
    executable: &Executable,
    from: SlotId,
    to: SlotId,
    rank: Rank,
) -> Result<Vec<BoxCopy>, Error> {
    let owned = (executable.local_owned(from, rank), executable.local_owned(to, rank));
    let (Some((shape, source)), Some((new_shape, target))) = owned else { return Ok(Vec::new()) };
    let dtype = executable.slots[from.index()].dtype;
    let buffer = |slot: SlotId| executable.slots[slot.index()].buffer;
    let (from, to) = (buffer(from), buffer(to));
    if source == dense(&shape) {
        let copy = BoxCopy::new(dtype, &new_shape, (from, &dense(&new_shape)), (to, &target))?;
        return Ok(vec![copy]);
    }
    // The lowering goes through a row, which has no room around it.
    debug_assert_eq!(target, dense(&new_shape));
    Ok(vec![BoxCopy::new(dtype, &shape, (from, &source), (to, &dense(&shape)))?])
}

fn prepare_exchange(
    engine: &mut Engine,
    executable: &Executable,
    exchange: &Exchange,
) -> Result<PreparedExchange, Error> {
    let (mut movements, mut tiles) = (Vec::new(), Vec::new());
    for part in &exchange.parts {
        let slot = &executable.slots[part.slot.index()];
        movements.push(engine.movement("halo exchange", &part.source, &part.target, slot.dtype)?);
        tiles.push(slot.buffer);
    }
    let during = match &exchange.during {
        None => None,
        Some(compute) => {
            let halos: Vec<SlotId> = exchange.parts.iter().map(|part| part.slot).collect();
            let mut prepared = prepare_loop(engine, executable, compute)?;
            let (core, edges) = executable.local_core(compute, &halos, engine.rank());
            let buffer = |id: SlotId| executable.slots[id.index()].buffer;
            let cost = prepared.cost;
            prepared.loops = boxes(&core, &buffer, cost);
            Some((prepared, boxes(&edges, &buffer, cost)))
        }
    };
    let aggregated = RefCell::new(AggregatedExchange::new(movements, engine.has_windows()));
    Ok(PreparedExchange { aggregated, tiles, during })
}

fn prepare_repeat(
    engine: &mut Engine,
    executable: &Executable,
    repeat: &Repeat,
) -> Result<PreparedRepeat, Error> {
    let buffer = |slot: SlotId| executable.slots[slot.index()].buffer;
    let turns = match &repeat.turns {
        TripCount::While { before, condition } => PreparedTurns::While {
            before: steps(engine, executable, before)?,
            condition: buffer(*condition),
        },
        TripCount::Count { lower, upper, step, counter, .. } => PreparedTurns::Count {
            lower: buffer(*lower),
            upper: buffer(*upper),
            step: buffer(*step),
            counter: buffer(*counter),
        },
    };
    let entry = repeat.carried.iter().map(|one| (buffer(one.initial), buffer(one.current)));
    Ok(PreparedRepeat {
        turns,
        body: steps(engine, executable, &repeat.body)?,
        entry: entry.filter(|(from, to)| from != to).collect(),
        swaps: super::repeat::swaps(executable, &repeat.carried),
    })
}
