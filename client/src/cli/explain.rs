//! Outcomes in words.

use clap::ValueEnum;
use sudoku_client::Outcome;
use sudoku_engine::{Conflict, Grid};

use super::draw::Ink;
use super::format::Answer;

/// The kinds of outcomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Exactly one solution
    Unique,
    /// Two solutions or more
    Multiple,
    /// A solution, with --limit 1
    Solved,
    /// No solution
    Unsolvable,
    /// Not a puzzle
    Invalid,
    /// Out of time
    Undecided,
}

impl Kind {
    /// All kinds, in the order in which they are counted up.
    pub const ALL: [Self; 6] = [
        Self::Unique,
        Self::Multiple,
        Self::Solved,
        Self::Unsolvable,
        Self::Invalid,
        Self::Undecided,
    ];

    pub fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Unique { .. } => Self::Unique,
            Outcome::Multiple { .. } => Self::Multiple,
            Outcome::Unsolvable { .. } => Self::Unsolvable,
            Outcome::Solved { .. } => Self::Solved,
            Outcome::Invalid(_) => Self::Invalid,
            _ => Self::Undecided,
        }
    }

    /// The kind of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Its name, as in `unique`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unique => "unique",
            Self::Multiple => "multiple",
            Self::Unsolvable => "unsolvable",
            Self::Solved => "solved",
            Self::Invalid => "invalid",
            Self::Undecided => "undecided",
        }
    }
}

/// The name of an outcome, as in `unique`.
pub fn name(outcome: &Outcome) -> &'static str {
    Kind::of(outcome).name()
}

/// Why a puzzle has not the one solution that was asked for, in one line; `None` if it has.
pub fn shortfall(answer: &Answer<'_>) -> Option<String> {
    let reason = match answer.outcome {
        Outcome::Unique { .. } | Outcome::Solved { .. } => return None,
        Outcome::Multiple { count, .. } if *count < answer.limit => format!("exactly {count} solutions"),
        Outcome::Multiple { count, .. } => format!("{count} or more solutions"),
        Outcome::Unsolvable { conflicts } if conflicts.is_empty() => "no solution".to_owned(),
        Outcome::Unsolvable { conflicts } => self::conflicts(conflicts),
        outcome => match error(answer) {
            Some(error) => error,
            None => match outcome.solution_count() {
                0 => "out of time, no solution found so far".to_owned(),
                1 => "out of time, 1 solution found so far".to_owned(),
                found => format!("out of time, {found} solutions found so far"),
            },
        },
    };
    Some(format!("{}: {reason}", name(answer.outcome)))
}

/// What is wrong with something that is no puzzle, and where it stands; `None` for a puzzle.
pub fn error(answer: &Answer<'_>) -> Option<String> {
    let Outcome::Invalid(error) = answer.outcome else {
        return None;
    };
    let error = match answer.entry {
        Err(slip) => slip.to_string(),
        // The service refused what reads as a puzzle here.
        Ok(_) => error.to_string(),
    };
    Some(match answer.source {
        Some(source) => format!("{}: {}", one_line(source), one_line(&error)),
        None => one_line(&error),
    })
}

/// Every unit that repeats a digit, as in `row 5 repeats 2 at r5c1 r5c9; box 4 repeats 2 at r5c1 r6c2`. Empty for none.
pub fn conflicts(conflicts: &[Conflict]) -> String {
    let texts: Vec<String> = conflicts.iter().map(conflict).collect();
    texts.join("; ")
}

fn conflict(conflict: &Conflict) -> String {
    let cells = conflict
        .cells
        .iter()
        .map(|&index| format!(" {}", cell(index.into())));
    format!(
        "{} repeats {} at{}",
        conflict.unit,
        conflict.digit,
        cells.collect::<String>()
    )
}

/// The name of a cell, 0 to 80 row by row, as in `r5c1`.
pub fn cell(cell: usize) -> String {
    format!("r{}c{}", cell / 9 + 1, cell % 9 + 1)
}

/// What a cell of a puzzle without a solution is drawn with.
pub fn ink(puzzle: &Grid, conflicts: &[Conflict], cell: usize) -> Ink {
    let holds = |conflict: &Conflict| conflict.cells.iter().any(|&other| usize::from(other) == cell);
    match puzzle.get(cell) {
        None => Ink::Blank,
        Some(_) if conflicts.iter().any(holds) => Ink::Marked,
        Some(_) => Ink::Clue,
    }
}

/// A text from outside with its control characters escaped, so that it can neither begin another line nor steer a
/// terminal.
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use sudoku_engine::Unit;

    use super::*;

    #[track_caller]
    fn check(outcome: Outcome, limit: u32, expected: Option<&str>) {
        let answer = Answer {
            number: 1,
            entry: &Ok(Grid::EMPTY),
            source: Some("puzzles.txt"),
            outcome: &outcome,
            limit,
        };
        assert_eq!(shortfall(&answer).as_deref(), expected);
    }

    #[test]
    fn nothing_falls_short_of_a_solution_that_was_asked_for() {
        check(Outcome::Unique { solution: None }, 2, None);
        check(Outcome::Solved { solution: None }, 1, None);
    }

    #[test]
    fn a_count_below_the_limit_is_exact() {
        let multiple = |count| Outcome::Multiple {
            solutions: Vec::new(),
            count,
        };
        check(multiple(2), 2, Some("multiple: 2 or more solutions"));
        check(multiple(999), 1_000, Some("multiple: exactly 999 solutions"));
        check(multiple(1_000), 1_000, Some("multiple: 1000 or more solutions"));
    }

    #[test]
    fn every_conflict_is_listed() {
        let conflict = |unit, cells: &[u8]| Conflict {
            digit: 2,
            unit,
            cells: cells.to_vec(),
        };
        let conflicts = vec![
            conflict(Unit::Row(4), &[36, 44]),
            conflict(Unit::Box(3), &[36, 46, 47]),
        ];
        let expected = "unsolvable: row 5 repeats 2 at r5c1 r5c9; box 4 repeats 2 at r5c1 r6c2 r6c3";
        check(Outcome::Unsolvable { conflicts }, 2, Some(expected));
        let conflicts = Vec::new();
        check(
            Outcome::Unsolvable { conflicts },
            2,
            Some("unsolvable: no solution"),
        );
    }

    #[test]
    fn undecided_tells_what_was_found() {
        let undecided = |count| Outcome::Undecided {
            solutions: Vec::new(),
            count,
        };
        check(
            undecided(0),
            2,
            Some("undecided: out of time, no solution found so far"),
        );
        check(
            undecided(1),
            2,
            Some("undecided: out of time, 1 solution found so far"),
        );
        check(
            undecided(7),
            9,
            Some("undecided: out of time, 7 solutions found so far"),
        );
    }

    #[test]
    fn an_error_names_its_source() {
        let error = "nonsense".parse::<Grid>().unwrap_err();
        let expected = format!("invalid: puzzles.txt: {error}");
        check(Outcome::Invalid(error.into()), 2, Some(&expected));
    }

    #[test]
    fn control_characters_are_shown_and_not_obeyed() {
        assert_eq!(one_line("a\nb\u{1b}[31mc é"), "a\\nb\\u{1b}[31mc é");
    }
}
