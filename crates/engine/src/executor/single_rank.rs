//! One rank per process: the caller's thread is the rank, and every process runs the same programs.

use std::sync::Arc;
use std::time::Duration;

use pantile_comm::{CollectiveSignature, Communicator, Rank};

use super::{Executor, Job, RankRuntime, Started};
use crate::Error;

/// The rank that this process is.
pub struct SingleRank {
    rank: RankRuntime,
}

impl SingleRank {
    /// The rank at this end of a world.
    #[must_use]
    pub fn new(communicator: Communicator) -> Self {
        Self { rank: RankRuntime::new(communicator) }
    }
}

impl Executor for SingleRank {
    fn size(&self) -> usize {
        self.rank.engine.size()
    }

    fn hosted(&self) -> Vec<Rank> {
        vec![self.rank.engine.rank()]
    }

    fn is_in_process(&self) -> bool {
        true
    }

    fn has_windows(&self) -> bool {
        self.rank.engine.has_windows()
    }

    fn has_other_callers(&self) -> bool {
        true
    }

    fn is_idle(&self) -> bool {
        true
    }

    fn start(&mut self, job: &Arc<Job>) -> Result<Started, Error> {
        self.rank.run(job).map(|()| Started::Done)
    }

    fn wait(&mut self, _: Duration, _: &mut Vec<Error>) -> bool {
        true
    }

    fn gather(&mut self, call: &CollectiveSignature, record: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        let team: Vec<Rank> = (0..self.size()).collect();
        self.rank.engine.gather(call, &team, record)
    }

    fn each_rank(&mut self, visit: &mut dyn FnMut(&mut RankRuntime)) {
        visit(&mut self.rank);
    }
}
