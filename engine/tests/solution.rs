//! The check of a solution, which every engine's answers pass.

mod common;

use proptest::prelude::*;
use sudoku_engine::{Grid, Solution, SolutionError, Unit};

const PUZZLE: &str = "...9..7....8...5...1..42........5....76.......31267.5..2..1.84..8...31.....8..6.5";
const SOLUTION: &str = "354986712268371594719542386842135967576498231931267458625719843487653129193824675";

/// The solution with other characters in some cells.
fn changed(changes: &[(usize, u8)]) -> Grid {
    let mut cells = *Grid::from_line(SOLUTION).unwrap().cells();
    for &(cell, value) in changes {
        cells[cell] = value;
    }
    Grid::from_cells(cells).unwrap()
}

fn check(puzzle: &str, grid: Grid) -> Result<Solution, SolutionError> {
    Solution::check(&Grid::from_line(puzzle).unwrap(), &grid)
}

#[test]
fn solutions_pass() {
    for case in common::unique_cases() {
        let solution = Solution::check(&case.puzzle, &case.solution).unwrap();
        assert_eq!(Grid::from(solution), case.solution, "{}", case.id);
        assert_eq!(solution.to_string(), case.solution.to_string());
    }
}

#[test]
fn a_clue_that_is_not_kept_is_named_first() {
    let other = changed(&[(3, 8), (5, 9)]);
    assert_eq!(check(PUZZLE, other), Err(SolutionError::Clue { cell: 3 }));
    assert_eq!(
        check(PUZZLE, other).unwrap_err().to_string(),
        "row 1, column 4 does not hold the puzzle's clue"
    );
    assert_eq!(
        check(PUZZLE, changed(&[(80, 0)])),
        Err(SolutionError::Clue { cell: 80 })
    );
    // A whole solution, but of another puzzle.
    let solved = common::unique_cases();
    let pairs = solved.iter().zip(&solved[1..]);
    for (case, other) in pairs.filter(|(case, other)| case.solution != other.solution) {
        assert!(matches!(
            Solution::check(&case.puzzle, &other.solution),
            Err(SolutionError::Clue { .. })
        ));
    }
}

#[test]
fn the_first_unit_that_is_not_complete_is_named() {
    let blank = ".................................................................................";
    let unit = |unit| Err(SolutionError::Unit { unit });
    assert_eq!(check(blank, Grid::EMPTY), unit(Unit::Row(0)));
    // A blank, and a digit twice.
    assert_eq!(check(blank, changed(&[(80, 0)])), unit(Unit::Row(8)));
    assert_eq!(check(blank, changed(&[(40, 1)])), unit(Unit::Row(4)));
    // Two digits of a row change places: its row stays complete.
    assert_eq!(check(blank, changed(&[(9, 6), (10, 2)])), unit(Unit::Column(0)));
    // Every row and column complete, but no box.
    let latin = (0..81)
        .map(|cell| (cell, ((cell / 9 + cell % 9) % 9 + 1) as u8))
        .collect::<Vec<_>>();
    assert_eq!(check(blank, changed(&latin)), unit(Unit::Box(0)));
    // Every row and box complete, but no column.
    let stacked = (0..81)
        .map(|cell| (cell, ((cell / 9 * 3 + cell % 9) % 9 + 1) as u8))
        .collect::<Vec<_>>();
    assert_eq!(check(blank, changed(&stacked)), unit(Unit::Column(0)));
    assert_eq!(
        check(blank, changed(&latin)).unwrap_err().to_string(),
        "box 1 does not hold every digit once"
    );
}

proptest! {
    /// What passes keeps the clues and has every digit in every unit; all else is refused.
    #[test]
    fn exactly_the_solutions_pass(changes in proptest::collection::vec((0..81_usize, 0..=9_u8), 0..4)) {
        let grid = changed(&changes);
        let is_solution = grid.to_string() == SOLUTION;
        prop_assert_eq!(check(PUZZLE, grid).is_ok(), is_solution);
        // Without clues to keep, it is the units that tell; no change of three cells makes another solution.
        prop_assert_eq!(check(&".".repeat(81), grid).is_ok(), is_solution);
    }

    #[test]
    fn random_grids_do_not_pass(cells in proptest::collection::vec(1..=9_u8, 81)) {
        let grid = Grid::from_cells(cells.try_into().unwrap()).unwrap();
        let complete = |unit: Unit| {
            let mut digits = unit.cells().map(|cell| grid.get(cell.into()));
            digits.sort_unstable();
            digits.windows(2).all(|pair| pair[0] != pair[1])
        };
        prop_assert_eq!(Solution::check(&Grid::EMPTY, &grid).is_ok(), Unit::all().all(complete));
    }
}
