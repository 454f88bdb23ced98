//! How a batch went.

use std::fmt;
use std::time::Duration;

use sudoku_client::Outcome;

use super::entry::Entry;
use super::exit::Status;
use super::explain::Kind;
use super::format::Answer;

/// How many puzzles came out how.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// A number for each kind, in the order of [`Kind::ALL`].
    counts: [u64; Kind::ALL.len()],
    /// Those of the invalid ones that are whole sources without a puzzle.
    barren: u64,
    /// Puzzles with as many solutions as were asked for, perhaps more.
    beyond_limit: u64,
    /// Puzzles that an earlier run has answered.
    earlier: u64,
}

impl Tally {
    /// Counts one more.
    pub fn add(&mut self, answer: &Answer<'_>) {
        self.count_up(Kind::of(answer.outcome), answer.entry);
        let is_full = matches!(answer.outcome, Outcome::Multiple { count, .. } if *count >= answer.limit);
        self.beyond_limit += u64::from(is_full);
    }

    /// Counts one more, which an earlier run has answered, perhaps with as many solutions as were asked for.
    pub fn add_earlier(&mut self, kind: Kind, is_full: bool, entry: &Entry) {
        self.count_up(kind, entry);
        self.beyond_limit += u64::from(is_full);
        self.earlier += 1;
    }

    fn count_up(&mut self, kind: Kind, entry: &Entry) {
        self.counts[kind as usize] += 1;
        self.barren += u64::from(entry.as_ref().is_err_and(|slip| slip.is_barren()));
    }

    /// All puzzles.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Puzzles of which there may be more solutions than were asked for.
    pub fn beyond_limit(&self) -> u64 {
        self.beyond_limit
    }

    /// The exit status that these outcomes call for.
    pub fn status(&self) -> Status {
        if self.barren == self.total() {
            return Status::Usage;
        }
        if self.count(Kind::Unique) + self.count(Kind::Solved) == self.total() {
            return Status::Solved;
        }
        Status::NotAllSolved
    }

    /// One line that says how many came out how, and how fast.
    pub fn summary(&self, elapsed: Duration) -> String {
        let rate = self.rate(elapsed);
        format!("{} puzzles: {self}; {rate:.0} puzzles a second", self.total())
    }

    /// The same as a JSON object: the puzzles, each kind by its name, seconds, and puzzles a second.
    pub fn summary_json(&self, elapsed: Duration) -> String {
        let mut object = serde_json::Map::new();
        object.insert("puzzles".into(), self.total().into());
        for kind in Kind::ALL {
            object.insert(kind.name().into(), self.count(kind).into());
        }
        object.insert("seconds".into(), elapsed.as_secs_f64().into());
        object.insert("puzzles_per_second".into(), self.rate(elapsed).round().into());
        serde_json::Value::Object(object).to_string()
    }

    fn count(&self, kind: Kind) -> u64 {
        self.counts[kind as usize]
    }

    fn rate(&self, elapsed: Duration) -> f64 {
        (self.total() - self.earlier) as f64 / elapsed.as_secs_f64().max(1e-9)
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // With a limit of 1 nothing is ever found to be unique or multiple.
        let shown = |kind: &Kind| match kind {
            Kind::Unique | Kind::Multiple => self.count(Kind::Solved) == 0,
            Kind::Solved => self.count(Kind::Solved) > 0,
            _ => true,
        };
        for (index, kind) in Kind::ALL.into_iter().filter(shown).enumerate() {
            let before = if index > 0 { ", " } else { "" };
            write!(f, "{before}{} {}", self.count(kind), kind.name())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use sudoku_engine::Grid;

    use super::*;
    use crate::cli::entry::Slip;

    fn tally(answers: &[(Entry, Outcome)]) -> Tally {
        let mut tally = Tally::default();
        for (number, (entry, outcome)) in answers.iter().enumerate() {
            tally.add(&Answer {
                number: number as u64 + 1,
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
        (
            Err(Box::new(Slip::from(error.clone()))),
            Outcome::Invalid(error.into()),
        )
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

    #[test]
    fn a_json_summary_has_a_number_for_each_kind() {
        let tally = tally(&[solved(Outcome::Unique { solution: None }), invalid("12")]);
        let summary: serde_json::Value =
            serde_json::from_str(&tally.summary_json(Duration::from_millis(500))).unwrap();
        let expected = serde_json::json!({
            "puzzles": 2, "unique": 1, "multiple": 0, "unsolvable": 0, "solved": 0, "invalid": 1, "undecided": 0,
            "seconds": 0.5, "puzzles_per_second": 4.0,
        });
        assert_eq!(summary, expected);
    }

    #[test]
    fn puzzles_with_as_many_solutions_as_asked_for_are_counted() {
        let multiple = |count| {
            solved(Outcome::Multiple {
                solutions: Vec::new(),
                count,
            })
        };
        assert_eq!(tally(&[multiple(2), multiple(2)]).beyond_limit(), 2);
        assert_eq!(
            tally(&[solved(Outcome::Unique { solution: None })]).beyond_limit(),
            0
        );
    }
}
