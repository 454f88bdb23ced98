//! A solution, and the check without which there is none.

use std::fmt;

use crate::{Grid, Unit};

/// A complete grid that solves a puzzle: all its clues kept, every unit complete.
///
/// The only way to make one is [`Solution::check`], so no engine can hand out a wrong one. Displays as 81 digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Solution {
    grid: Grid,
}

/// Why a grid is not a solution of a puzzle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum SolutionError {
    /// A cell does not hold the clue that the puzzle has there.
    #[error("row {}, column {} does not hold the puzzle's clue", .cell / 9 + 1, .cell % 9 + 1)]
    Clue {
        /// The first such cell, 0 to 80.
        cell: u8,
    },
    /// A unit does not hold every digit once.
    #[error("{unit} does not hold every digit once")]
    Unit {
        /// The first such unit: rows, then columns, then boxes.
        unit: Unit,
    },
}

impl Solution {
    /// Checks that `grid` solves `puzzle`.
    ///
    /// # Errors
    ///
    /// The first clue that is not kept, else the first unit that is not complete.
    pub fn check(puzzle: &Grid, grid: &Grid) -> Result<Self, SolutionError> {
        let kept = |cell: &usize| puzzle.get(*cell).is_none_or(|clue| grid.get(*cell) == Some(clue));
        if let Some(cell) = (0..81).find(|cell| !kept(cell)) {
            return Err(SolutionError::Clue { cell: cell as u8 });
        }
        const ALL_DIGITS: u16 = 0b11_1111_1110;
        let digits = |unit: Unit| {
            unit.cells()
                .iter()
                .fold(0_u16, |seen, &cell| seen | 1 << grid.cells()[usize::from(cell)])
        };
        match Unit::all().find(|&unit| digits(unit) != ALL_DIGITS) {
            Some(unit) => Err(SolutionError::Unit { unit }),
            None => Ok(Self { grid: *grid }),
        }
    }

    /// The complete grid.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }
}

impl From<Solution> for Grid {
    fn from(solution: Solution) -> Self {
        solution.grid
    }
}

impl fmt::Display for Solution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.grid.fmt(f)
    }
}
