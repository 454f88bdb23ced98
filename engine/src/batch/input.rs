//! Puzzles into candidates.

use super::lanes::Lanes;
use super::planes::Page;
use super::transpose::{RUNS, Rows, cell_of_run};
use crate::arch::{Kernel, Simd, Vector};

/// Turns clues into candidates, each grid's in its lane: a clue is its cell's only candidate, and a blank cell has all
/// nine. Other lanes stay as they are.
pub(super) struct Decode<'a, S: Simd> {
    pub(super) simd: S,
    pub(super) rows: &'a Rows,
    pub(super) lanes: Lanes,
    pub(super) page: &'a mut Page<S::Vector>,
}

impl<S: Simd> Kernel for Decode<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let lanes = self.simd.load(&self.lanes.0);
        let mut planes = [self.simd.zero(); 64];
        for run in 0..RUNS {
            self.rows.planes(self.simd, run, &mut planes);
            for (i, bits) in planes.as_chunks::<4>().0.iter().enumerate() {
                decode_cell(bits, self.page, cell_of_run(run, i), lanes);
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

/// The box of a cell, and its place in it.
#[inline(always)]
fn box_of(cell: usize) -> (usize, usize) {
    let (row, column) = (cell / 9, cell % 9);
    (row / 3 * 3 + column / 3, row % 3 * 3 + column % 3)
}
