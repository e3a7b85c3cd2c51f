//! The numbers that products are computed in, and what elements in memory become.

/// A number that a chain is made of.
pub(crate) trait ChainLane: Copy + Default {
    /// One more term.
    fn chain(self, a: Self, b: Self) -> Self;

    /// The sum of two panels.
    fn plus(self, other: Self) -> Self;

    /// The other sign.
    fn negative(self) -> Self;

    /// The one pattern of its value.
    fn settled(self) -> Self;
}

macro_rules! floats {
    ($($type:ident, $nan:literal;)*) => {$(
        impl ChainLane for $type {
            #[inline(always)]
            fn chain(self, a: Self, b: Self) -> Self {
                a.mul_add(b, self)
            }

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }

            #[inline(always)]
            fn negative(self) -> Self {
                -self
            }

            #[inline(always)]
            fn settled(self) -> Self {
                if self.is_nan() { $type::from_bits($nan) } else { self }
            }
        }
    )*};
}

floats! {
    f32, 0x7FC0_0000;
    f64, 0x7FF8_0000_0000_0000;
}

macro_rules! integers {
    ($($type:ident)*) => {$(
        impl ChainLane for $type {
            #[inline(always)]
            fn chain(self, a: Self, b: Self) -> Self {
                self.wrapping_add(a.wrapping_mul(b))
            }

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn negative(self) -> Self {
                self.wrapping_neg()
            }

            #[inline(always)]
            fn settled(self) -> Self {
                self
            }
        }
    )*};
}

integers! { u32 u64 }

/// A real element, or a part of a complex one, in memory. Signed numbers are their bits: what wraps
/// does not know of signs. Narrow ones are computed in wider lanes, whose lowest bits they are.
pub(crate) trait StoredElement: Copy {
    /// What it is computed in.
    type Lane: ChainLane;

    fn lane(self) -> Self::Lane;

    fn of(lane: Self::Lane) -> Self;
}

macro_rules! stored {
    ($($type:ident in $lane:ident;)*) => {$(
        impl StoredElement for $type {
            type Lane = $lane;

            #[inline(always)]
            fn lane(self) -> $lane {
                self.into()
            }

            #[inline(always)]
            #[allow(
                clippy::cast_possible_truncation,
                trivial_numeric_casts,
                reason = "the lowest bits are what wraps"
            )]
            fn of(lane: $lane) -> Self {
                lane as $type
            }
        }
    )*};
}

stored! {
    f32 in f32;
    f64 in f64;
    u8 in u32;
    u16 in u32;
    u32 in u32;
    u64 in u64;
}
