//! The laws of movements with real data: random pairs of distributions, every element type.

use pantile_engine::Tile;
use pantile_geometry::Distribution;
use pantile_spmd::RankContext;
use pantile_testkit::model::{self, Holder, Operator, Spec};
use pantile_testkit::{Rng, generate, scaled};

use crate::convert::distribution;
use crate::reference::Reference;
use crate::{Case, every_type};

/// Random pairs per element type in a world; `PANTILE_CASES` scales it.
const PAIRS: usize = 24;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case { name: "random movements, straight", needs: 1, body: straight },
        Case { name: "random movements, over other distributions", needs: 1, body: around },
        Case { name: "random adjoints and their inner products", needs: 1, body: adjoints },
    ]
}

fn straight(world: &RankContext) -> Result<(), String> {
    all_types(world, usize::MAX, 1)
}

/// Even the smallest arrays take the way of large ones.
fn around(world: &RankContext) -> Result<(), String> {
    all_types(world, 0, 2)
}

fn all_types(world: &RankContext, large_bytes: usize, seed: u64) -> Result<(), String> {
    world.engine().set_large_bytes(large_bytes);
    for (number, (name, result)) in every_type!(movements(world, seed)).enumerate() {
        result.map_err(|fault| format!("type {number} ({name}): {fault}"))?;
    }
    Ok(())
}

fn movements<T: Reference>(world: &RankContext, seed: u64) -> Result<(), String> {
    let mut rng = Rng::law(seed * 1_000 + u64::from(T::DTYPE.code()));
    for _ in 0..scaled(PAIRS) {
        let Some(case) = pair::<T>(&mut rng, world.size(), generate::legal_pair) else { continue };
        let source: HeldCells<T> = values(&case.source, &mut rng);
        let operator = model::values::operator_of(&case.source, &case.target);
        let wanted = moved(&case.source, &case.target, operator, &source);
        check(world, (&case.source, &source), (&case.target, &wanted))?;
    }
    Ok(())
}

/// A random legal pair that fits into the world and whose operators the type has.
fn pair<T: Reference>(
    rng: &mut Rng,
    size: usize,
    draw: impl Fn(&mut Rng) -> generate::Case,
) -> Option<generate::Case> {
    for _ in 0..400 {
        let mut case = draw(rng);
        let fits = |spec: &Spec| spec.team.iter().all(|rank| *rank < size);
        if !fits(&case.source) || !fits(&case.target) {
            continue;
        }
        if T::identity(case.source.operator).is_none() {
            case.source.operator = Operator::Sum;
            case.target.operator = Operator::Sum;
        }
        return Some(case);
    }
    None
}

/// An element for every holder of every index.
pub type HeldCells<T> = std::collections::BTreeMap<(Vec<usize>, Holder), T>;

/// Random elements: copies are equal, terms are free.
fn values<T: Reference>(spec: &Spec, rng: &mut Rng) -> HeldCells<T> {
    let numbers = model::values::filled(spec, rng);
    numbers.into_iter().map(|(at, number)| (at, T::from_number(number % 1_000))).collect()
}

/// What the target should hold: terms combined in ascending rank and lifts, the identity where
/// nothing arrives.
fn moved<T: Reference>(
    source: &Spec,
    target: &Spec,
    operator: Operator,
    cells: &HeldCells<T>,
) -> HeldCells<T> {
    let movement = model::between(source, target).expect("the pair is legal");
    let mut result = HeldCells::new();
    for index in model::indices(&target.shape) {
        for holder in model::element_holders(target, &index) {
            let arriving = movement.elements.get(&index).into_iter().flatten();
            let mut senders: Vec<&Holder> =
                arriving.filter(|(_, to)| *to == holder).map(|(from, _)| from).collect();
            senders.sort_by(|one, other| (one.rank, &one.lifts).cmp(&(other.rank, &other.lifts)));
            let terms = senders.into_iter().map(|from| cells[&(index.clone(), from.clone())]);
            let combined = terms.reduce(|one, other| {
                T::combine(operator, one, other).expect("the type has the operator")
            });
            let value = combined.unwrap_or_else(|| {
                T::identity(operator).or(T::identity(Operator::Sum)).expect("every type has a sum")
            });
            result.insert((index.clone(), holder), value);
        }
    }
    result
}

/// Runs the movement and compares every element that this rank should hold, bit by bit.
fn check<T: Reference>(
    world: &RankContext,
    (source, cells): (&Spec, &HeldCells<T>),
    (target, wanted): (&Spec, &HeldCells<T>),
) -> Result<(), String> {
    let made = |spec: &Spec| distribution(spec).map_err(|error| error.to_string());
    let (from, to) = (made(source)?, made(target)?);
    let tile = run(world, (&from, &to), cells)?;
    let shape = to.local_shape(world.rank()).unwrap_or_default();
    for ((index, holder), wanted) in wanted.iter().filter(|(at, _)| at.1.rank == world.rank()) {
        let got = tile[place(&to, &shape, index, holder)];
        if got.bits() != wanted.bits() {
            return Err(format!(
                "{from}\n-> {to}\nelement {index:?} at {holder:?}: wanted {wanted:?}, got {got:?}"
            ));
        }
    }
    Ok(())
}

/// Moves elements for real; this rank's part of the result.
fn run<T: Reference>(
    world: &RankContext,
    (from, to): (&Distribution, &Distribution),
    cells: &HeldCells<T>,
) -> Result<Vec<T>, String> {
    let say = |error: pantile_engine::Error| format!("{from}\n-> {to}\n{error}");
    let mut engine = world.engine();
    let movement = engine.movement("law", from, to, T::DTYPE).map_err(say)?;
    let mut source = vec![T::default(); movement.source_len()];
    let shape = from.local_shape(world.rank()).unwrap_or_default();
    for ((index, holder), value) in cells.iter().filter(|(at, _)| at.1.rank == world.rank()) {
        source[place(from, &shape, index, holder)] = *value;
    }
    // What was there before must not shine through.
    let mut target = Tile::from_vec(vec![T::from_number(777); movement.target_len()]);
    engine.run(&movement, &Tile::from_vec(source), &mut target).map_err(say)?;
    Ok(target.into_vec())
}

fn place(side: &Distribution, shape: &[usize], index: &[usize], holder: &Holder) -> usize {
    let local = side.local(holder.rank, &holder.lifts, index).expect("held lies in room");
    local.iter().zip(shape).fold(0, |at, (place, extent)| at * extent + place)
}

fn adjoints(world: &RankContext) -> Result<(), String> {
    world.engine().set_large_bytes(usize::MAX);
    for (name, result) in every_type!(inner_products(world)) {
        result.map_err(|fault| format!("{name}: {fault}"))?;
    }
    Ok(())
}

/// `<F x, y> == <x, F* y>` where both sums run over everything that is held.
fn inner_products<T: Reference>(world: &RankContext) -> Result<(), String> {
    let mut rng = Rng::law(7_000 + u64::from(T::DTYPE.code()));
    for _ in 0..scaled(PAIRS / 2) {
        let Some(case) = pair::<T>(&mut rng, world.size(), generate::sum_pair) else { continue };
        let made = |spec: &Spec| distribution(spec).map_err(|error| error.to_string());
        let (from, to) = (made(&case.source)?, made(&case.target)?);
        let back = (to.dual(), from.dual());
        let (Ok(back_from), Ok(back_to)) = back else { continue };
        let x: HeldCells<T> = scattered(&case.source, &mut rng);
        let y: HeldCells<T> = scattered(&case.target, &mut rng);
        let forward = run(world, (&from, &to), &x)?;
        let adjoint = run(world, (&back_from, &back_to), &y)?;
        let mine = (inner(world, &to, &y, &forward), inner(world, &from, &x, &adjoint));
        same_total(world, mine).map_err(|fault| format!("{from}\n-> {to}\n{fault}"))?;
    }
    Ok(())
}

/// Elements that differ everywhere, copies included: an inner product sees all of them.
fn scattered<T: Reference>(spec: &Spec, rng: &mut Rng) -> HeldCells<T> {
    let numbers = model::values::scattered(spec, rng);
    numbers.into_iter().map(|(at, number)| (at, T::from_number(number % 100))).collect()
}

/// This rank's share of an inner product.
fn inner<T: Reference>(
    world: &RankContext,
    side: &Distribution,
    cells: &HeldCells<T>,
    tile: &[T],
) -> Vec<T> {
    let shape = side.local_shape(world.rank()).unwrap_or_default();
    let mine = cells.iter().filter(|(at, _)| at.1.rank == world.rank());
    mine.map(|((index, holder), value)| value.times(tile[place(side, &shape, index, holder)]))
        .collect()
}

/// Sums both shares over the world and compares: exactly, or within rounding.
///
/// # Errors
/// If the two totals differ, or the ranks cannot work together.
///
/// # Panics
/// Never: every rank is in the world, and every type has a sum.
pub fn same_total<T: Reference>(
    world: &RankContext,
    (one, other): (Vec<T>, Vec<T>),
) -> Result<(), String> {
    let all = world.partition();
    let total = |terms: Vec<T>| -> Result<(T, f64), String> {
        let sum = |a: T, b: T| T::combine(Operator::Sum, a, b).expect("every type has a sum");
        let share = terms.iter().copied().fold(T::default(), sum);
        let scale: f64 = terms.iter().map(|term| size(*term)).sum();
        let shares = all.allgather_data(&[share]).map_err(|error| error.to_string())?;
        let scales = all.allgather_data(&[scale]).map_err(|error| error.to_string())?;
        let shares = shares.expect("every rank is in the world").to_vec();
        let scales = scales.expect("every rank is in the world").to_vec();
        Ok((shares.into_iter().fold(T::default(), sum), scales.iter().sum()))
    };
    let ((one, scale), (other, _)) = (total(one)?, total(other)?);
    let same = match T::EXACT {
        true => one == other,
        false => distance(one, other) <= tolerance::<T>() * scale.max(1e-300),
    };
    if same { Ok(()) } else { Err(format!("inner products differ: {one:?} and {other:?}")) }
}

fn tolerance<T: Reference>() -> f64 {
    match T::DTYPE.name() {
        "f32" | "c64" => 1e-5,
        _ => 1e-12,
    }
}

/// Real and imaginary part of an element that is not exact.
fn parts<T: Reference>(element: T) -> (f64, f64) {
    let bits = element.bits();
    let low = |bits: u128| u64::try_from(bits & u128::from(u64::MAX)).unwrap_or(0);
    let short = |bits: u128| f64::from(f32::from_bits(u32::try_from(low(bits)).unwrap_or(0)));
    match T::DTYPE.name() {
        "f32" => (short(bits), 0.0),
        "f64" => (f64::from_bits(low(bits)), 0.0),
        "c64" => (short(bits >> 64), short(bits)),
        "c128" => (f64::from_bits(low(bits >> 64)), f64::from_bits(low(bits))),
        _ => (0.0, 0.0),
    }
}

fn size<T: Reference>(element: T) -> f64 {
    let (real, imaginary) = parts(element);
    real.abs() + imaginary.abs()
}

fn distance<T: Reference>(one: T, other: T) -> f64 {
    let (one, other) = (parts(one), parts(other));
    (one.0 - other.0).abs() + (one.1 - other.1).abs()
}
