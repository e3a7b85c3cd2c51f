//! Memory of arrays: read where it is, written where nobody looks any more, never lost.

use pantile::prelude::*;

/// The world with so many ranks, and an array of the numbers from 0 in it.
fn numbers(ranks: usize, shape: [usize; 2]) -> (Session, Array) {
    let world = Session::threads(ranks).unwrap();
    let dist = world.dist("block(r), whole");
    let array = dist.from_fn(&shape, |at| (at[0] * shape[1] + at[1]) as f64);
    (world, array)
}

#[test]
fn other_numbers_are_no_other_program() {
    for ranks in [1, 3] {
        let (world, u) = numbers(ranks, [6, 4]);
        let mut plain: Vec<f64> = u.to_vec().unwrap();
        let mut lowered = 0;
        for step in 0..20 {
            let time = f64::from(step) * 0.1;
            let next = &u * time + 2.0 - time;
            u.assign(next);
            u.compute().unwrap();
            plain.iter_mut().for_each(|x| *x = *x * time + 2.0 - time);
            if step == 4 {
                lowered = world.lowered();
            }
        }
        assert_eq!(world.lowered(), lowered, "{ranks} ranks");
        assert_eq!(u.to_vec::<f64>().unwrap(), plain, "{ranks} ranks");
    }
}

#[test]
fn numbers_of_every_type_may_change() {
    let world = Session::threads(2).unwrap();
    let whole = world.from_vec(&[3], &[1i8, 2, 3]);
    let truth = world.from_vec(&[3], &[true, false, true]);
    for step in 0..4i64 {
        assert_eq!(
            (&whole + step).to_vec::<i8>().unwrap(),
            [1, 2, 3].map(|x| x + i8::try_from(step).unwrap())
        );
        assert_eq!((&truth & (step % 2 == 0)).to_vec::<bool>().unwrap()[0], step % 2 == 0);
        let filled = world.full(&[2], step as f64).to_vec::<f64>().unwrap();
        assert_eq!(filled, [step as f64; 2]);
        assert_eq!((&whole << step).to_vec::<i8>().unwrap(), [1, 2, 3].map(|x: i8| x << step));
    }
}

#[test]
fn what_somebody_looks_at_is_not_overwritten() {
    for ranks in [1, 2, 3] {
        let (_, u) = numbers(ranks, [5, 3]);
        u.compute().unwrap();
        let before = u.to_vec::<f64>().unwrap();
        let sections = u.sections().unwrap();
        let bytes: Vec<Vec<u8>> = sections.iter().map(|one| one.tile.as_bytes().to_vec()).collect();
        let copy = u.copy();
        let view = u.get(s![1.., ..]);
        for _ in 0..3 {
            u.assign(&u * 2.0 + 1.0);
            u.compute().unwrap();
        }
        for (section, bytes) in sections.iter().zip(bytes) {
            assert_eq!(section.tile.as_bytes(), bytes, "{ranks} ranks");
        }
        assert_eq!(copy.to_vec::<f64>().unwrap(), before);
        let now: Vec<f64> =
            before.iter().map(|x| ((x * 2.0 + 1.0) * 2.0 + 1.0) * 2.0 + 1.0).collect();
        assert_eq!(u.to_vec::<f64>().unwrap(), now);
        assert_eq!(view.to_vec::<f64>().unwrap(), now[3..]);
    }
}

#[test]
fn an_element_assigned_in_a_large_array_moves_no_other() {
    let (_, u) = numbers(2, [512, 512]);
    u.compute().unwrap();
    let start = |array: &Array| -> Vec<*const u8> {
        let sections = array.sections().unwrap();
        sections.iter().map(|one| one.tile.as_bytes().as_ptr()).collect()
    };
    let before = start(&u);
    u.set(s![3, 4], -1.0);
    u.compute().unwrap();
    assert_eq!(start(&u), before, "the same memory, because nobody has the old version");
    let kept = u.copy();
    kept.compute().unwrap();
    u.set(s![3, 4], -2.0);
    u.compute().unwrap();
    assert_eq!(kept.get(s![3, 4]).item::<f64>().unwrap(), -1.0);
    assert_eq!(u.get(s![3, 4]).item::<f64>().unwrap(), -2.0);
    assert_eq!(u.get(s![511, 511]).item::<f64>().unwrap(), 512.0 * 512.0 - 1.0);
}

#[test]
fn halos_lie_in_the_room_around_tiles_and_are_not_elements() {
    for ranks in [1, 2, 4, 9] {
        let (_, u) = numbers(ranks, [8, 5]);
        let mut plain: Vec<f64> = u.to_vec().unwrap();
        for _ in 0..4 {
            let sum = u.get(s![..-2, ..]) + u.get(s![2.., ..]);
            u.set(s![1..-1, ..], 0.5 * sum);
            u.compute().unwrap();
            let old = plain.clone();
            for at in 5..35 {
                plain[at] = 0.5 * (old[at - 5] + old[at + 5]);
            }
        }
        assert_eq!(u.to_vec::<f64>().unwrap(), plain, "{ranks} ranks");
        assert_eq!(u.get(s![2, 3]).item::<f64>().unwrap(), plain[13]);
        let owned: usize =
            u.sections().unwrap().iter().map(|one| one.shape().iter().product::<usize>()).sum();
        assert_eq!(owned, 40);
    }
}
