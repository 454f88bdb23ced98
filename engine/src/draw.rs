//! Drawing a grid with its boxes.

use std::fmt::{self, Write};

use crate::Grid;

/// How a cell is written, if not as its plain character: it is given the cell, 0 to 80 row by row, and its character.
type Plain = fn(&mut fmt::Formatter<'_>, usize, char) -> fmt::Result;

/// A grid that displays as a drawing of 13 lines, without a line end after the last. [`Grid::pretty`] makes it.
#[derive(Debug, Clone, Copy)]
pub struct Pretty<'a, W = Plain> {
    grid: &'a Grid,
    lines: &'a Lines,
    write_cell: W,
}

/// The characters of the borders: those of the horizontal lines from left to right, and the upright one.
#[derive(Debug)]
struct Lines {
    top: [char; 4],
    middle: [char; 4],
    bottom: [char; 4],
    upright: char,
}

const BOX_DRAWING: Lines = Lines {
    top: ['┌', '─', '┬', '┐'],
    middle: ['├', '─', '┼', '┤'],
    bottom: ['└', '─', '┴', '┘'],
    upright: '│',
};

const ASCII: Lines = Lines {
    top: ['+', '-', '+', '+'],
    middle: ['+', '-', '+', '+'],
    bottom: ['+', '-', '+', '+'],
    upright: '|',
};

impl Grid {
    /// The grid as a drawing, with Unicode's box drawings for borders and `.` for a blank.
    ///
    /// ```
    /// let line = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
    /// let grid = sudoku_engine::Grid::from_line(line)?;
    /// let drawing = grid.pretty().to_string();
    /// assert!(drawing.starts_with("\
    /// ┌───────┬───────┬───────┐
    /// │ 5 3 . │ . 7 . │ . . . │
    /// │ 6 . . │ 1 9 5 │ . . . │
    /// "));
    /// assert_eq!(drawing.parse(), Ok(grid));
    /// # Ok::<(), sudoku_engine::GridError>(())
    /// ```
    pub fn pretty(&self) -> Pretty<'_> {
        Pretty {
            grid: self,
            lines: &BOX_DRAWING,
            write_cell: |f, _, character| f.write_char(character),
        }
    }
}

impl<'a, W> Pretty<'a, W> {
    /// Draws the borders with `+`, `-` and `|`.
    pub fn ascii(self) -> Self {
        Self {
            lines: &ASCII,
            ..self
        }
    }

    /// Writes each cell with `write_cell`, which is given the cell, 0 to 80 row by row, and its character: to set
    /// clues apart from what was solved, for example. What it adds should take no room on the screen.
    ///
    /// ```
    /// # let line = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
    /// # let puzzle = sudoku_engine::Grid::from_line(line)?;
    /// # let solution = sudoku_engine::reference::solve(&puzzle).unwrap();
    /// let bold_clues = solution.grid().pretty().cells(|f, cell, character| match puzzle.get(cell) {
    ///     Some(_) => write!(f, "\x1b[1m{character}\x1b[0m"),
    ///     None => write!(f, "{character}"),
    /// });
    /// assert!(bold_clues.to_string().contains("│ \x1b[1m5\x1b[0m \x1b[1m3\x1b[0m 4 │"));
    /// # Ok::<(), sudoku_engine::GridError>(())
    /// ```
    pub fn cells<V>(self, write_cell: V) -> Pretty<'a, V>
    where
        V: Fn(&mut fmt::Formatter<'_>, usize, char) -> fmt::Result,
    {
        Pretty {
            grid: self.grid,
            lines: self.lines,
            write_cell,
        }
    }
}

impl<W> fmt::Display for Pretty<'_, W>
where
    W: Fn(&mut fmt::Formatter<'_>, usize, char) -> fmt::Result,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (cell, character) in self.grid.to_line().into_iter().map(char::from).enumerate() {
            let line = match cell {
                0 => Some(&self.lines.top),
                27 | 54 => Some(&self.lines.middle),
                _ => None,
            };
            if let Some(line) = line {
                write_border(f, line)?;
                f.write_char('\n')?;
            }
            if cell % 3 == 0 {
                write!(f, "{} ", self.lines.upright)?;
            }
            (self.write_cell)(f, cell, character)?;
            f.write_char(' ')?;
            if cell % 9 == 8 {
                writeln!(f, "{}", self.lines.upright)?;
            }
        }
        write_border(f, &self.lines.bottom)
    }
}

fn write_border(f: &mut fmt::Formatter<'_>, [left, across, joint, right]: &[char; 4]) -> fmt::Result {
    f.write_char(*left)?;
    for stack in 0..3 {
        for _ in 0..7 {
            f.write_char(*across)?;
        }
        f.write_char(*if stack < 2 { joint } else { right })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawing_in_ascii() {
        let line = "12345678945678912378912345621436589736589721489721436553164297864297853197853164.";
        let drawing = "\
+-------+-------+-------+
| 1 2 3 | 4 5 6 | 7 8 9 |
| 4 5 6 | 7 8 9 | 1 2 3 |
| 7 8 9 | 1 2 3 | 4 5 6 |
+-------+-------+-------+
| 2 1 4 | 3 6 5 | 8 9 7 |
| 3 6 5 | 8 9 7 | 2 1 4 |
| 8 9 7 | 2 1 4 | 3 6 5 |
+-------+-------+-------+
| 5 3 1 | 6 4 2 | 9 7 8 |
| 6 4 2 | 9 7 8 | 5 3 1 |
| 9 7 8 | 5 3 1 | 6 4 . |
+-------+-------+-------+";
        assert_eq!(
            Grid::from_line(line).unwrap().pretty().ascii().to_string(),
            drawing
        );
    }
}
