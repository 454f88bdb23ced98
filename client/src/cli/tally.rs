//! How a batch went.

use std::fmt;
use std::time::Duration;

use sudoku_client::Outcome;

use super::exit::Status;
use super::feed::is_barren;
use super::format::Answer;

/// How many puzzles came out how.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    unique: u64,
    multiple: u64,
    unsolvable: u64,
    solved: u64,
    invalid: u64,
    undecided: u64,
    /// Those of the invalid ones that are whole sources without a puzzle.
    barren: u64,
}

impl Tally {
    /// Counts one more.
    pub fn add(&mut self, answer: &Answer<'_>) {
        self.barren += u64::from(answer.entry.as_ref().is_err_and(is_barren));
        *match answer.outcome {
            Outcome::Unique { .. } => &mut self.unique,
            Outcome::Multiple { .. } => &mut self.multiple,
            Outcome::Unsolvable { .. } => &mut self.unsolvable,
            Outcome::Solved { .. } => &mut self.solved,
            Outcome::Invalid(_) => &mut self.invalid,
            _ => &mut self.undecided,
        } += 1;
    }

    /// All puzzles.
    pub fn total(&self) -> u64 {
        self.unique + self.multiple + self.unsolvable + self.solved + self.invalid + self.undecided
    }

    /// The exit status that these outcomes call for.
    pub fn status(&self) -> Status {
        if self.barren == self.total() {
            return Status::Usage;
        }
        if self.unique + self.solved == self.total() {
            return Status::Solved;
        }
        Status::NotAllSolved
    }

    /// One line that says how many came out how, and how fast.
    pub fn summary(&self, elapsed: Duration) -> String {
        let rate = self.total() as f64 / elapsed.as_secs_f64().max(1e-9);
        format!("{} puzzles: {self}; {rate:.0} puzzles a second", self.total())
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // With a limit of 1 nothing is ever found to be unique or multiple.
        if self.solved > 0 {
            write!(f, "{} solved", self.solved)?;
        } else {
            write!(f, "{} unique, {} multiple", self.unique, self.multiple)?;
        }
        let Self {
            unsolvable,
            invalid,
            undecided,
            ..
        } = self;
        write!(
            f,
            ", {unsolvable} unsolvable, {invalid} invalid, {undecided} undecided"
        )
    }
}
