//! Between the SDK's types and those of the wire: the only place that knows both.

use std::time::Duration;

use sudoku_engine::{Conflict, Grid, Unit};
use sudoku_proto::v1;

use crate::error::ProtocolError;
use crate::{InvalidPuzzle, Outcome, ServerInfo, SolveOptions};

/// What a puzzle takes in an encoded message: its 81 characters, a tag and a length.
pub(crate) const PUZZLE_BYTES: usize = 83;

/// What the options take in an encoded message, at most: three fields, the longest a duration.
pub(crate) const OPTIONS_BYTES: usize = 40;

/// The most bytes of a reply to a request with these options: what gRPC accepts by default, and more only where a
/// `Solve` asks for so many solutions that it needs more.
pub(crate) fn longest_reply(options: &SolveOptions) -> usize {
    const BY_DEFAULT: usize = 4 << 20;
    let solutions = (options.solution_limit as usize).saturating_mul(PUZZLE_BYTES);
    BY_DEFAULT.max(solutions.saturating_add(64 << 10))
}

pub(crate) fn solve_request(puzzle: &Grid, options: &SolveOptions) -> v1::SolveRequest {
    v1::SolveRequest {
        puzzle: puzzle_text(puzzle),
        options: wire_options(options),
    }
}

/// A puzzle in the form in which it travels.
pub(crate) fn puzzle_text(puzzle: &Grid) -> String {
    // Cheaper than formatting, which this falls back on only because the compiler can't know that digits are UTF-8.
    String::from_utf8(puzzle.to_line().to_vec()).unwrap_or_else(|_| puzzle.to_string())
}

pub(crate) fn solve_many_request(puzzles: Vec<String>, options: &SolveOptions) -> v1::SolveManyRequest {
    v1::SolveManyRequest {
        puzzles,
        options: wire_options(options),
    }
}

pub(crate) fn server_info(wire: v1::GetServerInfoResponse) -> ServerInfo {
    ServerInfo {
        version: wire.version,
        max_puzzles_per_message: wire.max_puzzles_per_message,
        max_message_bytes: wire.max_message_bytes,
        max_solution_limit: wire.max_solution_limit,
        max_time_limit: wire.max_time_limit.and_then(|limit| limit.try_into().ok()),
    }
}

/// The outcome of a `Solve`.
pub(crate) fn solved(wire: v1::SolveResponse, options: &SolveOptions) -> Result<Outcome, ProtocolError> {
    outcome(wire.result.ok_or(ProtocolError::MissingResult)?, options)
}

/// The outcome in a result to a request with `options`.
///
/// # Errors
///
/// What in it the contract does not allow.
pub(crate) fn outcome(wire: v1::SolveResult, options: &SolveOptions) -> Result<Outcome, ProtocolError> {
    let count = wire.solution_count;
    let unexpected = ProtocolError::Outcome {
        outcome: wire.outcome,
    };
    let received = wire.solutions.len();
    let expected = if options.omit_solutions { 0 } else { count as usize };
    let counts = |fits: bool| match fits && received == expected {
        true => Ok(()),
        false => Err(ProtocolError::SolutionCount { count, received }),
    };
    Ok(match v1::Outcome::try_from(wire.outcome) {
        Ok(v1::Outcome::Unique) => {
            counts(count == 1)?;
            Outcome::Unique {
                solution: single(wire.solutions)?,
            }
        }
        Ok(v1::Outcome::Multiple) => {
            counts(count >= 2)?;
            Outcome::Multiple {
                solutions: grids(wire.solutions)?,
                count,
            }
        }
        Ok(v1::Outcome::Unsolvable) => {
            counts(count == 0)?;
            let conflicts = wire.conflicts.into_iter().map(conflict).collect::<Option<_>>();
            Outcome::Unsolvable {
                conflicts: conflicts.ok_or(ProtocolError::Conflict)?,
            }
        }
        Ok(v1::Outcome::Solved) => {
            counts(count == 1)?;
            Outcome::Solved {
                solution: single(wire.solutions)?,
            }
        }
        Ok(v1::Outcome::Invalid) => Outcome::Invalid(invalid(wire.invalid.ok_or(unexpected)?)),
        Ok(v1::Outcome::Undecided) => {
            counts(true)?;
            Outcome::Undecided {
                solutions: grids(wire.solutions)?,
                count,
            }
        }
        Ok(v1::Outcome::Unspecified) | Err(_) => return Err(unexpected),
    })
}

/// The options as a field, absent where they are the defaults.
fn wire_options(options: &SolveOptions) -> Option<v1::SolveOptions> {
    (*options != SolveOptions::default()).then(|| v1::SolveOptions {
        solution_limit: options.solution_limit,
        time_limit: options.time_limit.map(wire_duration),
        omit_solutions: options.omit_solutions,
    })
}

/// A duration too long for the wire becomes the longest there is, which every server refuses as out of range.
fn wire_duration(duration: Duration) -> prost_types::Duration {
    duration.try_into().unwrap_or(prost_types::Duration {
        seconds: i64::MAX,
        nanos: 999_999_999,
    })
}

fn single(solutions: Vec<String>) -> Result<Option<Grid>, ProtocolError> {
    solutions.into_iter().next().map(grid).transpose()
}

fn grids(solutions: Vec<String>) -> Result<Vec<Grid>, ProtocolError> {
    solutions.into_iter().map(grid).collect()
}

fn grid(text: String) -> Result<Grid, ProtocolError> {
    match Grid::from_line(&text) {
        Ok(grid) if grid.clues() == 81 => Ok(grid),
        _ => Err(ProtocolError::Solution { text }),
    }
}

fn invalid(wire: v1::PuzzleError) -> InvalidPuzzle {
    InvalidPuzzle::Refused {
        message: wire.message,
        length: wire.length,
        position: wire.position,
    }
}

fn conflict(wire: v1::Conflict) -> Option<Conflict> {
    let unit = wire.unit?;
    let index = u8::try_from(unit.index).ok().filter(|&index| index < 9)?;
    let cells = wire
        .cells
        .into_iter()
        .map(|cell| u8::try_from(cell).ok().filter(|&cell| cell < 81));
    Some(Conflict {
        digit: u8::try_from(wire.digit)
            .ok()
            .filter(|digit| (1..=9).contains(digit))?,
        unit: match v1::UnitKind::try_from(unit.kind).ok()? {
            v1::UnitKind::Row => Unit::Row(index),
            v1::UnitKind::Column => Unit::Column(index),
            v1::UnitKind::Box => Unit::Box(index),
            v1::UnitKind::Unspecified => return None,
        },
        cells: cells.collect::<Option<_>>()?,
    })
}
