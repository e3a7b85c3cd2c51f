//! Reading distributions from text.
//!
//! ```text
//! distribution = shape "on" mesh ":" [ axes | boxes ] [ ";" operator "(" directions ")" ]
//! shape        = "scalar" | number { "x" number }
//! mesh         = "rank" number | axis { "," axis } [ "team" team ]      axis = name "=" number
//! team         = list | "from" number "by" number { number }
//! axes         = map { "," map }
//! map          = cut { "halo" width [width] | "held" interval+ | "room" (halo | interval+)
//!                    | "periodic" | "of" number "from" number "by" number }
//! cut          = "whole" | "block" "(" names [ "," rule ] ")"
//!              | "cyclic" "(" names "," number ")" | "indexed" "(" names "," list+ [universe] ")"
//! names        = name { "*" name }       rule = "last" | "ceil" | "cuts" number+
//! list         = "[" { number | number ".." number } "]"       universe = "universe" list
//! boxes        = "boxes" { "[" [ interval { "," interval } ] "]" }     interval = low ":" high
//! directions   = direction { "," direction } | "*"   direction = axis number | mesh name | "boxes"
//! ```

use std::str::FromStr;
use std::sync::Arc;

use pantile_text::{Cursor, Fault};

use crate::axis::{Axis, Cuts, LABEL_LIMIT};
use crate::distribution::Direction;
use crate::{Distribution, Error, Mesh, Operator};

/// Most axes of an array or a mesh that a text may have.
const AXES_LIMIT: usize = 32;

impl FromStr for Distribution {
    type Err = Error;

    /// # Errors
    /// The text does not parse, or says something that cannot be; with line, column and caret.
    fn from_str(text: &str) -> Result<Self, Error> {
        let mut cursor = Cursor::new(text);
        let distribution = parse_distribution(&mut cursor)?;
        cursor.finish()?;
        Ok(distribution)
    }
}

/// Reads a distribution and leaves the cursor behind it.
///
/// # Errors
/// The text does not parse, or says something that cannot be; with line, column and caret.
pub fn parse_distribution(cursor: &mut Cursor<'_>) -> Result<Distribution, Fault> {
    let start = cursor.offset();
    let shape = parse_shape(cursor)?;
    cursor.expect_word("on")?;
    let mesh = parse_mesh(cursor)?;
    cursor.expect(":")?;
    let at = cursor.offset().max(start);
    let mut places = Vec::new();
    let made = if cursor.eat_word("boxes") {
        let boxes = parse_boxes(cursor)?;
        Distribution::from_boxes(&shape, mesh, boxes)
    } else {
        let axes =
            if shape.is_empty() { Vec::new() } else { parse_axes(cursor, &mesh, &mut places)? };
        Distribution::new(&shape, mesh, axes)
    };
    let made = made.map_err(|error| {
        let place = error.array_axis().and_then(|axis| places.get(axis)).copied();
        cursor.fault_at(place.unwrap_or(at), error.to_string())
    })?;
    if cursor.eat(";") { parse_terms(cursor, made) } else { Ok(made) }
}

fn parse_shape(cursor: &mut Cursor<'_>) -> Result<Vec<usize>, Fault> {
    if cursor.eat_word("scalar") {
        return Ok(Vec::new());
    }
    let mut shape = vec![cursor.number("a length or `scalar`")?];
    while cursor.eat("x") {
        check_axes(cursor, shape.len())?;
        shape.push(cursor.number("a length")?);
    }
    Ok(shape)
}

fn check_axes(cursor: &mut Cursor<'_>, count: usize) -> Result<(), Fault> {
    if count < AXES_LIMIT {
        return Ok(());
    }
    let at = cursor.offset();
    Err(cursor.fault_at(at, format!("more than {AXES_LIMIT} axes")))
}

fn parse_mesh(cursor: &mut Cursor<'_>) -> Result<Mesh, Fault> {
    let start = cursor.offset();
    let mut axes: Vec<(String, usize)> = Vec::new();
    loop {
        let name = cursor.word("the name of a mesh axis or `rank`")?.to_owned();
        if axes.is_empty() && name == "rank" && cursor.looks_at_number() {
            return Ok(Mesh::one(cursor.number("a rank")?));
        }
        cursor.expect("=")?;
        axes.push((name, cursor.number("the extent of a mesh axis")?));
        if !cursor.eat(",") {
            break;
        }
        check_axes(cursor, axes.len())?;
    }
    let named: Vec<(&str, usize)> = axes.iter().map(|(name, n)| (name.as_str(), *n)).collect();
    let mesh = Mesh::new(&named).map_err(|error| cursor.fault_at(start, error.to_string()))?;
    if !cursor.eat_word("team") {
        return Ok(mesh);
    }
    let start = cursor.offset();
    let made = if cursor.eat_word("from") {
        let base = cursor.number("the first rank")?;
        cursor.expect_word("by")?;
        let mut strides = Vec::new();
        while cursor.looks_at_number() && strides.len() < AXES_LIMIT {
            strides.push(cursor.number("a stride")?);
        }
        mesh.with_formula(base, &strides)
    } else {
        let list = parse_list(cursor, mesh.size())?;
        let ranks = list.into_iter().map(|rank| usize::try_from(rank).ok());
        let ranks = ranks.collect::<Option<Vec<usize>>>();
        mesh.with_team(ranks.ok_or_else(|| cursor.fault_at(start, "a rank is negative"))?)
    };
    made.map_err(|error| cursor.fault_at(start, error.to_string()))
}

/// Numbers and ranges, at most `limit` of them.
fn parse_list(cursor: &mut Cursor<'_>, limit: usize) -> Result<Vec<i64>, Fault> {
    let start = cursor.offset();
    cursor.expect("[")?;
    let mut list = Vec::new();
    while !cursor.eat("]") {
        let low = cursor.signed("a number or `]`")?;
        let high = if cursor.eat("..") {
            cursor.signed("the end of a range")?
        } else {
            low.saturating_add(1)
        };
        let count = usize::try_from(high.saturating_sub(low)).unwrap_or(0);
        if list.len().saturating_add(count) > limit {
            return Err(cursor.fault_at(start, format!("more than {limit} numbers in a list")));
        }
        list.extend(low..high);
    }
    Ok(list)
}

fn parse_boxes(cursor: &mut Cursor<'_>) -> Result<Vec<Vec<(usize, usize)>>, Fault> {
    let mut boxes = Vec::new();
    while cursor.eat("[") {
        let mut ranges = Vec::new();
        while !cursor.eat("]") {
            if !ranges.is_empty() {
                cursor.expect(",")?;
            }
            let from = cursor.number("the start of a range")?;
            cursor.expect(":")?;
            ranges.push((from, cursor.number("the end of a range")?));
        }
        boxes.push(ranges);
    }
    Ok(boxes)
}

/// The maps of all array axes; notes where each of them starts.
fn parse_axes(
    cursor: &mut Cursor<'_>,
    mesh: &Mesh,
    places: &mut Vec<usize>,
) -> Result<Vec<Axis>, Fault> {
    let (mut axes, mut used) = (Vec::new(), Vec::new());
    loop {
        places.push(cursor.offset());
        let cut = parse_cut(cursor, mesh, &mut used)?;
        axes.push(parse_modifiers(cursor, cut)?);
        if !cursor.eat(",") {
            return Ok(axes);
        }
        check_axes(cursor, axes.len())?;
    }
}

fn parse_cut<'a>(
    cursor: &mut Cursor<'a>,
    mesh: &Mesh,
    used: &mut Vec<&'a str>,
) -> Result<Axis, Fault> {
    const CUTS: &str = "`whole`, `block`, `cyclic`, `indexed` or `boxes`";
    let word = cursor.peek_word();
    if cursor.eat_word("whole") {
        return Ok(Axis::whole());
    }
    if !["block", "cyclic", "indexed"].contains(&word) {
        return Err(cursor.expected(CUTS));
    }
    cursor.word(CUTS)?;
    cursor.expect("(")?;
    let mut names = Vec::new();
    if !cursor.peek_word().is_empty() {
        names.push(parse_name(cursor, mesh, used)?);
        while cursor.eat("*") {
            names.push(parse_name(cursor, mesh, used)?);
        }
    }
    let axis = match word {
        "block" => Axis::cut(&names, parse_rule(cursor)?),
        "cyclic" => {
            cursor.expect(",")?;
            Axis::cyclic(&names, cursor.number("the block of a cyclic axis")?)
        }
        _ => {
            cursor.expect(",")?;
            let mut lists = Vec::new();
            while cursor.looks_at("[") {
                lists.push(parse_list(cursor, LABEL_LIMIT)?);
            }
            let axis = Axis::indexed(&names, lists);
            if cursor.eat_word("universe") {
                axis.universe(parse_list(cursor, LABEL_LIMIT)?)
            } else {
                axis
            }
        }
    };
    cursor.expect(")")?;
    Ok(axis)
}

/// The name of a mesh axis that exists and cuts nothing yet.
fn parse_name<'a>(
    cursor: &mut Cursor<'a>,
    mesh: &Mesh,
    used: &mut Vec<&'a str>,
) -> Result<&'a str, Fault> {
    let at = cursor.offset();
    let name = cursor.word("the name of a mesh axis")?;
    mesh.axis(name).map_err(|error| cursor.fault_at(at, error.to_string()))?;
    if used.contains(&name) {
        let error = Error::MeshAxis { name: name.to_owned(), problem: "is used twice" };
        return Err(cursor.fault_at(at, error.to_string()));
    }
    used.push(name);
    Ok(name)
}

fn parse_rule(cursor: &mut Cursor<'_>) -> Result<Cuts, Fault> {
    if !cursor.eat(",") {
        return Ok(Cuts::Balanced);
    }
    if cursor.eat_word("last") {
        return Ok(Cuts::RemainderLast);
    }
    if cursor.eat_word("ceil") {
        return Ok(Cuts::Ceil);
    }
    if !cursor.eat_word("cuts") {
        return Err(cursor.expected("`last`, `ceil` or `cuts`"));
    }
    let mut cuts = Vec::new();
    while cursor.looks_at_number() {
        cuts.push(cursor.number("a cut")?);
    }
    Ok(Cuts::At(Arc::from(cuts)))
}

fn parse_widths(cursor: &mut Cursor<'_>) -> Result<(i64, i64), Fault> {
    let before = cursor.signed("a halo width")?;
    let after = if cursor.looks_at_number() { cursor.signed("a halo width")? } else { before };
    Ok((before, after))
}

fn parse_intervals(cursor: &mut Cursor<'_>) -> Result<Vec<(i64, i64)>, Fault> {
    let mut intervals = Vec::new();
    while cursor.looks_at_number() || intervals.is_empty() {
        let low = cursor.signed("the start of an interval")?;
        cursor.expect(":")?;
        intervals.push((low, cursor.signed("the end of an interval")?));
    }
    Ok(intervals)
}

fn parse_modifiers(cursor: &mut Cursor<'_>, mut axis: Axis) -> Result<Axis, Fault> {
    let mut seen: Vec<&str> = Vec::new();
    loop {
        let word = cursor.peek_word();
        let group = if word == "held" { "halo" } else { word };
        if !["halo", "room", "periodic", "of"].contains(&group) {
            return Ok(axis);
        }
        if seen.contains(&group) {
            return Err(cursor.expected("each modifier at most once"));
        }
        seen.push(group);
        cursor.word("a modifier")?;
        axis = match word {
            "halo" => {
                let (before, after) = parse_widths(cursor)?;
                axis.halo(before, after)
            }
            "held" => axis.held(&parse_intervals(cursor)?),
            "room" if cursor.eat_word("halo") => {
                let (before, after) = parse_widths(cursor)?;
                axis.room_halo(before, after)
            }
            "room" => axis.room(&parse_intervals(cursor)?),
            "periodic" => axis.periodic(),
            _ => {
                let base = cursor.number("the length of the axis that is sliced")?;
                cursor.expect_word("from")?;
                let offset = cursor.signed("the first index of a slice")?;
                cursor.expect_word("by")?;
                axis.view_of(base, offset, cursor.signed("the step of a slice")?)
            }
        };
    }
}

fn parse_terms(cursor: &mut Cursor<'_>, made: Distribution) -> Result<Distribution, Fault> {
    let start = cursor.offset();
    let name = cursor.word("an operator")?;
    let operator = Operator::from_name(name).ok_or_else(|| {
        let message = format!("expected sum, prod, min, max, and, or, found `{name}`");
        cursor.fault_at(start, message)
    })?;
    cursor.expect("(")?;
    if cursor.eat("*") || (made.boxes().is_some() && cursor.eat_word("boxes")) {
        cursor.expect(")")?;
        return Ok(made.all_terms(operator));
    }
    let mut directions = Vec::new();
    loop {
        directions.push(if cursor.looks_at_number() {
            Direction::Axis(cursor.number("an array axis")?)
        } else {
            Direction::Mesh(cursor.word("an array axis or the name of a mesh axis")?)
        });
        if !cursor.eat(",") {
            break;
        }
    }
    cursor.expect(")")?;
    made.with_terms(&directions, operator)
        .map_err(|error| cursor.fault_at(start, error.to_string()))
}
