//! Functions of chunks against plain loops over all elements, on several numbers of ranks.

use pantile::array::PipelineError;
use pantile::prelude::*;
use pantile::sim::Sim;
use pantile::{Options, threads};
use pantile_testkit::{Rng, cases};

const RANKS: [usize; 5] = [1, 2, 3, 5, 7];

const HOMES: [&str; 5] =
    ["block(r), whole", "whole, block(r)", "cyclic(r, 2), whole", "copies", "auto"];

fn element(at: &[usize]) -> f64 {
    at.iter().fold(0.3, |all, index| 1.7 * all + *index as f64 - 2.5)
}

fn floats(array: &Array) -> Vec<f64> {
    array.to_vec().unwrap()
}

/// The chunks of an axis by subtraction, one after the other: no formula.
fn lengths(mut length: usize, chunks: usize) -> Vec<usize> {
    let mut list = Vec::new();
    for left in (1..=chunks).rev() {
        let own = length.div_ceil(left);
        list.push(own);
        length -= own;
    }
    list
}

#[test]
fn chunks_are_as_long_as_they_should_be() {
    for (length, chunks, expected) in
        [(10, 4, vec![3, 3, 2, 2]), (1500, 2, vec![750, 750]), (10, 3, vec![4, 3, 3])]
    {
        assert_eq!(lengths(length, chunks), expected);
    }
    for (length, chunks) in [(10, 4), (1500, 2), (10, 3), (2, 5), (0, 3), (1, 1), (7, 7)] {
        let world = Session::threads(3).unwrap();
        let a = world.zeros(&[2, length]);
        let seen = std::cell::RefCell::new(Vec::new());
        let function = |chunks: &[Array]| {
            seen.borrow_mut().push(chunks[0].shape()[1]);
            vec![chunks[0].clone()]
        };
        let inputs = [(&a, Split::Axis(1))];
        world.pipeline(&inputs, &[Combine::Concat(1)], Some(chunks), function).unwrap();
        let mut expected = lengths(length, chunks);
        expected.retain(|length| *length > 0);
        if length == 0 {
            expected = vec![0];
        }
        assert_eq!(seen.into_inner(), expected, "{length} in {chunks}");
    }
}

/// What all elements of a matrix give: element by element, its columns' sums, least and greatest.
fn plain(shape: [usize; 2], of: impl Fn(usize, usize) -> f64) -> [Vec<f64>; 4] {
    let column = |j: usize| (0..shape[0]).map(|i| of(i, j)).collect::<Vec<f64>>();
    let all = (0..shape[0] * shape[1]).map(|at| of(at / shape[1], at % shape[1])).collect();
    let fold = |f: fn(f64, f64) -> f64| -> Vec<f64> {
        (0..shape[1]).map(|j| column(j).into_iter().reduce(f).unwrap_or(0.0)).collect()
    };
    [all, fold(|a, b| a + b), fold(f64::min), fold(f64::max)]
}

#[test]
fn chunks_together_are_the_whole() {
    cases("chunks_together_are_the_whole", 60, |rng: &mut Rng| {
        let shape = [1 + rng.below(9), 1 + rng.below(6)];
        let axis = rng.below(2);
        let chunks = rng.chance(1, 2).then(|| 1 + rng.below(12));
        let (ranks, home) = (*rng.pick(&RANKS), *rng.pick(&HOMES));
        let world = Session::threads(ranks).unwrap();
        // Halves and whole numbers: sums of them are exact in every order.
        let value = |i: usize, j: usize| ((i * 37 + j * 11) % 23) as f64 * 0.5 - 3.0;
        let a = world.dist(home).from_fn(&shape, |at| value(at[0], at[1]));
        let b = world.dist(home).from_fn(&[shape[1 - axis], 1], |at| at[0] as f64);
        let side = b.reshape(&if axis == 0 { [1, shape[1]] } else { [shape[0], 1] });
        let all = [Combine::Concat(axis), Combine::Concat(1 - axis), Combine::Sum];
        let combines = [all.as_slice(), &[Combine::Min, Combine::Max, Combine::Prod]].concat();
        let inputs = [(&a, Split::Axis(axis)), (&side, Split::Whole), (&a, Split::Axis(axis))];
        let results = world.pipeline(&inputs, &combines, chunks, |chunk| {
            let sum = &chunk[0] + &chunk[1];
            let along = [axis];
            let product = chunk[0].sign().prod_along(&along);
            let (least, most) = (sum.min_along(&along), sum.max_along(&along));
            vec![sum.clone(), chunk[2].t(), sum.sum_along(&along), least, most, product]
        });
        let results: Vec<Vec<f64>> = results.unwrap().iter().map(floats).collect();
        // Along axis 1 the same is asked of the transposed matrix.
        let flat = if axis == 0 { shape } else { [shape[1], shape[0]] };
        let turned = |i: usize, j: usize| if axis == 0 { value(i, j) } else { value(j, i) };
        let [whole, sum, least, most] = plain(flat, |i, j| turned(i, j) + j as f64);
        let what = format!("{shape:?} along {axis} in {chunks:?}, {home} on {ranks} ranks");
        let back = |list: &[f64]| -> Vec<f64> {
            let at = |n: usize| (n / shape[1], n % shape[1]);
            let place =
                |(i, j): (usize, usize)| if axis == 0 { i * flat[1] + j } else { j * flat[1] + i };
            (0..list.len()).map(|n| list[place(at(n))]).collect()
        };
        assert_eq!(results[0], back(&whole), "{what}");
        let transposed = |n: usize| value(n % shape[0], n / shape[0]);
        assert_eq!(results[1], (0..whole.len()).map(transposed).collect::<Vec<_>>(), "{what}");
        assert_eq!(results[2..5], [sum, least, most], "{what}");
        let sign = |x: f64| if x == 0.0 { 0.0 } else { x.signum() };
        let product = |j: usize| (0..flat[0]).map(|i| sign(turned(i, j))).product::<f64>();
        let products: Vec<f64> = (0..flat[1]).map(product).collect();
        assert_eq!(results[5], products, "{what}");
    });
}

#[test]
fn one_row_is_split_or_not_as_told() {
    for ranks in RANKS {
        let world = Session::threads(ranks).unwrap();
        let row = world.dist("block(r), whole").from_fn(&[1, 9], element);
        let expected: f64 = row.sum().item().unwrap();
        let sum = |chunks: &[Array]| vec![chunks[0].sum()];
        let split = [(&row, Split::Axis(0))];
        let got = world.pipeline(&split, &[Combine::Sum], None, sum).unwrap();
        assert_eq!(got[0].item::<f64>().unwrap(), expected, "{ranks} ranks");
        let got = world.pipeline(&split, &[Combine::Sum], Some(7), sum).unwrap();
        assert_eq!(got[0].item::<f64>().unwrap(), expected, "{ranks} ranks");
        // Beside three rows it is whole because somebody says so.
        let rows = world.from_fn(&[3, 9], element);
        let both = [(&rows, Split::Axis(0)), (&row, Split::Whole)];
        let add = |chunks: &[Array]| vec![&chunks[1] + &chunks[0]];
        let got = world.pipeline(&both, &[Combine::Concat(0)], None, add).unwrap();
        assert_eq!(floats(&got[0]), floats(&(&row + &rows)), "{ranks} ranks");
        let both = [(&rows, Split::Axis(0)), (&row, Split::Axis(0))];
        let fault = world.pipeline(&both, &[Combine::Concat(0)], None, add).unwrap_err();
        let words = "input 1: got length 1 along axis 0, expected 3 as of input 0 along axis 0";
        assert!(fault.kind.to_string().contains(words), "{fault}");
    }
}

#[test]
fn few_rows_and_none() {
    for ranks in RANKS {
        let world = Session::threads(ranks).unwrap();
        for rows in [0, 1, 2, 6] {
            let a = world.dist("block(r), whole").from_fn(&[rows, 3], element);
            for chunks in [None, Some(1), Some(4), Some(1 << 60)] {
                let combines = [Combine::Concat(0), Combine::Sum, Combine::Any, Combine::All];
                let results = world.pipeline(&[(&a, Split::Axis(0))], &combines, chunks, |chunk| {
                    let above = chunk[0].greater(0.0);
                    vec![&chunk[0] * 2.0, above.count_nonzero(), above.any(), above.all()]
                });
                let results = results.unwrap();
                let above = a.greater(0.0);
                let what = format!("{rows} rows in {chunks:?} on {ranks} ranks");
                assert_eq!(results[0].shape(), [rows, 3], "{what}");
                assert_eq!(floats(&results[0]), floats(&(&a * 2.0)), "{what}");
                let counts = [&results[1], &above.count_nonzero()];
                let [got, expected] = counts.map(|one| one.item::<i64>().unwrap());
                assert_eq!(got, expected, "{what}");
                for (got, expected) in [(&results[2], above.any()), (&results[3], above.all())] {
                    assert_eq!(got.item::<bool>().unwrap(), expected.item::<bool>().unwrap());
                }
            }
        }
        // The least of nothing is asked for only where there is nothing at all.
        let a = world.from_fn(&[2, 3], element);
        let least = |chunk: &[Array]| vec![chunk[0].min_along(&[0])];
        let got = world.pipeline(&[(&a, Split::Axis(0))], &[Combine::Min], Some(9), least);
        assert_eq!(floats(&got.unwrap()[0]), floats(&a.min_along(&[0])));
        let none = world.zeros(&[0, 3]);
        let got = world.pipeline(&[(&none, Split::Axis(0))], &[Combine::Min], None, least);
        let fault = got.unwrap()[0].to_vec::<f64>().unwrap_err();
        assert!(fault.kind.to_string().contains("min of no elements"), "{fault}");
    }
}

#[test]
fn results_have_types_and_lengths_of_their_own() {
    for ranks in RANKS {
        let world = Session::threads(ranks).unwrap();
        let a = world.dist("block(r)").from_fn(&[11], |at| i32::try_from(at[0]).unwrap() - 5);
        let combines = [Combine::Concat(0), Combine::Concat(1), Combine::Max, Combine::Sum];
        let results = world.pipeline(&[(&a, Split::Axis(0))], &combines, Some(4), |chunk| {
            let of = &chunk[0];
            let twice = world.empty_of(&[2 * of.size()], DType::I32);
            twice.set(s![by(.., 2)], of);
            twice.set(s![by(1.., 2)], of);
            let sum = of.reduce(Reduction::Sum, None, true, 0.0).reshape(&[1, 1]);
            vec![twice, sum, of.cast(DType::C128).imag().max(), of.get(s![0..2]).cast(DType::U8)]
        });
        let results = results.unwrap();
        assert_eq!(
            results[0].to_vec::<i32>().unwrap(),
            (0..22).map(|n| n / 2 - 5).collect::<Vec<_>>()
        );
        assert_eq!(results[1].shape(), [1, 4]);
        // Chunks begin at -5, -2, 1 and 4.
        assert_eq!(results[1].to_vec::<i64>().unwrap(), [-12, -3, 6, 9]);
        assert_eq!(results[2].item::<f64>().unwrap(), 0.0);
        let small = [251 + 254 + 1 + 4, 252 + 255 + 2 + 5];
        assert_eq!(results[3].cast(DType::I64).to_vec::<i64>().unwrap(), small);
    }
}

#[test]
fn a_sum_of_floats_is_that_of_the_results_rounded_once() {
    let tiny = f64::EPSILON / 4.0;
    for ranks in RANKS {
        let world = Session::threads(ranks).unwrap();
        let a = world.dist("block(r)").from_vec(&[4], &[1.0, tiny, tiny, 2.0 * tiny]);
        let sum = |chunk: &[Array]| vec![chunk[0].sum()];
        let with = |chunks: usize| -> f64 {
            let got = world.pipeline(&[(&a, Split::Axis(0))], &[Combine::Sum], Some(chunks), sum);
            got.unwrap()[0].item().unwrap()
        };
        // Four terms that add up to 1 and one unit in the last place; two whose first was rounded.
        assert_eq!(with(4), 1.0 + f64::EPSILON);
        assert_eq!(with(2), 1.0 + 3.0 * tiny);
        assert_eq!(with(1), 1.0 + f64::EPSILON);
    }
}

#[test]
fn nothing_moves_before_somebody_looks_and_nothing_that_is_there_already() {
    for ranks in RANKS {
        let world = Session::threads(ranks).unwrap();
        for (home, axis) in [("block(r), whole", 0), ("whole, block(r)", 1)] {
            let a = world.dist(home).from_fn(&[40, 30], element);
            let shift = world.dist("copies").from_fn(&[30], element);
            let before = world.counters();
            let inputs = [(&a, Split::Axis(axis)), (&shift, Split::Whole), (&a, Split::Axis(axis))];
            let inputs = if axis == 0 { &inputs[..] } else { &inputs[..1] };
            let results = world
                .pipeline(inputs, &[Combine::Concat(axis), Combine::Concat(0)], None, |chunk| {
                    let one = if axis == 0 { &chunk[0] * &chunk[1] } else { &chunk[0] * 3.0 };
                    vec![one + chunk.last().unwrap(), chunk[0].sum_along(&[1 - axis])]
                })
                .unwrap();
            assert_eq!(world.counters().programs, before.programs, "nothing ran");
            world.compute(&[&results[0], &results[1]]).unwrap();
            let after = world.counters();
            assert_eq!(after.bytes, before.bytes, "{home} on {ranks} ranks");
            // The results are where the chunks are: the next pipeline moves nothing either.
            let next = world.pipeline(
                &[(&results[0], Split::Axis(axis)), (&results[1], Split::Axis(0))],
                &[Combine::Concat(axis)],
                None,
                |chunk| {
                    let side = if axis == 0 { [chunk[1].size(), 1] } else { [1, chunk[1].size()] };
                    vec![&chunk[0] - chunk[1].reshape(&side)]
                },
            );
            next.unwrap()[0].compute().unwrap();
            assert_eq!(world.counters().bytes, before.bytes, "{home} on {ranks} ranks, again");
        }
    }
}

#[test]
fn results_of_any_length_stay_with_their_chunks() {
    let world = Session::threads(4).unwrap();
    let a = world.dist("block(r)").from_fn(&[10], |at| at[0] as f64);
    let calls = std::cell::Cell::new(0);
    let function = |chunk: &[Array]| {
        calls.set(calls.get() + 1);
        vec![if calls.get() == 1 { &chunk[0] + 0.5 } else { chunk[0].get(s![..1]) + 0.5 }]
    };
    let inputs = [(&a, Split::Axis(0))];
    let result = world.pipeline(&inputs, &[Combine::Concat(0)], None, function).unwrap();
    let before = world.counters().bytes;
    result[0].compute().unwrap();
    assert_eq!(world.counters().bytes, before);
    assert_eq!(result[0].home().unwrap(), "6 on r=4: block(r, cuts 0 3 4 5 6)");
    assert_eq!(floats(&result[0]), [0.5, 1.5, 2.5, 3.5, 6.5, 8.5]);
}

#[test]
fn chunks_belong_to_the_function() {
    let world = Session::threads(3).unwrap();
    let (a, b) = (world.arange(0, 7, 1), world.full(&[2], 10));
    let inputs = [(&a, Split::Axis(0)), (&b, Split::Whole)];
    let results = world
        .pipeline(&inputs, &[Combine::Concat(0), Combine::Sum], None, |chunk| {
            let seen = chunk[1].copy();
            chunk[0].assign(-1);
            chunk[1].assign(0);
            vec![chunk[0].clone(), seen]
        })
        .unwrap();
    assert_eq!(results[0].to_vec::<i64>().unwrap(), [-1; 7]);
    assert_eq!(results[1].to_vec::<i64>().unwrap(), [30, 30], "no chunk sees what others assign");
    assert_eq!(a.to_vec::<i64>().unwrap(), (0..7).collect::<Vec<_>>());
    assert_eq!(b.to_vec::<i64>().unwrap(), [10, 10]);
    // A function that gives its input back gives a copy.
    let same = world.pipeline(&inputs[..1], &[Combine::Concat(0)], Some(1), <[Array]>::to_vec);
    same.unwrap()[0].assign(5);
    assert_eq!(a.to_vec::<i64>().unwrap(), (0..7).collect::<Vec<_>>());
}

#[test]
fn programs_are_functions_of_chunks_too() {
    let text = "\
func.func @half(%a: !ndarray.ndarray<?x2xf64>) -> !ndarray.ndarray<f64> {
  %s = ndarray.reduction %a {op = 4 : i32} : !ndarray.ndarray<?x2xf64> -> !ndarray.ndarray<f64>
  return %s : !ndarray.ndarray<f64>
}
";
    let program = pantile::ir::text::parse(text, "half").unwrap();
    for ranks in RANKS {
        let world = Session::threads(ranks).unwrap();
        let a = world.dist("block(r), whole").from_fn(&[9, 2], |at| (at[0] + at[1]) as f64);
        let inputs = [(&a, Split::Axis(0))];
        let call = |chunk: &[Array]| world.call(&program, &[(&chunk[0]).into()]);
        let sum = world.try_pipeline(&inputs, &[Combine::Sum], None, call).unwrap();
        assert_eq!(sum[0].item::<f64>().unwrap(), 81.0);
    }
}

/// A pipeline that is refused, with these words and the line that asked for it.
fn check(
    world: &Session,
    (inputs, combines): (&[(&Array, Split)], &[Combine]),
    chunks: Option<usize>,
    function: &dyn Fn(&[Array]) -> Vec<Array>,
    words: &str,
) {
    let fault = world.pipeline(inputs, combines, chunks, function).err().unwrap();
    assert!(fault.kind.to_string().contains(words), "{fault}");
    assert!(fault.place.file.ends_with("pipeline.rs"), "{fault}");
}

#[test]
fn wrong_inputs_are_named() {
    let world = Session::threads(3).unwrap();
    let a = world.zeros(&[6, 2]);
    let one = |chunk: &[Array]| vec![chunk[0].clone()];
    let concat: &[Combine] = &[Combine::Concat(0)];
    let refused = |inputs: &[(&Array, Split)], words: &str| {
        check(&world, (inputs, concat), None, &one, words);
    };
    refused(&[(&a, Split::Axis(2))], "input 0: got axis 2 of an array of shape [6, 2]");
    refused(&[(&a, Split::Whole)], &PipelineError::NoSplit.to_string());
    refused(&[], "got no input that is split");
    let theirs = Session::threads(1).unwrap().zeros(&[6]);
    refused(&[(&theirs, Split::Axis(0))], "input 0: got an array of another world");
    let broken = &a + world.zeros(&[5]);
    refused(&[(&a, Split::Axis(0)), (&broken, Split::Whole)], "of shapes [6, 2] and [5]");
    let rows: &[(&Array, Split)] = &[(&a, Split::Axis(0))];
    check(&world, (rows, &[]), None, &one, &PipelineError::NoCombines.to_string());
    check(&world, (rows, concat), Some(0), &one, "got 0 chunks, expected at least 1");
    let error = Combine::from_name("mean").unwrap_err();
    assert_eq!(error, PipelineError::UnknownCombine { name: "mean".to_owned() });
    let said = error.to_string();
    assert!(said.contains("\"mean\"") && said.contains("sum, prod, min, max, any, all"), "{said}");
    assert_eq!(Combine::from_name("max"), Ok(Combine::Max));
}

#[test]
fn wrong_results_are_named() {
    let world = Session::threads(3).unwrap();
    let a = world.zeros(&[6, 2]);
    let rows: &[(&Array, Split)] = &[(&a, Split::Axis(0))];
    let refused = |combine: Combine, function: &dyn Fn(&[Array]) -> Vec<Array>, words: &str| {
        check(&world, (rows, &[combine]), Some(4), function, words);
    };
    let (concat, one) = (Combine::Concat(0), |chunk: &[Array]| vec![chunk[0].clone()]);
    refused(concat, &|_| Vec::new(), "chunk 0: the function gives 0 arrays, expected 1");
    refused(
        Combine::Concat(2),
        &one,
        "chunk 0, output 0: got shape [2, 2] to concatenate along axis 2",
    );
    refused(
        Combine::Sum,
        &one,
        "chunk 2, output 0: the function gives shape [1, 2], expected one for sum with [2, 2]",
    );
    let calls = std::cell::Cell::new(0);
    let types = |chunk: &[Array]| {
        calls.set(calls.get() + 1);
        vec![chunk[0].cast(if calls.get() == 1 { DType::F32 } else { DType::I8 })]
    };
    refused(concat, &types, "chunk 1, output 0: the function gives i8, expected f32");
    calls.set(0);
    let wide = |_: &[Array]| {
        calls.set(calls.get() + 1);
        vec![world.zeros(&[2, calls.get()])]
    };
    refused(concat, &wide, "gives shape [2, 2], expected one for concat(0) with [2, 1] of chunk 0");
    let theirs = Session::threads(1).unwrap().zeros(&[6]);
    refused(concat, &|_| vec![theirs.clone()], "the function gives an array of another world");
    let broken = |chunk: &[Array]| vec![&chunk[0] + world.zeros(&[5])];
    refused(concat, &broken, "add of shapes [2, 2] and [5]");
}

#[test]
fn callers_on_every_rank_record_the_same() {
    let program = |world: &Session| {
        let a = world.dist("block(r), whole").from_fn(&[7, 3], element);
        let combines = [Combine::Concat(1), Combine::Sum];
        let results = world.pipeline(&[(&a, Split::Axis(0))], &combines, None, |chunk| {
            vec![(&chunk[0] * 2.0).t(), chunk[0].cast(DType::I64).sum_along(&[0])]
        })?;
        Ok::<_, Fault>((results[0].to_vec::<f64>()?, results[1].to_vec::<i64>()?))
    };
    let expected = program(&Session::threads(1).unwrap()).unwrap();
    for ranks in [1, 2, 3, 5] {
        let options = Options::default();
        for said in threads::run(ranks, &options, |end| program(&Session::on(end))) {
            assert_eq!(said.unwrap(), expected, "{ranks} ranks");
        }
        let sim = Sim { seed: 7, ..Sim::default() };
        for said in sim.run(ranks, |end| program(&Session::on(end))).results {
            assert_eq!(said.unwrap(), expected, "{ranks} simulated ranks");
        }
    }
}
