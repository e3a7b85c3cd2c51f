//! Distributions in quotes: can they be read for this shape?
//!
//! ```text
//! template = "auto" | "copies" | "block" | [ mesh ":" ] axes
//! mesh     = name "=" ( number | "*" ) { "," ... }      (without one: `r=*`)
//! ```
//!
//! `axes` is what the text of a distribution has behind its mesh: `block(x), whole`. One mesh
//! axis may have size `*`: it takes the ranks that the others leave. Here it is tried with 1.

use pantile_geometry::Distribution;

use crate::{Dim, Placement};

/// Words that count elements or ranks: without all numbers nothing can be said about them.
const COUNTING: [&str; 6] = ["cuts", "held", "room", "indexed", "from", "universe"];

/// What is wrong with a placement for this shape, if something is.
pub(super) fn wrong(placement: &Placement, shape: &[Dim]) -> Option<String> {
    match placement {
        Placement::Template(text) => wrong_template(text.trim(), shape),
        Placement::At(at) => {
            let home = at.home();
            let fits = home.shape().len() == shape.len()
                && home
                    .shape()
                    .iter()
                    .zip(shape)
                    .all(|(own, length)| length.is_none_or(|l| l == *own));
            if home.has_terms() || home.axes().is_none() {
                Some(format!("\"{home}\" has terms or boxes, expected a product of axes"))
            } else if !fits {
                Some(format!("\"{home}\" has another shape than the array"))
            } else {
                None
            }
        }
    }
}

fn wrong_template(template: &str, shape: &[Dim]) -> Option<String> {
    if ["auto", "copies", "block"].contains(&template) {
        return None;
    }
    let (mesh, axes) = match template.split_once(':') {
        Some((mesh, axes)) => (mesh.trim(), axes.trim()),
        None => ("r=*", template),
    };
    let stars = mesh.split(',').filter(|axis| axis.trim().ends_with('*')).count();
    if stars > 1 {
        return Some(format!("{template:?}: got {stars} sizes *, expected at most one"));
    }
    let mesh = mesh.replace('*', "1");
    let lengths: Vec<String> = shape.iter().map(|length| length.unwrap_or(1).to_string()).collect();
    let lengths = if lengths.is_empty() { "scalar".to_owned() } else { lengths.join("x") };
    match format!("{lengths} on {mesh}: {axes}").parse::<Distribution>() {
        Ok(made) if made.has_terms() || made.axes().is_none() => {
            Some(format!("{template:?} has terms or boxes, expected a product of axes"))
        }
        Ok(_) => None,
        // Lists have an entry for each of so many elements or ranks, which the lowering knows.
        Err(_)
            if (shape.contains(&None) || stars > 0)
                && COUNTING.iter().any(|word| template.contains(word)) =>
        {
            None
        }
        Err(error) => {
            // The place is one in the text that was put together: only the reason is of use.
            let message = error.to_string();
            let first = message.lines().next().unwrap_or_default();
            let reason = first.split_once(": ").map_or(first, |(_, reason)| reason);
            Some(format!("{template:?}: {reason}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_tried() {
        let square = [Some(8), Some(6)];
        for good in [
            "auto",
            "copies",
            "block",
            "block(r), whole",
            "x=2, y=*: block(x), block(y)",
            "x=2: whole, cyclic(x, 3)",
            "x=2, y=*: block(x*y), whole",
            "x=2: block(x, cuts 0 3 8), whole",
        ] {
            assert_eq!(wrong_template(good, &square), None, "{good}");
        }
        let bad = |text: &str, shape: &[Dim]| wrong_template(text, shape).unwrap();
        assert_eq!(
            bad("x=*, y=*: block(x), block(y)", &square),
            "\"x=*, y=*: block(x), block(y)\": got 2 sizes *, expected at most one"
        );
        assert!(bad("block(q), whole", &square).contains("`q`"));
        assert!(bad("block(r)", &square).starts_with("\"block(r)\": "));
        assert!(bad("x=2: block(x, cuts 0 3 7), whole", &square).contains("cuts"));
        assert!(bad("x=2: whole, whole; sum(*)", &square).contains("terms"));
        assert!(bad("nonsense", &[]).starts_with("\"nonsense\": "));
        assert_eq!(wrong_template("x=2: block(x, cuts 0 3 8), whole", &[None, Some(6)]), None);
        assert_eq!(wrong_template("block(r), whole", &[None, Some(6)]), None);
        assert_eq!(wrong_template("block(r, cuts 0 3 8), whole", &square), None);
        let at = |text: &str| wrong(&Placement::at(text.parse().expect("it is one")), &square);
        assert_eq!(at("8x6 on r=2: block(r), whole"), None);
        assert!(at("8x7 on r=2: block(r), whole").is_some_and(|why| why.contains("another shape")));
        assert!(at("8x6 on r=2: whole, whole; sum(*)").is_some_and(|why| why.contains("terms")));
    }
}
