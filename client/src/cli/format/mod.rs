//! The formats that answers are written in: a file each.

pub mod csv;
mod json;
mod line;
mod pretty;

use std::io::{self, Write};

use clap::ValueEnum;
use sudoku_client::Outcome;

use super::draw::Pen;
use super::entry::Entry;

/// A format, by its name on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Grids, drawn
    Pretty,
    /// A line for each puzzle, in order: its solution, or `#` and why there is not exactly one
    Line,
    /// An array with an object for each puzzle
    Json,
    /// The same objects without the array: a line each
    Jsonl,
    /// A header, then a record for each puzzle: input, outcome, solution, count, conflicts, error
    Csv,
}

/// What is to be written of one puzzle.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    /// Which puzzle it is, from 1.
    pub number: u64,
    /// What stood in the input.
    pub entry: &'a Entry,
    /// The name of its source, where there are several sources.
    pub source: Option<&'a str>,
    /// What came of it.
    pub outcome: &'a Outcome,
    /// After how many solutions the search stopped.
    pub limit: u32,
}

/// The puzzle as 81 characters, or the text that is none, as far as it is kept.
pub fn input(entry: &Entry) -> String {
    match entry {
        Ok(grid) => grid.to_string(),
        Err(slip) => slip.excerpt().to_owned(),
    }
}

/// What formats have in common.
#[derive(Debug, Clone, Copy, Default)]
pub struct Looks {
    /// What drawings are made with.
    pub pen: Pen,
    /// Each answer with the number of its puzzle: not all are written.
    pub numbered: bool,
    /// Without what comes before the first answer: it has been written, and others after it.
    pub continued: bool,
}

/// Writes answers in one format.
pub trait Formatter {
    /// Writes one answer.
    fn answer(&mut self, answer: &Answer<'_>) -> io::Result<()>;

    /// Sends on what has been written so far: no more is at hand.
    fn flush(&mut self) -> io::Result<()>;

    /// Completes the output.
    fn finish(&mut self) -> io::Result<()> {
        self.flush()
    }
}

impl Format {
    /// A formatter that writes to `to`.
    ///
    /// # Errors
    ///
    /// What comes before the first answer cannot be written.
    pub fn formatter(self, to: Box<dyn Write + Send>, looks: Looks) -> io::Result<Box<dyn Formatter + Send>> {
        let to = io::BufWriter::with_capacity(256 << 10, to);
        Ok(match self {
            Self::Pretty => Box::new(pretty::Pretty::new(to, looks)),
            Self::Line => Box::new(line::Line::new(to, looks)),
            Self::Json => Box::new(json::Json::array(to, looks)),
            Self::Jsonl => Box::new(json::Json::lines(to, looks)),
            Self::Csv => Box::new(csv::Csv::new(to, looks)?),
        })
    }
}
