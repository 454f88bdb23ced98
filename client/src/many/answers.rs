//! The outcomes of a batch.

use std::vec;

use sudoku_proto::wire::Results;

use crate::error::ProtocolError;
use crate::{InvalidPuzzle, Outcome, SolveOptions, wire};

/// Puts what the server answered to a batch, and what in it was not sent, back into the order of the batch.
#[derive(Debug)]
pub(super) struct Answers {
    options: SolveOptions,
    results: Results,
    invalid: vec::IntoIter<(usize, InvalidPuzzle)>,
    /// How many outcomes were handed out, and how many of them are results.
    next: usize,
    next_result: usize,
}

impl Answers {
    pub(super) fn new(options: SolveOptions, results: Results, invalid: Vec<(usize, InvalidPuzzle)>) -> Self {
        Self {
            options,
            results,
            invalid: invalid.into_iter(),
            next: 0,
            next_result: 0,
        }
    }

    /// The next outcome, if there is one and nothing is wrong with it.
    #[inline(always)]
    pub(super) fn next_good(&mut self) -> Option<Outcome> {
        if self.is_invalid_next() {
            return self.take_invalid();
        }
        let found = self.results.get(self.next_result)?;
        let outcome = match wire::unique(&found, &self.options) {
            Some(unique) => unique,
            None => wire::outcome(found, &self.options).ok()?,
        };
        self.next += 1;
        self.next_result += 1;
        Some(outcome)
    }

    #[inline(always)]
    fn is_invalid_next(&self) -> bool {
        let next = self.invalid.as_slice().first();
        next.is_some_and(|(index, _)| *index == self.next)
    }

    #[cold]
    fn take_invalid(&mut self) -> Option<Outcome> {
        let (_, invalid) = self.invalid.next()?;
        self.next += 1;
        Some(Outcome::Invalid(invalid))
    }

    /// What is wrong with the next outcome. `None` where there is none.
    #[cold]
    pub(super) fn fault(&self) -> Option<ProtocolError> {
        wire::outcome(self.results.get(self.next_result)?, &self.options).err()
    }
}
