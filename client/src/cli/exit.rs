//! Exit statuses.

use std::process::ExitCode;

use sudoku_client::{Error, Reason};

/// How a command ended, for the shell. Where several apply, the highest counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// Every puzzle has what was asked for: exactly one solution, or with `--limit 1` a solution.
    Solved = 0,
    /// Some puzzles have not: multiple, unsolvable, invalid or undecided.
    NotAllSolved = 1,
    /// Wrong usage, or an input or output that cannot be read or written. No puzzle at all is among it.
    Usage = 2,
    /// The service could not do it.
    Service = 3,
    /// Ended by Ctrl-C: 128 and the number of the signal, as shells have it for programs that do not wait for signals.
    Interrupted = 130,
    /// Ended by SIGTERM.
    Terminated = 143,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(status as u8)
    }
}

/// The exit status for an error: [`Status::Service`] for a service that could not be reached or failed, but
/// [`Status::Usage`] for one that was asked for what it does not offer, and for everything else.
pub fn status_of(error: &anyhow::Error) -> Status {
    match error.downcast_ref::<Error>() {
        Some(error) if !is_usage(error) => Status::Service,
        _ => Status::Usage,
    }
}

fn is_usage(error: &Error) -> bool {
    let is_of_settings = matches!(
        error.root(),
        Error::Endpoint { .. } | Error::TokenInTheOpen { .. } | Error::Config(_)
    );
    is_of_settings || error.reason() == Some(&Reason::OptionOutOfRange)
}
