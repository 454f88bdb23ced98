//! Drawings for people.

use std::io::{self, Write};

use sudoku_client::Outcome;
use sudoku_engine::Grid;

use super::drawing::{draw, of_puzzle, of_solution};
use super::{Answer, Formatter};
use crate::cli::explain;

/// Draws the solutions that were found, or the puzzle where there is none, and says below what that means.
#[derive(Debug)]
pub struct Pretty<W> {
    to: W,
    coloured: bool,
    first: bool,
}

impl<W: Write> Pretty<W> {
    pub fn new(to: W, coloured: bool) -> Self {
        Self {
            to,
            coloured,
            first: true,
        }
    }

    fn drawings(&mut self, puzzle: &Grid, outcome: &Outcome) -> io::Result<()> {
        for solution in outcome.solutions() {
            let drawing = draw(&of_solution(puzzle, solution), self.coloured);
            self.to.write_all(drawing.as_bytes())?;
        }
        if !outcome.solutions().is_empty() {
            return Ok(());
        }
        let conflicts = outcome.conflicts();
        let clashing = |cell| conflicts.iter().any(|conflict| conflict.cells.contains(&cell));
        let drawing = draw(&of_puzzle(puzzle, clashing), self.coloured);
        self.to.write_all(drawing.as_bytes())
    }
}

impl<W: Write> Formatter for Pretty<W> {
    fn answer(&mut self, answer: &Answer<'_>) -> io::Result<()> {
        if !std::mem::take(&mut self.first) {
            writeln!(self.to)?;
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
