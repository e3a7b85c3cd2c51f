//! The lengths at which loops change their way: tests draw sizes around them.

/// Every such length, by module and name.
///
/// Some count elements and some bytes; the names say which, or the constants themselves.
pub fn thresholds() -> impl Iterator<Item = (&'static str, usize)> {
    let tables = [
        crate::contract::THRESHOLDS,
        crate::exact::THRESHOLDS,
        crate::lanes::THRESHOLDS,
        crate::pack::THRESHOLDS,
        crate::raw::pack::THRESHOLDS,
        crate::reduce::THRESHOLDS,
    ];
    tables.into_iter().flatten().copied()
}
