//! The outcomes of a batch.

use std::iter::Peekable;
use std::vec;

use sudoku_proto::v1::SolveResult;

use crate::error::ProtocolError;
use crate::{InvalidPuzzle, Outcome, SolveOptions, wire};

/// Puts what the server answered to a batch, and what in it was not sent, back into the order of the batch.
#[derive(Debug)]
pub(super) struct Answers {
    options: SolveOptions,
    results: vec::IntoIter<SolveResult>,
    invalid: Peekable<vec::IntoIter<(usize, InvalidPuzzle)>>,
    next: usize,
}

impl Answers {
    pub(super) fn new(
        options: SolveOptions,
        results: Vec<SolveResult>,
        invalid: Vec<(usize, InvalidPuzzle)>,
    ) -> Self {
        Self {
            options,
            results: results.into_iter(),
            invalid: invalid.into_iter().peekable(),
            next: 0,
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
        Some(wire::outcome(self.results.next()?, &self.options))
    }
}
