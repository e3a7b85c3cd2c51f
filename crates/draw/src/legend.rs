//! What the marks of a picture mean.

use crate::canvas::{Anchor, Canvas, Rect, at};
use crate::words::width_of;

/// A kind of mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Filled in a worker's colour.
    Solid,
    /// Hatched.
    Hatched,
    /// Outlined with dashes.
    Dashed,
    /// Outlined with dots.
    Dotted,
    /// Outlined.
    Outlined,
    /// A thick line.
    Edge,
    /// A bracket below things.
    Bracket,
    /// Outlined twice.
    Double,
}

/// Draws samples of marks with their meanings in rows of at most `width`, from `top` on down.
pub(crate) fn draw(canvas: &mut Canvas, entries: &[(Mark, &str)], left: f64, top: f64, width: f64) {
    let (mut x, mut y) = (left, top);
    for (mark, meaning) in entries {
        let needed = 24.0 + width_of(meaning, 11.0) + 14.0;
        if x > left && x + needed > left + width {
            (x, y) = (left, y + 20.0);
        }
        sample(canvas, *mark, Rect::new(x, y, 18.0, 12.0));
        canvas.text(at(x + 24.0, y + 10.0), Anchor::Start, "small mute", meaning);
        x += needed;
    }
}

fn sample(canvas: &mut Canvas, mark: Mark, area: Rect) {
    match mark {
        Mark::Solid => canvas.rect(area, "f0 s0 edge"),
        Mark::Hatched => canvas.hatched(area, 0, "s0 thin"),
        Mark::Dashed => canvas.rect(area, "paper s0 thin dash"),
        Mark::Dotted => canvas.rect(area, "none s0 thin dots"),
        Mark::Outlined => canvas.rect(area, "paper s0 edge"),
        Mark::Edge => {
            let x = area.middle().x;
            canvas.line(at(x, area.y), at(x, area.bottom()), "ink bold");
        }
        Mark::Bracket => {
            let (left, right, low) = (area.x, area.right(), area.bottom() - 3.0);
            let ends = [at(left, low - 4.0), at(left, low), at(right, low), at(right, low - 4.0)];
            canvas.polyline(&ends, "s0 edge");
        }
        Mark::Double => {
            canvas.rounded(area, 0.0, "f0 s0 edge");
            canvas.rounded(area.grown(-3.0), 0.0, "none ink thin");
        }
    }
}
