//! Whether a movement could move less.

use pantile_plan::Plan;

/// True if no movement from the plan's source to its target moves fewer elements; `None` if that
/// is not known.
///
/// Between copies a rank must get each element that it lacks at least once, and a direct plan
/// brings it exactly once. Movements of terms to one holder are the same, turned around.
pub(super) fn is_minimum(plan: &Plan) -> Option<bool> {
    let [step] = plan.steps() else { return None };
    if step.faces_only {
        return None;
    }
    let copies = !step.source.has_terms() && !step.target.has_terms();
    copies.then_some(true)
}

/// The remark as a line of text.
pub(super) fn line(plan: &Plan) -> String {
    if is_minimum(plan) == Some(true) {
        return "This is the least possible: every element that a rank lacks arrives once.\n"
            .to_owned();
    }
    let terms = |step: &pantile_plan::Step| step.source.has_terms() && !step.target.has_terms();
    match plan.steps() {
        [step] if terms(step) => "Every term goes to every rank that wants the result: the fewest \
                                  steps; more steps may move less.\n"
            .to_owned(),
        _ => String::new(),
    }
}
