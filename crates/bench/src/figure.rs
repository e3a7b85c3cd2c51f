//! One figure: our time, the bound beside it, and whether that is what we aim at.

use pantile_text::json::Value;

use super::case::FigureGroup;
use pantile_text::numbers::seconds;

/// What we want a figure to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Aim {
    /// At least so much of the speed of the bound.
    Ratio(f64),
    /// At most so many seconds.
    Within(f64),
    /// At most so many seconds more than the bound.
    Beyond(f64),
}

/// What was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The heading that it stands under.
    pub group: FigureGroup,
    /// What was measured.
    pub name: String,
    /// How large the arrays are; may be part of the name.
    pub size: String,
    /// Ranks of ours, and threads of the bound.
    pub ranks: usize,
    /// Medians of seconds.
    pub ours: f64,
    /// Seconds of the loop by hand.
    pub bound: f64,
    /// What the bound is.
    pub bound_is: String,
    /// The median of bound / ours within each turn: 1 is as fast as the bound.
    pub ratio: f64,
    /// What the ratio or the time should be.
    pub aim: Option<Aim>,
}

impl Aim {
    /// As people read it.
    pub fn text(self) -> String {
        match self {
            Self::Ratio(ratio) => format!(">= {ratio:.2}"),
            Self::Within(time) => format!("<= {}", seconds(time)),
            Self::Beyond(time) => format!("<= bound + {}", seconds(time)),
        }
    }

    fn json(self) -> Value {
        let (kind, value) = match self {
            Self::Ratio(ratio) => ("ratio", ratio),
            Self::Within(time) => ("seconds", time),
            Self::Beyond(time) => ("seconds beyond the bound", time),
        };
        Value::object([("kind", kind.into()), ("value", number(value))])
    }
}

impl Figure {
    /// Whether the aim is met; nothing if there is none.
    pub fn met(&self) -> Option<bool> {
        self.aim.map(|aim| match aim {
            // As people read it: 0.899 is shown as 0.90.
            Aim::Ratio(ratio) => self.ratio + 0.005 >= ratio,
            Aim::Within(time) => self.ours <= time,
            Aim::Beyond(time) => self.ours <= self.bound + time,
        })
    }

    /// All of it.
    pub fn json(&self) -> Value {
        Value::object([
            ("group", self.group.title().into()),
            ("name", self.name.as_str().into()),
            ("size", self.size.as_str().into()),
            ("ranks", self.ranks.into()),
            ("ours", number(self.ours)),
            ("bound", number(self.bound)),
            ("bound_is", self.bound_is.as_str().into()),
            ("ratio", number(self.ratio)),
            ("aim", self.aim.map_or_else(Value::null, Aim::json)),
            ("met", self.met().map_or_else(Value::null, Value::from)),
        ])
    }
}

/// A number; null if it is none.
pub fn number(value: f64) -> Value {
    Value::float(value).unwrap_or_else(Value::null)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(ours: f64, bound: f64, aim: Aim) -> Figure {
        let (group, text) = (FigureGroup::Small, String::new);
        let (name, size, bound_is) = (text(), text(), text());
        let ratio = bound / ours;
        Figure { group, name, size, ranks: 1, ours, bound, bound_is, ratio, aim: Some(aim) }
    }

    #[test]
    fn aims_are_met_or_missed() {
        let met = |ours, bound, aim| figure(ours, bound, aim).met() == Some(true);
        assert!(met(1.0, 0.9, Aim::Ratio(0.9)) && met(1.0, 0.896, Aim::Ratio(0.9)));
        assert!(!met(1.0, 0.89, Aim::Ratio(0.9)));
        assert!(met(2e-6, 1e-9, Aim::Within(2e-6)) && !met(2.1e-6, 2e-6, Aim::Within(2e-6)));
        assert!(met(12e-6, 3e-6, Aim::Beyond(1e-5)) && !met(14e-6, 3e-6, Aim::Beyond(1e-5)));
        let none = Figure { aim: None, ..figure(1.0, 1.0, Aim::Ratio(1.0)) };
        assert_eq!(none.met(), None);
    }
}
