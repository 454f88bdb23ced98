//! How a call fails, and the one place where that becomes a gRPC status.

use std::collections::HashMap;
use std::time::Duration;

use sudoku_engine::GridError;
use sudoku_proto::v1::ERROR_DOMAIN;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

/// Why a call ended without the answer that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Error {
    #[error("puzzle: {0}")]
    InvalidPuzzle(GridError),
    #[error("{field} {problem}")]
    OptionOutOfRange { field: &'static str, problem: String },
    #[error("{received} puzzles in a message; at most {limit} are taken")]
    TooManyPuzzles { received: usize, limit: u32 },
    #[error("the message has more than the {limit} bytes that are taken")]
    MessageTooLarge { limit: u32 },
    #[error("the call's deadline passed")]
    Deadline,
    #[error("the server has as much work as it takes at once; try again, best on another server")]
    Overloaded,
    #[error("the server is shutting down; use another one")]
    Draining,
    #[error("the request is not what the contract describes: {0}")]
    Malformed(String),
    #[error("internal error")]
    Internal,
}

/// An error, and which message of a stream it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub error: Error,
    /// The index of the message from 0, where a message of a stream is at fault.
    pub message: Option<u64>,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { error, message: None }
    }
}

/// How long an overloaded server asks clients to stay away.
const RETRY_DELAY: Duration = Duration::from_millis(100);

/// Longer texts would let headers grow past what clients take.
const MALFORMED_CHARS: usize = 200;

impl Error {
    /// Reads a status that tonic made itself, because a request never became a message.
    ///
    /// `limit` is the size limit in force where the request came in. Gives nothing for a status that means what it says
    /// and is no error of this service: an unknown method, an unknown encoding, a client that went away.
    pub fn of_tonic(status: &Status, limit: u32) -> Option<Self> {
        match status.code() {
            // The second when it grew too large while it was unpacked.
            Code::OutOfRange | Code::ResourceExhausted => Some(Self::MessageTooLarge { limit }),
            Code::Internal => Some(Self::malformed(status.message())),
            _ => None,
        }
    }

    /// A request that breaks the protocol, with what is wrong with it.
    pub fn malformed(problem: &str) -> Self {
        Self::Malformed(problem.chars().take(MALFORMED_CHARS).collect())
    }

    fn code_and_reason(&self) -> (Code, &'static str) {
        match self {
            Self::InvalidPuzzle(_) => (Code::InvalidArgument, "INVALID_PUZZLE"),
            Self::OptionOutOfRange { .. } => (Code::InvalidArgument, "OPTION_OUT_OF_RANGE"),
            Self::TooManyPuzzles { .. } => (Code::ResourceExhausted, "TOO_MANY_PUZZLES"),
            Self::MessageTooLarge { .. } => (Code::ResourceExhausted, "MESSAGE_TOO_LARGE"),
            Self::Deadline => (Code::DeadlineExceeded, "DEADLINE"),
            Self::Overloaded => (Code::ResourceExhausted, "OVERLOADED"),
            Self::Draining => (Code::Unavailable, "DRAINING"),
            // gRPC servers in other languages answer bytes that are no message with INTERNAL too.
            Self::Malformed(_) | Self::Internal => (Code::Internal, "INTERNAL"),
        }
    }

    fn metadata(&self) -> HashMap<String, String> {
        let entries = match self {
            Self::InvalidPuzzle(GridError::Character { position, length, .. }) => {
                vec![("length", length.to_string()), ("position", position.to_string())]
            }
            Self::InvalidPuzzle(GridError::Length { length }) => vec![("length", length.to_string())],
            Self::TooManyPuzzles { limit, .. } | Self::MessageTooLarge { limit } => {
                vec![("limit", limit.to_string())]
            }
            Self::OptionOutOfRange { .. }
            | Self::Deadline
            | Self::Overloaded
            | Self::Draining
            | Self::Malformed(_)
            | Self::Internal => Vec::new(),
        };
        entries
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect()
    }
}

impl Failure {
    /// The status that says so: the only place that makes one.
    pub fn status(&self) -> Status {
        let (code, reason) = self.error.code_and_reason();
        let mut metadata = self.error.metadata();
        if let Some(message) = self.message {
            metadata.insert("message".to_owned(), message.to_string());
        }
        let mut details = ErrorDetails::with_error_info(reason, ERROR_DOMAIN, metadata);
        match &self.error {
            Error::InvalidPuzzle(error) => {
                details.add_bad_request_violation("puzzle", error.to_string());
            }
            Error::OptionOutOfRange { field, problem } => {
                details.add_bad_request_violation(*field, problem);
            }
            Error::Overloaded => {
                details.set_retry_info(Some(RETRY_DELAY));
            }
            Error::TooManyPuzzles { .. }
            | Error::MessageTooLarge { .. }
            | Error::Deadline
            | Error::Draining
            | Error::Malformed(_)
            | Error::Internal => {}
        }
        Status::with_error_details(code, self.error.to_string(), details)
    }
}

impl From<Error> for Status {
    fn from(error: Error) -> Self {
        Failure::from(error).status()
    }
}
