//! The exchange that a layer needs is a plan: against the halo tables, wide halos included.

use pantile_geometry::Distribution;
use pantile_geometry::halo::{AxisHalo, Blocks, LayerHalo, Window};
use pantile_plan::Plan;
use pantile_testkit::{cases, enough};

fn layer(window: &Window, blocks: &Blocks, explicit: bool) -> Option<AxisHalo> {
    let made = if explicit {
        AxisHalo::with_boundary_padding(window, blocks)
    } else {
        AxisHalo::new(window, blocks)
    };
    made.ok()
}

/// Each worker gets exactly the cells that the table says it lacks, from whoever has them.
#[test]
fn plans_follow_the_halo_tables() {
    let mut wide = 0;
    cases("layers", 6_000, |rng| {
        let (length, ranks) = (1 + rng.below(24), 1 + rng.below(6));
        let window =
            Window::new(1 + rng.below(5), 1 + rng.below(3), rng.below(3), 1 + rng.below(2));
        let blocks = Blocks::balanced(length, ranks).expect("small");
        let window = window.expect("small");
        let Some(table) = layer(&window, &blocks, false) else { return };
        let input: Distribution =
            format!("{length} on r={ranks}: block(r)").parse().expect("blocks");
        let halo = LayerHalo::from_axes(vec![table.clone()]);
        let plan = Plan::between(&input, &halo.needed(&input).expect("one axis")).expect("no gaps");
        for worker in 0..ranks {
            // The table's ghosts start at the block; the plan moves only what is looked at.
            let senders = table.senders(worker);
            let needed = table.worker(worker).expect("a worker").needed_global;
            let want: Vec<(usize, usize, usize)> = senders
                .left
                .iter()
                .chain(&senders.right)
                .map(|supply| {
                    let (low, high) = (supply.range.start, supply.range.end);
                    (supply.worker, low.max(needed.start), high.min(needed.end))
                })
                .filter(|(_, low, high)| low < high)
                .collect();
            let got: Vec<(usize, usize, usize)> = plan
                .transfers()
                .filter(|transfer| transfer.to == worker && transfer.travels())
                .map(|transfer| {
                    let (low, high) = transfer.region.axes()[0].hull().expect("not empty");
                    (transfer.from, low, high)
                })
                .collect();
            assert_eq!(got, want, "{length} on {ranks}, worker {worker}\n{plan}");
        }
        // Explicit padding changes who owns the padding, not which cells are needed.
        let explicit = layer(&window, &blocks, true).expect("as without");
        assert_eq!(explicit.held(), table.held());
        wide += usize::from(!table.wide_halos().is_empty());
    });
    assert!(enough(wide, 400), "too few halos wider than a block: {wide}");
}
