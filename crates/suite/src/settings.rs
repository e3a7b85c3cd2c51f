//! Settings of layers on one axis, with what every worker computes.

/// A layer on one axis.
pub(crate) struct LayerSetting {
    pub(crate) name: &'static str,
    /// Kernel, stride, padding, dilation.
    pub(crate) window: [usize; 4],
    /// The blocks of the input.
    pub(crate) lengths: &'static [usize],
    /// The outputs of each worker.
    pub(crate) outputs: &'static [usize],
}

/// All settings.
pub(crate) fn settings() -> Vec<LayerSetting> {
    let row = |name, window, lengths, outputs| LayerSetting { name, window, lengths, outputs };
    vec![
        row("pooling in pairs, 10 on 4", [2, 2, 0, 1], &[3, 3, 2, 2], &[2, 1, 1, 1]),
        row("pairs, 10 on 3", [2, 2, 0, 1], &[4, 3, 3], &[2, 2, 1]),
        row("three, 10 on 3", [3, 1, 0, 1], &[4, 3, 3], &[3, 3, 2]),
        row("three, 7 on 3", [3, 1, 0, 1], &[3, 2, 2], &[2, 2, 1]),
        row("three, 5 on 2", [3, 1, 0, 1], &[3, 2], &[2, 1]),
        row("three, 4 on 2", [3, 1, 0, 1], &[2, 2], &[1, 1]),
        row("five, 11 on 3", [5, 1, 0, 1], &[4, 4, 3], &[3, 2, 2]),
        row("pooling in pairs, 20 on 6", [2, 2, 0, 1], &[4, 4, 3, 3, 3, 3], &[2, 2, 2, 2, 1, 1]),
        row("dilated and padded, 16 on 4", [3, 1, 2, 2], &[4, 4, 4, 4], &[4, 4, 4, 4]),
        row("pooling in threes, 14 on 4", [3, 3, 0, 1], &[4, 4, 3, 3], &[1, 1, 1, 1]),
        row("dilated with stride, 9 on 2", [3, 2, 1, 2], &[5, 4], &[2, 2]),
        row("pairs one by one, 11 on 3", [2, 1, 0, 1], &[4, 4, 3], &[4, 3, 3]),
        row("three padded, 10 on 2", [3, 1, 1, 1], &[5, 5], &[5, 5]),
        row("five padded with stride, 10 on 2", [5, 2, 2, 1], &[5, 5], &[3, 2]),
        row("stride 4, 6 on 2", [5, 4, 2, 1], &[3, 3], &[1, 1]),
        row("stride 4, 10 on 2", [5, 4, 2, 1], &[5, 5], &[2, 1]),
        row("five, padded by 1, 10 on 2", [5, 1, 1, 1], &[5, 5], &[4, 4]),
        row("five, padded by 1, 8 on 2", [5, 1, 1, 1], &[4, 4], &[3, 3]),
        row("five padded with stride, 5 on 2", [5, 2, 2, 1], &[3, 2], &[2, 1]),
        row("five padded with stride, 5 on 1", [5, 2, 2, 1], &[5], &[3]),
        row("five padded, 6 on 2", [5, 1, 2, 1], &[3, 3], &[3, 3]),
        row("three padded, 15 on 4", [3, 1, 1, 1], &[4, 4, 4, 3], &[4, 4, 4, 3]),
        row("five padded with stride, 10 on 4", [5, 2, 2, 1], &[3, 3, 2, 2], &[2, 1, 1, 1]),
        row("wide and dilated, 50 on 3", [5, 3, 1, 3], &[17, 17, 16], &[5, 5, 4]),
        row("four dilated, 50 on 3", [4, 1, 1, 3], &[17, 17, 16], &[15, 14, 14]),
        row("three with stride, 50 on 2", [3, 2, 2, 1], &[25, 25], &[13, 13]),
        row("seven with stride, 150 on 1", [7, 2, 3, 1], &[150], &[75]),
        row("seven with stride, 150 on 4", [7, 2, 3, 1], &[38, 38, 37, 37], &[19, 19, 19, 18]),
        row("more in front, 10 on 3", [3, 1, 1, 1], &[5, 3, 2], &[4, 3, 3]),
        row("more behind, 10 on 3", [3, 1, 1, 1], &[2, 3, 5], &[4, 3, 3]),
        // The first has cells that none of its own outputs looks at.
        row("much in front, 10 on 3", [3, 1, 0, 1], &[6, 2, 2], &[3, 3, 2]),
        row("nothing but padding at the ends, 6 on 3", [1, 1, 3, 1], &[2, 2, 2], &[4, 4, 4]),
        // Halos that are wider than the neighbour.
        row("seven padded, 8 on 4", [7, 1, 3, 1], &[2, 2, 2, 2], &[2, 2, 2, 2]),
        row("pooling in pairs, 4 on 4", [2, 2, 0, 1], &[1, 1, 1, 1], &[1, 1, 0, 0]),
        row("all on the last, 6 on 3", [3, 2, 1, 1], &[0, 0, 6], &[1, 1, 1]),
    ]
}
