//! Outcomes in words.

use sudoku_client::Outcome;
use sudoku_engine::Conflict;

use super::format::Answer;

/// The name of an outcome, as in `unique`.
pub fn name(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Unique { .. } => "unique",
        Outcome::Multiple { .. } => "multiple",
        Outcome::Unsolvable { .. } => "unsolvable",
        Outcome::Solved { .. } => "solved",
        Outcome::Invalid(_) => "invalid",
        _ => "undecided",
    }
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
    Some(match answer.source {
        Some(source) => format!("{}: {}", one_line(source), one_line(&error.to_string())),
        None => one_line(&error.to_string()),
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
        .map(|cell| format!(" r{}c{}", cell / 9 + 1, cell % 9 + 1));
    format!(
        "{} repeats {} at{}",
        conflict.unit,
        conflict.digit,
        cells.collect::<String>()
    )
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
