//! The symmetries of Sudoku: what can be done to a puzzle without changing how many solutions it has.

use proptest::prelude::*;
use sudoku_engine::Grid;

/// Other digits, other rows and columns, and the diagonal.
#[derive(Debug, Clone)]
pub struct Symmetry {
    /// What 1 to 9 become.
    digits: Vec<u8>,
    /// The rows, and the columns, in their new order: bands and stacks stay together.
    rows: Vec<usize>,
    columns: Vec<usize>,
    transpose: bool,
}

impl Symmetry {
    /// Any symmetry, each as likely as another.
    pub fn any() -> impl Strategy<Value = Self> {
        let digits = Just((1..=9).collect::<Vec<u8>>()).prop_shuffle();
        (digits, lines(), lines(), any::<bool>()).prop_map(|(digits, rows, columns, transpose)| Self {
            digits,
            rows,
            columns,
            transpose,
        })
    }

    /// The puzzle, or solution, seen through this symmetry.
    pub fn apply(&self, grid: &Grid) -> Grid {
        let cell = |at: usize| {
            let (row, column) = (self.rows[at / 9], self.columns[at % 9]);
            let from = if self.transpose {
                9 * column + row
            } else {
                9 * row + column
            };
            grid.get(from)
                .map_or(0, |digit| self.digits[usize::from(digit) - 1])
        };
        Grid::from_cells(std::array::from_fn(cell)).expect("the digits are 1 to 9")
    }
}

/// An order of nine rows in which bands stay together.
fn lines() -> impl Strategy<Value = Vec<usize>> {
    let three = || Just(vec![0, 1, 2]).prop_shuffle();
    (three(), [three(), three(), three()]).prop_map(|(bands, within)| {
        let band = |band: usize| within[band].iter().map(move |line| 3 * band + line);
        bands.into_iter().flat_map(band).collect()
    })
}
