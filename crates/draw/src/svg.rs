//! The finished picture: one SVG document for light and dark themes.

use std::fmt;

use crate::canvas::{Canvas, escaped};
use crate::palette::style_sheet;
use crate::words::px;

/// White space around a picture.
const MARGIN: f64 = 16.0;

/// A picture. `Display` writes the SVG document.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub struct Svg {
    text: String,
}

impl Svg {
    /// The SVG document.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Puts a sheet into a document. `title` names the picture and `description` says in words
    /// what it shows, for readers who cannot see it.
    pub(crate) fn new(canvas: Canvas, title: &str, description: &str) -> Self {
        let area = canvas.bounds().grown(MARGIN);
        let (width, height) = (px(area.width.ceil()), px(area.height.ceil()));
        let (x, y) = (px(area.x.floor()), px(area.y.floor()));
        let (body, hatches) = canvas.into_parts();
        let used = (0..hatches.len()).filter(|colour| hatches[*colour]);
        let patterns: String = used.map(pattern).collect();
        let defs =
            if patterns.is_empty() { patterns } else { format!("<defs>\n{patterns}</defs>\n") };
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"pantile\" role=\"img\" \
             width=\"{width}\" height=\"{height}\" viewBox=\"{x} {y} {width} {height}\">\n\
             <title>{}</title>\n<desc>{}</desc>\n<style>\n{}</style>\n{defs}\
             <rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"6\" \
             class=\"paper\"/>\n{body}</svg>\n",
            escaped(title),
            escaped(description),
            style_sheet(),
        );
        Self { text }
    }
}

impl fmt::Display for Svg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Slanted lines in one of the colours.
fn pattern(colour: usize) -> String {
    format!(
        "<pattern id=\"pantile-h{colour}\" width=\"6\" height=\"6\" \
         patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">\
         <rect width=\"6\" height=\"6\" class=\"paper\"/>\
         <rect width=\"2.6\" height=\"6\" class=\"f{colour}\"/></pattern>\n"
    )
}
