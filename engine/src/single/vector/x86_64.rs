//! The registers of 256 bits of x86-64.

use std::arch::x86_64::*;

use super::{Cells, Kernel, Vector};
use crate::arch::{self, Simd};
use crate::isa;

/// Sixteen lanes in a register. With `AVX512`, the compiler has twice as many registers and the three-operand logic of
/// AVX-512 besides.
#[derive(Debug, Clone, Copy)]
pub(super) struct Register<Token> {
    lanes: __m256i,
    token: Token,
}

pub(super) type Avx2 = Register<isa::Avx2>;
pub(super) type Avx512 = Register<isa::Avx512>;

/// What both tokens prove.
pub(super) trait HasAvx2: Simd {}
impl HasAvx2 for isa::Avx2 {}
impl HasAvx2 for isa::Avx512 {}

/// A kernel and the registers it is to run on, as the tokens take it.
struct On<Token, K> {
    token: Token,
    kernel: K,
}

impl<Token: HasAvx2, K: Kernel> arch::Kernel for On<Token, K> {
    type Output = K::Output;

    #[inline(always)]
    fn run(self) -> K::Output {
        self.kernel.run::<Register<Token>>(self.token)
    }
}

macro_rules! lanes {
    ($self:ident, $operation:expr) => {
        Self {
            // SAFETY: the token in a register proves AVX2.
            lanes: unsafe { $operation },
            token: $self.token,
        }
    };
}

impl<Token: HasAvx2> Vector for Register<Token> {
    type Token = Token;

    #[inline(always)]
    fn run<K: Kernel>(token: Token, kernel: K) -> K::Output {
        token.run(On { token, kernel })
    }

    #[inline(always)]
    fn load(token: Token, cells: &Cells) -> Self {
        // SAFETY: the token proves AVX2; `Cells` is 32 bytes, aligned to 32.
        let lanes = unsafe { _mm256_load_si256((&raw const *cells).cast()) };
        Self { lanes, token }
    }

    #[inline(always)]
    fn store(self) -> Cells {
        let mut cells = Cells::default();
        // SAFETY: the token in the register proves AVX2; `Cells` is 32 bytes, aligned to 32.
        unsafe { _mm256_store_si256((&raw mut cells).cast(), self.lanes) };
        cells
    }

    #[inline(always)]
    fn splat(token: Token, lane: u16) -> Self {
        // SAFETY: the token proves AVX2.
        let lanes = unsafe { _mm256_set1_epi16(lane as i16) };
        Self { lanes, token }
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        lanes!(self, _mm256_and_si256(self.lanes, other.lanes))
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        lanes!(self, _mm256_or_si256(self.lanes, other.lanes))
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        lanes!(self, _mm256_xor_si256(self.lanes, other.lanes))
    }

    #[inline(always)]
    fn without(self, other: Self) -> Self {
        lanes!(self, _mm256_andnot_si256(other.lanes, self.lanes))
    }

    #[inline(always)]
    fn select(self, other: Self, mask: Self) -> Self {
        self.and(mask).or(other.without(mask))
    }

    #[inline(always)]
    fn is_zero(self) -> bool {
        // SAFETY: the token in the register proves AVX2.
        unsafe { _mm256_testz_si256(self.lanes, self.lanes) == 1 }
    }

    #[inline(always)]
    fn union(self) -> u64 {
        // SAFETY: the token in the register proves AVX2.
        unsafe {
            let halves = _mm_or_si128(
                _mm256_castsi256_si128(self.lanes),
                _mm256_extracti128_si256::<1>(self.lanes),
            );
            _mm_cvtsi128_si64(_mm_or_si128(halves, _mm_unpackhi_epi64(halves, halves))) as u64
        }
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        lanes!(self, _mm256_add_epi16(self.lanes, other.lanes))
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        lanes!(self, _mm256_sub_epi16(self.lanes, other.lanes))
    }

    #[inline(always)]
    fn up<const BITS: i32>(self) -> Self {
        lanes!(self, _mm256_slli_epi16::<BITS>(self.lanes))
    }

    #[inline(always)]
    fn down<const BITS: i32>(self) -> Self {
        lanes!(self, _mm256_srli_epi16::<BITS>(self.lanes))
    }

    #[inline(always)]
    fn repeat_columns(self) -> Self {
        lanes!(self, _mm256_mullo_epi16(self.lanes, _mm256_set1_epi16(0b111)))
    }

    #[inline(always)]
    fn repeat_rows(self) -> Self {
        lanes!(self, _mm256_mullo_epi16(self.lanes, _mm256_set1_epi16(0x111)))
    }

    #[inline(always)]
    fn drop_lowest(self) -> Self {
        lanes!(
            self,
            _mm256_and_si256(self.lanes, _mm256_add_epi16(self.lanes, _mm256_set1_epi16(-1)))
        )
    }

    #[inline(always)]
    fn empty_lanes(self) -> Self {
        lanes!(self, _mm256_cmpeq_epi16(self.lanes, _mm256_setzero_si256()))
    }

    #[inline(always)]
    fn count(self) -> Self {
        lanes!(self, {
            let of_nibble =
                _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
            let nibble = _mm256_set1_epi8(0x0f);
            let low = _mm256_shuffle_epi8(of_nibble, _mm256_and_si256(self.lanes, nibble));
            let high = _mm256_and_si256(_mm256_srli_epi16::<4>(self.lanes), nibble);
            let bytes = _mm256_add_epi8(low, _mm256_shuffle_epi8(of_nibble, high));
            _mm256_maddubs_epi16(bytes, _mm256_set1_epi8(1))
        })
    }

    #[inline(always)]
    fn next_in_band(self) -> Self {
        lanes!(self, {
            let from = _mm_setr_epi8(2, 3, 4, 5, 0, 1, 6, 7, 10, 11, 12, 13, 8, 9, 14, 15);
            _mm256_shuffle_epi8(self.lanes, _mm256_broadcastsi128_si256(from))
        })
    }

    #[inline(always)]
    fn previous_in_band(self) -> Self {
        lanes!(self, {
            let from = _mm_setr_epi8(4, 5, 0, 1, 2, 3, 6, 7, 12, 13, 8, 9, 10, 11, 14, 15);
            _mm256_shuffle_epi8(self.lanes, _mm256_broadcastsi128_si256(from))
        })
    }

    #[inline(always)]
    fn next_in_stack(self) -> Self {
        lanes!(self, _mm256_permute4x64_epi64::<0b11_00_10_01>(self.lanes))
    }

    #[inline(always)]
    fn previous_in_stack(self) -> Self {
        lanes!(self, _mm256_permute4x64_epi64::<0b11_01_00_10>(self.lanes))
    }
}
