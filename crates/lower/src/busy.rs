//! Which ranks have something to do in a program.

use std::sync::OnceLock;

use pantile_geometry::Rank;

use super::{Compute, Executable, SlotId, Step, TripCount};

/// Bytes of a program, on all ranks together, from which on its memory is taken before it starts.
const RESERVED_BYTES: usize = 32 << 20;

/// More ranks than these do not agree about memory before a program starts: every rank would hear of
/// every other one.
const RESERVING_RANKS: usize = 256;

/// The ranks that have something to do, listed when they are first asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Busy(OnceLock<Vec<Rank>>);

impl Executable {
    /// True if all ranks take their memory for it and agree that they have it before it starts, so
    /// that nothing has changed if one of them has not.
    #[must_use]
    pub fn is_reserved(&self) -> bool {
        self.ranks <= RESERVING_RANKS && self.total_bytes() >= RESERVED_BYTES
    }

    /// The ranks that have something to do, ascending: those that compute, send or receive elements,
    /// or have elements of results; all, if they have to [agree](Self::is_reserved) first. Rank 0 is
    /// always one of them, so that a fault that every rank would see is seen.
    ///
    /// All others leave arguments as they are, and have empty results.
    #[must_use]
    pub fn busy_ranks(&self) -> &[Rank] {
        self.busy.0.get_or_init(|| {
            let all = self.is_reserved();
            let is_busy = |rank: &Rank| *rank == 0 || all || self.is_busy(*rank);
            (0..self.ranks).filter(is_busy).collect()
        })
    }

    fn is_busy(&self, rank: Rank) -> bool {
        let mut results = self.results.iter();
        results.any(|(slot, _)| self.has_elements(*slot, rank)) || self.has_work(&self.steps, rank)
    }

    /// True if a rank has memory of a slot.
    fn has_elements(&self, slot: SlotId, rank: Rank) -> bool {
        self.local_shape(slot, rank).is_some_and(|shape| !shape.contains(&0))
    }

    /// Whatever a step does on a rank changes memory of that rank, or reads what it sends.
    fn has_work(&self, steps: &[Step], rank: Rank) -> bool {
        let has = |slot: SlotId| self.has_elements(slot, rank);
        steps.iter().any(|step| match step {
            Step::Compute(compute) => self.computes(compute, rank),
            Step::Move(step) => has(step.from) || has(step.to),
            Step::Exchange(exchange) => {
                let mut during = exchange.during.iter();
                exchange.parts.iter().any(|part| has(part.slot))
                    || during.any(|compute| self.computes(compute, rank))
            }
            Step::Finish(finish) => has(finish.to),
            Step::Product(product) => has(product.to),
            Step::Contract(contract) => has(contract.to),
            Step::Reshape { to, .. } => has(*to),
            Step::Repeat(repeat) => {
                let before = match &repeat.turns {
                    TripCount::While { before, .. } => before.as_slice(),
                    TripCount::Count { .. } => &[],
                };
                repeat.carried.iter().any(|carried| has(carried.current))
                    || self.has_work(before, rank)
                    || self.has_work(&repeat.body, rank)
            }
        })
    }

    fn computes(&self, compute: &Compute, rank: Rank) -> bool {
        let pass_through = compute.pass_through.iter().map(|(to, _)| *to);
        compute.stored().chain(pass_through).any(|slot| self.has_elements(slot, rank))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::{CompileUnit, Setting};

    fn check(distribution: &str, line: &str, result: &str, expected: &[usize]) {
        let text = format!(
            "!v = !ndarray.ndarray<5xf64, #pantile.dist<\"{distribution}\">>\n\
             !c = !ndarray.ndarray<5xf64, #pantile.dist<\"{result}\">>\n\
             func.func @main(%a: !v, %f: f64) -> !c {{\n  {line}\n  return %b : !c\n}}\n"
        );
        let program = pantile_ir::text::parse(&text, "test").unwrap();
        let setting = Setting { ranks: 8, ..Setting::default() };
        let unit = CompileUnit::Program(Arc::new(program), Box::new(setting));
        assert_eq!(unit.compile().unwrap().busy_ranks(), expected, "{line}");
    }

    #[test]
    fn ranks_without_elements_of_what_is_written_or_moved_have_nothing_to_do() {
        let add = "%b = ndarray.ewbin %a, %f {op = \"add\"} : (!v, f64) -> !c";
        check("block(r)", add, "block(r)", &[0, 1, 2, 3, 4]);
        check("whole", add, "whole", &[0, 1, 2, 3, 4, 5, 6, 7]);
        let moved = "%b = ndarray.redistribute %a : !v -> !c";
        check("block(r)", moved, "cyclic(r, 2)", &[0, 1, 2, 3, 4]);
        check("block(r)", moved, "whole", &[0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn all_ranks_agree_about_much_memory() {
        let half = super::RESERVED_BYTES / 2 / size_of::<f64>();
        for (ranks, length, expected) in [
            (2, half - 1, false),
            (2, half, true),
            (super::RESERVING_RANKS, half, true),
            (super::RESERVING_RANKS + 1, half, false),
        ] {
            let text = format!(
                "!v = !ndarray.ndarray<{length}xf64, #pantile.dist<\"rank 0: whole\">>\n\
                 func.func @main(%a: !v) -> !v {{\n  \
                 %b = ndarray.ewuny %a {{op = \"sqrt\"}} : !v -> !v\n  return %b : !v\n}}\n"
            );
            let program = pantile_ir::text::parse(&text, "test").unwrap();
            let setting = Setting { ranks, ..Setting::default() };
            let unit = CompileUnit::Program(Arc::new(program), Box::new(setting));
            let executable = unit.compile().unwrap();
            assert_eq!(executable.is_reserved(), expected, "{length} on {ranks}");
            let busy = executable.busy_ranks().len();
            assert_eq!(busy, if expected { ranks } else { 1 }, "{length} on {ranks}");
        }
    }

    #[test]
    fn the_first_rank_is_always_busy() {
        let add = "%b = ndarray.ewbin %a, %f {op = \"add\"} : (!v, f64) -> !c";
        check(
            "block(r, cuts 0 0 0 2 5 5 5 5 5)",
            add,
            "block(r, cuts 0 0 0 2 5 5 5 5 5)",
            &[0, 2, 3],
        );
    }
}
