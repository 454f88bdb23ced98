//! AVX2: a vector is one register; there are sixteen, and no instruction takes three operands.

use std::arch::x86_64::*;
use std::ops::{BitAnd, BitOr, BitXor, Not};

use super::{Kernel, Simd, Vector};
use crate::isa::Avx2;

impl Simd for Avx2 {
    type Vector = Ymm;

    fn run<K: Kernel>(self, kernel: K) -> K::Output {
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        #[inline(never)]
        fn with_features<K: Kernel>(kernel: K) -> K::Output {
            kernel.run()
        }
        // SAFETY: the token says that detection found these features.
        unsafe { with_features(kernel) }
    }

    #[inline(always)]
    fn load(self, words: &[u64; 4]) -> Ymm {
        Ymm::load(self, words)
    }
}

/// 256 lanes in a register. [`Ymm::load`] takes the token, and all else takes a vector that it made: that is the check
/// on which every block here relies.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Ymm(__m256i);

/// Which half of a word comes to each place when words are rotated by 0 to 3.
const HALF_WORDS: [[u32; 8]; 4] = [
    [0, 1, 2, 3, 4, 5, 6, 7],
    [6, 7, 0, 1, 2, 3, 4, 5],
    [4, 5, 6, 7, 0, 1, 2, 3],
    [2, 3, 4, 5, 6, 7, 0, 1],
];

impl Ymm {
    #[inline(always)]
    fn load(_: Avx2, words: &[u64; 4]) -> Self {
        // SAFETY: the token proves AVX2; 32 bytes are read from a reference to 32 bytes, at any alignment.
        Self(unsafe { _mm256_loadu_si256(words.as_ptr().cast()) })
    }
}

impl BitAnd for Ymm {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        // SAFETY: AVX2, as `self` exists.
        Self(unsafe { _mm256_and_si256(self.0, other.0) })
    }
}

impl BitOr for Ymm {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        // SAFETY: AVX2, as `self` exists.
        Self(unsafe { _mm256_or_si256(self.0, other.0) })
    }
}

impl BitXor for Ymm {
    type Output = Self;
    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        // SAFETY: AVX2, as `self` exists.
        Self(unsafe { _mm256_xor_si256(self.0, other.0) })
    }
}

impl Not for Ymm {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        // SAFETY: AVX2, as `self` exists.
        Self(unsafe { _mm256_xor_si256(self.0, _mm256_set1_epi64x(-1)) })
    }
}

impl Vector for Ymm {
    #[inline(always)]
    fn words(self) -> [u64; 4] {
        let mut words = [0; 4];
        // SAFETY: AVX2, as `self` exists; 32 bytes are written to 32 bytes, at any alignment.
        unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), self.0) };
        words
    }

    #[inline(always)]
    fn is_zero(self) -> bool {
        // SAFETY: AVX2, as `self` exists.
        unsafe { _mm256_testz_si256(self.0, self.0) != 0 }
    }

    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        // SAFETY: AVX2, as `self` exists.
        Self(unsafe { _mm256_andnot_si256(other.0, self.0) })
    }

    #[inline(always)]
    fn shift_left<const BY: i32>(self) -> Self {
        // SAFETY: AVX2, as `self` exists.
        Self(unsafe { _mm256_slli_epi64::<BY>(self.0) })
    }

    #[inline(always)]
    fn shift_right<const BY: i32>(self) -> Self {
        // SAFETY: AVX2, as `self` exists.
        Self(unsafe { _mm256_srli_epi64::<BY>(self.0) })
    }

    #[inline(always)]
    fn rotate_bits(self, left: Self, right: Self) -> Self {
        // SAFETY: AVX2, as `self` exists. A shift by 64 gives zero, as wanted where the count is zero.
        Self(unsafe {
            _mm256_or_si256(
                _mm256_sllv_epi64(self.0, left.0),
                _mm256_srlv_epi64(self.0, right.0),
            )
        })
    }

    #[inline(always)]
    fn rotate_words(self, by: usize) -> Self {
        // SAFETY: AVX2, as `self` exists; 32 bytes are read from a reference to 32 bytes.
        Self(unsafe {
            _mm256_permutevar8x32_epi32(self.0, _mm256_loadu_si256(HALF_WORDS[by % 4].as_ptr().cast()))
        })
    }
}
