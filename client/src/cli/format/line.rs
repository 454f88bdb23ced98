//! A line for each puzzle: line k answers puzzle k.

use std::io::{self, Write};

use super::{Answer, Formatter, Looks};
use crate::cli::explain;

/// Writes the solution of each puzzle that has exactly one, and for any other a `#` line that says why.
#[derive(Debug)]
pub struct Line<W> {
    to: W,
    numbered: bool,
}

impl<W: Write> Line<W> {
    pub fn new(to: W, looks: Looks) -> Self {
        Self {
            to,
            numbered: looks.numbered,
        }
    }
}

impl<W: Write> Formatter for Line<W> {
    fn answer(&mut self, answer: &Answer<'_>) -> io::Result<()> {
        if self.numbered {
            write!(self.to, "{} ", answer.number)?;
        }
        if let Some(reason) = explain::shortfall(answer) {
            return writeln!(self.to, "# {reason}");
        }
        let Some(solution) = answer.outcome.solution() else {
            return writeln!(self.to, "# {}", explain::name(answer.outcome));
        };
        self.to.write_all(&solution.to_line())?;
        self.to.write_all(b"\n")
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
