//! Plain Rust, for every processor: four lanes of 16 bits in a word.

use super::{Cells, Vector};

/// The words of the three bands.
#[derive(Debug, Clone, Copy)]
pub(in crate::single) struct Portable([u64; 3]);

/// The same value in the four lanes of a word.
const fn splat(lane: u16) -> u64 {
    lane as u64 * 0x0001_0001_0001_0001
}

impl Portable {
    #[inline(always)]
    fn map(self, op: impl Fn(u64) -> u64) -> Self {
        let [a, b, c] = self.0;
        Self([op(a), op(b), op(c)])
    }

    #[inline(always)]
    fn zip(self, other: Self, op: impl Fn(u64, u64) -> u64) -> Self {
        let ([a, b, c], [x, y, z]) = (self.0, other.0);
        Self([op(a, x), op(b, y), op(c, z)])
    }
}

impl Vector for Portable {
    type Token = ();

    #[inline(always)]
    fn load((): (), cells: &Cells) -> Self {
        let [a, b, c, _] = cells.0;
        Self([a, b, c])
    }

    #[inline(always)]
    fn store(self) -> Cells {
        let [a, b, c] = self.0;
        Cells([a, b, c, 0])
    }

    #[inline(always)]
    fn splat((): (), lane: u16) -> Self {
        Self([splat(lane); 3])
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self.zip(other, |a, b| a & b)
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        self.zip(other, |a, b| a | b)
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self.zip(other, |a, b| a ^ b)
    }

    #[inline(always)]
    fn without(self, other: Self) -> Self {
        self.zip(other, |a, b| a & !b)
    }

    #[inline(always)]
    fn select(self, other: Self, mask: Self) -> Self {
        self.and(mask).or(other.without(mask))
    }

    #[inline(always)]
    fn is_zero(self) -> bool {
        let [a, b, c] = self.0;
        a | b | c == 0
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, u64::wrapping_add)
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, u64::wrapping_sub)
    }

    #[inline(always)]
    fn up<const BITS: i32>(self) -> Self {
        self.map(|word| word << BITS)
    }

    #[inline(always)]
    fn down<const BITS: i32>(self) -> Self {
        self.map(|word| word >> BITS)
    }

    #[inline(always)]
    fn repeat_columns(self) -> Self {
        self.map(|word| (word << 3) - word)
    }

    #[inline(always)]
    fn repeat_rows(self) -> Self {
        self.map(|word| word.wrapping_mul(0x111))
    }

    #[inline(always)]
    fn drop_lowest(self) -> Self {
        // Bit 15, set beforehand, is what the subtraction takes from in an empty lane.
        self.map(|word| word & (word | splat(0x8000)).wrapping_sub(splat(1)))
    }

    #[inline(always)]
    fn empty_lanes(self) -> Self {
        self.map(|word| {
            let empty = !word.wrapping_add(splat(0x7fff)) & splat(0x8000);
            empty | (empty - (empty >> 15))
        })
    }

    #[inline(always)]
    fn count(self) -> Self {
        self.map(|word| {
            let pairs = word - (word >> 1 & splat(0x5555));
            let nibbles = (pairs & splat(0x3333)) + (pairs >> 2 & splat(0x3333));
            let bytes = (nibbles + (nibbles >> 4)) & splat(0x0f0f);
            (bytes + (bytes >> 8)) & splat(0x001f)
        })
    }

    #[inline(always)]
    fn next_in_band(self) -> Self {
        self.map(|word| word >> 16 | word << 32)
    }

    #[inline(always)]
    fn previous_in_band(self) -> Self {
        self.map(|word| word >> 32 | word << 16)
    }

    #[inline(always)]
    fn next_in_stack(self) -> Self {
        let [a, b, c] = self.0;
        Self([b, c, a])
    }

    #[inline(always)]
    fn previous_in_stack(self) -> Self {
        let [a, b, c] = self.0;
        Self([c, a, b])
    }
}
