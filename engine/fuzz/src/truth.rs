//! What a puzzle comes to, as far as it is known after a bounded search.

use sudoku_engine::{Grid, Isa, Search, Solution, Step, conflicts, reference};

/// More steps are not taken to find the truth. The puzzles that people make need a few hundred.
const STEPS: u32 = 3_000;

/// A puzzle's first two solutions, and whether the search for them came to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Truth {
    /// At most two, in the order found.
    pub solutions: Vec<Solution>,
    /// Whether there are no others, or two were found.
    pub is_certain: bool,
    /// The steps that it took.
    pub steps: u64,
}

impl Truth {
    /// What the single engine finds on an instruction set, run in slices of `slice` steps, at least 1.
    pub fn find(puzzle: &Grid, isa: Isa, slice: u32) -> Self {
        let mut search = Search::with_isa(puzzle, isa);
        let mut solutions = Vec::new();
        let mut is_certain = false;
        while !is_certain && search.steps() < STEPS.into() {
            let left = STEPS - search.steps() as u32;
            match search.run(slice.clamp(1, left)) {
                Step::Solution(solution) => {
                    assert_eq!(Solution::check(puzzle, solution.grid()), Ok(solution), "{puzzle}");
                    assert!(!solutions.contains(&solution), "{puzzle} has a solution twice");
                    solutions.push(solution);
                    is_certain = solutions.len() == 2;
                }
                Step::Done => is_certain = true,
                Step::Paused => {}
            }
        }
        Self {
            solutions,
            is_certain,
            steps: search.steps(),
        }
    }

    /// Holds it against the reference engine, where that comes to its end soon.
    pub fn check_against_reference(&self, puzzle: &Grid) {
        if !conflicts(puzzle).is_empty() {
            assert!(
                self.is_certain && self.solutions.is_empty(),
                "{puzzle}: clues clash"
            );
            return;
        }
        if !self.is_certain || puzzle.clues() < 25 || !is_quick(puzzle) {
            return;
        }
        let expected = reference::solutions(puzzle, 2);
        assert_eq!(self.solutions.len(), expected.len(), "{puzzle}");
        if let ([found], [expected]) = (self.solutions.as_slice(), expected.as_slice()) {
            assert_eq!(found, expected, "{puzzle}");
        }
    }
}

/// Whether trying cell after cell, as the reference engine does, takes few tries to the end of the whole search.
fn is_quick(puzzle: &Grid) -> bool {
    let mut left = 20_000;
    try_cells(&mut puzzle.cells().clone(), 0, &mut left);
    left > 0
}

/// Fills the blanks from `cell` on in every possible way while there are tries left.
fn try_cells(cells: &mut [u8; 81], cell: usize, left: &mut u32) {
    let Some(blank) = (cell..81).find(|&cell| cells[cell] == 0) else {
        return;
    };
    for digit in 1..=9 {
        if *left == 0 {
            break;
        }
        if fits(cells, blank, digit) {
            *left -= 1;
            cells[blank] = digit;
            try_cells(cells, blank + 1, left);
        }
    }
    cells[blank] = 0;
}

fn fits(cells: &[u8; 81], cell: usize, digit: u8) -> bool {
    let sees = |other: usize| {
        cell / 9 == other / 9
            || cell % 9 == other % 9
            || (cell / 27 == other / 27 && cell % 9 / 3 == other % 9 / 3)
    };
    (0..81).all(|other| cells[other] != digit || !sees(other))
}
