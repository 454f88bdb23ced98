//! JSON: an array, or an object a line. An array is written as the answers come, so it needs no more memory for a million
//! puzzles than for one, and it is closed only when it is complete.

use std::io::{self, Write};

use serde::Serialize;
use sudoku_client::Outcome;
use sudoku_engine::{Conflict, Unit};

use super::{Answer, Formatter, Looks, input};
use crate::cli::explain;

/// Writes an object for each puzzle, all with the same keys. Units and cells count from 0, as they do in the service's
/// contract.
#[derive(Debug)]
pub struct Json<W> {
    to: W,
    numbered: bool,
    marks: Marks,
    is_empty: bool,
}

/// What stands around the objects.
#[derive(Debug)]
struct Marks {
    begin: &'static str,
    between: &'static str,
    after: &'static str,
    end: &'static str,
}

#[derive(Serialize)]
struct Object {
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<u64>,
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
    /// One array.
    pub fn array(to: W, looks: Looks) -> Self {
        let marks = Marks {
            begin: "[\n",
            between: ",\n",
            after: "",
            end: "\n]\n",
        };
        Self::new(to, looks, marks)
    }

    /// A line for each object.
    pub fn lines(to: W, looks: Looks) -> Self {
        let marks = Marks {
            begin: "",
            between: "",
            // The end of the line comes with the object, so that whoever reads along has all of it.
            after: "\n",
            end: "",
        };
        Self::new(to, looks, marks)
    }

    fn new(to: W, looks: Looks, marks: Marks) -> Self {
        Self {
            to,
            numbered: looks.numbered,
            marks,
            is_empty: true,
        }
    }

    fn mark(&mut self, mark: impl Fn(&Marks) -> &'static str) -> io::Result<()> {
        self.to.write_all(mark(&self.marks).as_bytes())
    }
}

impl<W: Write> Formatter for Json<W> {
    fn answer(&mut self, answer: &Answer<'_>) -> io::Result<()> {
        let is_first = std::mem::take(&mut self.is_empty);
        self.mark(|marks| if is_first { marks.begin } else { marks.between })?;
        serde_json::to_writer(&mut self.to, &object(answer, self.numbered))?;
        self.mark(|marks| marks.after)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        if self.is_empty {
            self.mark(|marks| marks.begin)?;
        }
        self.mark(|marks| marks.end)?;
        self.flush()
    }
}

fn object(answer: &Answer<'_>, numbered: bool) -> Object {
    let outcome: &Outcome = answer.outcome;
    Object {
        number: numbered.then_some(answer.number),
        input: input(answer.entry),
        outcome: explain::name(outcome),
        solutions: outcome.solutions().iter().map(ToString::to_string).collect(),
        count: outcome.solution_count(),
        conflicts: outcome.conflicts().iter().map(Repeated::from).collect(),
        error: explain::error(answer),
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
