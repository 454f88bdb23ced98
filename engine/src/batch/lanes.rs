//! Sets of lanes.

use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, Not};

/// How many puzzles are side by side.
pub(super) const LANES: usize = 256;

/// A set of lanes: lane `l` is bit `l % 64` of word `l / 64`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lanes(pub(super) [u64; 4]);

impl Lanes {
    pub(super) const NONE: Self = Self([0; 4]);

    pub(super) fn one(lane: usize) -> Self {
        let mut set = Self::NONE;
        set.insert(lane);
        set
    }

    pub(super) fn insert(&mut self, lane: usize) {
        self.0[lane / 64] |= 1 << (lane % 64);
    }

    pub(super) fn remove(&mut self, lane: usize) {
        self.0[lane / 64] &= !(1 << (lane % 64));
    }

    pub(super) fn contains(self, lane: usize) -> bool {
        self.0[lane / 64] >> (lane % 64) & 1 == 1
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == [0; 4]
    }

    pub(super) fn count(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// The lanes at which `slots` holds `id`.
    pub(super) fn of(slots: &[u16; LANES], id: u16) -> Self {
        Self::where_(|lane| slots[lane] == id)
    }

    /// The lanes of which something is true.
    #[inline(always)]
    pub(super) fn where_(is_in: impl Fn(usize) -> bool) -> Self {
        let mut set = Self::NONE;
        for (word, bits) in set.0.iter_mut().enumerate() {
            for bit in 0..64 {
                *bits |= u64::from(is_in(64 * word + bit)) << bit;
            }
        }
        set
    }

    /// The first `count` lanes of the set.
    pub(super) fn lowest(self, count: u32) -> Self {
        let mut left = count;
        Self(self.0.map(|word| {
            let mut kept = word;
            while kept.count_ones() > left {
                kept &= !(1 << (63 - kept.leading_zeros()));
            }
            left -= kept.count_ones();
            kept
        }))
    }

    /// Copies what these lanes have.
    #[inline(always)]
    pub(super) fn copy<T: Copy>(self, from: &[T; LANES], to: &mut [T; LANES]) {
        let pairs = to
            .as_chunks_mut::<64>()
            .0
            .iter_mut()
            .zip(from.as_chunks::<64>().0);
        for ((to, from), mut bits) in pairs.zip(self.0) {
            if bits == !0 {
                *to = *from;
                continue;
            }
            while bits != 0 {
                let bit = bits.trailing_zeros() as usize;
                to[bit] = from[bit];
                bits &= bits - 1;
            }
        }
    }

    /// The lanes, ascending, and how many they are.
    #[inline(always)]
    pub(super) fn list(self) -> ([u8; LANES], usize) {
        let (mut list, mut count) = ([0; LANES], 0);
        for lane in self.iter() {
            list[count % LANES] = lane as u8;
            count += 1;
        }
        (list, count)
    }

    /// The lanes, ascending.
    pub(super) fn iter(self) -> Iter {
        Iter {
            bits: self.0[0],
            word: 0,
            words: self.0,
        }
    }
}

/// The lanes of a set, ascending.
pub(super) struct Iter {
    /// What is left of the word at hand.
    bits: u64,
    word: usize,
    words: [u64; 4],
}

impl Iterator for Iter {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        while self.bits == 0 {
            self.word += 1;
            self.bits = *self.words.get(self.word)?;
        }
        let bit = self.bits.trailing_zeros() as usize;
        self.bits &= self.bits - 1;
        Some(64 * self.word + bit)
    }
}

impl BitAnd for Lanes {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & other.0[word]))
    }
}

impl BitOr for Lanes {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] | other.0[word]))
    }
}

impl BitAndAssign for Lanes {
    fn bitand_assign(&mut self, other: Self) {
        *self = *self & other;
    }
}

impl BitOrAssign for Lanes {
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

impl Not for Lanes {
    type Output = Self;
    fn not(self) -> Self {
        Self(self.0.map(|word| !word))
    }
}
