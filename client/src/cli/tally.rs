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

#[cfg(test)]
mod tests {
    use sudoku_engine::Grid;

    use super::*;
    use crate::cli::feed::Entry;

    fn tally(answers: &[(Entry, Outcome)]) -> Tally {
        let mut tally = Tally::default();
        for (entry, outcome) in answers {
            tally.add(&Answer {
                entry,
                source: None,
                outcome,
                limit: 2,
            });
        }
        tally
    }

    fn solved(outcome: Outcome) -> (Entry, Outcome) {
        (Ok(Grid::EMPTY), outcome)
    }

    fn invalid(text: &str) -> (Entry, Outcome) {
        let error = text.parse::<Grid>().unwrap_err();
        (Err(error.clone()), Outcome::Invalid(error.into()))
    }

    #[test]
    fn a_summary_counts_each_kind() {
        let unsolvable = Outcome::Unsolvable {
            conflicts: Vec::new(),
        };
        let unique = || solved(Outcome::Unique { solution: None });
        let tally = tally(&[unique(), solved(unsolvable), unique(), invalid("12")]);
        let expected =
            "4 puzzles: 2 unique, 0 multiple, 1 unsolvable, 1 invalid, 0 undecided; 8 puzzles a second";
        assert_eq!(tally.summary(Duration::from_millis(500)), expected);
        assert_eq!(tally.status(), Status::NotAllSolved);
    }

    #[test]
    fn a_limit_of_1_counts_the_solved() {
        let tally = tally(&[solved(Outcome::Solved { solution: None })]);
        assert_eq!(
            tally.to_string(),
            "1 solved, 0 unsolvable, 0 invalid, 0 undecided"
        );
        assert_eq!(tally.status(), Status::Solved);
    }

    #[test]
    fn sources_without_a_puzzle_are_no_puzzles() {
        let nothing = || invalid("# nothing");
        assert_eq!(tally(&[nothing(), nothing()]).status(), Status::Usage);
        let unique = solved(Outcome::Unique { solution: None });
        assert_eq!(tally(&[nothing(), unique]).status(), Status::NotAllSolved);
    }
}
