//! Safe code for every processor.
//!
//! The crate `wide` puts the lanes into the vector registers that every processor of the target has, SSE2 on x86-64, and
//! into arrays where there are none. Left to themselves, compilers mix vector and plain registers in kernels of this size.

use wide::bytemuck::cast;
use wide::{u16x16, u64x4};

use super::{Cells, Kernel, Vector};

/// The words of the three bands and a spare one.
#[derive(Debug, Clone, Copy)]
pub(in crate::single) struct Portable(u64x4);

impl Portable {
    #[inline(always)]
    fn lanes(self) -> u16x16 {
        cast(self.0)
    }

    #[inline(always)]
    fn of(lanes: u16x16) -> Self {
        Self(cast(lanes))
    }
}

impl Vector for Portable {
    type Token = ();

    #[inline(never)]
    fn run<K: Kernel>((): (), kernel: K) -> K::Output {
        kernel.run::<Self>(())
    }

    #[inline(always)]
    fn load((): (), cells: &Cells) -> Self {
        Self(u64x4::new(cells.0))
    }

    #[inline(always)]
    fn store(self) -> Cells {
        Cells(self.0.to_array())
    }

    #[inline(always)]
    fn splat((): (), lane: u16) -> Self {
        Self::of(u16x16::splat(lane))
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }

    #[inline(always)]
    fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    #[inline(always)]
    fn select(self, other: Self, mask: Self) -> Self {
        self.and(mask).or(other.without(mask))
    }

    #[inline(always)]
    fn is_zero(self) -> bool {
        self.union() == 0
    }

    #[inline(always)]
    fn union(self) -> u64 {
        let [a, b, c, d] = self.0.to_array();
        a | b | c | d
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self::of(self.lanes() + other.lanes())
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self::of(self.lanes() - other.lanes())
    }

    #[inline(always)]
    fn up<const BITS: i32>(self) -> Self {
        Self::of(self.lanes() << BITS)
    }

    #[inline(always)]
    fn down<const BITS: i32>(self) -> Self {
        Self::of(self.lanes() >> BITS)
    }

    #[inline(always)]
    fn repeat_columns(self) -> Self {
        Self::of(self.lanes() * u16x16::splat(0b111))
    }

    #[inline(always)]
    fn repeat_rows(self) -> Self {
        Self::of(self.lanes() * u16x16::splat(0x111))
    }

    #[inline(always)]
    fn drop_lowest(self) -> Self {
        Self::of(self.lanes() & (self.lanes() - u16x16::splat(1)))
    }

    #[inline(always)]
    fn empty_lanes(self) -> Self {
        Self::of(self.lanes().simd_eq(u16x16::splat(0)))
    }

    #[inline(always)]
    fn count(self) -> Self {
        let splat = u16x16::splat;
        let lanes = self.lanes();
        let pairs = lanes - (lanes >> 1 & splat(0x5555));
        let nibbles = (pairs & splat(0x3333)) + (pairs >> 2 & splat(0x3333));
        let bytes = (nibbles + (nibbles >> 4)) & splat(0x0f0f);
        Self::of((bytes + (bytes >> 8)) & splat(0x001f))
    }

    #[inline(always)]
    fn next_in_band(self) -> Self {
        Self(self.0 >> 16 | self.0 << 32)
    }

    #[inline(always)]
    fn previous_in_band(self) -> Self {
        Self(self.0 >> 32 | self.0 << 16)
    }

    #[inline(always)]
    fn next_in_stack(self) -> Self {
        let [a, b, c, spare] = self.0.to_array();
        Self(u64x4::new([b, c, a, spare]))
    }

    #[inline(always)]
    fn previous_in_stack(self) -> Self {
        let [a, b, c, spare] = self.0.to_array();
        Self(u64x4::new([c, a, b, spare]))
    }
}
