//! Answers in the words of the contract.

use sudoku_engine::{Conflict, GridError, Solution, Unit};
use sudoku_proto::v1;

use crate::search::{Answer, Outcome};

/// The result of a puzzle that was searched.
pub(crate) fn result(answer: Answer) -> v1::SolveResult {
    let outcome = match answer.outcome {
        Outcome::Unique => v1::Outcome::Unique,
        Outcome::Multiple => v1::Outcome::Multiple,
        Outcome::Unsolvable => v1::Outcome::Unsolvable,
        Outcome::Solved => v1::Outcome::Solved,
        Outcome::Undecided => v1::Outcome::Undecided,
    };
    v1::SolveResult {
        outcome: outcome.into(),
        solutions: answer.solutions.iter().map(solution).collect(),
        solution_count: answer.count,
        conflicts: answer.conflicts.into_iter().map(conflict).collect(),
        invalid: None,
    }
}

/// The result of a string that is no puzzle.
pub(crate) fn invalid(error: &GridError) -> v1::SolveResult {
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

fn solution(solution: &Solution) -> String {
    solution.grid().to_line().into_iter().map(char::from).collect()
}

fn conflict(conflict: Conflict) -> v1::Conflict {
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
        cells: conflict.cells.into_iter().map(u32::from).collect(),
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
        assert_eq!(result(answer).conflicts, [expected]);
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
