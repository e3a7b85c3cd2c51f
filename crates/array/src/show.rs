//! Looking at arrays: this is when they are computed.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use pantile_engine::{Element, dispatch};
use pantile_ir::Complex;
use pantile_plan::{Machine, Terrain};

use super::evaluate::Evaluation;
use super::fault::Fault;
use super::fault_kind::FaultKind;
use super::node::{Node, lock};
use super::sections::Section;
use super::{Array, Place, Session, here};

/// Arrays with more elements are shown by shape and type only.
const SHOWN: usize = 1000;

impl Session {
    /// Computes several arrays in one program.
    ///
    /// # Errors
    /// What is wrong with one of them, or what a rank said.
    #[track_caller]
    pub fn compute(&self, arrays: &[&Array]) -> Result<(), Fault> {
        match self.begin_all(arrays)? {
            None => Ok(()),
            Some(rest) => rest.finish(),
        }
    }

    /// As [`Array::begin`], for several arrays in one program.
    ///
    /// # Errors
    /// As [`Session::compute`].
    pub fn begin_all(&self, arrays: &[&Array]) -> Result<Option<Evaluation>, Fault> {
        self.begin(arrays.iter().map(|array| Arc::clone(&lock(&array.base))).collect())
    }
}

impl Array {
    /// Computes it now.
    ///
    /// # Errors
    /// What is wrong with it, or what a rank said.
    #[track_caller]
    pub fn compute(&self) -> Result<(), Fault> {
        self.world.compute(&[self])
    }

    /// Computes it now if that is quick; else gives what is left to do. For callers who hold a lock
    /// that others wait for: they can let it go before they finish the rest.
    ///
    /// # Errors
    /// As [`Array::compute`].
    pub fn begin(&self) -> Result<Option<Evaluation>, Fault> {
        self.world.begin_all(&[self])
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
            let kind = FaultKind::ElementType { got: self.dtype(), expected: T::DTYPE };
            return Err(Fault::new(kind, place));
        }
        let size = node.shape().iter().product();
        self.world.check_bytes(size * size_of::<T>())?;
        let mut elements = vec![T::default(); size];
        for section in self.gathered(node, &place)? {
            section.place(section.tile.as_slice::<T>(), 1, &mut elements);
        }
        Ok(elements)
    }

    /// Writes the bytes of all elements in row-major order, on every process. Moves the whole array.
    ///
    /// # Errors
    /// As [`Array::compute`].
    ///
    /// # Panics
    /// If there is not room for exactly these bytes.
    #[track_caller]
    pub fn write_bytes(&self, room: &mut [u8]) -> Result<(), Fault> {
        let place = here();
        assert_eq!(room.len(), self.size() * self.dtype().bytes(), "room for all bytes");
        if self.host_read(room) {
            return Ok(());
        }
        for section in self.gathered(self.node(&place), &place)? {
            section.copy_into(room);
        }
        Ok(())
    }

    /// Sections that together are the whole array.
    fn gathered(&self, node: Arc<Node>, place: &Place) -> Result<Vec<Section>, Fault> {
        self.world.evaluate(&[Arc::clone(&node)], place)?;
        let inner = &self.world.inner;
        let bytes = self.size() * self.dtype().bytes();
        let spread = lock(&node.stored).as_ref().is_some_and(|stored| !stored.home.is_copy());
        if spread && self.world.made_ranks() > 1 {
            if inner.no_comm.load(Ordering::Relaxed) {
                return Err(Fault::new(FaultKind::Gather { bytes }, place.clone()));
            }
            inner.gathered.fetch_add(bytes as u64, Ordering::Relaxed);
        }
        // A process that is one rank of many has to get the rest first.
        if self.world.inner.is_spread {
            let copies = Self::of(&self.world, node).replicate().node(place);
            self.world.evaluate(&[Arc::clone(&copies)], place)?;
            return self.world.sections_of(&copies);
        }
        match spread || self.world.inner.in_process {
            true => self.world.sections_of(&node),
            false => self.world.copy_of(&node),
        }
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
                Err(Fault::new(FaultKind::OneElement { shape: self.shape() }, place))
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
        let place = here();
        let node = self.node(&place);
        self.world.evaluate(&[Arc::clone(&node)], &place)?;
        let home = lock(&node.stored).as_ref().map(|stored| stored.home.plain.to_string());
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
        let terrain = Terrain::new(self.world.inner.windows);
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
        let texts = dispatch!(self.dtype(), T {
            bool | integers | floats => self.to_vec::<T>().map(|list| {
                list.iter().map(|value| format!("{value:?}")).collect::<Vec<String>>()
            }),
            complex => self.to_vec::<T>().map(|list| list.iter().map(complex).collect()),
        });
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
