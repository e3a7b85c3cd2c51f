//! Tensors that are the blocks of one array: where the cuts are, found from the blocks.

use pantile_geometry::{Axis, Cuts, Distribution};

use crate::structure::{Council, Structure};
use crate::{Error, Partition};

/// The extents of the blocks along each axis, by coordinate.
pub(crate) type Extents = Vec<Vec<usize>>;

/// The extents of the blocks that the members of `partition` have. Every worker with the same
/// coordinate on an axis must have the same extent there.
pub(crate) fn extents(
    council: &Council,
    partition: &Partition,
    heard: &[Option<Structure>],
) -> Result<Extents, Error> {
    let shape = partition.team().shape();
    let mut extents: Vec<Vec<Option<(usize, usize)>>> =
        shape.iter().map(|workers| vec![None; *workers]).collect();
    for (rank, structure) in council.team.iter().zip(heard) {
        let (Some(place), Some(structure)) = (partition.team().rank_of(*rank), structure) else {
            continue;
        };
        let index = partition.team().cartesian_index(place)?;
        let wrong = |expected: String| Error::WrongShape {
            name: council.name,
            rank: *rank,
            got: structure.shape.clone(),
            expected,
        };
        if structure.shape.len() != shape.len() {
            return Err(wrong(format!("{} axes, as the partition has", shape.len())));
        }
        for (axis, extent) in structure.shape.iter().enumerate() {
            match &mut extents[axis][index[axis]] {
                Some((earlier, known)) if known != extent => {
                    return Err(wrong(format!(
                        "{known} along axis {axis}, as rank {earlier} has at the same coordinate"
                    )));
                }
                slot => *slot = Some((*rank, *extent)),
            }
        }
    }
    let known = |slot: Option<(usize, usize)>| slot.map_or(0, |(_, extent)| extent);
    Ok(extents.into_iter().map(|axis| axis.into_iter().map(known).collect()).collect())
}

/// The shape of the array that blocks of these extents make.
pub(crate) fn global_shape(extents: &Extents) -> Vec<usize> {
    extents.iter().map(|axis| axis.iter().sum()).collect()
}

/// Where the cuts are between parts of these extents.
pub(crate) fn cuts(extents: &[usize]) -> Cuts {
    let mut cuts = vec![0];
    for extent in extents {
        cuts.push(cuts[cuts.len() - 1] + extent);
    }
    Cuts::At(cuts.into())
}

/// The array of these blocks on the mesh of a partition.
pub(crate) fn distribution(
    partition: &Partition,
    extents: &Extents,
) -> Result<Distribution, Error> {
    let axes = extents.iter().enumerate();
    let axes = axes.map(|(axis, extents)| Axis::cut(&[&name(axis)], cuts(extents)));
    Ok(Distribution::new(&global_shape(extents), partition.mesh()?, axes.collect())?)
}

/// The name of a partition's axis in its mesh.
pub(crate) fn name(axis: usize) -> String {
    format!("p{axis}")
}
