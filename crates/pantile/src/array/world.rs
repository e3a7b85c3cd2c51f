//! The world as one caller sees it: all ranks, and what they keep.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use pantile_comm::Options;
use pantile_engine::{ArrayId, Counters, Crew};
use pantile_ir::lower::{Executable, Setting};

use super::fault::Fault;
use crate::launch::{Ranks, check_threads};
use crate::{Launch, LaunchError};

/// All ranks, seen by one caller who writes array code as if for one machine.
///
/// Started plainly, the ranks are threads of this process. Started by `mpirun` or `srun`, every
/// process is a rank and runs the same program.
#[derive(Clone)]
pub struct World {
    pub(crate) inner: Rc<Inner>,
    /// Where arrays are made to live.
    pub(crate) dist: Option<Rc<str>>,
}

pub(crate) struct Inner {
    pub(crate) crew: RefCell<Crew>,
    pub(crate) executables: RefCell<BTreeMap<u128, Arc<Executable>>>,
    /// Arrays that nobody refers to any more; forgotten with the next program.
    pub(crate) garbage: Rc<RefCell<Vec<ArrayId>>>,
    pub(crate) ids: Cell<u64>,
    pub(crate) marks: Cell<u64>,
    /// Operations recorded since the last program ran.
    pub(crate) pending: Cell<usize>,
    /// How many functions of blocks are being recorded, one in the other: nothing runs meanwhile by
    /// itself.
    pub(crate) recording: Cell<usize>,
    /// Programs that were lowered.
    pub(crate) lowered: Cell<u64>,
}

impl World {
    fn of(crew: Crew) -> Self {
        let inner = Inner {
            crew: RefCell::new(crew),
            executables: RefCell::default(),
            garbage: Rc::default(),
            ids: Cell::new(0),
            marks: Cell::new(0),
            pending: Cell::new(0),
            recording: Cell::new(0),
            lowered: Cell::new(0),
        };
        Self { inner: Rc::new(inner), dist: None }
    }

    /// So many ranks, each a thread of this process.
    ///
    /// # Errors
    /// If there are none, or more than [`threads::MAX_RANKS`](crate::threads::MAX_RANKS).
    pub fn threads(ranks: usize) -> Result<Self, Fault> {
        if ranks == 0 {
            return Err(Fault::new("got 0 ranks, expected at least 1", Default::default()));
        }
        check_threads(ranks).map_err(|error| Fault::new(error.to_string(), Default::default()))?;
        Ok(Self::of(Crew::threads(ranks, &Options::default())))
    }

    /// What the environment says: one of the processes of `mpirun` or `srun`, else
    /// `PANTILE_RANKS` threads, else one per core.
    ///
    /// # Errors
    /// As [`Launch::from_environment`].
    pub fn from_env() -> Result<Self, LaunchError> {
        let launch = Launch::from_environment()?;
        match launch.ranks {
            Ranks::Threads(ranks) => Ok(Self::of(Crew::threads(ranks, &launch.options))),
            Ranks::Mpi => Self::mpi(&launch.options),
        }
    }

    #[cfg(feature = "mpi")]
    fn mpi(options: &Options) -> Result<Self, LaunchError> {
        let transport = pantile_comm_mpi::Mpi::init(options).map_err(LaunchError::Mpi)?;
        Ok(Self::of(Crew::alone(pantile_comm::Communicator::new(Box::new(transport)))))
    }

    #[cfg(not(feature = "mpi"))]
    fn mpi(_: &Options) -> Result<Self, LaunchError> {
        Err(LaunchError::WithoutMpi)
    }

    /// The same world, in which arrays are made to live as a text says: `"block(r), whole"`,
    /// `"x=2, y=*: block(x), block(y)"`, `"cyclic(r, 4)"`, `"copies"`, `"auto"`. A mesh axis of
    /// size `*` takes the ranks that the others leave.
    #[must_use]
    pub fn dist(&self, text: &str) -> Self {
        Self { inner: Rc::clone(&self.inner), dist: Some(text.into()) }
    }

    /// Number of ranks.
    #[must_use]
    pub fn ranks(&self) -> usize {
        self.inner.crew.borrow().size()
    }

    /// What the ranks of this process have done so far, together.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.inner.crew.borrow_mut().counters()
    }

    /// How many different programs were lowered so far: a loop that repeats itself adds none.
    #[must_use]
    pub fn lowered(&self) -> u64 {
        self.inner.lowered.get()
    }

    pub(crate) fn setting(&self) -> Setting {
        Setting { ranks: self.ranks(), ..Setting::default() }
    }
}

impl Inner {
    pub(crate) fn new_id(&self) -> ArrayId {
        self.ids.set(self.ids.get() + 1);
        ArrayId(self.ids.get())
    }

    pub(crate) fn new_mark(&self) -> u64 {
        self.marks.set(self.marks.get() + 1);
        self.marks.get()
    }
}
