//! Whether a movement could move less.

use pantile_geometry::Distribution;
use pantile_plan::{Plan, Step};

/// True if no movement from the plan's source to its target, in however many steps, moves fewer
/// elements; `None` if that is not known.
///
/// Between copies a rank must get each element that it lacks at least once, and a direct plan
/// brings it exactly once. The adjoint turns every arrow around, so it is least, too.
pub(super) fn is_minimum(plan: &Plan) -> Option<bool> {
    let [step] = plan.steps() else { return None };
    // A rank that holds an element twice on a periodic axis could copy it to itself.
    let twice = step.transfers().any(|transfer| {
        let lifted = !transfer.source_lifts.is_zero() || !transfer.target_lifts.is_zero();
        transfer.travels() && lifted
    });
    let least = !step.faces_only && !twice && (copies(step) || copies_backwards(step));
    least.then_some(true)
}

fn copies(step: &Step) -> bool {
    !step.source.has_terms() && !step.target.has_terms()
}

fn copies_backwards(step: &Step) -> bool {
    let copies = |side: &Distribution| side.dual().is_ok_and(|dual| !dual.has_terms());
    copies(&step.source) && copies(&step.target)
}

/// The remark as a line of text.
pub(super) fn line(plan: &Plan) -> &'static str {
    let [step] = plan.steps() else { return "" };
    if is_minimum(plan) == Some(true) {
        return if copies(step) {
            "No plan moves less: every element that a rank lacks arrives once.\n"
        } else {
            "No plan moves less: every term leaves its rank once.\n"
        };
    }
    if step.source.has_terms() && !step.target.has_terms() && !step.faces_only {
        return "Every term goes straight to every rank that wants the result; \
                a path of several steps may move less.\n";
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, target: &str, expected: Option<bool>) {
        let plan = Plan::between(&source.parse().unwrap(), &target.parse().unwrap()).unwrap();
        assert_eq!(is_minimum(&plan), expected, "{source} -> {target}");
    }

    #[test]
    fn copies_and_their_adjoints_are_least() {
        check("6 on r=3: block(r)", "6 on r=3: whole", Some(true));
        check("6 on r=3: whole; sum(r)", "6 on r=3: block(r)", Some(true));
        check("6 on r=3: block(r) halo 1; sum(0)", "6 on r=3: block(r)", Some(true));
        check("6 on r=3: whole; sum(r)", "6 on r=3: whole", None);
        check("6 on r=3: whole; max(r)", "6 on rank 0: whole", None);
        // Rank 0 gets element 5 for both of its ends.
        check("6 on r=3: block(r)", "6 on r=3: block(r) halo 5 periodic", None);
    }
}
