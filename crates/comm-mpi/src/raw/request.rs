//! Sends and receives under way.

use std::mem::MaybeUninit;

use mpi::ffi;

use super::MpiError;
use super::error::check;

/// A send or receive under way, or nothing.
pub(crate) struct MpiRequest(pub(super) ffi::MPI_Request);

// SAFETY: R2; `world` asks for the thread level SERIALIZED and refuses less.
unsafe impl Send for MpiRequest {}

impl MpiRequest {
    /// No request: done since ever.
    pub(crate) fn none() -> Self {
        // SAFETY: R5; the binding is made from the library's own header.
        Self(unsafe { ffi::RSMPI_REQUEST_NULL })
    }

    /// True if a send is done; stays true.
    pub(crate) fn is_sent(&mut self) -> Result<bool, MpiError> {
        let mut done = 0;
        // SAFETY: R1, R2, R3; checked by `MpiWorld`, which owns the request and what it uses.
        let code =
            unsafe { ffi::MPI_Test(&raw mut self.0, &raw mut done, ffi::RSMPI_STATUS_IGNORE) };
        check(code).map(|()| done != 0)
    }

    /// How many bytes a receive got, if it is done; asked for once.
    pub(crate) fn received(&mut self) -> Result<Option<usize>, MpiError> {
        let (mut done, mut status) = (0, MaybeUninit::uninit());
        // SAFETY: R1, R2, R3; checked by `MpiWorld`, which owns the request and what it uses.
        check(unsafe { ffi::MPI_Test(&raw mut self.0, &raw mut done, status.as_mut_ptr()) })?;
        if done == 0 {
            return Ok(None);
        }
        // SAFETY: R4; `done` says that MPI has written the status.
        count(unsafe { status.assume_init_ref() }).map(Some)
    }

    /// Takes a receive back, or lets it end if its message has just come. Returns when MPI has let
    /// go of the memory.
    pub(crate) fn cancel(&mut self) -> Result<(), MpiError> {
        // SAFETY: R5; the binding is made from the library's own header.
        if self.0 == unsafe { ffi::RSMPI_REQUEST_NULL } {
            return Ok(());
        }
        // SAFETY: R1, R2; the request is a receive under way, compared with none above.
        check(unsafe { ffi::MPI_Cancel(&raw mut self.0) })?;
        // SAFETY: R1, R2; as above, and a receive that was cancelled ends without the peer.
        check(unsafe { ffi::MPI_Wait(&raw mut self.0, ffi::RSMPI_STATUS_IGNORE) })
    }
}

pub(super) fn count(status: &ffi::MPI_Status) -> Result<usize, MpiError> {
    let mut bytes = 0;
    // SAFETY: R4, R5; the status is a reference, the type one of the library's.
    check(unsafe { ffi::MPI_Get_count(status, ffi::RSMPI_UINT8_T, &raw mut bytes) })?;
    Ok(usize::try_from(bytes).unwrap_or(0))
}
