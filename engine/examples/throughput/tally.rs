//! What a pass over a file found.

use std::fmt;

use sudoku_engine::Solution;

use crate::checksum::checksum;

/// What a pass found.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tally {
    unique: u64,
    multiple: u64,
    unsolvable: u64,
    checksum: u64,
}

impl Tally {
    /// Counts a puzzle of so many solutions.
    pub fn count(&mut self, solutions: usize) {
        match solutions {
            0 => self.unsolvable += 1,
            1 => self.unique += 1,
            _ => self.multiple += 1,
        }
    }

    /// Adds the solution of a puzzle that has no other to the checksum.
    pub fn sum(&mut self, solution: &Solution) {
        self.checksum = self.checksum.wrapping_add(checksum(solution));
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            unique,
            multiple,
            unsolvable,
            checksum,
        } = self;
        write!(f, "{unique}\t{multiple}\t{unsolvable}\t{checksum:016x}")
    }
}
