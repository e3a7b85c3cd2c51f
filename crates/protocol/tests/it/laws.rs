//! Random descriptions against a model that enumerates every element, and random damage.

use crate::common::arrays::{valid_array, valid_blocks};
use crate::common::*;
use pantile_protocol::{Block, Buffer, Code, Dim, DimKind, Finding, Object, Place, Section};
use pantile_protocol::{across, check, convert, json, literal, normalise, report, validate};
use pantile_testkit::{Rng, cases};
use std::collections::BTreeSet;

#[test]
fn valid_arrays_pass_and_survive_the_texts() {
    cases("valid arrays", 5_000, |rng| {
        let (sections, _) = valid_array(rng);
        let findings = check(&sections);
        assert_eq!(findings, [], "{}\n{sections:?}", report(&findings, None));
        let values = sections.iter().map(json::section_to_value);
        let text = pantile_text::json::Value::array(values).to_indented();
        assert_eq!(json::read(&text).unwrap().sections().unwrap(), sections);
        assert_eq!(normalise(&sections).sections, sections);
    });
}

/// Changes one number, flag or label of one dictionary; false if there was nothing to change.
fn damage(rng: &mut Rng, sections: &mut [Section]) -> bool {
    let rank = rng.below(sections.len());
    let mut dicts = sections[rank].dicts().to_vec();
    if dicts.is_empty() {
        return false;
    }
    let axis = rng.below(dicts.len());
    let mut entries = dicts[axis].as_dict().unwrap().to_vec();
    let at = rng.below(entries.len());
    let change = |rng: &mut Rng, number: i64| number + *rng.pick(&[-2, -1, 1, 2]);
    let key = entries[at].0.as_str().unwrap().to_owned();
    entries[at].1 = match entries[at].1.kind() {
        pantile_protocol::Kind::Int(number) => change(rng, i64::try_from(*number).unwrap()).into(),
        pantile_protocol::Kind::Tuple(items) => {
            let mut widths: Vec<i64> = items.iter().map(|item| item.as_i64().unwrap()).collect();
            // Boundary widths are free, so only inner ones are damaged.
            let place = |key: &str| dicts[axis].get(key).unwrap().as_i64().unwrap();
            let (grid_rank, places) = (place("proc_grid_rank"), place("proc_grid_size"));
            let side = rng.below(2);
            if (side == 0 && grid_rank == 0) || (side == 1 && grid_rank == places - 1) {
                return false;
            }
            widths[side] = change(rng, widths[side]);
            Object::tuple(widths.into_iter().map(Object::from))
        }
        pantile_protocol::Kind::Indices(labels) if !labels.is_empty() => {
            let mut labels = labels.clone();
            labels.pop();
            pantile_protocol::Kind::Indices(labels).into()
        }
        // A single rank may change its type: there is only one way to have everything.
        pantile_protocol::Kind::Text(_) if sections.len() == 1 => return false,
        pantile_protocol::Kind::Text(letter) => {
            if letter == "b" {
                "c".into()
            } else {
                "b".into()
            }
        }
        _ => return false, // `periodic` and `one_to_one` of a single rank may be either
    };
    // A cyclic rank without elements may also say that it starts at the end.
    let dict = &dicts[axis];
    let cyclic = dict.get("dist_type").unwrap().as_str() == Some("c");
    if key == "start" && cyclic && Some(&entries[at].1) == dict.get("size") {
        return false;
    }
    // One rank alone may say what it likes about `block_size`, if its extent stays the same.
    if key == "block_size" {
        return false;
    }
    let entries = entries.iter().map(|(key, value)| (key.as_str().unwrap(), value.clone()));
    dicts[axis] = Object::dict(entries);
    sections[rank].dim_data = Some(Object::tuple(dicts));
    true
}

#[test]
fn any_single_damage_is_found() {
    cases("damage", 20_000, |rng| {
        let (valid, _) = valid_array(rng);
        let mut damaged = valid.clone();
        if damage(rng, &mut damaged) {
            assert!(!check(&damaged).is_empty(), "{:?}\n{:?}", valid, damaged);
        }
    });
}

/// The rules about one block axis, from the enumeration of its elements.
fn model(blocks: &[Block], size: i64) -> BTreeSet<Code> {
    let last = blocks.len() - 1;
    let mut codes = BTreeSet::new();
    let owned: Vec<Vec<i64>> = blocks
        .iter()
        .enumerate()
        .map(|(at, block)| {
            let halo = |global: i64| {
                (at > 0 && global < block.start + block.padding.0)
                    || (at < last && global >= block.stop - block.padding.1)
            };
            (block.start..block.stop).filter(|global| !halo(*global)).collect()
        })
        .collect();
    let total: usize = owned.iter().map(Vec::len).sum();
    if i64::try_from(total) != Ok(size) {
        codes.insert(Code::SizeSum);
    }
    if blocks[0].start != 0 || blocks[last].stop != size {
        codes.insert(Code::Ends);
    }
    for at in 0..last {
        let (a, b) = (blocks[at], blocks[at + 1]);
        if a.stop - a.padding.1 != b.start + b.padding.0 {
            codes.insert(Code::Adjacency);
        }
        if a.padding.1 != b.padding.0 {
            codes.insert(Code::PaddingCounterpart);
        }
        let count = |at: usize| i64::try_from(owned[at].len()).unwrap();
        if a.padding.1 > count(at + 1) || b.padding.0 > count(at) {
            codes.insert(Code::PaddingExceedsNeighbour);
        }
    }
    codes
}

#[test]
fn block_axes_agree_with_the_model() {
    cases("block model", 20_000, |rng| {
        let (size, places) = (rng.range(0, 9), rng.range(1, 4));
        let mut blocks = valid_blocks(rng, size, places);
        for _ in 0..rng.below(3) {
            let at = rng.below(blocks.len());
            let change = rng.range(-1, 2);
            let block = &mut blocks[at];
            match rng.below(4) {
                0 => block.start = (block.start + change).max(0),
                1 => block.stop = (block.stop + change).max(block.start),
                2 => block.padding.0 = (block.padding.0 + change).max(0),
                _ => block.padding.1 = (block.padding.1 + change).max(0),
            }
        }
        let sections: Vec<Section> = (0..)
            .zip(&blocks)
            .map(|(grid_rank, block)| {
                let place = Place { size, grid_size: places, grid_rank };
                Section::from_dims(&[Dim::new(place, DimKind::Block(*block)).unwrap()], None)
            })
            .collect();
        let found: BTreeSet<Code> = across(&sections).iter().map(|finding| finding.code).collect();
        assert_eq!(found, model(&blocks, size), "{blocks:?} of {size}");
    });
}

/// Numbers of one dictionary, right or wrong.
#[derive(Debug)]
struct Numbers {
    size: i64,
    places: i64,
    rank: i64,
    start: i64,
    /// `stop` of a block, `block_size` of a cyclic dimension.
    second: i64,
    padding: (i64, i64),
    extent: i64,
}

/// The rules about the place on the grid; `None` for what is wrong in itself.
fn model_place(n: &Numbers, codes: &mut BTreeSet<Code>) -> (Option<i64>, Option<i64>, Option<i64>) {
    let size = Some(n.size).filter(|size| *size >= 0);
    let places = Some(n.places).filter(|places| *places >= 1);
    let rank = Some(n.rank).filter(|rank| (0..n.places.max(1)).contains(rank));
    let rank = if places.is_none() { Some(n.rank).filter(|rank| *rank >= 0) } else { rank };
    for (code, wrong) in [
        (Code::SizeNeg, size.is_none()),
        (Code::GridSize, places.is_none()),
        (Code::GridRank, rank.is_none()),
        (Code::FirstStart, rank == Some(0) && n.start != 0),
    ] {
        if wrong {
            codes.insert(code);
        }
    }
    (size, places, rank)
}

fn model_block(n: &Numbers) -> BTreeSet<Code> {
    let mut codes = BTreeSet::new();
    let (size, ..) = model_place(n, &mut codes);
    let length = (n.start..n.second).count();
    let mut wrong = |code, wrong| if wrong { codes.insert(code) } else { false };
    let turned = n.start < 0 || n.second < n.start;
    wrong(Code::BlockRange, turned || size.is_some_and(|size| n.second > size));
    wrong(Code::Extent, i64::try_from(length) != Ok(n.extent));
    let negative = n.padding.0 < 0 || n.padding.1 < 0;
    wrong(Code::PaddingNeg, negative);
    let widths = n.padding.0 + n.padding.1;
    wrong(Code::PaddingTooWide, !negative && n.second >= n.start && widths > n.second - n.start);
    codes
}

fn model_cyclic(n: &Numbers) -> BTreeSet<Code> {
    let mut codes = BTreeSet::new();
    let (size, places, rank) = model_place(n, &mut codes);
    if n.second < 1 {
        codes.insert(Code::BlockSize);
        return codes;
    }
    let Some(rank) = rank else { return codes };
    let first = rank * n.second;
    let empty = size.is_some_and(|size| first >= size);
    if n.start != first && !(empty && size == Some(n.start)) {
        codes.insert(Code::CyclicStart);
    }
    if let (Some(size), Some(places)) = (size, places) {
        let dealt = (0..size).filter(|global| global / n.second % places == rank).count();
        if i64::try_from(dealt) != Ok(n.extent) {
            codes.insert(Code::Extent);
        }
    }
    codes
}

#[test]
fn single_sections_agree_with_the_model() {
    cases("single model", 40_000, |rng| {
        let mut small = |low| rng.range(low, 6);
        let n = Numbers {
            size: small(-1) * 2,
            places: small(-1),
            rank: small(-2),
            start: small(-2),
            second: small(-1),
            padding: (small(-1) / 2, small(-1) / 2),
            extent: small(0),
        };
        let cyclic = rng.chance(1, 2);
        let mut entries = vec![
            ("dist_type", Object::from(if cyclic { "c" } else { "b" })),
            ("size", n.size.into()),
            ("proc_grid_size", n.places.into()),
            ("proc_grid_rank", n.rank.into()),
            ("start", n.start.into()),
            (if cyclic { "block_size" } else { "stop" }, n.second.into()),
        ];
        if !cyclic {
            entries.push(("padding", Object::tuple([n.padding.0.into(), n.padding.1.into()])));
        }
        let mut section = Section::from_dims(&[], None);
        section.dim_data = Some(Object::tuple([Object::dict(entries)]));
        section.buffer = Buffer::Known { shape: vec![n.extent], format: None };
        let found: BTreeSet<Code> = validate(&section).iter().map(|finding| finding.code).collect();
        assert_eq!(found, if cyclic { model_cyclic(&n) } else { model_block(&n) }, "{n:?}");
    });
}

#[test]
fn shuffled_ranks_are_out_of_order() {
    cases("rank order", 2_000, |rng| {
        let (mut sections, _) = valid_array(rng);
        let before = sections.clone();
        rng.shuffle(&mut sections);
        let found: BTreeSet<Code> = check(&sections).iter().map(|finding| finding.code).collect();
        let expected = if sections == before { vec![] } else { vec![Code::RankOrder] };
        // Ranks that say the same can be swapped unseen only if they are the same section.
        assert_eq!(found.into_iter().collect::<Vec<_>>(), expected);
    });
}

/// Everything that can be asked of a text, so that nothing in it may panic.
fn exercise(text: &str) -> Vec<Finding> {
    let Ok(document) = json::read(text) else { return Vec::new() };
    let json::Document::Sections { sections, .. } = &document else {
        if let json::Document::Partitioned { partitioned: Some(own), findings, .. } = &document {
            let _ = (own.check(), own.to_value(), pantile_protocol::partitioned::per_rank(own));
            let _ =
                convert::import_partitioned(own).map(|array| convert::export_partitioned(&array));
            let _ = report(findings, Some(text));
        }
        return Vec::new();
    };
    let normalised = normalise(sections);
    for section in sections.iter().chain(&normalised.sections) {
        for dim in section.dims().into_iter().flatten() {
            let _ = (dim.extent(), dim.num_owned(), dim.owned(), dim.owned_local(), dim.interior());
            let _ = (dim.global(0), dim.local(3), dim.globals().take(9).count());
            let _ = pantile_protocol::partitioned::from_dims(&[vec![dim]]);
        }
        let _ = literal::write(section.dim_data.as_ref().unwrap_or(&Object::from(0)));
        let _ = json::section_to_value(section).to_string();
        let _ = validate(section);
    }
    if let Ok(imported) = convert::import(sections) {
        let exported = convert::export(&imported.distribution, &imported.extras).unwrap();
        assert_eq!(exported.ranks(), sections.len());
        let _ = convert::export_partitioned(&imported.exchanged);
    }
    let _ = report(&check(sections), Some(text));
    check(&normalised.sections)
}

#[test]
fn damaged_texts_never_panic() {
    let vectors = vectors();
    let mut texts: Vec<String> = Vec::new();
    for name in ["vectors", "cross_rank_cases", "single_rank_validity_cases", "partitioned_cases"] {
        texts.extend(array(&vectors, name).iter().map(ToString::to_string));
    }
    let pieces: [&[u8]; 16] = [
        b"0",
        b"-1",
        b"9223372036854775807",
        b"-9223372036854775808",
        b"1e400",
        b"null",
        b"true",
        b"[]",
        b"{}",
        b"\"n\"",
        b"[1,2]",
        b"170141183460469231731687303715884105728",
        b",",
        b"\"",
        b"4611686018427387904",
        b"\"u\"",
    ];
    cases("damaged texts", 20_000, |rng| {
        let mut bytes = rng.pick(&texts).clone().into_bytes();
        for _ in 0..=rng.below(3) {
            let at = rng.below(bytes.len());
            if rng.chance(1, 2) {
                bytes[at] = *rng.pick(b"{}[]\",:0123456789-.eabcu\xff");
            } else {
                // Replace a whole number by something odd.
                let start = bytes[at..].iter().position(u8::is_ascii_digit).map_or(at, |n| at + n);
                let length = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                let piece = *rng.pick(&pieces);
                bytes.splice(start..start + length, piece.iter().copied());
            }
        }
        exercise(&String::from_utf8_lossy(&bytes));
    });
}
