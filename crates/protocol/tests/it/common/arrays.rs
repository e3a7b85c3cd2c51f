//! Random arrays that keep every rule.

use pantile_protocol::{Block, Dim, DimKind, Place, Section};
use pantile_testkit::Rng;

/// The dimensions of all grid ranks of a random valid axis.
fn valid_axis(rng: &mut Rng, grid_size: i64) -> Vec<Dim> {
    let size = rng.range(0, 12);
    let make = |kind: &mut dyn FnMut(i64) -> DimKind| -> Vec<Dim> {
        let place = |grid_rank| Place { size, grid_size, grid_rank };
        (0..grid_size).map(|rank| Dim::new(place(rank), kind(rank)).unwrap()).collect()
    };
    match rng.below(4) {
        0 => {
            let block_size = rng.range(1, 5);
            make(&mut |rank| DimKind::Cyclic { start: rank * block_size, block_size })
        }
        1 => {
            let mut labels: Vec<i64> = (-3..size - 3).collect();
            rng.shuffle(&mut labels);
            let mut hands = vec![Vec::new(); usize::try_from(grid_size).unwrap()];
            for label in labels {
                let hand = rng.below(hands.len());
                hands[hand].push(label);
            }
            make(&mut |rank| {
                let indices = hands[usize::try_from(rank).unwrap()].clone();
                DimKind::Indexed { indices, one_to_one: true }
            })
        }
        _ => {
            let blocks = valid_blocks(rng, size, grid_size);
            make(&mut |rank| DimKind::Block(blocks[usize::try_from(rank).unwrap()]))
        }
    }
}

/// Random cuts, inner widths of at most what both neighbours own, outer widths that fit.
pub(crate) fn valid_blocks(rng: &mut Rng, size: i64, grid_size: i64) -> Vec<Block> {
    let mut cuts: Vec<i64> = (1..grid_size).map(|_| rng.range(0, size + 1)).collect();
    cuts.extend([0, size]);
    cuts.sort_unstable();
    let periodic = rng.chance(1, 3);
    let owned: Vec<i64> = cuts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let inner = owned.windows(2).map(|pair| rng.range(0, pair[0].min(pair[1]) + 1).min(3));
    let mut widths: Vec<i64> = inner.collect();
    let (first, last) = (owned[0], owned[owned.len() - 1]);
    let left = rng.range(0, if grid_size == 1 { first / 2 } else { first } + 1);
    widths.insert(0, left);
    widths.push(rng.range(0, if grid_size == 1 { last / 2 } else { last } + 1));
    let last = owned.len() - 1;
    (0..owned.len())
        .map(|at| {
            let start = cuts[at] - if at == 0 { 0 } else { widths[at] };
            let stop = cuts[at + 1] + if at == last { 0 } else { widths[at + 1] };
            Block { start, stop, padding: (widths[at], widths[at + 1]), periodic }
        })
        .collect()
}

/// Sections of all ranks of a random valid array, and its grid.
pub(crate) fn valid_array(rng: &mut Rng) -> (Vec<Section>, Vec<i64>) {
    let grid: Vec<i64> = (0..rng.below(4)).map(|_| rng.range(1, 4)).collect();
    let axes: Vec<Vec<Dim>> = grid.iter().map(|places| valid_axis(rng, *places)).collect();
    let ranks: i64 = grid.iter().product();
    let sections = (0..ranks).map(|rank| {
        let mut rest = rank;
        let mut dims = Vec::new();
        for (axis, places) in axes.iter().zip(&grid).rev() {
            dims.insert(0, axis[usize::try_from(rest % places).unwrap()].clone());
            rest /= places;
        }
        Section::from_dims(&dims, Some("<f8".to_owned()))
    });
    (sections.collect(), grid)
}
