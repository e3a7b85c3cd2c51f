//! Array files that all ranks read and write, each its part.

use std::path::{Path, PathBuf};

use pantile::npy::{self, NpyError, NpyFile};
use pantile::{Array, Launch, Session};
use pantile_engine::DType;

/// A folder of its own for a test; removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("pantile-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn session(ranks: usize) -> Session {
    Launch::threads(ranks).session().unwrap()
}

/// Saves the array on so many ranks and loads it on others; the elements.
fn there_and_back(folder: &Folder, array: &Array, ranks: usize) -> Vec<f64> {
    let path = folder.file("there.npy");
    npy::save(&path, array).unwrap();
    let loaded = npy::load(&session(ranks), &path).unwrap();
    assert_eq!((loaded.shape(), loaded.dtype()), (array.shape(), array.dtype()));
    loaded.to_vec::<f64>().unwrap()
}

/// Shapes with the distributions that they are tried in.
const CASES: [(&[usize], &[&str]); 7] = [
    (&[], &["auto"]),
    (&[0], &["auto", "copies"]),
    (&[1], &["block(r)", "copies"]),
    (&[7], &["block(r)", "cyclic(r, 1)", "cyclic(r, 2)", "copies"]),
    (&[5, 3], &["block(r), whole", "whole, block(r)", "cyclic(r, 2), whole", "copies", "auto"]),
    (&[3, 0, 2], &["auto", "copies"]),
    (&[4, 3, 2], &["block(r), whole, whole", "whole, whole, cyclic(r, 1)", "auto"]),
];

#[test]
fn files_have_the_same_bytes_for_any_ranks_and_distribution() {
    let folder = Folder::new("npy-bytes");
    let path = folder.file("x.npy");
    for (shape, homes) in CASES {
        let mut bytes: Option<Vec<u8>> = None;
        let expected: Vec<f64> = (0..shape.iter().product()).map(|n: usize| n as f64).collect();
        for (ranks, home) in
            [1, 2, 3, 4, 9].into_iter().flat_map(|n| homes.iter().map(move |h| (n, h)))
        {
            let array = session(ranks).dist(home).from_vec(shape, &expected);
            npy::save(&path, &array).unwrap();
            let written = std::fs::read(&path).unwrap();
            assert_eq!(*bytes.get_or_insert(written.clone()), written, "{home} on {ranks} ranks");
            assert_eq!(there_and_back(&folder, &array, 10 - ranks), expected);
        }
    }
}

#[test]
fn results_with_room_around_them_are_written_without_it() {
    let folder = Folder::new("npy-room");
    for ranks in [1, 2, 3] {
        let session = session(ranks);
        let u = session.arange(0.0, 40.0, 1.0).reshape(&[8, 5]).halo(&[1, 2], &[0, 3]);
        let expected: Vec<f64> = (0..40).map(f64::from).collect();
        assert_eq!(there_and_back(&folder, &u, 2), expected, "{ranks} ranks");
    }
}

fn error(path: &Path) -> NpyError {
    NpyFile::open(path).unwrap_err()
}

#[test]
fn files_that_cannot_be_had_are_errors_that_name_them() {
    let folder = Folder::new("npy-errors");
    let (one, path) = (session(1), folder.file("x.npy"));
    assert!(matches!(error(&folder.0), NpyError::Folder(_)));
    assert!(matches!(error(&folder.file("none.npy")), NpyError::Read(..)));
    let unwritable = npy::save(folder.file("no/such.npy"), &one.ones(&[3])).unwrap_err();
    assert!(matches!(unwritable, NpyError::Write(..)), "{unwritable}");
    std::fs::write(&path, b"no array").unwrap();
    assert!(matches!(error(&path), NpyError::Header(..)));
    npy::save(&path, &one.ones(&[3])).unwrap();
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    assert!(error(&path).to_string().contains("promises 24 bytes of elements, 23 are there"));
    let text = |shape: &str| {
        let header = format!("{{'descr': '|b1', 'fortran_order': False, 'shape': ({shape}), }}");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend(u16::try_from(header.len() + 1).unwrap().to_le_bytes());
        bytes.extend(header.bytes().chain([b'\n', 2]));
        std::fs::write(&path, bytes).unwrap();
    };
    text("1,");
    let wrong = npy::load(&one, &path).unwrap_err();
    assert!(matches!(wrong, NpyError::Bools(_)), "{wrong}");
    text("9223372036854775807, 9223372036854775807");
    assert!(matches!(error(&path), NpyError::Truncated { promised: None, .. }));
    text("18446744073709551616, 0");
    let large = error(&path);
    assert!(matches!(large, NpyError::Header(..) | NpyError::Elements { .. }), "{large}");
    let long = npy::create(&path, &[usize::MAX, 2], DType::F64).unwrap_err();
    assert!(matches!(long, NpyError::TooLong(_)), "{long}");
    let broken = one.from_vec(&[2], &[1.0]);
    let refused = npy::save(&path, &broken).unwrap_err();
    assert!(matches!(refused, NpyError::Array(_)), "{refused}");
}
