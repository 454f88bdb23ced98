//! The grid: 81 cells, each blank or a digit.

use std::fmt;

/// 81 cells, row by row, each blank or a digit 1 to 9: a puzzle, or anything on the way to its solution.
///
/// It can hold no other value, but its digits may contradict each other ([`crate::conflicts`] tells). Displays as the
/// 81 characters of [`Grid::to_line`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Grid {
    cells: [u8; 81],
}

/// Why a text is not the 81 characters of a grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum GridError {
    /// A character that is neither a digit 1 to 9 nor a blank, `.` or `0`.
    #[error("character {} is {character:?}, not a digit or a dot", .position + 1)]
    Character {
        /// Its index in characters, from 0.
        position: usize,
        /// The character.
        character: char,
        /// How many characters the text has.
        length: usize,
    },
    /// Only such characters, but not 81 of them.
    #[error("{length} cells, need 81")]
    Length {
        /// How many there are.
        length: usize,
    },
}

impl Grid {
    /// The grid with no digit in it.
    pub const EMPTY: Self = Self { cells: [0; 81] };

    /// A grid of cell values, row by row: 1 to 9, and 0 for a blank. `None` if a value is above 9.
    pub fn from_cells(cells: [u8; 81]) -> Option<Self> {
        cells.iter().all(|&value| value <= 9).then_some(Self { cells })
    }

    /// Reads exactly 81 characters, `1` to `9`, and `.` or `0` for a blank: the form in which puzzles travel.
    ///
    /// # Errors
    ///
    /// The first bad character with its place; where all are good, their number if it is not 81.
    pub fn from_line(line: &str) -> Result<Self, GridError> {
        let mut grid = Self::EMPTY;
        match <&[u8; 81]>::try_from(line.as_bytes()) {
            Ok(bytes) if grid.read(bytes) => Ok(grid),
            _ => Err(Self::line_error(line)),
        }
    }

    /// Takes over the cells that these characters say. Where one is neither a digit nor a blank, the answer is `false`,
    /// and the grid stays as it is.
    #[inline(always)]
    pub(crate) fn read(&mut self, line: &[u8; 81]) -> bool {
        // Three runs that overlap, each with a register to itself, and no early return: this is done for every puzzle.
        const RUN: usize = 32;
        const BEGIN: [usize; 3] = [0, RUN, 81 - RUN];
        let (mut runs, mut above_nine) = ([[0; RUN]; 3], [0; RUN]);
        for (run, at) in runs.iter_mut().zip(BEGIN) {
            for i in 0..RUN {
                let byte = line[at + i];
                run[i] = if byte == b'.' { 0 } else { byte.wrapping_sub(b'0') };
                above_nine[i] |= u8::from(run[i] > 9);
            }
        }
        if above_nine != [0; RUN] {
            return false;
        }
        for (run, at) in runs.iter().zip(BEGIN) {
            self.cells[at..at + RUN].copy_from_slice(run);
        }
        true
    }

    /// What is wrong with a line that is not a grid, looked for only once that is known.
    #[cold]
    fn line_error(line: &str) -> GridError {
        let length = line.chars().count();
        match line
            .chars()
            .enumerate()
            .find(|(_, c)| !matches!(c, '0'..='9' | '.'))
        {
            Some((position, character)) => GridError::Character {
                position,
                character,
                length,
            },
            None => GridError::Length { length },
        }
    }

    /// The 81 characters of the grid, `.` for a blank, as ASCII.
    pub fn to_line(&self) -> [u8; 81] {
        self.cells
            .map(|value| if value == 0 { b'.' } else { b'0' + value })
    }

    /// The digit in a cell, 0 to 80 row by row. `None` for a blank, and for a cell above 80.
    pub fn get(&self, cell: usize) -> Option<u8> {
        self.cells.get(cell).copied().filter(|&value| value != 0)
    }

    /// The cell values, row by row, 0 for a blank.
    pub fn cells(&self) -> &[u8; 81] {
        &self.cells
    }

    /// How many cells hold a digit: 0 to 81.
    pub fn clues(&self) -> usize {
        self.cells.iter().filter(|&&value| value != 0).count()
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(std::str::from_utf8(&self.to_line()).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Grid({self})")
    }
}
