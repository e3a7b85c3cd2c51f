//! Programs on some ranks, compared with what they mean.

use pantile_comm::{Communicator, Options, threads};
use pantile_engine::{Engine, Tile, dispatch};
use pantile_ir::Program;
use pantile_ir::reference::Array;
use pantile_lanes::Element;
use pantile_member::{MemberRun, MemberRunError, MemberSetting, MemberWay, argument_homes, run};

/// The elements of an array that a rank owns.
pub(crate) fn owned_tile(
    array: &Array,
    home: &pantile_geometry::Distribution,
    rank: usize,
) -> Tile {
    fn of<T: Element>(values: &[pantile_lanes::Scalar]) -> Tile {
        Tile::from_vec(values.iter().map(|value| value.get::<T>().unwrap()).collect())
    }
    let owned = home.owned_elements(rank);
    let mut values = Vec::new();
    for number in 0..array.data.len() {
        if owned.as_ref().is_some_and(|owned| owned.local(number).is_some()) {
            values.push(array.data[number]);
        }
    }
    dispatch!(array.dtype, T => of::<T>(&values))
}

/// What the ranks have of a result must be the bytes of an array.
pub(crate) fn check(
    result: &pantile_member::MemberResult,
    expected: &Array,
    rank: usize,
) -> Result<(), String> {
    check_tile(&result.tile, &result.home, expected, rank)
}

/// The elements of a rank must be those of an array.
pub(crate) fn check_tile(
    tile: &Tile,
    home: &pantile_geometry::Distribution,
    expected: &Array,
    rank: usize,
) -> Result<(), String> {
    if (tile.dtype(), home.shape()) != (expected.dtype, &expected.shape[..]) {
        let (dtype, shape) = (tile.dtype(), home.shape());
        return Err(format!("got {dtype} {shape:?}, not {} {:?}", expected.dtype, expected.shape));
    }
    let Some(owned) = home.owned_elements(rank) else { return Ok(()) };
    if tile.len() != owned.len() {
        return Err(format!("rank {rank}: got {} elements, expected {}", tile.len(), owned.len()));
    }
    let size = tile.dtype().bytes();
    for (number, value) in expected.data.iter().enumerate() {
        let Some(at) = owned.local(number) else { continue };
        let got = &tile.as_bytes()[at * size..(at + 1) * size];
        if got != value.as_bytes() {
            return Err(format!(
                "rank {rank}: element {number}: got {got:02x?}, expected {value:?}"
            ));
        }
    }
    Ok(())
}

/// Elements of any type: small numbers, and some that are not.
pub(crate) fn random_array(
    rng: &mut pantile_testkit::Rng,
    dtype: pantile_lanes::DType,
    shape: &[usize],
) -> Array {
    use pantile_ir::reference::cast;
    use pantile_lanes::{DType, Scalar};
    let mut one = || {
        let number = rng.range(-40, 40);
        match dtype {
            DType::Bool => Scalar::of(number > 0),
            DType::F32 | DType::F64 | DType::C64 | DType::C128 => {
                #[allow(clippy::cast_precision_loss, reason = "small numbers")]
                let number = number as f64 / 7.0;
                let number = match rng.below(12) {
                    0 => -0.0,
                    1 => f64::INFINITY,
                    2 => 1e30 * number,
                    3 => 1e-30 * number,
                    _ => number,
                };
                cast(Scalar::of(number), dtype)
            }
            _ => cast(Scalar::of(number), dtype),
        }
    };
    let data = (0..shape.iter().product()).map(|_| one()).collect();
    Array { dtype, shape: shape.to_vec(), data }
}

/// Runs a program on threads; on every rank the result of `look`, or the error.
pub(crate) fn on_ranks<T: Send>(
    ranks: usize,
    body: impl Fn(&mut Engine) -> Result<T, MemberRunError> + Sync,
) -> Vec<Result<T, String>> {
    let options = Options::default();
    let results = threads::run(ranks, &options, |communicator: Communicator| {
        body(&mut Engine::new(communicator))
    });
    results.into_iter().map(|result| result.map_err(|error| error.to_string())).collect()
}

/// Runs a program by the passes and compares its results with an expectation.
pub(crate) fn compare(
    program: &Program,
    setting: &MemberSetting,
    ranks: usize,
    (arguments, expected): (&[Array], &[Array]),
) -> Result<MemberWay, String> {
    let results = on_ranks(ranks, |engine| {
        let homes = argument_homes(program, setting, ranks)?;
        let tiles: Vec<Tile> = (arguments.iter().zip(&homes))
            .map(|(array, home)| owned_tile(array, home, engine.rank()))
            .collect();
        let MemberRun { results, way } = run(engine, program, setting, &tiles)?;
        let mut faults = Vec::new();
        if results.len() != expected.len() {
            faults.push(format!("got {} results, expected {}", results.len(), expected.len()));
        }
        for (number, (result, array)) in results.iter().zip(expected).enumerate() {
            if let Err(fault) = check(result, array, engine.rank()) {
                faults.push(format!("result {number}: {fault}"));
            }
        }
        Ok((way, faults))
    });
    let mut way = None;
    for result in results {
        let (own, faults) = result?;
        if let Some(fault) = faults.first() {
            return Err(format!("{own:?}: {fault}"));
        }
        if *way.get_or_insert(own.clone()) != own {
            return Err("ranks execute it in different ways".to_owned());
        }
    }
    way.ok_or_else(|| "no ranks".to_owned())
}
