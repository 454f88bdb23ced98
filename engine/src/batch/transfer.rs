//! Puzzles into candidates and solved lanes into digits, by way of bit planes; and the check between the two.
//!
//! 16 cells of 256 grids are four 64 x 64 matrices of bits, side by side:
//!
//! ```text
//!               8 cells of a grid, 8 bits each             64 lanes
//!             +------------------------------+          +------------+
//!     lane 0  | cell 0 | cell 1 | ... cell 7 |   bit 0  |            |
//!     lane 1  |        |        |            |   bit 1  |            |  cell 0, and in its
//!     ...     |        |        |            |   ...    |            |  upper half cell 8
//!             |        |        |            |   bit 7  |            |
//!     lane 63 |        |        |            |   bit 8  |            |  cell 1 and cell 9
//!             +------------------------------+    ...
//! ```
//!
//! A cell needs four of its eight bits, so the other four hold the cell eight places on. The matrix is transposed by
//! exchanging blocks of 32 x 32, of 16 x 16 and so on (H. S. Warren, Hacker's Delight, 7-3), which is its own inverse.

use super::lanes::{LANES, Lanes};
use super::moves::{MOVES, Move, turns};
use super::planes::{Page, Work, cell_of};
use crate::arch::{Kernel, Simd, Vector};

/// A cell's value in binary, for 256 lanes: four planes a cell, the lowest bit first.
pub(super) type BitPlanes<V> = [[V; 4]; 81];

/// Where the runs of 16 cells begin: the last overlaps the one before, as 81 is no multiple of 16.
const RUNS: [usize; 6] = [0, 16, 32, 48, 64, 65];

const LOW_HALVES: u64 = 0x0f0f_0f0f_0f0f_0f0f;

/// Turns clues into candidates, each grid's in its lane: a clue is its cell's only candidate, and a blank cell has all
/// nine. Other lanes stay as they are.
pub(super) struct Decode<'a, S: Simd> {
    pub(super) simd: S,
    pub(super) grids: &'a [(u8, &'a [u8; 81])],
    pub(super) page: &'a mut Page<S::Vector>,
}

impl<S: Simd> Kernel for Decode<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let mut lanes = Lanes::NONE;
        for &(lane, _) in self.grids {
            lanes.insert(lane.into());
        }
        let lanes = self.simd.load(&lanes.0);
        for at in RUNS {
            let mut rows = [[0; 4]; 64];
            for &(lane, cells) in self.grids {
                let packed = read_eight(cells, at) | read_eight(cells, at + 8) << 4;
                rows[usize::from(lane % 64)][usize::from(lane / 64)] = packed;
            }
            let mut matrix = [self.simd.zero(); 64];
            for (to, row) in matrix.iter_mut().zip(&rows) {
                *to = self.simd.load(row);
            }
            transpose(self.simd, &mut matrix);
            for (i, bits) in matrix.as_chunks::<4>().0.iter().enumerate() {
                decode_cell(bits, self.page, at + i / 2 + i % 2 * 8, lanes);
            }
        }
    }
}

/// Sets the candidates of a cell, by row order, from the four bits of its value.
#[inline(always)]
fn decode_cell<V: Vector>(bits: &[V; 4], page: &mut Page<V>, cell: usize, lanes: V) {
    let (b, i) = box_of(cell);
    let [b0, b1, b2, b3] = *bits;
    // The value by its two lower bits, and by its two upper ones.
    let low = [!(b0 | b1), b0.and_not(b1), b1.and_not(b0), b0 & b1];
    let high = [!(b2 | b3), b2.and_not(b3), b3.and_not(b2)];
    let blank = low[0] & high[0];
    for d in 0..9 {
        let value = d + 1;
        let possible = blank.or_and(low[value % 4], high[value / 4]);
        let candidate = &mut page.boxes[b][d][i];
        *candidate = V::select(lanes, possible, *candidate);
    }
}

/// Which lanes hold a solution: each cell has exactly one candidate, and each unit has every digit in one of its cells.
///
/// It looks at nothing but the cells, and is the check that each solution passes before it leaves. That the clues are kept
/// is checked against the puzzle itself, where the solution is written out.
pub(super) struct Check<'a, S: Simd> {
    pub(super) simd: S,
    pub(super) work: &'a Work<S::Vector>,
}

impl<S: Simd> Kernel for Check<'_, S> {
    type Output = S::Vector;

    #[inline(always)]
    fn run(self) -> S::Vector {
        let (zero, mut good) = (self.simd.zero(), self.simd.ones());
        for cells in &self.work.page.boxes {
            for i in 0..9 {
                let (mut one, mut two) = (zero, zero);
                for digit in cells {
                    two = two.or_and(one, digit[i]);
                    one = one | digit[i];
                }
                good = good & one.and_not(two);
            }
        }
        for d in 0..9 {
            let (mut rows, mut columns) = ([zero; 9], [zero; 9]);
            for (b, cells) in self.work.page.boxes.iter().enumerate() {
                let mut inside = zero;
                for (i, &cell) in cells[d].iter().enumerate() {
                    let (row, column) = (3 * (b / 3) + i / 3, 3 * (b % 3) + i % 3);
                    inside = inside | cell;
                    rows[row] = rows[row] | cell;
                    columns[column] = columns[column] | cell;
                }
                good = good & inside;
            }
            for i in 0..9 {
                good = S::Vector::and3(good, rows[i], columns[i]);
            }
        }
        good
    }
}

/// Writes down the digits of solved lanes, in other lanes of the planes. Those that none moves to stay as they are.
pub(super) struct Encode<'a, S: Simd> {
    pub(super) simd: S,
    pub(super) work: &'a Work<S::Vector>,
    pub(super) planes: &'a mut BitPlanes<S::Vector>,
    pub(super) moves: &'a [Move; MOVES],
    /// How many of the moves there are.
    pub(super) moving: usize,
}

impl<S: Simd> Kernel for Encode<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let turns = turns(self.simd, self.moves);
        for b in 0..9 {
            for i in 0..9 {
                let bits = encode_cell(self.work, b, i);
                let planes = &mut self.planes[cell_of(b, i)];
                for turn in &turns[..self.moving.min(MOVES)] {
                    for k in 0..4 {
                        planes[k] = turn.apply(bits[k], planes[k]);
                    }
                }
            }
        }
    }
}

/// The four bits of the value of a cell that has one candidate.
#[inline(always)]
fn encode_cell<V: Vector>(work: &Work<V>, b: usize, i: usize) -> [V; 4] {
    let cells = &work.page.boxes[b];
    let six_or_seven = cells[5][i] | cells[6][i];
    [
        V::or3(
            V::or3(cells[0][i], cells[2][i], cells[4][i]),
            cells[6][i],
            cells[8][i],
        ),
        V::or3(cells[1][i], cells[2][i], six_or_seven),
        V::or3(cells[3][i], cells[4][i], six_or_seven),
        cells[7][i] | cells[8][i],
    ]
}

/// Reads the digits of all lanes back into grids.
pub(super) struct Gather<'a, S: Simd> {
    pub(super) simd: S,
    pub(super) planes: &'a BitPlanes<S::Vector>,
    pub(super) grids: &'a mut [[u8; 81]; LANES],
}

impl<S: Simd> Kernel for Gather<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for at in RUNS {
            let mut matrix = [self.simd.zero(); 64];
            for (i, bits) in matrix.as_chunks_mut::<4>().0.iter_mut().enumerate() {
                *bits = self.planes[at + i / 2 + i % 2 * 8];
            }
            transpose(self.simd, &mut matrix);
            for (bit, row) in matrix.iter().enumerate() {
                for (word, packed) in row.words().into_iter().enumerate() {
                    let grid = &mut self.grids[64 * word + bit];
                    grid[at..at + 8].copy_from_slice(&(packed & LOW_HALVES).to_le_bytes());
                    grid[at + 8..at + 16].copy_from_slice(&(packed >> 4 & LOW_HALVES).to_le_bytes());
                }
            }
        }
    }
}

/// Cells `at` to `at + 7`, the first in the lowest byte.
#[inline(always)]
fn read_eight(cells: &[u8; 81], at: usize) -> u64 {
    let mut eight = [0; 8];
    eight.copy_from_slice(&cells[at..at + 8]);
    u64::from_le_bytes(eight)
}

/// The box of a cell, and its place in it.
#[inline(always)]
fn box_of(cell: usize) -> (usize, usize) {
    let (row, column) = (cell / 9, cell % 9);
    (row / 3 * 3 + column / 3, row % 3 * 3 + column % 3)
}

/// Transposes four matrices at once: bit `j` of row `i` changes places with bit `i` of row `j`, in each word.
#[inline(always)]
fn transpose<S: Simd>(simd: S, matrix: &mut [S::Vector; 64]) {
    // The lower halves of blocks of 64, 32, ... bits.
    let [m32, m16, m8] = [
        0x0000_0000_ffff_ffff,
        0x0000_ffff_0000_ffff,
        0x00ff_00ff_00ff_00ff,
    ];
    let [m4, m2, m1] = [LOW_HALVES, 0x3333_3333_3333_3333, 0x5555_5555_5555_5555];
    let (m32, m16, m8) = (simd.load(&[m32; 4]), simd.load(&[m16; 4]), simd.load(&[m8; 4]));
    let (m4, m2, m1) = (simd.load(&[m4; 4]), simd.load(&[m2; 4]), simd.load(&[m1; 4]));
    for i in 0..8 {
        let mut rows = [simd.zero(); 8];
        for k in 0..8 {
            rows[k] = matrix[i + 8 * k];
        }
        for k in [0, 1, 2, 3] {
            exchange::<_, 32>(m32, &mut rows, k, k + 4);
        }
        for k in [0, 1, 4, 5] {
            exchange::<_, 16>(m16, &mut rows, k, k + 2);
        }
        for k in [0, 2, 4, 6] {
            exchange::<_, 8>(m8, &mut rows, k, k + 1);
        }
        for k in 0..8 {
            matrix[i + 8 * k] = rows[k];
        }
    }
    for rows in matrix.as_chunks_mut::<8>().0 {
        for k in [0, 1, 2, 3] {
            exchange::<_, 4>(m4, rows, k, k + 4);
        }
        for k in [0, 1, 4, 5] {
            exchange::<_, 2>(m2, rows, k, k + 2);
        }
        for k in [0, 2, 4, 6] {
            exchange::<_, 1>(m1, rows, k, k + 1);
        }
    }
}

/// In blocks of two times `BITS` bits, the upper half in one row changes places with the lower half in the other.
#[inline(always)]
fn exchange<V: Vector, const BITS: i32>(lower_halves: V, rows: &mut [V; 8], one: usize, other: usize) {
    let (x, y) = (rows[one], rows[other]);
    rows[one] = V::select(lower_halves, x, y.shift_left::<BITS>());
    rows[other] = V::select(lower_halves, x.shift_right::<BITS>(), y);
}
