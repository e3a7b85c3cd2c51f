//! Numbers from bytes: halo tables of any layer, and slice arithmetic, never panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pantile_geometry::halo::{AxisHalo, Blocks, Chain, LayerAxis, Window};

fuzz_target!(|numbers: [u8; 12]| {
    let [size, ranks, kernel, stride, padding, dilation, k2, s2, p2, d2, mode, big] =
        numbers.map(usize::from);
    let size = if big > 250 { usize::MAX >> (big % 16) } else { size };
    let Ok(input) = Blocks::balanced(size, ranks % 33) else { return };
    let Ok(window) = Window::new(kernel % 9, stride % 6, padding % 6, dilation % 4) else { return };
    let halo = if mode % 2 == 0 {
        AxisHalo::new(&window, &input)
    } else {
        AxisHalo::with_boundary_padding(&window, &input)
    };
    if let Ok(halo) = halo {
        for worker in 0..halo.workers() {
            let row = halo.worker(worker).expect("a worker");
            let senders = halo.senders(worker);
            let _ = (row, senders);
        }
        let _ = halo.wide_halos();
    }
    let Ok(second) = Window::new(k2 % 9, s2 % 6, p2 % 6, d2 % 4) else { return };
    let layers: [&dyn LayerAxis; 2] = [&window, &second];
    let _ = Chain::new(&layers, &input);
});
