//! From rows to grids.

use std::collections::VecDeque;

use super::error::{ParseError, ParseErrorKind};
use super::line::Row;
use crate::Grid;

/// The rows read since the last grid ended.
///
/// Blank lines, comments and borders are gaps: they may stand between the rows of one grid, and also between two
/// grids. A grid ends at a gap once it has nine rows. If its ninth row is followed by another one without a gap, then
/// what stood before the last gap was a grid of its own with too few rows; so a grid with a row missing does not take
/// one from the grid after it.
#[derive(Debug, Default)]
pub(super) struct Rows {
    rows: Vec<Row>,
    /// Rows beyond those kept.
    uncounted: usize,
    /// How many of the rows stand before the last gap that has rows after it.
    before_gap: usize,
    /// The last line was a gap.
    at_gap: bool,
    /// The character that stands for a blank in these rows, once it is known.
    blank: Option<char>,
    /// The first row follows a line with a whole puzzle.
    follow_line: bool,
}

/// The most rows kept: those of the largest grid that an error can name.
const KEPT: usize = 26;

impl Rows {
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether a row now would follow another one of the same grid, with nothing between them.
    pub fn is_inside_grid(&self) -> bool {
        !self.at_gap && (1..9).contains(&self.rows.len())
    }

    /// Whether these rows follow a line with a whole puzzle.
    pub fn follow_line(&self) -> bool {
        self.follow_line && !self.at_gap
    }

    /// Adds a row, which may show that a grid has ended before.
    pub fn push(&mut self, row: Row, follows_line: bool, items: &mut VecDeque<Result<Grid, ParseError>>) {
        if row.may_be_border && self.blank.is_some_and(|blank| row.blank != Some(blank)) {
            return self.gap_inside();
        }
        if !row.may_be_border && self.blank.is_none() {
            self.blank = row.blank;
            self.settle_borders();
        }
        if std::mem::take(&mut self.at_gap) {
            self.before_gap = self.rows.len();
        }
        self.follow_line |= self.rows.is_empty() && follows_line;
        if self.rows.len() == KEPT {
            self.uncounted += 1;
        } else {
            self.rows.push(row);
        }
        if self.rows.len() == 10 && self.before_gap > 0 {
            let rest = self.rows.split_off(self.before_gap);
            let short = std::mem::replace(&mut self.rows, rest);
            (self.before_gap, self.follow_line) = (0, false);
            items.extend(finish(short, 0));
        }
    }

    /// A line that may stand inside a grid or between two.
    pub fn gap(&mut self, items: &mut VecDeque<Result<Grid, ParseError>>) {
        let uncertain = |row: &&Row| row.may_be_border && self.blank.is_none();
        if self.rows.len() - self.rows.iter().filter(uncertain).count() >= 9 {
            self.end(false, items);
        } else {
            self.gap_inside();
        }
    }

    /// The grid has ended: a line follows that stands in none, or nothing. `at_line` if it is a whole puzzle.
    pub fn end(&mut self, at_line: bool, items: &mut VecDeque<Result<Grid, ParseError>>) {
        let are_lines = self.are_lines(at_line);
        let Self {
            mut rows,
            uncounted,
            blank,
            ..
        } = std::mem::take(self);
        let is_blank_grid = rows.len() == 9 && rows.iter().any(|row| row.blank != Some(' '));
        if blank.is_none() && !is_blank_grid {
            rows.retain(|row| !row.may_be_border);
        }
        if are_lines {
            items.extend(rows.iter().map(|row| Err(row.length_error())));
        } else {
            items.extend(finish(rows, uncounted));
        }
    }

    /// Whether these are no rows, but lines of a file of whole puzzles that have been cut short. If so, there is no gap
    /// between them and the puzzles, and they make no grid.
    fn are_lines(&self, at_line: bool) -> bool {
        let before_line = at_line && !self.at_gap && self.rows.iter().all(|row| row.length != 9);
        self.before_gap == 0 && self.rows.len() < 9 && (self.follow_line || before_line)
    }

    fn gap_inside(&mut self) {
        self.at_gap = !self.rows.is_empty();
    }

    /// Takes out the rows that turn out to be borders, now that the blank is known.
    fn settle_borders(&mut self) {
        let Some(blank) = self.blank else {
            return;
        };
        let is_border = |row: &Row| row.may_be_border && row.blank != Some(blank);
        let Some(last) = self.rows.iter().rposition(is_border) else {
            return;
        };
        self.before_gap = self.rows[..=last].iter().filter(|row| !is_border(row)).count();
        self.at_gap |= last + 1 == self.rows.len() && self.before_gap > 0;
        self.rows.retain(|row| !is_border(row));
    }
}

/// The grid of some rows, or what is wrong with it. `None` if there are no rows.
fn finish(mut rows: Vec<Row>, uncounted: usize) -> Option<Result<Grid, ParseError>> {
    let count = rows.len() + uncounted;
    let first = rows.first()?;
    let error = |row: &Row, kind| ParseError::new(kind, row.line, None, row.text.chars());
    let side = first.length;
    if side != 9 && side == count && rows.iter().all(|row| row.length == side) && count > 1 {
        return Some(Err(error(first, ParseErrorKind::Size { side })));
    }
    if let Some(bad) = rows.iter_mut().find_map(|row| row.error.take()) {
        return Some(Err(bad));
    }
    if count == 1 {
        return Some(Err(rows[0].length_error()));
    }
    if let Some(index) = rows.iter().position(|row| row.length != 9) {
        let cells = rows[index].length;
        return Some(Err(error(
            &rows[index],
            ParseErrorKind::RowLength {
                row: index + 1,
                cells,
            },
        )));
    }
    if count != 9 {
        return Some(Err(error(&rows[0], ParseErrorKind::RowCount { rows: count })));
    }
    let mut cells = [0; 81];
    for (row, chunk) in rows.iter().zip(cells.chunks_exact_mut(9)) {
        chunk.copy_from_slice(&row.cells);
    }
    Grid::from_cells(cells).map(Ok)
}
