//! Halo tables of layers against worked examples, and laws against computing the whole layer.

use std::ops::Range;

use pantile_geometry::halo::{
    AxisHalo, AxisStep, Blocks, CustomLayer, HaloError, Interpolation, InterpolationMode,
    LayerAxis, LayerHalo, LocalBox, Ratio, Side, SlabAxis, WideHalo, Window, WindowParameters,
    WorkerHalo, exchange_slabs,
};

const TABLES: &str = include_str!("data/layer_halo.txt");

fn pair<T: std::str::FromStr>(text: &str, separator: char) -> (T, T) {
    let (left, right) = text.split_once(separator).unwrap();
    (left.parse().ok().unwrap(), right.parse().ok().unwrap())
}

fn range(text: &str) -> Range<usize> {
    let (start, end) = pair(text, ':');
    start..end
}

/// The halo that the first line of a table describes, and the number of outputs it states.
fn described(header: &str) -> (AxisHalo, usize) {
    let number = |key: &str| -> usize {
        let field = header.split(' ').find_map(|field| field.strip_prefix(key)).unwrap();
        field.parse().unwrap()
    };
    let window = Window::new(number("k="), number("s="), number("p="), number("d=")).unwrap();
    let input = match header.split_once(" x=") {
        None => Blocks::balanced(number("n="), number("P=")).unwrap(),
        Some((_, list)) => {
            let extents: Vec<usize> = list.split(',').map(|text| text.parse().unwrap()).collect();
            Blocks::from_extents(&extents).unwrap()
        }
    };
    assert_eq!((input.extent(), input.workers()), (number("n="), number("P=")), "{header}");
    let halo = if header.split(' ').nth(1) == Some("A") {
        AxisHalo::new(&window, &input).unwrap()
    } else {
        AxisHalo::with_boundary_padding(&window, &input).unwrap()
    };
    (halo, number("m="))
}

fn check_row(row: &WorkerHalo, line: &str, at: &str) {
    let mut fields: Vec<&str> = line.split(' ').collect();
    if fields.len() == 9 {
        assert_eq!(row.pad, pair(fields[0], ','), "{at}: pad");
        assert_eq!(row.exchange_length.to_string(), fields[6], "{at}: length");
        assert_eq!(row.needed, range(fields[8]), "{at}: exact");
        fields.remove(6);
        fields.remove(0);
    }
    assert_eq!(row.owned, range(fields[0]), "{at}: owned");
    assert_eq!(row.output, range(fields[1]), "{at}: output");
    assert_eq!(row.signed, pair(fields[2], ','), "{at}: signed");
    assert_eq!(row.receive, pair(fields[3], ','), "{at}: receive");
    assert_eq!(row.send, pair(fields[4], ','), "{at}: send");
    assert_eq!(row.needed.start..row.exchange_length, range(fields[5]), "{at}: untrimmed");
}

#[test]
fn tables_of_single_axes() {
    let mut tables = 0;
    let mut halo: Option<AxisHalo> = None;
    let (mut at, mut worker) = (String::new(), 0);
    for line in TABLES.lines().filter(|line| !line.starts_with('#')) {
        if line.is_empty() {
            assert!(halo.take().is_none_or(|halo| halo.workers() == worker), "{at}: rows missing");
        } else if let Some(halo) = &halo {
            check_row(&halo.worker(worker).unwrap(), line, &format!("{at} worker {worker}"));
            worker += 1;
        } else {
            let (described, outputs) = described(line);
            assert_eq!(described.output().extent(), outputs, "{line}: outputs");
            (at, worker, halo) = (line.to_owned(), 0, Some(described));
            tables += 1;
        }
    }
    assert_eq!(tables, 32);
}

#[test]
fn balanced_extents() {
    let check = |extent, workers, expected: &[usize]| {
        let blocks = Blocks::balanced(extent, workers).unwrap();
        let extents: Vec<usize> = (0..workers).map(|worker| blocks.range(worker).len()).collect();
        assert_eq!(extents, expected);
        assert_eq!(blocks, Blocks::from_extents(expected).unwrap());
    };
    check(10, 4, &[3, 3, 2, 2]);
    check(10, 3, &[4, 3, 3]);
    check(7, 3, &[3, 2, 2]);
    check(5, 2, &[3, 2]);
    check(3, 4, &[1, 1, 1, 0]);
    check(77, 4, &[20, 19, 19, 19]);
    check(55, 4, &[14, 14, 14, 13]);
    check(50, 3, &[17, 17, 16]);
    assert_eq!(Blocks::balanced(3, 0), Err(HaloError::Zero { what: "number of workers" }));
    assert!(matches!(Blocks::balanced(usize::MAX, 2), Err(HaloError::TooLarge { .. })));
    assert!(matches!(Blocks::from_extents(&[usize::MAX, 2]), Err(HaloError::TooLarge { .. })));
    assert!(Blocks::from_extents(&[]).is_err());
    assert!(matches!(Blocks::balanced(4, usize::MAX), Err(HaloError::TooLarge { .. })));
}

#[test]
fn overlaps_of_two_cuts() {
    let check = |extent, source, target, expected: &str| {
        let source = Blocks::balanced(extent, source).unwrap();
        let pairs = source.overlaps(&Blocks::balanced(extent, target).unwrap()).unwrap();
        let text: Vec<String> = pairs
            .iter()
            .map(|pair| {
                let (from, to) = (&pair.source_range, &pair.target_range);
                let (source, target) = (pair.source, pair.target);
                format!("{source}>{target} {}:{} {}:{}", from.start, from.end, to.start, to.end)
            })
            .collect();
        assert_eq!(text.join("; "), expected);
    };
    let four_to_three =
        "0>0 0:3 0:3; 1>0 0:1 3:4; 1>1 1:3 0:2; 2>1 0:1 2:3; 2>2 1:2 0:1; 3>2 0:2 1:3";
    check(10, 4, 3, four_to_three);
    let five_to_three = "0>0 0:4 0:4; 1>0 0:2 4:6; 1>1 2:4 0:2; 2>1 0:3 2:5; 3>1 0:1 5:6; \
                         3>2 1:3 0:2; 4>2 0:3 2:5";
    check(17, 5, 3, five_to_three);
    // The rows of 7x5, 4x1 to 2x2, and its columns.
    check(7, 4, 2, "0>0 0:2 0:2; 1>0 0:2 2:4; 2>1 0:2 0:2; 3>1 0:1 2:3");
    check(5, 1, 2, "0>0 0:3 0:3; 0>1 3:5 0:2");
    // Empty blocks share nothing.
    check(2, 3, 4, "0>0 0:1 0:1; 1>1 0:1 0:1");
}

#[test]
fn interpolation_tables() {
    use InterpolationMode::{Linear, LinearAligned, Nearest};
    let by = |mode, scale: f64| {
        Interpolation::by_scale(mode, 17, Ratio::nearest(scale).unwrap()).unwrap()
    };
    let to = |mode, size| Interpolation::to_size(mode, 17, size).unwrap();
    let twice = "0:4 3:8 6:11 10:15 13:17 | 0,0 1,0 2,0 1,1 1,0 | 0,1 0,2 0,1 0,1 1,0 | \
                 0:4 0:5 0:5 0:5 0:4";
    let cases = [
        (by(Linear, 2.0), 34, twice),
        (by(LinearAligned, 2.0), 34, twice),
        (
            by(Nearest, 2.0),
            34,
            "0:4 3:7 7:11 10:14 14:17 | 0,0 1,0 1,0 1,0 0,0 | 0,1 0,1 0,1 0,0 0,0 | \
             0:4 0:4 0:4 0:4 0:3",
        ),
        (
            by(Linear, 1.5),
            25,
            "0:4 3:7 6:11 9:14 13:17 | 0,0 1,0 2,0 2,0 1,0 | 0,1 0,2 0,2 0,1 0,0 | \
             0:4 0:4 0:5 0:5 0:4",
        ),
        (
            to(Linear, 24),
            24,
            "0:4 3:8 6:11 10:15 14:17 | 0,0 1,0 2,0 1,1 0,0 | 0,1 0,2 0,1 0,0 1,0 | \
             0:4 0:5 0:5 0:5 0:3",
        ),
        (
            to(LinearAligned, 24),
            24,
            "0:4 3:8 6:11 10:15 13:17 | 0,0 1,0 2,0 1,1 1,0 | 0,1 0,2 0,1 0,1 1,0 | \
             0:4 0:5 0:5 0:5 0:4",
        ),
        (
            by(Linear, 1.0),
            17,
            "0:5 4:9 8:12 11:15 14:17 | 0,1 0,1 0,1 0,1 0,0 | 0,0 1,0 1,0 1,0 1,0 | \
             0:5 0:5 0:4 0:4 0:3",
        ),
    ];
    for (layer, outputs, expected) in cases {
        let halo = AxisHalo::new(&layer, &Blocks::balanced(17, 5).unwrap()).unwrap();
        assert_eq!((layer.output(), halo.output().extent()), (outputs, outputs));
        let columns: Vec<Vec<&str>> =
            expected.split(" | ").map(|column| column.split(' ').collect()).collect();
        for (worker, row) in halo.iter().enumerate() {
            let at = format!("{layer:?} worker {worker}");
            assert_eq!(row.needed_global, range(columns[0][worker]), "{at}");
            assert_eq!(row.receive, pair(columns[1][worker], ','), "{at}");
            assert_eq!(row.send, pair(columns[2][worker], ','), "{at}");
            assert_eq!(row.needed, range(columns[3][worker]), "{at}");
        }
    }
}

#[test]
fn interpolation_needs_what_its_outputs_look_at() {
    for input in 1..14_usize {
        for output in 1..20_usize {
            for mode in [
                InterpolationMode::Nearest,
                InterpolationMode::Linear,
                InterpolationMode::LinearAligned,
            ] {
                let layer = Interpolation::to_size(mode, input, output).unwrap();
                let halo = AxisHalo::new(&layer, &Blocks::balanced(input, 3).unwrap()).unwrap();
                for row in halo.iter().filter(|row| !row.output.is_empty()) {
                    let cells = row.output.clone().flat_map(|j| looked_at(mode, input, output, j));
                    let (low, high) = cells.fold((usize::MAX, 0), |(low, high), cell| {
                        (low.min(cell), high.max(cell + 1))
                    });
                    assert_eq!(row.needed_global, low..high, "{layer:?} {:?}", row.output);
                }
            }
        }
    }
}

/// The cells output j looks at, found by trying every whole number below its position.
fn looked_at(mode: InterpolationMode, input: usize, output: usize, j: usize) -> Vec<usize> {
    // A cell k is at or below the position if this holds.
    let reached = |k: usize| match mode {
        InterpolationMode::Nearest => k * output <= input * j,
        InterpolationMode::LinearAligned => {
            k * (output - 1) <= (input - 1) * j && (output > 1 || k == 0)
        }
        // k <= (input / output) * (j + 1/2) - 1/2
        _ => k == 0 || (2 * k + 1) * output <= input * (2 * j + 1),
    };
    let low = (0..=input).take_while(|k| reached(*k)).last().unwrap();
    if mode == InterpolationMode::Nearest { vec![low] } else { vec![low, (low + 1).min(input - 1)] }
}

#[test]
fn ratios_mean_what_was_typed() {
    let check = |value: f64, expected: (u64, u64)| {
        let ratio = Ratio::nearest(value).unwrap();
        assert_eq!((ratio.numerator(), ratio.denominator()), expected);
    };
    check(1.5, (3, 2));
    check(0.1, (1, 10));
    check(0.7, (7, 10));
    check(1.0 / 3.0, (1, 3));
    check(2.0, (2, 1));
    check(1_048_576.0, (1_048_576, 1));
    check(1.0 / 1_048_576.0, (1, 1_048_576));
    let pi = Ratio::nearest(std::f64::consts::PI).unwrap();
    assert_eq!(pi.numerator() as f64 / pi.denominator() as f64, std::f64::consts::PI);
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-9, 1e9] {
        assert_eq!(Ratio::nearest(bad), Err(HaloError::BadScale));
    }
    assert_eq!(Ratio::new(0, 1), Err(HaloError::BadScale));
    let third = Ratio::new(1, 3).unwrap();
    let none = Interpolation::by_scale(InterpolationMode::Linear, 2, third);
    assert_eq!(none, Err(HaloError::BadScale));
    assert!(Interpolation::to_size(InterpolationMode::Linear, 0, 2).is_err());
    let layer = Interpolation::to_size(InterpolationMode::Linear, 4, 2).unwrap();
    assert_eq!(layer.output_extent(5), Err(HaloError::WrongExtent { got: 5, expected: 4 }));
}

#[test]
fn halos_wider_than_the_neighbour_are_told_and_supplied() {
    // C4: worker 1 needs two cells from its right, and its right neighbour has one.
    let (halo, _) = described("C4 B n=4 P=4 k=2 s=2 p=0 d=1 m=2");
    let wide = WideHalo { worker: 1, side: Side::Right, width: 2, available: 1 };
    assert_eq!(halo.wide_halos(), [wide]);
    let senders = halo.senders(1);
    let right: Vec<_> = senders.right.iter().map(|s| (s.worker, s.range.clone())).collect();
    assert_eq!((senders.left.len(), right), (0, vec![(2, 2..3), (3, 3..4)]));
    // Workers without outputs ask for nothing.
    assert_eq!((halo.senders(2), halo.senders(3)), Default::default());
    assert_eq!(halo.worker(2).unwrap().needed_global, 4..4);
    // C3: 8 cells on 4 workers, kernel 7 with padding 3.
    let (halo, _) = described("C3 B n=8 P=4 k=7 s=1 p=3 d=1 m=8");
    let workers: Vec<_> = halo.wide_halos().iter().map(|wide| (wide.worker, wide.side)).collect();
    let expected = [(0, Side::Right), (1, Side::Right), (2, Side::Left), (3, Side::Left)];
    assert_eq!(workers, expected);
    let layer = LayerHalo::from_axes(vec![halo]);
    let error = layer.slabs(&[1]).unwrap_err();
    let expected =
        HaloError::HaloSpansNeighbour { axis: 0, side: Side::Left, width: 3, available: 2 };
    assert_eq!(error, expected);
}

#[test]
fn windows_that_cannot_be_are_refused() {
    assert_eq!(Window::new(0, 1, 0, 1), Err(HaloError::Zero { what: "kernel" }));
    assert_eq!(Window::new(1, 0, 0, 1), Err(HaloError::Zero { what: "stride" }));
    assert_eq!(Window::new(1, 1, 0, 0), Err(HaloError::Zero { what: "dilation" }));
    assert!(matches!(Window::new(2, 1, usize::MAX, 1), Err(HaloError::TooLarge { .. })));
    assert!(matches!(Window::new(1 << 30, 1, 0, 1 << 30), Err(HaloError::TooLarge { .. })));
    let window = Window::new(5, 1, 1, 1).unwrap();
    assert_eq!(window.output_extent(3), Ok(1));
    let narrow = Blocks::balanced(2, 2).unwrap();
    let error = HaloError::KernelTooWide { span: 5, padded: 4 };
    assert_eq!(AxisHalo::new(&window, &narrow), Err(error.clone()));
    assert_eq!(AxisHalo::with_boundary_padding(&window, &narrow), Err(error));
    let long = WindowParameters { kernel: vec![3; 3], ..WindowParameters::default() };
    assert!(matches!(long.windows(2), Err(HaloError::TooManyEntries { what: "kernel", .. })));
    assert!(LayerHalo::balanced_blocks(&[4, 4], &[2]).is_err());
}

#[test]
fn short_lists_are_extended_on_the_left() {
    let parameters = WindowParameters {
        kernel: vec![5, 4, 3],
        stride: vec![2],
        padding: vec![1, 2],
        dilation: vec![],
    };
    let windows = parameters.windows(5).unwrap();
    let expected = [(1, 1, 0, 1), (1, 1, 0, 1), (5, 1, 0, 1), (4, 1, 1, 1), (3, 2, 2, 1)];
    let expected: Vec<Window> =
        expected.iter().map(|(k, s, p, d)| Window::new(*k, *s, *p, *d).unwrap()).collect();
    assert_eq!(windows, expected);
    assert_eq!(windows[0], Window::identity());
}

#[test]
fn custom_layers_are_two_functions() {
    let input = Blocks::balanced(10, 3).unwrap();
    let centred = CustomLayer::new(10, 10, |i| i - 1, |i| i + 1).unwrap();
    let custom = AxisHalo::new(&centred, &input).unwrap();
    let window = AxisHalo::new(&Window::new(3, 1, 1, 1).unwrap(), &input).unwrap();
    assert_eq!(custom, window);
    let absurd = CustomLayer::new(10, 10, |_| i64::MIN, |_| i64::MAX).unwrap();
    let all = AxisHalo::new(&absurd, &input).unwrap();
    assert!(all.iter().all(|row| row.needed_global == (0..10)));
    assert!(CustomLayer::new(10, 0, |i| i, |i| i).is_err());
}

fn layer(
    shape: &[usize],
    partition: &[usize],
    parameters: &WindowParameters,
    pad: bool,
) -> LayerHalo {
    let blocks = LayerHalo::balanced_blocks(shape, partition).unwrap();
    if pad {
        LayerHalo::with_boundary_padding(parameters, &blocks).unwrap()
    } else {
        LayerHalo::new(parameters, &blocks).unwrap()
    }
}

#[test]
fn workers_are_asked_for_by_index() {
    let parameters = WindowParameters { kernel: vec![3], ..WindowParameters::default() };
    let halo = layer(&[4, 10], &[1, 2], &parameters, false);
    assert_eq!(halo.needed_global(&[0, 1]).unwrap(), [0..4, 4..10]);
    let outside = HaloError::WorkerOutOfRange { worker: 2, workers: 2 };
    assert_eq!(halo.worker(&[0, 2]), Err(outside.clone()));
    assert_eq!(outside.to_string(), "got worker 2, expected one below 2");
    let short = HaloError::WrongLength { what: "worker index", got: 1, ndim: 2 };
    assert_eq!(halo.slabs(&[0]), Err(short));
    assert_eq!(halo.axes()[1].worker(2), None);
    let million = Blocks::balanced(1 << 40, 1_000_000).unwrap();
    assert_eq!(million.covering((1 << 39)..(1 << 39) + 1).count(), 1);
}

fn slabs_text(step: &AxisStep) -> String {
    let mut parts = Vec::new();
    let named: [(&str, &Option<LocalBox>); 4] = [
        ("sendL", &step.send_left),
        ("recvL", &step.receive_left),
        ("sendR", &step.send_right),
        ("recvR", &step.receive_right),
    ];
    for (name, slab) in named {
        if let Some(slab) = slab {
            let ranges: Vec<String> =
                slab.iter().map(|range| format!("[{},{})", range.start, range.end)).collect();
            parts.push(format!("{name} ({})", ranges.join(",")));
        }
    }
    parts.join(" ")
}

#[test]
fn slabs_of_10x7_on_3x3() {
    let parameters = WindowParameters { kernel: vec![3, 3], ..WindowParameters::default() };
    let halo = layer(&[10, 7], &[3, 3], &parameters, false);
    assert_eq!(halo.output_shape(), [8, 5]);
    let expected = include_str!("data/slabs_10x7_on_3x3.txt");
    for line in expected.lines() {
        check_slabs(&halo, line);
    }
}

#[test]
fn slabs_of_10x10_on_2x2() {
    let parameters = WindowParameters {
        kernel: vec![5, 5],
        stride: vec![2, 2],
        padding: vec![2, 2],
        dilation: vec![],
    };
    let halo = layer(&[10, 10], &[2, 2], &parameters, true);
    let expected = include_str!("data/slabs_10x10_on_2x2.txt");
    for line in expected.lines() {
        check_slabs(&halo, line);
    }
}

fn check_slabs(halo: &LayerHalo, line: &str) {
    let fields: Vec<&str> = line.split('|').map(str::trim).collect();
    let index: (usize, usize) = pair(fields[0].trim_matches(['(', ')']), ',');
    let rows = halo.worker(&[index.0, index.1]).unwrap();
    let padded: (usize, usize) = pair(fields[1], 'x');
    assert_eq!((rows[0].exchange_length, rows[1].exchange_length), padded, "{line}");
    let steps = halo.slabs(&[index.0, index.1]).unwrap();
    assert_eq!(slabs_text(&steps[0]), fields[2], "{line}");
    assert_eq!(slabs_text(&steps[1]), fields[3], "{line}");
}

#[test]
fn slabs_of_one_wide_axis() {
    // 120 local rows with halos 2 and 3.
    let axis = SlabAxis { extent: 120, receive: (2, 3), send: (3, 2) };
    let step = exchange_slabs(&[axis]).unwrap().remove(0);
    let text = "sendL ([2,5)) recvL ([0,2)) sendR ([115,117)) recvR ([117,120))";
    assert_eq!(slabs_text(&step), text);
    let full = SlabAxis { extent: 3, receive: (2, 2), send: (0, 0) };
    assert!(exchange_slabs(&[full]).is_err());
}
