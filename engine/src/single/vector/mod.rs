//! Sets of cells, and the few operations on them from which the search is built.

mod portable;
#[cfg(test)]
mod tests;
#[cfg(all(feature = "simd", target_arch = "x86_64"))]
mod x86_64;

use crate::Isa;
use crate::isa::Set;
pub(super) use portable::Portable;

/// A set of cells: a word a band, a lane of 16 bits a box.
///
/// Bit `16 * stack + 4 * row + column` of word `band` is the cell in that row and column of the box in that band and
/// stack:
///
/// ```text
///            stack 0   stack 1   stack 2   spare
///   word 0:  box 0     box 1     box 2     -        a box:   0  1  2  -
///   word 1:  box 3     box 4     box 5     -                 4  5  6  -
///   word 2:  box 6     box 7     box 8     -                 8  9 10  -
///   word 3:  -         -         -         -                 -  -  -  -
/// ```
///
/// The spare bits are clear. They give sums and rotations room, and make the whole a register of 256 bits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C, align(32))]
pub(super) struct Cells(pub(super) [u64; 4]);

impl Cells {
    /// Every cell of the grid.
    pub(super) const ALL: Self = Self([0x0777_0777_0777, 0x0777_0777_0777, 0x0777_0777_0777, 0]);

    /// How many they are.
    pub(super) fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether all of them are among others.
    pub(super) fn is_within(&self, others: &Self) -> bool {
        self.0
            .iter()
            .zip(others.0)
            .fold(0, |lacking, (word, other)| lacking | word & !other)
            == 0
    }

    /// The lane of a box, its band and stack 0 to 2.
    pub(super) fn lane(&self, band: usize, stack: usize) -> u16 {
        (self.0[band] >> (16 * stack)) as u16
    }
}

/// The minirows of a box, in its lane.
pub(super) const ROWS: [u16; 3] = [0x007, 0x070, 0x700];

/// The minicolumns of a box, in its lane.
pub(super) const COLUMNS: [u16; 3] = [0x111, 0x222, 0x444];

/// Work that is compiled once for each instruction set.
pub(super) trait Kernel {
    type Output;

    fn run<V: Vector>(self, token: V::Token) -> Self::Output;
}

/// Runs a kernel on an instruction set.
#[inline]
pub(super) fn run_on<K: Kernel>(isa: Isa, kernel: K) -> K::Output {
    match isa.set() {
        Set::Portable => Portable::run((), kernel),
        #[cfg(all(feature = "simd", target_arch = "x86_64"))]
        Set::Avx2(token) | Set::Avx2NoPext(token) => x86_64::Avx2::run(token, kernel),
        #[cfg(all(feature = "simd", target_arch = "x86_64"))]
        Set::Avx512(token) => x86_64::Avx512::run(token, kernel),
    }
}

/// Sixteen lanes of 16 bits, in the registers of an instruction set.
///
/// Only the nine lanes of boxes count: the others must be clear in what is loaded or moved between boxes, and are
/// unspecified in what comes of it, until `and` with cells clears them.
pub(super) trait Vector: Copy {
    /// The proof that the instruction set is there.
    type Token: Copy;

    /// Runs a kernel on the instruction set, as a function of its own: the larger one grows, the more of it the compiler
    /// leaves in functions that do not know the instruction set.
    fn run<K: Kernel>(token: Self::Token, kernel: K) -> K::Output;

    fn load(token: Self::Token, cells: &Cells) -> Self;
    fn store(self) -> Cells;

    /// The same value in every lane.
    fn splat(token: Self::Token, lane: u16) -> Self;

    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    /// The bits of `self` that `other` lacks.
    fn without(self, other: Self) -> Self;
    /// The bits of `self` where `mask` is set, of `other` where it is clear.
    fn select(self, other: Self, mask: Self) -> Self;
    /// Whether no bit is set, in any lane.
    fn is_zero(self) -> bool;

    /// The bits that are set in any of the words.
    fn union(self) -> u64;

    /// Adds lanes. No sum may leave its lane.
    fn add(self, other: Self) -> Self;
    /// Subtracts lanes. No difference may be negative.
    fn sub(self, other: Self) -> Self;
    /// Shifts lanes towards the higher bits: what leaves a lane is lost.
    fn up<const BITS: i32>(self) -> Self;
    /// Shifts lanes towards the lower bits: what leaves a lane is lost.
    fn down<const BITS: i32>(self) -> Self;
    /// Repeats the first cell of each row in its three columns. No other cell may be set.
    fn repeat_columns(self) -> Self;
    /// Repeats the first row of each box in its three rows. No other row may have a cell.
    fn repeat_rows(self) -> Self;
    /// Clears the lowest bit that is set in a lane. Bit 15 must be clear.
    fn drop_lowest(self) -> Self;
    /// All bits in the lanes that are zero, none in the others. Bit 15 must be clear.
    fn empty_lanes(self) -> Self;
    /// How many bits are set in a lane.
    fn count(self) -> Self;

    /// Puts in the place of each box the next one of its band, after the last the first.
    fn next_in_band(self) -> Self;
    /// Puts in the place of each box the one before it in its band, before the first the last.
    fn previous_in_band(self) -> Self;
    /// Puts in the place of each box the next one of its stack, after the last the first.
    fn next_in_stack(self) -> Self;
    /// Puts in the place of each box the one before it in its stack, before the first the last.
    fn previous_in_stack(self) -> Self;
}
