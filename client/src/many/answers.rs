//! The outcomes of a batch.

use std::iter::Peekable;
use std::vec;

use sudoku_proto::wire::Results;

use crate::error::ProtocolError;
use crate::{InvalidPuzzle, Outcome, SolveOptions, wire};

/// Puts what the server answered to a batch, and what in it was not sent, back into the order of the batch.
#[derive(Debug)]
pub(super) struct Answers {
    options: SolveOptions,
    results: Results,
    invalid: Peekable<vec::IntoIter<(usize, InvalidPuzzle)>>,
    /// How many outcomes were handed out, and how many of them are results.
    next: usize,
    next_result: usize,
}

impl Answers {
    pub(super) fn new(options: SolveOptions, results: Results, invalid: Vec<(usize, InvalidPuzzle)>) -> Self {
        Self {
            options,
            results,
            invalid: invalid.into_iter().peekable(),
            next: 0,
            next_result: 0,
        }
    }
}

impl Iterator for Answers {
    type Item = Result<Outcome, ProtocolError>;

    fn next(&mut self) -> Option<Self::Item> {
        let at = self.next;
        self.next += 1;
        if let Some((_, invalid)) = self.invalid.next_if(|&(index, _)| index == at) {
            return Some(Ok(Outcome::Invalid(invalid)));
        }
        let result = self.results.get(self.next_result)?;
        self.next_result += 1;
        Some(wire::outcome(result, &self.options))
    }
}
