//! Movements of arrays with long rows: messages are longer than a part, and lie in runs that a
//! transport may send from memory and receive into it.

use pantile_engine::Tile;
use pantile_geometry::Distribution;
use pantile_spmd::RankContext;
use pantile_testkit::model::Operator;

use crate::Case;
use crate::expect::Outcome;
use crate::reference::Reference;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case { name: "long rows to columns and back", needs: 1, body: rows_and_columns },
        Case { name: "long rows to columns with a halo", needs: 2, body: halos },
        Case { name: "long rows of uneven blocks", needs: 2, body: uneven },
        Case { name: "long rows of three axes", needs: 1, body: three_axes },
        Case { name: "long rows to short ones", needs: 2, body: short },
        Case { name: "long rows of terms", needs: 2, body: terms },
    ]
}

/// The number of an element: neighbours differ, also in their last bytes.
fn number(index: &[usize]) -> i64 {
    let mixed = index.iter().fold(7_u64, |mixed, at| {
        (mixed ^ *at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
    });
    i64::try_from(mixed >> 36).unwrap_or(0)
}

/// What a rank holds of an array whose elements are made of their numbers.
fn tile<T>(world: &RankContext, side: &Distribution, make: impl Fn(i64) -> T) -> Vec<T> {
    let shape = side.local_shape(world.rank()).unwrap_or_default();
    let len: usize = shape.iter().product();
    // Where the places of an axis come from does not depend on the other axes.
    let global = |axis: usize, place: usize| {
        let mut local = vec![0; shape.len()];
        local[axis] = place;
        side.global(world.rank(), &local).map_or(0, |(index, _)| index[axis])
    };
    let axis = |axis: usize| (0..shape[axis]).map(|place| global(axis, place)).collect();
    let axes: Vec<Vec<usize>> = (0..shape.len()).map(axis).collect();
    let mut index = vec![0; shape.len()];
    let mut made = Vec::with_capacity(len);
    for cell in 0..len {
        let mut rest = cell;
        for (at, axis) in index.iter_mut().zip(&axes).rev() {
            *at = axis[rest % axis.len()];
            rest /= axis.len();
        }
        made.push(make(number(&index)));
    }
    made
}

/// An element as the sum of a term of each of the first ranks, in their order.
fn total<T: Reference>(number: i64, terms: i64) -> Option<T> {
    let mut terms = (0..terms).map(|rank| T::from_number(number + rank));
    let first = terms.next()?;
    terms.try_fold(first, |sum, term| T::combine(Operator::Sum, sum, term))
}

/// Moves an array there, and once more with the same movement. It has so many terms.
fn check<T: Reference>(world: &RankContext, from: &str, to: &str, terms: i64) -> Outcome {
    let parse = |text: &str| text.parse::<Distribution>().map_err(|fault| format!("{fault}"));
    let (source, target) = (parse(from)?, parse(to)?);
    let say = |error: pantile_engine::Error| format!("{from} -> {to}: {error}");
    let rank = i64::try_from(world.rank()).unwrap_or(0).min(terms - 1);
    let given = Tile::from_vec(tile(world, &source, |number| T::from_number(number + rank)));
    let wanted = tile(world, &target, |number| total::<T>(number, terms).unwrap_or_default());
    for _ in 0..2 {
        let mut engine = world.engine();
        let movement = engine.movement("long", &source, &target, T::DTYPE).map_err(say)?;
        let mut got = Tile::from_vec(vec![T::from_number(77); movement.target_len()]);
        engine.run(&movement, &given, &mut got).map_err(say)?;
        let got: Vec<T> = got.into_vec();
        let wrong = got.iter().zip(&wanted).position(|(got, wanted)| got.bits() != wanted.bits());
        if wrong.is_some() || got.len() != wanted.len() {
            return Err(format!("{from} -> {to}: cell {wrong:?} of {} is wrong", got.len()));
        }
    }
    Ok(())
}

/// Both ways, for the types with the shortest and with long elements.
fn both_ways(
    world: &RankContext,
    shape: impl Fn(usize) -> String,
    one: &str,
    other: &str,
) -> Outcome {
    let size = world.size();
    let on = |element: usize, map: &str| format!("{} on r={size}: {map}", shape(element));
    check::<u8>(world, &on(1, one), &on(1, other), 1)?;
    check::<u8>(world, &on(1, other), &on(1, one), 1)?;
    check::<f64>(world, &on(8, one), &on(8, other), 1)?;
    check::<f64>(world, &on(8, other), &on(8, one), 1)
}

/// Rows of at least a page per rank, as many as make a message of several parts.
fn plane(world: &RankContext) -> impl Fn(usize) -> String {
    let size = world.size();
    move |element| format!("{}x{}", 70 * size + 3, (4800 / element + 1) * size + 5)
}

fn rows_and_columns(world: &RankContext) -> Outcome {
    both_ways(world, plane(world), "block(r), whole", "whole, block(r)")
}

fn halos(world: &RankContext) -> Outcome {
    both_ways(world, plane(world), "block(r), whole", "whole, block(r) halo 3")
}

fn uneven(world: &RankContext) -> Outcome {
    let size = world.size();
    let cuts = |step: usize, extra: usize| {
        let cuts =
            (0..=size).map(|at| (at * step + if at == size { extra } else { 0 }).to_string());
        cuts.collect::<Vec<_>>().join(" ")
    };
    for (element, step) in [(1, 5000), (8, 700)] {
        let shape = format!("{}x{}", 61 * size + 30, step * size + 333);
        let rows = format!("{shape} on r={size}: block(r, cuts {}), whole", cuts(61, 30));
        let columns = format!("{shape} on r={size}: whole, block(r, cuts {})", cuts(step, 333));
        match element {
            1 => check::<u8>(world, &rows, &columns, 1)?,
            _ => check::<f64>(world, &rows, &columns, 1)?,
        }
    }
    Ok(())
}

fn three_axes(world: &RankContext) -> Outcome {
    let size = world.size();
    let shape = move |element| format!("{}x{}x{}", 9 * size + 1, 3 * size + 1, 4200 / element);
    both_ways(world, shape, "block(r), whole, whole", "whole, block(r), whole")
}

/// Runs are long on one side only: one rank packs what the other takes as it comes.
fn short(world: &RankContext) -> Outcome {
    let size = world.size();
    let shape = move |element| format!("{}x{}", 70 * size + 3, 9000 * size / element);
    both_ways(world, shape, "block(r), whole", "whole, cyclic(r, 4500)")?;
    let shape = move |_| format!("{}x{}", 300 * size + 3, 40 * size);
    both_ways(world, shape, "block(r), whole", "whole, block(r)")
}

/// What is combined comes in order, however long its runs are.
fn terms(world: &RankContext) -> Outcome {
    let (size, shape) = (world.size(), plane(world)(8));
    let from = format!("{shape} on r={size}: whole, whole; sum(r)");
    let to = format!("{shape} on r={size}: whole, block(r)");
    let ranks = i64::try_from(size).unwrap_or(0);
    check::<f64>(world, &from, &to, ranks)?;
    check::<i64>(world, &from, &to, ranks)
}
