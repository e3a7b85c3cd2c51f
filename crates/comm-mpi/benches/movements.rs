//! Movements under MPI against the same by hand: packing loops with `MPI_Isend` and `MPI_Irecv`, or
//! MPI's own collectives, in turns within one run. Threads do the large collectives, too, for
//! comparison.
#![allow(unsafe_code, reason = "calls MPI itself, to compare")]
#![allow(clippy::print_stdout, reason = "prints figures")]
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on should stop")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use mpi::ffi;
use pantile_comm::{Options, threads};
use pantile_comm_mpi::relaunch::relaunch;
use pantile_comm_mpi::run;
use pantile_geometry::Distribution;
use pantile_spmd::{DistArray, RankContext};

/// Elements of the large collectives: 64 MB.
const LARGE: usize = 8 << 20;

/// Side of the matrix that is turned, and of the tiles whose halos are exchanged.
const SIDE: usize = 4096;
const TILE: usize = 2048;

fn main() {
    if std::env::args().nth(1).as_deref() == Some("rank") {
        run(&Options::default(), |communicator| measure(&RankContext::new(communicator)))
            .expect("MPI");
        return;
    }
    for ranks in [2, 4] {
        let outputs = relaunch(&[ranks], &["rank"], Duration::from_secs(900)).expect("a launcher");
        assert!(outputs[0].code == Some(0) && !outputs[0].late, "{}", outputs[0]);
        println!("{}", outputs[0].stdout);
        if ranks == 2 {
            on_threads();
        }
    }
}

fn measure(world: &RankContext) -> Result<(), pantile_spmd::Error> {
    if world.rank() == 0 {
        let ranks = world.size();
        println!("{:44} {:>12} {:>12} {:>7}", format!("{ranks} ranks"), "ours", "by hand", "ratio");
    }
    if world.size() == 4 {
        for width in [1, 2] {
            halo(world, [2, 2], width)?;
        }
        return Ok(());
    }
    turn(world)?;
    for width in [1, 2] {
        halo(world, [1, 2], width)?;
    }
    collectives(world)?;
    small(world)
}

/// Does both in turns, `repetitions` times per sample; prints medians of rank 0.
fn contest(
    world: &RankContext,
    name: &str,
    repetitions: usize,
    (ours, theirs): (&mut dyn FnMut(), &mut dyn FnMut()),
) -> Result<(), pantile_spmd::Error> {
    let (mut one, mut other) = (Vec::new(), Vec::new());
    let timed = |body: &mut dyn FnMut()| -> Result<f64, pantile_spmd::Error> {
        world.barrier()?;
        let started = Instant::now();
        (0..repetitions).for_each(|_| body());
        Ok(started.elapsed().as_secs_f64() / repetitions as f64)
    };
    for sample in 0..17 {
        let pair = (timed(ours)?, timed(theirs)?);
        // The first ones plan, and touch memory.
        if sample >= 2 {
            one.push(pair.0);
            other.push(pair.1);
        }
    }
    let (one, other) = (median(one), median(other));
    if world.rank() == 0 {
        println!("{name:44} {:>9.2} us {:>9.2} us {:>7.2}", one * 1e6, other * 1e6, one / other);
    }
    Ok(())
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Row blocks to column blocks on two ranks.
fn turn(world: &RankContext) -> Result<(), pantile_spmd::Error> {
    let rows: Distribution = format!("{SIDE}x{SIDE} on r=2: block(r), whole").parse()?;
    let columns: Distribution = format!("{SIDE}x{SIDE} on r=2: whole, block(r)").parse()?;
    let source = DistArray::from_fn(world, &rows, |at| (at[0] + at[1]) as f64);
    let mut target = DistArray::<f64>::zeros(world, &columns);
    let (me, half) = (world.rank(), SIDE / 2);
    let from = source.local().to_vec();
    let mut to = vec![0.0; from.len()];
    let (mut out, mut room) = (vec![0.0; half * half], vec![0.0; half * half]);
    let mut by_hand = || {
        // This rank's rows, the columns of the other one.
        for row in 0..half {
            let at = row * SIDE + (1 - me) * half;
            out[row * half..][..half].copy_from_slice(&from[at..at + half]);
        }
        let requests = exchange(1 - me, &out, &mut room);
        for row in 0..half {
            let at = row * SIDE + me * half;
            to[(me * half + row) * half..][..half].copy_from_slice(&from[at..at + half]);
        }
        wait(requests);
        to[(1 - me) * half * half..][..half * half].copy_from_slice(&room);
        black_box(&mut to);
    };
    let mut ours = || source.redistribute_into(&mut target).unwrap();
    contest(world, "row blocks -> column blocks, 4096x4096 f64", 1, (&mut ours, &mut by_hand))
}

/// Halo exchange of square tiles on a mesh of ranks.
fn halo(world: &RankContext, mesh: [usize; 2], width: usize) -> Result<(), pantile_spmd::Error> {
    let (shape, ranks) = ([TILE * mesh[0], TILE * mesh[1]], mesh);
    let text = format!(
        "{}x{} on x={}, y={}: block(x) halo {width}, block(y) halo {width}",
        shape[0], shape[1], ranks[0], ranks[1]
    );
    let tiles: Distribution = text.parse()?;
    let mut array = DistArray::from_fn(world, &tiles, |at| (at[0] * 7 + at[1]) as f64);
    let mut hand = ByHand::new(world, mesh, width, array.local().to_vec());
    let name = format!("halo {width}, {}x{} tiles of 2048x2048 f64", mesh[0], mesh[1]);
    let mut ours = || array.exchange_halo().unwrap();
    contest(world, &name, 20, (&mut ours, &mut || hand.exchange()))
}

/// A halo exchange as one writes it for one code: columns first, then rows with their corners.
struct ByHand {
    tile: Vec<f64>,
    width: usize,
    rows: usize,
    columns: usize,
    /// The neighbour along each axis, if there is one, and whether it is on the low side.
    beside: Option<(usize, bool)>,
    above: Option<(usize, bool)>,
    buffers: [Vec<f64>; 4],
}

impl ByHand {
    fn new(world: &RankContext, mesh: [usize; 2], width: usize, tile: Vec<f64>) -> Self {
        let (x, y) = (world.rank() / mesh[1], world.rank() % mesh[1]);
        let beside = (mesh[1] == 2).then(|| (x * mesh[1] + 1 - y, y == 1));
        let above = (mesh[0] == 2).then(|| ((1 - x) * mesh[1] + y, x == 1));
        let columns = TILE + if beside.is_some() { width } else { 0 };
        let rows = tile.len() / columns;
        let buffers = [rows, rows, columns, columns].map(|length| vec![0.0; length * width]);
        Self { tile, width, rows, columns, beside, above, buffers }
    }

    fn exchange(&mut self) {
        let (width, columns) = (self.width, self.columns);
        let [out, room, row_out, row_room] = &mut self.buffers;
        if let Some((peer, low)) = self.beside {
            // A halo on the low side comes first in the row, the cells to send follow it.
            let (send, take) =
                if low { (width, 0) } else { (columns - 2 * width, columns - width) };
            for row in 0..self.rows {
                out[row * width..][..width]
                    .copy_from_slice(&self.tile[row * columns + send..][..width]);
            }
            wait(exchange(peer, out, room));
            for row in 0..self.rows {
                self.tile[row * columns + take..][..width]
                    .copy_from_slice(&room[row * width..][..width]);
            }
        }
        if let Some((peer, low)) = self.above {
            let (send, take) =
                if low { (width, 0) } else { (self.rows - 2 * width, self.rows - width) };
            row_out.copy_from_slice(&self.tile[send * columns..][..width * columns]);
            wait(exchange(peer, row_out, row_room));
            self.tile[take * columns..][..width * columns].copy_from_slice(row_room);
        }
        black_box(&mut self.tile);
    }
}

/// All-sum-reduce and broadcast of 64 MB.
fn collectives(world: &RankContext) -> Result<(), pantile_spmd::Error> {
    let copies: Distribution = format!("{LARGE} on r=2: whole").parse()?;
    let terms: Distribution = format!("{LARGE} on r=2: whole; sum(r)").parse()?;
    let one = Distribution::on_rank(&[LARGE], 0)?;
    let mut moved = DistArray::<f64>::zeros(world, &copies);
    let (from, mut to) = (vec![1.0; LARGE], vec![0.0; LARGE]);
    let source = DistArray::from_fn(world, &terms, |at| at[0] as f64);
    let mut theirs = || all_reduce(&from, &mut to);
    let mut ours = || source.redistribute_into(&mut moved).unwrap();
    contest(world, "all-sum-reduce of 64 MB", 1, (&mut ours, &mut theirs))?;
    let source = DistArray::from_fn(world, &one, |at| at[0] as f64);
    let root = world.rank() == 0;
    let mut theirs = || {
        // The root has its own copy to make, as ours has.
        if root {
            to.copy_from_slice(&from);
        }
        broadcast(&mut to);
    };
    let mut ours = || source.redistribute_into(&mut moved).unwrap();
    contest(world, "broadcast of 64 MB", 1, (&mut ours, &mut theirs))
}

fn small(world: &RankContext) -> Result<(), pantile_spmd::Error> {
    let copies: Distribution = "1 on r=2: whole".parse()?;
    let terms: Distribution = "1 on r=2: whole; sum(r)".parse()?;
    let source = pantile_engine::Tile::from_vec(vec![1.0_f64]);
    let mut target = pantile_engine::Tile::from_vec(vec![0.0_f64]);
    let movement = {
        let mut engine = world.engine();
        engine.movement("all-reduce", &terms, &copies, pantile_engine::DType::F64)?
    };
    let mut ours = || world.engine().run(&movement, &source, &mut target).unwrap();
    let (from, mut to) = ([1.0], [0.0]);
    let mut theirs = || all_reduce(&from, &mut to);
    contest(world, "all-reduce of 8 bytes", 5_000, (&mut ours, &mut theirs))?;
    let mut ours = || world.barrier().unwrap();
    contest(world, "barrier", 5_000, (&mut ours, &mut barrier))
}

/// The large collectives on two threads, for the comparison with MPI's own times above.
fn on_threads() {
    for (name, source) in
        [("all-sum-reduce of 64 MB", "; sum(r)"), ("broadcast of 64 MB", " on rank 0")]
    {
        let copies: Distribution = format!("{LARGE} on r=2: whole").parse().unwrap();
        let source: Distribution = match source {
            "; sum(r)" => format!("{LARGE} on r=2: whole; sum(r)").parse().unwrap(),
            _ => Distribution::on_rank(&[LARGE], 0).unwrap(),
        };
        let results = threads::run(2, &Options::default(), |communicator| {
            let world = RankContext::new(communicator);
            let from = DistArray::from_fn(&world, &source, |at| at[0] as f64);
            let mut to = DistArray::<f64>::zeros(&world, &copies);
            let mut times = Vec::new();
            for sample in 0..17 {
                world.barrier()?;
                let started = Instant::now();
                from.redistribute_into(&mut to)?;
                world.barrier()?;
                if sample >= 2 {
                    times.push(started.elapsed().as_secs_f64());
                }
            }
            Ok::<_, pantile_spmd::Error>(median(times))
        });
        let seconds = results.into_iter().map(Result::unwrap).fold(0.0, f64::max);
        println!("{:44} {:>9.2} us", format!("{name}, 2 threads"), seconds * 1e6);
    }
    println!();
}

const TAG: i32 = 77;

fn length(slice: &[f64]) -> i32 {
    i32::try_from(slice.len()).unwrap()
}

/// Starts an exchange of equally long messages with a peer.
fn exchange(peer: usize, out: &[f64], room: &mut [f64]) -> [ffi::MPI_Request; 2] {
    let peer = i32::try_from(peer).unwrap();
    // SAFETY: both buffers outlive the requests, which every caller waits for.
    unsafe {
        let mut requests = [ffi::RSMPI_REQUEST_NULL; 2];
        let (double, world) = (ffi::RSMPI_DOUBLE, ffi::RSMPI_COMM_WORLD);
        let (into, from) = (room.as_mut_ptr().cast(), out.as_ptr().cast());
        ffi::MPI_Irecv(into, length(out), double, peer, TAG, world, &mut requests[0]);
        ffi::MPI_Isend(from, length(out), double, peer, TAG, world, &mut requests[1]);
        requests
    }
}

fn wait(mut requests: [ffi::MPI_Request; 2]) {
    // SAFETY: the requests are under way, and statuses are not asked for.
    unsafe { ffi::MPI_Waitall(2, requests.as_mut_ptr(), ffi::RSMPI_STATUSES_IGNORE) };
}

fn all_reduce(from: &[f64], to: &mut [f64]) {
    let (count, double) = (length(from), unsafe_double());
    // SAFETY: both buffers have `count` elements.
    unsafe {
        let (out, into) = (from.as_ptr().cast(), to.as_mut_ptr().cast());
        ffi::MPI_Allreduce(out, into, count, double, ffi::RSMPI_SUM, ffi::RSMPI_COMM_WORLD);
    }
}

fn broadcast(buffer: &mut [f64]) {
    let (count, double) = (length(buffer), unsafe_double());
    // SAFETY: the buffer has `count` elements.
    unsafe { ffi::MPI_Bcast(buffer.as_mut_ptr().cast(), count, double, 0, ffi::RSMPI_COMM_WORLD) };
}

fn barrier() {
    // SAFETY: MPI is initialised.
    unsafe { ffi::MPI_Barrier(ffi::RSMPI_COMM_WORLD) };
}

fn unsafe_double() -> ffi::MPI_Datatype {
    // SAFETY: a constant of the library.
    unsafe { ffi::RSMPI_DOUBLE }
}
