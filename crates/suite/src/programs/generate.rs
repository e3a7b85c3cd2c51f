//! Programs from a number.

use pantile_ir::{Op, Operation, Program, Type, Value};
use pantile_testkit::Rng;

use super::maker::{Known, Maker};
use super::{Trial, data};

impl Maker<'_> {
    /// One more operation.
    pub(super) fn operation(&mut self) {
        match self.rng.below(55) {
            0..4 => self.unary(),
            4..10 => self.binary(),
            10..12 => self.choose(),
            12 => self.clip(),
            13..15 => self.cast_element(),
            15..18 => self.reduce(),
            18..22 => self.slice(),
            22..26 => self.insert(),
            26 => self.reshape(),
            27 => self.permute(),
            28 => self.broadcast(),
            29..31 => self.same(),
            31 => self.load(),
            32 => self.arith(),
            33 => self.stencil(),
            34 => self.counted(),
            35 | 36 if self.depth < 2 => self.repeat(),
            37 if self.depth < 2 => self.repeat_while(),
            38 if self.depth < 2 => self.region(),
            39 => self.map_blocks(),
            40..44 => self.statement(),
            44 => self.long_reduce(),
            45..48 => self.matmul(),
            48 | 49 => self.moved_and_changed(),
            50 | 51 => self.steps_with_reductions(),
            52 => self.kept_element(),
            53 => self.steps_behind_a_loop(),
            _ => self.creation(),
        }
    }

    fn argument(&mut self) -> pantile_ir::reference::Array {
        let (dtype, shape) = (self.dtype(), self.shape());
        let ty = self.perhaps_placed(&shape, dtype);
        let value = self.function.value(ty);
        self.function.body.arguments.push(value);
        self.arrays.push(Known { value, dtype, shape: shape.clone() });
        data::array(self.rng, dtype, &shape)
    }

    /// The end: these values and some arrays, those that came first among them, as they may have been
    /// changed.
    fn end(&mut self, mut values: Vec<Value>) {
        for _ in 0..1 + self.rng.below(3) {
            let known = self.any();
            values.push(if self.rng.chance(1, 3) {
                let ty = self.placed(&known.shape, known.dtype);
                self.push(Op::Copy, vec![known.value], ty)
            } else {
                known.value
            });
        }
        values.extend(self.arrays.first().map(|known| known.value));
        self.function.results = values.iter().map(|value| self.ty(*value)).collect::<Vec<Type>>();
        self.operations.push(Operation::new(Op::Return, values, Vec::new()));
    }
}

/// A program for up to so many ranks, and its arguments.
#[must_use]
pub fn trial(rng: &mut Rng, ranks: usize) -> Trial {
    made(rng, ranks, |maker| {
        for _ in 0..2 + maker.rng.below(10) {
            maker.operation();
        }
        Vec::new()
    })
}

/// A program of what single random operations seldom line up to.
#[must_use]
pub fn scenes(rng: &mut Rng, ranks: usize) -> Trial {
    made(rng, ranks, |maker| {
        for _ in 0..1 + maker.rng.below(3) {
            match maker.rng.below(6) {
                0 => maker.moved_and_changed(),
                1 => maker.kept_element(),
                2 | 3 => maker.steps_behind_a_loop(),
                _ => maker.steps_with_reductions(),
            }
        }
        Vec::new()
    })
}

/// A program of long arrays and constants.
#[must_use]
pub fn long_trial(rng: &mut Rng, ranks: usize) -> Trial {
    made(rng, ranks, |maker| maker.with_constants())
}

/// A program of what `fill` makes, which returns the values that it gives and others.
fn made(rng: &mut Rng, ranks: usize, fill: impl FnOnce(&mut Maker<'_>) -> Vec<Value>) -> Trial {
    let mut maker = Maker::new(rng, ranks, "main");
    maker.team = maker.rng.chance(1, 6);
    let mut team = Vec::new();
    if maker.team && maker.rng.chance(1, 2) {
        team.extend(0..ranks);
        maker.rng.shuffle(&mut team);
        team.truncate(1 + maker.rng.below(ranks));
    }
    let mut arguments = Vec::new();
    for _ in 0..maker.rng.below(4) {
        arguments.push(maker.argument());
    }
    maker.creation();
    let values = fill(&mut maker);
    maker.end(values);
    let mut function = maker.function;
    function.body.operations = maker.operations;
    let mut functions = vec![function];
    functions.extend(maker.others);
    Trial { program: Program { functions, aliases: Vec::new() }, arguments, team }
}
