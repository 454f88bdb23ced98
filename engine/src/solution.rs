//! A solution, and the check without which there is none.

use std::fmt;

use crate::{Grid, Unit, unit};

/// A complete grid that solves a puzzle: all its clues kept, every unit complete.
///
/// The only way to make one is [`Solution::check`], and inside the crate the same check made on many grids at once, so no
/// engine can hand out a wrong one. Displays as 81 digits.
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
        let mut wrong = false;
        for (&clue, &digit) in puzzle.cells().iter().zip(grid.cells()) {
            wrong |= clue != 0 && clue != digit;
        }
        let mut difference = 0;
        unit::count_digits(grid.cells(), |counts| difference |= counts ^ unit::COMPLETE);
        if wrong || difference != 0 {
            return Err(Self::violation(puzzle, grid));
        }
        Ok(Self { grid: *grid })
    }

    /// What is wrong with a grid that is no solution, looked for only once that is known.
    #[cold]
    fn violation(puzzle: &Grid, grid: &Grid) -> SolutionError {
        let is_kept = |cell: u8| match puzzle.get(cell.into()) {
            Some(clue) => grid.get(cell.into()) == Some(clue),
            None => true,
        };
        if let Some(cell) = (0..81).find(|&cell| !is_kept(cell)) {
            return SolutionError::Clue { cell };
        }
        let holds = |unit: Unit, digit| {
            unit.cells()
                .iter()
                .any(|&cell| grid.get(cell.into()) == Some(digit))
        };
        let is_complete = |unit| (1..=9).all(|digit| holds(unit, digit));
        let unit = Unit::all()
            .find(|&unit| !is_complete(unit))
            .unwrap_or(Unit::Row(0));
        SolutionError::Unit { unit }
    }

    /// A solution whose check was made elsewhere: the batch engine checks 256 at a time, units in the lanes and clues
    /// where it writes the grid down.
    pub(crate) fn checked(grid: Grid) -> Self {
        Self { grid }
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
