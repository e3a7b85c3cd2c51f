//! The calls into the MPI library, and into memory that it reads and writes: every unsafe line of
//! this crate.
//!
//! The functions look safe, but rest on promises that their callers, all in this crate, keep:
//! 1. MPI is initialised before the first [`Comm`] is made, and finalised after the last call.
//! 2. One thread at a time calls, because everything is reached through one `&mut MpiWorld`.
//! 3. A slice that a [`MpiRequest`] reads or writes is kept in memory until that request is done,
//!    and no code looks at it meanwhile (law 6 of [`pantile_comm::Transport`]).
#![allow(unsafe_code, reason = "MPI is a C library")]

use std::ffi::{c_char, c_int, c_void};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr::{NonNull, null_mut};

use mpi::ffi;
use pantile_comm::{MemoryBlock, MemorySlice};

/// Words of a set of cores: 1024 of them.
pub(crate) const CORE_WORDS: usize = 16;

/// What MPI answered instead of success.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MpiError(c_int);

impl MpiError {
    /// MPI's own words.
    pub(crate) fn text(self) -> String {
        let mut text = [0_u8; ffi::MPI_MAX_ERROR_STRING as usize + 1];
        let mut length = 0;
        let start = text.as_mut_ptr().cast::<c_char>();
        // SAFETY: the text has room for the longest one that MPI writes.
        let code = unsafe { ffi::MPI_Error_string(self.0, start, &raw mut length) };
        let length = usize::try_from(length).unwrap_or(0).min(text.len());
        match code == SUCCESS && length > 0 {
            true => String::from_utf8_lossy(&text[..length]).into_owned(),
            false => format!("MPI error {}", self.0),
        }
    }
}

#[expect(clippy::cast_possible_wrap, reason = "the constant is zero")]
const SUCCESS: c_int = ffi::MPI_SUCCESS as c_int;

fn check(code: c_int) -> Result<(), MpiError> {
    if code == SUCCESS { Ok(()) } else { Err(MpiError(code)) }
}

/// Lengths and ranks are checked where they enter; whatever does not fit makes MPI refuse.
pub(crate) fn int(number: usize) -> c_int {
    c_int::try_from(number).unwrap_or(-1)
}

/// A send or receive under way, or nothing.
pub(crate) struct MpiRequest(ffi::MPI_Request);

// SAFETY: promise 2; the thread level is at least SERIALIZED.
unsafe impl Send for MpiRequest {}

impl MpiRequest {
    /// No request: done since ever.
    pub(crate) fn none() -> Self {
        // SAFETY: a constant of the library.
        Self(unsafe { ffi::RSMPI_REQUEST_NULL })
    }

    /// True if a send is done; stays true.
    pub(crate) fn is_sent(&mut self) -> Result<bool, MpiError> {
        let mut done = 0;
        // SAFETY: promises 1 to 3.
        let code =
            unsafe { ffi::MPI_Test(&raw mut self.0, &raw mut done, ffi::RSMPI_STATUS_IGNORE) };
        check(code).map(|()| done != 0)
    }

    /// How many bytes a receive got, if it is done; asked for once.
    pub(crate) fn received(&mut self) -> Result<Option<usize>, MpiError> {
        let (mut done, mut status) = (0, MaybeUninit::uninit());
        // SAFETY: promises 1 to 3.
        check(unsafe { ffi::MPI_Test(&raw mut self.0, &raw mut done, status.as_mut_ptr()) })?;
        if done == 0 {
            return Ok(None);
        }
        // SAFETY: MPI has written the status of a request that is done.
        count(unsafe { status.assume_init_ref() }).map(Some)
    }

    /// Takes a receive back, or lets it end if its message has just come. Returns when MPI has let
    /// go of the memory.
    pub(crate) fn cancel(&mut self) -> Result<(), MpiError> {
        // SAFETY: a constant of the library.
        if self.0 == unsafe { ffi::RSMPI_REQUEST_NULL } {
            return Ok(());
        }
        // SAFETY: promises 1 and 2; the request is a receive under way.
        check(unsafe { ffi::MPI_Cancel(&raw mut self.0) })?;
        // SAFETY: as above; a receive that was cancelled ends without the peer.
        check(unsafe { ffi::MPI_Wait(&raw mut self.0, ffi::RSMPI_STATUS_IGNORE) })
    }
}

fn count(status: &ffi::MPI_Status) -> Result<usize, MpiError> {
    let mut bytes = 0;
    // SAFETY: a valid status and a predefined datatype.
    check(unsafe { ffi::MPI_Get_count(status, ffi::RSMPI_UINT8_T, &raw mut bytes) })?;
    Ok(usize::try_from(bytes).unwrap_or(0))
}

/// Where a message goes or comes from.
#[derive(Clone, Copy)]
pub(crate) struct Address {
    pub(crate) rank: c_int,
    pub(crate) tag: c_int,
}

/// A communicator over all processes, whose errors come back instead of ending the process.
pub(crate) struct Comm(ffi::MPI_Comm);

// SAFETY: promise 2; the thread level is at least SERIALIZED.
unsafe impl Send for Comm {}

impl Comm {
    /// A duplicate of `MPI_COMM_WORLD`; all processes make it together.
    pub(crate) fn duplicate_of_world() -> Result<Self, MpiError> {
        // SAFETY: promise 1, for this and the next.
        check(unsafe {
            ffi::MPI_Comm_set_errhandler(ffi::RSMPI_COMM_WORLD, ffi::RSMPI_ERRORS_RETURN)
        })?;
        // SAFETY: a constant of the library.
        let mut comm = Self(unsafe { ffi::RSMPI_COMM_NULL });
        // SAFETY: promise 1.
        check(unsafe { ffi::MPI_Comm_dup(ffi::RSMPI_COMM_WORLD, &raw mut comm.0) })?;
        // SAFETY: the communicator was just made.
        check(unsafe { ffi::MPI_Comm_set_errhandler(comm.0, ffi::RSMPI_ERRORS_RETURN) })?;
        Ok(comm)
    }

    /// This process's rank, and how many there are.
    pub(crate) fn rank_and_size(&self) -> Result<(usize, usize), MpiError> {
        let (mut rank, mut size) = (0, 0);
        // SAFETY: promise 1.
        check(unsafe { ffi::MPI_Comm_rank(self.0, &raw mut rank) })?;
        // SAFETY: promise 1.
        check(unsafe { ffi::MPI_Comm_size(self.0, &raw mut size) })?;
        Ok((usize::try_from(rank).unwrap_or(0), usize::try_from(size).unwrap_or(0)))
    }

    /// The largest tag; the standard promises 32767.
    #[expect(clippy::cast_possible_wrap, reason = "the key is an opaque number of the library")]
    pub(crate) fn tag_max(&self) -> Result<c_int, MpiError> {
        let (mut value, mut found): (*mut c_int, c_int) = (null_mut(), 0);
        let (key, place) = (ffi::MPI_TAG_UB as c_int, (&raw mut value).cast::<c_void>());
        // SAFETY: promise 1; MPI writes a pointer to an int that lives as long as the library.
        check(unsafe { ffi::MPI_Comm_get_attr(self.0, key, place, &raw mut found) })?;
        let known = NonNull::new(value).filter(|_| found != 0);
        // SAFETY: as above.
        Ok(known.map_or(32767, |value| unsafe { *value.as_ptr() }))
    }

    /// How many processes share this host; `cores` becomes what all of them may use together.
    pub(crate) fn on_this_host(&self, cores: &mut [u64; CORE_WORDS]) -> Result<usize, MpiError> {
        // SAFETY: a constant of the library.
        let mut host = Self(unsafe { ffi::RSMPI_COMM_NULL });
        // SAFETY: promise 1.
        check(unsafe {
            let (kind, info) = (ffi::RSMPI_COMM_TYPE_SHARED, ffi::RSMPI_INFO_NULL);
            ffi::MPI_Comm_split_type(self.0, kind, 0, info, &raw mut host.0)
        })?;
        let mine = *cores;
        let (from, to) = (mine.as_ptr().cast::<c_void>(), cores.as_mut_ptr().cast::<c_void>());
        // SAFETY: both arrays have that many words and do not overlap.
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
        // SAFETY: promises 1 to 3; the part lies inside the slice.
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
        // SAFETY: promises 1 to 3; the part lies inside the slice.
        check(unsafe {
            let (kind, out) = (ffi::RSMPI_UINT8_T, &raw mut request.0);
            ffi::MPI_Irecv(start, length, kind, from.rank, from.tag, self.0, out)
        })?;
        Ok(request)
    }

    /// The sender of a message with a tag that has arrived and was not received.
    pub(crate) fn arrived(&self, tag: c_int) -> Result<Option<c_int>, MpiError> {
        let (mut found, mut status) = (0, MaybeUninit::<ffi::MPI_Status>::uninit());
        // SAFETY: promises 1 and 2.
        check(unsafe {
            let (any, out) = (ffi::RSMPI_ANY_SOURCE, status.as_mut_ptr());
            ffi::MPI_Iprobe(any, tag, self.0, &raw mut found, out)
        })?;
        if found == 0 {
            return Ok(None);
        }
        // SAFETY: MPI has written the status of a message that it found.
        Ok(Some(unsafe { status.assume_init() }.MPI_SOURCE))
    }

    /// Receives a message that has [`arrived`](Self::arrived): how many bytes there were.
    pub(crate) fn receive_now(&self, room: &MemorySlice, from: Address) -> Result<usize, MpiError> {
        let (start, length) = place(room, 0..room.len());
        let mut status = MaybeUninit::uninit();
        // SAFETY: promises 1 to 3; the call returns when the message is in the room.
        check(unsafe {
            let (kind, out) = (ffi::RSMPI_UINT8_T, status.as_mut_ptr());
            ffi::MPI_Recv(start, length, kind, from.rank, from.tag, self.0, out)
        })?;
        // SAFETY: MPI has written the status of a receive that is done.
        count(unsafe { status.assume_init_ref() })
    }

    /// Gives the communicator back; all processes do that together.
    pub(crate) fn free(mut self) -> Result<(), MpiError> {
        // SAFETY: promise 1; the communicator is not used afterwards.
        check(unsafe { ffi::MPI_Comm_free(&raw mut self.0) })
    }
}

fn place(slice: &MemorySlice, part: Range<usize>) -> (*mut c_void, c_int) {
    assert!(part.start <= part.end && part.end <= slice.len(), "a part lies inside its slice");
    (slice.as_ptr().wrapping_add(part.start).cast(), int(part.len()))
}

/// Some bytes of a slice that no request is using.
pub(crate) fn bytes(slice: &MemorySlice, part: Range<usize>) -> &[u8] {
    // SAFETY: promise 3, by the caller.
    let whole = unsafe { slice.as_slice() };
    &whole[part]
}

/// Writes bytes into a slice that no request is using.
pub(crate) fn write(slice: &MemorySlice, at: usize, bytes: &[u8]) {
    // SAFETY: promise 3, by the caller.
    let whole = unsafe { slice.as_mut_slice() };
    whole[at..at + bytes.len()].copy_from_slice(bytes);
}

/// Room in a vector, which comes back by [`MemoryBlock::into_owner`].
pub(crate) fn room_in(mut vector: Vec<u8>) -> MemoryBlock {
    let (start, bytes) = (NonNull::from(vector.as_mut_slice()).cast(), vector.len());
    // SAFETY: the vector owns these bytes; it moves into the memory, its bytes stay in place.
    unsafe { MemoryBlock::given(start, bytes, Box::new(vector)) }
}
