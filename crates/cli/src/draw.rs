//! `pantile draw`: pictures (SVG) of distributions, movements and teams of workers.

use anyhow::{Result, anyhow, bail};
use clap::Args;
use pantile_draw::{self as draw, Svg};
use pantile_geometry::teams::{AxisChoice, Groups, MAX_SIZE, Partition, Transpose};
use pantile_plan::{Plan, Totals};

use crate::input::{self, NamedText};
use crate::numbers::{self, parse_list, shape};
use crate::report::Report;

/// Movements with more messages are not even planned for a picture.
const MESSAGES_MAX: u128 = 100_000;

#[derive(Args)]
#[command(after_help = "\
Examples:
  pantile draw \"8x6 on x=2, y=2: block(x) halo 1, block(y)\" -o tiles.svg
  pantile draw \"8x6 on r=4: block(r), whole\" \"8x6 on r=4: whole, block(r)\" -o transpose.svg
  pantile plan \"8 on r=4: whole; sum(r)\" \"8 on r=4: whole\" --path blocks --text |
      pantile draw --plan - -o allreduce.svg
  pantile draw --broadcast 1x3 2x3 -o broadcast.svg
  pantile draw --allreduce 2x3 --axes 0 -o sums.svg

Teams of workers are grids: `2x3` is the ranks 0 to 5, `2x3@4` the ranks 4 to 9, and
`1x3@5,0,2` the ranks listed. Pictures of halos come from `pantile halo --draw`.")]
pub(crate) struct Arguments {
    /// The distribution to draw, or the first grid of workers
    #[arg(value_name = "DIST", required_unless_present = "plan")]
    source: Option<String>,
    /// Draw the movement to this distribution; or the second grid of workers
    #[arg(value_name = "TARGET")]
    target: Option<String>,
    /// Draw the plan in this file (text or JSON; `-` is standard input)
    #[arg(long, value_name = "FILE", conflicts_with = "source")]
    plan: Option<String>,
    /// Draw the movement as a table of ranks
    #[arg(long)]
    matrix: bool,
    /// Draw the groups in which the first grid is broadcast to the second
    #[arg(long, group = "teams")]
    broadcast: bool,
    /// Draw the groups in which the first grid is sum-reduced to the second
    #[arg(long, group = "teams")]
    reduce: bool,
    /// Draw the teams of an all-sum-reduce on one grid
    #[arg(long, group = "teams")]
    allreduce: bool,
    /// Axes of the grid that an all-sum-reduce sums over (default: all)
    #[arg(long, value_name = "AXES", requires = "allreduce", allow_hyphen_values = true)]
    axes: Option<String>,
    /// Match the axes of the first grid in reverse order
    #[arg(long, requires = "teams")]
    transpose_source: bool,
    /// Match the axes of the second grid in reverse order
    #[arg(long, requires = "teams")]
    transpose_target: bool,
    /// Write the picture to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: &Arguments) -> Result<Report> {
    let mut notes = Vec::new();
    let picture = if arguments.broadcast || arguments.reduce {
        two_teams(arguments)?
    } else if arguments.allreduce {
        one_team(arguments)?
    } else {
        movement(arguments, &mut notes)?
    };
    let Some(path) = &arguments.output else {
        return Ok(Report::text(picture.as_str()).with_notes(notes));
    };
    save(&picture, path)?;
    Ok(Report::text("").with_notes(notes))
}

/// Writes a picture to a file.
pub(crate) fn save(picture: &Svg, path: &str) -> Result<()> {
    let written = std::fs::write(path, picture.as_str());
    written.map_err(|error| anyhow!("{path}: cannot be written: {error}"))
}

fn movement(arguments: &Arguments, notes: &mut Vec<String>) -> Result<Svg> {
    let plan = if let Some(path) = &arguments.plan {
        let input = NamedText::from_path(path)?;
        let text = input.text()?;
        let plan = if NamedText::is_json(text) { Plan::from_json(text) } else { text.parse() };
        plan.map_err(|error| anyhow!("{}: {error}", input.name))?
    } else {
        let source = arguments.source.as_deref().unwrap_or_default();
        if source == "-" && arguments.target.as_deref() == Some("-") {
            bail!("only one distribution can come from standard input");
        }
        let source = input::distribution(source, "DIST")?;
        notes.extend(source.notes);
        let target = match arguments.target.as_deref() {
            None if arguments.matrix => bail!("`--matrix` draws a movement: expected a TARGET"),
            None => return Ok(draw::distribution(&source.distribution)?),
            Some("exchanged") => source.exchanged.ok_or_else(|| {
                anyhow!("TARGET: `exchanged` needs a DIST in JSON that says what its padding is")
            })?,
            Some(target) => {
                let target = input::distribution(target, "TARGET")?;
                notes.extend(target.notes);
                target.distribution
            }
        };
        let messages = Totals::about(&source.distribution, &target)?.messages;
        if messages > MESSAGES_MAX {
            let (got, most) = (numbers::count(messages), numbers::count(MESSAGES_MAX));
            bail!("{got} messages are too many to draw, expected at most {most}");
        }
        Plan::between(&source.distribution, &target)?
    };
    Ok(if arguments.matrix { draw::matrix(&plan)? } else { draw::plan(&plan)? })
}

/// A grid of workers and their world ranks.
struct WorkerGrid {
    extents: Vec<usize>,
    ranks: Vec<usize>,
}

/// Reads `2x3`, `2x3@4` or `1x3@5,0,2`.
fn grid(text: &str) -> Result<WorkerGrid> {
    let wrong = |why: &str| anyhow!("worker grid `{text}`: {why}");
    let (extents, ranks) = match text.split_once('@') {
        None => (text, None),
        Some((extents, ranks)) => (extents, Some(ranks)),
    };
    let extents = parse_list(extents).map_err(|why| wrong(&why))?;
    let size = extents.iter().try_fold(1_usize, |size, extent| size.checked_mul(*extent));
    let size = size.filter(|size| *size <= MAX_SIZE);
    let size = size.ok_or_else(|| wrong(&format!("has more than {MAX_SIZE} workers")))?;
    let ranks = ranks.map_or(Ok(vec![0]), parse_list).map_err(|why| wrong(&why))?;
    let ranks = match ranks[..] {
        [first] if first <= MAX_SIZE => (first..first + size).collect(),
        _ if ranks.len() == size => ranks,
        _ => return Err(wrong(&format!("lists {} ranks, expected {size}", ranks.len()))),
    };
    Ok(WorkerGrid { extents, ranks })
}

impl WorkerGrid {
    fn partition(&self, world: &Partition) -> Result<Partition> {
        let made = world.inclusive(&self.ranks).and_then(|team| team.cartesian(&self.extents));
        made.map_err(|error| anyhow!("worker grid {}: {error}", shape(&self.extents)))
    }
}

fn world(grids: &[&WorkerGrid]) -> Result<Partition> {
    let last = grids.iter().flat_map(|grid| &grid.ranks).max();
    Ok(Partition::world(last.map_or(0, |rank| rank.saturating_add(1)))?)
}

fn two_teams(arguments: &Arguments) -> Result<Svg> {
    let (Some(source), Some(target)) = (&arguments.source, &arguments.target) else {
        bail!("expected two grids of workers, for example 1x3 2x3");
    };
    let (source, target) = (grid(source)?, grid(target)?);
    let world = world(&[&source, &target])?;
    let (source, target) = (source.partition(&world)?, target.partition(&world)?);
    let transpose =
        Transpose { source: arguments.transpose_source, target: arguments.transpose_target };
    let groups = if arguments.broadcast {
        Groups::broadcast(&source, &target, transpose)?
    } else {
        Groups::reduction(&source, &target, transpose)?
    };
    Ok(draw::groups(&groups)?)
}

fn one_team(arguments: &Arguments) -> Result<Svg> {
    if let Some(extra) = &arguments.target {
        bail!("an all-sum-reduce has one grid of workers, found a second one: `{extra}`");
    }
    let grid = grid(arguments.source.as_deref().unwrap_or_default())?;
    let partition = grid.partition(&world(&[&grid])?)?;
    let axes = match &arguments.axes {
        None => AxisChoice::Keep(Vec::new()),
        Some(list) => {
            let axis = |part: &str| {
                part.trim().parse::<isize>().map_err(|_| {
                    anyhow!("--axes {list}: expected numbers of axes with `,` between")
                })
            };
            AxisChoice::Reduce(list.split(',').map(axis).collect::<Result<_>>()?)
        }
    };
    Ok(draw::allreduction(&partition, &axes)?)
}
