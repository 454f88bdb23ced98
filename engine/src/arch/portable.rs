//! Plain Rust, for every processor.

use std::ops::{BitAnd, BitOr, BitXor, Not};

use super::{Kernel, Simd, Vector};

/// The token that anybody may make.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Portable;

impl Simd for Portable {
    type Vector = Words;

    fn run<K: Kernel>(self, kernel: K) -> K::Output {
        kernel.run()
    }

    #[inline(always)]
    fn load(self, words: &[u64; 4]) -> Words {
        Words(*words)
    }
}

/// 256 lanes as four words.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub(crate) struct Words([u64; 4]);

/// Applies an operation word by word.
#[inline(always)]
fn each(a: Words, b: Words, op: impl Fn(u64, u64) -> u64) -> Words {
    let (a, b) = (a.0, b.0);
    Words([op(a[0], b[0]), op(a[1], b[1]), op(a[2], b[2]), op(a[3], b[3])])
}

impl BitAnd for Words {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        each(self, other, |a, b| a & b)
    }
}

impl BitOr for Words {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        each(self, other, |a, b| a | b)
    }
}

impl BitXor for Words {
    type Output = Self;
    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        each(self, other, |a, b| a ^ b)
    }
}

impl Not for Words {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        each(self, self, |a, _| !a)
    }
}

impl Vector for Words {
    #[inline(always)]
    fn words(self) -> [u64; 4] {
        self.0
    }

    #[inline(always)]
    fn is_zero(self) -> bool {
        self.0[0] | self.0[1] | self.0[2] | self.0[3] == 0
    }

    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        each(self, other, |a, b| a & !b)
    }

    #[inline(always)]
    fn shift_left<const BY: i32>(self) -> Self {
        each(self, self, |a, _| a << BY)
    }

    #[inline(always)]
    fn shift_right<const BY: i32>(self) -> Self {
        each(self, self, |a, _| a >> BY)
    }

    #[inline(always)]
    fn rotate_bits(self, left: Self, _right: Self) -> Self {
        each(self, left, |a, by| a.rotate_left((by & 63) as u32))
    }

    #[inline(always)]
    fn rotate_words(self, by: usize) -> Self {
        let from = |word: usize| self.0[(word + 4 - by) % 4];
        Self([from(0), from(1), from(2), from(3)])
    }
}
