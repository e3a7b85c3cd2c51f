//! Who has a tile, and how a tile says so.

use pantile_geometry::{AxisMap, Distribution, Kind, Rank};

use crate::canvas::{Canvas, Rect};
use crate::lane::LaneItem;
use crate::palette::colour_of;
use crate::words::{rank_list, width_of};

/// The most holders that a tile names.
const NAMED: usize = 4;

/// Who has a tile.
pub(crate) struct Holders {
    pub(crate) owner: Rank,
    /// The first few.
    ranks: Vec<Rank>,
    pub(crate) count: u128,
    terms: bool,
}

impl Holders {
    /// Who has the tile of these items, one per array axis.
    pub(crate) fn of(distribution: &Distribution, items: &[&LaneItem]) -> Self {
        let mesh = distribution.mesh();
        let free = distribution.free_mesh_axes();
        let maps = distribution.axes().unwrap_or_default();
        let mut count: u128 = free.iter().map(|axis| mesh.shape()[*axis] as u128).product();
        let mut owner = vec![0; mesh.shape().len()];
        let mut partial = vec![owner.clone()];
        for (map, item) in maps.iter().zip(items) {
            count *= item.holders.len() as u128;
            place(map, mesh.shape(), item.owner, &mut owner);
            let longer = partial.iter().flat_map(|coordinates| {
                item.holders.iter().map(move |holder| {
                    let mut coordinates: Vec<usize> = coordinates.clone();
                    place(map, mesh.shape(), *holder, &mut coordinates);
                    coordinates
                })
            });
            partial = longer.take(NAMED + 1).collect();
        }
        for axis in &free {
            let longer = partial.iter().flat_map(|coordinates| {
                (0..mesh.shape()[*axis].min(NAMED + 1)).map(move |coordinate| {
                    let mut coordinates: Vec<usize> = coordinates.clone();
                    coordinates[*axis] = coordinate;
                    coordinates
                })
            });
            partial = longer.take(NAMED + 1).collect();
        }
        let ranks = partial.iter().map(|coordinates| mesh.rank_of(coordinates)).collect();
        let spread =
            free.iter().any(|a| mesh.shape()[*a] > 1 && distribution.mesh_kind(*a) == Kind::Terms);
        let along = items.iter().enumerate();
        let terms = spread
            || along.into_iter().any(|(axis, item)| {
                item.holders.len() > 1 && distribution.axis_kind(axis) == Kind::Terms
            });
        Self { owner: mesh.rank_of(&owner), ranks, count, terms }
    }

    /// Sheets behind a tile that others have too.
    pub(crate) fn draw_sheets(&self, canvas: &mut Canvas, area: Rect) {
        let others = self.ranks.iter().filter(|rank| **rank != self.owner);
        let others: Vec<usize> = others.take(2).map(|rank| colour_of(*rank)).collect();
        for (colour, shift) in others.into_iter().zip([5.0, 10.0]).rev() {
            canvas.rect(area.moved(shift, -shift), &format!("f{colour} s{colour} thin"));
        }
    }

    /// The numbers of the workers, as many as fit.
    pub(crate) fn draw_label(&self, canvas: &mut Canvas, area: Rect, solid: bool) {
        let between = if self.terms { "+" } else { " " };
        let fits = |text: &String| width_of(text, 14.0) <= area.width - 4.0;
        let most = NAMED.min(self.ranks.len());
        let list = |named: usize| {
            let all = self.count <= named as u128;
            let text = rank_list(self.ranks.iter().copied().take(named), between, named);
            if all { text } else { format!("{text}{between}…") }
        };
        let text = (1..=most).rev().map(list).find(fits).unwrap_or_else(|| self.owner.to_string());
        if !solid {
            let width = width_of(&text, 14.0) + 8.0;
            let middle = area.middle();
            let ground = Rect::new(middle.x - width / 2.0, middle.y - 10.0, width, 20.0);
            canvas.rounded(ground, 4.0, "paper");
        }
        canvas.centred(area.middle(), "rank", &text);
    }
}

/// The rank that has the tile at these coordinates; the first, if there are several.
pub(crate) fn rank_at(distribution: &Distribution, coordinates: &[usize]) -> Rank {
    let mesh = distribution.mesh();
    let mut places = vec![0; mesh.shape().len()];
    for (map, coordinate) in distribution.axes().unwrap_or_default().iter().zip(coordinates) {
        place(map, mesh.shape(), *coordinate, &mut places);
    }
    mesh.rank_of(&places)
}

/// Writes a coordinate along an array axis into mesh coordinates.
fn place(map: &AxisMap, shape: &[usize], mut coordinate: usize, into: &mut [usize]) {
    for axis in map.over().iter().rev() {
        into[*axis] = coordinate % shape[*axis];
        coordinate /= shape[*axis];
    }
}
