//! Loops of several threads give what those of one give, byte for byte.

use pantile_kernels::lanes::{LoopProgram, Scratch};
use pantile_kernels::reduce::LaneFold;
use pantile_lanes::{DType, LoopBody};
use pantile_lower::Places;
use pantile_testkit::{Rng, cases};

use super::loops::{BoxLoop, LoopContext, ProgramMemories};
use crate::thread_pool::ThreadPool;
use crate::{Error, Tile};

/// The types of lanes: a complex number is two of them.
const LANES: &[DType] = DType::ALL.split_at(11).0;

/// All folds, whether a type has them or not.
const FOLDS: [LaneFold; 10] = [
    LaneFold::Sum,
    LaneFold::Plain,
    LaneFold::Rounded { count: 1 },
    LaneFold::Rounded { count: 7 },
    LaneFold::Prod,
    LaneFold::Min,
    LaneFold::Max,
    LaneFold::Any,
    LaneFold::All,
    LaneFold::Count,
];

/// A body that gives its input so many times.
fn program(dtype: DType, outputs: usize) -> LoopProgram {
    let mut body = LoopBody::new();
    let node = body.input(dtype).expect("a lane");
    (0..outputs).for_each(|_| body.output(node));
    LoopProgram::compile(&body).expect("a body")
}

/// Numbers of all kinds.
#[allow(clippy::cast_possible_truncation, reason = "any number will do")]
fn tile(rng: &mut Rng, dtype: DType, len: usize) -> Tile {
    let mut tile = Tile::zeroed(dtype, len);
    let special = [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300];
    let wild = rng.chance(1, 4);
    for at in 0..len {
        let bits = rng.bits();
        let number = match wild && rng.chance(1, 6) {
            true => *rng.pick(&special),
            false => (bits >> 11) as f64 / 2f64.powi(40) - 2f64.powi(12),
        };
        match dtype {
            DType::F64 => tile.as_mut_slice::<f64>()[at] = number,
            DType::F32 => tile.as_mut_slice::<f32>()[at] = number as f32,
            DType::Bool => tile.as_mut_slice::<bool>()[at] = !bits.is_multiple_of(7),
            _ => {
                let bytes = dtype.bytes();
                tile.bytes_mut()[at * bytes..][..bytes]
                    .copy_from_slice(&bits.to_ne_bytes()[..bytes]);
            }
        }
    }
    tile
}

/// Places of a box whose axes lie in any order, with gaps and room around; how many there are.
fn places(rng: &mut Rng, shape: &[usize], kept: impl Fn(usize) -> bool) -> (Places, usize) {
    let mut axes: Vec<usize> = (0..shape.len()).filter(|axis| kept(*axis)).collect();
    if rng.chance(1, 2) {
        rng.shuffle(&mut axes);
    }
    let mut strides = vec![0; shape.len()];
    let mut step = 1 + rng.below(2);
    for axis in axes.into_iter().rev() {
        strides[axis] = step.cast_signed();
        step *= (shape[axis] + rng.below(2)).max(1);
    }
    let offset = rng.below(4);
    (Places { offset: offset.cast_signed(), strides }, offset + step + 1)
}

fn shape(rng: &mut Rng) -> Vec<usize> {
    let long = if rng.chance(1, 6) { 700 } else { 9 };
    let mut shape: Vec<usize> = (0..rng.below(4)).map(|_| rng.below(8)).collect();
    shape.insert(rng.below(shape.len() + 1), rng.below(long));
    if rng.chance(1, 2) {
        shape.iter_mut().for_each(|length| *length = (*length).max(1));
    }
    shape
}

/// Thread pools of so many threads, which share all work.
fn teams(threads: &[usize]) -> Vec<ThreadPool> {
    threads.iter().map(|threads| ThreadPool::new(*threads).with_least(0)).collect()
}

/// What a loop leaves in its tiles if it is done by these threads.
fn after(
    thread_pool: &ThreadPool,
    tiles: &[Tile],
    work: impl Fn(ProgramMemories<'_>, &mut LoopContext<'_>) -> Result<(), Error>,
) -> Vec<Vec<u8>> {
    let (tiles, mut scratch) = (tiles.to_vec(), Scratch::new());
    let mut context = LoopContext { scratch: &mut scratch, thread_pool };
    for _ in 0..2 {
        work(tiles.as_slice().into(), &mut context).expect("a loop that fits");
    }
    tiles.iter().map(|tile| tile.as_bytes().to_vec()).collect()
}

#[test]
fn folds_of_all_kinds_do_not_depend_on_threads() {
    let (one, several) = (ThreadPool::new(1), teams(&[2, 3, 5]));
    cases("folds_of_all_kinds_do_not_depend_on_threads", 150, |rng| {
        let shape = shape(rng);
        let kept: Vec<bool> = shape.iter().map(|_| rng.chance(1, 2)).collect();
        let (from, len) = places(rng, &shape, |_| true);
        let (to, count) = places(rng, &shape, |axis| kept[axis]);
        for dtype in LANES.iter().copied() {
            let source = tile(rng, dtype, len);
            for fold in FOLDS {
                let Ok(cell) = fold.cell(dtype) else { continue };
                let words = cell.elements.cast_signed();
                let strides = to.strides.iter().map(|stride| stride * words).collect();
                let into = Places { offset: to.offset * words, strides };
                let mut cells = Tile::zeroed(cell.dtype, count * cell.elements);
                fold.start(dtype, cells.bytes_mut()).expect("cells");
                let tiles = [source.clone(), cells.clone(), cells];
                let boxed = BoxLoop::between(&shape, (0, &from), &[(1, &into), (2, &into)]);
                let (program, folds) = (program(dtype, 2), [fold; 2]);
                let fold_all = |tiles: ProgramMemories<'_>, context: &mut LoopContext<'_>| {
                    boxed.fold(&program, &folds, tiles, context)
                };
                let alone = after(&one, &tiles, fold_all);
                for team in &several {
                    let (all, threads) = (after(team, &tiles, fold_all), team.threads());
                    assert!(
                        all == alone,
                        "{fold:?} of {dtype}, {threads} threads: {shape:?} {to:?}"
                    );
                }
            }
        }
    });
}

#[test]
fn maps_do_not_depend_on_threads() {
    let (one, several) = (ThreadPool::new(1), teams(&[2, 3, 16]));
    cases("maps_do_not_depend_on_threads", 1000, |rng| {
        let shape = shape(rng);
        let (from, len) = places(rng, &shape, |_| true);
        let (to, count) = places(rng, &shape, |_| true);
        let dtype = *rng.pick(LANES);
        let tiles = [tile(rng, dtype, len), tile(rng, dtype, count), tile(rng, dtype, count)];
        let boxed = BoxLoop::between(&shape, (0, &from), &[(1, &to), (2, &to)]);
        let program = program(dtype, 2);
        let map = |tiles: ProgramMemories<'_>, context: &mut LoopContext<'_>| {
            boxed.map(&program, tiles, context)
        };
        let alone = after(&one, &tiles, map);
        for team in &several {
            let (all, threads) = (after(team, &tiles, map), team.threads());
            assert!(all == alone, "{threads} threads: {shape:?} {to:?}");
        }
    });
}
