//! What a message costs, against MPI itself: the same exchange by [`Mpi`] and by `MPI_Isend`,
//! `MPI_Irecv` and `MPI_Waitall`, in turns within one run of two ranks.
#![allow(unsafe_code, reason = "calls MPI itself, to compare")]
#![allow(clippy::print_stdout, reason = "prints figures")]

use std::ffi::c_void;
use std::hint::black_box;
use std::time::{Duration, Instant};

use mpi::ffi;
use pantile_comm::{
    CollectiveSignature, CommError, Communicator, MemoryBlock, MemorySlice, Options,
};
use pantile_comm_mpi::relaunch::relaunch;
use pantile_comm_mpi::run;

/// Repetitions of everything, about, in bytes.
const BYTES: usize = 2 << 30;

/// Samples of which the median is taken, at least and at most.
const SAMPLES_MIN: usize = 21;
const SAMPLES_MAX: usize = 501;

/// Repetitions of a short message in a sample: a sample is so short that most of them are not
/// disturbed by whatever else the machine does.
const REPETITIONS_MAX: usize = 200;

fn main() {
    if std::env::args().nth(1).as_deref() == Some("rank") {
        run(&Options::default(), measure).expect("MPI");
        return;
    }
    let outputs = relaunch(&[2], &["rank"], Duration::from_secs(600)).expect("a launcher");
    for output in outputs {
        assert!(output.code == Some(0) && !output.late, "{output}");
        println!("{}", output.stdout);
    }
}

/// Does something once.
type PantileExchange<'a> = dyn FnMut(&mut Communicator) -> Result<(), CommError> + 'a;

/// One thing to measure, both ways.
struct Contest<'a> {
    name: String,
    ours: Box<PantileExchange<'a>>,
    theirs: Box<dyn FnMut() + 'a>,
    /// How often it is done in a sample, and the number of samples.
    repetitions: usize,
    samples: usize,
}

fn measure(mut world: Communicator) -> Result<(), CommError> {
    let peer = 1 - world.rank();
    if world.rank() == 0 {
        println!("{:24} {:>12} {:>12} {:>7}", "", "ours", "MPI", "ratio");
    }
    for bytes in [8, 64 << 10, 1 << 20, 64 << 20] {
        let (out, room) = (MemoryBlock::zeroed(bytes).whole(), MemoryBlock::zeroed(bytes).whole());
        let repetitions = ((1 << 20) / bytes).clamp(1, REPETITIONS_MAX);
        contest(&mut world, exchange(peer, &out, &room, repetitions))?;
        contest(&mut world, one_way(peer, &out, &room, repetitions))?;
    }
    contest(&mut world, barrier())?;
    contest(&mut world, sum(peer))
}

/// Measures in turns, and prints the medians.
fn contest(world: &mut Communicator, mut contest: Contest<'_>) -> Result<(), CommError> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for sample in 0..contest.samples + 2 {
        world.barrier(&CollectiveSignature::here("between samples", 0))?;
        let started = Instant::now();
        for _ in 0..contest.repetitions {
            (contest.ours)(world)?;
        }
        let ours_took = started.elapsed();
        world.barrier(&CollectiveSignature::here("between samples", 0))?;
        let started = Instant::now();
        for _ in 0..contest.repetitions {
            (contest.theirs)();
        }
        let theirs_took = started.elapsed();
        // The first ones warm up.
        if sample >= 2 {
            ours.push(ours_took);
            theirs.push(theirs_took);
        }
    }
    let median = |times: &mut Vec<Duration>| {
        times.sort_unstable();
        times[times.len() / 2].as_secs_f64() * 1e6 / contest.repetitions as f64
    };
    let (ours, theirs) = (median(&mut ours), median(&mut theirs));
    if world.rank() == 0 {
        println!("{:24} {ours:9.2} µs {theirs:9.2} µs {:7.2}", contest.name, ours / theirs);
    }
    Ok(())
}

/// Both ranks send and receive at once.
fn exchange<'a>(
    peer: usize,
    out: &'a MemorySlice,
    room: &'a MemorySlice,
    repetitions: usize,
) -> Contest<'a> {
    let call = CollectiveSignature::here("exchange", 1);
    Contest {
        name: format!("exchange of {}", size(out.len())),
        ours: Box::new(move |world| {
            world.operation(&call, |operation| {
                let incoming = operation.receive(peer, room)?;
                operation.send(peer, out)?;
                operation.wait(incoming)
            })
        }),
        theirs: Box::new(move || raw_exchange(peer, Some(out), Some(room))),
        repetitions,
        samples: (BYTES / repetitions / out.len()).clamp(SAMPLES_MIN, SAMPLES_MAX),
    }
}

/// There and back, one after the other; the time is that of both ways.
fn one_way<'a>(
    peer: usize,
    out: &'a MemorySlice,
    room: &'a MemorySlice,
    repetitions: usize,
) -> Contest<'a> {
    let call = CollectiveSignature::here("there and back", 1);
    Contest {
        name: format!("there and back {}", size(out.len())),
        ours: Box::new(move |world| {
            world.operation(&call, |operation| {
                if peer == 1 {
                    operation.send(peer, out)?;
                    operation.sent()?;
                }
                let incoming = operation.receive(peer, room)?;
                operation.wait(incoming)?;
                if peer == 0 {
                    operation.send(peer, out)?;
                }
                Ok(())
            })
        }),
        theirs: Box::new(move || {
            if peer == 1 {
                raw_exchange(peer, Some(out), None);
            }
            raw_exchange(peer, None, Some(room));
            if peer == 0 {
                raw_exchange(peer, Some(out), None);
            }
        }),
        repetitions,
        samples: (BYTES / repetitions / out.len()).clamp(SAMPLES_MIN, SAMPLES_MAX),
    }
}

fn barrier() -> Contest<'static> {
    let call = CollectiveSignature::here("barrier", 1);
    Contest {
        name: "barrier".to_owned(),
        ours: Box::new(move |world| world.barrier(&call)),
        // SAFETY: MPI is initialised, and no other thread uses it.
        theirs: Box::new(|| _ = unsafe { ffi::MPI_Barrier(ffi::RSMPI_COMM_WORLD) }),
        repetitions: REPETITIONS_MAX,
        samples: SAMPLES_MAX,
    }
}

/// The sum of a number of each rank: an exchange and an addition.
fn sum(peer: usize) -> Contest<'static> {
    let call = CollectiveSignature::here("sum", 1);
    let mut total = 0.0;
    let (out, room) = (MemoryBlock::zeroed(8).whole(), MemoryBlock::zeroed(8).whole());
    Contest {
        name: "sum of 8 bytes".to_owned(),
        ours: Box::new(move |world| {
            world.operation(&call, |operation| {
                let incoming = operation.receive(peer, &room)?;
                operation.send(peer, &out)?;
                operation.wait(incoming)?;
                total += number(&room);
                black_box(total);
                Ok(())
            })
        }),
        theirs: Box::new(raw_sum),
        repetitions: REPETITIONS_MAX,
        samples: SAMPLES_MAX,
    }
}

fn number(room: &MemorySlice) -> f64 {
    // SAFETY: the wait for this room is over.
    let bytes = unsafe { room.as_slice() };
    f64::from_le_bytes(bytes.try_into().expect("eight bytes"))
}

fn raw_sum() {
    let (mine, mut total) = (1.0_f64, 0.0_f64);
    let (from, to) = ((&raw const mine).cast::<c_void>(), (&raw mut total).cast::<c_void>());
    // SAFETY: MPI is initialised, no other thread uses it, and both numbers outlive the call.
    unsafe {
        let (kind, op) = (ffi::RSMPI_DOUBLE, ffi::RSMPI_SUM);
        ffi::MPI_Allreduce(from, to, 1, kind, op, ffi::RSMPI_COMM_WORLD);
    }
    black_box(total);
}

/// `MPI_Irecv`, `MPI_Isend` and `MPI_Waitall`.
fn raw_exchange(peer: usize, out: Option<&MemorySlice>, room: Option<&MemorySlice>) {
    let peer = i32::try_from(peer).expect("a rank");
    let length = |piece: &MemorySlice| i32::try_from(piece.len()).expect("short");
    // SAFETY: a constant of the library.
    let mut requests = [unsafe { ffi::RSMPI_REQUEST_NULL }; 2];
    if let Some(room) = room {
        let (start, bytes) = (room.as_ptr().cast::<c_void>(), length(room));
        // SAFETY: MPI is initialised, no other thread uses it, and the room is kept until the end.
        unsafe {
            let (kind, world) = (ffi::RSMPI_UINT8_T, ffi::RSMPI_COMM_WORLD);
            ffi::MPI_Irecv(start, bytes, kind, peer, 0, world, &raw mut requests[0]);
        }
    }
    if let Some(out) = out {
        let (start, bytes) = (out.as_ptr().cast::<c_void>().cast_const(), length(out));
        // SAFETY: as above.
        unsafe {
            let (kind, world) = (ffi::RSMPI_UINT8_T, ffi::RSMPI_COMM_WORLD);
            ffi::MPI_Isend(start, bytes, kind, peer, 0, world, &raw mut requests[1]);
        }
    }
    // SAFETY: as above; requests that were not started are null.
    unsafe { ffi::MPI_Waitall(2, requests.as_mut_ptr(), ffi::RSMPI_STATUSES_IGNORE) };
}

fn size(bytes: usize) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}
