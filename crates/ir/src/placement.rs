//! Where the type of an array says that it lives.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use pantile_geometry::Distribution;

/// Where an array lives: `#pantile.dist<"...">`, which can say what a `dist_env` cannot.
///
/// Texts are read where programs come in, and printed where they go out; what is recorded in memory
/// has the distribution itself. Both are equal if their texts are.
#[derive(Clone, Debug)]
pub enum Placement {
    /// The text of a distribution without its shape; a mesh axis of size `*` takes the ranks that the
    /// others leave. `"auto"`, `"copies"` and `"block"` (axis 0 over all ranks) are short for the
    /// usual ones.
    Template(Arc<str>),
    /// There.
    At(Arc<PlacedAt>),
}

/// A distribution with its fingerprint, which is found once.
#[derive(Debug)]
pub struct PlacedAt {
    home: Distribution,
    fingerprint: u128,
}

impl Deref for PlacedAt {
    type Target = Distribution;

    fn deref(&self) -> &Distribution {
        &self.home
    }
}

impl PlacedAt {
    /// A distribution, and its fingerprint.
    #[must_use]
    pub fn new(home: Distribution) -> Arc<Self> {
        let fingerprint = home.fingerprint().0;
        Arc::new(Self { home, fingerprint })
    }

    /// The distribution.
    #[must_use]
    pub fn home(&self) -> &Distribution {
        &self.home
    }

    /// Equal distributions have equal ones.
    #[must_use]
    pub fn fingerprint(&self) -> u128 {
        self.fingerprint
    }
}

impl Placement {
    /// This distribution.
    #[must_use]
    pub fn at(home: Distribution) -> Self {
        Self::At(PlacedAt::new(home))
    }

    /// As the text of programs has it.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Template(text) => Cow::Borrowed(text),
            Self::At(at) => {
                let text = at.home.to_string();
                let place = text.split_once(" on ").map_or("auto", |(_, place)| place);
                Cow::Owned(place.to_owned())
            }
        }
    }
}

impl From<&str> for Placement {
    fn from(text: &str) -> Self {
        Self::Template(text.into())
    }
}

impl From<String> for Placement {
    fn from(text: String) -> Self {
        Self::Template(text.into())
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl PartialEq for Placement {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::At(one), Self::At(other)) if Arc::ptr_eq(one, other) => true,
            _ => self.text() == other.text(),
        }
    }
}

impl Eq for Placement {}

impl Hash for Placement {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text().hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_and_its_text_are_equal() {
        let home: Distribution = "8x3 on r=2: block(r), whole".parse().expect("a distribution");
        let (at, text) = (Placement::at(home), Placement::from("r=2: block(r), whole"));
        assert_eq!(at, text);
        assert_ne!(at, Placement::from("r=2: whole, whole"));
        assert_eq!(at.to_string(), "r=2: block(r), whole");
        let hash = |one: &Placement| {
            let mut state = std::collections::hash_map::DefaultHasher::new();
            one.hash(&mut state);
            state.finish()
        };
        assert_eq!(hash(&at), hash(&text));
    }
}
