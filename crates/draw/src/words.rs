//! Numbers and texts as pictures show them.

use std::fmt::{self, Display, Write};

use pantile_geometry::Rank;

/// A coordinate with at most one decimal.
pub(crate) fn px(value: f64) -> String {
    let text = format!("{value:.1}");
    let short = text.strip_suffix(".0").unwrap_or(&text);
    if short == "-0" { "0".to_owned() } else { short.to_owned() }
}

/// A length, a count or a rank as a coordinate.
pub(crate) fn real(value: usize) -> f64 {
    value as f64
}

/// A position on an axis as a coordinate.
pub(crate) fn real_at(value: i64) -> f64 {
    value as f64
}

/// A length as a position; lengths are far below the limit.
pub(crate) fn signed(value: usize) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// About how wide a text is; fonts differ, so rather too wide. Large text is bold.
pub(crate) fn width_of(text: &str, size: f64) -> f64 {
    real(text.chars().count()) * size * if size > 13.0 { 0.64 } else { 0.6 }
}

/// The text of a value, cut off after `most` characters without making all of it.
pub(crate) fn clipped(value: &impl Display, most: usize) -> String {
    struct Clip {
        text: String,
        left: usize,
    }
    impl Write for Clip {
        fn write_str(&mut self, part: &str) -> fmt::Result {
            for letter in part.chars() {
                self.left = self.left.checked_sub(1).ok_or(fmt::Error)?;
                self.text.push(letter);
            }
            Ok(())
        }
    }
    let mut clip = Clip { text: String::new(), left: most };
    if write!(clip, "{value}").is_err() {
        clip.text.push('…');
    }
    clip.text
}

/// Lines of at most `most` characters, broken at spaces where there are any.
pub(crate) fn wrapped(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        let letters: Vec<char> = word.chars().collect();
        for (number, piece) in letters.chunks(most.max(1)).enumerate() {
            let piece: String = piece.iter().collect();
            let room = line.chars().count() + 1 + piece.chars().count() <= most;
            if line.is_empty() {
                line = piece;
            } else if room && number == 0 {
                line = format!("{line} {piece}");
            } else {
                lines.push(std::mem::replace(&mut line, piece));
            }
        }
    }
    lines.push(line);
    lines
}

/// Ranks one after the other; only the first `most` of many.
pub(crate) fn rank_list(ranks: impl Iterator<Item = Rank>, between: &str, most: usize) -> String {
    let ranks: Vec<String> = ranks.take(most + 1).map(|rank| rank.to_string()).collect();
    match ranks.len() > most {
        true => format!("{}{between}…", ranks[..most].join(between)),
        false => ranks.join(between),
    }
}

/// `1 element`, `2 elements`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_short() {
        assert_eq!((px(2.0), px(-0.01), px(1.26)), ("2".into(), "0".into(), "1.3".into()));
        assert_eq!(clipped(&123_456, 4), "1234…");
        assert_eq!(clipped(&1234, 4), "1234");
        assert_eq!(wrapped("ab cd efghij k", 5), ["ab cd", "efghi", "j k"]);
        assert_eq!(rank_list([3, 1, 2].into_iter(), "+", 2), "3+1+…");
        assert_eq!(rank_list([3, 1].into_iter(), " ", 2), "3 1");
        assert_eq!(
            (counted(1, "element"), counted(0, "cell")),
            ("1 element".into(), "0 cells".into())
        );
    }
}
