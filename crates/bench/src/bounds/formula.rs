//! What is computed for one element.

/// A value for every place.
///
/// # Safety
/// `at` reads inside of its inputs for every place below `len`.
pub unsafe trait Formula: Copy {
    /// How many elements there are.
    fn len(&self) -> usize;

    /// True if there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element at a place. Must be `#[inline(always)]`.
    ///
    /// # Safety
    /// The place is below `len`.
    unsafe fn at(&self, place: usize) -> f64;

    /// Writes it to all places, as [`write`](crate::bounds::write()) does: the loops,
    /// compiled in this crate and with its optimisations.
    fn write_to(self, into: &mut [f64], streaming: bool);
}

/// Declares formulas over slices.
macro_rules! formulas {
    ($($(#[$doc:meta])* $name:ident($count:literal) |$inputs:ident| $value:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name<'a>(
            /// The inputs; the shortest decides how many elements there are.
            pub [&'a [f64]; $count],
        );

        // SAFETY: R1; `len` is the length of the shortest input.
        unsafe impl $crate::bounds::Formula for $name<'_> {
            fn len(&self) -> usize {
                self.0.iter().map(|input| input.len()).min().unwrap_or(0)
            }

            #[inline(always)]
            unsafe fn at(&self, place: usize) -> f64 {
                // SAFETY: R1; promised by the caller for a place below `len`.
                let $inputs = self.0.map(|input| unsafe { *input.get_unchecked(place) });
                $value
            }

            #[inline(never)]
            fn write_to(self, into: &mut [f64], streaming: bool) {
                $crate::bounds::write::loops(into, self, streaming);
            }
        }
    )*};
}

pub(crate) use formulas;

formulas! {
    /// a
    Copied(1) |inputs| inputs[0];
    /// a + 3 b
    Triad(2) |inputs| inputs[0] + 3.0 * inputs[1];
    /// a b + c d - e / f
    Six(6) |inputs| {
        let [a, b, c, d, e, f] = inputs;
        a * b + c * d - e / f
    };
    /// The mean of four neighbours: up, down, left, right.
    Four(4) |inputs| {
        let [up, down, left, right] = inputs;
        (up + down + left + right) * 0.25
    };
    /// The mean of four neighbours less the middle: up, down, left, right, middle.
    Five(5) |inputs| {
        let [up, down, left, right, middle] = inputs;
        (up + down + left + right) * 0.25 - middle
    };
}
