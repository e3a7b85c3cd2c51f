//! Writing: one rank makes the file, then every rank writes what it owns.

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use pantile_array::Array;
use pantile_engine::{DType, Tile};
use pantile_geometry::{Distribution, OwnedElements, OwnedRuns, Rank};
use pantile_protocol::npy::Header;

use super::{BIG, NpyError, file_type, swap};

/// The header of a file with these elements, and the bytes of the whole file.
fn header(path: &Path, shape: &[usize], dtype: DType) -> Result<(Vec<u8>, u64), NpyError> {
    let shape = shape.iter().map(|length| *length as u64).collect();
    let header = Header { dtype: file_type(dtype), fortran_order: false, shape };
    let bytes = header.write().map_err(|error| NpyError::Header(path.to_owned(), error))?;
    let whole = header.data_bytes().and_then(|data| data.checked_add(bytes.len() as u64));
    Ok((bytes, whole.ok_or_else(|| NpyError::TooLong(path.to_owned()))?))
}

/// Makes a file with its header and room for all elements; done by one rank, before the others
/// write.
///
/// # Errors
/// The system does not let it be written.
pub fn create(path: &Path, shape: &[usize], dtype: DType) -> Result<(), NpyError> {
    let unwritable = NpyError::write(path);
    let (header, whole) = header(path, shape, dtype)?;
    let mut file = File::create(path).map_err(&unwritable)?;
    file.write_all(&header).map_err(&unwritable)?;
    // A pipe or a device has no length.
    if file.metadata().map_err(&unwritable)?.is_file() {
        file.set_len(whole).map_err(&unwritable)?;
    }
    Ok(())
}

/// Writes the elements that a rank owns of an array that lives so, if it is the first that owns them,
/// into a file that was made for it. They lie row-major and without gaps in the tile.
///
/// # Errors
/// The system does not let it be written.
pub fn write_owned(
    path: &Path,
    home: &Distribution,
    rank: Rank,
    tile: &Tile,
) -> Result<(), NpyError> {
    let owned = home.owned_elements(rank).filter(|_| home.is_first_owner(rank));
    write_runs(path, home.shape(), tile, owned.as_ref().map(OwnedElements::dense_runs))
}

fn write_runs(
    path: &Path,
    shape: &[usize],
    tile: &Tile,
    runs: Option<OwnedRuns<'_>>,
) -> Result<(), NpyError> {
    let Some(mut runs) = runs.map(Iterator::peekable) else { return Ok(()) };
    if runs.peek().is_none() {
        return Ok(());
    }
    let unwritable = NpyError::write(path);
    let (header, _) = header(path, shape, tile.dtype())?;
    let (data, size) = (header.len() as u64, tile.dtype().bytes());
    let mut file = OpenOptions::new().write(true).open(path).map_err(&unwritable)?;
    let swapped = BIG.then(|| {
        let mut bytes = tile.as_bytes().to_vec();
        swap(tile.dtype(), &mut bytes);
        bytes
    });
    let bytes = swapped.as_deref().unwrap_or(tile.as_bytes());
    for run in runs {
        let place = SeekFrom::Start(data + (run.global * size) as u64);
        file.seek(place).map_err(&unwritable)?;
        let source = &bytes[run.local * size..][..run.count * size];
        file.write_all(source).map_err(&unwritable)?;
    }
    Ok(())
}

/// Writes an array into a file; every rank writes what it owns. Computes it. All processes do this
/// together, and each is told if its part could not be written.
///
/// # Errors
/// As [`create`] and [`write_owned`], or the array cannot be computed.
#[track_caller]
pub fn save(path: impl AsRef<Path>, array: &Array) -> Result<(), NpyError> {
    let (path, session) = (path.as_ref(), array.session());
    let sections = array.sections()?;
    let shape = array.shape();
    let made = match session.hosted().contains(&0) {
        true => create(path, &shape, array.dtype()),
        false => Ok(()),
    };
    // Also after an error: other processes wait here.
    session.barrier()?;
    made?;
    let each = |section: &pantile_array::Section| {
        let (first, strides) = section.places();
        let owned = section.owned_elements().filter(|_| section.is_first_owner());
        let runs = owned.as_ref().map(|owned| owned.runs_in(first, &strides));
        write_runs(path, &shape, &section.tile, runs)
    };
    let written: Result<(), NpyError> = sections.iter().try_for_each(each);
    session.barrier()?;
    written
}
