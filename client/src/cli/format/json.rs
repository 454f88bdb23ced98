//! One JSON array, written as the answers come: it needs no more memory for a million puzzles than for one, and it is
//! closed only when it is complete.

use std::io::{self, Write};

use serde::Serialize;
use sudoku_client::Outcome;
use sudoku_engine::{Conflict, Unit};

use super::{Answer, Formatter};
use crate::cli::explain;

/// Writes an array with an object for each puzzle, all with the same keys. Units and cells count from 0, as they do in
/// the service's contract.
#[derive(Debug)]
pub struct Json<W> {
    to: W,
    /// What comes before the next object.
    before: &'static str,
}

#[derive(Serialize)]
struct Object {
    input: String,
    outcome: &'static str,
    solutions: Vec<String>,
    count: u32,
    conflicts: Vec<Repeated>,
    error: Option<String>,
}

#[derive(Serialize)]
struct Repeated {
    digit: u8,
    unit: Place,
    cells: Vec<u8>,
}

#[derive(Serialize)]
struct Place {
    kind: &'static str,
    index: u8,
}

impl<W: Write> Json<W> {
    pub fn new(to: W) -> Self {
        Self { to, before: "[\n" }
    }
}

impl<W: Write> Formatter for Json<W> {
    fn answer(&mut self, answer: &Answer<'_>) -> io::Result<()> {
        self.to.write_all(self.before.as_bytes())?;
        self.before = ",\n";
        serde_json::to_writer(&mut self.to, &Object::from(answer))?;
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.to.write_all(b"\n]\n")?;
        self.flush()
    }
}

impl From<&Answer<'_>> for Object {
    fn from(answer: &Answer<'_>) -> Self {
        let outcome: &Outcome = answer.outcome;
        Self {
            input: answer.input(),
            outcome: explain::name(outcome),
            solutions: outcome.solutions().iter().map(ToString::to_string).collect(),
            count: outcome.solution_count(),
            conflicts: outcome.conflicts().iter().map(Repeated::from).collect(),
            error: explain::error(answer),
        }
    }
}

impl From<&Conflict> for Repeated {
    fn from(conflict: &Conflict) -> Self {
        let kind = match conflict.unit {
            Unit::Row(_) => "row",
            Unit::Column(_) => "column",
            Unit::Box(_) => "box",
        };
        Self {
            digit: conflict.digit,
            unit: Place {
                kind,
                index: conflict.unit.index(),
            },
            cells: conflict.cells.clone(),
        }
    }
}
