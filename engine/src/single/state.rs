//! Where each digit may still go.

use super::vector::Cells;
use crate::Grid;

/// A node of the search: for each digit, the cells that may hold it.
#[derive(Debug, Clone, Copy)]
pub(super) struct State {
    pub(super) places: [Cells; 9],
}

/// The word and the bit of each cell in [`Cells`].
pub(super) const PLACES: [(u8, u8); 81] = {
    let mut places = [(0, 0); 81];
    let mut cell = 0;
    while cell < 81 {
        let (row, column) = (cell / 9, cell % 9);
        let bit = column / 3 * 16 + row % 3 * 4 + column % 3;
        places[cell] = ((row / 3) as u8, bit as u8);
        cell += 1;
    }
    places
};

impl State {
    /// The clues of a puzzle, and nothing deduced from them: a blank cell may hold any digit.
    pub(super) fn new(puzzle: &Grid) -> Self {
        // A plane for each value of a cell, blanks first. There are sixteen so that no index can be out of range.
        let mut planes = [Cells::default(); 16];
        for (&value, (word, bit)) in puzzle.cells().iter().zip(PLACES) {
            planes[usize::from(value % 16)].0[usize::from(word % 4)] |= 1 << bit;
        }
        let [blanks, clues @ ..] = &planes;
        let places = std::array::from_fn(|digit| {
            Cells(std::array::from_fn(|word| clues[digit].0[word] | blanks.0[word]))
        });
        Self { places }
    }

    /// The grid of a state in which every cell has one candidate.
    pub(super) fn grid(&self) -> Option<Grid> {
        let mut cells = [0; 81];
        for (cell, (word, bit)) in cells.iter_mut().zip(PLACES) {
            for (digit, places) in (1..).zip(&self.places) {
                *cell += digit * (places.0[usize::from(word % 4)] >> bit & 1) as u8;
            }
        }
        Grid::from_cells(cells)
    }
}
