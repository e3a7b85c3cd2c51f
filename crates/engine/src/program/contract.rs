//! Products of matrices in the memory of one rank, by one thread or by several.

use pantile_comm::Rank;
use pantile_kernels::DType;
use pantile_kernels::lanes::Scratch;
use pantile_lower::{Contract, Executable, LocalLoop, LocalRead, LocalWrite, Places};

use super::cut::CutBox;
use super::loops::{BoxPart, LoopContext, ProgramMemories};
use crate::Error;
use crate::raw::contract;

/// Terms that cost as much as a byte of memory.
const TERMS_OF_BYTE: usize = 4;

/// The products that a rank makes.
pub(crate) struct PreparedContract {
    dtype: DType,
    boxes: Vec<BoxContract>,
}

/// A box of products: rows, columns and the contracted axis are the last three.
struct BoxContract {
    shape: Vec<usize>,
    /// Left, right, and the result: tiles and places in whole elements.
    operands: [(usize, Places); 3],
}

impl PreparedContract {
    /// What a rank does of a product.
    pub(crate) fn new(executable: &Executable, contract: &Contract, rank: Rank) -> Self {
        let buffer = |slot: pantile_lower::SlotId| executable.slots[slot.index()].buffer;
        let boxed = |one: LocalLoop| {
            let [LocalRead::Slot(left, _, from), LocalRead::Slot(right, _, by)] = &one.reads[..]
            else {
                return None;
            };
            let [LocalWrite::Slot(to, _, places)] = &one.writes[..] else { return None };
            let operands = [(left, from), (right, by), (to, places)]
                .map(|(slot, places)| (buffer(*slot), places.clone()));
            Some(BoxContract { shape: one.shape, operands })
        };
        let loops = executable.local_contract(contract, rank);
        Self {
            dtype: executable.slots[contract.to.index()].dtype,
            boxes: loops.into_iter().filter_map(boxed).collect(),
        }
    }

    /// Makes them.
    pub(crate) fn run(
        &self,
        tiles: ProgramMemories<'_>,
        context: &mut LoopContext<'_>,
    ) -> Result<(), Error> {
        self.boxes.iter().try_for_each(|one| one.run(self.dtype, tiles, context))
    }
}

impl BoxContract {
    fn run(
        &self,
        dtype: DType,
        tiles: ProgramMemories<'_>,
        context: &mut LoopContext<'_>,
    ) -> Result<(), Error> {
        let (terms, outputs) = self.shape.split_last().unwrap_or((&0, &[]));
        let cost = (terms / TERMS_OF_BYTE).max(1);
        let places = &self.operands[2].1.strides[..outputs.len()];
        match CutBox::of_map(context.thread_pool, outputs, cost, std::iter::once(places)) {
            None => self.piece(dtype, tiles, BoxPart::all(outputs), context.scratch),
            Some(cut) => context.thread_pool.run(cut.pieces, &|number, thread_scratch| {
                self.piece(
                    dtype,
                    tiles,
                    BoxPart::of(outputs, &cut, number),
                    &mut thread_scratch.scratch,
                )
            }),
        }
    }

    /// The products of a piece of the outputs.
    fn piece(
        &self,
        dtype: DType,
        tiles: ProgramMemories<'_>,
        mut piece: BoxPart,
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        piece.shape.extend(self.shape.last().copied());
        let operands = self.operands.each_ref().map(|(tile, places)| {
            let offset = places.offset + piece.shift(&places.strides);
            (tiles.at(*tile), offset, places.strides.as_slice())
        });
        Ok(contract((dtype, &piece.shape), operands, scratch.packed())?)
    }
}
