//! Where a type says that an array lives.

use pantile_geometry::{Axis, Cuts, Distribution, Mesh, Rank};

use super::place;
use super::{LowerError, LowerErrorKind, Lowering, OperationError, PlaceError};
use pantile_ir::{Attribute, Env, Placement, Type};

impl Lowering<'_> {
    /// The distribution that a type names, if it names one.
    pub(crate) fn declared_home(
        &self,
        ty: &Type,
        shape: &[usize],
    ) -> Result<Option<Distribution>, PlaceError> {
        let Type::Array(array) = ty else {
            return place::everywhere(shape, self.ranks).map(Some);
        };
        for env in &array.envs {
            match env {
                Env::Placement(Placement::At(at)) => {
                    if at.shape() != shape {
                        let (home, shape) = (at.to_string(), shape.to_vec());
                        return Err(PlaceError::Shape { home, shape });
                    }
                    return self.product_home(at, || at.to_string()).map(Some);
                }
                Env::Placement(Placement::Template(text)) => {
                    return self.template_home(text, shape).map(Some);
                }
                Env::Dist(dist) if dist.local.is_some() => {
                    return Err(PlaceError::MemberParts);
                }
                Env::Dist(dist) => return self.team_home(&dist.team, shape).map(Some),
                Env::Gpu(_) | Env::Other(_) => {}
            }
        }
        Ok(None)
    }

    /// The ranks of a team.
    pub(crate) fn team(&self, team: &Attribute) -> Vec<Rank> {
        let name = team.team_name();
        self.setting.teams.get(&name).cloned().unwrap_or_else(|| (0..self.ranks).collect())
    }

    /// Axis 0 in blocks over a team, the remainder on the last ones.
    fn team_home(&self, team: &Attribute, shape: &[usize]) -> Result<Distribution, PlaceError> {
        let ranks = self.team(team);
        let mesh = Mesh::line(ranks.len())?.with_team(ranks)?;
        self.check_ranks(&mesh)?;
        let axes = (0..shape.len()).map(|axis| match axis {
            0 => Axis::cut(&[mesh.names()[0].as_str()], Cuts::RemainderLast),
            _ => Axis::whole(),
        });
        place::build(shape, &mesh, axes.collect())
    }

    fn template_home(&self, text: &str, shape: &[usize]) -> Result<Distribution, PlaceError> {
        // A single element is everywhere, unless a mesh is named and nothing else.
        let on_mesh = text.split_once(':').is_some_and(|(_, axes)| axes.trim().is_empty());
        if text == "copies" || (shape.is_empty() && !on_mesh) {
            return place::everywhere(shape, self.ranks);
        }
        if text == "auto" {
            return self.auto(shape);
        }
        let full = full_text(text, shape, self.cut_over())?;
        let home: Distribution = full
            .parse()
            .map_err(|error| PlaceError::Text { text: full.clone(), error: Box::new(error) })?;
        self.product_home(&home, || text.to_owned())
    }

    /// A distribution in which arrays can live, without the room around them.
    fn product_home(
        &self,
        home: &Distribution,
        text: impl FnOnce() -> String,
    ) -> Result<Distribution, PlaceError> {
        if home.has_terms() || home.axes().is_none() {
            return Err(PlaceError::NotProduct { text: text() });
        }
        self.check_ranks(home.mesh())?;
        place::plain(home)
    }

    fn check_ranks(&self, mesh: &Mesh) -> Result<(), PlaceError> {
        match mesh.ranks().find(|rank| *rank >= self.ranks) {
            Some(rank) => Err(PlaceError::NoSuchRank { rank, ranks: self.ranks }),
            None => Ok(()),
        }
    }
}

/// Where an array of a type lives that is given to a program.
///
/// # Errors
/// If the type names no distribution that exists on so many ranks.
pub fn home_of(ty: &Type, setting: &super::Setting) -> Result<Distribution, LowerError> {
    let program = pantile_ir::Program::default();
    let function = pantile_ir::Function::new("");
    let lowering = Lowering::new(&program, &function, setting);
    let shape: Option<Vec<usize>> = ty.shape().iter().copied().collect();
    let home = match shape {
        None => Err(OperationError::UnknownLength.into()),
        Some(shape) => lowering
            .declared_home(ty, &shape)
            .and_then(|home| home.map_or_else(|| lowering.auto(&shape), Ok))
            .map_err(LowerErrorKind::Place),
    };
    home.map_err(|kind| kind.at(pantile_ir::Place::default()))
}

/// How many ranks a world has at least that has the mesh of a template without shape; 0 if the
/// template names no mesh, or one that takes the ranks that there are.
#[must_use]
pub fn ranks_named(template: &str) -> usize {
    let mesh = template.split_once(':').map(|(mesh, _)| mesh).filter(|mesh| !mesh.contains('*'));
    let named = mesh.and_then(|mesh| format!("scalar on {mesh}:").parse::<Distribution>().ok());
    named.map_or(0, |named| named.mesh().ranks_needed())
}

/// The text of a distribution made of a template without shape, in which a mesh axis of size `*`
/// takes the ranks that the others leave.
pub(crate) fn full_text(
    template: &str,
    shape: &[usize],
    ranks: usize,
) -> Result<String, PlaceError> {
    let shape_text: Vec<String> = match shape {
        [] => vec!["scalar".to_owned()],
        shape => shape.iter().map(ToString::to_string).collect(),
    };
    // Also `block(x*y)` has a star; only that of a mesh stands for a number.
    if template.split_once(':').is_some_and(|(mesh, _)| !mesh.contains('*')) {
        // Complete but for the shape.
        return Ok(format!("{} on {template}", shape_text.join("x")));
    }
    let (mesh, axes) = match template.split_once(':') {
        Some((mesh, axes)) => (mesh.trim(), axes.trim()),
        None if template.trim() == "block" => ("r=*", ""),
        None => ("r=*", template.trim()),
    };
    let sizes: Vec<(&str, &str)> = mesh
        .split(',')
        .map(|axis| axis.split_once('=').map(|(name, size)| (name.trim(), size.trim())))
        .collect::<Option<_>>()
        .ok_or_else(|| PlaceError::Mesh { mesh: mesh.to_owned() })?;
    let mut fixed: usize = 1;
    for (_, size) in sizes.iter().filter(|(_, size)| *size != "*") {
        let wrong = |_| PlaceError::MeshSize { size: (*size).to_owned(), mesh: mesh.to_owned() };
        let size: usize = size.parse().map_err(wrong)?;
        let all = fixed.checked_mul(size.max(1));
        fixed = all.ok_or_else(|| PlaceError::MeshTooLarge { mesh: mesh.to_owned() })?;
    }
    if sizes.iter().filter(|(_, size)| *size == "*").count() > 1 {
        return Err(PlaceError::MeshRest { mesh: mesh.to_owned() });
    }
    let rest = ranks / fixed;
    if rest == 0 {
        return Err(PlaceError::TooFewRanks { mesh: mesh.to_owned(), needed: fixed, ranks });
    }
    let mesh: Vec<String> = sizes
        .iter()
        .map(|(name, size)| match *size {
            "*" => format!("{name}={rest}"),
            size => format!("{name}={size}"),
        })
        .collect();
    let axes = match axes {
        "" => {
            let mut all = vec!["block(r)"];
            all.resize(shape.len().max(1), "whole");
            all.join(", ")
        }
        axes => axes.to_owned(),
    };
    Ok(format!("{} on {}: {axes}", shape_text.join("x"), mesh.join(", ")))
}
