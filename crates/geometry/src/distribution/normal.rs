//! Normal form, equality, fingerprint, dual.

use std::hash::{Hash, Hasher};

use super::{Distribution, Map, Product};
use crate::axis::AxisMap;
use crate::{Error, Fingerprint, Kind, Operator};

impl Distribution {
    /// The simplest spelling of the same distribution: mesh axes of extent 1 dropped, views
    /// turned into cuts where that is possible, formulas instead of lists, Copies where every
    /// index has exactly one holder, no operator without Terms. Local places do not change.
    #[must_use]
    pub fn normal(&self) -> Self {
        let wide = self.mesh.wide_axes();
        let mesh = self.mesh.squeezed();
        let map = match &self.map {
            Map::Boxes(boxes) => Map::Boxes(boxes.normal(&self.shape)),
            Map::Axes(product) => {
                let axes: Vec<AxisMap> =
                    product.axes.iter().map(|map| map.squeezed(&wide).normal()).collect();
                let axis_kinds = axes.iter().zip(&product.axis_kinds).map(|(map, kind)| {
                    if *kind == Kind::Terms && map.is_single() { Kind::Copies } else { *kind }
                });
                let axis_kinds = axis_kinds.collect();
                let cuts = |axis: usize| axes.iter().any(|map| map.over().contains(&axis));
                let mesh_kinds = wide.iter().enumerate().map(|(new, old)| {
                    if cuts(new) { Kind::Copies } else { product.mesh_kinds[*old] }
                });
                let mesh_kinds = mesh_kinds.collect();
                Map::Axes(Product { axes, axis_kinds, mesh_kinds })
            }
        };
        let mut normal = Self { shape: self.shape.clone(), mesh, map, operator: self.operator };
        if !normal.states_terms() {
            normal.operator = Operator::Sum;
        }
        normal
    }

    /// True if some element has several holders that are Terms of it, or a gap in Terms.
    #[must_use]
    pub fn has_terms(&self) -> bool {
        self.states_terms() && self.normal().states_terms()
    }

    /// True if some element has several holders that are Copies of it, or a gap in Copies.
    #[must_use]
    pub fn has_copies(&self) -> bool {
        let normal = self.normal();
        match &normal.map {
            Map::Boxes(boxes) => boxes.kind == Kind::Copies,
            Map::Axes(product) => {
                let mut axes = product.axes.iter().zip(&product.axis_kinds);
                let free = normal.free_mesh_axes();
                axes.any(|(map, kind)| *kind == Kind::Copies && !map.is_single())
                    || free.iter().any(|axis| product.mesh_kinds[*axis] == Kind::Copies)
            }
        }
    }

    /// A hash of the normal form: the same for equal distributions, on every rank.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.normal().anonymous_text())
    }

    /// The same holders with Copies for sum-Terms and sum-Terms for Copies: what the adjoint of
    /// a movement moves between.
    ///
    /// # Errors
    /// There are Terms of another operator than sum.
    pub fn dual(&self) -> Result<Self, Error> {
        if self.operator != Operator::Sum && self.has_terms() {
            return Err(Error::NoDual { operator: self.operator });
        }
        // A direction with one holder per index is Copies whatever was stated: swap from there.
        let normal = self.normal();
        let mut dual = self.clone();
        dual.operator = Operator::Sum;
        let wide = self.mesh.wide_axes();
        match (&mut dual.map, &normal.map) {
            (Map::Boxes(boxes), Map::Boxes(from)) => boxes.kind = from.kind.dual(),
            (Map::Axes(product), Map::Axes(from)) => {
                for (kind, normal) in product.axis_kinds.iter_mut().zip(&from.axis_kinds) {
                    *kind = normal.dual();
                }
                product.mesh_kinds.fill(Kind::Copies);
                for (new, old) in wide.into_iter().enumerate() {
                    product.mesh_kinds[old] = from.mesh_kinds[new].dual();
                }
            }
            _ => unreachable!("the normal form keeps boxes boxes and axes axes"),
        }
        Ok(dual)
    }
}

impl AxisMap {
    /// Without mesh axes of extent 1; `wide` lists the others.
    fn squeezed(&self, wide: &[usize]) -> Self {
        let kept = self.keeping(|axis| wide.contains(&axis));
        kept.renumbered(|axis| {
            wide.iter().position(|old| *old == axis).expect("only wide axes were kept")
        })
    }
}

impl PartialEq for Distribution {
    fn eq(&self, other: &Self) -> bool {
        if self.shape != other.shape || self.mesh != other.mesh {
            return false;
        }
        let (a, b) = (self.normal(), other.normal());
        a.map == b.map && a.operator == b.operator
    }
}

impl Eq for Distribution {}

impl Hash for Distribution {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.fingerprint().hash(state);
    }
}
