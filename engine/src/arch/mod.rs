//! 256 lanes, one bit each, on every instruction set.
//!
//! An algorithm over lanes is written once, generic over [`Simd`], as a [`Kernel`]. What differs from one instruction set
//! to the next is here: a token that starts a kernel, and the operations on 256 bits. Those of `portable.rs` are plain
//! Rust, and what the others are tested against, bit for bit.

pub(crate) mod portable;

#[cfg(all(feature = "simd", target_arch = "x86_64"))]
mod avx2;
#[cfg(all(feature = "simd", target_arch = "x86_64"))]
mod avx512;

#[cfg(test)]
mod tests;

use std::ops::{BitAnd, BitOr, BitXor, Not};

/// An instruction set as a token: whoever holds the value may use it.
pub(crate) trait Simd: Copy + 'static {
    /// 256 bits in a register, or in several.
    type Vector: Vector;

    /// Runs a kernel compiled with the features of the instruction set, as a function of its own.
    fn run<K: Kernel>(self, kernel: K) -> K::Output;

    /// The vector of these words; lane `l` is bit `l % 64` of word `l / 64`.
    fn load(self, words: &[u64; 4]) -> Self::Vector;

    /// No lane.
    #[inline(always)]
    fn zero(self) -> Self::Vector {
        self.load(&[0; 4])
    }

    /// Every lane.
    #[inline(always)]
    fn ones(self) -> Self::Vector {
        self.load(&[!0; 4])
    }
}

/// Work that is compiled once for each instruction set: `run` is `#[inline(always)]` in every implementation, with all
/// that it calls, so that it becomes part of a function with the right features.
pub(crate) trait Kernel {
    type Output;
    fn run(self) -> Self::Output;
}

/// 256 lanes of one bit.
///
/// A vector exists only where its token was at hand to load it, so its operations need no token of their own. Those on
/// three operands are single instructions on AVX-512; the defaults say what they mean.
pub(crate) trait Vector:
    Copy + 'static + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> + Not<Output = Self>
{
    /// The lanes as words.
    fn words(self) -> [u64; 4];

    /// Whether no lane is set.
    fn is_zero(self) -> bool;

    /// `self`, and not `other`.
    fn and_not(self, other: Self) -> Self;

    /// Each word shifted to the left by `BY` bits.
    fn shift_left<const BY: i32>(self) -> Self;

    /// Each word shifted to the right by `BY` bits.
    fn shift_right<const BY: i32>(self) -> Self;

    /// Each word rotated to the left by its count in `left`, 0 to 63; `right` holds 64 minus that.
    fn rotate_bits(self, left: Self, right: Self) -> Self;

    /// Word `w` goes to word `(w + by) % 4`, `by` being 0 to 3.
    fn rotate_words(self, by: usize) -> Self;

    #[inline(always)]
    fn or3(a: Self, b: Self, c: Self) -> Self {
        a | b | c
    }

    #[inline(always)]
    fn and3(a: Self, b: Self, c: Self) -> Self {
        a & b & c
    }

    /// The sum of three bits: its low bit, which is set in an odd number of the three, and its high bit, the majority.
    #[inline(always)]
    fn sum(a: Self, b: Self, c: Self) -> (Self, Self) {
        let one = a ^ b;
        (one ^ c, (a & b) | (one & c))
    }

    /// Set in two of the three, or in all.
    #[inline(always)]
    fn majority(a: Self, b: Self, c: Self) -> Self {
        (a & b) | (c & (a | b))
    }

    /// `yes` where the mask is set, `no` elsewhere.
    #[inline(always)]
    fn select(mask: Self, yes: Self, no: Self) -> Self {
        (yes & mask) | no.and_not(mask)
    }

    /// `self | (a & b)`.
    #[inline(always)]
    fn or_and(self, a: Self, b: Self) -> Self {
        self | (a & b)
    }

    /// `self | (a & !b)`.
    #[inline(always)]
    fn or_and_not(self, a: Self, b: Self) -> Self {
        self | a.and_not(b)
    }

    /// `self & !(a & b)`.
    #[inline(always)]
    fn and_not_both(self, a: Self, b: Self) -> Self {
        self.and_not(a & b)
    }

    /// `self & !(a | b)`.
    #[inline(always)]
    fn and_neither(self, a: Self, b: Self) -> Self {
        self.and_not(a | b)
    }
}
