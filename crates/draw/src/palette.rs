//! The colours of both themes, and the style sheet that every picture carries.
//!
//! Colours follow schemes made for colour-blind readers (after Paul Tol and Okabe and Ito); no
//! picture says anything by colour alone. Rules are plain classes, repeated for the dark theme,
//! rather than variables: programs that know no variables and no `@media` still show the light
//! theme.

use std::fmt::Write;

/// A pair of values, for the light and for the dark theme.
type Themed = [&'static str; 2];

/// Number of colours of workers and groups.
pub(crate) const COLOURS: usize = 8;

/// The sheet of paper.
const PAPER: Themed = ["#ffffff", "#0d1117"];
/// Text and the edges of arrays.
const INK: Themed = ["#1b1f24", "#e6edf3"];
/// Ticks, captions and thin lines.
const MUTED: Themed = ["#57606a", "#9da7b3"];
/// Frames and rules.
const RULE: Themed = ["#c4ccd5", "#434c57"];
/// Areas behind groups of things.
const SHADE: Themed = ["#f4f6f8", "#161b22"];
/// Fill of tiles: light under dark text, dark under light text.
const FILLS: [Themed; COLOURS] = [
    ["#8ab8e6", "#1f5287"],
    ["#f0dc82", "#6b5600"],
    ["#f2937b", "#8f3a24"],
    ["#6cc7a8", "#12604a"],
    ["#f5b3cb", "#85335c"],
    ["#a6e1f2", "#0f5c70"],
    ["#c3d05a", "#4c5714"],
    ["#c9ced6", "#4a525e"],
];
/// Borders, hatches and arrows in the hue of the fill.
const LINES: [Themed; COLOURS] = [
    ["#1f5fa0", "#7db3e8"],
    ["#866a00", "#e3c44f"],
    ["#b23a1e", "#f2937b"],
    ["#0b6b50", "#5fcba6"],
    ["#a8326a", "#f0a0c4"],
    ["#0f6f86", "#7ad3ea"],
    ["#5a6600", "#c3d05a"],
    ["#525b66", "#b4bdc9"],
];
/// Cells of tables, by how much they count.
const HEATS: [Themed; 5] = [
    ["#edf4fb", "#13202f"],
    ["#d6e7f7", "#152c46"],
    ["#bcd7f1", "#17385c"],
    ["#a2c7eb", "#1a4572"],
    ["#8ab8e6", "#1f5287"],
];

/// The colour of a world rank. Ranks one apart, and mostly those one row of a mesh apart, differ.
pub(crate) fn colour_of(rank: usize) -> usize {
    (rank % COLOURS + rank / COLOURS) % COLOURS
}

/// The text of the `style` element.
pub(crate) fn style_sheet() -> String {
    let mut css = String::from(
        ".pantile{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;\
         font-size:12px}\n\
         .pantile .title{font-size:14px;font-weight:600}\n\
         .pantile .head{font-size:12px;font-weight:600}\n\
         .pantile .rank{font-size:14px;font-weight:600}\n\
         .pantile .small{font-size:11px}\n\
         .pantile .thin{stroke-width:1}.pantile .edge{stroke-width:1.5}\
         .pantile .bold{stroke-width:2.5}\n\
         .pantile .dash{stroke-dasharray:5 3}.pantile .dots{stroke-dasharray:1.5 2.5}\n\
         .pantile .none{fill:none}\n\
         .pantile .top{fill-opacity:.45}.pantile .side{fill-opacity:.7}\n",
    );
    theme(&mut css, 0);
    css.push_str("@media (prefers-color-scheme:dark){\n");
    theme(&mut css, 1);
    css.push_str("}\n");
    css
}

/// The rules that depend on the theme.
fn theme(css: &mut String, theme: usize) {
    let mut rule = |selector: &str, property: &str, value: Themed| {
        writeln!(css, ".pantile {selector}{{{property}:{}}}", value[theme])
            .expect("writing to a string does not fail");
    };
    rule("text", "fill", INK);
    rule(".mute", "fill", MUTED);
    rule(".paper", "fill", PAPER);
    rule(".shade", "fill", SHADE);
    rule(".ink", "stroke", INK);
    rule(".soft", "stroke", MUTED);
    rule(".rule", "stroke", RULE);
    rule(".tip", "fill", MUTED);
    for (number, (fill, line)) in FILLS.iter().zip(LINES).enumerate() {
        rule(&format!(".f{number}"), "fill", *fill);
        rule(&format!(".s{number}"), "stroke", line);
        rule(&format!(".t{number}"), "fill", line);
    }
    for (number, heat) in HEATS.iter().enumerate() {
        rule(&format!(".q{number}"), "fill", *heat);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance as WCAG 2 defines it.
    fn luminance(colour: &str) -> f64 {
        let channel = |at: usize| {
            let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn text_has_contrast_in_both_themes() {
        for theme in 0..2 {
            let ink = INK[theme];
            for ground in FILLS.iter().chain(&HEATS).chain([&PAPER, &SHADE]) {
                let got = contrast(ink, ground[theme]);
                assert!(got >= 4.5, "{ink} on {}: {got:.2}", ground[theme]);
            }
            for ground in HEATS[..1].iter().chain([&PAPER, &SHADE]) {
                let got = contrast(MUTED[theme], ground[theme]);
                assert!(got >= 4.5, "muted on {}: {got:.2}", ground[theme]);
            }
            for line in LINES {
                let got = contrast(line[theme], PAPER[theme]);
                assert!(got >= 4.5, "line {}: {got:.2}", line[theme]);
            }
        }
    }

    #[test]
    fn neighbours_on_common_meshes_have_different_colours() {
        for rank in 0..64 {
            for step in [1, 2, 3, 4, 5, 6, 8, 16] {
                assert_ne!(colour_of(rank), colour_of(rank + step), "{rank} and {step} more");
            }
        }
    }
}
