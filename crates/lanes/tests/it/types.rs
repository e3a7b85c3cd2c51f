//! Promotion and the types of results against NumPy's.

use crate::common::vectors;
use pantile_lanes::expand::{self, ElementLanes};
use pantile_lanes::{Binary, DType, Error, LaneNode, LoopBody, Unary, promote};

fn dtype(name: &str) -> DType {
    name.parse().unwrap()
}

/// What a line of the table should be here: NumPy's answer but for what `promote` documents.
fn expected(words: &[String], real: bool) -> String {
    let theirs = words.last().unwrap().clone();
    let name = words[0].as_str();
    let narrow = |dtype: &str| ["bool", "i8", "u8", "i16", "u16"].contains(&dtype);
    let short = words[1..words.len() - 1].iter().all(|dtype| narrow(dtype));
    let ordered = ["greater", "greater_equal", "less", "less_equal", "maximum", "minimum"];
    match theirs.as_str() {
        // Short floats for short integers.
        "float16" => "f64".to_owned(),
        "f32" if short => "f64".to_owned(),
        _ if !real && ordered.contains(&name) => "refused".to_owned(),
        _ => theirs,
    }
}

#[test]
fn types_are_those_of_numpy() {
    let mut lines = 0;
    for words in vectors("types.txt") {
        lines += 1;
        let name = words[0].as_str();
        let of = |number: usize| dtype(&words[number]);
        let real = !words[1..words.len() - 1].iter().any(|dtype| dtype.starts_with('c'));
        if name == "promote" {
            assert_eq!(promote(of(1), of(2)), of(3), "{words:?}");
            continue;
        }
        let types = match Unary::from_name(name) {
            Some(function) => function.types(of(1)),
            None => Binary::from_name(name).unwrap().types(of(1), of(2)),
        };
        let got = types.map_or("refused", |(_, result)| result.name());
        assert_eq!(got, expected(&words, real), "{words:?}");
    }
    assert!(lines > 5000);
}

#[test]
fn refusals_name_the_function_and_the_types() {
    let wrong = Error::WrongTypes { function: "floor", dtypes: vec![DType::C64] };
    assert_eq!(Unary::Floor.types(DType::C64), Err(wrong));
    let refused = Binary::Less.types(DType::C128, DType::F32).unwrap_err();
    assert_eq!(refused.to_string(), "function less does not take (c128, f32)");
    assert!(Unary::Erf.types(DType::C64).is_err());
    assert_eq!(Unary::Erf.types(DType::I8), Ok((DType::F64, DType::F64)));
    assert_eq!(Unary::Reciprocal.types(DType::I32), Ok((DType::F64, DType::F64)));
    assert_eq!(Unary::Round.types(DType::C64), Ok((DType::C64, DType::C64)));
    assert_eq!(Unary::Conj.types(DType::Bool), Ok((DType::Bool, DType::Bool)));
}

fn lane(body: &mut LoopBody, dtype: DType) -> ElementLanes {
    match crate::common::parts(dtype) {
        (part, 2) => ElementLanes::Complex(body.input(part).unwrap(), body.input(part).unwrap()),
        (part, _) => ElementLanes::Real(body.input(part).unwrap()),
    }
}

/// Every function on every type that it takes: the result has the type that `types` says.
#[test]
fn expansions_give_the_types_that_they_promise() {
    for x in DType::ALL {
        for function in Unary::ALL {
            let mut body = LoopBody::new();
            let Ok((compute, result)) = function.types(x) else {
                let x = lane(&mut body, x);
                assert!(expand::unary(&mut body, *function, x).is_err(), "{function}");
                continue;
            };
            let x = lane(&mut body, x);
            let cast = expand::cast(&mut body, x, compute).unwrap();
            let y = expand::unary(&mut body, *function, cast).unwrap();
            assert_eq!(y.dtype(&body), Ok(result), "{function} {x:?}");
        }
        for (function, y) in Binary::ALL.iter().flat_map(|f| DType::ALL.map(|y| (f, y))) {
            let Ok((compute, result)) = function.types(x, y) else { continue };
            let mut body = LoopBody::new();
            let (x, y) = (lane(&mut body, x), lane(&mut body, y));
            let x = expand::cast(&mut body, x, compute).unwrap();
            let y = expand::cast(&mut body, y, compute).unwrap();
            let z = expand::binary(&mut body, *function, x, y).unwrap();
            assert_eq!(z.dtype(&body), Ok(result), "{function}");
        }
    }
}

#[test]
fn lanes_must_be_in_the_type_that_is_computed_in() {
    let mut body = LoopBody::new();
    let (k, x) = (lane(&mut body, DType::I32), lane(&mut body, DType::F32));
    let (ElementLanes::Real(k_node), ElementLanes::Real(x_node)) = (k, x) else { unreachable!() };
    assert!(matches!(expand::unary(&mut body, Unary::Sin, k), Err(Error::WrongTypes { .. })));
    assert!(matches!(expand::binary(&mut body, Binary::Add, k, x), Err(Error::WrongTypes { .. })));
    let odd = ElementLanes::Complex(x_node, k_node);
    assert!(matches!(odd.dtype(&body), Err(Error::WrongLane { dtype: DType::I32, .. })));
    let whole = expand::binary(&mut body, Binary::Divide, k, k).unwrap();
    assert_eq!(whole.dtype(&body), Ok(DType::I32));
    let z = lane(&mut body, DType::C64);
    let truth = expand::cast(&mut body, z, DType::Bool).unwrap();
    let ElementLanes::Real(truth) = truth else { unreachable!() };
    assert!(expand::select(&mut body, truth, x, z).is_err());
    assert!(expand::select(&mut body, x_node, x, x).is_err());
    let chosen = expand::select(&mut body, truth, z, z).unwrap();
    assert_eq!(chosen.dtype(&body), Ok(DType::C64));
    let random: fn(&mut LoopBody, LaneNode, LaneNode, u64) -> _ = expand::uniform;
    assert!(matches!(random(&mut body, x_node, k_node, 0), Err(Error::WrongLane { .. })));
}
