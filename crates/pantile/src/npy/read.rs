//! Reading: every rank what it owns.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use pantile_array::{Array, Session};
use pantile_engine::{DType, Tile};
use pantile_geometry::{Distribution, OwnedElements, Rank};
use pantile_protocol::Endian;
use pantile_protocol::npy::Header;

use super::{BIG, NpyError, element_type, swap};

/// No header that we know is longer.
const HEADER_MAX: u64 = 1 << 20;

/// A file whose header was read.
#[derive(Clone, Debug)]
pub struct NpyFile {
    path: PathBuf,
    dtype: DType,
    shape: Vec<usize>,
    fortran_order: bool,
    swapped: bool,
    /// Where the elements begin.
    data: u64,
}

impl NpyFile {
    /// Reads the header of a file, and sees that all elements are there.
    ///
    /// # Errors
    /// It cannot be read, or is no array file, or has elements that no array has.
    pub fn open(path: &Path) -> Result<Self, NpyError> {
        let unreadable = NpyError::read(path);
        if path.is_dir() {
            return Err(NpyError::Folder(path.to_owned()));
        }
        let file = File::open(path).map_err(&unreadable)?;
        let bytes = file.metadata().map_err(&unreadable)?.len();
        let mut start = Vec::new();
        file.take(HEADER_MAX).read_to_end(&mut start).map_err(&unreadable)?;
        let read = Header::read(&start);
        let (header, data) = read.map_err(|error| NpyError::Header(path.to_owned(), error))?;
        let data = data as u64;
        let (promised, there) = (header.data_bytes(), bytes.saturating_sub(data));
        if promised.is_none_or(|promised| promised > there) {
            return Err(NpyError::Truncated { path: path.to_owned(), promised, there });
        }
        let shape = header.shape.iter().map(|length| usize::try_from(*length)).collect();
        let (Ok(shape), Some(dtype)) = (shape, element_type(header.dtype)) else {
            let found = format!("{:?} of {}", header.shape, header.dtype);
            return Err(NpyError::Elements { path: path.to_owned(), found });
        };
        Ok(Self {
            path: path.to_owned(),
            dtype,
            shape,
            fortran_order: header.fortran_order,
            swapped: (header.dtype.endian() == Endian::Big) != BIG && dtype.bytes() > 1,
            data,
        })
    }

    /// The type of its elements.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Its lengths.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The elements that a rank owns of an array that lives so, row-major: only these are read.
    ///
    /// # Errors
    /// They cannot be read, or are no elements of their type.
    pub fn tile(&self, home: &Distribution, rank: Rank) -> Result<Tile, NpyError> {
        let owned = home.owned_elements(rank).filter(|owned| !owned.is_empty());
        let Some(owned) = owned else { return Ok(Tile::zeroed(self.dtype, 0)) };
        let mut bytes = match self.fortran_order {
            false => self.bytes(&owned)?,
            true => {
                row_major(&self.bytes(&owned.reversed())?, &owned.local_shape(), self.dtype.bytes())
            }
        };
        if self.swapped {
            swap(self.dtype, &mut bytes);
        }
        Tile::from_bytes(self.dtype, &bytes).ok_or_else(|| NpyError::Bools(self.path.clone()))
    }

    /// The bytes of owned elements in the order of the file.
    fn bytes(&self, owned: &OwnedElements) -> Result<Vec<u8>, NpyError> {
        let unreadable = NpyError::read(&self.path);
        let mut file = File::open(&self.path).map_err(&unreadable)?;
        let size = self.dtype.bytes();
        let mut bytes = vec![0; owned.len() * size];
        for run in owned.dense_runs() {
            let place = SeekFrom::Start(self.data + (run.global * size) as u64);
            file.seek(place).map_err(&unreadable)?;
            let target = &mut bytes[run.local * size..][..run.count * size];
            file.read_exact(target).map_err(&unreadable)?;
        }
        Ok(bytes)
    }
}

/// The array of a file, in the distribution that the session gives to arrays. Every rank reads what it
/// owns.
///
/// # Errors
/// As [`NpyFile::open`] and [`NpyFile::tile`], or there is not enough memory.
#[track_caller]
pub fn load(session: &Session, path: impl AsRef<Path>) -> Result<Array, NpyError> {
    let file = NpyFile::open(path.as_ref())?;
    session.from_tiles(file.shape(), file.dtype(), |home, rank| file.tile(home, rank))
}

/// Elements with the first axis fastest as elements with the last axis fastest.
fn row_major(bytes: &[u8], shape: &[usize], size: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut index = vec![0; shape.len()];
    for _ in 0..shape.iter().product() {
        let place =
            index.iter().zip(shape).rev().fold(0, |at, (index, length)| at * length + index);
        out.extend_from_slice(&bytes[place * size..(place + 1) * size]);
        for (at, length) in index.iter_mut().zip(shape).rev() {
            *at += 1;
            if *at < *length {
                break;
            }
            *at = 0;
        }
    }
    out
}
