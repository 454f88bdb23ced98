//! Answers in the words of the contract.

use sudoku_engine::batch::{self, Batch};
use sudoku_engine::{Conflict, Grid, GridError, Solution, Unit, conflicts};
use sudoku_proto::v1;
use sudoku_proto::wire::ResultWriter;

use crate::metrics::Tally;
use crate::pool::Solved;
use crate::search::{Answer, Outcome};

/// Writes the results of a message: those of its puzzles as they are solved, and in their places those of what is none.
#[derive(Debug)]
pub(crate) struct Results<'a> {
    writer: ResultWriter<'a>,
    tally: &'a mut Tally,
    /// The index of the next result.
    next: usize,
    /// What is no puzzle and has no result yet, with its index, ascending.
    invalid: &'a [(usize, GridError)],
}

impl<'a> Results<'a> {
    /// Begins a message with these strings that are no puzzles.
    pub fn new(writer: ResultWriter<'a>, invalid: &'a [(usize, GridError)], tally: &'a mut Tally) -> Self {
        Self {
            writer,
            tally,
            next: 0,
            invalid,
        }
    }

    /// Adds the result of the next puzzle.
    pub fn add(&mut self, solved: Solved<'_>) {
        if !self.invalid.is_empty() {
            self.write_invalid();
        }
        let outcome = write(solved, &mut self.writer);
        self.tally.puzzle(outcome);
        self.next += 1;
    }

    /// Ends the message.
    pub fn end(&mut self) {
        if !self.invalid.is_empty() {
            self.write_invalid();
        }
    }

    /// Adds the results of what is no puzzle and comes next.
    #[cold]
    fn write_invalid(&mut self) {
        while let [(index, error), rest @ ..] = self.invalid
            && *index == self.next
        {
            self.writer.push_any(invalid(error));
            self.tally.puzzle(v1::Outcome::Invalid);
            self.next += 1;
            self.invalid = rest;
        }
    }
}

/// Adds the result of a puzzle, and gives its outcome.
fn write(solved: Solved<'_>, writer: &mut ResultWriter<'_>) -> v1::Outcome {
    let answer = match solved {
        Solved::InBatch(batch, index) => return write_of_batch(batch, index, writer),
        Solved::Alone(answer) => answer,
    };
    let outcome = outcome(answer.outcome);
    if answer.conflicts.is_empty() {
        writer.push(outcome, answer.count, answer.solutions.iter().map(line));
    } else {
        writer.push_any(result(answer));
    }
    outcome
}

fn write_of_batch(batch: &Batch, index: usize, writer: &mut ResultWriter<'_>) -> v1::Outcome {
    let (outcome, count) = match batch.outcome(index) {
        Some(batch::Outcome::Unique) => (v1::Outcome::Unique, 1),
        Some(batch::Outcome::Multiple) => (v1::Outcome::Multiple, 2),
        Some(batch::Outcome::Solved) => (v1::Outcome::Solved, 1),
        Some(batch::Outcome::Unsolvable) => {
            write_unsolvable(&batch.puzzles()[index], writer);
            return v1::Outcome::Unsolvable;
        }
        // The lane gives none such out.
        Some(batch::Outcome::Open) | None => (v1::Outcome::Undecided, 0),
    };
    let mut solutions = batch.solution_grids(index).map(Grid::to_line);
    let Some(first) = solutions.next() else {
        writer.push(outcome, count, []);
        return outcome;
    };
    // As nearly always, and so without a look at what a second one would be.
    if count == 1 {
        writer.push(outcome, 1, [first]);
        return outcome;
    }
    match solutions.next() {
        Some(second) => writer.push(outcome, count, [first, second]),
        None => writer.push(outcome, count, [first]),
    }
    outcome
}

fn write_unsolvable(puzzle: &Grid, writer: &mut ResultWriter<'_>) {
    let conflicts = conflicts(puzzle);
    if conflicts.is_empty() {
        return writer.push(v1::Outcome::Unsolvable, 0, []);
    }
    writer.push_any(v1::SolveResult {
        outcome: v1::Outcome::Unsolvable.into(),
        conflicts: conflicts.iter().map(conflict).collect(),
        ..v1::SolveResult::default()
    });
}

fn line(solution: &Solution) -> [u8; 81] {
    solution.grid().to_line()
}

/// The result of a puzzle that was searched.
pub(crate) fn result(answer: &Answer) -> v1::SolveResult {
    v1::SolveResult {
        outcome: outcome(answer.outcome).into(),
        solutions: answer.solutions.iter().map(solution).collect(),
        solution_count: answer.count,
        conflicts: answer.conflicts.iter().map(conflict).collect(),
        invalid: None,
    }
}

/// The result of a string that is no puzzle.
fn invalid(error: &GridError) -> v1::SolveResult {
    let (length, position) = match *error {
        GridError::Character { position, length, .. } => (length, Some(position as u32)),
        GridError::Length { length } => (length, None),
    };
    v1::SolveResult {
        outcome: v1::Outcome::Invalid.into(),
        invalid: Some(v1::PuzzleError {
            message: error.to_string(),
            length: length as u32,
            position,
        }),
        ..v1::SolveResult::default()
    }
}

pub(crate) fn outcome(outcome: Outcome) -> v1::Outcome {
    match outcome {
        Outcome::Unique => v1::Outcome::Unique,
        Outcome::Multiple => v1::Outcome::Multiple,
        Outcome::Unsolvable => v1::Outcome::Unsolvable,
        Outcome::Solved => v1::Outcome::Solved,
        Outcome::Undecided => v1::Outcome::Undecided,
    }
}

fn solution(solution: &Solution) -> String {
    line(solution).into_iter().map(char::from).collect()
}

fn conflict(conflict: &Conflict) -> v1::Conflict {
    let kind = match conflict.unit {
        Unit::Row(_) => v1::UnitKind::Row,
        Unit::Column(_) => v1::UnitKind::Column,
        Unit::Box(_) => v1::UnitKind::Box,
    };
    v1::Conflict {
        digit: conflict.digit.into(),
        unit: Some(v1::Unit {
            kind: kind.into(),
            index: conflict.unit.index().into(),
        }),
        cells: conflict.cells.iter().copied().map(u32::from).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_cells_count_from_0() {
        let answer = Answer {
            outcome: Outcome::Unsolvable,
            solutions: Vec::new(),
            count: 0,
            conflicts: vec![Conflict {
                digit: 9,
                unit: Unit::Column(8),
                cells: vec![8, 80],
            }],
        };
        let expected = v1::Conflict {
            digit: 9,
            unit: Some(v1::Unit {
                kind: v1::UnitKind::Column.into(),
                index: 8,
            }),
            cells: vec![8, 80],
        };
        assert_eq!(result(&answer).conflicts, [expected]);
    }

    #[test]
    fn the_text_about_an_invalid_puzzle_is_short() {
        let error = GridError::Character {
            position: u32::MAX as usize - 1,
            character: '\u{10ffff}',
            length: u32::MAX as usize,
        };
        let message = invalid(&error).invalid.unwrap().message;
        assert!(message.chars().count() <= 200);
    }
}
