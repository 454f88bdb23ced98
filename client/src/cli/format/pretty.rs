//! Drawings for people.

use std::io::{self, Write};

use sudoku_client::Outcome;
use sudoku_engine::Grid;

use super::{Answer, Formatter, Looks};
use crate::cli::draw::Ink;
use crate::cli::explain;

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
                Some(_) => Ink::Clue,
                None => Ink::Found,
            })?;
        }
        if outcome.solutions().is_empty() {
            self.draw(puzzle, |cell| explain::ink(puzzle, outcome.conflicts(), cell))?;
        }
        Ok(())
    }

    fn draw(&mut self, grid: &Grid, ink: impl Fn(usize) -> Ink) -> io::Result<()> {
        writeln!(self.to, "{}", self.looks.pen.draw(grid, ink))
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
        let verdict = match (explain::shortfall(answer), answer.outcome) {
            (Some(reason), _) => reason,
            (None, Outcome::Solved { .. }) => "solved: a solution, perhaps not the only one".to_owned(),
            (None, _) => "unique: the only solution".to_owned(),
        };
        writeln!(self.to, "{}", self.looks.pen.wrap(&verdict))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
