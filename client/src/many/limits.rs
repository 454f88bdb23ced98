//! How many puzzles a message may hold.

use std::sync::{Mutex, PoisonError};

use crate::error::Reason;
use crate::{Error, ServerInfo, SolveOptions, wire};

/// The limits of a server that bear on the size of a message. By default those of the contract.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    puzzles: usize,
    bytes: usize,
    solutions: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            puzzles: 2_048,
            bytes: 512 << 10,
            solutions: 10_000,
        }
    }
}

impl From<&ServerInfo> for Limits {
    fn from(info: &ServerInfo) -> Self {
        // Larger messages than the default gain nothing more, and their replies could be longer than is accepted.
        Self {
            puzzles: Self::default().puzzles.min(info.max_puzzles_per_message as usize),
            bytes: info.max_message_bytes as usize,
            solutions: info.max_solution_limit as usize,
        }
    }
}

impl Limits {
    /// The most puzzles that a message with these options may hold. At least 1: what is not allowed even then, the
    /// server says.
    pub(crate) fn batch(&self, options: &SolveOptions) -> usize {
        let by_bytes = self.bytes.saturating_sub(wire::OPTIONS_BYTES) / wire::PUZZLE_BYTES;
        let by_solutions = match options.solution_limit {
            0..=2 => usize::MAX,
            limit => self.solutions / limit as usize,
        };
        self.puzzles.min(by_bytes).min(by_solutions).max(1)
    }
}

/// The limits once they are known, shared by all clones of a client.
#[derive(Debug, Default)]
pub(crate) struct LimitsCache(Mutex<Option<Limits>>);

impl LimitsCache {
    pub(crate) fn get(&self) -> Option<Limits> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set(&self, limits: Limits) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(limits);
    }

    /// Forgets the limits if `error` says that they no longer hold, as after a restart with smaller ones.
    pub(crate) fn heed(&self, error: &Error) {
        if let Some(Reason::TooManyPuzzles | Reason::MessageTooLarge | Reason::OptionOutOfRange) =
            error.reason()
        {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(puzzles: u32, bytes: u32, solutions: u32) -> ServerInfo {
        ServerInfo {
            version: "0.1.0".to_owned(),
            max_puzzles_per_message: puzzles,
            max_message_bytes: bytes,
            max_solution_limit: solutions,
            max_time_limit: None,
        }
    }

    #[test]
    fn the_tightest_limit_decides() {
        let limited = |limit| SolveOptions::new().solution_limit(limit);
        let cases = [
            (info(2_048, 524_288, 10_000), limited(2), 2_048),
            (info(100, 524_288, 10_000), limited(2), 100),
            (info(1_000_000, 524_288, 10_000), limited(2), 2_048),
            (info(2_048, 1_000, 10_000), limited(2), 11),
            (info(2_048, 524_288, 10_000), limited(1), 2_048),
            (info(2_048, 524_288, 10_000), limited(3), 2_048),
            (info(2_048, 524_288, 10_000), limited(6), 1_666),
            (info(2_048, 524_288, 10_000), limited(10_000), 1),
            (info(2_048, 524_288, 10_000), limited(u32::MAX), 1),
            (info(0, 0, 0), limited(3), 1),
        ];
        for (info, options, expected) in cases {
            assert_eq!(
                Limits::from(&info).batch(&options),
                expected,
                "{info:?} {options:?}"
            );
        }
    }

    #[test]
    fn a_full_message_fits() {
        use sudoku_proto::wire::{Encode, PuzzleWriter};

        let options = SolveOptions {
            solution_limit: u32::MAX,
            time_limit: Some(std::time::Duration::MAX),
            omit_solutions: true,
        };
        for puzzles in [1, 11, 2_048] {
            let mut message = PuzzleWriter::default();
            (0..puzzles).for_each(|_| message.push(&[b'.'; 81]));
            wire::set_options(&mut message, &options);
            assert!(message.encoded_len() <= wire::OPTIONS_BYTES + puzzles * wire::PUZZLE_BYTES);
        }
    }
}
