//! The structure step: what every member of a movement has, told to every other.
//!
//! Nothing that is collective may be decided from what one worker sees. So every call of a movement
//! begins with one small record per member, type and shape of its tensor, gathered by all. From the
//! same records all workers draw the same conclusion: which movement it is, or what is wrong.

use pantile_comm::CollectiveSignature;
use pantile_engine::{DType, Element};

use crate::{Error, RankContext, Tensor};

/// What a worker says about its tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Structure {
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<usize>,
}

impl Structure {
    pub(crate) fn elements(&self) -> usize {
        self.shape.iter().product()
    }

    /// As people read it.
    pub(crate) fn text(&self) -> String {
        format!("{:?} of {}", self.shape, self.dtype)
    }
}

/// What a worker says: its type, and the shape of its tensor if it gives one.
type Record = (DType, Option<Vec<usize>>);

fn encode(dtype: DType, shape: Option<&[usize]>) -> Vec<u8> {
    let mut record = vec![dtype.code(), u8::from(shape.is_some())];
    let extents = shape.unwrap_or_default().iter();
    record.extend(extents.flat_map(|extent| (*extent as u64).to_le_bytes()));
    record
}

fn decode(record: &[u8]) -> Option<Record> {
    let ([code, gives], shape) = record.split_first_chunk::<2>()?;
    let (extents, rest) = shape.as_chunks::<8>();
    let extent = |bytes: &[u8; 8]| usize::try_from(u64::from_le_bytes(*bytes)).ok();
    let shape: Option<Vec<usize>> = extents.iter().map(extent).collect();
    let whole = rest.is_empty() && (*gives == 1 || extents.is_empty());
    whole.then_some((DType::from_code(*code)?, shape.filter(|_| *gives == 1)))
}

/// A team in which structures are exchanged for one kind of movement.
#[derive(Clone, Debug)]
pub(crate) struct Council {
    pub(crate) name: &'static str,
    pub(crate) world: RankContext,
    /// World ranks of all workers that take part.
    pub(crate) team: Vec<usize>,
    /// What all of them have to agree on: the arguments of the movement.
    pub(crate) fingerprint: u64,
}

impl Council {
    /// True if this rank takes part.
    pub(crate) fn has_me(&self) -> bool {
        self.team.contains(&self.world.rank())
    }

    /// What each worker gives, in the order of the team: `None` for a worker that gives nothing. All
    /// have elements of one type, those that only receive included.
    pub(crate) fn hear<T: Element>(
        &self,
        call: &CollectiveSignature,
        mine: Option<&Tensor<T>>,
    ) -> Result<Vec<Option<Structure>>, Error> {
        let record = encode(T::DTYPE, mine.map(Tensor::shape));
        let records = self.world.engine().gather(call, &self.team, &record)?;
        let records: Option<Vec<Record>> = records.iter().map(|record| decode(record)).collect();
        let records = records.expect("records of equal calls are structures");
        let bare: Vec<Structure> = records
            .iter()
            .map(|(dtype, _)| Structure { dtype: *dtype, shape: Vec::new() })
            .collect();
        self.common(self.team.iter().copied().zip(&bare))?;
        let structure = |(dtype, shape): Record| shape.map(|shape| Structure { dtype, shape });
        Ok(records.into_iter().map(structure).collect())
    }

    /// The call of a movement of this council, asked for at `place`.
    pub(crate) fn call(
        &self,
        phase: u64,
        place: &'static std::panic::Location<'static>,
    ) -> CollectiveSignature {
        CollectiveSignature::at(self.name, self.fingerprint.wrapping_add(phase), place)
    }

    /// The one structure that several workers have, checked to be equal; `None` if no worker has one.
    pub(crate) fn common<'a>(
        &self,
        members: impl Iterator<Item = (usize, &'a Structure)>,
    ) -> Result<Option<&'a Structure>, Error> {
        let mut first: Option<(usize, &Structure)> = None;
        for (rank, structure) in members {
            match first {
                None => first = Some((rank, structure)),
                Some((earlier, expected)) if expected != structure => {
                    return Err(Error::Unequal {
                        name: self.name,
                        one: (earlier, expected.text()),
                        other: (rank, structure.text()),
                    });
                }
                Some(_) => {}
            }
        }
        Ok(first.map(|(_, structure)| structure))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back() {
        for shape in [None, Some(vec![]), Some(vec![0]), Some(vec![3, 1 << 40])] {
            let record = encode(DType::C64, shape.as_deref());
            assert_eq!(decode(&record), Some((DType::C64, shape)));
        }
        assert_eq!(decode(&[]), None);
        assert_eq!(decode(&[255, 0]), None);
        assert_eq!(decode(&[1, 1, 3]), None);
    }
}
