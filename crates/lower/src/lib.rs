//! Lowering: from an array program to the steps of every rank, every question of geometry answered.
//!
//! Elementwise operations stay expressions (`expr`) until their elements are needed in
//! memory; then they become one fused loop (`communication_insertion`), run where the least has to move. Slices,
//! permutations and broadcasts are only other ways to read. Assignments write a region of the next
//! version of an array. Which halos are exchanged is known when all reads are: one exchange per
//! version of an array (`halo_placement`).
//!
//! Must never contain threads, transports, fast kernels, I/O, clocks or `unsafe`.

mod blocks;
mod busy;
mod communication_insertion;
mod compile_unit;
mod contract;
mod control;
mod cost;
mod create;
mod elementwise;
mod error;
mod executable;
mod expr;
mod fuse;
mod halo_placement;
mod liveness;
mod local;
mod operation_lowering;
mod overlap;
mod panels;
mod pipeline;
mod place;
mod placed;
mod print;
mod reduce;
mod remote_reads;
mod slices;
mod small_axis_unrolling;
mod steps;
mod team;
mod time_tiling;
mod values;

use std::collections::BTreeMap;

use pantile_geometry::{Distribution, Fingerprint, Rank};
use pantile_lanes::DType;

pub use contract::Contract;
pub use cost::{Cost, StepCost};
pub use error::{
    CompileUnitError, LoopError, LowerError, LowerErrorKind, OperationError, PassFault, PassNeeds,
    PlaceError, StridedRangeError,
};
pub use executable::{
    Carried, Compute, Exchange, ExchangePart, Executable, Finish, Fold, IndexMap, Move, Part,
    Product, Read, Repeat, Slot, SlotId, Step, StridedRange, TripCount, Write,
};

pub use compile_unit::CompileUnit;
pub use local::{LocalCopy, LocalLoop, LocalRead, LocalWrite, Places, owned_places};
pub use pipeline::{LowerPass, PASSES, Stage, StageSize, compile, compile_observed, find};
pub use placed::place;
pub use team::{home_of, ranks_named};
pub use values::values;

use expr::{ExprId, Exprs};
use pantile_ir::{Block, Function, Place, Program, Type, Value};
use place::Windows;
use placed::Homes;

/// Lengths at which lowering chooses another way, by name: tests draw sizes around them.
#[doc(hidden)]
pub const THRESHOLDS: &[(&str, usize)] = &[
    ("lower::FEW_WORTH", small_axis_unrolling::WORTH),
    ("lower::MOST_FOLDS", small_axis_unrolling::MOST_FOLDS),
    ("lower::FEW_ELEMENTS", fuse::FEW_ELEMENTS),
    ("lower::PANEL", panels::PANEL),
    ("lower::PANELS_ADDED", panels::ADDED),
];

/// Number of words of a sum in long form: digits, and counts of NaN and infinities.
pub const SUM_WORDS: usize = 71;

/// Most operations that loops which are written out turn by turn, and functions that are called, may
/// become; a program that is written longer may be as long as it is. Nested loops of a few lines would
/// otherwise be lowered for ever.
pub const OPERATIONS_MAX: usize = 1 << 15;

/// What a program is lowered for.
#[derive(Clone, Debug, Default)]
pub struct Setting {
    /// Number of ranks of the world.
    pub ranks: usize,
    /// The ranks over which arrays are cut that name no mesh, if these are not all: the first ones.
    pub cut_over: Option<usize>,
    /// The ranks of named teams; other names mean all ranks.
    pub teams: BTreeMap<String, Vec<Rank>>,
    /// The types of the arguments that are really given, where the program leaves lengths open.
    pub arguments: Option<Vec<Type>>,
    /// How the arguments really lie in memory, with the room around them, where a caller lends them;
    /// else they are copied in, and live where their types say.
    pub lent: Option<Vec<Lent>>,
    /// True if sums of real floats may be rounded at every step, in any order: 8 bytes per number
    /// travel instead of 568, and the last digits depend on the ranks.
    pub fast: bool,
    /// How many steps in time one exchange of halos serves, if more than 1: halos are wider, and
    /// ranks compute in them what their neighbours compute too. The results are the same.
    pub steps_per_exchange: usize,
    /// True if ranks see each other's memory: what one loop alone needs of others is not copied.
    pub remote_reads: bool,
}

/// An argument that a program reads where it is.
#[derive(Clone, Debug)]
pub struct Lent {
    /// Where its elements live, and the room around them.
    pub home: Distribution,
    /// True if it is not needed afterwards: the program may do with its memory what it likes.
    pub spent: bool,
}

/// Lowers the entry function of a program of values (no assignments in place): every loop alone,
/// every array in memory of its own.
///
/// # Errors
/// If something is not known before the program runs, or cannot live where the program says.
pub fn lower(program: &Program, setting: &Setting) -> Result<Executable, LowerError> {
    let Some(function) = program.entry() else {
        return Err(LowerErrorKind::NoFunction.at(Place::default()));
    };
    let mut lowering = Lowering::new(program, function, setting);
    lowering.entry().map_err(|kind| kind.at(lowering.place.clone()))
}

/// A slot on its way.
pub(crate) struct SlotInfo {
    dtype: DType,
    home: Distribution,
    /// What is asked for beyond the owned part, per axis.
    windows: Vec<Option<Windows>>,
    /// What there is room for anyway, per axis: more than is asked for, perhaps.
    room: Vec<Option<Windows>>,
    place: Place,
    /// Slots of one class trade places in loops: they get the same room.
    room_class: SlotId,
}

impl SlotInfo {
    /// What it gets room for, per axis.
    pub(crate) fn all_room(&self) -> Vec<Option<Windows>> {
        self.windows.iter().zip(&self.room).map(|(one, other)| place::join(one, other)).collect()
    }
}

/// How a value is used.
#[derive(Clone, Copy, Default)]
pub(crate) struct Uses {
    /// Number of operations that use it.
    count: usize,
    /// True if all of them are elementwise of its own shape.
    pointwise: bool,
    /// True if one of them is in a block inside of the one where it is made.
    deeper: bool,
}

/// A program on its way.
pub(crate) struct Lowering<'a> {
    program: &'a Program,
    function: &'a Function,
    setting: &'a Setting,
    ranks: usize,
    exprs: Exprs,
    slots: Vec<SlotInfo>,
    steps: Vec<Step>,
    env: BTreeMap<Value, ExprId>,
    /// Expressions that have a slot.
    made: BTreeMap<ExprId, SlotId>,
    /// Copies of slots elsewhere.
    copies: BTreeMap<(SlotId, Fingerprint), SlotId>,
    /// Sums of expressions along axes, divided by a count if there is one: deviations need means.
    sums: BTreeMap<(ExprId, Vec<usize>, Option<u64>), ExprId>,
    uses: BTreeMap<Value, Uses>,
    /// Where values live, if the caller wants to know.
    homes: Option<Homes>,
    place: Place,
    /// How deep functions call each other.
    calls: usize,
    /// Operations that may still be lowered.
    left: usize,
}

impl<'a> Lowering<'a> {
    fn new(program: &'a Program, function: &'a Function, setting: &'a Setting) -> Self {
        Self {
            program,
            function,
            setting,
            ranks: setting.ranks,
            exprs: Exprs::default(),
            slots: Vec::new(),
            steps: Vec::new(),
            env: BTreeMap::new(),
            made: BTreeMap::new(),
            copies: BTreeMap::new(),
            sums: BTreeMap::new(),
            uses: BTreeMap::new(),
            homes: None,
            place: function.place.clone(),
            calls: 0,
            left: OPERATIONS_MAX.max(program.operations()),
        }
    }

    fn entry(&mut self) -> Result<Executable, LowerErrorKind> {
        if self.ranks == 0 {
            return Err(LowerErrorKind::NoRanks);
        }
        let function = self.function;
        self.count_uses(&function.body, 0, &mut BTreeMap::new());
        let arguments = self.arguments(function)?;
        let results = self.block(&function.body)?;
        let results = self.results(function, &results)?;
        self.note_results(function, &results)?;
        self.finish(arguments, results)
    }

    fn arguments(&mut self, function: &Function) -> Result<Vec<(SlotId, Type)>, LowerErrorKind> {
        let given = self.setting.arguments.clone();
        if let Some(given) = &given
            && given.len() != function.body.arguments.len()
        {
            let (got, expected) = (given.len(), function.body.arguments.len());
            let function = function.name.clone();
            return Err(LowerErrorKind::Arguments { function, got, expected });
        }
        let mut slots = Vec::new();
        for (number, value) in function.body.arguments.iter().enumerate() {
            let declared = function.ty(*value);
            let ty = match &given {
                Some(given) => self.bound(number, declared, &given[number])?,
                None => declared.clone(),
            };
            let shape: Option<Vec<usize>> = ty.shape().iter().copied().collect();
            let (Some(shape), Some(dtype)) = (shape, ty.dtype()) else {
                return Err(LowerErrorKind::UnknownLengths { number });
            };
            let lent = self.setting.lent.as_ref().and_then(|list| list.get(number));
            let slot = match lent {
                Some(lent) => {
                    let slot = self.new_slot(dtype, place::plain(&lent.home)?);
                    self.slots[slot.index()].room = place::windows_of(&lent.home);
                    slot
                }
                None => {
                    let home = self.declared_home(&ty, &shape)?;
                    let home = home.map_or_else(|| self.auto(&shape), Ok)?;
                    self.new_slot(dtype, home)
                }
            };
            let expr = self.exprs.slot(slot, dtype, &shape);
            self.env.insert(*value, expr);
            self.note_home(*value)?;
            slots.push((slot, ty));
        }
        Ok(slots)
    }

    /// A declared type with the lengths of what is given.
    fn bound(&self, number: usize, declared: &Type, given: &Type) -> Result<Type, LowerErrorKind> {
        let (want, got) = (declared.shape(), given.shape());
        let fits = want.len() == got.len()
            && want.iter().zip(got).all(|(want, got)| want.is_none() || want == got);
        if !fits || declared.dtype() != given.dtype() {
            return Err(LowerErrorKind::Argument {
                number,
                got: (got.to_vec(), given.dtype()),
                expected: (want.to_vec(), declared.dtype()),
            });
        }
        let mut ty = declared.clone();
        if let Type::Array(array) = &mut ty {
            array.shape = got.to_vec();
        }
        Ok(ty)
    }

    fn results(
        &mut self,
        function: &Function,
        results: &[ExprId],
    ) -> Result<Vec<(SlotId, Type)>, LowerErrorKind> {
        let mut slots = Vec::new();
        for (expr, ty) in results.iter().zip(&function.results) {
            let shape = self.exprs[*expr].shape.clone();
            let hint = match ty {
                Type::Array(_) => self.declared_home(ty, &shape)?,
                _ => None,
            };
            let slot = self.materialise(*expr, hint.as_ref())?;
            let mut ty = ty.clone();
            if let Type::Array(array) = &mut ty {
                array.shape = shape.into_iter().map(Some).collect();
            }
            slots.push((slot, ty));
        }
        Ok(slots)
    }

    fn auto(&self, shape: &[usize]) -> Result<Distribution, PlaceError> {
        Distribution::auto(shape, self.cut_over()).map_err(PlaceError::Distribution)
    }

    /// The number of ranks over which arrays are cut that name no mesh.
    fn cut_over(&self) -> usize {
        self.setting.cut_over.unwrap_or(self.ranks)
    }

    /// Lowers the operations of a block; gives what its last operation passes on.
    fn block(&mut self, block: &'a Block) -> Result<Vec<ExprId>, LowerErrorKind> {
        for operation in &block.operations {
            if operation.place.line != 0 {
                self.place = operation.place.clone();
            }
            let left = self.left.checked_sub(1);
            self.left = left.ok_or(LowerErrorKind::TooManyOperations { limit: OPERATIONS_MAX })?;
            if let Some(values) = self.operation(operation)? {
                return Ok(values);
            }
            self.note_homes(operation)?;
        }
        Ok(Vec::new())
    }
}
