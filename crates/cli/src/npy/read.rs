//! Reading: every rank what it owns.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use pantile_engine::Tile;
use pantile_lanes::DType;
use pantile_protocol::Endian;
use pantile_protocol::npy::Header;

use super::{BIG, Share, element_type, swap};

/// No header that we know is longer.
const HEADER_MAX: u64 = 1 << 20;

/// A file whose header was read.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    path: PathBuf,
    dtype: DType,
    shape: Vec<usize>,
    fortran_order: bool,
    swapped: bool,
    /// Where the elements begin.
    data: u64,
}

impl Source {
    /// Reads the header of a file, and sees that all elements are there.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let unreadable =
            |error: std::io::Error| anyhow!("{} cannot be read: {error}", path.display());
        if path.is_dir() {
            bail!("{} is a folder, expected a .npy file", path.display());
        }
        let file = File::open(path).map_err(unreadable)?;
        let bytes = file.metadata().map_err(unreadable)?.len();
        let mut start = Vec::new();
        file.take(HEADER_MAX).read_to_end(&mut start).map_err(unreadable)?;
        let read = Header::read(&start);
        let (header, data) = read.map_err(|why| anyhow!("{}: {why}", path.display()))?;
        let data = data as u64;
        let promised = header.data_bytes();
        let there = bytes.saturating_sub(data);
        if promised.is_none_or(|promised| promised > there) {
            let promised = promised.map_or("more than 2^64".to_owned(), |count| count.to_string());
            bail!(
                "{}: the header promises {promised} bytes of elements, {there} are there",
                path.display()
            );
        }
        let shape = header.shape.iter().map(|length| usize::try_from(*length)).collect();
        let (Ok(shape), Some(dtype)) = (shape, element_type(header.dtype)) else {
            bail!("{}: has {:?} of {}, too large", path.display(), header.shape, header.dtype);
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
    pub(crate) fn dtype(&self) -> DType {
        self.dtype
    }

    /// Its lengths.
    pub(crate) fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The elements of a share, row-major.
    pub(crate) fn tile(&self, share: Option<&Share>) -> Result<Tile> {
        let Some(share) = share else { return Ok(Tile::zeroed(self.dtype, 0)) };
        let mut bytes = match self.fortran_order {
            false => self.bytes(share)?,
            true => turned(&self.bytes(&share.reversed())?, &share.local_shape(), self.dtype),
        };
        if self.swapped {
            swap(self.dtype, &mut bytes);
        }
        Tile::from_bytes(self.dtype, &bytes).ok_or_else(|| {
            anyhow!("{}: has bytes that are no truth values, expected 0 or 1", self.path.display())
        })
    }

    /// The bytes of a share in the order of the file.
    fn bytes(&self, share: &Share) -> Result<Vec<u8>> {
        let path = self.path.display();
        let unreadable = |error: std::io::Error| anyhow!("{path} cannot be read: {error}");
        let mut file = File::open(&self.path).map_err(unreadable)?;
        let size = self.dtype.bytes();
        let mut bytes = vec![0; share.len() * size];
        let mut at = 0;
        share
            .stretches(&mut |start, count| {
                let room = &mut bytes[at..at + count * size];
                at += count * size;
                file.seek(SeekFrom::Start(self.data + (start * size) as u64))?;
                file.read_exact(room)
            })
            .map_err(unreadable)?;
        Ok(bytes)
    }
}

/// Elements that lie with the first axis fastest as elements with the last axis fastest.
fn turned(bytes: &[u8], shape: &[usize], dtype: DType) -> Vec<u8> {
    let size = dtype.bytes();
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
