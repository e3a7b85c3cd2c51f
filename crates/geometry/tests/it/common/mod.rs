//! From the model's plain data to the crate's own types.

use pantile_geometry::{Axis, Cuts, Direction, Distribution, Error, Mesh, Operator};
use pantile_testkit::model::{self, AxisSpec, CutSpec, Kind, Map, Spec};

/// The distribution that a specification states.
///
/// # Errors
/// The crate refuses it.
pub(crate) fn distribution(spec: &Spec) -> Result<Distribution, Error> {
    let names: Vec<String> = (0..spec.mesh_shape.len()).map(|axis| format!("m{axis}")).collect();
    let axes: Vec<(&str, usize)> =
        names.iter().map(String::as_str).zip(spec.mesh_shape.iter().copied()).collect();
    let mesh = Mesh::new(&axes)?.with_team(spec.team.clone())?;
    let operator = operator(spec.operator);
    match &spec.map {
        Map::Boxes { boxes, kind } => {
            let made = Distribution::from_boxes(&spec.shape, mesh, boxes.clone())?;
            Ok(if *kind == Kind::Terms { made.all_terms(operator) } else { made })
        }
        Map::Axes(axes) => {
            let described = axes.iter().map(|map| axis(map, &names)).collect();
            let made = Distribution::new(&spec.shape, mesh, described)?;
            let free = made.free_mesh_axes();
            let mut terms: Vec<Direction<'_>> = Vec::new();
            for (at, kind) in spec.axis_kinds.iter().enumerate() {
                if *kind == Kind::Terms {
                    terms.push(Direction::Axis(at));
                }
            }
            for (at, kind) in spec.mesh_kinds.iter().enumerate() {
                if *kind == Kind::Terms && free.contains(&at) {
                    terms.push(Direction::Mesh(&names[at]));
                }
            }
            made.with_terms(&terms, operator)
        }
    }
}

fn operator(operator: model::Operator) -> Operator {
    let at = model::Operator::ALL.iter().position(|known| *known == operator);
    Operator::ALL[at.expect("all operators are listed")]
}

fn axis(spec: &AxisSpec, names: &[String]) -> Axis {
    let over: Vec<&str> = spec.over.iter().map(|axis| names[*axis].as_str()).collect();
    let mut axis = match &spec.cut {
        CutSpec::Whole | CutSpec::Balanced => Axis::block(&over),
        CutSpec::RemainderLast => Axis::cut(&over, Cuts::RemainderLast),
        CutSpec::Ceil => Axis::cut(&over, Cuts::Ceil),
        CutSpec::Cuts(cuts) => Axis::cut(&over, Cuts::At(cuts.as_slice().into())),
        CutSpec::Cyclic { block } => Axis::cyclic(&over, *block),
        CutSpec::Indexed { labels, universe } => {
            let axis = Axis::indexed(&over, labels.clone());
            match universe {
                Some(universe) => axis.universe(universe.clone()),
                None => axis,
            }
        }
    };
    if spec.periodic {
        axis = axis.periodic();
    }
    if let Some(held) = &spec.held {
        axis = axis.held(held);
    }
    if let Some(room) = &spec.room {
        axis = axis.room(room);
    }
    if let Some(view) = spec.view {
        axis = axis.view_of(spec.base_length, view.offset, view.step);
    }
    axis
}
