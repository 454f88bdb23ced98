//! AVX-512: 256-bit registers here too, as a wider word was measured to be slower, but 32 of them, and any function of
//! three operands in one instruction.

use std::arch::x86_64::*;
use std::ops::{BitAnd, BitOr, BitXor, Not};

use super::{Kernel, Simd, Vector};
use crate::isa::Avx512;

impl Simd for Avx512 {
    type Vector = Ymm;

    fn run<K: Kernel>(self, kernel: K) -> K::Output {
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
        #[target_feature(enable = "avx512bitalg,avx512vpopcntdq,gfni")]
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

/// The operands as truth tables, from which the tables of the operations are computed.
const A: i32 = 0b1111_0000;
const B: i32 = 0b1100_1100;
const C: i32 = 0b1010_1010;

/// 256 lanes in a register. [`Ymm::load`] takes the token, and all else takes a vector that it made: that is the check
/// on which every block here relies.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Ymm(__m256i);

/// Which word comes to each place when words are rotated by 0 to 3.
const WORDS: [[u64; 4]; 4] = [[0, 1, 2, 3], [3, 0, 1, 2], [2, 3, 0, 1], [1, 2, 3, 0]];

impl Ymm {
    /// Any function of three operands: bit `4a + 2b + c` of `TABLE` is its value.
    #[inline(always)]
    fn ternary<const TABLE: i32>(a: Self, b: Self, c: Self) -> Self {
        // SAFETY: AVX-512, as `a` exists.
        Self(unsafe { _mm256_ternarylogic_epi64::<TABLE>(a.0, b.0, c.0) })
    }

    #[inline(always)]
    fn load(_: Avx512, words: &[u64; 4]) -> Self {
        // SAFETY: the token proves AVX-512; 32 bytes are read from a reference to 32 bytes, at any alignment.
        Self(unsafe { _mm256_loadu_si256(words.as_ptr().cast()) })
    }
}

impl BitAnd for Ymm {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        // SAFETY: AVX-512, as `self` exists.
        Self(unsafe { _mm256_and_si256(self.0, other.0) })
    }
}

impl BitOr for Ymm {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        // SAFETY: AVX-512, as `self` exists.
        Self(unsafe { _mm256_or_si256(self.0, other.0) })
    }
}

impl BitXor for Ymm {
    type Output = Self;
    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        // SAFETY: AVX-512, as `self` exists.
        Self(unsafe { _mm256_xor_si256(self.0, other.0) })
    }
}

impl Not for Ymm {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        // SAFETY: AVX-512, as `self` exists.
        Self(unsafe { _mm256_xor_si256(self.0, _mm256_set1_epi64x(-1)) })
    }
}

impl Vector for Ymm {
    #[inline(always)]
    fn words(self) -> [u64; 4] {
        let mut words = [0; 4];
        // SAFETY: AVX-512, as `self` exists; 32 bytes are written to 32 bytes, at any alignment.
        unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), self.0) };
        words
    }

    #[inline(always)]
    fn is_zero(self) -> bool {
        // SAFETY: AVX-512, as `self` exists.
        unsafe { _mm256_testz_si256(self.0, self.0) != 0 }
    }

    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        // SAFETY: AVX-512, as `self` exists.
        Self(unsafe { _mm256_andnot_si256(other.0, self.0) })
    }

    #[inline(always)]
    fn shift_left<const BY: i32>(self) -> Self {
        // SAFETY: AVX-512, as `self` exists.
        Self(unsafe { _mm256_slli_epi64::<BY>(self.0) })
    }

    #[inline(always)]
    fn shift_right<const BY: i32>(self) -> Self {
        // SAFETY: AVX-512, as `self` exists.
        Self(unsafe { _mm256_srli_epi64::<BY>(self.0) })
    }

    #[inline(always)]
    fn rotate_bits(self, left: Self, _right: Self) -> Self {
        // SAFETY: AVX-512, as `self` exists.
        Self(unsafe { _mm256_rolv_epi64(self.0, left.0) })
    }

    #[inline(always)]
    fn rotate_words(self, by: usize) -> Self {
        // SAFETY: AVX-512, as `self` exists; 32 bytes are read from a reference to 32 bytes.
        Self(unsafe { _mm256_permutexvar_epi64(_mm256_loadu_si256(WORDS[by % 4].as_ptr().cast()), self.0) })
    }

    #[inline(always)]
    fn or3(a: Self, b: Self, c: Self) -> Self {
        Self::ternary::<{ A | B | C }>(a, b, c)
    }

    #[inline(always)]
    fn and3(a: Self, b: Self, c: Self) -> Self {
        Self::ternary::<{ A & B & C }>(a, b, c)
    }

    #[inline(always)]
    fn sum(a: Self, b: Self, c: Self) -> (Self, Self) {
        (Self::ternary::<{ A ^ B ^ C }>(a, b, c), Self::majority(a, b, c))
    }

    #[inline(always)]
    fn majority(a: Self, b: Self, c: Self) -> Self {
        Self::ternary::<{ A & B | C & (A | B) }>(a, b, c)
    }

    #[inline(always)]
    fn select(mask: Self, yes: Self, no: Self) -> Self {
        Self::ternary::<{ A & B | !A & C & 0xff }>(mask, yes, no)
    }

    #[inline(always)]
    fn or_and(self, a: Self, b: Self) -> Self {
        Self::ternary::<{ A | B & C }>(self, a, b)
    }

    #[inline(always)]
    fn or_and_not(self, a: Self, b: Self) -> Self {
        Self::ternary::<{ A | B & !C }>(self, a, b)
    }

    #[inline(always)]
    fn and_not_both(self, a: Self, b: Self) -> Self {
        Self::ternary::<{ A & !(B & C) }>(self, a, b)
    }

    #[inline(always)]
    fn and_neither(self, a: Self, b: Self) -> Self {
        Self::ternary::<{ A & !(B | C) }>(self, a, b)
    }
}
