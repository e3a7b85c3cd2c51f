//! The picture of a movement: one panel per step.

use pantile_geometry::Distribution;

use crate::canvas::{Anchor, Canvas, at};
use crate::distribution::{self, block, letters_in};
use crate::error::{DrawError, check_count};
use crate::exchange;
use crate::flow::{self, Pairs};
use crate::legend::{self, Mark};
use crate::matrix::{self, Table};
use crate::svg::Svg;
use crate::words::{clipped, counted, wrapped};
use pantile_plan::{Plan, Round, Step, Transfer};

/// The most panels.
const STEPS: usize = 24;
/// The most arrows; more are a table.
const ARROWS: usize = 150;
/// Above this a table is easier to read if most pairs of ranks have an arrow.
const CROWDED: usize = 40;

/// The picture of a plan.
pub(crate) fn picture(plan: &Plan) -> Result<Svg, DrawError> {
    check_steps(plan)?;
    let count = plan.steps().len();
    let mut canvas = Canvas::default();
    for (number, step) in plan.steps().iter().enumerate() {
        let mut panel = Canvas::default();
        let name = (count > 1).then(|| format!("step {} of {count}", number + 1));
        draw_step(&mut panel, name.as_deref(), step)?;
        stack(&mut canvas, panel);
    }
    Ok(Svg::new(canvas, &title(plan), &description(plan)))
}

/// The table of a plan.
pub(crate) fn table(plan: &Plan) -> Result<Svg, DrawError> {
    check_steps(plan)?;
    let mut canvas = Canvas::default();
    let mut y = 0.0;
    for line in wrapped(&title(plan), 70) {
        canvas.text(at(0.0, y), Anchor::Start, "title", &line);
        y += 18.0;
    }
    canvas.place(matrix::draw(&plan.matrix()), at(0.0, y));
    let low = canvas.bounds().bottom() + 22.0;
    canvas.text(at(0.0, low), Anchor::Start, "mute", &totals(plan.steps().iter()));
    Ok(Svg::new(canvas, &title(plan), &description(plan)))
}

fn check_steps(plan: &Plan) -> Result<(), DrawError> {
    if plan.steps().is_empty() {
        return Err(DrawError::NoSteps);
    }
    check_count("steps", plan.steps().len() as u128, STEPS)
}

/// Puts a panel below what is there, with a rule between them.
pub(crate) fn stack(canvas: &mut Canvas, panel: Canvas) {
    let above = canvas.bounds();
    let mut y = above.bottom();
    if above.height > 0.0 {
        let width = above.width.max(panel.bounds().width);
        canvas.line(at(0.0, y + 18.0), at(width, y + 18.0), "rule thin");
        y += 36.0;
    }
    canvas.place(panel, at(0.0, y));
}

fn draw_step(canvas: &mut Canvas, name: Option<&str>, step: &Step) -> Result<(), DrawError> {
    let drawing = match exchange::draw(step) {
        Some(exchange) => neighbours(step, exchange),
        None => two_sides(step)?,
    };
    if let Some(name) = name {
        canvas.text(at(0.0, 0.0), Anchor::Start, "title", name);
    }
    canvas.place(drawing, at(0.0, if name.is_some() { 14.0 } else { 0.0 }));
    let low = canvas.bounds().bottom() + 22.0;
    let left = canvas.bounds().x;
    canvas.text(at(left, low), Anchor::Start, "mute", &totals([step].into_iter()));
    Ok(())
}

/// Tiles in their grid with arrows between neighbours.
fn neighbours(step: &Step, exchange: exchange::ExchangePicture<'_>) -> Canvas {
    let mut canvas = Canvas::default();
    let bounds = exchange.canvas.bounds();
    let width = bounds.width.max(380.0);
    let mut y = 0.0;
    for (word, side) in [("from", &step.source), ("to", &step.target)] {
        canvas.text(at(0.0, y), Anchor::Start, "head", word);
        for line in wrapped(&clipped(side, 200), letters_in(width - 40.0)) {
            canvas.text(at(40.0, y), Anchor::Start, "mute", &line);
            y += 17.0;
        }
    }
    let mut marks = distribution::marks(&exchange.tiles);
    if exchange.wraps {
        marks.retain(|(mark, _)| *mark != Mark::Dashed);
        marks.push((Mark::Dashed, "the same worker again"));
    }
    canvas.place(exchange.canvas, at(0.0, y));
    y += bounds.height + 14.0;
    legend::draw(&mut canvas, &marks, 0.0, y, width);
    canvas
}

/// Source on the left, target on the right, arrows or a table between them.
fn two_sides(step: &Step) -> Result<Canvas, DrawError> {
    let side = |name: &str, of: &Distribution| -> Result<Canvas, DrawError> {
        let mut canvas = Canvas::default();
        block(&mut canvas, Some(name), of)?;
        Ok(canvas)
    };
    let (left, right) = (side("source", &step.source)?, side("target", &step.target)?);
    let mut table = Table::new();
    for transfer in step.transfers() {
        *table.entry((transfer.from, transfer.to)).or_insert(0) += transfer.size();
    }
    let travelling = table.iter().filter(|((from, to), _)| from != to);
    let pairs: Pairs = travelling.map(|(pair, count)| (*pair, *count)).collect();
    let senders = count(pairs.keys().map(|pair| pair.0));
    let receivers = count(pairs.keys().map(|pair| pair.1));
    let crowded = pairs.len() > CROWDED && 2 * pairs.len() > senders * receivers;
    let middle = if pairs.is_empty() {
        let mut canvas = Canvas::default();
        canvas.text(at(0.0, 0.0), Anchor::Start, "mute", "nothing travels");
        canvas
    } else if pairs.len() > ARROWS || crowded {
        matrix::draw(&table)
    } else {
        flow::draw(&pairs)
    };
    let mut canvas = Canvas::default();
    let tall = [&left, &middle, &right].map(|part| part.bounds().height);
    let tallest = tall.into_iter().fold(0.0, f64::max);
    let mut x = 0.0;
    for (part, height) in [left, middle, right].into_iter().zip(tall) {
        let width = part.bounds().width;
        canvas.place(part, at(x, (tallest - height) / 2.0));
        x += width + 36.0;
    }
    Ok(canvas)
}

fn count(ranks: impl Iterator<Item = usize>) -> usize {
    let mut ranks: Vec<usize> = ranks.collect();
    ranks.sort_unstable();
    ranks.dedup();
    ranks.len()
}

/// How much travels in how many messages, and how much stays.
fn totals<'a>(steps: impl Iterator<Item = &'a Step> + Clone) -> String {
    let most = steps.clone().map(|step| step.rounds.len()).max().unwrap_or(0);
    let rounds = if most > 1 { format!(" over {most} rounds") } else { String::new() };
    let faces = steps.clone().any(|step| step.faces_only);
    let faces = if faces { "; corners are left out" } else { "" };
    let messages: usize = steps.clone().flat_map(|step| &step.rounds).map(Round::messages).sum();
    let size = |travels: bool| -> usize {
        let all = steps.clone().flat_map(Step::transfers);
        all.filter(|transfer| transfer.travels() == travels).map(Transfer::size).sum()
    };
    let (moves, stays) = (size(true), size(false));
    let verb = if moves == 1 { "travels" } else { "travel" };
    let stay = if stays == 1 { "stays" } else { "stay" };
    let (moves, messages) = (counted(moves, "element"), counted(messages, "message"));
    format!("{moves} {verb} in {messages}{rounds}, {stays} {stay} on their rank{faces}")
}

fn title(plan: &Plan) -> String {
    let ends = plan.steps().first().zip(plan.steps().last());
    ends.map_or_else(String::new, |(first, last)| {
        format!("{} to {}", clipped(&first.source, 120), clipped(&last.target, 120))
    })
}

fn description(plan: &Plan) -> String {
    let steps = counted(plan.steps().len(), "step");
    format!("A movement in {steps}: {}.", totals(plan.steps().iter()))
}
