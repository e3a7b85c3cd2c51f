//! Vectors of eight-byte and four-byte lanes, as instructions of the processor.

use std::arch::x86_64::*;

/// A vector. Lanes are floats, or integers of the same width that share their bits.
///
/// The caller promises:
/// 1. The processor has the instructions; the caller is compiled for them.
/// 2. Pointers are to as many elements as the vector has lanes, or the tail names; those of
///    bools to one byte for each lane. They need no alignment.
pub(super) trait SimdVector: Copy {
    /// One bit, or one lane of ones or zeros, for each lane.
    type Mask: Copy;
    /// The first few lanes.
    type Tail: Copy;

    /// Lanes of a vector.
    const LANES: usize;
    /// Bytes of a lane.
    const BYTES: usize;

    unsafe fn zero() -> Self;
    unsafe fn tail(count: usize) -> Self::Tail;
    unsafe fn load(from: *const u8) -> Self;
    unsafe fn load_some(from: *const u8, tail: Self::Tail) -> Self;
    unsafe fn store(self, to: *mut u8);
    unsafe fn store_some(self, to: *mut u8, tail: Self::Tail);
    /// A non-temporal store; the place is aligned to a vector.
    unsafe fn stream(self, to: *mut u8);

    unsafe fn add(self, other: Self) -> Self;
    unsafe fn sub(self, other: Self) -> Self;
    unsafe fn mul(self, other: Self) -> Self;
    unsafe fn div(self, other: Self) -> Self;
    unsafe fn mul_add(self, factor: Self, term: Self) -> Self;
    unsafe fn min(self, other: Self) -> Self;
    unsafe fn max(self, other: Self) -> Self;
    /// The same of another that is neither NaN nor zero.
    unsafe fn at_most(self, other: Self) -> Self;
    unsafe fn at_least(self, other: Self) -> Self;
    unsafe fn neg(self) -> Self;
    unsafe fn abs(self) -> Self;
    unsafe fn sqrt(self) -> Self;
    unsafe fn floor(self) -> Self;
    unsafe fn ceil(self) -> Self;
    unsafe fn trunc(self) -> Self;
    unsafe fn round_even(self) -> Self;
    unsafe fn canonical(self) -> Self;

    unsafe fn plus(self, other: Self) -> Self;
    unsafe fn minus(self, other: Self) -> Self;
    unsafe fn and(self, other: Self) -> Self;
    unsafe fn or(self, other: Self) -> Self;
    unsafe fn xor(self, other: Self) -> Self;
    unsafe fn shl(self, other: Self) -> Self;
    unsafe fn shr(self, other: Self) -> Self;
    /// The entries of a lookup table at these places, the last one beyond the end. Eight-byte lanes
    /// only.
    unsafe fn look_up(self, table: &[u64]) -> Self;

    unsafe fn eq(self, other: Self) -> Self::Mask;
    unsafe fn ne(self, other: Self) -> Self::Mask;
    unsafe fn lt(self, other: Self) -> Self::Mask;
    unsafe fn le(self, other: Self) -> Self::Mask;
    /// Equal as integers.
    unsafe fn same(self, other: Self) -> Self::Mask;
    /// This where the mask is true, else the other.
    unsafe fn where_else(self, mask: Self::Mask, other: Self) -> Self;
    unsafe fn load_mask(from: *const u8) -> Self::Mask;
    unsafe fn store_mask(mask: Self::Mask, to: *mut u8);
}

/// Declares methods that are one instruction on both vectors, or one on one of them.
macro_rules! same_on_all {
    ($($name:ident($($other:ident),*) = $instruction:expr;)*) => {$(
        #[inline(always)]
        unsafe fn $name(self, $($other: Self),*) -> Self {
            // SAFETY: R7; `interpreter` chooses functions by the vectors that were detected.
            unsafe { $instruction(self, $($other),*) }
        }
    )*};
}

/// Declares methods on integers that share the bits of the lanes.
macro_rules! on_bits {
    ($to:ident, $back:ident; $($name:ident = $instruction:ident;)*) => {$(
        #[inline(always)]
        unsafe fn $name(self, other: Self) -> Self {
            // SAFETY: R7; `interpreter` chooses functions by the vectors that were detected.
            unsafe { $back($instruction($to(self), $to(other))) }
        }
    )*};
}

/// Declares comparisons.
macro_rules! compare {
    ($instruction:ident, $other:ident; $($name:ident = $how:ident;)*) => {$(
        #[inline(always)]
        unsafe fn $name(self, other: Self) -> Self::Mask {
            // SAFETY: R7; `interpreter` chooses functions by the vectors that were detected.
            unsafe { $instruction::<$how>(self, other) }
        }
    )*};
}

/// What min, max and the canonical NaN have in common: `least` gives the second operand if one is
/// NaN or both are zeros, and equal numbers differ at most in the sign of zero.
macro_rules! by_selection {
    ($least:ident, $most:ident, $unordered:expr, $nan:expr) => {
        #[inline(always)]
        unsafe fn min(self, other: Self) -> Self {
            // SAFETY: R7; `interpreter` chooses functions by the vectors that were detected.
            unsafe {
                let least = self.or(other).where_else(self.eq(other), $least(self, other));
                self.where_else($unordered(self), least)
            }
        }

        #[inline(always)]
        unsafe fn max(self, other: Self) -> Self {
            // SAFETY: R7; `interpreter` chooses functions by the vectors that were detected.
            unsafe {
                let most = self.and(other).where_else(self.eq(other), $most(self, other));
                self.where_else($unordered(self), most)
            }
        }

        #[inline(always)]
        unsafe fn at_most(self, other: Self) -> Self {
            // SAFETY: R7; `interpreter` chooses functions by the vectors that were detected.
            unsafe { $least(other, self) }
        }

        #[inline(always)]
        unsafe fn at_least(self, other: Self) -> Self {
            // SAFETY: R7; `interpreter` chooses functions by the vectors that were detected.
            unsafe { $most(other, self) }
        }

        #[inline(always)]
        unsafe fn canonical(self) -> Self {
            // SAFETY: R7; `interpreter` chooses functions by the vectors that were detected.
            unsafe { $nan.where_else($unordered(self), self) }
        }
    };
}

macro_rules! avx512 {
    ($type:ident, $lanes:literal, $bytes:literal, $mask:ident, $element:ident;
     $to:ident, $back:ident, $zero:ident, $load:ident, $some:ident, $store:ident, $store_some:ident,
     $stream:ident;
     $add:ident, $sub:ident, $mul:ident, $div:ident, $fma:ident, $min:ident, $max:ident, $abs:ident,
     $sqrt:ident, $round:ident, $cmp:ident, $blend:ident, $set:ident, $sign:expr, $nan:expr;
     $plus:ident, $minus:ident, $shl:ident, $shr:ident, $same:ident) => {
        impl SimdVector for $type {
            type Mask = $mask;
            type Tail = $mask;

            const LANES: usize = $lanes;
            const BYTES: usize = $bytes;

            #[inline(always)]
            unsafe fn zero() -> Self {
                // SAFETY: R7; `interpreter` chooses functions by the vectors that were detected.
                unsafe { $zero() }
            }

            #[inline(always)]
            unsafe fn tail(count: usize) -> $mask {
                if count >= $lanes { $mask::MAX } else { (1 << count) - 1 }
            }

            #[inline(always)]
            unsafe fn load(from: *const u8) -> Self {
                // SAFETY: R1, R2, R4, R7; the pass ends before the block, or its tail does.
                unsafe { $load(from.cast()) }
            }

            #[inline(always)]
            unsafe fn load_some(from: *const u8, tail: $mask) -> Self {
                // SAFETY: R1, R2, R4, R7; the pass ends before the block, or its tail does.
                unsafe { $some(tail, from.cast()) }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut u8) {
                // SAFETY: R1, R2, R4, R7; the pass ends before the block, or its tail does.
                unsafe { $store(to.cast(), self) }
            }

            #[inline(always)]
            unsafe fn stream(self, to: *mut u8) {
                // SAFETY: R1, R2, R7; the place is that of a line, as `LaneSlot::non_temporal` says.
                unsafe { $stream(to.cast(), self) }
            }

            #[inline(always)]
            unsafe fn store_some(self, to: *mut u8, tail: $mask) {
                // SAFETY: R1, R2, R4, R7; the pass ends before the block, or its tail does.
                unsafe { $store_some(to.cast(), tail, self) }
            }

            same_on_all! {
                add(other) = $add;
                sub(other) = $sub;
                mul(other) = $mul;
                div(other) = $div;
                mul_add(factor, term) = $fma;
                abs() = $abs;
                sqrt() = $sqrt;
                floor() = $round::<{ _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC }>;
                ceil() = $round::<{ _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC }>;
                trunc() = $round::<{ _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }>;
                round_even() = $round::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>;
            }

            #[inline(always)]
            unsafe fn neg(self) -> Self {
                // SAFETY: R7; `interpreter` chooses functions by the vectors that were detected.
                unsafe { self.xor($set($sign)) }
            }

            by_selection!($min, $max, |of| $cmp::<_CMP_UNORD_Q>(of, of), $set($nan));

            on_bits! { $to, $back;
                plus = $plus;
                minus = $minus;
                and = _mm512_and_si512;
                or = _mm512_or_si512;
                xor = _mm512_xor_si512;
                shl = $shl;
                shr = $shr;
            }

            #[inline(always)]
            unsafe fn look_up(self, table: &[u64]) -> Self {
                // SAFETY: R2, R7; places are at most the last one, and `interpreter` chooses by detected vectors.
                unsafe {
                    let last = _mm512_set1_epi64((table.len() - 1).cast_signed() as i64);
                    let place = _mm512_min_epu64($to(self), last);
                    $back(_mm512_i64gather_epi64::<8>(place, table.as_ptr().cast()))
                }
            }

            compare! { $cmp, $same;
                eq = _CMP_EQ_OQ;
                ne = _CMP_NEQ_UQ;
                lt = _CMP_LT_OQ;
                le = _CMP_LE_OQ;
            }

            #[inline(always)]
            unsafe fn same(self, other: Self) -> $mask {
                // SAFETY: R7; `interpreter` chooses functions by the vectors that were detected.
                unsafe { $same($to(self), $to(other)) }
            }

            #[inline(always)]
            unsafe fn where_else(self, mask: $mask, other: Self) -> Self {
                // SAFETY: R7; `interpreter` chooses functions by the vectors that were detected.
                unsafe { $blend(mask, other, self) }
            }

            #[inline(always)]
            #[allow(clippy::cast_possible_truncation, reason = "one bit for each lane")]
            unsafe fn load_mask(from: *const u8) -> $mask {
                // SAFETY: R1, R2, R4, R7; the pass ends before the block, or its tail does.
                unsafe {
                    let bytes = bools::read_some::<$lanes>(from);
                    _mm_test_epi8_mask(bytes, bytes) as $mask
                }
            }

            #[inline(always)]
            unsafe fn store_mask(mask: $mask, to: *mut u8) {
                // SAFETY: R1, R2, R4, R7; the pass ends before the block, or its tail does.
                unsafe { bools::write_some::<$lanes>(_mm_maskz_set1_epi8(mask.into(), 1), to) }
            }
        }
    };
}

avx512! {
    __m512d, 8, 8, __mmask8, f64;
    _mm512_castpd_si512, _mm512_castsi512_pd, _mm512_setzero_pd, _mm512_loadu_pd,
    _mm512_maskz_loadu_pd, _mm512_storeu_pd, _mm512_mask_storeu_pd, _mm512_stream_pd;
    _mm512_add_pd, _mm512_sub_pd, _mm512_mul_pd, _mm512_div_pd, _mm512_fmadd_pd, _mm512_min_pd,
    _mm512_max_pd, _mm512_abs_pd, _mm512_sqrt_pd, _mm512_roundscale_pd, _mm512_cmp_pd_mask,
    _mm512_mask_blend_pd, _mm512_set1_pd, -0.0, f64::from_bits(0x7FF8 << 48);
    _mm512_add_epi64, _mm512_sub_epi64, _mm512_sllv_epi64, _mm512_srlv_epi64,
    _mm512_cmpeq_epi64_mask
}

avx512! {
    __m512, 16, 4, __mmask16, f32;
    _mm512_castps_si512, _mm512_castsi512_ps, _mm512_setzero_ps, _mm512_loadu_ps,
    _mm512_maskz_loadu_ps, _mm512_storeu_ps, _mm512_mask_storeu_ps, _mm512_stream_ps;
    _mm512_add_ps, _mm512_sub_ps, _mm512_mul_ps, _mm512_div_ps, _mm512_fmadd_ps, _mm512_min_ps,
    _mm512_max_ps, _mm512_abs_ps, _mm512_sqrt_ps, _mm512_roundscale_ps, _mm512_cmp_ps_mask,
    _mm512_mask_blend_ps, _mm512_set1_ps, -0.0, f32::from_bits(0x7FC0 << 16);
    _mm512_add_epi32, _mm512_sub_epi32, _mm512_sllv_epi32, _mm512_srlv_epi32,
    _mm512_cmpeq_epi32_mask
}

/// Bools as bytes.
mod bools {
    use std::arch::x86_64::*;

    /// # Safety
    /// Promises 1 and 2 of a vector of so many lanes.
    #[inline(always)]
    pub(super) unsafe fn read_some<const LANES: usize>(from: *const u8) -> __m128i {
        // SAFETY: R1, R2, R4, R7; promised by the caller for as many lanes.
        unsafe {
            match LANES {
                16 => _mm_loadu_si128(from.cast()),
                8 => _mm_loadu_si64(from),
                _ => _mm_loadu_si32(from),
            }
        }
    }

    /// # Safety
    /// Promises 1 and 2 of a vector of so many lanes.
    #[inline(always)]
    pub(super) unsafe fn write_some<const LANES: usize>(bytes: __m128i, to: *mut u8) {
        // SAFETY: R1, R2, R4, R7; promised by the caller for as many lanes.
        unsafe {
            match LANES {
                16 => _mm_storeu_si128(to.cast(), bytes),
                8 => _mm_storeu_si64(to, bytes),
                _ => _mm_storeu_si32(to, bytes),
            }
        }
    }
}

macro_rules! avx2 {
    ($type:ident, $lanes:literal, $bytes:literal;
     $to:ident, $back:ident, $zero:ident, $load:ident, $some:ident, $store:ident, $store_some:ident,
     $stream:ident;
     $add:ident, $sub:ident, $mul:ident, $div:ident, $fma:ident, $min:ident, $max:ident,
     $sqrt:ident, $round:ident, $cmp:ident, $blend:ident, $and_not:ident, $set:ident, $nan:expr;
     $plus:ident, $minus:ident, $shl:ident, $shr:ident, $same:ident;
     $count:ident, $numbers:expr, $above:ident, $widen:ident, $pack:expr) => {
        impl SimdVector for $type {
            type Mask = $type;
            type Tail = __m256i;

            const LANES: usize = $lanes;
            const BYTES: usize = $bytes;

            #[inline(always)]
            unsafe fn zero() -> Self {
                // SAFETY: R7; `interpreter` chooses functions by the vectors that were detected.
                unsafe { $zero() }
            }

            #[inline(always)]
            #[allow(clippy::cast_possible_truncation, reason = "at most the lanes of a vector")]
            unsafe fn tail(count: usize) -> __m256i {
                // SAFETY: R7; `interpreter` chooses functions by the vectors that were detected.
                unsafe { $above($count(count.min($lanes) as _), $numbers) }
            }

            #[inline(always)]
            unsafe fn load(from: *const u8) -> Self {
                // SAFETY: R1, R2, R4, R7; the pass ends before the block, or its tail does.
                unsafe { $load(from.cast()) }
            }

            #[inline(always)]
            unsafe fn load_some(from: *const u8, tail: __m256i) -> Self {
                // SAFETY: R1, R2, R4, R7; the pass ends before the block, or its tail does.
                unsafe { $some(from.cast(), tail) }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut u8) {
                // SAFETY: R1, R2, R4, R7; the pass ends before the block, or its tail does.
                unsafe { $store(to.cast(), self) }
            }

            #[inline(always)]
            unsafe fn stream(self, to: *mut u8) {
                // SAFETY: R1, R2, R7; the place is that of a line, as `LaneSlot::non_temporal` says.
                unsafe { $stream(to.cast(), self) }
            }

            #[inline(always)]
            unsafe fn store_some(self, to: *mut u8, tail: __m256i) {
                // Stores with masks are slow on some processors, even of all lanes or none.
                // SAFETY: R1, R2, R4, R7; the pass ends before the block, or its tail does.
                unsafe {
                    match _mm256_movemask_epi8(tail) {
                        -1 => $store(to.cast(), self),
                        0 => {}
                        _ => $store_some(to.cast(), tail, self),
                    }
                }
            }

            same_on_all! {
                add(other) = $add;
                sub(other) = $sub;
                mul(other) = $mul;
                div(other) = $div;
                mul_add(factor, term) = $fma;
                sqrt() = $sqrt;
                floor() = $round::<{ _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC }>;
                ceil() = $round::<{ _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC }>;
                trunc() = $round::<{ _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }>;
                round_even() = $round::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>;
            }

            #[inline(always)]
            unsafe fn neg(self) -> Self {
                // SAFETY: R7; `interpreter` chooses functions by the vectors that were detected.
                unsafe { self.xor($set(-0.0)) }
            }

            #[inline(always)]
            unsafe fn abs(self) -> Self {
                // SAFETY: R7; `interpreter` chooses functions by the vectors that were detected.
                unsafe { $and_not($set(-0.0), self) }
            }

            by_selection!($min, $max, |of| $cmp::<_CMP_UNORD_Q>(of, of), $set($nan));

            on_bits! { $to, $back;
                plus = $plus;
                minus = $minus;
                and = _mm256_and_si256;
                or = _mm256_or_si256;
                xor = _mm256_xor_si256;
                shl = $shl;
                shr = $shr;
            }

            #[inline(always)]
            unsafe fn look_up(self, table: &[u64]) -> Self {
                // SAFETY: R2, R7; places are at most the last one, and `interpreter` chooses by detected vectors.
                unsafe {
                    let sign = _mm256_set1_epi64x(i64::MIN);
                    let last = _mm256_set1_epi64x((table.len() - 1).cast_signed() as i64);
                    let place = $to(self);
                    // Unsigned order is that of signed numbers with the other sign bit.
                    let beyond = _mm256_cmpgt_epi64(
                        _mm256_xor_si256(place, sign),
                        _mm256_xor_si256(last, sign),
                    );
                    let place = _mm256_blendv_epi8(place, last, beyond);
                    $back(_mm256_i64gather_epi64::<8>(table.as_ptr().cast(), place))
                }
            }

            compare! { $cmp, $same;
                eq = _CMP_EQ_OQ;
                ne = _CMP_NEQ_UQ;
                lt = _CMP_LT_OQ;
                le = _CMP_LE_OQ;
            }

            #[inline(always)]
            unsafe fn same(self, other: Self) -> Self {
                // SAFETY: R7; `interpreter` chooses functions by the vectors that were detected.
                unsafe { $back($same($to(self), $to(other))) }
            }

            #[inline(always)]
            unsafe fn where_else(self, mask: Self, other: Self) -> Self {
                // SAFETY: R7; `interpreter` chooses functions by the vectors that were detected.
                unsafe { $blend(other, self, mask) }
            }

            #[inline(always)]
            unsafe fn load_mask(from: *const u8) -> Self {
                // SAFETY: R1, R2, R4, R7; the pass ends before the block, or its tail does.
                unsafe {
                    let lanes = $widen(bools::read_some::<$lanes>(from));
                    $back($above(lanes, _mm256_setzero_si256()))
                }
            }

            #[inline(always)]
            unsafe fn store_mask(mask: Self, to: *mut u8) {
                // SAFETY: R2, R4, R7; a block of bools has whole chunks. Masks are all ones or zeros, which
                // saturate to -1, 0.
                unsafe {
                    let halves = $to(mask);
                    let (low, high) =
                        (_mm256_castsi256_si128(halves), _mm256_extracti128_si256::<1>(halves));
                    let bytes: __m128i = $pack(low, high);
                    bools::write_some::<$lanes>(_mm_and_si128(bytes, _mm_set1_epi8(1)), to);
                }
            }
        }
    };
}

/// Four masks as bytes.
///
/// # Safety
/// Promise 1 of a vector.
#[inline(always)]
unsafe fn pack_four(low: __m128i, high: __m128i) -> __m128i {
    // SAFETY: R1, R2, R4, R7; promised by the caller for as many lanes.
    unsafe {
        // Halves of an eight-byte mask are masks: each second one will do.
        let halves = _mm_shuffle_ps::<0x88>(_mm_castsi128_ps(low), _mm_castsi128_ps(high));
        let table = _mm_packs_epi32(_mm_castps_si128(halves), _mm_setzero_si128());
        _mm_packs_epi16(table, _mm_setzero_si128())
    }
}

/// Eight masks as bytes.
///
/// # Safety
/// Promise 1 of a vector.
#[inline(always)]
unsafe fn pack_eight(low: __m128i, high: __m128i) -> __m128i {
    // SAFETY: R1, R2, R4, R7; promised by the caller for as many lanes.
    unsafe { _mm_packs_epi16(_mm_packs_epi32(low, high), _mm_setzero_si128()) }
}

avx2! {
    __m256d, 4, 8;
    _mm256_castpd_si256, _mm256_castsi256_pd, _mm256_setzero_pd, _mm256_loadu_pd,
    _mm256_maskload_pd, _mm256_storeu_pd, _mm256_maskstore_pd, _mm256_stream_pd;
    _mm256_add_pd, _mm256_sub_pd, _mm256_mul_pd, _mm256_div_pd, _mm256_fmadd_pd, _mm256_min_pd,
    _mm256_max_pd, _mm256_sqrt_pd, _mm256_round_pd, _mm256_cmp_pd, _mm256_blendv_pd,
    _mm256_andnot_pd, _mm256_set1_pd, f64::from_bits(0x7FF8 << 48);
    _mm256_add_epi64, _mm256_sub_epi64, _mm256_sllv_epi64, _mm256_srlv_epi64,
    _mm256_cmpeq_epi64;
    _mm256_set1_epi64x, _mm256_setr_epi64x(0, 1, 2, 3), _mm256_cmpgt_epi64,
    _mm256_cvtepi8_epi64, |low, high| pack_four(low, high)
}

avx2! {
    __m256, 8, 4;
    _mm256_castps_si256, _mm256_castsi256_ps, _mm256_setzero_ps, _mm256_loadu_ps,
    _mm256_maskload_ps, _mm256_storeu_ps, _mm256_maskstore_ps, _mm256_stream_ps;
    _mm256_add_ps, _mm256_sub_ps, _mm256_mul_ps, _mm256_div_ps, _mm256_fmadd_ps, _mm256_min_ps,
    _mm256_max_ps, _mm256_sqrt_ps, _mm256_round_ps, _mm256_cmp_ps, _mm256_blendv_ps,
    _mm256_andnot_ps, _mm256_set1_ps, f32::from_bits(0x7FC0 << 16);
    _mm256_add_epi32, _mm256_sub_epi32, _mm256_sllv_epi32, _mm256_srlv_epi32,
    _mm256_cmpeq_epi32;
    _mm256_set1_epi32, _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_cmpgt_epi32,
    _mm256_cvtepi8_epi32, |low, high| pack_eight(low, high)
}
