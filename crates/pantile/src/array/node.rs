//! What is recorded: operations that wait until somebody looks at their result.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use pantile_engine::ArrayId;
use pantile_geometry::Distribution;
use pantile_ir::{Function, Op, Place, Type};

use super::fault::Fault;

/// An operation, recorded or done.
pub(crate) struct Node {
    /// What it is made of; nothing once it is stored.
    pub(crate) made: RefCell<Option<Made>>,
    pub(crate) ty: Type,
    pub(crate) place: Place,
    /// Where its elements are, once they are.
    pub(crate) stored: RefCell<Option<Stored>>,
    /// What is wrong with it; whoever looks at it gets to know.
    pub(crate) fault: Option<Fault>,
    /// A number for walks through the graph.
    pub(crate) mark: Cell<u64>,
}

/// An operation with its operands.
pub(crate) struct Made {
    pub(crate) op: Op,
    pub(crate) operands: Vec<Rc<Node>>,
    /// The function that it applies to blocks, and those which that one applies.
    pub(crate) functions: Rc<[Function]>,
}

/// An array that the ranks keep as long as somebody refers to it.
pub(crate) struct Stored {
    pub(crate) id: ArrayId,
    pub(crate) home: Distribution,
    /// Where to say that nobody does any more.
    pub(crate) garbage: Rc<RefCell<Vec<ArrayId>>>,
}

impl Drop for Stored {
    fn drop(&mut self) {
        // Dropping never talks to ranks: they hear of it with the next program.
        self.garbage.borrow_mut().push(self.id);
    }
}

impl Node {
    pub(crate) fn new(op: Op, operands: Vec<Rc<Self>>, ty: Type, place: Place) -> Rc<Self> {
        let functions = Rc::new([]);
        Self::with(Some(Made { op, operands, functions }), ty, place, None)
    }

    /// An operation that applies a function to blocks: the first of these.
    pub(crate) fn mapped(
        functions: Rc<[Function]>,
        block: &[usize],
        operands: Vec<Rc<Self>>,
        ty: Type,
        place: Place,
    ) -> Rc<Self> {
        let function = functions.first().map_or_else(String::new, |first| first.name.clone());
        let op = Op::MapBlocks { function, block: block.to_vec() };
        Self::with(Some(Made { op, operands, functions }), ty, place, None)
    }

    /// A node that stands for a mistake.
    pub(crate) fn faulty(fault: Fault, ty: Type) -> Rc<Self> {
        let place = fault.place.clone();
        Self::with(None, ty, place, Some(fault))
    }

    /// A node that stands for any block, while a function of blocks is recorded.
    pub(crate) fn block(ty: Type, place: Place) -> Rc<Self> {
        Self::with(None, ty, place, None)
    }

    fn with(made: Option<Made>, ty: Type, place: Place, fault: Option<Fault>) -> Rc<Self> {
        let (made, stored, mark) = (RefCell::new(made), RefCell::new(None), Cell::new(0));
        Rc::new(Self { made, ty, place, stored, fault, mark })
    }

    /// Its operands; none once it is stored.
    pub(crate) fn operands(&self) -> Vec<Rc<Self>> {
        self.made.borrow().as_ref().map(|made| made.operands.clone()).unwrap_or_default()
    }

    pub(crate) fn is_stored(&self) -> bool {
        self.stored.borrow().is_some()
    }

    /// True if it stands for any block.
    pub(crate) fn is_block(&self) -> bool {
        self.made.borrow().is_none() && !self.is_stored() && self.fault.is_none()
    }

    /// Its lengths.
    pub(crate) fn shape(&self) -> Vec<usize> {
        self.ty.shape().iter().map(|dim| dim.unwrap_or(0)).collect()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // Chains of operations can be long: no recursion.
        let mut open: Vec<Rc<Self>> =
            self.made.get_mut().take().map(|made| made.operands).unwrap_or_default();
        while let Some(node) = open.pop() {
            if let Ok(mut last) = Rc::try_unwrap(node) {
                open.extend(last.made.get_mut().take().into_iter().flat_map(|made| made.operands));
            }
        }
    }
}
