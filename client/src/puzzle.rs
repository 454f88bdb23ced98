//! What goes into a stream of puzzles.

use sudoku_engine::{Grid, GridError, ParseError};

use crate::InvalidPuzzle;

/// An item of a stream of puzzles: a grid, or the error that stands where one should be.
///
/// It is made of a [`Grid`], or of the result of reading one, so that a stream of what a reader returns can be given to
/// [`solve_many`](crate::SudokuClient::solve_many) as it is. An error is not sent: it comes out in its place as
/// [`Outcome::Invalid`](crate::Outcome::Invalid).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Puzzle(pub(crate) Result<Grid, InvalidPuzzle>);

impl From<Grid> for Puzzle {
    fn from(grid: Grid) -> Self {
        Self(Ok(grid))
    }
}

impl From<&Grid> for Puzzle {
    fn from(grid: &Grid) -> Self {
        Self(Ok(*grid))
    }
}

impl From<Result<Grid, ParseError>> for Puzzle {
    fn from(read: Result<Grid, ParseError>) -> Self {
        Self(read.map_err(InvalidPuzzle::from))
    }
}

impl From<Result<Grid, GridError>> for Puzzle {
    fn from(read: Result<Grid, GridError>) -> Self {
        Self(read.map_err(InvalidPuzzle::from))
    }
}
