//! Where each digit may still go.

use super::locked::{Columns, Rows};
use super::vector::{Cells, Vector};
use crate::Grid;

/// A node of the search: for each digit, the cells that may hold it.
#[derive(Debug, Clone, Copy)]
pub(super) struct State {
    pub(super) places: [Cells; 9],
    /// The last guess, `9 * digit + box`, or `NO_GUESS`.
    pub(super) guessed: u8,
    /// A bit for each three digits, 0 to 2, 3 to 5 and 6 to 8: set if a guess changed one of them.
    pub(super) changed: u8,
}

pub(super) const NO_GUESS: u8 = u8::MAX;

/// The word and the bit of each cell in [`Cells`].
const PLACES: [(u8, u8); 81] = {
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

/// The planes of blanks, when the clues of a puzzle are read.
const BLANKS: [u8; 6] = [0, 10, 11, 12, 13, 14];

impl State {
    /// No candidate anywhere.
    pub(super) const NONE: Self = Self {
        places: [Cells([0; 4]); 9],
        guessed: NO_GUESS,
        changed: 0,
    };

    /// Makes it the clues of a puzzle, taken out of their boxes and cells. Whether no two of them clash.
    #[inline(always)]
    pub(super) fn set<V: Vector>(&mut self, token: V::Token, puzzle: &Grid) -> bool {
        // A plane for each digit, from the second on. Blanks go to the other six in turn: each would have to wait for the
        // one before it if they all went to one. There are sixteen so that no index can be out of range.
        let mut planes = [Cells::default(); 16];
        for (word, band) in puzzle.cells().as_chunks::<27>().0.iter().enumerate() {
            for (row, cells) in band.as_chunks::<9>().0.iter().enumerate() {
                for (column, &value) in cells.iter().enumerate() {
                    let plane = if value == 0 { BLANKS[column % 6] } else { value };
                    planes[usize::from(plane % 16)].0[word] |= 1 << (PLACES[column].1) << (4 * row);
                }
            }
        }
        let clues: [V; 9] = std::array::from_fn(|digit| V::load(token, &planes[digit + 1]));
        let [a, b, c, d, e, f, g, h, i] = clues;
        let [x, y, z] = [[a, b, c], [d, e, f], [g, h, i]].map(|digits| clash(token, digits));
        let given = a.or(b).or(c).or(d).or(e).or(f).or(g).or(h).or(i);
        let blanks = V::load(token, &Cells::ALL).without(given);
        for (places, clue) in self.places.iter_mut().zip(clues) {
            *places = clue.or(blanks.and(clue.empty_lanes())).store();
        }
        self.guessed = NO_GUESS;
        self.changed = 0b111;
        x.or(y).or(z).is_zero()
    }

    /// The grid of a state in which every cell has one candidate.
    #[inline(always)]
    pub(super) fn grid(&self) -> Option<Grid> {
        let mut cells = [0; 81];
        for (band, cells) in cells.as_chunks_mut::<27>().0.iter_mut().enumerate() {
            // The digits in binary: a word for each bit.
            let mut bits = [0; 4];
            for (digit, places) in (1..).zip(&self.places) {
                for (place, bit) in bits.iter_mut().enumerate() {
                    *bit |= if digit >> place & 1 == 1 {
                        places.0[band]
                    } else {
                        0
                    };
                }
            }
            for column in 0..3 {
                // A digit in each nibble: of rows 0 and 2 of the boxes, and of row 1.
                let [a, b, c, d] = bits.map(|bit| bit >> column & 0x0111_0111_0111);
                let digits: u64 = a | b << 1 | c << 2 | d << 3;
                let outer = (digits & 0x0f0f_0f0f_0f0f).to_le_bytes();
                let middle = (digits >> 4 & 0x0f0f_0f0f_0f0f).to_le_bytes();
                for stack in 0..3 {
                    cells[3 * stack + column] = outer[2 * stack];
                    cells[3 * stack + column + 9] = middle[2 * stack];
                    cells[3 * stack + column + 18] = outer[2 * stack + 1];
                }
            }
        }
        Grid::from_cells(cells)
    }
}

/// Not zero if one of three digits has two clues in a unit.
#[inline(always)]
fn clash<V: Vector>(token: V::Token, clues: [V; 3]) -> V {
    let [a, b, c] = clues.map(V::drop_lowest);
    let rows = Rows::of(token, clues).here;
    let columns = Columns::of(token, clues).here;
    let in_bands = rows.and(rows.next_in_band());
    let in_stacks = columns.and(columns.next_in_stack());
    a.or(b).or(c).or(in_bands).or(in_stacks)
}
