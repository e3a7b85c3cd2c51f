//! The entry: what is checked, and which loops run for a type.

use super::blocks::{MatrixProduct, Registers};
use super::packed::{Packed, ProductSide};
use super::tile::Goal;
use crate::contract::lane::StoredElement;
use crate::simd::Vectors;
use crate::{DType, Error};

/// Terms of a panel along the contracted axis.
pub const PANEL: usize = 256;

/// Where the elements of an operand lie, by the axes of the loop: any number of axes that products
/// are made for one by one, then rows and columns of the result, then the contracted axis.
#[derive(Clone, Copy, Debug)]
pub struct MatrixLayout<'a> {
    /// The element at position 0.
    pub offset: isize,
    /// Elements from one position to the next, per axis; 0 along an axis that the operand has not.
    pub strides: &'a [isize],
}

/// An operand through a pointer.
#[derive(Clone, Copy, Debug)]
pub struct RawMatrix<'a> {
    /// The first byte.
    pub start: *mut u8,
    /// How many bytes there are.
    pub bytes: usize,
    /// Where its elements lie.
    pub places: MatrixLayout<'a>,
}

/// The product of two operands; see [`contract_raw`].
///
/// # Errors
/// As [`contract_raw`].
pub fn contract(
    loops: (DType, &[usize]),
    left: (&[u8], MatrixLayout<'_>),
    right: (&[u8], MatrixLayout<'_>),
    to: (&mut [u8], MatrixLayout<'_>),
    packed: &mut Packed,
) -> Result<(), Error> {
    contract_with(Vectors::widest(), loops, [left, right], to, packed)
}

/// The same with these vectors.
///
/// # Errors
/// As [`contract_raw`].
pub fn contract_with(
    vectors: Vectors,
    loops: (DType, &[usize]),
    [left, right]: [(&[u8], MatrixLayout<'_>); 2],
    (bytes, places): (&mut [u8], MatrixLayout<'_>),
    packed: &mut Packed,
) -> Result<(), Error> {
    let (one, other) = (left.0.as_ptr().cast_mut(), right.0.as_ptr().cast_mut());
    let operands = [
        RawMatrix { start: one, bytes: left.0.len(), places: left.1 },
        RawMatrix { start: other, bytes: right.0.len(), places: right.1 },
        RawMatrix { start: bytes.as_mut_ptr(), bytes: bytes.len(), places },
    ];
    // SAFETY: R1, R3, R6; operands are slices, the last one borrowed alone, and bools are refused.
    unsafe { run(vectors, loops, operands, packed) }
}

/// The product of two operands through pointers: left, right, and where it goes. Elements of the loop
/// that is given by type and shape: its last three axes are rows, columns and what is contracted.
///
/// # Errors
/// If the type is [`DType::Bool`], the loop has fewer than three axes, an operand has another number of
/// axes, or reaches beyond its bytes. Nothing was written then.
///
/// # Safety
/// All operands are valid for their bytes, sources for reading, the target for writing; sources
/// hold valid elements; no other thread writes any of it meanwhile; the target shares no element
/// with a source.
pub unsafe fn contract_raw(
    loops: (DType, &[usize]),
    operands: [RawMatrix<'_>; 3],
    packed: &mut Packed,
) -> Result<(), Error> {
    // SAFETY: R1, R3, R6; promised by the caller.
    unsafe { run(Vectors::widest(), loops, operands, packed) }
}

/// # Safety
/// As [`contract_raw`]; operands that leave their bytes are refused.
unsafe fn run(
    vectors: Vectors,
    (dtype, shape): (DType, &[usize]),
    operands: [RawMatrix<'_>; 3],
    packed: &mut Packed,
) -> Result<(), Error> {
    if dtype == DType::Bool {
        return Err(Error::Product { dtype });
    }
    let Some(outer) = shape.len().checked_sub(3) else {
        return Err(Error::Counts { what: "axes of a product", got: shape.len(), expected: 3 });
    };
    for operand in &operands {
        let got = operand.places.strides.len();
        if got != shape.len() {
            return Err(Error::Counts { what: "strides", got, expected: shape.len() });
        }
    }
    let (batch, inner) = shape.split_at(outer);
    if batch.contains(&0) || inner[0] == 0 || inner[1] == 0 {
        return Ok(());
    }
    let read = inner[2] > 0;
    for (number, operand) in operands.iter().enumerate().filter(|(at, _)| read || *at == 2) {
        let axes = shape.len() - usize::from(number == 2);
        inside(operand, &shape[..axes], dtype)?;
    }
    let starts = operands.map(|operand| operand.places.offset);
    CheckedProducts { shape, operands, vectors }.each(dtype, 0, starts, packed);
    Ok(())
}

/// Refuses an operand that leaves its bytes.
fn inside(operand: &RawMatrix<'_>, shape: &[usize], dtype: DType) -> Result<(), Error> {
    let (mut lowest, mut highest) = (operand.places.offset as i128, operand.places.offset as i128);
    for (length, stride) in shape.iter().zip(operand.places.strides) {
        let far = (*length as i128 - 1) * *stride as i128;
        lowest += far.min(0);
        highest += far.max(0);
    }
    let elements = operand.bytes / dtype.bytes();
    if lowest < 0 || highest >= elements as i128 {
        return Err(Error::Reach { lowest, highest, elements });
    }
    Ok(())
}

/// A loop over products.
///
/// Invariant: R1 to R3 hold for the operands: `run` has compared all three with their bytes.
struct CheckedProducts<'a> {
    shape: &'a [usize],
    operands: [RawMatrix<'a>; 3],
    vectors: Vectors,
}

impl CheckedProducts<'_> {
    /// Every product behind `axis`, from these places on.
    fn each(&self, dtype: DType, axis: usize, at: [isize; 3], packed: &mut Packed) {
        if axis + 3 < self.shape.len() {
            for index in 0..self.shape[axis].cast_signed() {
                let step =
                    |which: usize| at[which] + index * self.operands[which].places.strides[axis];
                self.each(dtype, axis + 1, [step(0), step(1), step(2)], packed);
            }
            return;
        }
        match dtype {
            DType::F32 => self.one::<f32>(1, at, packed),
            DType::F64 => self.one::<f64>(1, at, packed),
            DType::C64 => self.one::<f32>(2, at, packed),
            DType::C128 => self.one::<f64>(2, at, packed),
            DType::I8 | DType::U8 | DType::Bool => self.one::<u8>(1, at, packed),
            DType::I16 | DType::U16 => self.one::<u16>(1, at, packed),
            DType::I32 | DType::U32 => self.one::<u32>(1, at, packed),
            DType::I64 | DType::U64 => self.one::<u64>(1, at, packed),
        }
    }

    /// One product of matrices whose elements have so many lanes of type `S`.
    fn one<S: StoredElement<Lane: Registers>>(
        &self,
        parts: usize,
        at: [isize; 3],
        packed: &mut Packed,
    ) {
        let lanes = parts.cast_signed();
        let [rows, columns, terms] = [3, 2, 1].map(|back| self.shape[self.shape.len() - back]);
        let [left, right, to] = [0, 1, 2].map(|which| {
            let operand = &self.operands[which];
            let strides = operand.places.strides;
            let last = [3, 2, 1].map(|back| strides[strides.len() - back] * lanes);
            (operand.start.cast::<S>().wrapping_offset(at[which] * lanes), last)
        });
        let goal = Goal { start: to.0, down: to.1[0], across: to.1[1] };
        if terms == 0 {
            return zeros(goal, (rows, columns), parts);
        }
        let left = ProductSide { start: left.0.cast_const(), across: left.1[0], along: left.1[2] };
        let right =
            ProductSide { start: right.0.cast_const(), across: right.1[1], along: right.1[2] };
        let shape = [rows, columns, terms];
        let product =
            MatrixProduct { shape, left, right, to: goal, parts, transposed: false, packed };
        self.vectors.run(product.transposed());
    }
}

/// Writes zeros to all outputs.
fn zeros<S: StoredElement>(to: Goal<S>, (rows, columns): (usize, usize), parts: usize) {
    for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
        for part in 0..parts {
            to.from(row, column).part(part).write(S::Lane::default());
        }
    }
}
