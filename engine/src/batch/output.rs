//! Solved lanes into digits, and these into the batches.

use super::lanes::{LANES, Lanes};
use super::message::Batch;
use super::moves::{MOVES, Move, turns};
use super::planes::{Work, cell_of};
use super::transpose::{RUNS, Rows, cell_of_run};
use crate::arch::{Kernel, Simd, Vector};

/// A cell's value in binary, for 256 lanes: four planes a cell, the lowest bit first.
pub(super) type BitPlanes<V> = [[V; 4]; 81];

/// Whose solution a lane of the output is.
#[derive(Clone, Copy, Default)]
pub(super) struct Target {
    /// Its index in the batch.
    pub(super) puzzle: u32,
    pub(super) batch: u16,
    pub(super) second: bool,
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

/// Writes solutions into their batches, each if the clues of its puzzle stand in it.
pub(super) struct Deliver<'a, S: Simd> {
    pub(super) simd: S,
    pub(super) planes: &'a BitPlanes<S::Vector>,
    pub(super) rows: &'a mut Rows,
    pub(super) lanes: Lanes,
    pub(super) targets: &'a [Target; LANES],
    pub(super) batches: &'a mut [Option<Batch>],
}

impl<S: Simd> Kernel for Deliver<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let mut planes = [self.simd.zero(); 64];
        for run in 0..RUNS {
            for (i, bits) in planes.as_chunks_mut::<4>().0.iter_mut().enumerate() {
                *bits = self.planes[cell_of_run(run, i)];
            }
            self.rows.set_planes(self.simd, run, &mut planes);
        }
        // One after the other they are mostly of one batch.
        let mut lanes = self.lanes.iter().peekable();
        while let Some(&first) = lanes.peek() {
            let index = self.targets[first].batch;
            let mut writer = self.batches[usize::from(index)].as_mut().map(Batch::writer);
            while let Some(lane) = lanes.next_if(|&lane| self.targets[lane].batch == index) {
                let target = self.targets[lane];
                if let Some(writer) = &mut writer {
                    writer.write(target.puzzle as usize, target.second, &self.rows.get(lane));
                }
            }
        }
    }
}
