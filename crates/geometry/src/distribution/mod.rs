//! Where every element of an array lives.

mod boxes;
mod change;
mod normal;
mod owned;
mod path;
mod query;

pub use boxes::{BOXES_LIMIT, Boxes};
pub use owned::{OwnedElements, OwnedRun, OwnedRuns};
pub use query::ElementHolder;

use crate::axis::{Axis, AxisMap};
use crate::number::checked_product;
use crate::{Error, Kind, Mesh, Operator, Rank};

/// Where every element of an array lives: global shape, mesh, one axis map per array axis and
/// one kind per direction.
///
/// A *direction* is an array axis with all the mesh axes that cut it, or a mesh axis that cuts
/// nothing. The holders of an element are the product over the directions.
///
/// `==`, `Hash` and [`Distribution::fingerprint`] see the normal form: equal distributions have
/// equal holders, owners and plans. The text form prints and parses without loss.
///
/// ```
/// use pantile_geometry::Distribution;
/// let rows: Distribution = "8x6 on r=4: block(r) halo 1, whole".parse()?;
/// assert_eq!(rows.owner(&[4, 0]).map(|holder| holder.rank), Some(2));
/// assert_eq!(rows.holders(&[4, 0]).len(), 2);
/// assert_eq!(rows.to_string(), "8x6 on r=4: block(r) halo 1, whole");
/// # Ok::<(), pantile_geometry::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Distribution {
    shape: Vec<usize>,
    mesh: Mesh,
    map: Map,
    operator: Operator,
}

/// Product of axes, or one box per rank.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Map {
    Axes(Product),
    Boxes(Boxes),
}

/// Invariants: one axis map and kind per array axis; one kind per mesh axis, which counts only
/// where that mesh axis cuts nothing; a mesh axis cuts at most one array axis.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Product {
    pub(crate) axes: Vec<AxisMap>,
    pub(crate) axis_kinds: Vec<Kind>,
    pub(crate) mesh_kinds: Vec<Kind>,
}

/// A direction of a distribution, as users name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction<'a> {
    /// An array axis with the mesh axes that cut it.
    Axis(usize),
    /// A mesh axis that cuts nothing.
    Mesh(&'a str),
}

impl Distribution {
    /// An array of this shape on `mesh`, one description per array axis; all directions Copies.
    ///
    /// # Errors
    /// A description does not fit its axis or the mesh, or a mesh axis is used twice.
    pub fn new(shape: &[usize], mesh: Mesh, axes: Vec<Axis>) -> Result<Self, Error> {
        checked_product("number of elements", shape)?;
        if axes.len() != shape.len() {
            let (got, expected) = (axes.len(), shape.len());
            return Err(Error::Count { what: "axis descriptions", got, expected });
        }
        let described = axes.into_iter().zip(shape).enumerate();
        let axes: Vec<AxisMap> = described
            .map(|(axis, (description, length))| description.resolve(axis, *length, &mesh))
            .collect::<Result<_, _>>()?;
        let mut used = vec![false; mesh.shape().len()];
        for axis in axes.iter().flat_map(AxisMap::over) {
            if std::mem::replace(&mut used[*axis], true) {
                let name = mesh.names()[*axis].clone();
                return Err(Error::MeshAxis { name, problem: "is used twice" });
            }
        }
        let axis_kinds = vec![Kind::Copies; axes.len()];
        let mesh_kinds = vec![Kind::Copies; mesh.shape().len()];
        let map = Map::Axes(Product { axes, axis_kinds, mesh_kinds });
        Ok(Self { shape: shape.to_vec(), mesh, map, operator: Operator::Sum })
    }

    /// Array axis `i` in balanced blocks over mesh axis `i`; further array axes are whole.
    ///
    /// # Errors
    /// The shape is too large.
    pub fn blocks(shape: &[usize], mesh: Mesh) -> Result<Self, Error> {
        let names: Vec<String> = mesh.names().to_vec();
        let axis = |axis: usize| match names.get(axis) {
            Some(name) => Axis::block(&[name]),
            None => Axis::whole(),
        };
        Self::new(shape, mesh, (0..shape.len()).map(axis).collect())
    }

    /// The whole array on every rank of the mesh.
    ///
    /// # Errors
    /// The shape is too large.
    pub fn copies(shape: &[usize], mesh: Mesh) -> Result<Self, Error> {
        Self::new(shape, mesh, vec![Axis::whole(); shape.len()])
    }

    /// The whole array on one rank.
    ///
    /// # Errors
    /// The shape is too large.
    pub fn on_rank(shape: &[usize], rank: Rank) -> Result<Self, Error> {
        Self::copies(shape, Mesh::one(rank))
    }

    /// What an array gets whose distribution nobody states: copies below 4,096 elements, else
    /// balanced blocks of axis 0, over the ranks `0..ranks`.
    ///
    /// # Errors
    /// The shape is too large, or there are no ranks.
    pub fn auto(shape: &[usize], ranks: usize) -> Result<Self, Error> {
        let mesh = Mesh::line(ranks)?;
        let size = checked_product("number of elements", shape)?;
        if size < 4096 { Self::copies(shape, mesh) } else { Self::blocks(shape, mesh) }
    }

    /// The same with Terms of `operator` along these directions.
    ///
    /// # Errors
    /// A direction does not exist, or there are boxes.
    pub fn with_terms(
        mut self,
        directions: &[Direction<'_>],
        operator: Operator,
    ) -> Result<Self, Error> {
        for direction in directions {
            let Map::Axes(product) = &mut self.map else {
                let problem = "has boxes: they are one direction";
                return Err(Error::ArrayAxis { axis: 0, problem });
            };
            match direction {
                Direction::Axis(axis) => match product.axis_kinds.get_mut(*axis) {
                    Some(kind) => *kind = Kind::Terms,
                    None => {
                        return Err(Error::ArrayAxis { axis: *axis, problem: "does not exist" });
                    }
                },
                Direction::Mesh(name) => {
                    let axis = self.mesh.axis(name)?;
                    if product.axes.iter().any(|map| map.over().contains(&axis)) {
                        let problem = "cuts an array axis: name that axis by its number";
                        return Err(Error::MeshAxis { name: (*name).to_owned(), problem });
                    }
                    product.mesh_kinds[axis] = Kind::Terms;
                }
            }
        }
        self.operator = operator;
        Ok(self)
    }

    /// The same with Terms of `operator` along every direction.
    #[must_use]
    pub fn all_terms(mut self, operator: Operator) -> Self {
        match &mut self.map {
            Map::Axes(product) => {
                product.axis_kinds.fill(Kind::Terms);
                product.mesh_kinds.fill(Kind::Terms);
            }
            Map::Boxes(boxes) => boxes.kind = Kind::Terms,
        }
        self.operator = operator;
        self
    }

    /// Global extents.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Number of array axes.
    #[must_use]
    pub fn ndim(&self) -> usize {
        self.shape.len()
    }

    /// Number of elements.
    #[must_use]
    pub fn size(&self) -> usize {
        self.shape.iter().product()
    }

    /// The ranks.
    #[must_use]
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// The operator of the Terms directions; `Sum` if there are none.
    #[must_use]
    pub fn operator(&self) -> Operator {
        self.operator
    }

    /// The axis maps; `None` if there are boxes instead.
    #[must_use]
    pub fn axes(&self) -> Option<&[AxisMap]> {
        match &self.map {
            Map::Axes(product) => Some(&product.axes),
            Map::Boxes(_) => None,
        }
    }

    /// The boxes, if the distribution is made of them.
    #[must_use]
    pub fn boxes(&self) -> Option<&Boxes> {
        match &self.map {
            Map::Axes(_) => None,
            Map::Boxes(boxes) => Some(boxes),
        }
    }

    /// The kind of an array axis' direction (of the boxes, if there are any), as stated.
    #[must_use]
    pub fn axis_kind(&self, axis: usize) -> Kind {
        match &self.map {
            Map::Axes(product) => product.axis_kinds[axis],
            Map::Boxes(boxes) => boxes.kind,
        }
    }

    /// The kind of a mesh axis that cuts nothing, as stated.
    #[must_use]
    pub fn mesh_kind(&self, axis: usize) -> Kind {
        match &self.map {
            Map::Axes(product) => product.mesh_kinds[axis],
            Map::Boxes(boxes) => boxes.kind,
        }
    }

    /// Numbers of the mesh axes that cut nothing.
    #[must_use]
    pub fn free_mesh_axes(&self) -> Vec<usize> {
        match &self.map {
            Map::Boxes(_) => Vec::new(),
            Map::Axes(product) => {
                let cuts = |axis: &usize| product.axes.iter().any(|map| map.over().contains(axis));
                (0..self.mesh.shape().len()).filter(|axis| !cuts(axis)).collect()
            }
        }
    }

    /// True if some direction is of Terms, as stated.
    pub(crate) fn states_terms(&self) -> bool {
        match &self.map {
            Map::Boxes(boxes) => boxes.kind == Kind::Terms,
            Map::Axes(product) => {
                let free = self.free_mesh_axes();
                product.axis_kinds.contains(&Kind::Terms)
                    || free.iter().any(|axis| product.mesh_kinds[*axis] == Kind::Terms)
            }
        }
    }
}
