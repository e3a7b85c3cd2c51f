//! The index functions of the dist dialect against enumeration of index sets, and whole statements
//! against their sequential meaning.

use std::ops::Range;

use pantile_geometry::slices::{
    Delivery, HaloSide, PartRows, Parts, RowParts, Slice, bounding_box, default_bounds,
    default_rows, grid_halo_plan, halo_plan, inner_box, local_core, local_target, overlap,
    parts_by_sign, repartition, requests_of_radius, segments, segments_nd, sharded_offsets,
    subview,
};
use pantile_testkit::{Rng, numbers};

fn range(rng: &mut Rng) -> Range<usize> {
    let start = rng.below(14);
    start..start + rng.below(9)
}

fn slice(rng: &mut Rng) -> (Slice, Vec<usize>) {
    let (offset, size, stride) = (rng.below(10), rng.below(7), 1 + rng.below(4));
    let elements = (0..size).map(|k| offset + k * stride).collect();
    (Slice::new(offset, size, stride).unwrap(), elements)
}

#[test]
fn overlaps_count_elements() {
    for seed in numbers(20_000) {
        let mut rng = Rng::law(seed);
        let (block, (slice, elements)) = (range(&mut rng), slice(&mut rng));
        let got = overlap(&block, &slice).unwrap();
        let inside = elements.iter().filter(|index| block.contains(index)).count();
        let before = elements.iter().filter(|index| **index < block.start).count();
        assert_eq!((got.count, got.skip), (inside, before), "seed {seed}");
        if let Some(first) = elements.iter().find(|index| block.contains(index)) {
            assert_eq!(got.first, *first, "seed {seed}");
        }
    }
}

#[test]
fn boxes_are_hulls_and_cores_are_sets() {
    for seed in numbers(20_000) {
        let mut rng = Rng::law(seed);
        let (slice, elements) = slice(&mut rng);
        let (target, previous, owned) = (range(&mut rng), range(&mut rng), range(&mut rng));
        let read = |position: usize| elements.get(position).copied();
        let needed: Vec<usize> = target.clone().filter_map(read).collect();
        let hull = |all: &mut dyn Iterator<Item = usize>| {
            let all: Vec<usize> = all.collect();
            all.iter().min().map(|low| *low..all.iter().max().unwrap() + 1)
        };
        let got = bounding_box(&slice, &target, Some(&previous)).unwrap();
        let expected = hull(&mut needed.iter().copied().chain(previous.clone()));
        assert_eq!((!got.is_empty()).then_some(got), expected, "seed {seed}");
        if !target.is_empty() {
            let got = inner_box(&slice, &target, Some(&previous)).unwrap();
            let common = hull(&mut needed.iter().copied()).unwrap_or(0..0);
            let expected = hull(&mut common.filter(|index| previous.contains(index)));
            assert_eq!((!got.is_empty()).then_some(got), expected, "seed {seed}");
        }
        let rows = target.len();
        let start = rng.below(rows + 1);
        let earlier = start..start + rng.below(rows - start + 1);
        let got = local_core(&owned, &target, &slice, Some(&earlier)).unwrap();
        let expected: Vec<usize> = earlier
            .filter(|row| read(target.start + row).is_some_and(|index| owned.contains(&index)))
            .collect();
        assert!(got.end <= rows, "seed {seed}");
        assert_eq!(got.collect::<Vec<_>>(), expected, "seed {seed}");
    }
}

#[test]
fn repartitions_divide_the_request() {
    for seed in numbers(20_000) {
        let mut rng = Rng::law(seed);
        let (owned, request) = (range(&mut rng), range(&mut rng));
        let got = repartition(&owned, &request).unwrap();
        let common = request.clone().filter(|row| owned.contains(row)).count();
        assert_eq!(got.view.len(), common, "seed {seed}");
        assert_eq!(got.left + common + got.right, request.len(), "seed {seed}");
        assert!(got.view.end <= owned.len(), "seed {seed}");
        let lower = request.clone().filter(|row| *row < owned.start).count();
        assert_eq!(got.left, lower, "seed {seed}");
        if common > 0 {
            assert_eq!(got.view.start + owned.start, request.start + got.left, "seed {seed}");
        }
    }
}

#[test]
fn targets_tile_the_slice() {
    for seed in numbers(5000) {
        let mut rng = Rng::law(seed);
        let (extent, members) = (30 + rng.below(40), 1 + rng.below(9));
        let (slice, elements) = slice(&mut rng);
        let bounds = default_bounds(extent, members).unwrap();
        let offsets = sharded_offsets(&bounds, &slice).unwrap();
        let mut position = 0;
        for member in 0..members {
            let owned = default_rows(extent, members, member).unwrap();
            assert_eq!(owned, bounds[member]..bounds[member + 1], "seed {seed}");
            let target = local_target(&owned, &slice).unwrap();
            assert_eq!(target.start, position, "seed {seed}");
            assert!(target.clone().all(|at| owned.contains(&elements[at])), "seed {seed}");
            position = target.end;
            assert_eq!(offsets[member + 1], position, "seed {seed}");
        }
        assert_eq!(position, elements.len(), "seed {seed}");
    }
}

/// One member of a simulated run: what it owns and what it stores after the exchange.
struct Member {
    target: Range<usize>,
    core: Range<usize>,
    parts: Parts,
    /// Left halo, owned view, right halo.
    stored: [Vec<i64>; 3],
}

/// The rows of one view of a member, part by part.
fn shown(member: &Member, view: &Slice) -> [Vec<i64>; 3] {
    let got = subview(&member.parts, view, Some(&member.target)).unwrap();
    assert_eq!(got.offset, member.target.start);
    let mut rows: [Vec<i64>; 3] = Default::default();
    for ((rows, part), stored) in rows.iter_mut().zip(got.parts).zip(&member.stored) {
        assert!(part.offset <= stored.len());
        *rows = (0..part.count).map(|k| stored[part.offset + k * view.stride()]).collect();
    }
    rows
}

fn fetched(plan: &[Delivery], member: usize, side: HaloSide, base: &[i64]) -> Vec<i64> {
    let mine = plan.iter().filter(|delivery| delivery.target == member && delivery.side == side);
    mine.flat_map(|delivery| base[delivery.rows.clone()].to_vec()).collect()
}

#[test]
fn statements_mean_what_they_mean_sequentially() {
    for seed in numbers(6000) {
        let mut rng = Rng::law(seed);
        let (extent, members) = (12 + rng.below(20), 1 + rng.below(6));
        let base: Vec<i64> = (0..extent).map(|_| rng.below(1000) as i64).collect();
        let size = rng.below(8);
        let any = |rng: &mut Rng| {
            let widest = if size > 1 { (extent - 1) / (size - 1) } else { 3 };
            let stride = 1 + rng.below(widest.min(3));
            let reach = size.saturating_sub(1) * stride + 1;
            Slice::new(rng.below(extent - reach + 1), size, stride).unwrap()
        };
        let (into, views) = (any(&mut rng), [any(&mut rng), any(&mut rng)]);
        let at = |slice: &Slice, k: usize| slice.offset() + k * slice.stride();
        let mut expected = base.clone();
        for k in 0..size {
            expected[at(&into, k)] = base[at(&views[0], k)] * 7 + base[at(&views[1], k)];
        }
        let owned: Vec<_> =
            (0..members).map(|member| default_rows(extent, members, member).unwrap()).collect();
        let targets: Vec<_> = owned.iter().map(|rows| local_target(rows, &into).unwrap()).collect();
        let boxes: Vec<_> = targets
            .iter()
            .map(|target| {
                let first = bounding_box(&views[0], target, None).unwrap();
                bounding_box(&views[1], target, Some(&first)).unwrap()
            })
            .collect();
        let plan = halo_plan(&owned, &boxes).unwrap();
        let mut result = base.clone();
        for rank in 0..members {
            let division = repartition(&owned[rank], &boxes[rank]).unwrap();
            let left = fetched(&plan, rank, HaloSide::Left, &base);
            let right = fetched(&plan, rank, HaloSide::Right, &base);
            assert_eq!((left.len(), right.len()), (division.left, division.right), "seed {seed}");
            let view = &base[owned[rank].clone()][division.view.clone()];
            let parts = Parts {
                offset: boxes[rank].start,
                left: left.len(),
                owned: view.len(),
                right: right.len(),
            };
            let target = targets[rank].clone();
            let core = local_core(&owned[rank], &target, &views[0], None).unwrap();
            let core = local_core(&owned[rank], &target, &views[1], Some(&core)).unwrap();
            let stored = [left, view.to_vec(), right];
            let member = Member { target, core, parts, stored };
            run_member(&member, &views, |row, value| {
                result[at(&into, member.target.start + row)] = value;
            });
        }
        assert_eq!(result, expected, "seed {seed}");
    }
}

/// Computes `7 * first view + second view` row by row in segments.
fn run_member(member: &Member, views: &[Slice; 2], mut write: impl FnMut(usize, i64)) {
    let rows = [shown(member, &views[0]), shown(member, &views[1])];
    let sizes = |rows: &[Vec<i64>; 3]| RowParts::Parts([0, 1, 2].map(|part| rows[part].len()));
    let loops = segments(&sizes(&rows[0]), &sizes(&rows[1]), Some(&member.core)).unwrap();
    let mut written = vec![false; member.target.len()];
    let mut left_core = false;
    for one in loops {
        let inside = member.core.start <= one.rows.start && one.rows.end <= member.core.end;
        assert!(!(inside && left_core), "the core comes first");
        left_core |= !inside;
        let (left, right) = (one.left.unwrap(), one.right.unwrap());
        if inside {
            assert_eq!((left.part, right.part), (1, 1), "the core reads owned rows only");
        }
        let read = |rows: &[Vec<i64>; 3], from: PartRows, k| rows[from.part][from.start + k];
        for (k, row) in one.rows.enumerate() {
            assert!(!std::mem::replace(&mut written[row], true), "row {row} written twice");
            write(row, 7 * read(&rows[0], left, k) + read(&rows[1], right, k));
        }
    }
    assert!(written.iter().all(|written| *written), "every row is written");
}

#[test]
fn grid_deliveries_and_own_parts_fill_every_request() {
    for seed in numbers(2000) {
        let mut rng = Rng::law(seed);
        let grid = [1 + rng.below(3), 1 + rng.below(4)];
        let shape = [rng.below(9), rng.below(9)];
        let radius = [rng.below(4), rng.below(4)];
        let cut = |axis: usize| -> Vec<Range<usize>> {
            (0..grid[axis]).map(|c| default_rows(shape[axis], grid[axis], c).unwrap()).collect()
        };
        let owned = [cut(0), cut(1)];
        let requests = requests_of_radius(&owned, &radius).unwrap();
        let plan = grid_halo_plan(&owned, &requests).unwrap();
        for (member, request) in requests.iter().enumerate() {
            let own = [owned[0][member / grid[1]].clone(), owned[1][member % grid[1]].clone()];
            let parts = parts_by_sign(&own, request).unwrap();
            for row in request[0].clone() {
                for column in request[1].clone() {
                    let has = |region: &[Range<usize>]| {
                        region[0].contains(&row) && region[1].contains(&column)
                    };
                    let part: Vec<_> = parts.iter().filter(|part| has(&part.region)).collect();
                    assert_eq!(part.len(), 1, "seed {seed}");
                    let from: Vec<_> =
                        plan.iter().filter(|d| d.target == member && has(&d.region)).collect();
                    assert_eq!(from.len(), usize::from(!has(&own)), "seed {seed}");
                    if let Some(delivery) = from.first() {
                        assert_eq!(delivery.sign, part[0].sign, "seed {seed}");
                        let (x, y) = (delivery.source / grid[1], delivery.source % grid[1]);
                        assert!(owned[0][x].contains(&row) && owned[1][y].contains(&column));
                    }
                }
            }
        }
    }
}

#[test]
fn segments_of_boxes_cover_every_cell_core_first() {
    for seed in numbers(2000) {
        let mut rng = Rng::law(seed);
        let total = [rng.below(7), rng.below(7)];
        let operand = |rng: &mut Rng| {
            total.map(|total| {
                let left = rng.below(total + 1);
                let owned = rng.below(total - left + 1);
                RowParts::Parts([left, owned, total - left - owned])
            })
        };
        let (left, right) = (operand(&mut rng), operand(&mut rng));
        let core = total.map(|total| {
            let start = rng.below(total + 1);
            start..start + rng.below(total - start + 1)
        });
        let boxes = segments_nd(&left, &right, Some(&core)).unwrap();
        let mut seen = vec![vec![0; total[1]]; total[0]];
        let mut outside = false;
        for region in &boxes {
            let inside =
                region.iter().zip(&core).all(|(r, c)| c.start <= r.start && r.end <= c.end);
            assert!(!(inside && outside), "seed {seed}");
            outside |= !inside;
            for row in region[0].clone() {
                for column in region[1].clone() {
                    seen[row][column] += 1;
                    let in_core = core[0].contains(&row) && core[1].contains(&column);
                    assert_eq!(in_core, inside, "seed {seed}");
                }
            }
        }
        assert!(seen.iter().flatten().all(|count| *count == 1), "seed {seed}");
    }
}
