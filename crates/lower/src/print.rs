//! Executables as text, for people.

use std::fmt::{self, Write as _};

use super::{
    Compute, Executable, Fold, IndexMap, Part, Read, Repeat, SlotId, Step, StridedRange, TripCount,
    Write,
};

impl fmt::Display for SlotId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s{}", self.index())
    }
}

impl fmt::Display for Executable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "for {} ranks", self.ranks)?;
        for (number, slot) in self.slots.iter().enumerate() {
            if slot.buffer < self.buffers {
                writeln!(f, "s{number} in m{}: {} {}", slot.buffer, slot.dtype, slot.home)?;
            }
        }
        let list = |slots: &[(SlotId, pantile_ir::Type)]| -> String {
            slots.iter().map(|(slot, _)| format!(" {slot}")).collect()
        };
        if !self.arguments.is_empty() {
            writeln!(f, "take{}", list(&self.arguments))?;
        }
        let mut text = String::new();
        self.print_steps(&self.steps, 0, &mut text)?;
        f.write_str(&text)?;
        writeln!(f, "give{}", list(&self.results))
    }
}

impl Executable {
    fn print_steps(&self, steps: &[Step], depth: usize, out: &mut String) -> fmt::Result {
        steps.iter().try_for_each(|step| self.print_step(step, depth, out))
    }

    fn print_step(&self, step: &Step, depth: usize, out: &mut String) -> fmt::Result {
        let indent = "  ".repeat(depth);
        match step {
            Step::Compute(compute) => print_compute(compute, &indent, out),
            Step::Move(step) => {
                let remote = self.remote_reads.contains(&step.to);
                let note = if remote { ", read where it is" } else { "" };
                writeln!(
                    out,
                    "{indent}{} {} -> {}: {} -> {}{note}",
                    step.name, step.from, step.to, step.source, step.target
                )
            }
            Step::Exchange(step) => {
                for (number, part) in step.parts.iter().enumerate() {
                    let word = if number == 0 { "exchange" } else { "    with" };
                    writeln!(out, "{indent}{word} {}: {}", part.slot, part.target)?;
                }
                match &step.during {
                    None => Ok(()),
                    Some(compute) => {
                        writeln!(out, "{indent}meanwhile the core of")?;
                        print_compute(compute, &format!("{indent}  "), out)
                    }
                }
            }
            Step::Finish(step) => match step.count {
                None => writeln!(out, "{indent}sum {} -> {}", step.from, step.to),
                Some(count) => writeln!(out, "{indent}sum {} / {count} -> {}", step.from, step.to),
            },
            Step::Product(step) => {
                writeln!(out, "{indent}product {} along {:?} -> {}", step.from, step.axes, step.to)
            }
            Step::Contract(step) => {
                writeln!(out, "{indent}contract {} -> {}", step.domain, step.to)?;
                step.reads.iter().try_for_each(|(slot, access)| {
                    let access: Vec<String> = access.iter().map(index_map).collect();
                    writeln!(out, "{indent}  read {slot}[{}]", access.join(", "))
                })
            }
            Step::Reshape { from, to } => writeln!(out, "{indent}reshape {from} -> {to}"),
            Step::Repeat(repeat) => self.print_repeat(repeat, depth, out),
        }
    }

    fn print_repeat(&self, repeat: &Repeat, depth: usize, out: &mut String) -> fmt::Result {
        let indent = "  ".repeat(depth);
        let carried: Vec<String> = repeat
            .carried
            .iter()
            .map(|one| format!("{} -> {} <- {}", one.initial, one.current, one.next))
            .collect();
        match &repeat.turns {
            TripCount::Count { lower, upper, step, counter, .. } => writeln!(
                out,
                "{indent}repeat {counter} from {lower} to {upper} by {step} carrying {}",
                carried.join(", ")
            )?,
            TripCount::While { before, condition } => {
                writeln!(out, "{indent}repeat while {condition} carrying {}", carried.join(", "))?;
                self.print_steps(before, depth + 1, out)?;
                writeln!(out, "{indent}do")?;
            }
        }
        self.print_steps(&repeat.body, depth + 1, out)?;
        writeln!(out, "{indent}end")
    }
}

fn print_compute(compute: &Compute, indent: &str, out: &mut String) -> fmt::Result {
    let region: Vec<String> = compute.region.iter().map(range).collect();
    write!(out, "{indent}loop [{}] of {}", region.join(", "), compute.domain)?;
    writeln!(out, ", {} operations", compute.body.operations())?;
    for read in &compute.reads {
        match read {
            Read::Slot(slot, part, access) => {
                let access: Vec<String> = access.iter().map(index_map).collect();
                writeln!(out, "{indent}  read {slot}[{}]{}", access.join(", "), part_name(*part))?;
            }
            Read::Index { offset, strides } => {
                writeln!(out, "{indent}  index {offset} + {strides:?}")?;
            }
        }
    }
    for (axis, windows) in compute.overcompute.iter().enumerate() {
        let Some(windows) = windows else { continue };
        let windows: Vec<String> =
            windows.iter().map(|(from, to)| format!("{from}:{to}")).collect();
        writeln!(out, "{indent}  computes {} of axis {axis}", windows.join(" "))?;
    }
    for (to, from) in &compute.pass_through {
        writeln!(out, "{indent}  {to} is {from} elsewhere")?;
    }
    for write in &compute.writes {
        match write {
            Write::Slot(slot, part) => writeln!(out, "{indent}  write {slot}{}", part_name(*part))?,
            Write::Fold(fold, slot, at) => {
                let name = fold_name(*fold);
                write!(out, "{indent}  {name} along {:?} into {slot}", compute.reduced)?;
                writeln!(out, "{}", at.as_ref().map_or_else(String::new, |at| format!("{at:?}")))?;
            }
        }
    }
    Ok(())
}

fn range(range: &StridedRange) -> String {
    let mut text = format!("{}", range.offset);
    let size = i64::try_from(range.size).unwrap_or(i64::MAX);
    let end = range.offset + range.step * size;
    let _ = match range.step {
        1 => write!(text, "..{end}"),
        step => write!(text, "..{end} by {step}"),
    };
    text
}

fn index_map(index_map: &IndexMap) -> String {
    match index_map {
        IndexMap::Fixed(index) => index.to_string(),
        IndexMap::Moves { axis, offset, step } => {
            let factor = match step {
                1 => String::new(),
                -1 => "-".to_owned(),
                step => format!("{step}*"),
            };
            let shift = match offset {
                0 => String::new(),
                offset if *offset > 0 => format!("+{offset}"),
                offset => offset.to_string(),
            };
            format!("{factor}k{axis}{shift}")
        }
    }
}

fn part_name(part: Part) -> &'static str {
    match part {
        Part::Whole => "",
        Part::Real => ".re",
        Part::Imaginary => ".im",
    }
}

fn fold_name(fold: Fold) -> &'static str {
    match fold {
        Fold::Exact => "exact sum",
        Fold::Rounded(_) => "rounded sum",
        Fold::Plain => "plain sum",
        Fold::Sum => "sum",
        Fold::Prod => "product",
        Fold::Min => "min",
        Fold::Max => "max",
        Fold::Any => "any",
        Fold::All => "all",
    }
}
