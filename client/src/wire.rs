//! Between the SDK's types and those of the wire: the only place that knows both.

use std::time::Duration;

use sudoku_engine::{Conflict, Grid, Unit};
use sudoku_proto::v1;
use sudoku_proto::wire::{Found, PuzzleWriter};

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
fn puzzle_text(puzzle: &Grid) -> String {
    // Cheaper than formatting, which this falls back on only because the compiler can't know that digits are UTF-8.
    String::from_utf8(puzzle.to_line().to_vec()).unwrap_or_else(|_| puzzle.to_string())
}

/// Puts the options into a message of puzzles.
pub(crate) fn set_options(puzzles: &mut PuzzleWriter, options: &SolveOptions) {
    puzzles.set_options(wire_options(options));
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
    let result = wire.result.ok_or(ProtocolError::MissingResult)?;
    outcome(Found::Other(&result), options)
}

/// The outcome in a result to a request with `options`.
///
/// # Errors
///
/// What in it the contract does not allow.
pub(crate) fn outcome(found: Found<'_>, options: &SolveOptions) -> Result<Outcome, ProtocolError> {
    match found {
        Found::Plain {
            outcome,
            solution_count,
            solutions,
        } => Received {
            outcome,
            count: solution_count,
            solutions: solutions.map(<[u8; 81]>::as_slice),
            conflicts: &[],
            invalid: None,
        }
        .read(options),
        Found::Other(result) => Received {
            outcome: result.outcome,
            count: result.solution_count,
            solutions: result.solutions.iter().map(String::as_bytes),
            conflicts: &result.conflicts,
            invalid: result.invalid.as_ref(),
        }
        .read(options),
    }
}

/// The outcome of a puzzle with one solution, as nearly all are. `None` for any other, and for what is wrong: that is for
/// [`outcome`] to tell.
///
/// It is made where it is used: one that moves to a caller, as part of something else, takes as long as all else about it.
#[inline(always)]
pub(crate) fn unique(found: &Found<'_>, options: &SolveOptions) -> Option<Outcome> {
    const UNIQUE: i32 = v1::Outcome::Unique as i32;
    let Found::Plain {
        outcome: UNIQUE,
        solution_count: 1,
        solutions,
    } = found
    else {
        return None;
    };
    let mut solutions = solutions.clone();
    let only = solutions.next().filter(|_| solutions.len() == 0)?;
    let grid = Grid::from_ascii(only)?;
    if options.omit_solutions || !grid.is_complete() {
        return None;
    }
    Some(Outcome::Unique { solution: Some(grid) })
}

/// The fields of a result.
struct Received<'a, S> {
    outcome: i32,
    count: u32,
    solutions: S,
    conflicts: &'a [v1::Conflict],
    invalid: Option<&'a v1::PuzzleError>,
}

impl<'a, S: ExactSizeIterator<Item = &'a [u8]>> Received<'a, S> {
    fn read(self, options: &SolveOptions) -> Result<Outcome, ProtocolError> {
        let count = self.count;
        let unexpected = ProtocolError::Outcome {
            outcome: self.outcome,
        };
        Ok(match v1::Outcome::try_from(self.outcome) {
            Ok(v1::Outcome::Unique) => Outcome::Unique {
                solution: self.counted(options, count == 1)?.single()?,
            },
            Ok(v1::Outcome::Multiple) => Outcome::Multiple {
                solutions: self.counted(options, count >= 2)?.grids()?,
                count,
            },
            Ok(v1::Outcome::Unsolvable) => Outcome::Unsolvable {
                conflicts: self.counted(options, count == 0)?.conflicts()?,
            },
            Ok(v1::Outcome::Solved) => Outcome::Solved {
                solution: self.counted(options, count == 1)?.single()?,
            },
            Ok(v1::Outcome::Invalid) => Outcome::Invalid(invalid(self.invalid.ok_or(unexpected)?)),
            Ok(v1::Outcome::Undecided) => Outcome::Undecided {
                solutions: self.counted(options, true)?.grids()?,
                count,
            },
            Ok(v1::Outcome::Unspecified) | Err(_) => return Err(unexpected),
        })
    }

    /// The same if the count `fits` the outcome, and the solutions are as many.
    fn counted(self, options: &SolveOptions, fits: bool) -> Result<Self, ProtocolError> {
        let (count, received) = (self.count, self.solutions.len());
        let expected = if options.omit_solutions { 0 } else { count as usize };
        match fits && received == expected {
            true => Ok(self),
            false => Err(ProtocolError::SolutionCount { count, received }),
        }
    }

    fn single(mut self) -> Result<Option<Grid>, ProtocolError> {
        self.solutions.next().map(grid).transpose()
    }

    fn grids(self) -> Result<Vec<Grid>, ProtocolError> {
        self.solutions.map(grid).collect()
    }

    fn conflicts(self) -> Result<Vec<Conflict>, ProtocolError> {
        let conflicts = self.conflicts.iter().map(conflict).collect::<Option<_>>();
        conflicts.ok_or(ProtocolError::Conflict)
    }
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

/// Reads a solution, which unlike a puzzle has no blanks.
fn grid(text: &[u8]) -> Result<Grid, ProtocolError> {
    let grid = <&[u8; 81]>::try_from(text).ok().and_then(Grid::from_ascii);
    grid.filter(Grid::is_complete)
        .ok_or_else(|| ProtocolError::Solution {
            text: String::from_utf8_lossy(text).into_owned(),
        })
}

fn invalid(wire: &v1::PuzzleError) -> InvalidPuzzle {
    InvalidPuzzle::Refused {
        message: wire.message.clone(),
        length: wire.length,
        position: wire.position,
    }
}

fn conflict(wire: &v1::Conflict) -> Option<Conflict> {
    let unit = wire.unit?;
    let index = u8::try_from(unit.index).ok().filter(|&index| index < 9)?;
    let cells = wire
        .cells
        .iter()
        .map(|&cell| u8::try_from(cell).ok().filter(|&cell| cell < 81));
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
