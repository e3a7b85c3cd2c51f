//! A function applied to chunks of arrays, and what becomes of its results.
//!
//! ```text
//!   input 0, split along axis 0     [ 0 | 1 | 2 ]    one chunk after the other,
//!   input 1, whole                  [     .     ]    each beside all of input 1
//!                                     f   f   f
//!   output 0, concatenated          [ 0 | 1 | 2 ]
//!   output 1, summed                      +
//! ```
//!
//! What is split and what is not is what the caller says, never what a shape looks like. A chunk of
//! length 0 is left out: it adds nothing to any result.

use std::fmt;
use std::sync::Arc;

use pantile_geometry::Cuts;
use pantile_ir::{Place, Reduction};

use super::fault::Fault;
use super::node::Node;
use super::pipeline_error::{PipelineError, ResultFault};
use super::{Array, Session, SliceItem, here, written_at};

/// How the function of a pipeline sees one of its inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// Chunk by chunk along this axis.
    Axis(usize),
    /// All of it, beside every chunk of the others.
    Whole,
}

/// How the results that the function of a pipeline gives for the chunks become one array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combine {
    /// One after the other along this axis.
    Concat(usize),
    /// Their sum: of floats the exact sum of the results, rounded once.
    Sum,
    /// Their product, over the tree of [`Array::prod_along`].
    Prod,
    /// The least of them, element by element.
    Min,
    /// The greatest of them, element by element.
    Max,
    /// True where one of them is not zero.
    Any,
    /// True where none of them is zero.
    All,
}

impl Combine {
    /// Those that need no axis, with their names.
    pub const NAMED: [(&'static str, Self); 6] = [
        ("sum", Self::Sum),
        ("prod", Self::Prod),
        ("min", Self::Min),
        ("max", Self::Max),
        ("any", Self::Any),
        ("all", Self::All),
    ];

    /// The one of this name.
    ///
    /// # Errors
    /// If there is none.
    pub fn from_name(name: &str) -> Result<Self, PipelineError> {
        let found = Self::NAMED.iter().find(|(known, _)| *known == name);
        let unknown = || PipelineError::UnknownCombine { name: name.to_owned() };
        found.map(|(_, combine)| *combine).ok_or_else(unknown)
    }

    fn reduction(self) -> Option<Reduction> {
        match self {
            Self::Concat(_) => None,
            Self::Sum => Some(Reduction::Sum),
            Self::Prod => Some(Reduction::Prod),
            Self::Min => Some(Reduction::Min),
            Self::Max => Some(Reduction::Max),
            Self::Any => Some(Reduction::Any),
            Self::All => Some(Reduction::All),
        }
    }
}

impl fmt::Display for Combine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, self.reduction()) {
            (Self::Concat(axis), _) => write!(f, "concat({axis})"),
            (_, reduction) => f.write_str(reduction.map_or("", Reduction::name)),
        }
    }
}

impl Session {
    /// A function applied to chunks of its inputs, whose results are combined: as many chunks as
    /// there are ranks, unless told otherwise, and of almost equal lengths, the longer ones first.
    ///
    /// The function is called here, once for every chunk; what it does to the chunks is recorded as
    /// any other operation on arrays, and nothing moves yet. Chunks of length 0 are left out, except
    /// if all are: then it is called once, for one of them. Chunks are its own: what it assigns to
    /// them are not visible outside.
    ///
    /// Split inputs are cut over all ranks along their axes, which moves nothing if they are so
    /// already; whole ones are on every rank. Results that are concatenated stay with the ranks that
    /// have the chunks. Concatenation, `Min`, `Max`, `Any`, `All` and sums of whole numbers give
    /// what the function gives for everything at once, if it treats chunks alike. A sum of floats
    /// is that of the results, exact and rounded once, so it depends on the chunks where the
    /// results were rounded before.
    ///
    /// ```
    /// use pantile::prelude::*;
    /// let world = Session::threads(2)?;
    /// let a = world.arange(0.0, 10.0, 1.0).reshape(&[5, 2]);
    /// let shift = world.from_vec(&[2], &[100.0, 200.0]);
    /// let results = world.pipeline(
    ///     &[(&a, Split::Axis(0)), (&shift, Split::Whole)],
    ///     &[Combine::Concat(1), Combine::Sum],
    ///     None,
    ///     |chunks| vec![(&chunks[0] + &chunks[1]).t(), chunks[0].sum_along(&[0])],
    /// )?;
    /// assert_eq!(results[0].shape(), [2, 5]);
    /// assert_eq!(results[0].to_vec::<f64>()?[5..], [201.0, 203.0, 205.0, 207.0, 209.0]);
    /// assert_eq!(results[1].to_vec::<f64>()?, [20.0, 25.0]);
    /// # Ok::<(), Fault>(())
    /// ```
    ///
    /// # Errors
    /// An axis that an array does not have, split inputs of different lengths or none at all, no
    /// chunks, a function that gives another number of arrays than there are combines, or arrays
    /// whose shapes or types differ from chunk to chunk.
    #[track_caller]
    pub fn pipeline(
        &self,
        inputs: &[(&Array, Split)],
        combines: &[Combine],
        chunks: Option<usize>,
        function: impl Fn(&[Array]) -> Vec<Array>,
    ) -> Result<Vec<Array>, Fault> {
        self.try_pipeline(inputs, combines, chunks, |chunks| Ok::<_, Fault>(function(chunks)))
    }

    /// The same with a function that may fail; see [`Session::pipeline`].
    ///
    /// # Errors
    /// What the function says, or as [`Session::pipeline`].
    #[track_caller]
    pub fn try_pipeline<E: From<Fault>>(
        &self,
        inputs: &[(&Array, Split)],
        combines: &[Combine],
        chunks: Option<usize>,
        mut function: impl FnMut(&[Array]) -> Result<Vec<Array>, E>,
    ) -> Result<Vec<Array>, E> {
        let place = here();
        let wrong = |error: PipelineError| E::from(Fault::new(error, place.clone()));
        if let Some(fault) = inputs.iter().find_map(|(array, _)| array.fault()) {
            return Err(fault.into());
        }
        let length = self.checked_inputs(inputs).map_err(wrong)?;
        if combines.is_empty() {
            return Err(wrong(PipelineError::NoCombines));
        }
        let chunks = chunks.unwrap_or_else(|| self.ranks());
        if chunks == 0 {
            return Err(wrong(PipelineError::NoChunks));
        }
        let sources: Vec<Arc<Node>> = written_at(place.clone(), || {
            inputs.iter().map(|(array, split)| placed(array, *split).node(&place)).collect()
        });
        // Longer chunks come first, so those without elements are the last.
        let mut results: Vec<Vec<Array>> = combines.iter().map(|_| Vec::new()).collect();
        for number in 0..chunks.min(length).max(1) {
            let (from, to) = Cuts::Balanced.part(length, chunks, number);
            let views: Vec<Array> = inputs
                .iter()
                .zip(&sources)
                .map(|((_, split), node)| self.chunk(node, *split, (from, to)))
                .collect();
            let given = function(&views)?;
            if let Some(fault) = given.iter().find_map(Array::fault) {
                return Err(fault.into());
            }
            self.checked_results(&given, &results, (combines, number)).map_err(wrong)?;
            results.iter_mut().zip(given).for_each(|(list, array)| list.push(array));
        }
        let combined = results.iter().zip(combines).map(|(list, combine)| match combine {
            Combine::Concat(axis) => self.concatenated(list, *axis, chunks, &place),
            other => self.folded(list, *other, &place),
        });
        Ok(combined.collect())
    }

    /// The length of what is split, if inputs can be given to a function chunk by chunk.
    fn checked_inputs(&self, inputs: &[(&Array, Split)]) -> Result<usize, PipelineError> {
        let mut split: Option<(usize, usize, usize)> = None;
        for (input, (array, how)) in inputs.iter().enumerate() {
            if !Arc::ptr_eq(&array.session().inner, &self.inner) {
                return Err(PipelineError::InputOfOtherWorld { input });
            }
            let Split::Axis(axis) = *how else { continue };
            let shape = array.shape();
            let Some(length) = shape.get(axis).copied() else {
                return Err(PipelineError::InputAxis { input, axis, shape });
            };
            let (first, along, expected) = *split.get_or_insert((input, axis, length));
            if length != expected {
                let (input, first) = ((input, axis), (first, along));
                return Err(PipelineError::InputLength { input, got: length, first, expected });
            }
        }
        split.map(|(_, _, length)| length).ok_or(PipelineError::NoSplit)
    }

    /// A chunk of an input, as an array of its own.
    fn chunk(&self, node: &Arc<Node>, split: Split, (from, to): (usize, usize)) -> Array {
        let whole = Array::of(self, Arc::clone(node));
        let Split::Axis(axis) = split else { return whole };
        whole.get(along(axis, (from, to)))
    }

    /// Refuses what a function gives for a chunk, if it does not fit the combines and what it gave
    /// before.
    fn checked_results(
        &self,
        given: &[Array],
        before: &[Vec<Array>],
        (combines, chunk): (&[Combine], usize),
    ) -> Result<(), PipelineError> {
        if given.len() != combines.len() {
            let (got, expected) = (given.len(), combines.len());
            return Err(PipelineError::Results { chunk, got, expected });
        }
        for (output, (array, combine)) in given.iter().zip(combines).enumerate() {
            let shape = array.shape();
            let wrong = |fault| Err(PipelineError::Result { chunk, output, fault });
            if !Arc::ptr_eq(&array.session().inner, &self.inner) {
                return wrong(ResultFault::OtherWorld);
            }
            let mut kept = shape.clone();
            if let Combine::Concat(axis) = combine {
                if *axis >= shape.len() {
                    return wrong(ResultFault::Axes { shape, axis: *axis });
                }
                kept[*axis] = 0;
            }
            let Some(first) = before[output].first() else { continue };
            let mut expected = first.shape();
            if let Combine::Concat(axis) = combine
                && let Some(length) = expected.get_mut(*axis)
            {
                *length = 0;
            }
            if kept != expected {
                let (combine, expected) = (*combine, first.shape());
                return wrong(ResultFault::Shape { got: shape, combine, expected });
            }
            let (got, expected) = (array.dtype(), first.dtype());
            if got != expected {
                return wrong(ResultFault::Type { got, expected });
            }
        }
        Ok(())
    }

    /// Results one after the other; with a chunk for every rank, each stays where it is.
    fn concatenated(&self, parts: &[Array], axis: usize, chunks: usize, place: &Place) -> Array {
        let mut shape = parts[0].shape();
        let mut cuts = vec![0];
        for part in parts {
            cuts.push(cuts[cuts.len() - 1] + part.shape()[axis]);
        }
        shape[axis] = cuts[parts.len()];
        let cut = match chunks == self.ranks() {
            true => {
                let all = (0..=chunks).map(|at| cuts[at.min(parts.len())].to_string());
                format!("block(r, cuts {})", all.collect::<Vec<_>>().join(" "))
            }
            false => "block(r)".to_owned(),
        };
        written_at(place.clone(), || {
            // Places of cuts are only right for so many ranks.
            let home = format!("r={}: {}", self.ranks(), cut_along(shape.len(), axis, &cut));
            let whole = self.dist(&home).empty_of(&shape, parts[0].dtype());
            for (number, part) in parts.iter().enumerate() {
                whole.set(along(axis, (cuts[number], cuts[number + 1])), part);
            }
            whole
        })
    }

    /// Results of one shape, combined element by element.
    fn folded(&self, parts: &[Array], combine: Combine, place: &Place) -> Array {
        let shape = [&[parts.len()], &*parts[0].shape()].concat();
        let anywhere = Self { inner: Arc::clone(&self.inner), default_placement: None };
        written_at(place.clone(), || {
            let all = anywhere.empty_of(&shape, parts[0].dtype());
            for (number, part) in parts.iter().enumerate() {
                all.set([SliceItem::from(number)], part);
            }
            let reduction = combine.reduction().unwrap_or(Reduction::Sum);
            all.reduce(reduction, Some(&[0]), false, 0.0)
        })
    }
}

/// An input where its chunks are computed, as an array of its own.
fn placed(array: &Array, split: Split) -> Array {
    match split {
        Split::Axis(axis) => array.redistribute(&cut_along(array.ndim(), axis, "block(r)")),
        Split::Whole => array.replicate(),
    }
}

/// The text of a distribution that cuts one axis.
fn cut_along(axes: usize, axis: usize, cut: &str) -> String {
    let texts = (0..axes).map(|at| if at == axis { cut } else { "whole" });
    texts.collect::<Vec<_>>().join(", ")
}

/// The slice of a part of one axis.
fn along(axis: usize, (from, to): (usize, usize)) -> Vec<SliceItem> {
    let mut items = vec![SliceItem::from(..); axis];
    items.push(SliceItem::from(from..to));
    items
}
