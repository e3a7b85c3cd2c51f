//! Distributions half-way between two others.

use pantile_geometry::Distribution;
use pantile_testkit::{Rng, cases, enough};

/// One side of a pair: two axes in blocks with halos, which may be Terms, and a free mesh axis `t`.
#[derive(Clone)]
struct Side {
    halos: [usize; 2],
    /// Of both array axes, and of `t`.
    terms: [bool; 3],
    operator: &'static str,
}

impl Side {
    fn random(rng: &mut Rng) -> Self {
        let halos = [rng.below(3), rng.below(3)];
        // Blocks without halos have one holder each: Terms of them are Copies.
        let terms = [0, 1].map(|axis| halos[axis] > 0 && rng.chance(1, 3));
        let operator = *rng.pick(&["sum", "prod", "max", "min"]);
        Self { halos, terms: [terms[0], terms[1], rng.chance(1, 3)], operator }
    }

    fn made(&self) -> Distribution {
        let [first, second] = self.halos;
        let names = ["0", "1", "t"].into_iter().zip(self.terms);
        let names: Vec<&str> = names.filter_map(|(name, terms)| terms.then_some(name)).collect();
        let terms = match names.is_empty() {
            true => String::new(),
            false => format!("; {}({})", self.operator, names.join(", ")),
        };
        let blocks = format!("block(r) halo {first}, block(s) halo {second}");
        let text = format!("8x9 on r=2, s=3, t=2: {blocks}{terms}");
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }
}

/// Axes that are taken come with their Terms and the operator of these; all else stays. Terms of two
/// operators are no distribution.
#[test]
fn axes_are_taken_with_their_terms_and_operator() {
    let (mut refused, mut changed) = (0, 0);
    cases("axes of another", 4_000, |rng| {
        let (own, other) = (Side::random(rng), Side::random(rng));
        let take: Vec<usize> = (0..2).filter(|_| rng.chance(1, 2)).collect();
        let mut mixed = own.clone();
        for axis in &take {
            mixed.halos[*axis] = other.halos[*axis];
            mixed.terms[*axis] = other.terms[*axis];
        }
        let taken = take.iter().any(|axis| other.terms[*axis]);
        let kept = (0..3).any(|at| own.terms[at] && !take.contains(&at));
        if taken && !kept {
            mixed.operator = other.operator;
            changed += usize::from(own.operator != other.operator);
        }
        let clash = taken && kept && own.operator != other.operator;
        refused += usize::from(clash);
        let (own, other) = (own.made(), other.made());
        let expected = (!clash).then(|| mixed.made());
        assert_eq!(own.with_axes_of(&other, &take), expected, "{own}\n{other}\n{take:?}");
    });
    assert!(enough(refused, 200) && enough(changed, 400), "too few: {refused}, {changed}");
}
