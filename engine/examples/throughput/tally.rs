//! What a pass over a file found.

use std::fmt;

use sudoku_engine::Solution;

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
        self.checksum = self.checksum.wrapping_add(fnv1a(&solution.grid().to_line()));
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

/// The 64-bit FNV-1a hash.
fn fnv1a(bytes: &[u8]) -> u64 {
    let mix = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix)
}
