//! What the service found out about a puzzle.

use std::fmt;

use sudoku_engine::{Conflict, Grid, GridError, ParseError};

/// What is known of a puzzle.
///
/// Displays in a few words, as in `unique` or `multiple (2 solutions found)`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(tag = "outcome", rename_all = "lowercase"))]
#[non_exhaustive]
pub enum Outcome {
    /// Exactly one solution, proven to be the only one.
    Unique {
        /// The solution. `None` only with [`omit_solutions`](crate::SolveOptions::omit_solutions).
        solution: Option<Grid>,
    },
    /// Two solutions or more.
    Multiple {
        /// Those that were found, two or more, in no particular order. Empty with `omit_solutions`.
        solutions: Vec<Grid>,
        /// How many were found: the solution limit exactly if the search stopped there, all that exist if it is less.
        count: u32,
    },
    /// No solution.
    Unsolvable {
        /// Every unit in which the clues repeat a digit. Empty where no clue contradicts another.
        conflicts: Vec<Conflict>,
    },
    /// A solution. With a solution limit of 1 nobody asked whether it is the only one.
    Solved {
        /// The solution. `None` only with `omit_solutions`.
        solution: Option<Grid>,
    },
    /// Not a puzzle.
    Invalid(InvalidPuzzle),
    /// The time limit ended the search.
    Undecided {
        /// What was found by then. Two or more still prove that the puzzle is not unique. Empty with `omit_solutions`.
        solutions: Vec<Grid>,
        /// How many were found.
        count: u32,
    },
}

impl Outcome {
    /// A solution, the first of those that came back. `None` where none was found, and with `omit_solutions`.
    pub fn solution(&self) -> Option<&Grid> {
        self.solutions().first()
    }

    /// All solutions that came back.
    pub fn solutions(&self) -> &[Grid] {
        match self {
            Self::Unique { solution } | Self::Solved { solution } => solution.as_slice(),
            Self::Multiple { solutions, .. } | Self::Undecided { solutions, .. } => solutions,
            Self::Unsolvable { .. } | Self::Invalid(_) => &[],
        }
    }

    /// How many solutions were found, whether they came back or not: 0 up to the solution limit.
    pub fn solution_count(&self) -> u32 {
        match self {
            Self::Unique { .. } | Self::Solved { .. } => 1,
            Self::Multiple { count, .. } | Self::Undecided { count, .. } => *count,
            Self::Unsolvable { .. } | Self::Invalid(_) => 0,
        }
    }

    /// The units in which the clues repeat a digit. Empty unless that makes the puzzle unsolvable.
    pub fn conflicts(&self) -> &[Conflict] {
        match self {
            Self::Unsolvable { conflicts } => conflicts,
            _ => &[],
        }
    }

    /// Whether the puzzle has exactly one solution.
    pub fn is_unique(&self) -> bool {
        matches!(self, Self::Unique { .. })
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unique { .. } => f.write_str("unique"),
            Self::Multiple { count, .. } => write!(f, "multiple ({count} solutions found)"),
            Self::Unsolvable { conflicts } => match conflicts.split_first() {
                None => f.write_str("unsolvable"),
                Some((first, rest)) => {
                    write!(f, "unsolvable (digit {} repeated in {}", first.digit, first.unit)?;
                    match rest.len() {
                        0 => f.write_str(")"),
                        more => write!(f, ", and {more} more)"),
                    }
                }
            },
            Self::Solved { .. } => f.write_str("solved"),
            Self::Invalid(invalid) => write!(f, "invalid ({invalid})"),
            Self::Undecided { count: 0, .. } => f.write_str("undecided"),
            Self::Undecided { count: 1, .. } => f.write_str("undecided (1 solution found)"),
            Self::Undecided { count, .. } => write!(f, "undecided ({count} solutions found)"),
        }
    }
}

/// Why there is no puzzle where one should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidPuzzle {
    /// The text could not be read as a grid. It was not sent.
    #[error(transparent)]
    Text(#[from] ParseError),
    /// The line is not the 81 characters of a grid. It was not sent.
    #[error(transparent)]
    Line(#[from] GridError),
    /// The service refused it.
    #[error("{message}")]
    Refused {
        /// What is wrong and where, counted from 1, in the service's words.
        message: String,
        /// How many characters the service received.
        length: u32,
        /// The index of the first bad character, from 0. `None` where only the length is wrong.
        position: Option<u32>,
    },
}

#[cfg(test)]
mod tests {
    use sudoku_engine::Unit;

    use super::*;

    #[test]
    fn displays_in_a_few_words() {
        let conflict = |unit| Conflict {
            digit: 5,
            unit,
            cells: vec![0, 1],
        };
        let unsolvable = |units: &[Unit]| Outcome::Unsolvable {
            conflicts: units.iter().copied().map(conflict).collect(),
        };
        let undecided = |count| Outcome::Undecided {
            solutions: vec![],
            count,
        };
        let cases = [
            (Outcome::Unique { solution: None }, "unique"),
            (
                Outcome::Multiple {
                    solutions: vec![],
                    count: 2,
                },
                "multiple (2 solutions found)",
            ),
            (Outcome::Solved { solution: None }, "solved"),
            (unsolvable(&[]), "unsolvable"),
            (
                unsolvable(&[Unit::Row(0)]),
                "unsolvable (digit 5 repeated in row 1)",
            ),
            (
                unsolvable(&[Unit::Row(0), Unit::Column(1), Unit::Box(0)]),
                "unsolvable (digit 5 repeated in row 1, and 2 more)",
            ),
            (
                Outcome::Invalid(GridError::Length { length: 3 }.into()),
                "invalid (3 cells, need 81)",
            ),
            (undecided(0), "undecided"),
            (undecided(1), "undecided (1 solution found)"),
            (undecided(7), "undecided (7 solutions found)"),
        ];
        for (outcome, expected) in cases {
            assert_eq!(outcome.to_string(), expected);
        }
    }
}
