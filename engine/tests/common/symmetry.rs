//! The symmetries of Sudoku: what can be done to a puzzle without changing how many solutions it has.

#[path = "random.rs"]
mod random;

use sudoku_engine::Grid;

use random::Random;

/// Other digits, other rows and columns, and the diagonal.
#[derive(Debug, Clone)]
pub struct Symmetry {
    /// What 1 to 9 become, less one.
    digits: [usize; 9],
    /// The rows, and the columns, in their new order: bands and stacks stay together.
    rows: [usize; 9],
    columns: [usize; 9],
    transpose: bool,
}

impl Symmetry {
    /// The symmetry of a number, always the same; each is about as likely as another.
    pub fn seeded(seed: u64) -> Self {
        let mut random = Random(seed);
        Self {
            digits: random.order(),
            rows: random.lines(),
            columns: random.lines(),
            transpose: random.below(2) == 1,
        }
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
                .map_or(0, |digit| self.digits[usize::from(digit) - 1] as u8 + 1)
        };
        Grid::from_cells(std::array::from_fn(cell)).expect("the digits are 1 to 9")
    }
}

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        (self.word() % bound as u64) as usize
    }

    /// The numbers from 0 in some order.
    fn order<const N: usize>(&mut self) -> [usize; N] {
        let mut order = std::array::from_fn(|index| index);
        for last in (1..N).rev() {
            order.swap(last, self.below(last + 1));
        }
        order
    }

    /// An order of nine rows in which bands stay together.
    fn lines(&mut self) -> [usize; 9] {
        let bands = self.order::<3>();
        let within: [[usize; 3]; 3] = std::array::from_fn(|_| self.order());
        std::array::from_fn(|line| {
            let band = bands[line / 3];
            3 * band + within[band][line % 3]
        })
    }
}
