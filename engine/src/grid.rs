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
#[cfg_attr(feature = "serde", derive(::serde::Serialize, ::serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
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
        let most = cells.iter().fold(0, |most: u8, &value| most.max(value));
        (most <= 9).then_some(Self { cells })
    }

    /// Reads exactly 81 characters, `1` to `9`, and `.` or `0` for a blank: the form in which puzzles travel.
    ///
    /// # Errors
    ///
    /// The first bad character with its place; where all are good, their number if it is not 81.
    pub fn from_line(line: &str) -> Result<Self, GridError> {
        let grid = <&[u8; 81]>::try_from(line.as_bytes())
            .ok()
            .and_then(Self::from_ascii);
        grid.ok_or_else(|| Self::line_error(line))
    }

    /// Reads the same from bytes, as a program does that has nothing to say of what is no grid: that is `None`.
    #[inline(always)]
    pub fn from_ascii(line: &[u8; 81]) -> Option<Self> {
        // Runs that each fit a register, and no early return: this is done for every puzzle.
        let mut cells = [0; 81];
        let [first, second] = [read_run::<32>(line, 0), read_run::<32>(line, 32)];
        let [third, last] = [read_run::<16>(line, 64), read_run::<16>(line, 65)];
        cells[..32].copy_from_slice(&first);
        cells[32..64].copy_from_slice(&second);
        cells[64..80].copy_from_slice(&third);
        cells[80] = last[15];
        let mut above_nine = [false; 16];
        for i in 0..16 {
            let most = [first[i + 16], second[i], second[i + 16], third[i], last[i]];
            above_nine[i] = most.into_iter().fold(first[i], u8::max) > 9;
        }
        (above_nine == [false; 16]).then_some(Self { cells })
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
    #[inline]
    pub fn to_line(&self) -> [u8; 81] {
        let mut line = [0; 81];
        line[..32].copy_from_slice(&write_run::<32>(&self.cells, 0));
        line[32..64].copy_from_slice(&write_run::<32>(&self.cells, 32));
        line[64..80].copy_from_slice(&write_run::<16>(&self.cells, 64));
        // A store of its own, so that none overlaps another: what reads the line next would have to wait for both.
        let [.., last] = write_run::<16>(&self.cells, 65);
        line[80] = last;
        line
    }

    /// Whether every cell holds a digit.
    #[inline]
    pub fn is_complete(&self) -> bool {
        let least = self.cells.iter().fold(u8::MAX, |least, &value| least.min(value));
        least > 0
    }

    /// The digit in a cell, 0 to 80 row by row. `None` for a blank, and for a cell above 80.
    pub fn get(&self, cell: usize) -> Option<u8> {
        self.cells.get(cell).copied().filter(|&value| value != 0)
    }

    /// The cell values, row by row, 0 for a blank.
    pub fn cells(&self) -> &[u8; 81] {
        &self.cells
    }

    /// The cells, for whoever writes nothing above 9.
    pub(crate) fn cells_mut(&mut self) -> &mut [u8; 81] {
        &mut self.cells
    }

    /// How many cells hold a digit: 0 to 81.
    pub fn clues(&self) -> usize {
        self.cells.iter().filter(|&&value| value != 0).count()
    }
}

/// The characters of a run of cells.
#[inline(always)]
fn write_run<const N: usize>(cells: &[u8; 81], at: usize) -> [u8; N] {
    let mut characters = [0; N];
    for i in 0..N {
        let value = cells[at + i];
        characters[i] = if value == 0 { b'.' } else { b'0' + value };
    }
    characters
}

/// What a run of characters says of its cells: above 9 where one is no digit and no blank.
#[inline(always)]
fn read_run<const N: usize>(line: &[u8; 81], at: usize) -> [u8; N] {
    let mut values = [0; N];
    for i in 0..N {
        let byte = line[at + i];
        values[i] = if byte == b'.' { 0 } else { byte.wrapping_sub(b'0') };
    }
    values
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
