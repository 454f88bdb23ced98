//! The single engine: one puzzle at a time, resumable.

use crate::{Grid, Solution, conflict};

/// What a slice of a search came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A solution. Run on for the next one.
    Solution(Solution),
    /// Every solution has been found; there is nothing left to search.
    Done,
    /// The budget is spent. Run on to continue.
    Paused,
}

/// A search for the solutions of one puzzle, as a value: it goes on when it is told to, and dropping it ends it.
#[derive(Debug, Clone)]
pub struct Search {
    puzzle: Grid,
    /// The states still to be looked at, the next one last. No more than one stays behind for each candidate of each
    /// branching cell on the way down.
    stack: Vec<State>,
}

#[derive(Debug, Clone, Copy)]
struct State {
    cells: [u8; 81],
}

impl Search {
    /// Starts a search. Clues that contradict each other make one that is done at once.
    pub fn new(puzzle: &Grid) -> Self {
        let stack = if conflict::has_conflict(puzzle) {
            Vec::new()
        } else {
            vec![State {
                cells: *puzzle.cells(),
            }]
        };
        Self {
            puzzle: *puzzle,
            stack,
        }
    }

    /// Goes on for at most `budget` steps, a step being one search node, and stops at the first solution on the way.
    pub fn run(&mut self, budget: u32) -> Step {
        for _ in 0..budget {
            let Some(state) = self.stack.pop() else {
                return Step::Done;
            };
            let candidates = |cell: usize| {
                let (row, column) = (cell / 9, cell % 9);
                let corner = row / 3 * 27 + column / 3 * 3;
                let seen = (0..9).fold(0_u16, |seen, i| {
                    let at = [9 * row + i, 9 * i + column, corner + i / 3 * 9 + i % 3];
                    at.iter().fold(seen, |seen, &at| seen | 1 << state.cells[at])
                });
                !seen & 0b11_1111_1110
            };
            let open = (0..81).filter(|&cell| state.cells[cell] == 0);
            let Some(cell) = open.min_by_key(|&cell| candidates(cell).count_ones()) else {
                let grid = Grid::from_cells(state.cells);
                if let Some(solution) = grid.and_then(|grid| Solution::check(&self.puzzle, &grid).ok()) {
                    return Step::Solution(solution);
                }
                continue;
            };
            let digits = candidates(cell);
            for digit in (1..=9).filter(|digit| digits & 1 << digit != 0) {
                let mut next = state;
                next.cells[cell] = digit;
                self.stack.push(next);
            }
        }
        if self.stack.is_empty() {
            Step::Done
        } else {
            Step::Paused
        }
    }
}
