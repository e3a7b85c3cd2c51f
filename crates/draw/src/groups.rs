//! Broadcasts, sum-reductions and all-sum-reductions between partitions, in three stages: before,
//! the groups in which data moves, after.

use pantile_geometry::teams::{AxisChoice, Group, Groups, Movement, Partition};

use crate::canvas::{Anchor, Canvas, at};
use crate::cube::{self, Face, heading, row};
use crate::error::{DrawError, check_count};
use crate::legend::{self, Mark};
use crate::palette::COLOURS;
use crate::svg::Svg;
use crate::words::{counted, rank_list, real};

/// The most groups in a picture.
const GROUPS: usize = 48;
/// Groups side by side.
const IN_ROW: usize = 4;

/// The picture of a broadcast or a sum-reduction.
pub(crate) fn movement(groups: &Groups) -> Result<Svg, DrawError> {
    let (small, large) = (groups.small(), groups.large());
    cube::check(small)?;
    cube::check(large)?;
    check_count("groups", groups.count() as u128, GROUPS)?;
    let reduces = groups.movement() == Movement::SumReduce;
    let before = |world_rank: usize| Face {
        colour: groups.send_of(world_rank).map(colour),
        root: !reduces,
        note: format!("x{world_rank}"),
    };
    let after = |world_rank: usize| {
        let cell = groups.receive_of(world_rank);
        let group = cell.and_then(|cell| groups.group(cell));
        let note = match (reduces, cell, &group) {
            (true, Some(cell), _) => format!("ΣP{cell}"),
            (false, _, Some(group)) => format!("x{}", group.root),
            _ => String::new(),
        };
        Face { colour: cell.map(colour), root: reduces, note }
    };
    let plain = |_: usize| Face { root: reduces, ..Face::default() };
    let (source, target) = if reduces { (large, small) } else { (small, large) };
    let word = if reduces { "sum-reduction" } else { "broadcast" };
    let title = format!("{word} from {source} to {target}");
    let mut canvas = Canvas::default();
    canvas.text(at(0.0, 0.0), Anchor::Start, "title", &title);
    let y = heading(&mut canvas, 26.0, "before", cube::axes(large));
    let sides = vec![
        (format!("source, {}", extents(source)), cube::draw(source, before)),
        (format!("target, {}", extents(target)), cube::draw(target, plain)),
    ];
    let y = row(&mut canvas, y, sides);
    let kinds =
        if reduces { "members give, roots add up" } else { "roots give, members get copies" };
    let mut y = heading(&mut canvas, y, &counted(groups.count(), "group"), kinds);
    let cells: Vec<usize> = (0..groups.count()).collect();
    for cells in cells.chunks(IN_ROW) {
        let fans = cells.iter().filter_map(|cell| {
            let group = groups.group(*cell)?;
            let list = rank_list(group.members.iter().copied(), ", ", 12);
            Some((format!("P{cell}: {list}"), fan(groups, *cell, &group)))
        });
        y = row(&mut canvas, y, fans.collect());
    }
    let y = heading(&mut canvas, y, "after", "");
    let y = row(&mut canvas, y, vec![(String::new(), cube::draw(target, after))]);
    let entries = [(Mark::Double, "root"), (Mark::Dotted, "the root's own part")];
    legend::draw(&mut canvas, &entries, 0.0, y - 14.0, 400.0);
    let members = groups.iter().map(|group| rank_list(group.members.into_iter(), ", ", 24));
    let lists: Vec<String> = members.enumerate().map(|(c, list)| format!("P{c}: {list}")).collect();
    let description = format!("Groups, root first: {}.", lists.join("; "));
    Ok(Svg::new(canvas, &title, &description))
}

/// A root with arrows to its members, or from them.
fn fan(groups: &Groups, cell: usize, group: &Group) -> Canvas {
    let reduces = groups.movement() == Movement::SumReduce;
    let own = if reduces { groups.send_of(group.root) } else { groups.receive_of(group.root) };
    let mut members: Vec<usize> =
        group.members.iter().copied().filter(|member| *member != group.root).collect();
    if own == Some(cell) {
        members.insert(0, group.root);
    }
    let (pitch, across, colour) = (54.0, 112.0, colour(cell));
    let face = |root: bool| Face { colour: Some(colour), root, note: String::new() };
    let (root_x, member_x) = if reduces { (across, 0.0) } else { (0.0, across) };
    let middle = pitch * (real(members.len()) - 1.0).max(0.0) / 2.0;
    let mut canvas = Canvas::default();
    for (number, member) in members.iter().enumerate() {
        let y = pitch * real(number);
        let port = middle + 19.0 + 7.0 * (real(number) - (real(members.len()) - 1.0) / 2.0);
        let hint = format!("rank {} and rank {member}", group.root);
        let (root_end, member_end) = if reduces {
            (at(root_x - 2.0, port), at(member_x + 50.0, y + 19.0))
        } else {
            (at(root_x + 50.0, port), at(member_x - 2.0, y + 19.0))
        };
        let (from, to) = if reduces { (member_end, root_end) } else { (root_end, member_end) };
        canvas.with_hint(&hint, |canvas| {
            if *member == group.root {
                canvas.line(from, to, &format!("edge dots s{colour}"));
            } else {
                canvas.arrow(from, to, colour);
            }
        });
        cube::block(&mut canvas, at(member_x, y), &member.to_string(), &face(false));
    }
    cube::block(&mut canvas, at(root_x, middle), &group.root.to_string(), &face(true));
    canvas
}

/// The picture of an all-sum-reduction.
pub(crate) fn allreduction(partition: &Partition, axes: &AxisChoice) -> Result<Svg, DrawError> {
    cube::check(partition)?;
    let teams: Vec<Partition> = partition.allreductions(axes)?.take(GROUPS + 1).collect();
    let cells = partition.allreduction_cells(axes)?;
    check_count("teams", cells.count as u128, GROUPS)?;
    let team = |world_rank: usize| teams.iter().position(|team| team.is_active(world_rank));
    let list: Vec<String> = cells.spread_axes.iter().map(usize::to_string).collect();
    let over = if list.is_empty() { "no axis".to_owned() } else { list.join(" and ") };
    let over = if list.len() == 1 { format!("axis {over}") } else { over };
    let over = if list.len() > 1 { format!("axes {over}") } else { over };
    let title = format!("all-sum-reduction of {partition} over {over}");
    let mut canvas = Canvas::default();
    canvas.text(at(0.0, 0.0), Anchor::Start, "title", &title);
    let y = heading(&mut canvas, 26.0, "before", cube::axes(partition));
    let before = |world_rank| Face { note: format!("x{world_rank}"), ..Face::default() };
    let y = row(&mut canvas, y, vec![(String::new(), cube::draw(partition, before))]);
    let words = "the workers of a team add up what they have, and all get the sum";
    let mut y = heading(&mut canvas, y, &counted(teams.len(), "team"), words);
    let numbered: Vec<(usize, &Partition)> = teams.iter().enumerate().collect();
    for chunk in numbered.chunks(IN_ROW) {
        let drawings = chunk.iter().map(|(number, team)| {
            let face = |world_rank| Face {
                colour: Some(colour(*number)),
                note: format!("x{world_rank}"),
                root: false,
            };
            let members = rank_list(team.world_ranks(), ", ", 12);
            (format!("P{number}: {members}"), cube::draw(team, face))
        });
        y = row(&mut canvas, y, drawings.collect());
    }
    let y = heading(&mut canvas, y, "after", "");
    let after = |world_rank| {
        let number = team(world_rank);
        let note = number.map_or_else(String::new, |number| format!("ΣP{number}"));
        Face { colour: number.map(colour), note, root: false }
    };
    row(&mut canvas, y, vec![(String::new(), cube::draw(partition, after))]);
    let lists = teams.iter().map(|team| rank_list(team.world_ranks(), ", ", 24));
    let lists: Vec<String> = lists.enumerate().map(|(c, list)| format!("P{c}: {list}")).collect();
    Ok(Svg::new(canvas, &title, &format!("Teams: {}.", lists.join("; "))))
}

fn colour(group: usize) -> usize {
    group % COLOURS
}

/// Extents as `2x3x2`.
fn extents(partition: &Partition) -> String {
    let shape: Vec<String> = partition.shape().iter().map(usize::to_string).collect();
    shape.join("x")
}
