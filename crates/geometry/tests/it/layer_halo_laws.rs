//! Rng layers: what each worker computes from what it needs is what the whole layer computes.

use pantile_geometry::halo::{
    AxisHalo, AxisStep, Blocks, Chain, LayerAxis, LayerHalo, LocalBox, Window, WindowParameters,
};
use pantile_testkit::{Rng, enough, numbers};

/// Kernel, stride, padding, dilation.
type Numbers = (usize, usize, usize, usize);

fn random_numbers(rng: &mut Rng, extent: usize) -> Numbers {
    loop {
        let numbers = (1 + rng.below(5), 1 + rng.below(4), rng.below(4), 1 + rng.below(3));
        if extent + 2 * numbers.2 > numbers.3 * (numbers.0 - 1) {
            return numbers;
        }
    }
}

fn window((kernel, stride, padding, dilation): Numbers) -> Window {
    Window::new(kernel, stride, padding, dilation).unwrap()
}

/// A convolution without padding whose weights are all different.
fn valid_kernel(input: &[i64], (kernel, stride, _, dilation): Numbers) -> Vec<i64> {
    let mut outputs = Vec::new();
    let mut start = 0;
    while start + dilation * (kernel - 1) < input.len() {
        let value = (0..kernel)
            .zip(1_i64..)
            .map(|(tap, weight)| (weight * weight + 1) * input[start + dilation * tap]);
        outputs.push(value.sum());
        start += stride;
    }
    outputs
}

/// `before` zeros, the cells, `after` zeros.
fn surrounded(before: usize, cells: &[i64], after: usize) -> Vec<i64> {
    let mut all = vec![0; before];
    all.extend(cells);
    all.extend(vec![0; after]);
    all
}

fn whole(input: &[i64], numbers: Numbers) -> Vec<i64> {
    valid_kernel(&surrounded(numbers.2, input, numbers.2), numbers)
}

fn random_blocks(rng: &mut Rng) -> Blocks {
    let workers = 1 + rng.below(6);
    if rng.below(2) == 0 {
        return Blocks::balanced(1 + rng.below(20), workers).unwrap();
    }
    let mut extents: Vec<usize> = (0..workers).map(|_| rng.below(6)).collect();
    extents[0] += usize::from(extents.iter().sum::<usize>() == 0);
    Blocks::from_extents(&extents).unwrap()
}

/// The exchanged block of a worker, put together from what the senders own.
fn exchanged(halo: &AxisHalo, cells: &[i64], worker: usize) -> Vec<i64> {
    let senders = halo.senders(worker);
    let row = halo.worker(worker).unwrap();
    let fetch = |supplies: &[pantile_geometry::halo::Supply]| -> Vec<i64> {
        let mut fetched = Vec::new();
        for supply in supplies {
            let owned = halo.input().range(supply.worker);
            assert!(owned.start <= supply.range.start && supply.range.end <= owned.end);
            fetched.extend(&cells[supply.range.clone()]);
        }
        fetched
    };
    let (left, right) = (fetch(&senders.left), fetch(&senders.right));
    if row.needed.is_empty() {
        assert_eq!((left.len(), right.len()), (0, 0));
        return vec![0; row.exchange_length];
    }
    assert_eq!((left.len(), right.len()), row.receive);
    [&left[..], &cells[row.owned], &right].concat()
}

#[test]
fn needed_ranges_yield_exactly_the_outputs() {
    for seed in numbers(6000) {
        let mut rng = Rng::law(seed);
        let blocks = random_blocks(&mut rng);
        let numbers = random_numbers(&mut rng, blocks.extent());
        let input: Vec<i64> = (0..blocks.extent()).map(|_| 1 + rng.below(99) as i64).collect();
        let outputs = whole(&input, numbers);
        let plain = AxisHalo::new(&window(numbers), &blocks).unwrap();
        let padded = AxisHalo::with_boundary_padding(&window(numbers), &blocks).unwrap();
        assert_eq!(plain.output().extent(), outputs.len(), "seed {seed}");
        let padded_input = surrounded(numbers.2, &input, numbers.2);
        for worker in 0..blocks.workers() {
            let (row, padded_row) = (plain.worker(worker).unwrap(), padded.worker(worker).unwrap());
            let expected = &outputs[row.output.clone()];
            // Fetched by global index, padding made locally.
            let cells = surrounded(row.beyond.0, &input[row.needed_global.clone()], row.beyond.1);
            assert_eq!(valid_kernel(&cells, numbers), expected, "seed {seed} worker {worker}");
            assert_eq!(padded_row.needed_global, row.needed_global, "seed {seed} worker {worker}");
            assert_eq!(padded_row.beyond, row.beyond, "seed {seed} worker {worker}");
            // Exchanged and trimmed, padding not data.
            let local = exchanged(&plain, &input, worker);
            let slice = &local[row.needed.clone()];
            assert_eq!(slice, &input[row.needed_global.clone()], "seed {seed} worker {worker}");
            // Exchanged and trimmed, padding data of the edge workers.
            let local = exchanged(&padded, &padded_input, worker);
            let got = valid_kernel(&local[padded_row.needed.clone()], numbers);
            assert_eq!(got, expected, "seed {seed} worker {worker}");
        }
    }
}

#[test]
fn needed_ranges_are_minimal() {
    for seed in numbers(3000) {
        let mut rng = Rng::law(seed);
        let blocks = random_blocks(&mut rng);
        let numbers = random_numbers(&mut rng, blocks.extent());
        let halo = AxisHalo::new(&window(numbers), &blocks).unwrap();
        for row in halo.iter() {
            let (kernel, stride, padding, dilation) = numbers;
            let looked_at: Vec<usize> = row
                .output
                .clone()
                .flat_map(|i| (0..kernel).map(move |tap| stride * i + dilation * tap))
                .filter(|cell| (padding..padding + blocks.extent()).contains(cell))
                .map(|cell| cell - padding)
                .collect();
            // Windows with gaps, or between which there are gaps, may pass over the edge of the
            // input without touching it: there the range is a hull.
            if dilation > 1 || stride > kernel {
                continue;
            }
            match (looked_at.iter().min(), looked_at.iter().max()) {
                (Some(low), Some(high)) => {
                    assert_eq!(row.needed_global, *low..high + 1, "seed {seed}");
                }
                _ => assert!(row.needed_global.is_empty(), "seed {seed}"),
            }
        }
    }
}

#[test]
fn chains_run_locally_after_one_exchange() {
    for seed in numbers(4000) {
        let mut rng = Rng::law(seed);
        let blocks = random_blocks(&mut rng);
        let input: Vec<i64> = (0..blocks.extent()).map(|_| rng.below(9) as i64).collect();
        let (mut value, mut layers) = (input.clone(), Vec::new());
        for _ in 0..1 + rng.below(4) {
            let numbers = random_numbers(&mut rng, value.len());
            value = whole(&value, numbers);
            layers.push(numbers);
        }
        let windows: Vec<Window> = layers.iter().map(|numbers| window(*numbers)).collect();
        let dynamic: Vec<&dyn LayerAxis> = windows.iter().map(|w| w as &dyn LayerAxis).collect();
        let chain = Chain::new(&dynamic, &blocks).unwrap();
        assert_eq!(chain.extents().last(), Some(&value.len()), "seed {seed}");
        for worker in 0..blocks.workers() {
            let row = chain.halo().worker(worker).unwrap();
            assert_eq!(row.needed_global, chain.needed_global(worker), "seed {seed}");
            let local = exchanged(chain.halo(), &input, worker);
            let mut cells = local[row.needed.clone()].to_vec();
            assert_eq!(cells, &input[row.needed_global.clone()], "seed {seed} worker {worker}");
            for (stage, numbers) in chain.stages(worker).iter().zip(&layers) {
                assert_eq!(cells.len(), stage.input.len(), "seed {seed} worker {worker}");
                cells = surrounded(stage.beyond.0, &cells, stage.beyond.1);
                cells = valid_kernel(&cells, *numbers);
            }
            assert_eq!(cells, &value[row.output.clone()], "seed {seed} worker {worker}");
        }
        if let [only] = &windows[..] {
            assert_eq!(chain.halo(), &AxisHalo::new(only, &blocks).unwrap(), "seed {seed}");
        }
    }
}

/// A 2-d array.
type Table = Vec<Vec<i64>>;

fn read(table: &Table, slab: &LocalBox) -> Table {
    table[slab[0].clone()].iter().map(|row| row[slab[1].clone()].to_vec()).collect()
}

fn write(table: &mut Table, slab: &LocalBox, values: &Table, add: bool) {
    for (row, values) in table[slab[0].clone()].iter_mut().zip(values) {
        for (cell, value) in row[slab[1].clone()].iter_mut().zip(values) {
            *cell = if add { *cell + value } else { *value };
        }
    }
}

/// All workers of a grid, with the slabs of each.
struct Grid {
    shape: (usize, usize),
    steps: Vec<Vec<AxisStep>>,
}

impl Grid {
    fn new(halo: &LayerHalo, shape: (usize, usize)) -> Self {
        let steps = (0..shape.0 * shape.1)
            .map(|rank| halo.slabs(&[rank / shape.1, rank % shape.1]).unwrap())
            .collect();
        Self { shape, steps }
    }

    /// The neighbour towards higher coordinates.
    fn right(&self, rank: usize, axis: usize) -> Option<usize> {
        let (row, column) = (rank / self.shape.1, rank % self.shape.1);
        match axis {
            0 => (row + 1 < self.shape.0).then_some(rank + self.shape.1),
            _ => (column + 1 < self.shape.1).then_some(rank + 1),
        }
    }

    /// Every (sender, bulk slab, receiver, ghost slab) of a step.
    fn messages(&self, axis: usize) -> Vec<(usize, &LocalBox, usize, &LocalBox)> {
        let mut messages = Vec::new();
        for rank in 0..self.steps.len() {
            let own = &self.steps[rank][axis];
            let Some(other) = self.right(rank, axis) else {
                assert!(own.send_right.is_none() && own.receive_right.is_none());
                continue;
            };
            let theirs = &self.steps[other][axis];
            let pairs = [
                (rank, &own.send_right, other, &theirs.receive_left),
                (other, &theirs.send_left, rank, &own.receive_right),
            ];
            for (sender, bulk, receiver, ghost) in pairs {
                assert_eq!(bulk.is_some(), ghost.is_some());
                if let (Some(bulk), Some(ghost)) = (bulk, ghost) {
                    messages.push((sender, bulk, receiver, ghost));
                }
            }
        }
        messages
    }

    fn forward(&self, local: &mut [Table]) {
        for axis in 0..2 {
            let messages = self.messages(axis);
            let packed: Vec<Table> =
                messages.iter().map(|(sender, bulk, ..)| read(&local[*sender], bulk)).collect();
            for ((_, _, receiver, ghost), values) in messages.iter().zip(packed) {
                write(&mut local[*receiver], ghost, &values, false);
            }
        }
    }

    fn adjoint(&self, local: &mut [Table]) {
        for axis in [1, 0] {
            for (sender, bulk, receiver, ghost) in self.messages(axis) {
                let values = read(&local[receiver], ghost);
                let zeros = values.iter().map(|row| vec![0; row.len()]).collect();
                write(&mut local[receiver], ghost, &zeros, false);
                write(&mut local[sender], bulk, &values, true);
            }
        }
    }
}

#[test]
fn values_of_5x4_on_2x2() {
    let parameters = WindowParameters { kernel: vec![3, 3], ..WindowParameters::default() };
    let blocks = LayerHalo::balanced_blocks(&[5, 4], &[2, 2]).unwrap();
    let halo = LayerHalo::new(&parameters, &blocks).unwrap();
    let grid = Grid::new(&halo, (2, 2));
    let filled = |value: i64, rank: usize, ghosts: bool| -> Table {
        let rows = halo.worker(&[rank / 2, rank % 2]).unwrap();
        let mut table = vec![vec![0; rows[1].exchange_length]; rows[0].exchange_length];
        let all = |at: usize| 0..rows[at].exchange_length;
        let bulk = |at: usize| rows[at].receive.0..rows[at].receive.0 + rows[at].owned.len();
        let slab = if ghosts { vec![all(0), all(1)] } else { vec![bulk(0), bulk(1)] };
        let values = vec![vec![value; rows[1].exchange_length]; rows[0].exchange_length];
        write(&mut table, &slab, &values, false);
        table
    };
    let text = |table: &Table| -> String {
        let rows = table.iter().map(|row| row.iter().map(i64::to_string).collect::<Vec<_>>());
        rows.map(|row| row.join(" ")).collect::<Vec<_>>().join(" / ")
    };
    let mut local: Vec<Table> = (0..4).map(|rank| filled(rank as i64 + 1, rank, false)).collect();
    grid.forward(&mut local);
    assert_eq!(
        local.iter().map(text).collect::<Vec<_>>(),
        [
            "1 1 2 / 1 1 2 / 1 1 2 / 3 3 4",
            "1 2 2 / 1 2 2 / 1 2 2 / 3 4 4",
            "1 1 2 / 3 3 4 / 3 3 4",
            "1 2 2 / 3 4 4 / 3 4 4",
        ]
    );
    let mut local: Vec<Table> = (0..4).map(|rank| filled(rank as i64 + 1, rank, true)).collect();
    grid.adjoint(&mut local);
    assert_eq!(
        local.iter().map(text).collect::<Vec<_>>(),
        [
            "1 3 0 / 1 3 0 / 4 10 0 / 0 0 0",
            "0 3 2 / 0 3 2 / 0 10 6 / 0 0 0",
            "0 0 0 / 4 10 0 / 3 7 0",
            "0 0 0 / 0 10 6 / 0 7 4",
        ]
    );
}

#[test]
fn exchanging_axis_by_axis_fills_every_cell() {
    let mut tried = 0;
    for seed in numbers(3000) {
        let mut rng = Rng::law(seed);
        let cuts = [random_blocks(&mut rng), random_blocks(&mut rng)];
        let numbers = [
            random_numbers(&mut rng, cuts[0].extent()),
            random_numbers(&mut rng, cuts[1].extent()),
        ];
        let pick = |part: fn(&Numbers) -> usize| numbers.iter().map(part).collect::<Vec<_>>();
        let parameters = WindowParameters {
            kernel: pick(|n| n.0),
            stride: pick(|n| n.1),
            padding: pick(|n| n.2),
            dilation: pick(|n| n.3),
        };
        let halo = LayerHalo::with_boundary_padding(&parameters, &cuts).unwrap();
        if halo.axes().iter().any(|axis| !axis.wide_halos().is_empty()) {
            continue;
        }
        tried += 1;
        let shape = (cuts[0].workers(), cuts[1].workers());
        let columns = halo.axes()[1].input().extent();
        // Each cell is named by its position in the padded input.
        let name = |row: usize, column: usize| (row * columns + column) as i64 + 1;
        let rows_of = |rank: usize| halo.worker(&[rank / shape.1, rank % shape.1]).unwrap();
        let mut local: Vec<Table> = (0..shape.0 * shape.1)
            .map(|rank| {
                let rows = rows_of(rank);
                let mut table = vec![vec![0; rows[1].exchange_length]; rows[0].exchange_length];
                for row in rows[0].owned.clone() {
                    for column in rows[1].owned.clone() {
                        let at = row - rows[0].owned.start + rows[0].receive.0;
                        let cell = column - rows[1].owned.start + rows[1].receive.0;
                        table[at][cell] = name(row, column);
                    }
                }
                table
            })
            .collect();
        Grid::new(&halo, shape).forward(&mut local);
        for (rank, table) in local.iter().enumerate() {
            let rows = rows_of(rank);
            let (top, side) =
                (rows[0].owned.start - rows[0].receive.0, rows[1].owned.start - rows[1].receive.0);
            for (at, cells) in table.iter().enumerate() {
                for (cell, value) in cells.iter().enumerate() {
                    assert_eq!(*value, name(top + at, side + cell), "seed {seed} rank {rank}");
                }
            }
        }
    }
    assert!(enough(tried, 600), "only {tried} cases without wide halos");
}
