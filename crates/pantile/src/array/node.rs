//! What is recorded: operations that wait until somebody looks at their result.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use pantile_engine::ArrayId;
use pantile_geometry::Distribution;
use pantile_ir::{Op, Place, Type};

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
        Rc::new(Self {
            made: RefCell::new(Some(Made { op, operands })),
            ty,
            place,
            stored: RefCell::new(None),
            fault: None,
            mark: Cell::new(0),
        })
    }

    /// A node that stands for a mistake.
    pub(crate) fn faulty(fault: Fault, ty: Type) -> Rc<Self> {
        let place = fault.place.clone();
        Rc::new(Self {
            made: RefCell::new(None),
            ty,
            place,
            stored: RefCell::new(None),
            fault: Some(fault),
            mark: Cell::new(0),
        })
    }

    /// Its operands; none once it is stored.
    pub(crate) fn operands(&self) -> Vec<Rc<Self>> {
        self.made.borrow().as_ref().map(|made| made.operands.clone()).unwrap_or_default()
    }

    pub(crate) fn is_stored(&self) -> bool {
        self.stored.borrow().is_some()
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
