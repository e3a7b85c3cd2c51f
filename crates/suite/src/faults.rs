//! What goes wrong, at every step of every movement: nobody waits for ever, and everybody is told
//! whose fault it was.

use std::sync::Arc;
use std::time::Duration;

use pantile_comm::{
    CollectiveSignature, CommError, Failure, MemoryBlock, MemorySlice, Rank, Tag, Ticket,
    Transport, Windows,
};
use pantile_geometry::Distribution;
use pantile_geometry::halo::WindowParameters;
use pantile_spmd::{
    AllGather, AllSumReduce, AxisChoice, Broadcast, DistArray, Error, HaloExchange, LayerExchange,
    Operator, RankContext, ReduceScatter, Repartition, SumReduce, Tensor, Widths,
};

/// A movement that is tried: forward and adjoint on a world of at least two ranks.
#[derive(Clone, Copy)]
pub struct Trial {
    /// Which one.
    pub name: &'static str,
    /// What every rank does.
    pub body: fn(&RankContext) -> Result<(), Error>,
}

/// Every movement there is.
#[must_use]
pub fn trials() -> Vec<Trial> {
    vec![
        Trial { name: "broadcast", body: broadcast },
        Trial { name: "sum-reduce", body: sum_reduce },
        Trial { name: "all-sum-reduce", body: all_sum_reduce },
        Trial { name: "repartition", body: repartition },
        Trial { name: "all-gather", body: all_gather },
        Trial { name: "reduce-scatter", body: reduce_scatter },
        Trial { name: "halo exchange", body: halo_exchange },
        Trial { name: "layer exchange", body: layer_exchange },
        Trial { name: "data", body: data },
        Trial { name: "distributed array", body: array },
    ]
}

fn broadcast(world: &RankContext) -> Result<(), Error> {
    let all = world.partition().create_cartesian_topology_partition(&[world.size()])?;
    let one = all.create_partition_inclusive(&[world.size() - 1])?;
    let broadcast = Broadcast::new(&one, &all)?;
    let y = broadcast.forward(&Tensor::full(&[3, 2], 1.5_f64))?;
    broadcast.adjoint(&y).map(|_| ())
}

fn sum_reduce(world: &RankContext) -> Result<(), Error> {
    let all = world.partition().create_cartesian_topology_partition(&[world.size()])?;
    let sum = SumReduce::new(&all, &all.create_partition_inclusive(&[0])?)?;
    let y = sum.forward(&Tensor::full(&[4], world.rank() as u64))?;
    sum.adjoint(&y).map(|_| ())
}

fn all_sum_reduce(world: &RankContext) -> Result<(), Error> {
    let all = world.partition().create_cartesian_topology_partition(&[1, world.size()])?;
    let sum = AllSumReduce::new(&all, &AxisChoice::Reduce(vec![-1]))?;
    let y = sum.forward(&Tensor::full(&[5], 1.0_f32))?;
    sum.adjoint(&y).map(|_| ())
}

fn repartition(world: &RankContext) -> Result<(), Error> {
    let all = world.partition();
    let rows = all.create_cartesian_topology_partition(&[world.size(), 1])?;
    let columns = all.create_cartesian_topology_partition(&[1, world.size()])?;
    let turn = Repartition::new(&rows, &columns)?;
    let y = turn.forward(&Tensor::full(&[2, 5], -3_i32))?;
    turn.adjoint(&y).map(|_| ())
}

fn all_gather(world: &RankContext) -> Result<(), Error> {
    let all = world.partition().create_cartesian_topology_partition(&[world.size()])?;
    let gather = AllGather::new(&all, &AxisChoice::Reduce(vec![0]))?;
    let y = gather.forward(&Tensor::full(&[1 + world.rank()], 2_i16))?;
    gather.adjoint(&y).map(|_| ())
}

fn reduce_scatter(world: &RankContext) -> Result<(), Error> {
    let all = world.partition().create_cartesian_topology_partition(&[world.size()])?;
    let scatter = ReduceScatter::new(&all, &AxisChoice::Keep(vec![]))?;
    let y = scatter.forward(&Tensor::full(&[7], 2.0_f64))?;
    scatter.adjoint(&y).map(|_| ())
}

fn halo_exchange(world: &RankContext) -> Result<(), Error> {
    let all = world.partition().create_cartesian_topology_partition(&[world.size()])?;
    let exchange = HaloExchange::new(&all, &[Widths::uniform(world.size(), 1, 1).periodic()])?;
    let mut x = Tensor::full(&[6], world.rank() as f64);
    exchange.exchange(&mut x)?;
    exchange.adjoint(&x).map(|_| ())
}

fn layer_exchange(world: &RankContext) -> Result<(), Error> {
    let all = world.partition().create_cartesian_topology_partition(&[world.size()])?;
    let window = WindowParameters { kernel: vec![3], padding: vec![1], ..Default::default() };
    let exchange = LayerExchange::new(&all, &window)?;
    let y = exchange.forward(&Tensor::full(&[4], 1.0_f64))?;
    exchange.adjoint(&y).map(|_| ())
}

fn data(world: &RankContext) -> Result<(), Error> {
    let all = world.partition();
    let mine = Tensor::full(&[2], 7_u32);
    all.broadcast_data(Some(&mine), 0)?;
    all.allgather_data(mine.as_slice())?;
    all.allreduce_data(&mine, Operator::Max).map(|_| ())
}

fn array(world: &RankContext) -> Result<(), Error> {
    let size = world.size();
    let parsed = |text: String| -> Result<Distribution, Error> { Ok(text.parse()?) };
    let rows = parsed(format!("9x6 on r={size}: block(r) halo 1, whole"))?;
    let columns = parsed(format!("9x6 on r={size}: whole, cyclic(r, 1)"))?;
    let mut array = DistArray::from_fn(world, &rows, |at| (at[0] * 6 + at[1]) as f64);
    array.local_mut()?;
    array.exchange_halo()?;
    let turned = array.redistribute(&columns)?;
    turned.redistribute_adjoint(array.distribution())?;
    array.accumulate_halo()?;
    turned.gather(size - 1).map(|_| ())
}

/// How a rank fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Its call returns an error.
    Error,
    /// It panics.
    Panic,
    /// It leaves without a word, and its call returns an error.
    Leave,
    /// It goes on with its life, but calls nothing for a while.
    Silence(Duration),
}

/// A transport that fails at one of its calls. Everything else is the transport inside.
pub struct Failing {
    inner: Option<Box<dyn Transport>>,
    rank: Rank,
    size: usize,
    steps: u64,
    at_step: u64,
    how: How,
}

impl Failing {
    /// Fails at call number `at_step`, counted from 1; never, if that is 0.
    #[must_use]
    pub fn new(inner: Box<dyn Transport>, at_step: u64, how: How) -> Self {
        let (rank, size) = (inner.rank(), inner.size());
        Self { inner: Some(inner), rank, size, steps: 0, at_step, how }
    }

    /// One more call: the transport inside, or what goes wrong.
    fn step(&mut self) -> Result<&mut dyn Transport, CommError> {
        self.steps += 1;
        if self.steps == self.at_step {
            match self.how {
                How::Error => return Err(self.broken()),
                How::Panic => panic!("this rank was told to panic"),
                How::Leave => self.inner = None,
                How::Silence(time) => std::thread::sleep(time),
            }
        }
        let broken = self.broken();
        self.inner.as_deref_mut().map(|inner| inner as &mut dyn Transport).ok_or(broken)
    }

    fn broken(&self) -> CommError {
        let (rank, call) = (self.rank, "a call that was told to fail".to_owned());
        CommError::Backend { rank, call, reason: "broken on purpose".to_owned() }
    }

    fn windows_inside(&mut self) -> Result<&mut dyn Windows, CommError> {
        let broken = self.broken();
        self.step()?.windows().ok_or(broken)
    }
}

impl Transport for Failing {
    fn name(&self) -> &'static str {
        "failing"
    }

    fn rank(&self) -> Rank {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn enter(&mut self, call: &CollectiveSignature) -> Result<(), CommError> {
        self.step()?.enter(call)
    }

    fn leave(&mut self) {
        if let Some(inner) = &mut self.inner {
            inner.leave();
        }
    }

    fn post_send(&mut self, to: Rank, tag: Tag, body: &MemorySlice) -> Result<Ticket, CommError> {
        self.step()?.post_send(to, tag, body)
    }

    fn post_receive(
        &mut self,
        from: Rank,
        tag: Tag,
        room: &MemorySlice,
    ) -> Result<Ticket, CommError> {
        self.step()?.post_receive(from, tag, room)
    }

    fn wait(&mut self, ticket: Ticket) -> Result<(), CommError> {
        self.step()?.wait(ticket)
    }

    fn is_done(&mut self, ticket: Ticket) -> Result<bool, CommError> {
        self.step()?.is_done(ticket)
    }

    fn receive_any(&mut self, from: Rank, tag: Tag) -> Result<Vec<u8>, CommError> {
        self.step()?.receive_any(from, tag)
    }

    fn windows(&mut self) -> Option<&mut dyn Windows> {
        // Only if there are any inside; once gone it does not matter.
        let has_windows = self.inner.as_mut().is_some_and(|inner| inner.windows().is_some());
        if has_windows { Some(self) } else { None }
    }

    fn abort(&mut self, failure: Failure) {
        if let Some(inner) = &mut self.inner {
            inner.abort(failure);
        }
    }

    fn failure(&self) -> Option<Arc<Failure>> {
        self.inner.as_ref()?.failure()
    }
}

impl Windows for Failing {
    fn expose(&mut self, to: Rank, memory: &MemoryBlock) -> Result<(), CommError> {
        self.windows_inside()?.expose(to, memory)
    }

    fn is_exposed(&mut self, from: Rank) -> bool {
        self.inner.as_mut().and_then(|inner| inner.windows()).is_some_and(|w| w.is_exposed(from))
    }

    fn acquire(&mut self, from: Rank) -> Result<MemoryBlock, CommError> {
        self.windows_inside()?.acquire(from)
    }

    fn release(&mut self, from: Rank) {
        if let Some(windows) = self.inner.as_mut().and_then(|inner| inner.windows()) {
            windows.release(from);
        }
    }

    fn close(&mut self, to: Rank) -> Result<(), CommError> {
        self.windows_inside()?.close(to)
    }

    fn withdraw(&mut self) {
        if let Some(windows) = self.inner.as_mut().and_then(|inner| inner.windows()) {
            windows.withdraw();
        }
    }
}

/// What a living rank has to see when `culprit` failed: an error that names it.
///
/// # Errors
/// If it saw something else.
pub fn judge(result: &Result<(), String>, culprit: Rank) -> Result<(), String> {
    match result {
        Ok(()) => Err(format!("no error, although rank {culprit} failed")),
        Err(text) if text.contains(&format!("rank {culprit}")) => Ok(()),
        Err(text) => Err(format!("the error does not name rank {culprit}: {text}")),
    }
}
