//! Distributions and meshes as text.

use std::fmt::{self, Write};

use crate::axis::{AxisMap, Cut, Cuts, Extent};
use crate::{Distribution, Kind, Mesh};

impl fmt::Display for Mesh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.shape().is_empty() {
            return write!(f, "rank {}", self.rank_at(0));
        }
        for (axis, (name, extent)) in self.names().iter().zip(self.shape()).enumerate() {
            write!(f, "{}{name}={extent}", if axis > 0 { ", " } else { "" })?;
        }
        if self.is_plain() {
            return Ok(());
        }
        if let Some((base, strides)) = self.formula() {
            write!(f, " team from {base} by")?;
            return strides.iter().try_for_each(|stride| write!(f, " {stride}"));
        }
        f.write_str(" team ")?;
        write_list(f, &self.ranks().map(crate::number::position).collect::<Vec<_>>())
    }
}

/// `[3 0 1 2]` with ascending runs of three or more as `0..3`.
fn write_list(f: &mut impl Write, list: &[i64]) -> fmt::Result {
    f.write_char('[')?;
    let mut at = 0;
    while at < list.len() {
        let mut end = at + 1;
        while end < list.len() && list[end - 1].checked_add(1) == Some(list[end]) {
            end += 1;
        }
        let space = if at > 0 { " " } else { "" };
        if end - at >= 3 && list[end - 1] < i64::MAX {
            write!(f, "{space}{}..{}", list[at], list[end - 1] + 1)?;
            at = end;
        } else {
            write!(f, "{space}{}", list[at])?;
            at += 1;
        }
    }
    f.write_char(']')
}

fn write_extent(f: &mut impl Write, extent: &Extent) -> fmt::Result {
    match extent {
        Extent::Owned => f.write_str(" halo 0"),
        Extent::Halo { before, after } if before == after => write!(f, " halo {before}"),
        Extent::Halo { before, after } => write!(f, " halo {before} {after}"),
        Extent::Each(list) => list.iter().try_for_each(|(low, high)| write!(f, " {low}:{high}")),
    }
}

impl AxisMap {
    fn write(&self, f: &mut impl Write, mesh: &Mesh) -> fmt::Result {
        let names: Vec<&str> =
            self.over().iter().map(|axis| mesh.names()[*axis].as_str()).collect();
        let names = names.join("*");
        match self.cut() {
            Cut::Block(Cuts::Balanced) if self.over().is_empty() => f.write_str("whole")?,
            Cut::Block(cuts) => {
                write!(f, "block({names}")?;
                match cuts {
                    Cuts::Balanced => {}
                    Cuts::RemainderLast => f.write_str(", last")?,
                    Cuts::Ceil => f.write_str(", ceil")?,
                    Cuts::At(cuts) => {
                        f.write_str(", cuts")?;
                        cuts.iter().try_for_each(|cut| write!(f, " {cut}"))?;
                    }
                }
                f.write_char(')')?;
            }
            Cut::Cyclic { block } => write!(f, "cyclic({names}, {block})")?,
            Cut::Indexed(labels) => {
                write!(f, "indexed({names},")?;
                for coordinate in 0..labels.parts() {
                    let list = labels.list(coordinate).iter().map(|at| labels.label(*at));
                    f.write_char(' ')?;
                    write_list(f, &list.collect::<Vec<_>>())?;
                }
                if let Some(universe) = labels.universe() {
                    f.write_str(" universe ")?;
                    write_list(f, universe)?;
                }
                f.write_char(')')?;
            }
        }
        self.write_modifiers(f)
    }

    fn write_modifiers(&self, f: &mut impl Write) -> fmt::Result {
        if let Some(view) = self.view() {
            write!(f, " of {} from {} by {}", self.base_length(), view.offset(), view.step())?;
        }
        if self.is_periodic() {
            f.write_str(" periodic")?;
        }
        match self.held_extent() {
            Extent::Owned => {}
            halo @ Extent::Halo { .. } => write_extent(f, halo)?,
            list @ Extent::Each(_) => {
                f.write_str(" held")?;
                write_extent(f, list)?;
            }
        }
        if let Some(room) = self.room_extent() {
            f.write_str(" room")?;
            write_extent(f, room)?;
        }
        Ok(())
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_distribution(f, self, self.mesh())
    }
}

fn write_distribution(f: &mut impl Write, it: &Distribution, mesh: &Mesh) -> fmt::Result {
    if it.ndim() == 0 {
        f.write_str("scalar")?;
    }
    for (axis, extent) in it.shape().iter().enumerate() {
        write!(f, "{}{extent}", if axis > 0 { "x" } else { "" })?;
    }
    write!(f, " on {mesh}:")?;
    if let Some(boxes) = it.boxes() {
        f.write_str(" boxes")?;
        for ranges in boxes.list() {
            let ranges: Vec<String> = ranges.iter().map(|(a, b)| format!("{a}:{b}")).collect();
            write!(f, " [{}]", ranges.join(", "))?;
        }
        if boxes.kind() == Kind::Terms {
            write!(f, "; {}(boxes)", it.operator())?;
        }
        return Ok(());
    }
    for (axis, map) in it.axes().unwrap_or_default().iter().enumerate() {
        f.write_str(if axis > 0 { ", " } else { " " })?;
        map.write(f, mesh)?;
    }
    let axes = (0..it.ndim()).filter(|axis| it.axis_kind(*axis) == Kind::Terms);
    let free = it.free_mesh_axes().into_iter().filter(|axis| it.mesh_kind(*axis) == Kind::Terms);
    let mut terms: Vec<String> = axes.map(|axis| axis.to_string()).collect();
    terms.extend(free.map(|axis| mesh.names()[axis].clone()));
    if !terms.is_empty() {
        write!(f, "; {}({})", it.operator(), terms.join(", "))?;
    }
    Ok(())
}

impl Distribution {
    /// The text with the mesh axes renamed by number: names do not count in equality.
    pub(crate) fn anonymous_text(&self) -> String {
        let mut text = String::new();
        write_distribution(&mut text, self, &self.mesh().renamed())
            .expect("writing to a string does not fail");
        text
    }
}
