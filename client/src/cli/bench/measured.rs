//! What was measured.

use std::collections::BTreeMap;
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use sudoku_client::{Error, Outcome};

use super::schedule::Start;
use crate::cli::explain::Kind;

/// The longest time that is told from longer ones, and how exact times are: three digits.
const LONGEST: Duration = Duration::from_secs(3_600);
const DIGITS: u8 = 3;

/// How many times that is a histogram: those who send at the same time seldom wait for each other.
const SHARDS: usize = 8;

/// What has been measured so far.
#[derive(Debug)]
pub struct Measured {
    answers: [Mutex<Answers>; SHARDS],
    errors: Mutex<BTreeMap<String, u64>>,
}

/// Puzzles that were answered, and calls that were not.
#[derive(Debug, Clone)]
pub struct Totals {
    pub answers: Answers,
    /// How many puzzles were not answered, by what happened.
    pub errors: BTreeMap<String, u64>,
}

/// Answers, and how long they took, in nanoseconds.
#[derive(Debug, Clone)]
pub struct Answers {
    /// From when each puzzle was due.
    pub latency: Histogram<u64>,
    /// From when each was sent.
    pub service_time: Histogram<u64>,
    /// A number for each kind of outcome, in the order of [`Kind::ALL`].
    pub outcomes: [u64; Kind::ALL.len()],
}

impl Default for Answers {
    fn default() -> Self {
        let empty = || {
            // These bounds are ones that it takes.
            Histogram::new_with_bounds(1, LONGEST.as_nanos() as u64, DIGITS)
                .expect("an hour in nanoseconds has room in a histogram")
        };
        Self {
            latency: empty(),
            service_time: empty(),
            outcomes: [0; Kind::ALL.len()],
        }
    }
}

impl Default for Measured {
    fn default() -> Self {
        Self {
            answers: std::array::from_fn(|_| Mutex::default()),
            errors: Mutex::default(),
        }
    }
}

impl Measured {
    /// Notes an answer that has come now, to sender `index`.
    pub fn answered(&self, index: usize, start: Start, outcome: &Outcome) {
        let now = Instant::now();
        let mut answers = lock(&self.answers[index % SHARDS]);
        answers.latency.saturating_record(nanoseconds(now - start.due));
        answers
            .service_time
            .saturating_record(nanoseconds(now - start.sent));
        answers.outcomes[Kind::of(outcome) as usize] += 1;
    }

    /// Notes that a puzzle got no answer.
    pub fn failed(&self, error: &Error) {
        self.failed_with(error, 1);
    }

    /// Notes that so many puzzles got no answer; one at least, since something has failed.
    pub fn failed_with(&self, error: &Error, puzzles: u64) {
        *lock(&self.errors).entry(label(error)).or_default() += puzzles.max(1);
    }

    /// All of it.
    pub fn take(&self) -> Totals {
        let mut all = Answers::default();
        for answers in &self.answers {
            let answers = mem::take(&mut *lock(answers));
            // All have the same bounds.
            all.latency += answers.latency;
            all.service_time += answers.service_time;
            for (sum, count) in all.outcomes.iter_mut().zip(answers.outcomes) {
                *sum += count;
            }
        }
        Totals {
            answers: all,
            errors: mem::take(&mut *lock(&self.errors)),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// What happened, in few words: the code, and the reason where the service gave one.
fn label(error: &Error) -> String {
    match error.root() {
        Error::DeadlineExceeded => "DEADLINE_EXCEEDED".to_owned(),
        Error::Service(error) => {
            let code = code_name(&format!("{:?}", error.code()));
            match &error.reason {
                Some(reason) if reason.as_str() != code => format!("{code} ({reason})"),
                _ => code,
            }
        }
        Error::Transport(_) => "no connection".to_owned(),
        Error::Protocol(_) => "broken contract".to_owned(),
        other => other.to_string(),
    }
}

/// The name of a status code as gRPC has it, as in `RESOURCE_EXHAUSTED`.
fn code_name(name: &str) -> String {
    let mut text = String::new();
    for (index, letter) in name.chars().enumerate() {
        if letter.is_ascii_uppercase() && index > 0 {
            text.push('_');
        }
        text.push(letter.to_ascii_uppercase());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_named_as_grpc_names_them() {
        assert_eq!(code_name("ResourceExhausted"), "RESOURCE_EXHAUSTED");
        assert_eq!(code_name("Ok"), "OK");
    }

    #[test]
    fn what_was_measured_by_all_is_added_up() {
        let measured = Measured::default();
        let now = Instant::now();
        let start = Start {
            due: now - Duration::from_secs(2),
            sent: now,
        };
        for sender in 0..20 {
            measured.answered(sender, start, &Outcome::Unique { solution: None });
            measured.failed(&Error::DeadlineExceeded);
        }
        let totals = measured.take();
        assert_eq!(totals.answers.latency.len(), 20);
        assert!(totals.answers.latency.min() >= 1_990_000_000);
        assert!(totals.answers.service_time.max() < totals.answers.latency.min());
        assert_eq!(totals.answers.outcomes[Kind::Unique as usize], 20);
        assert_eq!(totals.errors["DEADLINE_EXCEEDED"], 20);
    }
}
