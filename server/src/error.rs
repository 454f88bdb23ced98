//! How a call fails, and the one place where that becomes a gRPC status.

use std::collections::HashMap;
use std::time::Duration;

use sudoku_engine::GridError;
use sudoku_proto::v1::ERROR_DOMAIN;
use tonic::metadata::{MetadataMap, MetadataValue};
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
    #[error("messages may be packed with gzip, and with nothing else")]
    Encoding,
    #[error("the call's deadline passed")]
    Deadline,
    #[error("the request was not complete within {patience:?}")]
    Late { patience: Duration },
    #[error("the server has as much work as it takes at once; try again, best on another server")]
    Overloaded,
    #[error("the server is shutting down; use another one")]
    Draining,
    #[error("the call needs a token that the server knows, as authorization: Bearer TOKEN")]
    Unauthenticated,
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
            Self::Deadline | Self::Late { .. } => (Code::DeadlineExceeded, "DEADLINE"),
            Self::Overloaded => (Code::ResourceExhausted, "OVERLOADED"),
            Self::Draining => (Code::Unavailable, "DRAINING"),
            Self::Unauthenticated => (Code::Unauthenticated, "UNAUTHENTICATED"),
            // As for a method that there is none of, no reason of the contract says more than the code.
            Self::Encoding => (Code::Unimplemented, ""),
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
            | Self::Encoding
            | Self::Deadline
            | Self::Late { .. }
            | Self::Overloaded
            | Self::Draining
            | Self::Unauthenticated
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
        if self.error == Error::Encoding {
            let mut accepted = MetadataMap::new();
            accepted.insert(
                "grpc-accept-encoding",
                MetadataValue::from_static("gzip,identity"),
            );
            return Status::with_metadata(code, self.error.to_string(), accepted);
        }
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
            | Error::Encoding
            | Error::Deadline
            | Error::Late { .. }
            | Error::Draining
            | Error::Unauthenticated
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Code, reason and metadata, as the contract's table has them.
    #[track_caller]
    fn check(error: Error, code: Code, reason: &str, metadata: &[(&str, &str)]) -> ErrorDetails {
        let status = Failure::from(error).status();
        assert_eq!(status.code(), code);
        let details = status.get_error_details();
        let info = details.error_info().unwrap();
        assert_eq!(
            (info.domain.as_str(), info.reason.as_str()),
            ("sudoku.v1", reason)
        );
        let expected = metadata
            .iter()
            .map(|&(key, value)| (key.to_owned(), value.to_owned()));
        assert_eq!(info.metadata, expected.collect());
        details
    }

    #[test]
    fn an_invalid_puzzle() {
        let error = GridError::Character {
            position: 3,
            character: 'x',
            length: 7,
        };
        let metadata = [("length", "7"), ("position", "3")];
        let details = check(
            Error::InvalidPuzzle(error),
            Code::InvalidArgument,
            "INVALID_PUZZLE",
            &metadata,
        );
        let violations = &details.bad_request().unwrap().field_violations;
        assert_eq!(violations.len(), 1);
        assert_eq!(violations[0].field, "puzzle");

        let error = Error::InvalidPuzzle(GridError::Length { length: 80 });
        check(
            error,
            Code::InvalidArgument,
            "INVALID_PUZZLE",
            &[("length", "80")],
        );
    }

    #[test]
    fn an_option_out_of_range() {
        let error = Error::OptionOutOfRange {
            field: "options.time_limit",
            problem: "is wrong".to_owned(),
        };
        let details = check(error, Code::InvalidArgument, "OPTION_OUT_OF_RANGE", &[]);
        let violations = &details.bad_request().unwrap().field_violations;
        assert_eq!(violations[0].field, "options.time_limit");
        assert_eq!(violations[0].description, "is wrong");
    }

    #[test]
    fn too_much() {
        let code = Code::ResourceExhausted;
        let puzzles = Error::TooManyPuzzles {
            received: 3,
            limit: 2,
        };
        check(puzzles, code, "TOO_MANY_PUZZLES", &[("limit", "2")]);
        let bytes = Error::MessageTooLarge { limit: 9 };
        let details = check(bytes, code, "MESSAGE_TOO_LARGE", &[("limit", "9")]);
        assert!(
            details.retry_info().is_none(),
            "it would be as large the next time"
        );
    }

    #[test]
    fn an_overloaded_server_says_when_to_come_back() {
        let details = check(Error::Overloaded, Code::ResourceExhausted, "OVERLOADED", &[]);
        assert_eq!(details.retry_info().unwrap().retry_delay, Some(RETRY_DELAY));
    }

    #[test]
    fn the_end_of_calls() {
        check(Error::Deadline, Code::DeadlineExceeded, "DEADLINE", &[]);
        let patience = Duration::from_secs(30);
        check(Error::Late { patience }, Code::DeadlineExceeded, "DEADLINE", &[]);
        check(Error::Draining, Code::Unavailable, "DRAINING", &[]);
        check(Error::Internal, Code::Internal, "INTERNAL", &[]);
        check(Error::malformed("what"), Code::Internal, "INTERNAL", &[]);
    }

    #[test]
    fn no_credential() {
        let code = Code::Unauthenticated;
        check(Error::Unauthenticated, code, "UNAUTHENTICATED", &[]);
    }

    #[test]
    fn an_unknown_packing() {
        let status = Status::from(Error::Encoding);
        assert_eq!(status.code(), Code::Unimplemented);
        assert_eq!(
            status.metadata().get("grpc-accept-encoding").unwrap(),
            "gzip,identity"
        );
    }

    #[test]
    fn an_error_in_a_stream_names_the_message() {
        let failure = Failure {
            error: Error::MessageTooLarge { limit: 9 },
            message: Some(4),
        };
        let info = failure.status().get_details_error_info().unwrap();
        assert_eq!(info.metadata["message"], "4");
        assert_eq!(info.metadata["limit"], "9");
    }

    #[test]
    fn statuses_that_tonic_makes() {
        let read = |status: Status| Error::of_tonic(&status, 9);
        let large = Some(Error::MessageTooLarge { limit: 9 });
        assert_eq!(read(Status::out_of_range("large")), large);
        assert_eq!(read(Status::resource_exhausted("large when unpacked")), large);
        assert_eq!(
            read(Status::internal("no protobuf")),
            Some(Error::malformed("no protobuf"))
        );
        assert_eq!(read(Status::unimplemented("no such method")), None);
        assert_eq!(read(Status::cancelled("gone")), None);
    }

    #[test]
    fn a_long_text_is_cut() {
        let status = Status::from(Error::malformed(&"x".repeat(100_000)));
        assert!(status.message().len() < 1_000);
    }
}
