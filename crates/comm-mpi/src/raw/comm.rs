//! The communicator, and messages through it.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr::{NonNull, null_mut};

use mpi::ffi;
use pantile_comm::MemorySlice;

use super::error::check;
use super::request::count;
use super::{MpiError, MpiRequest, int};

/// Words of a set of cores: 1024 of them.
pub(crate) const CORE_WORDS: usize = 16;

/// Where a message goes or comes from.
#[derive(Clone, Copy)]
pub(crate) struct Address {
    pub(crate) rank: c_int,
    pub(crate) tag: c_int,
}

/// A communicator over all processes, whose errors come back instead of ending the process.
pub(crate) struct Comm(ffi::MPI_Comm);

// SAFETY: R2; `world` asks for the thread level SERIALIZED and refuses less.
unsafe impl Send for Comm {}

impl Comm {
    /// A duplicate of `MPI_COMM_WORLD`; all processes make it together.
    pub(crate) fn duplicate_of_world() -> Result<Self, MpiError> {
        // SAFETY: R1; `world` initialises MPI before it makes a communicator.
        check(unsafe {
            ffi::MPI_Comm_set_errhandler(ffi::RSMPI_COMM_WORLD, ffi::RSMPI_ERRORS_RETURN)
        })?;
        // SAFETY: R5; the binding is made from the library's own header.
        let mut comm = Self(unsafe { ffi::RSMPI_COMM_NULL });
        // SAFETY: R1, R4; the communicator is our own, and MPI writes to variables of its types.
        check(unsafe { ffi::MPI_Comm_dup(ffi::RSMPI_COMM_WORLD, &raw mut comm.0) })?;
        // SAFETY: R1; the communicator was just made, or `check` has returned.
        check(unsafe { ffi::MPI_Comm_set_errhandler(comm.0, ffi::RSMPI_ERRORS_RETURN) })?;
        Ok(comm)
    }

    /// This process's rank, and how many there are.
    pub(crate) fn rank_and_size(&self) -> Result<(usize, usize), MpiError> {
        let (mut rank, mut size) = (0, 0);
        // SAFETY: R1, R4; the communicator is our own, and MPI writes to variables of its types.
        check(unsafe { ffi::MPI_Comm_rank(self.0, &raw mut rank) })?;
        // SAFETY: R1, R4; the communicator is our own, and MPI writes to variables of its types.
        check(unsafe { ffi::MPI_Comm_size(self.0, &raw mut size) })?;
        Ok((usize::try_from(rank).unwrap_or(0), usize::try_from(size).unwrap_or(0)))
    }

    /// The largest tag; the standard promises 32767.
    #[expect(clippy::cast_possible_wrap, reason = "the key is an opaque number of the library")]
    pub(crate) fn tag_max(&self) -> Result<c_int, MpiError> {
        let (mut value, mut found): (*mut c_int, c_int) = (null_mut(), 0);
        let (key, place) = (ffi::MPI_TAG_UB as c_int, (&raw mut value).cast::<c_void>());
        // SAFETY: R1, R4; `value` and `found` are variables of the types that MPI writes.
        check(unsafe { ffi::MPI_Comm_get_attr(self.0, key, place, &raw mut found) })?;
        let known = NonNull::new(value).filter(|_| found != 0);
        // SAFETY: R4; MPI's answer is not null and was found: an int that lives as long as the library.
        Ok(known.map_or(32767, |value| unsafe { *value.as_ptr() }))
    }

    /// How many processes share this host; `cores` becomes what all of them may use together.
    pub(crate) fn on_this_host(&self, cores: &mut [u64; CORE_WORDS]) -> Result<usize, MpiError> {
        // SAFETY: R5; the binding is made from the library's own header.
        let mut host = Self(unsafe { ffi::RSMPI_COMM_NULL });
        // SAFETY: R1, R4; the communicator is our own, and MPI writes to variables of its types.
        check(unsafe {
            let (kind, info) = (ffi::RSMPI_COMM_TYPE_SHARED, ffi::RSMPI_INFO_NULL);
            ffi::MPI_Comm_split_type(self.0, kind, 0, info, &raw mut host.0)
        })?;
        let mine = *cores;
        let (from, to) = (mine.as_ptr().cast::<c_void>(), cores.as_mut_ptr().cast::<c_void>());
        // SAFETY: R1, R4; both arrays have `CORE_WORDS` words, and one is a copy.
        check(unsafe {
            let (kind, op) = (ffi::RSMPI_UINT64_T, ffi::RSMPI_BOR);
            ffi::MPI_Allreduce(from, to, int(CORE_WORDS), kind, op, host.0)
        })?;
        let (_, size) = host.rank_and_size()?;
        host.free().map(|()| size)
    }

    /// Starts to send a part of a slice.
    pub(crate) fn send(
        &self,
        slice: &MemorySlice,
        part: Range<usize>,
        to: Address,
    ) -> Result<MpiRequest, MpiError> {
        let (start, length) = place(slice, part);
        let mut request = MpiRequest::none();
        // SAFETY: R1, R2, R3; `place` compares the part with the slice, and its length with an `int`.
        check(unsafe {
            let (kind, out) = (ffi::RSMPI_UINT8_T, &raw mut request.0);
            ffi::MPI_Isend(start.cast_const(), length, kind, to.rank, to.tag, self.0, out)
        })?;
        Ok(request)
    }

    /// Makes room for a message in a part of a slice.
    pub(crate) fn receive(
        &self,
        slice: &MemorySlice,
        part: Range<usize>,
        from: Address,
    ) -> Result<MpiRequest, MpiError> {
        let (start, length) = place(slice, part);
        let mut request = MpiRequest::none();
        // SAFETY: R1, R2, R3; `place` compares the part with the slice, and its length with an `int`.
        check(unsafe {
            let (kind, out) = (ffi::RSMPI_UINT8_T, &raw mut request.0);
            ffi::MPI_Irecv(start, length, kind, from.rank, from.tag, self.0, out)
        })?;
        Ok(request)
    }

    /// The sender of a message with a tag that has arrived and was not received.
    pub(crate) fn arrived(&self, tag: c_int) -> Result<Option<c_int>, MpiError> {
        let (mut found, mut status) = (0, MaybeUninit::<ffi::MPI_Status>::uninit());
        // SAFETY: R1, R2, R4; `found` and `status` are variables of the types that MPI writes.
        check(unsafe {
            let (any, out) = (ffi::RSMPI_ANY_SOURCE, status.as_mut_ptr());
            ffi::MPI_Iprobe(any, tag, self.0, &raw mut found, out)
        })?;
        if found == 0 {
            return Ok(None);
        }
        // SAFETY: R4; `found` says that MPI has written the status.
        Ok(Some(unsafe { status.assume_init() }.MPI_SOURCE))
    }

    /// Receives a message that has [`arrived`](Self::arrived): how many bytes there were.
    pub(crate) fn receive_now(&self, room: &MemorySlice, from: Address) -> Result<usize, MpiError> {
        let (start, length) = place(room, 0..room.len());
        let mut status = MaybeUninit::uninit();
        // SAFETY: R1, R2, R3; `place` takes the whole slice, and the call returns when it is filled.
        check(unsafe {
            let (kind, out) = (ffi::RSMPI_UINT8_T, status.as_mut_ptr());
            ffi::MPI_Recv(start, length, kind, from.rank, from.tag, self.0, out)
        })?;
        // SAFETY: R4; `check` has returned if MPI has not written the status.
        count(unsafe { status.assume_init_ref() })
    }

    /// Gives the communicator back; all processes do that together.
    pub(crate) fn free(mut self) -> Result<(), MpiError> {
        // SAFETY: R1; the communicator is taken by value.
        check(unsafe { ffi::MPI_Comm_free(&raw mut self.0) })
    }
}

/// Where a part of a slice begins, and its length.
fn place(slice: &MemorySlice, part: Range<usize>) -> (*mut c_void, c_int) {
    assert!(part.start <= part.end && part.end <= slice.len(), "a part lies inside its slice");
    (slice.as_ptr().wrapping_add(part.start).cast(), int(part.len()))
}
