//! Grids into bit planes and back: 16 cells of 256 grids are four 64 x 64 matrices of bits, side by side.
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

use crate::arch::{Simd, Vector};

/// How many runs of 16 cells cover a grid.
pub(super) const RUNS: usize = 6;

/// Where they begin: the last overlaps the one before, as 81 is no multiple of 16.
const BEGIN: [usize; RUNS] = [0, 16, 32, 48, 64, 65];

/// The grids of 256 lanes: `rows[run][l % 64][l / 64]` holds 16 cells of lane `l`, two to a byte.
pub(super) struct Rows([[[u64; 4]; 64]; RUNS]);

/// Of each byte, the cell in its lower half.
const LOW_HALVES: u64 = 0x0f0f_0f0f_0f0f_0f0f;

impl Rows {
    pub(super) fn new() -> Box<Self> {
        Box::new(Self([[[0; 4]; 64]; RUNS]))
    }

    /// Puts a grid into a lane.
    #[inline(always)]
    pub(super) fn put(&mut self, lane: u8, cells: &[u8; 81]) {
        let (bit, word) = (usize::from(lane % 64), usize::from(lane / 64));
        for (rows, at) in self.0.iter_mut().zip(BEGIN) {
            rows[bit][word] = read_eight(cells, at) | read_eight(cells, at + 8) << 4;
        }
    }

    /// The grid in a lane.
    #[inline(always)]
    pub(super) fn get(&self, lane: usize) -> Unpacked {
        let mut words = [0; 2 * RUNS];
        for (words, rows) in words.as_chunks_mut::<2>().0.iter_mut().zip(&self.0) {
            let packed = rows[lane % 64][lane / 64 % 4];
            *words = [packed & LOW_HALVES, packed >> 4 & LOW_HALVES];
        }
        Unpacked(words)
    }

    /// Fills in the planes of a run: four for each cell, the lowest bit first, in the order of [`cell_of_run`].
    #[inline(always)]
    pub(super) fn planes<S: Simd>(&self, simd: S, run: usize, planes: &mut [S::Vector; 64]) {
        for (plane, row) in planes.iter_mut().zip(&self.0[run]) {
            *plane = simd.load(row);
        }
        transpose(simd, planes);
    }

    /// Takes over the planes of a run, which are no use after that.
    #[inline(always)]
    pub(super) fn set_planes<S: Simd>(&mut self, simd: S, run: usize, planes: &mut [S::Vector; 64]) {
        transpose(simd, planes);
        for (row, plane) in self.0[run].iter_mut().zip(planes) {
            *row = plane.words();
        }
    }
}

/// The cell, by row order, whose four bits come in place `i` of a run's planes.
#[inline(always)]
pub(super) fn cell_of_run(run: usize, i: usize) -> usize {
    BEGIN[run] + i / 2 + i % 2 * 8
}

/// A grid as eight cells a word, the runs one after the other, so that the last words tell some cells again.
pub(super) struct Unpacked([u64; 2 * RUNS]);

impl Unpacked {
    /// Whether all these clues stand in the grid.
    #[inline(always)]
    pub(super) fn keeps(&self, clues: &[u8; 81]) -> bool {
        // In a byte, adding this to anything from 1 to 15 sets the top bit, and nothing is carried.
        const TO_TOP: u64 = 0x7f7f_7f7f_7f7f_7f7f;
        let mut wrong = 0;
        for (i, word) in self.0.iter().enumerate() {
            let given = read_eight(clues, Self::begin(i));
            wrong |= (given + TO_TOP) & ((given ^ word) + TO_TOP);
        }
        wrong & !TO_TOP == 0
    }

    #[inline(always)]
    pub(super) fn write_to(&self, cells: &mut [u8; 81]) {
        for (i, word) in self.0.iter().enumerate() {
            cells[Self::begin(i)..Self::begin(i) + 8].copy_from_slice(&word.to_le_bytes());
        }
    }

    #[inline(always)]
    fn begin(i: usize) -> usize {
        BEGIN[i / 2] + i % 2 * 8
    }
}

/// Cells `at` to `at + 7`, the first in the lowest byte.
#[inline(always)]
fn read_eight(cells: &[u8; 81], at: usize) -> u64 {
    let mut eight = [0; 8];
    eight.copy_from_slice(&cells[at..at + 8]);
    u64::from_le_bytes(eight)
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
