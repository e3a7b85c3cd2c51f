//! Conversions between lengths (`usize`) and positions (`i64`), and the sizes we accept.

use crate::Error;

/// Largest axis, halo width or offset: leaves room for sums and products by small numbers.
pub(crate) const LENGTH_LIMIT: usize = 1 << 48;

/// Largest number of elements of an array and of ranks of a mesh.
pub(crate) const COUNT_LIMIT: u128 = 1 << 62;

/// A length as a position.
pub(crate) fn position(length: usize) -> i64 {
    i64::try_from(length).expect("lengths are at most 2^48")
}

/// A position that is known not to be negative as an index.
pub(crate) fn index(position: i64) -> usize {
    usize::try_from(position).expect("the position is not negative")
}

/// Greatest common divisor.
pub(crate) fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Checks one length against the limit.
pub(crate) fn check_length(what: &'static str, length: usize) -> Result<(), Error> {
    if length <= LENGTH_LIMIT {
        return Ok(());
    }
    Err(Error::TooLarge { what, got: length as u128, limit: LENGTH_LIMIT as u128 })
}

/// The product of the extents, refused above the limit; zero extents count as one for the check,
/// so that a huge empty array is refused too.
pub(crate) fn checked_product(what: &'static str, extents: &[usize]) -> Result<usize, Error> {
    let mut bound: u128 = 1;
    for extent in extents {
        check_length(what, *extent)?;
        bound *= (*extent).max(1) as u128;
        if bound > COUNT_LIMIT {
            return Err(Error::TooLarge { what, got: bound, limit: COUNT_LIMIT });
        }
    }
    Ok(extents.iter().product())
}

/// `lifts` in the order in which ties are broken: 0, -1, 1, -2, 2, ...
pub(crate) fn lift_order(lift: i64) -> u64 {
    if lift < 0 { lift.unsigned_abs() * 2 - 1 } else { lift.unsigned_abs() * 2 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lifts_are_ordered_by_nearness() {
        let mut lifts = vec![2, -2, 1, 0, -1];
        lifts.sort_by_key(|lift| lift_order(*lift));
        assert_eq!(lifts, [0, -1, 1, -2, 2]);
    }

    #[test]
    fn huge_arrays_are_refused_even_if_empty() {
        assert!(checked_product("elements", &[1 << 40, 1 << 40]).is_err());
        assert!(checked_product("elements", &[1 << 40, 0, 1 << 40]).is_err());
        assert!(checked_product("elements", &[usize::MAX]).is_err());
        assert_eq!(checked_product("elements", &[3, 0, 4]), Ok(0));
    }
}
