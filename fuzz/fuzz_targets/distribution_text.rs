//! Any text is a distribution or a fault; a distribution survives printing, and its questions
//! are answered without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pantile_geometry::Distribution;

fuzz_target!(|text: &str| {
    let Ok(made) = text.parse::<Distribution>() else { return };
    let printed = made.to_string();
    let again: Distribution = printed.parse().expect("what is printed parses");
    assert_eq!(again, made, "{printed}");
    assert_eq!(again.to_string(), printed);
    assert_eq!(made.normal(), made);
    let _ = made.dual();
    if made.size() > 512 || made.mesh().size() > 64 {
        for rank in [0, 1, made.mesh().rank_at(made.mesh().size() - 1), usize::MAX] {
            let _ = made.local_shape(rank);
        }
        return;
    }
    for rank in made.mesh().ranks() {
        let shape = made.local_shape(rank).expect("in the team");
        for (lifts, region) in made.held(rank) {
            if region.size() > 4096 {
                continue;
            }
            let slab = made.slab(rank, &lifts, &region).expect("held lies in room");
            assert_eq!(slab.offsets(&shape).len(), region.size());
        }
    }
    let first = vec![0; made.ndim()];
    if made.size() > 0 {
        let holders = made.holders(&first);
        assert_eq!(made.owner(&first).is_some(), !holders.is_empty());
        let _ = made.written();
        for axis in 0..made.ndim() {
            let last = i64::try_from(made.shape()[axis] - 1).expect("small");
            let turned = made.slice(axis, last, -1, made.shape()[axis]);
            let _ = turned.map(|turned| turned.holders(&first));
            let _ = made.select(axis, 0);
        }
    }
});
