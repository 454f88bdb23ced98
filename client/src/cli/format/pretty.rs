//! Drawings for people.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use sudoku_client::Outcome;
use sudoku_engine::{Conflict, Grid};

use super::{Answer, Formatter, Looks};
use crate::cli::explain;

const CLUE: Style = Style::new().bold();
const CLASHING_CLUE: Style = AnsiColor::Red.on_default().bold();
const FOUND: Style = AnsiColor::Cyan.on_default();
const BLANK: Style = Style::new().dimmed();

/// Draws the solutions that were found, or the puzzle where there is none, and says below what that means.
#[derive(Debug)]
pub struct Pretty<W> {
    to: W,
    looks: Looks,
    first: bool,
}

impl<W: Write> Pretty<W> {
    pub fn new(to: W, looks: Looks) -> Self {
        Self {
            to,
            looks,
            first: true,
        }
    }

    fn drawings(&mut self, puzzle: &Grid, outcome: &Outcome) -> io::Result<()> {
        for solution in outcome.solutions() {
            self.draw(solution, |cell| match puzzle.get(cell) {
                Some(_) => CLUE,
                None => FOUND,
            })?;
        }
        if !outcome.solutions().is_empty() {
            return Ok(());
        }
        let clashes = |cell| {
            let holds = |conflict: &Conflict| conflict.cells.iter().any(|&other| usize::from(other) == cell);
            outcome.conflicts().iter().any(holds)
        };
        self.draw(puzzle, |cell| match puzzle.get(cell) {
            None => BLANK,
            Some(_) if clashes(cell) => CLASHING_CLUE,
            Some(_) => CLUE,
        })
    }

    fn draw(&mut self, grid: &Grid, style: impl Fn(usize) -> Style) -> io::Result<()> {
        if !self.looks.coloured {
            return writeln!(self.to, "{}", grid.pretty());
        }
        let drawing = grid.pretty().cells(|f, cell, character| {
            let style = style(cell);
            write!(f, "{style}{character}{style:#}")
        });
        writeln!(self.to, "{drawing}")
    }
}

impl<W: Write> Formatter for Pretty<W> {
    fn answer(&mut self, answer: &Answer<'_>) -> io::Result<()> {
        if !std::mem::take(&mut self.first) {
            writeln!(self.to)?;
        }
        if self.looks.numbered {
            writeln!(self.to, "puzzle {}", answer.number)?;
        }
        if let Ok(puzzle) = answer.entry {
            self.drawings(puzzle, answer.outcome)?;
        }
        match (explain::shortfall(answer), answer.outcome) {
            (Some(reason), _) => writeln!(self.to, "{reason}"),
            (None, Outcome::Solved { .. }) => {
                writeln!(self.to, "solved: a solution, perhaps not the only one")
            }
            (None, _) => writeln!(self.to, "unique: the only solution"),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
