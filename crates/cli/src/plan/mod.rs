//! `pantile plan`: the movement between two distributions.
//!
//! ```text
//! arguments -> request: a path of distributions, a machine, the size of an element
//!           -> listing (all transfers), summary (too many to list) or share (one rank)
//!           -> text or JSON
//! ```

mod listing;
mod remark;
mod share;
mod summary;
mod text;

use anyhow::{Result, anyhow, bail};
use clap::{Args, ValueEnum};
use pantile_geometry::Distribution;
use pantile_plan::{Machine, Plan, Totals};

use crate::report::Report;
use crate::{input, numbers};

/// Meshes with more ranks are summarised instead of listed.
const RANKS_MAX: usize = 4096;

/// Movements with more messages are summarised instead of listed.
const MESSAGES_MAX: u128 = 100_000;

/// Even `--all` lists no more messages than this.
const MESSAGES_LISTABLE: u128 = 4_000_000;

#[derive(Args)]
#[command(after_help = "\
Examples:
  pantile plan \"8 on r=4: block(r)\" \"8 on r=4: block(r) halo 1\"             halo exchange
  pantile plan \"8 on r=4: block(r)\" \"8 on r=4: whole\"                       all-gather
  pantile plan \"8 on r=4: whole; sum(r)\" \"8 on r=4: whole\" --path blocks    all-reduce
  pantile plan \"8x8 on r=4: block(r), whole\" \"8x8 on r=4: whole, block(r)\"  transpose
  pantile plan \"8 on r=4: block(r)\" \"8 on r=4: whole\" --draw gather.svg     and a picture
  pantile plan @padded.json exchanged                                     fill the padding

Ranks are placed in order: the first --ranks-per-process in the first process, and so on.")]
pub(crate) struct Arguments {
    /// Where the elements are before: a distribution, a file, JSON, or `-`
    source: String,
    /// Where they shall be: a distribution, a file, JSON, `-`, or `exchanged` for the source with
    /// its padding filled
    target: String,
    /// Go through these distributions on the way (in this order)
    #[arg(long, value_name = "DIST")]
    via: Vec<String>,
    /// How to get there
    #[arg(long, value_enum, default_value_t = Path::Direct)]
    path: Path,
    /// Show the adjoint movement instead
    #[arg(long)]
    adjoint: bool,
    /// Stage at most so much per rank and round, for example 64MiB
    #[arg(long, value_name = "BYTES", value_parser = numbers::parse_bytes)]
    within: Option<usize>,
    /// Show the share of one rank only; works for millions of ranks
    #[arg(long, value_name = "R", value_parser = numbers::parse_rank, allow_negative_numbers = true)]
    rank: Option<usize>,
    /// Bytes of one element
    #[arg(long, value_name = "BYTES", default_value_t = 8,
          value_parser = numbers::up_to(u32::MAX), allow_negative_numbers = true)]
    element_bytes: u32,
    /// Ranks on one node
    #[arg(long, value_name = "N", default_value_t = 64,
          value_parser = numbers::up_to(u32::MAX), allow_negative_numbers = true)]
    ranks_per_node: u32,
    /// Ranks in one process
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = numbers::up_to(u32::MAX), allow_negative_numbers = true)]
    ranks_per_process: u32,
    /// Draw the movement into this file, too (SVG)
    #[arg(long, value_name = "FILE", conflicts_with = "rank")]
    draw: Option<String>,
    /// List every transfer, also those that stay on their rank
    #[arg(long)]
    all: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "text")]
    json: bool,
    /// Print the plan as text that `pantile check` reads
    #[arg(long, conflicts_with = "rank")]
    text: bool,
}

/// How a movement gets from source to target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Path {
    /// In one step
    Direct,
    /// The cheapest of direct, blocks and axes
    Best,
    /// Reduce to blocks, then gather the blocks
    Blocks,
    /// One array axis after the other
    Axes,
    /// In one step, without edges and corners of halos
    Faces,
}

/// What was asked for.
pub(crate) struct PlanRequest<'a> {
    arguments: &'a Arguments,
    /// Source, stations and target, as given; not yet turned around for an adjoint.
    path: Vec<Distribution>,
    machine: Machine,
    element_bytes: usize,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: &Arguments) -> Result<Report> {
    let (path, notes) = read_path(arguments)?;
    let per = |ranks: u32| usize::try_from(ranks).unwrap_or(usize::MAX);
    let (process, node) = (per(arguments.ranks_per_process), per(arguments.ranks_per_node));
    if !node.is_multiple_of(process) {
        bail!("{node} ranks per node cannot be processes of {process} ranks");
    }
    let request = PlanRequest {
        arguments,
        path,
        machine: Machine::default().with_ranks(process, node),
        element_bytes: per(arguments.element_bytes),
    };
    if let Some(rank) = arguments.rank {
        return Ok(share::report(&request, rank)?.with_notes(notes));
    }
    let report = match request.why_not_listed()? {
        None => listing::report(&request)?,
        Some(why) => {
            request.check_path_is_direct(&why)?;
            summary::report(&request, &why)?
        }
    };
    Ok(report.with_notes(notes))
}

fn read_path(arguments: &Arguments) -> Result<(Vec<Distribution>, Vec<String>)> {
    let given = std::iter::once(&arguments.source).chain(&arguments.via).chain([&arguments.target]);
    if given.filter(|argument| *argument == "-").count() > 1 {
        bail!("only one distribution can come from standard input");
    }
    let source = input::distribution(&arguments.source, "SOURCE")?;
    let mut notes = source.notes;
    let mut path = vec![source.distribution];
    for via in &arguments.via {
        let given = input::distribution(via, "--via")?;
        notes.extend(given.notes);
        path.push(given.distribution);
    }
    if arguments.target == "exchanged" {
        let exchanged = source.exchanged.ok_or_else(|| {
            anyhow!("TARGET: `exchanged` needs a SOURCE in JSON that says what its padding is")
        })?;
        path.push(exchanged);
    } else {
        let target = input::distribution(&arguments.target, "TARGET")?;
        notes.extend(target.notes);
        path.push(target.distribution);
    }
    Ok((path, notes))
}

impl PlanRequest<'_> {
    fn source(&self) -> &Distribution {
        &self.path[0]
    }

    fn target(&self) -> &Distribution {
        &self.path[self.path.len() - 1]
    }

    /// The most ranks of any mesh on the way.
    fn ranks(&self) -> usize {
        self.path.iter().map(|station| station.mesh().size()).max().unwrap_or(0)
    }

    /// The stations in the order of the movement that is shown: an adjoint goes back through the
    /// duals.
    fn stations(&self) -> Result<Vec<Distribution>> {
        if !self.arguments.adjoint {
            return Ok(self.path.clone());
        }
        self.path.iter().rev().map(|station| Ok(station.dual()?.normal())).collect()
    }

    /// Messages over all steps.
    fn messages(&self) -> Result<u128> {
        let mut sum = 0;
        for pair in self.stations()?.windows(2) {
            sum += Totals::about(&pair[0], &pair[1])?.messages;
        }
        Ok(sum)
    }

    /// Why the movement is not listed; `None` if it is. An error if a list was asked for and would
    /// be too long.
    fn why_not_listed(&self) -> Result<Option<String>> {
        let ranks = self.ranks();
        let forced = self.arguments.all || self.arguments.text;
        if ranks > RANKS_MAX && !forced {
            return Ok(Some(summary::why_ranks(ranks)));
        }
        let limit = if forced { MESSAGES_LISTABLE } else { MESSAGES_MAX };
        let messages = self.messages()?;
        if messages <= limit {
            return Ok(None);
        }
        let why = format!(
            "{} messages are more than {}",
            numbers::count(messages),
            numbers::count(limit)
        );
        if forced {
            bail!("{why}, too many to list: `--rank R` shows one rank");
        }
        Ok(Some(why))
    }

    fn check_path_is_direct(&self, what: &str) -> Result<()> {
        let path = self.arguments.path;
        if path != Path::Direct {
            let name = path.to_possible_value().map_or(String::new(), |v| v.get_name().to_owned());
            bail!("`--path {name}` needs a list of all transfers, and {what}: use `--path direct`");
        }
        if self.arguments.draw.is_some() {
            bail!("`--draw` needs a list of all transfers, and {what}: leave it out");
        }
        if self.arguments.within.is_some() {
            bail!("`--within` needs a list of all transfers, and {what}: leave it out");
        }
        Ok(())
    }

    /// The plan that was asked for, all transfers of it.
    fn plan(&self) -> Result<Plan> {
        let (source, target) = (self.source(), self.target());
        let stations = self.path.len() > 2;
        if stations && self.arguments.path != Path::Direct {
            bail!("`--via` states the path: leave out `--path`");
        }
        let missing = |why: &str| anyhow!("there is no such path: {why}");
        let plan = match self.arguments.path {
            Path::Direct => Plan::via(&self.path)?,
            Path::Best => Plan::best(source, target, &self.machine, self.element_bytes)?,
            Path::Faces => Plan::faces_only(source, target)?,
            Path::Blocks => Plan::through_blocks(source, target)?.ok_or_else(|| {
                missing(
                    "`blocks` needs a source of terms over a mesh axis that cuts nothing, a target \
                     of copies on the same mesh, and an axis in plain blocks",
                )
            })?,
            Path::Axes => Plan::axis_by_axis(source, target)?.ok_or_else(|| {
                missing(
                    "`axes` needs both sides on the same mesh, cut over the same mesh axes, and no \
                     stop that wants more than there is",
                )
            })?,
        };
        let plan = if self.arguments.adjoint { plan.adjoint()? } else { plan };
        match self.arguments.within {
            Some(bytes) => Ok(plan.within(bytes, self.element_bytes)?),
            None => Ok(plan),
        }
    }
}
