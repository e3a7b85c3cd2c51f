//! Looking at arrays: this is when they are computed.

use std::fmt;
use std::rc::Rc;

use pantile_engine::{DType, Element, Tile};
use pantile_ir::Complex;
use pantile_plan::{Machine, Terrain};

use super::fault::Fault;
use super::given::each_owned;
use super::node::Node;
use super::{Array, World, here};

/// Arrays with more elements are shown by shape and type only.
const SHOWN: usize = 1000;

impl World {
    /// Computes several arrays in one program.
    ///
    /// # Errors
    /// What is wrong with one of them, or what a rank said.
    #[track_caller]
    pub fn compute(&self, arrays: &[&Array]) -> Result<(), Fault> {
        let place = here();
        let nodes: Vec<Rc<Node>> = arrays.iter().map(|array| array.node(&place)).collect();
        self.evaluate(&nodes)
    }
}

impl Array {
    /// Computes it now.
    ///
    /// # Errors
    /// What is wrong with it, or what a rank said.
    #[track_caller]
    pub fn compute(&self) -> Result<(), Fault> {
        let base = Rc::clone(&self.base.borrow());
        self.world.evaluate(&[base])
    }

    /// All elements in row-major order, on every process. Moves the whole array.
    ///
    /// # Errors
    /// As [`Array::compute`]; also if the elements have another type.
    #[track_caller]
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>, Fault> {
        let place = here();
        let node = self.node(&place);
        if self.fault().is_none() && T::DTYPE != self.dtype() {
            let message = format!("got elements of type {}, expected {}", self.dtype(), T::DTYPE);
            return Err(Fault::new(message, place));
        }
        self.world.evaluate(&[Rc::clone(&node)])?;
        let size = node.shape().iter().product();
        // A process that is one rank of many has to get the rest first.
        if self.world.inner.crew.borrow().hosted().len() < self.world.ranks() {
            let copies = Self::of(&self.world, node).replicate().node(&place);
            self.world.evaluate(&[Rc::clone(&copies)])?;
            return Ok(self.world.own_elements(&copies, size));
        }
        Ok(self.world.own_elements(&node, size))
    }

    /// Its only element.
    ///
    /// # Errors
    /// As [`Array::to_vec`]; also if it has not exactly one element.
    #[track_caller]
    pub fn item<T: Element>(&self) -> Result<T, Fault> {
        let place = here();
        match self.fault() {
            None if self.size() != 1 => {
                let message =
                    format!("got an array of shape {:?}, expected one element", self.shape());
                Err(Fault::new(message, place))
            }
            _ => Ok(self.to_vec::<T>()?[0]),
        }
    }

    /// Where it lives, as text. Computes it.
    ///
    /// # Errors
    /// As [`Array::compute`].
    #[track_caller]
    pub fn home(&self) -> Result<String, Fault> {
        let node = self.node(&here());
        self.world.evaluate(&[Rc::clone(&node)])?;
        let home = node.stored.borrow().as_ref().map(|stored| stored.home.to_string());
        Ok(home.unwrap_or_default())
    }

    /// What computing it will do and cost, before anything runs: loops, movements with their bytes
    /// and messages, memory.
    ///
    /// # Errors
    /// What is wrong with it.
    #[track_caller]
    pub fn explain(&self) -> Result<String, Fault> {
        let node = self.node(&here());
        let executable = self.world.plan(&[node])?;
        let terrain = Terrain::new(self.world.inner.crew.borrow().has_windows());
        let mut text = executable.to_string();
        if let Ok(cost) = executable.cost(&Machine::default(), terrain) {
            let number =
                |value: Option<u128>| value.map_or("unknown".to_owned(), |n| n.to_string());
            text += &format!(
                "moves {} bytes in {} messages; at most {} bytes of memory per rank\n",
                number(cost.bytes),
                number(cost.messages),
                cost.peak
            );
        }
        Ok(text)
    }
}

impl World {
    /// The elements of a stored node that the ranks of this process own, each at its place.
    fn own_elements<T: Element>(&self, node: &Rc<Node>, size: usize) -> Vec<T> {
        let stored = node.stored.borrow();
        let Some(stored) = stored.as_ref() else { return Vec::new() };
        let shape = node.shape();
        let mut elements = vec![T::default(); size];
        let tiles: Vec<(usize, Tile)> = self.inner.crew.borrow_mut().get(stored.id);
        for (rank, tile) in tiles {
            let mut own = tile.as_slice::<T>().iter();
            each_owned(&stored.home, rank, &mut |index| {
                let at =
                    index.iter().zip(&shape).fold(0, |at, (index, length)| at * length + index);
                if let Some(value) = own.next() {
                    elements[at] = *value;
                }
            });
        }
        elements
    }
}

/// Writes nested lists as NumPy does.
fn nested(texts: &[String], shape: &[usize], indent: usize, out: &mut String) {
    let Some((length, rest)) = shape.split_first() else {
        out.push_str(texts.first().map_or("", String::as_str));
        return;
    };
    out.push('[');
    let step = texts.len() / (*length).max(1);
    for at in 0..*length {
        if at > 0 {
            match rest.is_empty() {
                true => out.push_str(", "),
                false => {
                    out.push_str(",\n");
                    out.push_str(&" ".repeat(indent + 1));
                }
            }
        }
        nested(&texts[at * step..(at + 1) * step], rest, indent + 1, out);
    }
    out.push(']');
}

macro_rules! texts {
    ($array:expr; $($dtype:ident $type:ty),*) => {
        match $array.dtype() {
            $(DType::$dtype => $array.to_vec::<$type>().map(|list| {
                list.iter().map(|value| format!("{value:?}")).collect::<Vec<String>>()
            }),)*
            DType::C64 => $array.to_vec::<Complex<f32>>().map(|list| list.iter().map(complex).collect()),
            DType::C128 => $array.to_vec::<Complex<f64>>().map(|list| list.iter().map(complex).collect()),
        }
    };
}

fn complex<T: fmt::Debug + Copy>(value: &Complex<T>) -> String {
    format!("({:?}, {:?})", value.re, value.im)
}

impl fmt::Display for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(fault) = self.fault() {
            return write!(f, "fault: {fault}");
        }
        if self.size() > SHOWN {
            return write!(f, "array of {} with shape {:?}", self.dtype(), self.shape());
        }
        let texts = texts!(self; Bool bool, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, F32 f32, F64 f64);
        match texts {
            Err(fault) => write!(f, "fault: {fault}"),
            Ok(texts) => {
                let mut out = String::new();
                nested(&texts, &self.shape(), 0, &mut out);
                f.write_str(&out)
            }
        }
    }
}

impl fmt::Debug for Array {
    /// Shape and type; computes nothing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Array({} {:?})", self.dtype(), self.shape())
    }
}
