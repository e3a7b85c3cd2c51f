//! What a movement costs: bytes per class of link, messages, time, peak memory.

use std::collections::BTreeMap;

use pantile_geometry::{Distribution, Rank};

use crate::plan::{Plan, Round, Step};
use crate::schedule::{Message, Schedule};
use crate::totals::Totals;
use crate::{Error, Transfer};

/// Between which places two ranks talk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkClass {
    /// Both ranks live in one process.
    Process,
    /// Two processes of one node.
    Node,
    /// Two nodes.
    Network,
}

impl LinkClass {
    /// All classes, nearest first.
    pub const ALL: [Self; 3] = [Self::Process, Self::Node, Self::Network];

    /// Its name in texts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Process => "same process",
            Self::Node => "same node",
            Self::Network => "network",
        }
    }
}

/// A link: what a message costs at least, and what each byte costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Seconds per message.
    pub latency: f64,
    /// Bytes per second.
    pub bandwidth: f64,
}

/// How ranks are placed and what the links between them can do.
///
/// Ranks are placed in order: the first `ranks_per_process` in the first process, and so on.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Machine {
    /// Ranks hosted by one process.
    pub ranks_per_process: usize,
    /// Ranks on one node.
    pub ranks_per_node: usize,
    /// Links inside a process, inside a node, between nodes.
    pub links: [Link; 3],
    /// Bytes per second at which a rank copies its own elements.
    pub copy_bandwidth: f64,
}

impl Default for Machine {
    /// One rank per process, 64 per node; round figures of a cluster with a fast network.
    fn default() -> Self {
        let link = |latency, bandwidth| Link { latency, bandwidth };
        Self {
            ranks_per_process: 1,
            ranks_per_node: 64,
            links: [link(2e-7, 1e10), link(1e-6, 5e9), link(2e-6, 1e9)],
            copy_bandwidth: 1e10,
        }
    }
}

impl Machine {
    /// The same with other placement; 0 counts as 1.
    #[must_use]
    pub fn with_ranks(mut self, per_process: usize, per_node: usize) -> Self {
        self.ranks_per_process = per_process.max(1);
        self.ranks_per_node = per_node.max(1);
        self
    }

    /// The class of the link between two different ranks.
    #[must_use]
    pub fn class(&self, a: Rank, b: Rank) -> LinkClass {
        if a / self.ranks_per_process == b / self.ranks_per_process {
            LinkClass::Process
        } else if a / self.ranks_per_node == b / self.ranks_per_node {
            LinkClass::Node
        } else {
            LinkClass::Network
        }
    }

    fn seconds(&self, class: LinkClass, bytes: u128) -> f64 {
        let link = self.links[class as usize];
        link.latency + as_f64(bytes) / link.bandwidth
    }
}

/// What goes over one class of links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes.
    pub bytes: u128,
    /// Messages.
    pub messages: u128,
}

/// What a movement costs.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Estimate {
    /// Traffic per class of link, nearest first.
    pub links: [Traffic; 3],
    /// Bytes that ranks copy to themselves.
    pub kept_bytes: u128,
    /// Time of the slowest rank, round after round.
    pub seconds: f64,
    /// Source, target and packed messages on the fullest rank.
    pub peak_bytes: u128,
    /// The rank with the most traffic.
    pub busiest: Rank,
    /// How many ranks were looked at; `None` means all of them, and everything is exact.
    /// Otherwise totals are exact, and split over links, time and peak are from these ranks.
    pub sampled: Option<usize>,
}

impl Estimate {
    /// Bytes over all links.
    #[must_use]
    pub fn moved_bytes(&self) -> u128 {
        self.links.iter().map(|traffic| traffic.bytes).sum()
    }

    /// Messages over all links.
    #[must_use]
    pub fn messages(&self) -> u128 {
        self.links.iter().map(|traffic| traffic.messages).sum()
    }

    /// The cost of the direct movement between two distributions, for any number of ranks:
    /// totals are exact, the rest comes from `samples` evenly spaced ranks.
    ///
    /// # Errors
    /// As [`Plan::between`].
    pub fn between(
        (source, target): (&Distribution, &Distribution),
        machine: &Machine,
        element_bytes: usize,
        samples: usize,
    ) -> Result<Self, Error> {
        let totals = Totals::between(source, target)?;
        let mut estimate = Self::default();
        let ranks = spaced(source, target, samples);
        for rank in &ranks {
            let schedule = Schedule::between(source, target, *rank)?;
            let step = (source, target, element_bytes);
            estimate.add_rank(&schedule, machine, step);
        }
        estimate.scale(totals, element_bytes);
        estimate.sampled = Some(ranks.len());
        Ok(estimate)
    }

    fn add_rank(
        &mut self,
        schedule: &Schedule,
        machine: &Machine,
        (source, target, element_bytes): (&Distribution, &Distribution, usize),
    ) {
        let mut use_of = Use::default();
        let bytes = |message: &Message| (message.size() as u128) * element_bytes as u128;
        for hop in &schedule.hops {
            for message in &hop.sends {
                use_of.send(machine, schedule.rank, message.peer, bytes(message));
                if message.peer != schedule.rank {
                    let class = machine.class(schedule.rank, message.peer) as usize;
                    self.links[class].bytes += bytes(message);
                    self.links[class].messages += 1;
                }
            }
            for message in &hop.receives {
                use_of.receive(machine, schedule.rank, message.peer, bytes(message));
            }
        }
        if use_of.seconds() > self.seconds {
            (self.seconds, self.busiest) = (use_of.seconds(), schedule.rank);
        }
        let local = |side: &Distribution| volume(side, schedule.rank) * element_bytes as u128;
        self.peak_bytes = self.peak_bytes.max(local(source) + local(target) + use_of.staged);
    }

    /// Replaces sampled traffic by the exact totals, split in the sampled proportion.
    fn scale(&mut self, totals: Totals, element_bytes: usize) {
        let (bytes, messages) = (totals.moved * element_bytes as u128, totals.messages);
        let seen = (self.moved_bytes(), self.messages());
        let share = |part: u128, of: u128, total: u128| (part * total).checked_div(of).unwrap_or(0);
        for traffic in &mut self.links {
            traffic.bytes = share(traffic.bytes, seen.0, bytes);
            traffic.messages = share(traffic.messages, seen.1, messages);
        }
        // What rounding lost, or what no sampled rank saw, goes to the farthest link.
        self.links[2].bytes += bytes - self.moved_bytes();
        self.links[2].messages += messages - self.messages();
        self.kept_bytes = totals.kept * element_bytes as u128;
    }
}

/// At most `samples` ranks of both meshes, evenly spaced, first and last included.
fn spaced(source: &Distribution, target: &Distribution, samples: usize) -> Vec<Rank> {
    let mut ranks: Vec<Rank> = Vec::new();
    for mesh in [source.mesh(), target.mesh()] {
        let count = samples.clamp(1, mesh.size());
        let last = mesh.size() - 1;
        ranks.extend((0..count).map(|at| mesh.rank_at(at * last / (count - 1).max(1))));
    }
    ranks.sort_unstable();
    ranks.dedup();
    ranks
}

fn volume(side: &Distribution, rank: Rank) -> u128 {
    let shape = side.local_shape(rank);
    shape.map_or(0, |shape| shape.iter().map(|extent| *extent as u128).product())
}

/// What one rank does in a round.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    sending: f64,
    receiving: f64,
    copying: f64,
    staged: u128,
}

impl Use {
    fn send(&mut self, machine: &Machine, me: Rank, to: Rank, bytes: u128) {
        if me == to {
            self.copying += as_f64(bytes) / machine.copy_bandwidth;
        } else {
            self.sending += machine.seconds(machine.class(me, to), bytes);
            self.staged += bytes;
        }
    }

    fn receive(&mut self, machine: &Machine, me: Rank, from: Rank, bytes: u128) {
        if me != from {
            self.receiving += machine.seconds(machine.class(me, from), bytes);
            self.staged += bytes;
        }
    }

    /// A rank sends and receives at the same time, and copies besides.
    fn seconds(&self) -> f64 {
        self.sending.max(self.receiving) + self.copying
    }
}

impl Plan {
    /// What the plan costs on a machine, for elements of this many bytes.
    #[must_use]
    pub fn estimate(&self, machine: &Machine, element_bytes: usize) -> Estimate {
        let mut estimate = Estimate::default();
        let mut total: BTreeMap<Rank, f64> = BTreeMap::new();
        for step in self.steps() {
            for round in &step.rounds {
                estimate.add_round((step, round), machine, element_bytes, &mut total);
            }
        }
        let busiest = total.iter().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0)));
        estimate.busiest = busiest.map_or(0, |(rank, _)| *rank);
        estimate
    }
}

impl Estimate {
    fn add_round(
        &mut self,
        (step, round): (&Step, &Round),
        machine: &Machine,
        element_bytes: usize,
        total: &mut BTreeMap<Rank, f64>,
    ) {
        let mut pairs: BTreeMap<(Rank, Rank), u128> = BTreeMap::new();
        for Transfer { from, to, region, .. } in &round.transfers {
            *pairs.entry((*from, *to)).or_default() +=
                (region.size() as u128) * element_bytes as u128;
        }
        let mut uses: BTreeMap<Rank, Use> = BTreeMap::new();
        for ((from, to), bytes) in pairs {
            uses.entry(from).or_default().send(machine, from, to, bytes);
            uses.entry(to).or_default().receive(machine, to, from, bytes);
            if from == to {
                self.kept_bytes += bytes;
            } else {
                let traffic = &mut self.links[machine.class(from, to) as usize];
                traffic.bytes += bytes;
                traffic.messages += 1;
            }
        }
        let slowest = uses.values().map(Use::seconds).fold(0.0, f64::max);
        self.seconds += slowest;
        for (rank, used) in uses {
            *total.entry(rank).or_default() += used.seconds();
            let local = |side: &Distribution| volume(side, rank) * element_bytes as u128;
            let peak = local(&step.source) + local(&step.target) + used.staged;
            self.peak_bytes = self.peak_bytes.max(peak);
        }
    }
}

/// Bytes for arithmetic in seconds: an estimate needs no more than 53 bits.
fn as_f64(bytes: u128) -> f64 {
    bytes as f64
}
