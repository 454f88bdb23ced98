//! Comma-separated values, after RFC 4180 but for the line ends, which are plain newlines.

use std::io::{self, Write};

use super::{Answer, Formatter, Looks, input};
use crate::cli::explain;

/// The names of the columns.
pub const HEADER: [&str; 6] = ["input", "outcome", "solution", "count", "conflicts", "error"];

/// Writes a header, then a record for each puzzle.
#[derive(Debug)]
pub struct Csv<W: Write> {
    to: csv::Writer<W>,
    numbered: bool,
}

impl<W: Write> Csv<W> {
    pub fn new(to: W, looks: Looks) -> io::Result<Self> {
        let mut to = csv::Writer::from_writer(to);
        if looks.numbered {
            to.write_field("number").map_err(io_error)?;
        }
        if !looks.continued {
            to.write_record(HEADER).map_err(io_error)?;
        }
        Ok(Self {
            to,
            numbered: looks.numbered,
        })
    }
}

impl<W: Write> Formatter for Csv<W> {
    fn answer(&mut self, answer: &Answer<'_>) -> io::Result<()> {
        if self.numbered {
            self.to.write_field(answer.number.to_string()).map_err(io_error)?;
        }
        let solutions: Vec<String> = answer
            .outcome
            .solutions()
            .iter()
            .map(ToString::to_string)
            .collect();
        let record = self.to.write_record([
            input(answer.entry).as_str(),
            explain::name(answer.outcome),
            &solutions.join(" "),
            &answer.outcome.solution_count().to_string(),
            &explain::conflicts(answer.outcome.conflicts()),
            &explain::error(answer).unwrap_or_default(),
        ]);
        record.map_err(io_error)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// The error beneath, whose kind tells a reader that has gone from a full disk.
fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        kind => io::Error::other(format!("{kind:?}")),
    }
}
