//! A distribution as plain data, the way a user states it: nothing is derived, nothing is
//! normalised, nothing is hidden.

/// What it means that several holders have the same element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Each has the element's value.
    Copies,
    /// Each has a term; the value is all terms combined.
    Terms,
}

/// How terms are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operator {
    /// a + b
    Sum,
    /// a * b
    Prod,
    /// The smaller.
    Min,
    /// The larger.
    Max,
    /// Both (bitwise in this model).
    And,
    /// Either (bitwise in this model).
    Or,
}

impl Operator {
    /// All operators.
    pub const ALL: [Self; 6] = [Self::Sum, Self::Prod, Self::Min, Self::Max, Self::And, Self::Or];
}

/// How the base of one axis is cut over the coordinates of its direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CutSpec {
    /// Not cut: one coordinate has it all.
    Whole,
    /// Blocks, the remainder on the first coordinates: 8 over 3 is 3, 3, 2.
    Balanced,
    /// Blocks, the remainder on the last coordinates: 8 over 3 is 2, 3, 3.
    RemainderLast,
    /// Blocks of ceil(n / parts), the last ones short or empty: 8 over 5 is 2, 2, 2, 2, 0.
    Ceil,
    /// Blocks between these bounds: `parts + 1` ascending numbers from 0 to the base length.
    Cuts(Vec<usize>),
    /// Blocks of this length dealt out in turn.
    Cyclic {
        /// Length of one block, at least 1.
        block: usize,
    },
    /// A list of labels per coordinate, in storage order.
    Indexed {
        /// One list per coordinate; a label at most once in each.
        labels: Vec<Vec<i64>>,
        /// Ascending labels of the base axis; without it labels are the indices themselves.
        universe: Option<Vec<i64>>,
    },
}

/// An affine view: index k of the visible axis is index `offset + step * k` of the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ViewSpec {
    /// Base index of the first visible index.
    pub offset: i64,
    /// Distance in the base between neighbours; not 0.
    pub step: i64,
    /// Number of visible indices.
    pub length: usize,
}

/// One array axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisSpec {
    /// Length before the view; with a universe, the length of the universe.
    pub base_length: usize,
    /// The mesh axes that cut it, taken together row-major in this order; none for `Whole`.
    pub over: Vec<usize>,
    /// The cut of the base.
    pub cut: CutSpec,
    /// Held positions may leave `[0, base_length)` and wrap around.
    pub periodic: bool,
    /// Valid base positions per coordinate (blocks and `Whole` only); `None` is the owned ones.
    pub held: Option<Vec<(i64, i64)>>,
    /// Allocated base positions per coordinate; `None` is the held ones. Plans ignore it.
    pub room: Option<Vec<(i64, i64)>>,
    /// What is visible of the base; `None` is all of it.
    pub view: Option<ViewSpec>,
}

impl AxisSpec {
    /// An axis of this length with this cut over these mesh axes, and nothing else.
    #[must_use]
    pub fn plain(base_length: usize, over: &[usize], cut: CutSpec) -> Self {
        let over = over.to_vec();
        Self { base_length, over, cut, periodic: false, held: None, room: None, view: None }
    }

    /// Number of visible indices.
    #[must_use]
    pub fn length(&self) -> usize {
        self.view.map_or(self.base_length, |view| view.length)
    }
}

/// Where the elements live.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Map {
    /// One axis map per array axis.
    Axes(Vec<AxisSpec>),
    /// One box per mesh position, row-major, as half-open ranges per array axis; all mesh axes
    /// together are one direction with one kind.
    Boxes {
        /// The boxes; one with an empty range holds nothing.
        boxes: Vec<Vec<(usize, usize)>>,
        /// What overlapping boxes mean.
        kind: Kind,
    },
}

/// A distribution as its user states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// Lengths of the visible axes.
    pub shape: Vec<usize>,
    /// Lengths of the mesh axes; empty for a mesh of one rank.
    pub mesh_shape: Vec<usize>,
    /// World ranks at the mesh positions in row-major order, each at most once.
    pub team: Vec<usize>,
    /// Where the elements live.
    pub map: Map,
    /// Kind of each array axis' direction (`Axes` only).
    pub axis_kinds: Vec<Kind>,
    /// Kind of each mesh axis; counts only where that mesh axis cuts nothing (`Axes` only).
    pub mesh_kinds: Vec<Kind>,
    /// The one operator of all Terms directions.
    pub operator: Operator,
}

impl Spec {
    /// Axis maps on the mesh `0, 1, 2, ...` of this shape, all Copies.
    #[must_use]
    pub fn axes(axes: Vec<AxisSpec>, mesh_shape: &[usize]) -> Self {
        Self {
            shape: axes.iter().map(AxisSpec::length).collect(),
            mesh_shape: mesh_shape.to_vec(),
            team: (0..mesh_shape.iter().product()).collect(),
            axis_kinds: vec![Kind::Copies; axes.len()],
            mesh_kinds: vec![Kind::Copies; mesh_shape.len()],
            map: Map::Axes(axes),
            operator: Operator::Sum,
        }
    }

    /// A one-dimensional array cut over `ranks` ranks in a row.
    #[must_use]
    pub fn line(length: usize, ranks: usize, cut: CutSpec) -> Self {
        Self::axes(vec![AxisSpec::plain(length, &[0], cut)], &[ranks])
    }

    /// The whole array on every rank of a mesh.
    #[must_use]
    pub fn copies(shape: &[usize], mesh_shape: &[usize]) -> Self {
        let whole = |&length: &usize| AxisSpec::plain(length, &[], CutSpec::Whole);
        Self::axes(shape.iter().map(whole).collect(), mesh_shape)
    }

    /// The same on other world ranks.
    #[must_use]
    pub fn on(self, team: &[usize]) -> Self {
        Self { team: team.to_vec(), ..self }
    }

    /// The same with sum-Terms along every direction.
    #[must_use]
    pub fn as_terms(mut self) -> Self {
        self.axis_kinds.fill(Kind::Terms);
        self.mesh_kinds.fill(Kind::Terms);
        if let Map::Boxes { kind, .. } = &mut self.map {
            *kind = Kind::Terms;
        }
        self
    }

    /// Number of coordinates of a direction over these mesh axes: 1 if there are none.
    #[must_use]
    pub fn parts(&self, over: &[usize]) -> usize {
        over.iter().map(|&mesh_axis| self.mesh_shape[mesh_axis]).product()
    }
}
