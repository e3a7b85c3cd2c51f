//! Is there enough memory for a program? Asked before it runs.

use pantile_comm::CollectiveSignature;
use pantile_engine::limit::{Budget, Shares};
use pantile_engine::{Error, ExecutorHandle};
use pantile_ir::Place;

use super::compile_cache::CachedProgram;
use super::fault::Fault;
use super::fault_kind::FaultKind;
use super::node::lock;
use super::session::Session;

/// Programs that need fewer bytes are not asked about.
const SMALL: usize = 64 << 10;

/// Where every process is a rank, programs of fewer bytes, of all ranks together, are not asked about:
/// agreeing takes a message to every process.
const AGREED: usize = 32 << 20;

/// What the ranks of this process may take.
#[derive(Default)]
pub(crate) struct Allowance {
    budget: Budget,
    /// True once it is known which other processes draw from the same memory.
    shared: bool,
    /// True while there is enough only with what ranks keep unused.
    scarce: bool,
}

impl Session {
    /// Refuses a program that needs more memory than there is: asking for it would end the process.
    /// Where every process is a rank, all refuse it or none does.
    pub(crate) fn check_memory(&self, cached: &CachedProgram, place: &Place) -> Result<(), Fault> {
        let alone = !self.inner.is_spread;
        let small = if alone { cached.needed < SMALL } else { cached.total < AGREED };
        if !self.inner.in_process || small {
            return Ok(());
        }
        let (mut executor, mut own) = (lock(&self.inner.executor), lock(&self.inner.allowance));
        if !alone && !own.shared {
            let call = CollectiveSignature::here("memory that processes share", 0);
            let records = executor.gather(&call, &Shares::record())?;
            own.budget.share(Shares::among(&records));
            own.shared = true;
        }
        let asked = own.budget.ask(cached.needed as u64, || executor.spare_bytes() as u64);
        let reason = match &asked {
            Ok(_) => String::new(),
            Err(shortage) => shortage.to_string(),
        };
        let rank = self.hosted().first().copied().unwrap_or(0);
        let short = match alone {
            true => (!reason.is_empty()).then_some((rank, reason)),
            false => short_of(&mut executor, &reason)?,
        };
        if let Some((rank, reason)) = short {
            let on = (!alone).then_some(rank);
            let error = Error::OutOfMemory { rank, reason: reason.clone(), ended: false };
            let kind = FaultKind::ProgramMemory { error, reason, on };
            return Err(Fault::new(kind, place.clone()));
        }
        let scarce = asked.unwrap_or(false);
        if scarce != own.scarce {
            own.scarce = scarce;
            executor.set_scarce(scarce);
        }
        Ok(())
    }

    /// Refuses to take so many bytes for elements that this process gives or gets.
    ///
    /// # Errors
    /// What is needed, what is left, and the limit that leaves least.
    pub fn check_bytes(&self, bytes: usize) -> Result<(), Fault> {
        if bytes < SMALL {
            return Ok(());
        }
        let asked = lock(&self.inner.allowance).budget.ask(bytes as u64, || 0);
        asked.map(drop).map_err(|shortage| {
            let rank = self.hosted().first().copied().unwrap_or(0);
            let reason = shortage.to_string();
            let error = Error::OutOfMemory { rank, reason: reason.clone(), ended: false };
            Fault::new(FaultKind::ElementMemory { error, reason }, Place::default())
        })
    }
}

/// The first rank of all processes that is short of memory, and what it says.
fn short_of(executor: &mut ExecutorHandle, reason: &str) -> Result<Option<(usize, String)>, Error> {
    let heard = executor
        .gather(&CollectiveSignature::here("memory for a program", 0), reason.as_bytes())?;
    let first = heard.iter().position(|record| !record.is_empty());
    Ok(first.map(|rank| (rank, String::from_utf8_lossy(&heard[rank]).into_owned())))
}
