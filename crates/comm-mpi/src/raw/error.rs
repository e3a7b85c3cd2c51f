//! What MPI answers instead of success.

use std::ffi::{c_char, c_int};

use mpi::ffi;

/// What MPI answered instead of success.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MpiError(c_int);

impl MpiError {
    /// MPI's own words.
    pub(crate) fn text(self) -> String {
        let mut text = [0_u8; ffi::MPI_MAX_ERROR_STRING as usize + 1];
        let mut length = 0;
        let start = text.as_mut_ptr().cast::<c_char>();
        // SAFETY: R4; the array has `MPI_MAX_ERROR_STRING` bytes and one more.
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

pub(super) fn check(code: c_int) -> Result<(), MpiError> {
    if code == SUCCESS { Ok(()) } else { Err(MpiError(code)) }
}
