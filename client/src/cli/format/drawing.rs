//! A grid as a drawing, 25 columns wide.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use sudoku_engine::Grid;

const TOP: &str = "┌───────┬───────┬───────┐";
const MIDDLE: &str = "├───────┼───────┼───────┤";
const BOTTOM: &str = "└───────┴───────┴───────┘";

/// What a cell of a drawing is, which decides its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell {
    Blank,
    Clue(u8),
    /// A clue that contradicts another.
    Clash(u8),
    /// Found by the search.
    Found(u8),
}

impl Cell {
    fn style(self) -> Style {
        match self {
            Self::Blank => Style::new().dimmed(),
            Self::Clue(_) => Style::new().bold(),
            Self::Clash(_) => AnsiColor::Red.on_default().bold(),
            Self::Found(_) => AnsiColor::Cyan.on_default(),
        }
    }

    fn symbol(self) -> char {
        match self {
            Self::Blank => '.',
            Self::Clue(digit) | Self::Clash(digit) | Self::Found(digit) => char::from(b'0' + digit),
        }
    }
}

/// A solution, its puzzle's clues told apart from what was found.
pub fn of_solution(puzzle: &Grid, solution: &Grid) -> [Cell; 81] {
    std::array::from_fn(|cell| match (puzzle.get(cell), solution.get(cell)) {
        (Some(clue), _) => Cell::Clue(clue),
        (None, Some(digit)) => Cell::Found(digit),
        (None, None) => Cell::Blank,
    })
}

/// A puzzle, with the clues marked that contradict each other.
pub fn of_puzzle(puzzle: &Grid, clashing: impl Fn(u8) -> bool) -> [Cell; 81] {
    std::array::from_fn(|cell| match puzzle.get(cell) {
        None => Cell::Blank,
        Some(clue) if clashing(cell as u8) => Cell::Clash(clue),
        Some(clue) => Cell::Clue(clue),
    })
}

/// Draws 81 cells in 13 lines.
pub fn draw(cells: &[Cell; 81], coloured: bool) -> String {
    let mut drawing = String::with_capacity(2048);
    for (row, cells) in cells.chunks(9).enumerate() {
        let rule = if row == 0 { TOP } else { MIDDLE };
        if row % 3 == 0 {
            drawing.extend([rule, "\n"]);
        }
        for (column, cell) in cells.iter().enumerate() {
            drawing.push_str(if column % 3 == 0 { "│ " } else { "" });
            let style = if coloured { cell.style() } else { Style::new() };
            // Writing to a string cannot fail.
            let _ = write!(drawing, "{style}{}{style:#} ", cell.symbol());
        }
        drawing.push_str("│\n");
    }
    drawing.extend([BOTTOM, "\n"]);
    drawing
}
