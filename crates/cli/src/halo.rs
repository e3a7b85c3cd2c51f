//! `pantile halo`: what every worker of a sliding window needs from its neighbours.

use std::ops::Range;

use anyhow::{Result, anyhow, bail};
use clap::Args;
use pantile_geometry::halo::{
    AxisHalo, Blocks, LayerHalo, Side, Supply, WideHalo, WindowParameters, WorkerHalo,
};
use pantile_text::json::Value;

use crate::numbers::{self, plural, shape, size};
use crate::report::Report;
use crate::table::{Align, aligned};

/// Workers shown per axis unless `--all` is given.
const WORKERS_SHOWN: usize = 40;

/// Wide halos shown per axis unless `--all` is given.
const WARNINGS_SHOWN: usize = 8;

#[derive(Args)]
#[command(after_help = "\
Examples:
  pantile halo --size 10 --ranks 3 --kernel 3 --stride 2
  pantile halo --size 64x64 --ranks 2x4 --kernel 5x5 --padding 2x2
  pantile halo --extents 1,4,5 --kernel 5        blocks of given extents

Columns: `input` is the block a worker has and `output` what it computes; `halo` is what it needs
beyond its block on the left and right, negative where it has more than it needs; `receive` and
`send` are what travels to and from each side; `needed` is the exact slice of the block with what
it received, `cells` the range of the input that is needed, and `padding` what the window sees
beyond the input.

Each list has one number per array axis, with `x` or `,` between. Lists for kernel, stride,
padding and dilation may be shorter: they belong to the last axes.")]
pub(crate) struct Arguments {
    /// Extents of the input
    #[arg(
        long,
        value_name = "N[xN...]",
        value_parser = parse_list,
        allow_negative_numbers = true,
        required_unless_present = "extents"
    )]
    size: Option<List>,
    /// Workers along each axis
    #[arg(
        long,
        value_name = "P[xP...]",
        value_parser = parse_list,
        allow_negative_numbers = true,
        required_unless_present = "extents"
    )]
    ranks: Option<List>,
    /// Extents of the window
    #[arg(long, value_name = "K[xK...]", value_parser = parse_list, allow_negative_numbers = true)]
    kernel: List,
    /// Distance between two outputs in inputs
    #[arg(long, value_name = "S[xS...]", value_parser = parse_list, allow_negative_numbers = true)]
    stride: Option<List>,
    /// Cells of padding on both sides
    #[arg(long, value_name = "P[xP...]", value_parser = parse_list, allow_negative_numbers = true)]
    padding: Option<List>,
    /// Distance between two cells under the window
    #[arg(long, value_name = "D[xD...]", value_parser = parse_list, allow_negative_numbers = true)]
    dilation: Option<List>,
    /// Extents of the workers' blocks on one axis, instead of balanced ones; repeat for more axes
    #[arg(long, value_name = "A,B,...", value_parser = parse_list, allow_negative_numbers = true)]
    extents: Vec<List>,
    /// Lay the padding around the input first, as data of the workers at the edges
    #[arg(long)]
    explicit_padding: bool,
    /// Show all workers
    #[arg(long)]
    all: bool,
    /// Print a picture (SVG) instead
    #[arg(long, conflicts_with = "json")]
    draw: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// One number per axis; a type of its own because clap takes a `Vec` for a repeated option.
#[derive(Clone, Debug)]
struct List(Vec<usize>);

fn parse_list(text: &str) -> Result<List, String> {
    numbers::parse_list(text).map(List)
}

impl Arguments {
    fn parameters(&self) -> WindowParameters {
        let list = |list: &Option<List>| list.as_ref().map_or(Vec::new(), |list| list.0.clone());
        WindowParameters {
            kernel: self.kernel.0.clone(),
            stride: list(&self.stride),
            padding: list(&self.padding),
            dilation: list(&self.dilation),
        }
    }

    fn blocks(&self) -> Result<Vec<Blocks>> {
        if self.extents.is_empty() {
            let (Some(size), Some(ranks)) = (&self.size, &self.ranks) else {
                bail!("expected `--size` and `--ranks`, or `--extents`");
            };
            if size.0.len() != ranks.0.len() {
                bail!(
                    "--size {} and --ranks {} are for {} and {} axes: expected as many",
                    shape(&size.0),
                    shape(&ranks.0),
                    size.0.len(),
                    ranks.0.len()
                );
            }
            return Ok(LayerHalo::balanced_blocks(&size.0, &ranks.0)?);
        }
        let cuts: Vec<Blocks> = self
            .extents
            .iter()
            .map(|extents| Ok(Blocks::from_extents(&extents.0)?))
            .collect::<Result<_>>()?;
        let agree = |name: &str, given: &Option<List>, own: Vec<usize>| match given {
            Some(given) if given.0 != own => {
                Err(anyhow!("{name} is {}, but --extents make {}", shape(&given.0), shape(&own)))
            }
            _ => Ok(()),
        };
        agree("--size", &self.size, cuts.iter().map(Blocks::extent).collect())?;
        agree("--ranks", &self.ranks, cuts.iter().map(Blocks::workers).collect())?;
        Ok(cuts)
    }

    fn layer(&self) -> Result<LayerHalo> {
        let (parameters, blocks) = (self.parameters(), self.blocks()?);
        let layer = if self.explicit_padding {
            LayerHalo::with_boundary_padding(&parameters, &blocks)
        } else {
            LayerHalo::new(&parameters, &blocks)
        };
        Ok(layer?)
    }
}

/// Runs the subcommand.
pub(crate) fn run(arguments: &Arguments) -> Result<Report> {
    let layer = arguments.layer()?;
    if arguments.draw {
        return draw(&layer);
    }
    if arguments.json {
        return Ok(Report::json(&json(&layer)));
    }
    let mut out = String::new();
    if arguments.explicit_padding {
        out.push_str(
            "padding counts as cells of the first and last worker, except under `cells`\n",
        );
    }
    for (axis, halo) in layer.axes().iter().enumerate() {
        if axis > 0 {
            out.push('\n');
        }
        out.push_str(&axis_text(axis, halo, arguments));
    }
    Ok(Report::text(out))
}

fn draw(layer: &LayerHalo) -> Result<Report> {
    let titles: Vec<String> =
        layer.axes().iter().enumerate().map(|(axis, halo)| title(axis, halo)).collect();
    let tables: Vec<(&str, &AxisHalo)> =
        titles.iter().map(String::as_str).zip(layer.axes()).collect();
    Ok(Report::text(pantile_draw::halos(&tables)?.as_str()))
}

fn title(axis: usize, halo: &AxisHalo) -> String {
    format!(
        "axis {axis}: {} on {}, {}",
        plural(halo.input().extent() as u128, "cell"),
        plural(halo.workers() as u128, "worker"),
        plural(halo.output().extent() as u128, "output"),
    )
}

fn axis_text(axis: usize, halo: &AxisHalo, arguments: &Arguments) -> String {
    let head =
        ["worker", "input", "output", "halo", "receive", "send", "needed", "cells", "padding"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let shown = if arguments.all { halo.workers() } else { WORKERS_SHOWN.min(halo.workers()) };
    let workers = (0..shown).filter_map(|worker| Some((worker, halo.worker(worker)?)));
    rows.extend(workers.map(|(worker, row)| cells(worker, &row)));
    let mut align = vec![Align::Left; head.len()];
    align[0] = Align::Right;
    let mut out = format!("{}\n{}", title(axis, halo), aligned(&rows, &align, 2));
    if shown < halo.workers() {
        let more = size(halo.workers() - shown);
        out.push_str(&format!("  ... and {more} more; `--all` shows them\n"));
    }
    // Workers without outputs have widths too, but ask for nothing.
    let wide: Vec<WideHalo> =
        halo.wide_halos().into_iter().filter(|wide| !supplies(halo, wide).is_empty()).collect();
    let warned = if arguments.all { wide.len() } else { WARNINGS_SHOWN.min(wide.len()) };
    for wide in &wide[..warned] {
        out.push_str(&format!("  warning: {}\n", warning(halo, wide)));
    }
    if warned < wide.len() {
        let more = plural((wide.len() - warned) as u128, "more wide halo");
        out.push_str(&format!("  ... and {more}; `--all` shows them\n"));
    }
    let idle = (0..halo.workers()).filter(|worker| halo.output().range(*worker).is_empty());
    match idle.count() {
        0 => {}
        count => out.push_str(&format!(
            "  note: {} without outputs: whatever the widths say, nothing is sent there\n",
            plural(count as u128, "worker")
        )),
    }
    out
}

fn range(range: &Range<usize>) -> String {
    if range.is_empty() { "-".to_owned() } else { format!("{}:{}", range.start, range.end) }
}

fn cells(worker: usize, row: &WorkerHalo) -> Vec<String> {
    let pair = |(left, right): (usize, usize)| format!("{left} {right}");
    vec![
        worker.to_string(),
        range(&row.owned),
        range(&row.output),
        format!("{} {}", row.signed.0, row.signed.1),
        pair(row.receive),
        pair(row.send),
        range(&row.needed),
        range(&row.needed_global),
        pair(row.beyond),
    ]
}

fn supplies(halo: &AxisHalo, wide: &WideHalo) -> Vec<Supply> {
    let senders = halo.senders(wide.worker);
    match wide.side {
        Side::Left => senders.left,
        Side::Right => senders.right,
    }
}

fn warning(halo: &AxisHalo, wide: &WideHalo) -> String {
    let WideHalo { worker, side, width, available } = wide;
    let from: Vec<String> = supplies(halo, wide)
        .iter()
        .map(|supply| format!("{} from worker {}", range(&supply.range), supply.worker))
        .collect();
    let (neighbour, from) = (plural(*available as u128, "cell"), from.join(", "));
    format!(
        "worker {worker} needs {width} on the {side}, where its neighbour has {neighbour}: \
         it gets {from}"
    )
}

fn json(layer: &LayerHalo) -> Value {
    let range = |range: &Range<usize>| Value::from(vec![range.start, range.end]);
    let pair = |pair: (usize, usize)| Value::from(vec![pair.0, pair.1]);
    let supply = |supply: &Supply| {
        Value::object([("worker", supply.worker.into()), ("range", range(&supply.range))])
    };
    let worker = |row: WorkerHalo| {
        Value::object([
            ("input", range(&row.owned)),
            ("output", range(&row.output)),
            ("halo", Value::from(vec![row.signed.0, row.signed.1])),
            ("receive", pair(row.receive)),
            ("send", pair(row.send)),
            ("exchanged_length", row.exchange_length.into()),
            ("needed", range(&row.needed)),
            ("needed_global", range(&row.needed_global)),
            ("padding", pair(row.beyond)),
        ])
    };
    let axis = |halo: &AxisHalo| {
        let wide = halo.wide_halos();
        let wide = wide.iter().map(|wide| {
            Value::object([
                ("worker", wide.worker.into()),
                ("side", wide.side.to_string().into()),
                ("width", wide.width.into()),
                ("available", wide.available.into()),
                ("senders", Value::array(supplies(halo, wide).iter().map(supply))),
            ])
        });
        Value::object([
            ("input", halo.input().extent().into()),
            ("output", halo.output().extent().into()),
            ("workers", Value::array(halo.iter().map(worker))),
            ("wide", Value::array(wide)),
        ])
    };
    Value::object([("axes", Value::array(layer.axes().iter().map(axis)))])
}
