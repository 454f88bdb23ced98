//! How much work puzzles are for the single engine, counted in steps: the same on every machine and instruction set.

use sudoku_engine::{Grid, Search, Step};

use super::symmetry::Symmetry;

/// The steps in 50 microseconds: a step of a hard puzzle takes 0.28 of one on AVX2, as the example `effort` prints, and half
/// of one in plain Rust. What takes less is soon done, however much longer it takes than something else.
pub const SOON: u64 = 150;

/// A puzzle is even if the slowest of its symmetric copies takes less than so many times the steps of the fastest, or is
/// done soon.
pub const EVEN: u64 = 10;

/// Of so many puzzles one is compared with its copies.
pub const EVERY: usize = 20;

/// The symmetric copies of a puzzle that are compared.
const COPIES: u64 = 24;

/// The steps to the outcome: two solutions, or the end of the search.
pub fn steps(search: &mut Search, puzzle: &Grid) -> u64 {
    search.restart(puzzle);
    let mut found = 0;
    while found < 2 {
        match search.run(u32::MAX) {
            Step::Solution(_) => found += 1,
            Step::Done => break,
            Step::Paused => {}
        }
    }
    search.steps()
}

/// What the copies of a puzzle take.
#[derive(Debug, Clone, Copy)]
pub struct Spread {
    pub puzzle: Grid,
    /// The steps of the fastest copy.
    pub least: u64,
    /// The steps of the slowest.
    pub most: u64,
}

impl Spread {
    /// Searches the copies of the puzzle at a place of its set: for each place other ones, the same in every run.
    pub fn of(search: &mut Search, puzzle: &Grid, place: usize) -> Self {
        let first = place as u64 * COPIES;
        let (mut least, mut most) = (u64::MAX, 0);
        for seed in first..first + COPIES {
            let steps = steps(search, &Symmetry::seeded(seed).apply(puzzle));
            least = least.min(steps);
            most = most.max(steps);
        }
        Self {
            puzzle: *puzzle,
            least,
            most,
        }
    }

    pub fn is_even(&self) -> bool {
        self.most < SOON || self.most < EVEN * self.least
    }
}
