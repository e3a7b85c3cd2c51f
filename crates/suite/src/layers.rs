//! Layer exchange: what a kernel without padding needs, against naive kernels on whole arrays.

use std::sync::Arc;

use pantile_geometry::halo::{CustomLayer, WindowParameters};
use pantile_spmd::{CartesianPartition, Error, LayerExchange, RankContext, Tensor};
use pantile_testkit::Rng;
use pantile_testkit::model::indices;

use crate::Case;
use crate::expect::{
    Outcome, balanced, block, bounds, coordinates, cut, grid, grids, number, ranks, refused, same,
    say, usable,
};
use crate::repartitions::any_lengths;
use crate::settings::{LayerSetting, settings};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case { name: "layers on one axis", needs: 1, body: one_axis },
        Case { name: "layers on two and three axes", needs: 1, body: many_axes },
        Case { name: "random layers", needs: 1, body: random },
        Case { name: "a layer of one's own", needs: 1, body: custom },
        Case { name: "layers that are refused", needs: 2, body: refusals },
    ]
}

/// A sliding window on one axis, and how the input is cut.
#[derive(Clone, Debug)]
pub(crate) struct LayerAxis {
    pub(crate) kernel: usize,
    pub(crate) stride: usize,
    pub(crate) padding: usize,
    pub(crate) dilation: usize,
    pub(crate) lengths: Vec<usize>,
}

impl LayerAxis {
    fn input(&self) -> usize {
        self.lengths.iter().sum()
    }

    fn output(&self) -> usize {
        (self.input() + 2 * self.padding - self.dilation * (self.kernel - 1) - 1) / self.stride + 1
    }

    /// The outputs of a worker: balanced.
    fn outputs(&self, worker: usize) -> (usize, usize) {
        bounds(&balanced(self.output(), self.lengths.len()))[worker]
    }

    /// The positions a worker needs, in the padded input; none without outputs.
    fn needed(&self, worker: usize) -> (usize, usize) {
        match self.outputs(worker) {
            (start, stop) if start == stop => (0, 0),
            (start, stop) => (
                self.stride * start,
                self.stride * (stop - 1) + self.dilation * (self.kernel - 1) + 1,
            ),
        }
    }
}

/// The index in the input of a place in the padded one.
fn inside(lines: &[LayerAxis], place: &[usize]) -> Option<Vec<usize>> {
    let axis = |(line, at): (&LayerAxis, &usize)| {
        at.checked_sub(line.padding).filter(|at| *at < line.input())
    };
    lines.iter().zip(place).map(axis).collect()
}

/// The exchange of these windows.
pub(crate) fn exchange(
    partition: &CartesianPartition,
    lines: &[LayerAxis],
) -> Result<LayerExchange, String> {
    let of = |entry: fn(&LayerAxis) -> usize| lines.iter().map(entry).collect();
    let parameters = WindowParameters {
        kernel: of(|line| line.kernel),
        stride: of(|line| line.stride),
        padding: of(|line| line.padding),
        dilation: of(|line| line.dilation),
    };
    LayerExchange::new(partition, &parameters).map_err(say)
}

/// Forward with zeros and with minus infinity, naive kernels on the result, and the adjoint.
pub(crate) fn check(
    partition: &CartesianPartition,
    movement: &LayerExchange,
    lines: &[LayerAxis],
) -> Outcome {
    let fault = |fault| format!("{partition:?}, {lines:?}: {fault}");
    let Some(index) = partition.index() else {
        let x = Tensor::full(&[2], 5.0);
        same("outside", &movement.forward(&x).map_err(say)?, &x).map_err(fault)?;
        return same("outside, back", &movement.adjoint(&x).map_err(say)?, &x).map_err(fault);
    };
    for padding in [0.0, f64::NEG_INFINITY] {
        forward(movement, lines, &index, padding).map_err(fault)?;
    }
    adjoint(partition, movement, lines, &index).map_err(fault)
}

fn forward(
    movement: &LayerExchange,
    lines: &[LayerAxis],
    index: &[usize],
    padding: f64,
) -> Outcome {
    let array = |at: &[usize]| f64::from(number(50, at));
    let lengths: Vec<Vec<usize>> = lines.iter().map(|line| line.lengths.clone()).collect();
    let x = cut(&block(&lengths, index), array)?;
    let got = match padding == 0.0 {
        true => movement.forward(&x),
        false => movement.forward_padded(&x, padding),
    }
    .map_err(say)?;
    let outputs: Vec<_> = lines.iter().zip(index).map(|(line, at)| line.outputs(*at)).collect();
    if outputs.iter().any(|(start, stop)| start == stop) {
        return same("without outputs there is nothing", &got.is_empty(), &true);
    }
    let padded = |place: &[usize]| inside(lines, place).map_or(padding, |at| array(&at));
    let needed: Vec<_> = lines.iter().zip(index).map(|(line, at)| line.needed(*at)).collect();
    same(format!("padded with {padding}"), &got, &cut(&needed, padded)?)?;
    // A kernel without padding on what came, against the layer on the whole array.
    let taps: Vec<usize> = lines.iter().map(|line| line.kernel).collect();
    let taps = indices(&taps);
    let kernel = |start: &[usize], look: &dyn Fn(&[usize]) -> f64| {
        let place = |tap: &[usize]| -> Vec<usize> {
            let axis =
                |axis: usize| lines[axis].stride * start[axis] + lines[axis].dilation * tap[axis];
            (0..tap.len()).map(axis).collect()
        };
        let values = taps.iter().map(|tap| (f64::from(number(51, tap)), look(&place(tap))));
        match padding == 0.0 {
            true => values.map(|(weight, value)| weight * value).sum::<f64>(),
            false => values.map(|(_, value)| value).fold(f64::NEG_INFINITY, f64::max),
        }
    };
    let local = |place: &[usize]| got.get(place).unwrap_or(f64::NAN);
    let from: Vec<usize> = outputs.iter().map(|(start, _)| *start).collect();
    let wanted = cut(&outputs, |at| kernel(at, &padded))?;
    let computed = cut(&outputs, |at| {
        let at: Vec<usize> = at.iter().zip(&from).map(|(at, from)| at - from).collect();
        kernel(&at, &local)
    })?;
    same("the outputs", &computed, &wanted)?;
    // One output more does not fit on any axis.
    let fits = |axis: usize| {
        let reach = lines[axis].dilation * (lines[axis].kernel - 1) + 1;
        (got.shape()[axis] - reach) / lines[axis].stride + 1
    };
    let counts: Vec<usize> = (0..lines.len()).map(fits).collect();
    same("the number of outputs", counts.as_slice(), wanted.shape())
}

fn adjoint(
    partition: &CartesianPartition,
    movement: &LayerExchange,
    lines: &[LayerAxis],
    index: &[usize],
) -> Outcome {
    let workers = partition.team().shape();
    let lengths: Vec<Vec<usize>> = lines.iter().map(|line| line.lengths.clone()).collect();
    let shape: Vec<usize> = lines.iter().map(LayerAxis::input).collect();
    let offset =
        |at: &[usize]| at.iter().zip(&shape).fold(0, |sum, (at, length)| sum * length + at);
    let needed = |index: &[usize]| -> Vec<(usize, usize)> {
        lines.iter().zip(index).map(|(line, at)| line.needed(*at)).collect()
    };
    let mut totals = vec![0_i64; shape.iter().product()];
    for rank in 0..partition.members().len() {
        let needed = needed(&coordinates(rank, &workers));
        let extents: Vec<usize> = needed.iter().map(|(start, stop)| stop - start).collect();
        for local in indices(&extents) {
            let place: Vec<usize> =
                local.iter().zip(&needed).map(|(at, from)| at + from.0).collect();
            if let Some(at) = inside(lines, &place) {
                totals[offset(&at)] += i64::from(number(rank, &place));
            }
        }
    }
    let rank = partition.rank().unwrap_or(0);
    // What a worker without outputs got has whatever shape without elements.
    let shape_given =
        movement.forward(&cut(&block(&lengths, index), |_| 1_i64)?).map_err(say)?.shape().to_vec();
    let dy = cut(&needed(index), |place| i64::from(number(rank, place)))?;
    let dy = if dy.is_empty() { Tensor::zeros(&shape_given) } else { dy };
    let wanted = cut(&block(&lengths, index), |at| totals[offset(at)])?;
    same("the adjoint", &movement.adjoint(&dy).map_err(say)?, &wanted)
}

fn one_axis(world: &RankContext) -> Outcome {
    for LayerSetting { name, window, lengths, outputs } in settings() {
        if lengths.len() > world.size() {
            continue;
        }
        let [kernel, stride, padding, dilation] = window;
        let lengths = lengths.to_vec();
        let line = LayerAxis { kernel, stride, padding, dilation, lengths };
        same(
            format!("{name}: outputs"),
            balanced(line.output(), outputs.len()).as_slice(),
            outputs,
        )?;
        let team: Vec<usize> = (0..outputs.len()).rev().collect();
        let partition = grid(world, &team, &[outputs.len()])?;
        let movement = exchange(&partition, std::slice::from_ref(&line))?;
        check(&partition, &movement, &[line]).map_err(|fault| format!("{name}: {fault}"))?;
    }
    Ok(())
}

fn line(
    [kernel, stride, padding, dilation]: [usize; 4],
    length: usize,
    workers: usize,
) -> LayerAxis {
    LayerAxis { kernel, stride, padding, dilation, lengths: balanced(length, workers) }
}

fn many_axes(world: &RankContext) -> Outcome {
    let (one, two) = (|workers| line([1, 1, 0, 1], 1, workers), line([1, 1, 0, 1], 2, 1));
    let long = |length, workers| line([5, 3, 1, 3], length, workers);
    let dilated = |length, workers| line([4, 1, 1, 3], length, workers);
    let wide = |length, workers| line([3, 2, 2, 1], length, workers);
    let rows: Vec<Vec<LayerAxis>> = vec![
        vec![one(1), two.clone(), line([3, 1, 1, 1], 10, 2), line([3, 1, 1, 1], 10, 2)],
        vec![line([5, 2, 2, 1], 10, 2), line([5, 2, 2, 1], 10, 2)],
        vec![line([5, 4, 2, 1], 6, 2), line([5, 4, 2, 1], 10, 2)],
        vec![line([5, 1, 1, 1], 10, 2), line([5, 1, 1, 1], 8, 1)],
        vec![line([5, 2, 2, 1], 5, 2), line([5, 2, 2, 1], 5, 1), line([5, 1, 2, 1], 6, 2)],
        vec![long(20, 3), dilated(10, 1), wide(7, 2)],
        vec![long(16, 3), dilated(11, 2), wide(6, 2)],
        vec![line([3, 1, 0, 1], 10, 3), line([3, 1, 0, 1], 7, 3)],
        // Fewer outputs than workers.
        vec![line([2, 2, 0, 1], 4, 3), line([3, 3, 1, 1], 5, 2)],
    ];
    for lines in rows {
        let workers: Vec<usize> = lines.iter().map(|line| line.lengths.len()).collect();
        let size: usize = workers.iter().product();
        if size <= world.size() {
            let partition = grid(world, &ranks(world.size() - size, world.size()), &workers)?;
            check(&partition, &exchange(&partition, &lines)?, &lines)?;
        }
    }
    Ok(())
}

/// A random window on an axis that is cut anyhow.
pub(crate) fn any_line(rng: &mut Rng, lengths: Vec<usize>) -> LayerAxis {
    let (stride, padding, dilation) = (1 + rng.below(3), rng.below(4), 1 + rng.below(3));
    let length: usize = lengths.iter().sum();
    let most = (length + 2 * padding - 1) / dilation + 1;
    let kernel = 1 + rng.below(most.min(6));
    LayerAxis { kernel, stride, padding, dilation, lengths }
}

fn random(world: &RankContext) -> Outcome {
    let mut rng = Rng::law(75);
    for partition in grids(world)? {
        for _ in 0..2 {
            let lengths = any_lengths(&mut rng, &partition.team().shape());
            let lines: Vec<LayerAxis> =
                lengths.into_iter().map(|lengths| any_line(&mut rng, lengths)).collect();
            check(&partition, &exchange(&partition, &lines)?, &lines)?;
        }
    }
    Ok(())
}

/// Every output looks at the input of the same share of the axis and at both its neighbours; at
/// the edges that is padding.
fn custom(world: &RankContext) -> Outcome {
    let size = world.size();
    let partition = grid(world, &ranks(0, size), &[size, 1])?;
    let length = size + 2;
    let first = |output: i64| output.div_euclid(2) - 1;
    let last = |output: i64| output.div_euclid(2) + 1;
    let layer = CustomLayer::new(length, 2 * length, first, last).map_err(say)?;
    let same_layer = CustomLayer::new(2, 2, |output| output, |output| output).map_err(say)?;
    let movement =
        LayerExchange::custom(&partition, vec![Arc::new(layer), Arc::new(same_layer)], "thirds")
            .map_err(say)?;
    let lengths = vec![balanced(length, size), vec![2]];
    let index = vec![world.rank(), 0];
    let array = |at: &[usize]| 10 * at[0] + at[1];
    let signed = |number: usize| i64::try_from(number).unwrap_or(0);
    let got = movement.forward_padded(&cut(&block(&lengths, &index), |at| array(at) as u64)?, 999);
    let needed = |worker: usize| {
        let (start, stop) = bounds(&balanced(2 * length, size))[worker];
        // Shifted by one, so that the padding has a place.
        (first(signed(start)) + 1, last(signed(stop) - 1) + 2)
    };
    let place = |number: i64| usize::try_from(number).unwrap_or(0);
    let (start, stop) = needed(world.rank());
    let wanted = cut(&[(place(start), place(stop)), (0, 2)], |at| match at[0] {
        0 => 999,
        row if row > length => 999,
        row => array(&[row - 1, at[1]]) as u64,
    })?;
    same("rows with both neighbours", &got.map_err(say)?, &wanted)?;
    let dx = movement.adjoint(&Tensor::full(wanted.shape(), 1_u64)).map_err(say)?;
    let times = |row: usize| {
        let sees =
            |worker: &usize| (needed(*worker).0..needed(*worker).1).contains(&(signed(row) + 1));
        (0..size).filter(sees).count() as u64
    };
    let wanted = cut(&block(&lengths, &index), |at| times(at[0]))?;
    same("how many see a row", &dx, &wanted)
}

fn refusals(world: &RankContext) -> Outcome {
    let size = world.size();
    let partition = grid(world, &ranks(0, size), &[size])?;
    let lines = [line([3, 1, 1, 1], 2 * size, size)];
    let movement = exchange(&partition, &lines)?;
    let dy = Tensor::full(&[4], 1.0_f32);
    let early = |error: &Error| matches!(error, Error::NoForward { .. });
    refused("an adjoint before any forward", movement.adjoint(&dy), early)?;
    let x = Tensor::full(&[2], 1.0_f32);
    same("forward", movement.forward(&x).map_err(say)?.shape(), &[4])?;
    let wrong = |error: &Error| matches!(error, Error::WrongShape { .. });
    let odd = Tensor::full(&[if world.rank() == 1 { 3 } else { 4 }], 1.0_f32);
    refused("an adjoint of another shape", movement.adjoint(&odd), wrong)?;
    let flat = if world.rank() == 1 { Tensor::full(&[2, 1], 1.0_f32) } else { x };
    refused("a block with an axis more", movement.forward(&flat), wrong)?;
    let halo = |error: &Error| matches!(error, Error::Halo(_));
    let wide = exchange(&partition, &[line([9, 1, 0, 3], 99, size)])?;
    refused("a kernel wider than the array", wide.forward(&Tensor::full(&[1], 1_i64)), halo)?;
    let zero = WindowParameters { kernel: vec![0], ..WindowParameters::default() };
    refused("a kernel of nothing", LayerExchange::new(&partition, &zero), halo)?;
    let many = WindowParameters { kernel: vec![3, 3], ..WindowParameters::default() };
    refused("more kernels than axes", LayerExchange::new(&partition, &many), halo)?;
    let axes = |error: &Error| matches!(error, Error::Dimensions { .. });
    refused("no layer at all", LayerExchange::custom(&partition, vec![], "none"), axes)?;
    usable(world)?;
    let dx = movement.adjoint(&dy).map_err(say)?;
    let me = world.rank();
    let sides = f32::from(u8::from(me > 0)) + f32::from(u8::from(me + 1 < size));
    same("the same object, later", &dx.as_slice().iter().sum::<f32>(), &(2.0 + sides))
}
