//! `pantile explain`: what a program does and costs, before it runs.

use anyhow::Result;
use clap::Args;
use pantile::Backend;
use pantile_geometry::Distribution;
use pantile_lower::{Cost, Executable, StepCost};
use pantile_plan::{Estimate, LinkClass, Machine, Terrain, Totals, Traffic, route};
use pantile_text::json::Value;

use crate::cluster::offload::{self, OffloadEstimate};
use crate::cluster::target::{ClusterTarget, is_near};
use crate::numbers::{bytes, count, plural, seconds, up_to};
use crate::pass_sizes;
use crate::program::{self, Options};
use crate::report::Report;
use crate::run::{self, BackendArgument};
use crate::table::{Align, aligned};

/// Ranks that are looked at to tell how traffic is split over links.
const SAMPLES: usize = 16;

#[derive(Args)]
#[command(after_help = "\
Nothing runs. Bytes and messages are those of the real run, counted over all ranks; times are
guesses that are only good for comparing. A loop around steps multiplies them by its turns; where
these are not known, the figures are those of one turn.

With --cluster, or PANTILE_CLUSTER=HOST:PORT in the environment, it asks the coordinator for ranks, and
says whether `pantile run` would ship the program there or run it here.

Examples:
  pantile explain examples/heat.dist -n 4
  pantile explain examples/heat.dist -n 4 --passes
  pantile explain examples/heat.dist -n 1024 --backend mpi --json
  pantile explain examples/heat.dist --cluster 127.0.0.1:7420")]
pub(crate) struct Arguments {
    #[command(flatten)]
    options: Options,
    /// What ranks are [default: threads]
    #[arg(long, value_enum)]
    backend: Option<BackendArgument>,
    /// Ranks on one node
    #[arg(long, value_name = "N", default_value_t = 64,
          value_parser = up_to(u32::MAX), allow_negative_numbers = true)]
    ranks_per_node: u32,
    /// Show what each pass of the lowering did instead
    #[arg(long)]
    passes: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    target: ClusterTarget,
}

/// What is shown.
struct Explanation {
    executable: Executable,
    cost: Cost,
    /// Traffic per class of link: of steps whose turns are known, of one turn of the others.
    links: [Traffic; 3],
    /// Memory of the rank that needs most, with what goes in and comes out.
    needed: usize,
    /// The coordinator that was asked for, and whether the program would be shipped there.
    shipping: Option<(String, OffloadEstimate)>,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: &Arguments) -> Result<Report> {
    let program = program::read(&arguments.options.path)?;
    let bound = program::bind(&program, &arguments.options.arguments)?;
    bound.check_lengths()?;
    let address = arguments.target.address(arguments.backend.is_some());
    let place = RanksPlace::of(arguments, address.as_deref())?;
    let (ranks, windows, machine) = (place.ranks, place.windows, place.machine);
    let mut setting = arguments.options.setting(ranks, Some(bound.types.clone()))?;
    setting.remote_reads = windows;
    if arguments.passes {
        return pass_sizes::report(&bound.program, &setting, arguments.json);
    }
    let executable = pantile_lower::compile(&bound.program, &setting)?;
    let terrain = Terrain::new(windows);
    let cost = executable.cost(&machine, terrain)?;
    let mut links = [Traffic::default(); 3];
    for step in &cost.steps {
        add_links(step, &machine, terrain, &mut links)?;
    }
    let needed = executable.needed_bytes(cost.peak_rank);
    let shipping = match address {
        None => None,
        Some(address) => {
            let weighed = run::weigh(&arguments.options, &bound, ranks, is_near(&address))?;
            Some((address, weighed))
        }
    };
    let explanation = Explanation { executable, cost, links, needed, shipping };
    Ok(match arguments.json {
        true => Report::json(&explanation.to_json()),
        false => Report::text(explanation.to_text()),
    })
}

/// Where ranks are.
struct RanksPlace {
    ranks: usize,
    windows: bool,
    machine: Machine,
}

impl RanksPlace {
    fn of(arguments: &Arguments, cluster: Option<&str>) -> Result<Self> {
        if let Some(address) = cluster {
            let cluster = arguments.target.connect(address, &arguments.options)?;
            let machine = offload::machine(is_near(address));
            return Ok(Self { ranks: cluster.ranks(), windows: false, machine });
        }
        let ranks = arguments.options.ranks()?;
        let windows = arguments.backend.map_or(Backend::Threads, Backend::from).has_windows();
        let per_node = usize::try_from(arguments.ranks_per_node).unwrap_or(usize::MAX);
        let machine = match windows {
            true => Machine::default().with_ranks(ranks, ranks),
            false => Machine::default().with_ranks(1, per_node),
        };
        Ok(Self { ranks, windows, machine })
    }
}

/// Adds what a step sends over each class of link, as often as it is done.
fn add_links(
    step: &StepCost,
    machine: &Machine,
    terrain: Terrain,
    links: &mut [Traffic; 3],
) -> Result<()> {
    let times = u128::from(step.times.unwrap_or(1));
    let mut own = [Traffic::default(); 3];
    for (source, target, dtype) in &step.movements {
        for pair in way(source, target, dtype.bytes(), terrain).windows(2) {
            let ends = (&pair[0], &pair[1]);
            let estimate = Estimate::between(ends, machine, dtype.bytes(), SAMPLES)?;
            for (own, more) in own.iter_mut().zip(&estimate.links) {
                own.bytes += more.bytes;
                own.messages += more.messages;
            }
        }
    }
    // What travels together has fewer messages than its parts; totals are those of the step.
    let parts = own.iter().fold((0, 0), |sum, one| (sum.0 + one.bytes, sum.1 + one.messages));
    for (link, own) in links.iter_mut().zip(&own) {
        let share = |part: u128, of: u128, all: u128| (part * all).checked_div(of).unwrap_or(0);
        link.bytes += share(own.bytes, parts.0, step.bytes) * times;
        link.messages += share(own.messages, parts.1, step.messages) * times;
    }
    Ok(())
}

/// The way that a movement takes.
fn way(
    source: &Distribution,
    target: &Distribution,
    size: usize,
    terrain: Terrain,
) -> Vec<Distribution> {
    let path = route(source, target, size, terrain);
    let exists = path.windows(2).all(|pair| Totals::between(&pair[0], &pair[1]).is_ok());
    if exists { path } else { vec![source.clone(), target.clone()] }
}

impl Explanation {
    fn to_text(&self) -> String {
        let cost = &self.cost;
        let mut out = format!(
            "{} on {}\n\n",
            plural(cost.steps.len() as u128, "step"),
            plural(self.executable.ranks as u128, "rank")
        );
        out.push_str(&self.table());
        let of_turn = if cost.bytes.is_none() {
            ", of one turn of loops that end by a condition"
        } else {
            ""
        };
        out.push_str(&format!("\ntotal{of_turn}\n"));
        let once = |one: &dyn Fn(&StepCost) -> u128| -> u128 {
            cost.steps.iter().map(|step| one(step) * u128::from(step.times.unwrap_or(1))).sum()
        };
        let mut rows = vec![vec![
            "moved".to_owned(),
            bytes(once(&|step| step.bytes)),
            plural(once(&|step| step.messages), "message"),
        ]];
        for (class, link) in LinkClass::ALL.into_iter().zip(&self.links) {
            let traffic = [bytes(link.bytes), plural(link.messages, "message")];
            rows.push([vec![format!("  {}", class.name())], traffic.to_vec()].concat());
        }
        rows.push(vec!["time".to_owned(), seconds(self.seconds())]);
        let arrays = format!("{} in arrays of rank {}", bytes(cost.peak as u128), cost.peak_rank);
        rows.push(vec!["memory".to_owned(), bytes(self.needed as u128), arrays]);
        out.push_str(&aligned(&rows, &[Align::Left, Align::Right, Align::Left], 2));
        if let Some((address, weighed)) = &self.shipping {
            let word = if weighed.is_worthwhile() { "shipped" } else { "not shipped" };
            out.push_str(&format!("\ncluster at {address}: {word}, {}\n", weighed.why()));
        }
        out
    }

    /// Predicted seconds, of one turn where turns are not known.
    fn seconds(&self) -> f64 {
        #[allow(clippy::cast_precision_loss, reason = "an estimate")]
        let times = |step: &StepCost| step.times.unwrap_or(1) as f64;
        self.cost.steps.iter().map(|step| step.seconds * times(step)).sum()
    }

    fn table(&self) -> String {
        let head = [
            "step",
            "times",
            "elements",
            "operations",
            "read",
            "written",
            "bytes",
            "messages",
            "time",
            "where",
        ];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for step in &self.cost.steps {
            let some = |number: u128| if number == 0 { ".".to_owned() } else { count(number) };
            rows.push(vec![
                format!("{}{}", "  ".repeat(step.depth), step.what),
                step.times.map_or("?".to_owned(), count),
                some(step.elements),
                some(step.operations as u128),
                some(step.arrays.0 as u128),
                some(step.arrays.1 as u128),
                if step.movements.is_empty() { ".".to_owned() } else { bytes(step.bytes) },
                if step.movements.is_empty() { ".".to_owned() } else { count(step.messages) },
                seconds(step.seconds),
                if step.place.line == 0 { String::new() } else { step.place.to_string() },
            ]);
        }
        let mut align = [Align::Right; 10];
        (align[0], align[9]) = (Align::Left, Align::Left);
        aligned(&rows, &align, 0)
    }

    fn to_json(&self) -> Value {
        let step = |step: &StepCost| {
            let movement = |(source, target, dtype): &(Distribution, Distribution, _)| {
                Value::object([
                    ("source", source.to_string().into()),
                    ("target", target.to_string().into()),
                    ("dtype", pantile_lanes::DType::name(*dtype).into()),
                ])
            };
            Value::object([
                ("what", step.what.into()),
                ("times", step.times.into()),
                ("depth", step.depth.into()),
                ("elements", big(step.elements)),
                ("operations", step.operations.into()),
                ("read", step.arrays.0.into()),
                ("written", step.arrays.1.into()),
                ("bytes", big(step.bytes)),
                ("messages", big(step.messages)),
                ("seconds", Value::float(step.seconds).unwrap_or_else(Value::null)),
                ("movements", Value::array(step.movements.iter().map(movement))),
                ("file", step.place.file.to_string().into()),
                ("line", i64::from(step.place.line).into()),
            ])
        };
        let links = LinkClass::ALL.into_iter().zip(&self.links).map(|(class, link)| {
            let traffic = [("bytes", big(link.bytes)), ("messages", big(link.messages))];
            (class.name(), Value::object(traffic))
        });
        let mut members = vec![
            ("ranks", self.executable.ranks.into()),
            ("steps", Value::array(self.cost.steps.iter().map(step))),
            ("bytes", self.cost.bytes.map_or_else(Value::null, big)),
            ("messages", self.cost.messages.map_or_else(Value::null, big)),
            ("links", Value::object(links)),
            ("seconds", self.cost.seconds.and_then(Value::float).unwrap_or_else(Value::null)),
            ("array_bytes", self.cost.peak.into()),
            ("memory_bytes", self.needed.into()),
            ("memory_rank", self.cost.peak_rank.into()),
        ];
        members.extend(self.shipping.as_ref().map(|(_, weighed)| ("cluster", weighed.to_json())));
        Value::object(members)
    }
}

fn big(value: u128) -> Value {
    Value::from(i128::try_from(value).unwrap_or(i128::MAX))
}
