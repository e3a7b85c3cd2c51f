//! Writing: one rank makes the file, then every rank writes what it owns.

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use anyhow::{Result, anyhow};
use pantile_engine::Tile;
use pantile_lanes::DType;
use pantile_protocol::npy::Header;

use super::{BIG, Share, file_type, swap};

/// The header of a file with these elements, and the bytes of the whole file.
fn header(shape: &[usize], dtype: DType) -> Result<(Vec<u8>, u64)> {
    let named = file_type(dtype).ok_or_else(|| anyhow!("elements of {dtype} have no file type"))?;
    let lengths = shape.iter().map(|length| *length as u64).collect();
    let header = Header { dtype: named, fortran_order: false, shape: lengths };
    let bytes = header.write()?;
    let data = header.data_bytes().ok_or_else(|| anyhow!("a file of 2^64 bytes or more"))?;
    let whole = bytes.len() as u64 + data;
    Ok((bytes, whole))
}

/// Makes a file with its header and room for all elements; done by one rank, before the others
/// write.
pub(crate) fn create(path: &Path, shape: &[usize], dtype: DType) -> Result<()> {
    let unwritable =
        |error: std::io::Error| anyhow!("{} cannot be written: {error}", path.display());
    let (header, whole) = header(shape, dtype)?;
    let mut file = File::create(path).map_err(unwritable)?;
    file.write_all(&header).map_err(unwritable)?;
    // A pipe or a device has no length.
    if file.metadata().map_err(unwritable)?.is_file() {
        file.set_len(whole).map_err(unwritable)?;
    }
    Ok(())
}

/// Writes the elements that a rank owns, if it is the first that owns them.
pub(crate) fn write(
    path: &Path,
    shape: &[usize],
    share: Option<&Share>,
    tile: &Tile,
) -> Result<()> {
    let Some(share) = share.filter(|share| share.is_first() && share.len() > 0) else {
        return Ok(());
    };
    let unwritable =
        |error: std::io::Error| anyhow!("{} cannot be written: {error}", path.display());
    let (header, _) = header(shape, tile.dtype())?;
    let (data, size) = (header.len() as u64, tile.dtype().bytes());
    let mut file = OpenOptions::new().write(true).open(path).map_err(unwritable)?;
    let turned = BIG.then(|| {
        let mut bytes = tile.as_bytes().to_vec();
        swap(tile.dtype(), &mut bytes);
        bytes
    });
    let bytes = turned.as_deref().unwrap_or(tile.as_bytes());
    let mut at = 0;
    let written = share.stretches(&mut |start, count| {
        let part = &bytes[at..at + count * size];
        at += count * size;
        file.seek(SeekFrom::Start(data + (start * size) as u64))?;
        file.write_all(part)
    });
    written.map_err(unwritable)
}
