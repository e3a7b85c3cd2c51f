//! Shapes on a sheet that grows with what is drawn on it.

use std::fmt::Write;

use crate::palette::COLOURS;
use crate::words::{px, width_of};

/// A place on the sheet; x to the right, y down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
}

/// A place.
pub(crate) fn at(x: f64, y: f64) -> Point {
    Point { x, y }
}

/// An upright rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rect {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Rect {
    pub(crate) fn new(x: f64, y: f64, width: f64, height: f64) -> Self {
        Self { x, y, width, height }
    }

    pub(crate) fn right(&self) -> f64 {
        self.x + self.width
    }

    pub(crate) fn bottom(&self) -> f64 {
        self.y + self.height
    }

    pub(crate) fn middle(&self) -> Point {
        at(self.x + self.width / 2.0, self.y + self.height / 2.0)
    }

    pub(crate) fn moved(&self, x: f64, y: f64) -> Self {
        Self { x: self.x + x, y: self.y + y, ..*self }
    }

    pub(crate) fn grown(&self, by: f64) -> Self {
        Self::new(self.x - by, self.y - by, self.width + 2.0 * by, self.height + 2.0 * by)
    }

    fn joined(&self, other: &Self) -> Self {
        let (x, y) = (self.x.min(other.x), self.y.min(other.y));
        let (right, bottom) = (self.right().max(other.right()), self.bottom().max(other.bottom()));
        Self::new(x, y, right - x, bottom - y)
    }
}

/// On which side of its place a text lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// Shapes drawn so far, and the rectangle they fill.
#[derive(Clone, Debug, Default)]
pub(crate) struct Canvas {
    body: String,
    bounds: Option<Rect>,
    hatches: [bool; COLOURS],
}

impl Canvas {
    /// The rectangle that everything drawn so far fills.
    pub(crate) fn bounds(&self) -> Rect {
        self.bounds.unwrap_or(Rect::new(0.0, 0.0, 0.0, 0.0))
    }

    /// The elements, and which hatches they use.
    pub(crate) fn into_parts(self) -> (String, [bool; COLOURS]) {
        (self.body, self.hatches)
    }

    /// Makes the sheet at least as large as this.
    pub(crate) fn cover(&mut self, area: Rect) {
        self.bounds = Some(self.bounds.map_or(area, |bounds| bounds.joined(&area)));
    }

    fn push(&mut self, element: &str) {
        self.body.push_str(element);
        self.body.push('\n');
    }

    /// A rectangle with slightly round corners.
    pub(crate) fn rect(&mut self, area: Rect, class: &str) {
        self.rounded(area, 2.0, class);
    }

    /// A rectangle with round corners.
    pub(crate) fn rounded(&mut self, area: Rect, radius: f64, class: &str) {
        self.cover(area);
        let corner = if radius > 0.0 { format!(" rx=\"{}\"", px(radius)) } else { String::new() };
        let sides = rect_sides(area);
        self.push(&format!("<rect {sides}{corner} class=\"{class}\"/>"));
    }

    /// A rectangle hatched in a worker's colour.
    pub(crate) fn hatched(&mut self, area: Rect, colour: usize, class: &str) {
        self.cover(area);
        self.hatches[colour] = true;
        let sides = rect_sides(area);
        self.push(&format!(
            "<rect {sides} rx=\"2\" fill=\"url(#pantile-h{colour})\" class=\"{class}\"/>"
        ));
    }

    /// A straight line.
    pub(crate) fn line(&mut self, from: Point, to: Point, class: &str) {
        self.polyline(&[from, to], class);
    }

    /// Straight lines from place to place.
    pub(crate) fn polyline(&mut self, places: &[Point], class: &str) {
        self.push(&format!("<path d=\"{}\" class=\"none {class}\"/>", self.trace(places)));
        places.iter().for_each(|place| self.cover(Rect::new(place.x, place.y, 0.0, 0.0)));
    }

    /// A filled shape with straight sides.
    pub(crate) fn polygon(&mut self, places: &[Point], class: &str) {
        self.push(&format!("<path d=\"{}z\" class=\"{class}\"/>", self.trace(places)));
        places.iter().for_each(|place| self.cover(Rect::new(place.x, place.y, 0.0, 0.0)));
    }

    fn trace(&self, places: &[Point]) -> String {
        let mut path = String::new();
        for (number, place) in places.iter().enumerate() {
            let letter = if number == 0 { 'M' } else { 'L' };
            write!(path, "{letter}{} {}", px(place.x), px(place.y))
                .expect("writing to a string does not fail");
        }
        path
    }

    /// A straight arrow in one of the colours.
    pub(crate) fn arrow(&mut self, from: Point, to: Point, colour: usize) {
        let (dx, dy) = (to.x - from.x, to.y - from.y);
        let length = (dx * dx + dy * dy).sqrt().max(0.1);
        let (ux, uy) = (dx / length, dy / length);
        let neck = at(to.x - 7.0 * ux, to.y - 7.0 * uy);
        self.line(from, neck, &format!("edge s{colour}"));
        self.head(to, at(ux, uy), colour);
    }

    /// An arrow that leaves and arrives level, from left to right.
    pub(crate) fn flow(&mut self, from: Point, to: Point, colour: usize) {
        let bend = (to.x - from.x) / 2.0;
        let neck = to.x - 7.0;
        let path = format!(
            "M{} {}C{} {} {} {} {} {}",
            px(from.x),
            px(from.y),
            px(from.x + bend),
            px(from.y),
            px(to.x - bend),
            px(to.y),
            px(neck),
            px(to.y)
        );
        self.push(&format!("<path d=\"{path}\" class=\"none edge s{colour}\"/>"));
        self.cover(Rect::new(from.x, from.y, 0.0, 0.0));
        self.head(to, at(1.0, 0.0), colour);
    }

    /// The head of an arrow that points in the direction `along`.
    fn head(&mut self, tip: Point, along: Point, colour: usize) {
        let back = at(tip.x - 8.0 * along.x, tip.y - 8.0 * along.y);
        let side = at(-3.5 * along.y, 3.5 * along.x);
        let left = at(back.x + side.x, back.y + side.y);
        let right = at(back.x - side.x, back.y - side.y);
        self.polygon(&[tip, left, right], &format!("t{colour}"));
    }

    /// A line of text; `place` is on its base line.
    pub(crate) fn text(&mut self, place: Point, anchor: Anchor, class: &str, text: &str) {
        let size = match class {
            _ if class.contains("title") || class.contains("rank") => 14.0,
            _ if class.contains("small") => 11.0,
            _ => 12.0,
        };
        let width = width_of(text, size);
        let (shift, word) = match anchor {
            Anchor::Start => (0.0, ""),
            Anchor::Middle => (0.5, " text-anchor=\"middle\""),
            Anchor::End => (1.0, " text-anchor=\"end\""),
        };
        self.cover(Rect::new(place.x - shift * width, place.y - 0.8 * size, width, size));
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        let (x, y) = (px(place.x), px(place.y));
        self.push(&format!("<text x=\"{x}\" y=\"{y}\"{word}{class}>{}</text>", escaped(text)));
    }

    /// A text in the middle of a place, seen from above and from the side.
    pub(crate) fn centred(&mut self, middle: Point, class: &str, text: &str) {
        let drop = if class.contains("rank") { 5.0 } else { 4.0 };
        self.text(at(middle.x, middle.y + drop), Anchor::Middle, class, text);
    }

    /// Everything that `draw` draws, with a text that shows when it is pointed at.
    pub(crate) fn with_hint(&mut self, hint: &str, draw: impl FnOnce(&mut Self)) {
        self.push(&format!("<g><title>{}</title>", escaped(hint)));
        draw(self);
        self.push("</g>");
    }

    /// Puts a copy of another sheet here, its upper left corner at `corner`.
    /// Returns how far it was moved.
    pub(crate) fn place(&mut self, other: Self, corner: Point) -> Point {
        let bounds = other.bounds();
        let shift = at(corner.x - bounds.x, corner.y - bounds.y);
        self.cover(bounds.moved(shift.x, shift.y));
        for (mine, theirs) in self.hatches.iter_mut().zip(other.hatches) {
            *mine |= theirs;
        }
        self.push(&format!("<g transform=\"translate({} {})\">", px(shift.x), px(shift.y)));
        self.body.push_str(&other.body);
        self.push("</g>");
        shift
    }
}

fn rect_sides(area: Rect) -> String {
    let (x, y) = (px(area.x), px(area.y));
    format!("x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\"", px(area.width), px(area.height))
}

/// Text as XML holds it; control characters, which it cannot hold, become spaces.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            letter if letter.is_control() => safe.push(' '),
            '\u{fffe}' | '\u{ffff}' => safe.push(' '),
            letter => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_leave_its_element() {
        assert_eq!(escaped("a<b> & \"c\"\u{1}"), "a&lt;b&gt; &amp; &quot;c&quot; ");
    }

    #[test]
    fn the_sheet_grows_with_its_shapes() {
        let mut canvas = Canvas::default();
        canvas.rect(Rect::new(10.0, 10.0, 5.0, 5.0), "f0");
        canvas.line(at(0.0, 12.0), at(20.0, 12.0), "ink");
        assert_eq!(canvas.bounds(), Rect::new(0.0, 10.0, 20.0, 5.0));
        let mut outer = Canvas::default();
        outer.place(canvas, at(100.0, 0.0));
        assert_eq!(outer.bounds(), Rect::new(100.0, 0.0, 20.0, 5.0));
    }
}
