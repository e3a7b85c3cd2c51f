//! Random numbers by place: known answers, and the shape of the distributions.

use pantile_lanes::expand::{normal, uniform, words};
use pantile_lanes::{DType, Error, LaneNode, LoopBody, Scalar, evaluate};

fn body(
    add: impl Fn(&mut LoopBody, LaneNode, LaneNode) -> Result<Vec<LaneNode>, Error>,
) -> LoopBody {
    let mut body = LoopBody::new();
    let (index, seed) = (body.input(DType::U64).unwrap(), body.input(DType::U64).unwrap());
    for node in add(&mut body, index, seed).unwrap() {
        body.output(node);
    }
    body
}

fn at(body: &LoopBody, index: u64, seed: u64) -> f64 {
    evaluate(body, &[Scalar::of(index), Scalar::of(seed)]).unwrap()[0].get().unwrap()
}

/// The published test vectors of Philox4x32-10: counter, key and answer in words.
#[test]
fn the_words_are_those_of_philox() {
    let known: [([u64; 4], [u64; 2], [u64; 4]); 3] = [
        ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
        ([0xffff_ffff; 4], [0xffff_ffff; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
        (
            [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
            [0xa409_3822, 0x299f_31d0],
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
        ),
    ];
    for (counter, key, answer) in known {
        let stream = counter[2] | counter[3] << 32;
        let body = body(|body, index, seed| Ok(words(body, index, seed, stream)?.to_vec()));
        let inputs = [counter[0] | counter[1] << 32, key[0] | key[1] << 32];
        let got = evaluate(&body, &inputs.map(Scalar::of)).unwrap();
        assert_eq!(got, answer.map(Scalar::of));
    }
}

#[test]
fn uniform_numbers_come_from_the_first_two_words() {
    let body = body(|body, index, seed| Ok(vec![uniform(body, index, seed, 0)?]));
    let bits = (0x6627_e8d5u64 >> 5 << 26) | (0xe169_c58du64 >> 6);
    assert_eq!(at(&body, 0, 0), bits as f64 / 2f64.powi(53));
    let count = 20_000;
    let numbers: Vec<f64> = (0..count).map(|index| at(&body, index, 7)).collect();
    assert!(numbers.iter().all(|x| (0.0..1.0).contains(x)));
    let tenth = |i: i32| f64::from(i) / 10.0..f64::from(i + 1) / 10.0;
    let count = |i: i32| numbers.iter().filter(|x| tenth(i).contains(x)).count();
    let places: Vec<usize> = (0..10).map(count).collect();
    // Six standard deviations of a count around 2000 are about 255.
    assert!(places.iter().all(|n| (1745..2255).contains(n)), "{places:?}");
}

#[test]
fn normal_numbers_have_the_moments_and_tails_of_the_normal_distribution() {
    let body = body(|body, index, seed| Ok(vec![normal(body, index, seed, 3)?]));
    let count = 20_000u32;
    let numbers: Vec<f64> = (0..count).map(|index| at(&body, u64::from(index), 11)).collect();
    let moment = |k: i32| numbers.iter().map(|x| x.powi(k)).sum::<f64>() / f64::from(count);
    assert!(moment(1).abs() < 0.04, "{}", moment(1));
    assert!((moment(2) - 1.0).abs() < 0.06, "{}", moment(2));
    assert!(moment(3).abs() < 0.2, "{}", moment(3));
    assert!((moment(4) - 3.0).abs() < 0.5, "{}", moment(4));
    let beyond = numbers.iter().filter(|x| x.abs() > 2.0).count();
    assert!((730..1090).contains(&beyond), "{beyond} beyond two deviations, expected 910");
    assert!(numbers.iter().all(|x| x.is_finite()));
}

/// Box and Muller from the words, with the functions of the standard library.
#[test]
fn normal_numbers_are_those_of_box_and_muller() {
    let four = body(|body, index, seed| Ok(words(body, index, seed, 5)?.to_vec()));
    let body = body(|body, index, seed| Ok(vec![normal(body, index, seed, 5)?]));
    for index in 0..3000u64 {
        let words = evaluate(&four, &[Scalar::of(index), Scalar::of(99u64)]).unwrap();
        let words: Vec<u64> = words.iter().map(|word| word.get().unwrap()).collect();
        let whole = |a: u64, b: u64| ((a >> 5) << 26 | b >> 6) as f64;
        let u = (whole(words[0], words[1]) + 1.0) / 2f64.powi(53);
        let v = whole(words[2], words[3]) / 2f64.powi(53);
        let expected = (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos();
        assert!((at(&body, index, 99) - expected).abs() < 4e-15, "at {index}");
    }
}
