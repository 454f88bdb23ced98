//! The reference engine: the classic algorithm, plain and short.
//!
//! It fills the blank cells row by row, tries 1 to 9 in each, checks row, column and box, and undoes what leads nowhere.
//! It needs milliseconds to minutes where the other engines need microseconds; it is their oracle and the baseline of
//! the benchmarks.

use crate::{Grid, Solution, conflict};

/// The first solution in the order of the cells and digits, or `None` if there is none.
pub fn solve(puzzle: &Grid) -> Option<Solution> {
    solutions(puzzle, 1).pop()
}

/// The solutions in the order of the cells and digits, at most `limit` of them. Fewer means that there are no more.
pub fn solutions(puzzle: &Grid, limit: usize) -> Vec<Solution> {
    let mut found = Vec::new();
    if limit == 0 || conflict::has_conflict(puzzle) {
        return found;
    }
    let mut cells = *puzzle.cells();
    fill(&mut cells, 0, &mut |cells| {
        found.extend(Grid::from_cells(*cells).and_then(|grid| Solution::check(puzzle, &grid).ok()));
        found.len() >= limit
    });
    found
}

/// Solves a board in place: `.` is a blank, `1` to `9` are clues.
///
/// Returns whether a solution was found and written. A board that has none, whose clues contradict each other, or that
/// holds any other character is left as it was.
///
/// ```
/// let mut board = [
///     "53..7....", "6..195...", ".98....6.", "8...6...3", "4..8.3..1", "7...2...6", ".6....28.", "...419..5", "....8..79",
/// ]
/// .map(|row| std::array::from_fn(|column| char::from(row.as_bytes()[column])));
/// assert!(sudoku_engine::reference::solve_board(&mut board));
/// assert_eq!(board[8], ['3', '4', '5', '2', '8', '6', '1', '7', '9']);
/// ```
pub fn solve_board(board: &mut [[char; 9]; 9]) -> bool {
    let mut cells = [0; 81];
    for (cell, &character) in cells.iter_mut().zip(board.as_flattened()) {
        *cell = match character {
            '.' => 0,
            '1'..='9' => character as u8 - b'0',
            _ => return false,
        };
    }
    let Some(solution) = Grid::from_cells(cells).and_then(|puzzle| solve(&puzzle)) else {
        return false;
    };
    for (character, &digit) in board.as_flattened_mut().iter_mut().zip(solution.grid().cells()) {
        *character = char::from(b'0' + digit);
    }
    true
}

/// Fills the blanks from `cell` on in every possible way, until `stop`, called with each complete grid, says so.
/// Returns whether it did. The cells are as before once it returns.
fn fill(cells: &mut [u8; 81], cell: usize, stop: &mut impl FnMut(&[u8; 81]) -> bool) -> bool {
    let Some(blank) = (cell..81).find(|&cell| cells[cell] == 0) else {
        return stop(cells);
    };
    for digit in 1..=9 {
        if fits(cells, blank, digit) {
            cells[blank] = digit;
            if fill(cells, blank + 1, stop) {
                return true;
            }
            cells[blank] = 0;
        }
    }
    false
}

/// Whether no cell in the row, column or box of `cell` holds `digit`.
fn fits(cells: &[u8; 81], cell: usize, digit: u8) -> bool {
    let (row, column) = (cell / 9, cell % 9);
    let corner = row / 3 * 27 + column / 3 * 3;
    (0..9).all(|i| {
        cells[9 * row + i] != digit
            && cells[9 * i + column] != digit
            && cells[corner + i / 3 * 9 + i % 3] != digit
    })
}
