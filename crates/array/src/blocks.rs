//! Functions of neighbours and of blocks.
//!
//! A function of blocks is recorded, not called for each of them: it gets arrays that stand for
//! any block, and what it does to them becomes a function of the program. Blocks at the ends of
//! the axes may be smaller; an array is then cut into regions whose blocks all have one shape, and
//! the function is recorded once for each:
//!
//! ```text
//!   5x7 in blocks of 2x3     2x3 2x3 2x1
//!                            2x3 2x3 2x1
//!                            1x3 1x3 1x1
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use pantile_engine::DType;
use pantile_geometry::Fingerprint;
use pantile_ir::infer::ShapeError;
use pantile_ir::{Boundary, Function, Op, Place, Program, Type};
use smallvec::smallvec;

use super::error::ArrayError;
use super::fault::Fault;
use super::fault_kind::FaultKind;
use super::node::{Made, Node, lock};
use super::program::{called, function};
use super::{Array, Session, SliceItem, here};

/// A stretch of an axis: first index, last index (excluded), length of a block in it.
type AxisPart = (usize, usize, usize);

/// The farthest neighbour of a stencil: all cells up to it are held.
pub(crate) const FARTHEST: u64 = 1 << 31;

impl Array {
    /// Shifted elements times weights, summed in the order of the points: offsets and weights.
    ///
    /// ```
    /// use pantile::prelude::*;
    /// let world = Session::threads(2)?;
    /// let a = world.arange(0.0, 5.0, 1.0);
    /// let points: [(&[i64], f64); 2] = [(&[-1], 1.0), (&[2], 10.0)];
    /// let zero = a.stencil(&points, Boundary::Zero);
    /// assert_eq!(zero.to_vec::<f64>()?, [20.0, 30.0, 41.0, 2.0, 3.0]);
    /// let around = a.stencil(&points, Boundary::Periodic);
    /// assert_eq!(around.to_vec::<f64>()?, [24.0, 30.0, 41.0, 2.0, 13.0]);
    /// # Ok::<(), Fault>(())
    /// ```
    #[track_caller]
    #[must_use]
    pub fn stencil(&self, points: &[(&[i64], f64)], boundary: Boundary) -> Self {
        let place = here();
        let node = self.node(&place);
        let near = |offsets: &[i64]| offsets.iter().all(|by| by.unsigned_abs() <= FARTHEST);
        let fits = points.iter().all(|(by, _)| by.len() == self.ndim() && near(by));
        let float = matches!(self.dtype(), DType::F32 | DType::F64);
        let ty = match fits && float {
            true => Ok(Type::array(&self.shape(), self.dtype())),
            false => Err(ArrayError::Stencil { shape: self.shape(), dtype: self.dtype() }),
        };
        let op = Op::Stencil {
            points: points.iter().map(|(offsets, _)| offsets.to_vec()).collect(),
            weights: points.iter().map(|(_, weight)| weight.to_bits()).collect(),
            boundary,
        };
        Self::record(&self.world, op, smallvec![node], ty, place)
    }

    /// A function applied to every block of a fixed grid, as if each were an array of its own:
    /// `function` gets a block and gives an array of the same shape. The last blocks along an axis
    /// may be smaller. Where the blocks lie does not depend on the ranks.
    ///
    /// The function is called once for each shape of blocks, not for each block: it may compute
    /// with the block, with numbers and with arrays that it makes, but not look at elements.
    /// Other arrays are given by [`Session::map_blocks`].
    ///
    /// ```
    /// use pantile::prelude::*;
    /// let world = Session::threads(2)?;
    /// let a = world.arange(0.0, 5.0, 1.0);
    /// let centred = a.map_blocks(&[2], |block| block - block.mean());
    /// assert_eq!(centred.to_vec::<f64>()?, [-0.5, 0.5, -0.5, 0.5, 0.0]);
    /// # Ok::<(), Fault>(())
    /// ```
    #[track_caller]
    #[must_use]
    pub fn map_blocks(&self, block: &[usize], function: impl Fn(&Self) -> Self) -> Self {
        self.world.map_blocks(&[self], block, |blocks| function(&blocks[0]))
    }
}

impl Session {
    /// A function applied to the blocks of several arrays of one shape, block by block; see
    /// [`Array::map_blocks`].
    ///
    /// ```
    /// use pantile::prelude::*;
    /// let world = Session::threads(3)?;
    /// let (a, b) = (world.arange(0, 6, 1), world.full(&[6], 10));
    /// let sums = world.map_blocks(&[&a, &b], &[3], |blocks| &blocks[1] + blocks[0].sum());
    /// assert_eq!(sums.to_vec::<i64>()?, [13, 13, 13, 22, 22, 22]);
    /// # Ok::<(), Fault>(())
    /// ```
    #[track_caller]
    #[must_use]
    pub fn map_blocks(
        &self,
        arrays: &[&Array],
        block: &[usize],
        function: impl Fn(&[Array]) -> Array,
    ) -> Array {
        let place = here();
        self.mapped(arrays, block, &function, &place).unwrap_or_else(|fault| {
            let ty = arrays.first().map_or(Type::array(&[], DType::F64), |array| {
                Type::array(&array.shape(), array.dtype())
            });
            Array::of(self, Node::faulty(fault, ty))
        })
    }

    fn mapped(
        &self,
        arrays: &[&Array],
        block: &[usize],
        function: &dyn Fn(&[Array]) -> Array,
        place: &Place,
    ) -> Result<Array, Fault> {
        let shape = checked(arrays, block).map_err(|error| Fault::new(error, place.clone()))?;
        if let Some(fault) = arrays.iter().find_map(|array| array.fault()) {
            return Err(fault);
        }
        let regions = regions(&shape, block);
        let mut whole: Option<Array> = None;
        for region in &regions {
            let slice: Vec<SliceItem> =
                region.iter().map(|(from, to, _)| SliceItem::from(*from..*to)).collect();
            let views: Vec<Array> = match regions.len() {
                1 => arrays.iter().map(|array| (*array).clone()).collect(),
                _ => arrays.iter().map(|array| array.view(&slice)).collect(),
            };
            let block: Vec<usize> = region.iter().map(|(_, _, size)| *size).collect();
            let piece = self.mapped_evenly(&views, &block, function, place)?;
            if regions.len() == 1 {
                return Ok(piece);
            }
            let whole = whole.get_or_insert_with(|| like(arrays[0], piece.dtype()));
            if whole.dtype() != piece.dtype() {
                let (got, expected) = (piece.dtype(), whole.dtype());
                let kind = FaultKind::BlockType { got, expected, block };
                return Err(Fault::new(kind, place.clone()));
            }
            whole.view(&slice).assign_at(piece.into(), place)?;
        }
        whole.ok_or_else(|| Fault::new(FaultKind::NoBlocks, place.clone()))
    }

    /// All blocks have the same shape.
    fn mapped_evenly(
        &self,
        arrays: &[Array],
        block: &[usize],
        function: &dyn Fn(&[Array]) -> Array,
        place: &Place,
    ) -> Result<Array, Fault> {
        let types = arrays.iter().map(|array| Type::array(block, array.dtype()));
        let arguments: Vec<Arc<Node>> = types.map(|ty| Node::block(ty, place.clone())).collect();
        let (functions, dtype) = self.recorded(arguments, block, function, place)?;
        let operands = arrays.iter().map(|array| array.node(place)).collect();
        let ty = Type::array(&arrays[0].shape(), dtype);
        Ok(Array::of(self, Node::mapped(functions, block, operands, ty, place.clone())))
    }

    /// What a function does to blocks, with the functions that it applies itself, and the type of
    /// what it gives.
    fn recorded(
        &self,
        arguments: Vec<Arc<Node>>,
        block: &[usize],
        body: &dyn Fn(&[Array]) -> Array,
        place: &Place,
    ) -> Result<(Arc<[Function]>, DType), Fault> {
        let blocks: Vec<Array> =
            arguments.iter().map(|node| Array::of(self, Arc::clone(node))).collect();
        let recording = &self.inner.recording;
        recording.fetch_add(1, Ordering::Relaxed);
        let given = body(&blocks);
        recording.fetch_sub(1, Ordering::Relaxed);
        let (dtype, result) = (given.dtype(), given.node(place));
        drop((given, blocks));
        let outside = |node: &Node| Fault::new(FaultKind::OutsideBlock, node.place.clone());
        let ends = |node: &Node, made: Option<&Made>| match arguments
            .iter()
            .any(|own| std::ptr::eq(&raw const **own, node))
        {
            true => Ok(true),
            // A stored array, or the block of another function.
            false if made.is_none() || node.is_stored() => Err(outside(node)),
            false => Ok(false),
        };
        let results = [result];
        let guard = lock(&self.inner.evaluation_lock);
        let order = self.order(&results, &ends)?;
        drop(guard);
        if let Some(node) = held_outside(&order, &results[0]) {
            return Err(outside(&node));
        }
        if results[0].shape() != block {
            let kind = FaultKind::BlockShape { got: results[0].shape(), block: block.to_vec() };
            return Err(Fault::new(kind, place.clone()));
        }
        let (mut made, _) = function("blocks", arguments.clone(), &order, &results);
        made.place = place.clone();
        let mut functions = vec![made];
        functions.extend(called(&order));
        let program = Program { functions, aliases: Vec::new() };
        let name = format!("blocks_{:032x}", Fingerprint::of(&program.to_string()).0);
        let mut functions = program.functions;
        functions[0].name = name;
        Ok((functions.into(), dtype))
    }
}

/// A node that is referred to from outside of these nodes: no function of blocks made it.
fn held_outside(order: &[Arc<Node>], result: &Arc<Node>) -> Option<Arc<Node>> {
    let mut inside: BTreeMap<*const Node, usize> = BTreeMap::new();
    for node in order {
        for of in node.operands() {
            *inside.entry(Arc::as_ptr(&of)).or_insert(0) += 1;
        }
    }
    *inside.entry(Arc::as_ptr(result)).or_insert(0) += 1;
    let held = |node: &&Arc<Node>| {
        // One reference is the list's own.
        Arc::strong_count(node) > 1 + inside.get(&Arc::as_ptr(node)).copied().unwrap_or(0)
    };
    order.iter().find(held).cloned()
}

/// The shape of all arrays, if blocks of them can be.
fn checked(arrays: &[&Array], block: &[usize]) -> Result<Vec<usize>, ArrayError> {
    let Some(first) = arrays.first() else {
        return Err(ArrayError::NoArrays);
    };
    let shape = first.shape();
    if let Some(other) = arrays.iter().map(|array| array.shape()).find(|other| *other != shape) {
        return Err(ArrayError::Shapes { one: shape, other });
    }
    if block.len() != shape.len() || block.contains(&0) {
        let (block, ndim) = (block.to_vec(), shape.len());
        return Err(ShapeError::Blocks { block, ndim }.into());
    }
    Ok(shape)
}

/// The regions in which all blocks have the same shape; of an empty array one.
fn regions(shape: &[usize], block: &[usize]) -> Vec<Vec<AxisPart>> {
    let mut regions = vec![Vec::new()];
    for (length, size) in shape.iter().zip(block) {
        let even = length - length % size;
        let mut parts = vec![(0, even, *size), (even, *length, length - even)];
        parts.retain(|(from, to, _)| from < to);
        if parts.is_empty() {
            parts.push((0, 0, *size));
        }
        regions = regions
            .iter()
            .flat_map(|region| parts.iter().map(move |part| [region.as_slice(), &[*part]].concat()))
            .collect();
    }
    regions
}

/// Any elements, living where those of another array do.
#[track_caller]
fn like(array: &Array, dtype: DType) -> Array {
    if array.dtype() == dtype { array.copy() } else { array.equal(array).cast(dtype) }
}
