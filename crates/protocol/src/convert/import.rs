//! Sections of all ranks -> a distribution.

use super::Extra;
use crate::partitioned::{Partitioned, per_rank};
use crate::{Dim, DimKind, Error, Note, Section, check, normalise};
use pantile_geometry::{Axis, Cuts, Distribution, Mesh};
use std::collections::BTreeSet;

const LANGUAGE: &str = "a distribution";

/// A distribution made from a description, and what it does not keep.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Imported {
    /// Where every element lives; padding is room.
    pub distribution: Distribution,
    /// The same after an exchange: all padding is held.
    pub exchanged: Distribution,
    /// What the distribution does not keep, per axis.
    pub extras: Vec<Extra>,
    /// What was straightened on the way.
    pub notes: Vec<Note>,
}

/// The distribution of an array whose sections are these; section r is rank r's.
///
/// The sections are straightened first ([`normalise`]), then judged strictly.
///
/// # Errors
/// All findings, if the sections break rules; or what a distribution cannot say: a periodic axis
/// that is all padding, or whose outer widths differ between lines of the grid.
pub fn import(sections: &[Section]) -> Result<Imported, Error> {
    let normalised = normalise(sections);
    let findings = check(&normalised.sections);
    if !findings.is_empty() {
        return Err(Error::Invalid(findings));
    }
    let ranks: Vec<Vec<Dim>> =
        normalised.sections.iter().map(|s| s.dims().into_iter().flatten().collect()).collect();
    let mut imported = from_dims(&ranks)?;
    imported.notes.splice(0..0, normalised.notes);
    Ok(imported)
}

/// The distribution of an array in partitions, if they are dealt as the protocol can say.
///
/// # Errors
/// The dictionary is not valid, or the partitions are dealt in another way.
pub fn import_partitioned(partitioned: &Partitioned) -> Result<Distribution, Error> {
    Ok(from_dims(&per_rank(partitioned)?)?.distribution)
}

/// From the valid dimensions of all ranks.
fn from_dims(ranks: &[Vec<Dim>]) -> Result<Imported, Error> {
    let ndim = ranks.first().map_or(0, Vec::len);
    let mut notes = Vec::new();
    let lines: Vec<DimsByRank> = (0..ndim)
        .map(|axis| DimsByRank::new(axis, ranks.iter().map(|dims| &dims[axis]), &mut notes))
        .collect::<Result<_, _>>()?;
    let names: Vec<String> = (0..ndim).map(|axis| format!("d{axis}")).collect();
    let extents: Vec<(&str, usize)> =
        names.iter().map(String::as_str).zip(lines.iter().map(|line| line.dims.len())).collect();
    let mesh = if ndim == 0 { Mesh::one(0) } else { Mesh::new(&extents)? };
    let shape: Vec<usize> = lines.iter().map(DimsByRank::length).collect::<Result<_, _>>()?;
    let make = |exchanged: bool| {
        let axes = lines.iter().zip(&names).map(|(line, name)| line.axis(name, exchanged));
        let axes: Vec<Axis> = axes.collect::<Result<_, Error>>()?;
        Ok::<_, Error>(Distribution::new(&shape, mesh.clone(), axes)?)
    };
    let extras = lines.iter().map(DimsByRank::extra).collect();
    Ok(Imported { distribution: make(false)?, exchanged: make(true)?, extras, notes })
}

/// The dimensions of one axis by grid rank, all valid together.
struct DimsByRank {
    dims: Vec<Dim>,
    /// The labels in order, if some lie outside the size.
    universe: Option<Vec<i64>>,
}

/// A number that validity says is not negative.
fn unsigned(number: i64) -> Result<usize, Error> {
    usize::try_from(number).map_err(|_| Error::TooMany {
        what: "elements along an axis",
        count: u128::from(number.unsigned_abs()),
        limit: usize::MAX as u128,
    })
}

impl DimsByRank {
    fn new<'a>(
        axis: usize,
        dims: impl Iterator<Item = &'a Dim>,
        notes: &mut Vec<Note>,
    ) -> Result<Self, Error> {
        let mut line: Vec<Dim> = Vec::new();
        let mut padding_differs = false;
        // Ranks come in row-major order, so a new grid rank is always the next one.
        for dim in dims {
            let at = unsigned(dim.place().grid_rank)?;
            match line.get(at) {
                None => line.push(dim.clone()),
                Some(known) => padding_differs |= known != dim,
            }
        }
        if padding_differs {
            // All else is equal, and inner widths follow from the parts: boundary widths differ.
            let reason = "outer widths of a periodic axis that differ between lines of the grid";
            if line[0].as_block().is_some_and(|block| block.periodic) {
                return Err(Error::inexpressible(LANGUAGE, axis, reason));
            }
            let message = "boundary padding differs between lines of the grid; the first is kept";
            notes.push(Note::new(message).on(None, axis));
        }
        let universe = universe(&line);
        if let Some(labels) = &universe {
            let message =
                format!("labels outside the size: the {} labels are counted", labels.len());
            notes.push(Note::new(message).on(None, axis));
        }
        let line = Self { dims: line, universe };
        let (left, right) = line.outer();
        if line.is_periodic() && left + right > 0 && line.length()? == 0 {
            let reason = "a periodic axis that is all padding";
            return Err(Error::inexpressible(LANGUAGE, axis, reason));
        }
        Ok(line)
    }

    fn is_periodic(&self) -> bool {
        self.dims.iter().any(|dim| dim.as_block().is_some_and(|block| block.periodic))
    }

    /// Widths of the outer padding.
    fn outer(&self) -> (i64, i64) {
        let padding = |dim: Option<&Dim>| dim.and_then(Dim::as_block).map(|block| block.padding);
        let first = padding(self.dims.first()).map_or(0, |padding| padding.0);
        let last = padding(self.dims.last()).map_or(0, |padding| padding.1);
        (first, last)
    }

    /// How far positions of the axis lie below global indices.
    fn shift(&self) -> i64 {
        if self.is_periodic() { self.outer().0 } else { 0 }
    }

    fn length(&self) -> Result<usize, Error> {
        let size = self.dims.first().map_or(0, Dim::size);
        match &self.universe {
            Some(labels) => Ok(labels.len()),
            None if self.is_periodic() => unsigned(size - self.outer().0 - self.outer().1),
            None => unsigned(size),
        }
    }

    fn extra(&self) -> Extra {
        match self.dims.first().map(Dim::kind) {
            Some(DimKind::Indexed { one_to_one, .. }) => {
                Extra { one_to_one: Some(*one_to_one), ..Extra::default() }
            }
            Some(DimKind::Block(block)) if !block.periodic => {
                Extra { boundary: self.outer(), ..Extra::default() }
            }
            _ => Extra::default(),
        }
    }

    fn axis(&self, name: &str, exchanged: bool) -> Result<Axis, Error> {
        let over = &[name];
        match self.dims.first().map(Dim::kind) {
            Some(DimKind::Cyclic { block_size, .. }) => {
                Ok(Axis::cyclic(over, unsigned(*block_size)?))
            }
            Some(DimKind::Indexed { .. }) => {
                let labels = |dim: &Dim| dim.globals().collect();
                let axis = Axis::indexed(over, self.dims.iter().map(labels).collect());
                Ok(match &self.universe {
                    Some(labels) => axis.universe(labels.clone()),
                    None => axis,
                })
            }
            Some(DimKind::Block(_)) => self.blocks(over, exchanged),
            None => Ok(Axis::whole()),
        }
    }

    fn blocks(&self, over: &[&str], exchanged: bool) -> Result<Axis, Error> {
        let (shift, length) = (self.shift(), self.length()?);
        if self.dims.len() == 1 && self.outer() == (0, 0) && !self.is_periodic() {
            return Ok(Axis::whole());
        }
        let mut cuts = vec![0];
        let mut room = Vec::new();
        for dim in &self.dims {
            // Inside the outer padding of a periodic axis; boundary padding is owned elsewhere.
            let end = dim.owned().map_or(0, |owned| owned.end) - shift;
            cuts.push(unsigned(end.max(0))?.min(length));
            let block = dim.as_block().map_or((0, 0), |block| (block.start, block.stop));
            room.push((block.0 - shift, block.1 - shift));
        }
        let axis = Axis::cut(over, Cuts::At(cuts.into()));
        let axis = if exchanged { axis.held(&room) } else { axis.room(&room) };
        Ok(if self.is_periodic() { axis.periodic() } else { axis })
    }
}

/// All labels in order, if some lie outside `0..size`.
fn universe(line: &[Dim]) -> Option<Vec<i64>> {
    let outside = |dim: &Dim| match dim.kind() {
        DimKind::Indexed { indices, .. } => {
            indices.iter().any(|label| !(0..dim.size()).contains(label))
        }
        _ => false,
    };
    if !line.iter().any(outside) {
        return None;
    }
    let labels: BTreeSet<i64> = line.iter().flat_map(Dim::globals).collect();
    Some(labels.into_iter().collect())
}
