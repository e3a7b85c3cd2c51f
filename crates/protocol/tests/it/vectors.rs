//! Every vector that needs no distribution: ownership, validity, upgrade, partitions, files.

use crate::common::*;
use pantile_protocol::partitioned::{Location, from_dims, per_rank};
use pantile_protocol::{Buffer, Dim, Dtype, Object, Section, across, check, dnpy, npy};
use pantile_protocol::{report, upgrade, validate};
use pantile_text::json::Value;

#[test]
fn array_vectors_are_valid_and_map_as_stated() {
    for vector in category("vectors") {
        let id = text(&vector, "id");
        let sections = sections(&vector);
        assert_eq!(report(&check(&sections), None), "", "{id}");
        for (section, rank) in sections.iter().zip(array(&vector, "ranks")) {
            let dims = dims(section);
            let extents: Vec<i64> = dims.iter().map(Dim::extent).collect();
            assert_eq!(extents, numbers(rank, "local_shape"), "{id}");
            for (dim, globals) in dims.iter().zip(array(rank, "global_indices_per_dim")) {
                let globals = globals.as_i64_array().unwrap();
                assert_eq!(dim.globals().collect::<Vec<_>>(), globals, "{id}");
                for (local, global) in (0..).zip(&globals) {
                    assert_eq!(dim.local(*global), Some(local), "{id}");
                }
            }
            let owned: Vec<i64> = dims.iter().map(Dim::num_owned).collect();
            assert_eq!(owned, numbers(rank, "num_owned_per_dim"), "{id}");
            let total: i64 = owned.iter().product();
            assert_eq!(Some(total), rank.get("num_owned_elements").unwrap().as_i64(), "{id}");
            check_owned_ranges(id, &dims, rank);
        }
        check_owners(id, &vector, &sections);
    }
}

fn check_owned_ranges(id: &str, dims: &[Dim], rank: &Value) {
    let Some(ranges) = rank.get("owned_local_ranges").and_then(Value::as_array) else { return };
    for (dim, range) in dims.iter().zip(ranges) {
        let own = dim.owned_local();
        assert_eq!(vec![own.start, own.end], range.as_i64_array().unwrap(), "{id}");
    }
}

/// The owner of every element, in row-major order.
fn check_owners(id: &str, vector: &Value, sections: &[Section]) {
    if vector.get("owner_rank_flat").is_none() {
        return;
    }
    let shape = numbers(vector, "global_shape");
    let total: i64 = shape.iter().product();
    let mut owners = Vec::new();
    for element in 0..total {
        let mut rest = element;
        let mut index = vec![0; shape.len()];
        for axis in (0..shape.len()).rev() {
            index[axis] = rest % shape[axis];
            rest /= shape[axis];
        }
        let owns = |dim: &Dim, global: i64| match dim.owned() {
            Some(owned) => owned.contains(&global),
            None => dim.local(global).is_some(),
        };
        let owner = sections.iter().position(|section| {
            dims(section).iter().zip(&index).all(|(dim, global)| owns(dim, *global))
        });
        owners.push(i64::try_from(owner.unwrap()).unwrap());
    }
    assert_eq!(owners, numbers(vector, "owner_rank_flat"), "{id}");
}

#[test]
fn owned_counts() {
    for case in category("num_owned_cases") {
        let section = &sections(&Value::object([(
            "dim_data",
            Value::array([case.get("dim_dict").unwrap().clone()]),
        )]))[0];
        let expected = case.get("expected").unwrap().as_i64().unwrap();
        assert_eq!(dims(section)[0].num_owned(), expected, "{}", text(&case, "id"));
    }
}

fn codes(findings: &[pantile_protocol::Finding]) -> Vec<String> {
    let mut codes: Vec<String> = findings.iter().map(|finding| finding.code.to_string()).collect();
    codes.sort();
    codes.dedup();
    codes
}

#[test]
fn single_rank_validity() {
    for case in category("single_rank_validity_cases") {
        let findings = validate(&sections(&case)[0]);
        let mut expected = texts(&case, "strict_codes");
        expected.sort();
        assert_eq!(
            codes(&findings),
            expected,
            "{}\n{}",
            text(&case, "id"),
            report(&findings, None)
        );
        assert_eq!(findings.is_empty(), text(&case, "strict") == "accept");
    }
}

#[test]
fn cross_rank_validity() {
    for case in category("cross_rank_cases") {
        let sections = sections(&case);
        let findings = across(&sections);
        let mut expected = texts(&case, "codes");
        expected.sort();
        assert_eq!(
            codes(&findings),
            expected,
            "{}\n{}",
            text(&case, "id"),
            report(&findings, None)
        );
        let alone = sections.iter().all(|section| validate(section).is_empty());
        assert_eq!(Some(alone), case.get("each_rank_valid_alone").unwrap().as_bool());
    }
}

#[test]
fn upgrades() {
    for case in category("upgrade_cases") {
        let ranks = |key: &str, version: &str| {
            sections(&Value::object([
                ("version", version.into()),
                ("dim_data_per_rank", case.get(key).unwrap().clone()),
                ("buffer_shapes", case.get("buffer_shapes").unwrap().clone()),
            ]))
        };
        let expected = ranks("dim_data_per_rank_0_10", "0.10.0");
        for version in ["0.9.0", "0.9.7", "1.0.0"] {
            let upgraded = upgrade(&ranks("dim_data_per_rank_0_9", version)).sections;
            assert_eq!(upgraded.len(), expected.len());
            for (own, other) in upgraded.iter().zip(&expected) {
                let dicts =
                    |section: &Section| section.dicts().iter().map(sorted).collect::<Vec<_>>();
                assert_eq!(dicts(own), dicts(other), "{}", text(&case, "id"));
            }
            assert_eq!(report(&check(&upgraded), None), "");
        }
    }
}

/// Per axis the dimensions of its grid ranks, from the sections of all ranks.
fn axes(sections: &[Section]) -> Vec<Vec<Dim>> {
    let ranks: Vec<Vec<Dim>> = sections.iter().map(dims).collect();
    (0..ranks[0].len())
        .map(|axis| {
            let mut line: Vec<Dim> = ranks.iter().map(|own| own[axis].clone()).collect();
            line.sort_by_key(|dim| dim.place().grid_rank);
            line.dedup_by_key(|dim| dim.place().grid_rank);
            line
        })
        .collect()
}

/// The array that a partition vector is about: another vector, or the words of its note.
fn source(case: &Value) -> Vec<Vec<Dim>> {
    if let Some(id) = case.get("vector").and_then(Value::as_str) {
        let vectors = category("vectors");
        let vector = vectors.iter().find(|vector| text(vector, "id") == id);
        return axes(&sections(vector.unwrap_or_else(|| panic!("no vector {id}"))));
    }
    let words: Vec<i64> =
        text(case, "note").split([' ', ':']).filter_map(|word| word.parse().ok()).collect();
    let [size, block_size, grid_size] = words[..] else { panic!("size, block, ranks") };
    let dim = |grid_rank| {
        let place = pantile_protocol::Place { size, grid_size, grid_rank };
        let start = grid_rank * block_size;
        Dim::new(place, pantile_protocol::DimKind::Cyclic { start, block_size }).unwrap()
    };
    vec![(0..grid_size).map(dim).collect()]
}

#[test]
fn partitions() {
    for case in category("partitioned_cases") {
        let id = text(&case, "id");
        let partitioned = from_dims(&source(&case)).unwrap();
        let (stated, findings, notes) = pantile_protocol::partitioned::read(&case);
        assert_eq!((findings, notes), (vec![], vec![]), "{id}");
        assert_eq!(Some(&partitioned), stated.as_ref(), "{id}");
        for (rank, locals) in (0..).zip(array(&case, "locals_per_rank")) {
            let seen = partitioned.seen_from(&Location::Rank(rank));
            let locals: Vec<_> =
                locals.as_array().unwrap().iter().map(|at| at.as_i64_array().unwrap()).collect();
            assert_eq!(seen.locals().unwrap(), locals, "{id}");
            assert_eq!(seen.check(), [], "{id}");
        }
        let back = per_rank(&partitioned).unwrap();
        for (dims, rank) in back.iter().zip(0_usize..) {
            let sections: Vec<Section> =
                back.iter().map(|dims| Section::from_dims(dims, None)).collect();
            assert_eq!(report(&check(&sections), None), "", "{id} rank {rank}");
            assert!(!dims.is_empty());
        }
        let owned =
            |axes: &[Vec<Dim>]| -> Vec<i64> { axes.iter().flatten().map(Dim::num_owned).collect() };
        let sections: Vec<Section> = back.iter().map(|d| Section::from_dims(d, None)).collect();
        assert_eq!(owned(&axes(&sections)), owned(&source(&case)), "{id}");
    }
}

/// Bytes of a base64 text.
fn bytes(text: &str) -> Vec<u8> {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut out, mut bits, mut count) = (Vec::new(), 0_u32, 0);
    for letter in text.bytes().filter(|byte| *byte != b'=') {
        let value = alphabet.iter().position(|byte| *byte == letter).unwrap();
        bits = bits << 6 | u32::try_from(value).unwrap();
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push(u8::try_from(bits >> count & 0xff).unwrap());
        }
    }
    out
}

#[test]
fn dnpy_files_byte_for_byte() {
    for case in category("dnpy_cases") {
        let id = text(&case, "id");
        let file = bytes(text(&case, "base64"));
        let preamble = dnpy::read(&file).unwrap();
        let shape = numbers(&case, "shape");
        let header = npy::Header {
            dtype: Dtype::parse(text(&case, "dtype")).unwrap(),
            fortran_order: false,
            shape: shape.iter().map(|n| u64::try_from(*n).unwrap()).collect(),
        };
        assert_eq!(preamble.header, header, "{id}");
        let data = u64::try_from(file.len() - preamble.data).unwrap();
        assert_eq!(header.data_bytes(), Some(data), "{id}");
        assert_eq!(validate(&preamble.section), [], "{id}");
        let mut section = sections(&case)[0].clone();
        section.buffer = Buffer::Known { shape, format: Some(header.dtype.to_string()) };
        assert_eq!(preamble.section, section, "{id}");
        assert_eq!(dnpy::write(&section, &header).unwrap(), file[..preamble.data], "{id}");
        // Typed dimensions are written in the same order.
        let typed = Section::from_dims(&dims(&section), section.format().map(str::to_owned));
        let strict = dims(&section).iter().map(Dim::to_object).collect::<Vec<Object>>();
        if strict == section.dicts() {
            assert_eq!(dnpy::write(&typed, &header).unwrap(), file[..preamble.data], "{id}");
        }
    }
}
