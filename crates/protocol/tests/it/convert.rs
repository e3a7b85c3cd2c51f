//! Distributions from descriptions and back, and the movements that the vectors state.

use crate::common::arrays::valid_array;
use crate::common::*;
use pantile_geometry::grid::auto_grid;
use pantile_geometry::{Axis, Cuts, Distribution, Mesh, Operator};
use pantile_plan::Plan;
use pantile_protocol::convert::{
    Imported, export, export_partitioned, from_letters, import, import_partitioned,
};
use pantile_protocol::{Dim, DimKind, Error, check};
use pantile_testkit::{Rng, cases, enough};
use pantile_text::json::Value;
use std::collections::BTreeMap;

fn size(number: i64) -> usize {
    usize::try_from(number).unwrap()
}

fn number(size: usize) -> i64 {
    i64::try_from(size).unwrap()
}

/// Row-major indices of an array.
fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for extent in shape {
        all = all
            .iter()
            .flat_map(|index: &Vec<usize>| {
                (0..*extent).map(move |at| [index.as_slice(), &[at]].concat())
            })
            .collect();
    }
    all
}

/// The outer left width of a periodic axis, which lies before element 0.
fn shift(dim: &Dim, first: &Dim) -> i64 {
    match (dim.kind(), first.as_block()) {
        (DimKind::Block(block), Some(first)) if block.periodic => first.padding.0,
        _ => 0,
    }
}

/// The label that the description gives to a place of a distribution's axis.
fn label(imported: &Imported, axis: usize, index: usize, lift: i64) -> i64 {
    let map = &imported.distribution.axes().unwrap()[axis];
    match map.shown_labels() {
        Some(labels) => labels[index],
        None => number(index) + lift * number(map.length()),
    }
}

#[test]
fn array_vectors_round_trip() {
    for vector in category("vectors") {
        let id = text(&vector, "id");
        let sections = sections(&vector);
        let imported = import(&sections).unwrap();
        for distribution in [&imported.distribution, &imported.exchanged] {
            let exported = export(distribution, &imported.extras).unwrap();
            assert_eq!(exported.ranks(), sections.len(), "{id}");
            for (rank, section) in sections.iter().enumerate() {
                assert_eq!(exported.dims(rank), dims(section), "{id}");
                assert_eq!(exported.world_rank(rank), rank, "{id}");
            }
            let text = distribution.to_string();
            assert_eq!(&text.parse::<Distribution>().unwrap(), distribution, "{id}: {text}");
        }
    }
}

#[test]
fn local_places_are_those_of_the_description() {
    for vector in category("vectors") {
        let id = text(&vector, "id");
        let sections = sections(&vector);
        let imported = import(&sections).unwrap();
        let first = dims(&sections[0]);
        for (rank, (section, case)) in sections.iter().zip(array(&vector, "ranks")).enumerate() {
            let dims = dims(section);
            let shape: Vec<usize> = numbers(case, "local_shape").into_iter().map(size).collect();
            let array = &imported.distribution;
            assert_eq!(array.local_shape(rank), Some(shape.clone()), "{id}");
            let globals: Vec<Vec<i64>> = array_of_arrays(case, "global_indices_per_dim");
            for local in indices(&shape) {
                let (index, lifts) = array.global(rank, &local).unwrap();
                for axis in 0..shape.len() {
                    let own = label(&imported, axis, index[axis], lifts[axis]);
                    let stated = globals[axis][local[axis]];
                    assert_eq!(own + shift(&dims[axis], &first[axis]), stated, "{id}");
                }
                assert_eq!(array.local(rank, &lifts, &index), Some(local), "{id}");
            }
            check_held(id, &imported, rank, &dims);
        }
        check_owners(id, &vector, &imported, &first);
    }
}

fn array_of_arrays(value: &Value, key: &str) -> Vec<Vec<i64>> {
    array(value, key).iter().map(|list| list.as_i64_array().unwrap()).collect()
}

/// Before an exchange a rank holds what it owns and no more, without the mirrors.
fn check_held(id: &str, imported: &Imported, rank: usize, dims: &[Dim]) {
    let held: usize =
        imported.distribution.held(rank).iter().map(|(_, region)| region.size()).sum();
    let owned = dims.iter().map(|dim| match (dim.as_block(), dim.interior()) {
        (Some(block), Some(interior)) if block.periodic => interior.end - interior.start,
        _ => dim.num_owned(),
    });
    assert_eq!(number(held), owned.product::<i64>(), "{id} rank {rank}");
    let all: usize = imported.exchanged.held(rank).iter().map(|(_, region)| region.size()).sum();
    assert_eq!(number(all), dims.iter().map(Dim::extent).product::<i64>(), "{id} rank {rank}");
}

fn check_owners(id: &str, vector: &Value, imported: &Imported, first: &[Dim]) {
    let Some(owners) = vector.get("owner_rank_flat").and_then(Value::as_i64_array) else { return };
    let shape: Vec<usize> = numbers(vector, "global_shape").into_iter().map(size).collect();
    for (index, owner) in indices(&shape).iter().zip(owners) {
        let real: Option<Vec<usize>> = index
            .iter()
            .zip(first)
            .zip(imported.distribution.shape())
            .map(|((at, dim), length)| {
                let real = number(*at) - shift(dim, dim);
                usize::try_from(real).ok().filter(|real| real < length)
            })
            .collect();
        if let Some(index) = real {
            let found = imported.distribution.owner(&index).unwrap();
            assert_eq!(found.rank, size(owner), "{id} {index:?}");
        }
    }
}

/// The contents of all ranks after a plan, starting from contents before it.
fn run(plan: &Plan, before: &BTreeMap<usize, Vec<i64>>) -> BTreeMap<usize, Vec<i64>> {
    let mut contents = before.clone();
    for step in plan.steps() {
        let mut next: BTreeMap<usize, Vec<i64>> = step
            .target
            .mesh()
            .ranks()
            .map(|rank| (rank, vec![-1; step.target.local_shape(rank).unwrap().iter().product()]))
            .collect();
        let place = |array: &Distribution, rank, lifts: &pantile_plan::Lifts, index: &[usize]| {
            let lifts: Vec<i64> = (0..array.ndim()).map(|axis| lifts.along(axis)).collect();
            let local = array.local(rank, &lifts, index).unwrap();
            let shape = array.local_shape(rank).unwrap();
            local.iter().zip(&shape).fold(0, |at, (i, n)| at * n + i)
        };
        for transfer in step.transfers() {
            for index in transfer.region.cells() {
                let from = place(&step.source, transfer.from, &transfer.source_lifts, &index);
                let to = place(&step.target, transfer.to, &transfer.target_lifts, &index);
                next.get_mut(&transfer.to).unwrap()[to] = contents[&transfer.from][from];
            }
        }
        contents = next;
    }
    contents
}

/// What every rank holds if the element at a global index is its row-major number; -1 elsewhere.
fn numbered(array: &Distribution) -> BTreeMap<usize, Vec<i64>> {
    let mut contents = BTreeMap::new();
    for rank in array.mesh().ranks() {
        let shape = array.local_shape(rank).unwrap();
        let mut local = vec![-1; shape.iter().product()];
        for (lifts, region) in array.held(rank) {
            for index in region.cells() {
                let at = array.local(rank, &lifts, &index).unwrap();
                let at = at.iter().zip(&shape).fold(0, |at, (i, n)| at * n + i);
                local[at] = index
                    .iter()
                    .zip(array.shape())
                    .fold(0, |at, (i, n)| at * number(*n) + number(*i));
            }
        }
        contents.insert(rank, local);
    }
    contents
}

fn side(case: &Value, key: &str) -> Imported {
    import(&sections(case.get(key).unwrap())).unwrap()
}

#[test]
fn redistributions() {
    for case in category("redistribution_cases") {
        let id = text(&case, "id");
        let (source, target) = (side(&case, "source"), side(&case, "dest"));
        let plan = Plan::between(&source.distribution, &target.distribution).unwrap();
        let stated = array_of_arrays(&case, "elements_moved_matrix");
        let matrix = plan.matrix();
        for (from, row) in stated.iter().enumerate() {
            for (to, count) in row.iter().enumerate() {
                let own = matrix.get(&(from, to)).copied().unwrap_or(0);
                assert_eq!(number(own), *count, "{id} {from} -> {to}");
            }
        }
        let total: i64 = stated.iter().flatten().sum();
        assert_eq!(number(matrix.values().sum()), total, "{id}");
        let stay: usize = matrix.iter().filter(|((a, b), _)| a == b).map(|(_, n)| n).sum();
        assert_eq!(case.get("elements_that_stay").unwrap().as_i64(), Some(number(stay)), "{id}");
        let path = [source.distribution.clone(), target.distribution, target.exchanged];
        let after = run(&Plan::via(&path).unwrap(), &numbered(&path[0]));
        let expected = array(case.get("dest").unwrap(), "local_per_rank");
        for (rank, local) in expected.iter().enumerate() {
            assert_eq!(after[&rank], flat(local), "{id} rank {rank}");
        }
    }
}

/// An array in blocks with these cuts per axis, and halos of these widths as room.
fn halos(cuts: &[&[usize]], widths: &[i64]) -> Imported {
    let names = ["d0", "d1"];
    let grid: Vec<(&str, usize)> =
        names.into_iter().zip(cuts.iter().map(|own| own.len() - 1)).collect();
    let axes = names.iter().zip(cuts).zip(widths).map(|((name, own), width)| {
        Axis::cut(&[name], Cuts::At((*own).into())).room_halo(*width, *width)
    });
    let shape: Vec<usize> = cuts.iter().map(|own| own[own.len() - 1]).collect();
    let array = Distribution::new(&shape, Mesh::new(&grid).unwrap(), axes.collect()).unwrap();
    let exported = export(&array, &[]).unwrap();
    let sections: Vec<_> = (0..exported.ranks()).map(|rank| exported.section(rank, None)).collect();
    import(&sections).unwrap()
}

#[test]
fn halo_exchanges() {
    let vectors = category("vectors");
    let mut ran = 0;
    for case in category("halo_cases") {
        let id = text(&case, "id");
        let vector = vectors.iter().find(|v| text(v, "id") == text(&case, "vector"));
        let imported = match (vector, text(&case, "vector")) {
            (Some(vector), _) => import(&sections(vector)).unwrap(),
            // Two arrays that the vectors name but do not list.
            (None, "G12") => halos(&[&[0, 4, 6, 9], &[0, 6, 10]], &[1, 2]),
            (None, "G42") => halos(&[&[0, 1, 2, 3, 4, 5]], &[1]),
            (None, _) => continue,
        };
        ran += 1;
        let contents = |key: &str| -> BTreeMap<usize, Vec<i64>> {
            array(&case, key).iter().map(flat).enumerate().collect()
        };
        let plan = Plan::between(&imported.distribution, &imported.exchanged).unwrap();
        let after = run(&plan, &contents("before_per_rank"));
        assert_eq!(after, contents("after_per_rank"), "{id}");
    }
    assert!(ran > 0);
}

/// The numbers of a rank's elements as maximal intervals.
fn intervals(array: &Distribution, rank: usize) -> Vec<Vec<i64>> {
    let mut own: Vec<i64> = numbered(array)[&rank].clone();
    own.sort_unstable();
    let mut found: Vec<Vec<i64>> = Vec::new();
    for at in own {
        match found.last_mut() {
            Some(last) if last[1] == at => last[1] += 1,
            _ => found.push(vec![at, at + 1]),
        }
    }
    found
}

#[test]
fn flat_intervals() {
    for case in category("flat_interval_cases") {
        let list =
            |key: &str| -> Vec<usize> { numbers(&case, key).into_iter().map(size).collect() };
        let letters = texts(&case, "dist").concat();
        let array = from_letters(&list("global_shape"), &list("grid_shape"), &letters).unwrap();
        for (rank, stated) in
            crate::common::array(&case, "flat_intervals_per_rank").iter().enumerate()
        {
            let stated: Vec<Vec<i64>> =
                stated.as_array().unwrap().iter().map(|i| i.as_i64_array().unwrap()).collect();
            assert_eq!(intervals(&array, rank), stated, "{} rank {rank}", text(&case, "id"));
        }
    }
}

#[test]
fn slices() {
    for case in category("slice_cases") {
        let id = text(&case, "id");
        let get = |key: &str| case.get(key).unwrap().as_usize().unwrap();
        let array = from_letters(&[get("size")], &[get("ranks")], "b").unwrap();
        for (rank, bounds) in array_of_arrays(&case, "source_bounds").iter().enumerate() {
            let own = array.owned(rank).unwrap()[0];
            assert_eq!(vec![number(own.0), number(own.1)], *bounds, "{id}");
        }
        let selected = numbers(&case, "selected_global");
        let step = crate::common::array(&case, "slice")[2].as_i64().unwrap_or(1);
        let offset = selected.first().copied().unwrap_or(0);
        let slice = array.slice(0, offset, step, selected.len()).unwrap();
        let counts: Vec<i64> =
            (0..get("ranks")).map(|r| number(slice.local_shape(r).unwrap()[0])).collect();
        assert_eq!(counts, numbers(&case, "counts_all_ranks"), "{id}");
        let exported = export(&slice, &[]).unwrap();
        let bounds: Vec<Vec<i64>> = (0..exported.ranks())
            .filter_map(|rank| exported.dims(rank)[0].owned())
            .filter(|owned| !owned.is_empty())
            .map(|owned| vec![owned.start, owned.end])
            .collect();
        assert_eq!(bounds, array_of_arrays(&case, "new_bounds_kept"), "{id}");
    }
}

#[test]
fn automatic_grids() {
    for case in category("auto_grid_cases") {
        let id = text(&case, "id");
        let shape: Vec<usize> = numbers(&case, "shape").into_iter().map(size).collect();
        let letters = text(&case, "dist");
        let cut: Vec<bool> = letters.chars().map(|letter| letter != 'n').collect();
        let ranks = case.get("processes").unwrap().as_usize().unwrap();
        let grid = auto_grid(&shape, &cut, ranks).unwrap();
        let stated: Vec<usize> = numbers(&case, "grid").into_iter().map(size).collect();
        assert_eq!(grid, stated, "{id}");
        assert!(from_letters(&shape, &grid, letters).is_ok(), "{id}");
    }
}

#[test]
fn partitions_of_distributions() {
    for case in category("partitioned_cases") {
        let (stated, findings, _) = pantile_protocol::partitioned::read(&case);
        assert_eq!(findings, []);
        let stated = stated.unwrap();
        let array = import_partitioned(&stated).unwrap();
        assert_eq!(export_partitioned(&array).unwrap(), stated, "{}", text(&case, "id"));
        if let Some(id) = case.get("vector").and_then(Value::as_str) {
            let vectors = category("vectors");
            let vector = vectors.iter().find(|vector| text(vector, "id") == id).unwrap();
            let imported = import(&sections(vector)).unwrap();
            assert_eq!(export_partitioned(&imported.exchanged).unwrap(), stated, "{id}");
        }
    }
}

#[test]
fn sizes_beyond_index_arithmetic_are_refused() {
    let huge = pantile_protocol::Section::from_dims(&[Dim::whole(i64::MAX)], None);
    assert!(matches!(import(&[huge]), Err(Error::Geometry(_))));
    assert!(from_letters(&[4], &[2], "x").is_err());
    assert!(from_letters(&[4], &[2], "n").is_err());
    assert!(from_letters(&[4], &[], "b").is_err());
}

fn reason(error: Error) -> String {
    error.to_string()
}

#[test]
fn what_cannot_be_said_is_refused_by_axis() {
    let fails = |text: &str, message: &str| {
        let array: Distribution = text.parse().unwrap();
        assert_eq!(reason(export(&array, &[]).unwrap_err()), message, "{text}");
    };
    let prefix = "the protocol cannot say this";
    fails("8x4 on x=2, y=2: block(x), whole", &format!("{prefix}: copies along the mesh axis `y`"));
    let mesh = Mesh::line(4).unwrap();
    let lopsided = Axis::block(&["r"]).halo(1, 0);
    let array = Distribution::new(&[8], mesh.clone(), vec![lopsided]).unwrap();
    assert_eq!(
        reason(export(&array, &[]).unwrap_err()),
        format!(
            "axis 0: {prefix}: PADDING_COUNTERPART: left padding is 1, but the right padding of \
             rank 0 is 0"
        )
    );
    let wide = Axis::cut(&["r"], Cuts::At([0, 5, 6, 9, 14].into())).halo(2, 2);
    let array = Distribution::new(&[14], mesh.clone(), vec![wide]).unwrap();
    assert!(reason(export(&array, &[]).unwrap_err()).contains("PADDING_EXCEEDS_NEIGHBOUR"));
    let window = Axis::block(&["r"]).halo(-1, 0);
    let array = Distribution::new(&[8], mesh.clone(), vec![window]).unwrap();
    assert!(reason(export(&array, &[]).unwrap_err()).contains("does not hold all it owns"));
    let copies = Distribution::copies(&[8], mesh.clone()).unwrap();
    let terms = copies.clone().all_terms(Operator::Sum);
    assert!(reason(export(&terms, &[]).unwrap_err()).contains("terms"));
    let backwards = Distribution::blocks(&[8], mesh).unwrap().slice(0, 7, -1, 8).unwrap();
    assert!(reason(export(&backwards, &[]).unwrap_err()).contains("axis 0"));
    let partitioned = export_partitioned(&copies).unwrap();
    assert_eq!(partitioned.partitions()[&vec![0]].location.len(), 4);
}

#[test]
fn other_teams_and_orders_keep_their_world_ranks() {
    let mesh = Mesh::new(&[("x", 2), ("y", 3)]).unwrap();
    let axes = vec![Axis::block(&["y"]), Axis::cut(&["x"], Cuts::Ceil)];
    let array = Distribution::new(&[6, 4], mesh, axes).unwrap();
    let exported = export(&array, &[]).unwrap();
    let ranks: Vec<usize> = (0..6).map(|rank| exported.world_rank(rank)).collect();
    assert_eq!(ranks, [0, 3, 1, 4, 2, 5]);
    for rank in 0..6 {
        let owned = array.owned(exported.world_rank(rank)).unwrap();
        for (dim, (start, stop)) in exported.dims(rank).iter().zip(owned) {
            assert_eq!(dim.owned(), Some(number(start)..number(stop)));
        }
    }
    let together = Axis::block(&["x", "y"]);
    let mesh = Mesh::new(&[("x", 2), ("y", 3)]).unwrap();
    let mesh = mesh.with_team(vec![5, 4, 3, 2, 1, 0]).unwrap();
    let array = Distribution::new(&[12], mesh, vec![together]).unwrap();
    let exported = export(&array, &[]).unwrap();
    assert_eq!((exported.ranks(), exported.world_rank(0)), (6, 5));
}

#[test]
fn valid_arrays_round_trip() {
    cases("import and export", 3_000, |rng| {
        let (sections, _) = valid_array(rng);
        let imported = match import(&sections) {
            Ok(imported) => imported,
            Err(error) => {
                assert!(reason(error).contains("a periodic axis that is all padding"));
                return;
            }
        };
        for distribution in [&imported.distribution, &imported.exchanged] {
            let exported = export(distribution, &imported.extras).unwrap();
            for (rank, section) in sections.iter().enumerate() {
                assert_eq!(exported.dims(rank), dims(section));
            }
        }
        for (rank, section) in sections.iter().enumerate() {
            check_held("random", &imported, rank, &dims(section));
        }
    });
}

fn random_axis(rng: &mut Rng, length: usize, over: &[&str], parts: usize) -> Axis {
    let width = rng.range(0, 3);
    let axis = match rng.below(6) {
        0 => return Axis::cyclic(over, 1 + rng.below(3)),
        1 => {
            let mut lists = vec![Vec::new(); parts];
            for label in 0..length {
                lists[rng.below(parts)].push(number(label));
            }
            return Axis::indexed(over, lists);
        }
        2 => Axis::cut(over, Cuts::Ceil),
        3 => {
            let mut cuts: Vec<usize> = (1..parts).map(|_| rng.below(length + 1)).collect();
            cuts.extend([0, length]);
            cuts.sort_unstable();
            Axis::cut(over, Cuts::At(cuts.into()))
        }
        _ => Axis::block(over),
    };
    let axis =
        if rng.chance(1, 2) { axis.halo(width, width) } else { axis.room_halo(width, width) };
    if rng.chance(1, 4) { axis.periodic() } else { axis }
}

fn random_distribution(rng: &mut Rng) -> Option<Distribution> {
    let (x, y) = (1 + rng.below(3), 1 + rng.below(3));
    let mesh = Mesh::new(&[("x", x), ("y", y)]).unwrap();
    let shape = [rng.below(9), rng.below(9)];
    let mut names = [("x", x), ("y", y)];
    rng.shuffle(&mut names);
    let axes = if rng.chance(1, 5) {
        vec![random_axis(rng, shape[0], &[names[0].0, names[1].0], x * y), Axis::whole()]
    } else {
        let axis =
            |rng: &mut Rng, at: usize| random_axis(rng, shape[at], &[names[at].0], names[at].1);
        vec![axis(rng, 0), axis(rng, 1)]
    };
    let array = Distribution::new(&shape, mesh, axes).ok()?;
    if rng.chance(1, 3) && shape[0] > 2 {
        array.slice(0, 1, 2, (shape[0] - 1) / 2).ok()
    } else {
        Some(array)
    }
}

#[test]
fn what_is_exported_is_what_was_there() {
    let mut said = 0;
    cases("export", 5_000, |rng| {
        let Some(array) = random_distribution(rng) else { return };
        let _ = export_partitioned(&array).map(|parts| assert_eq!(parts.check(), []));
        let Ok(exported) = export(&array, &[]) else { return };
        said += 1;
        let sections: Vec<_> = (0..exported.ranks()).map(|r| exported.section(r, None)).collect();
        assert_eq!(check(&sections), []);
        let imported = import(&sections).unwrap();
        assert_eq!(imported.distribution.shape(), array.shape());
        for rank in 0..exported.ranks() {
            let world = exported.world_rank(rank);
            let shape = array.local_shape(world).unwrap();
            assert_eq!(imported.distribution.local_shape(rank), Some(shape.clone()));
            for local in indices(&shape) {
                let own = array.global(world, &local);
                assert_eq!(imported.distribution.global(rank, &local), own, "{array}");
            }
        }
        for index in indices(array.shape()) {
            let owner = imported.distribution.owner(&index).map(|o| exported.world_rank(o.rank));
            assert_eq!(owner, array.owner(&index).map(|o| o.rank), "{array}");
        }
    });
    assert!(enough(said, 4_000), "only {said} of 5,000 could be said");
}
