//! What can go wrong with a call.

use std::collections::BTreeMap;
use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::fault::Fault;

/// Why a call failed.
///
/// What the service found out about a puzzle, even that it is none, is an [`Outcome`](crate::Outcome) and no error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The endpoint is not a URI that this client can connect to.
    #[error("{endpoint:?} is not an endpoint")]
    Endpoint {
        /// The text that was given.
        endpoint: String,
        /// What is wrong with it.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// The client has a token, which would travel to this endpoint unencrypted.
    #[error("the token would travel unencrypted to {endpoint}; `token_in_the_open` allows that")]
    TokenInTheOpen {
        /// The text that was given.
        endpoint: String,
    },
    /// The client was built with something that cannot be.
    #[error("{0}")]
    Config(Box<dyn StdError + Send + Sync>),
    /// No connection, or it broke before the answer had come.
    #[error(transparent)]
    Transport(TransportError),
    /// The call's deadline passed: here, or at the service.
    #[error("the deadline of the call passed")]
    DeadlineExceeded,
    /// The service answered with an error.
    #[error(transparent)]
    Service(Box<ServiceError>),
    /// The service answered with something that its contract does not allow.
    #[error("the service broke its contract: {0}")]
    Protocol(#[from] ProtocolError),
    /// A stream of puzzles ended early. The outcomes before it have all been delivered.
    #[error("stopped after {answered} {}", if *answered == 1 { "outcome" } else { "outcomes" })]
    Interrupted {
        /// How many outcomes the stream delivered: the index, from 0, of the first puzzle without one.
        answered: u64,
        /// Why it ended.
        source: Box<Error>,
    },
}

impl Error {
    pub(crate) fn endpoint(endpoint: &str, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::Endpoint {
            endpoint: endpoint.to_owned(),
            source: source.into(),
        }
    }

    pub(crate) fn config(reason: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::Config(reason.into())
    }

    /// The same, with the endpoint where it happened.
    pub(crate) fn at(self, endpoint: &str) -> Self {
        match self {
            Self::Transport(error) if !endpoint.is_empty() => Self::Transport(TransportError {
                endpoint: Some(endpoint.to_owned()),
                ..error
            }),
            other => other,
        }
    }

    /// The same, with what the server said when it refused the connection. Where none was made, it said nothing.
    pub(crate) fn because(self, refusal: Arc<io::Error>) -> Self {
        match self {
            Self::Transport(error) if error.is_of_a_broken_connection() => Self::Transport(TransportError {
                refusal: Some(refusal),
                ..error
            }),
            other => other,
        }
    }

    /// What ended the call, with the place in a stream ([`Error::Interrupted`]) taken off.
    pub fn root(&self) -> &Self {
        match self {
            Self::Interrupted { source, .. } => source.root(),
            other => other,
        }
    }

    /// The service's answer, where it is one that ended the call.
    pub fn service(&self) -> Option<&ServiceError> {
        match self.root() {
            Self::Service(error) => Some(error),
            _ => None,
        }
    }

    /// The reason that the service gave, where it gave one.
    pub fn reason(&self) -> Option<&Reason> {
        self.service()?.reason.as_ref()
    }

    /// After which time the service asks to try again, where it does.
    pub fn retry_delay(&self) -> Option<Duration> {
        self.service()?.retry_delay
    }
}

/// An error that the service answered with.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{} ({})", self.message(), self.label())]
#[non_exhaustive]
pub struct ServiceError {
    /// The status as it came, with all of its details.
    pub status: tonic::Status,
    /// The reason in the status's `ErrorInfo`. `None` where there is none in the domain of this service: the error is
    /// then from something in between, such as a proxy.
    pub reason: Option<Reason>,
    /// The metadata of the `ErrorInfo`, such as `limit`. The keys of each reason are part of the contract.
    pub metadata: BTreeMap<String, String>,
    /// The fields of the request that are wrong, from the status's `BadRequest`.
    pub fields: Vec<FieldViolation>,
    /// After which time to try again, from the status's `RetryInfo`.
    pub retry_delay: Option<Duration>,
}

impl ServiceError {
    /// The status code.
    pub fn code(&self) -> tonic::Code {
        self.status.code()
    }

    /// What happened, in the service's words, for people.
    pub fn message(&self) -> &str {
        self.status.message()
    }

    fn label(&self) -> String {
        match &self.reason {
            Some(reason) => reason.to_string(),
            None => format!("{:?}", self.code()),
        }
    }
}

/// A field of the request that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldViolation {
    /// The field's path, as in `options.solution_limit`.
    pub field: String,
    /// What is wrong with it, for people.
    pub description: String,
}

/// Why the service refused or ended a call: the reasons of the contract. Displays as it is written there.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// `INVALID_PUZZLE`: what was sent is not a puzzle.
    InvalidPuzzle,
    /// `OPTION_OUT_OF_RANGE`: an option is outside its range; [`ServiceError::fields`] names it.
    OptionOutOfRange,
    /// `TOO_MANY_PUZZLES`: a message holds more puzzles than `limit` in the metadata.
    TooManyPuzzles,
    /// `MESSAGE_TOO_LARGE`: a message has more bytes than `limit` in the metadata.
    MessageTooLarge,
    /// `OVERLOADED`: the service is at its limit of work. It may be tried again after [`ServiceError::retry_delay`].
    Overloaded,
    /// `DRAINING`: the server is shutting down. Another one may take the call.
    Draining,
    /// `UNAUTHENTICATED`: the call carries no credential, or a wrong one.
    Unauthenticated,
    /// `INTERNAL`: a bug in the service. The cause is in its log.
    Internal,
    /// A reason that this version of the client does not know.
    Other(String),
}

impl Reason {
    const KNOWN: [(&'static str, Self); 8] = [
        ("INVALID_PUZZLE", Self::InvalidPuzzle),
        ("OPTION_OUT_OF_RANGE", Self::OptionOutOfRange),
        ("TOO_MANY_PUZZLES", Self::TooManyPuzzles),
        ("MESSAGE_TOO_LARGE", Self::MessageTooLarge),
        ("OVERLOADED", Self::Overloaded),
        ("DRAINING", Self::Draining),
        ("UNAUTHENTICATED", Self::Unauthenticated),
        ("INTERNAL", Self::Internal),
    ];

    /// Its name in the contract, as in `OVERLOADED`.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Other(name) => name,
            known => Self::KNOWN
                .iter()
                .find(|(_, reason)| reason == known)
                .map_or("", |(name, _)| name),
        }
    }
}

impl From<&str> for Reason {
    /// The reason with this name in the contract; [`Reason::Other`] if it has none.
    fn from(name: &str) -> Self {
        match Self::KNOWN.into_iter().find(|&(known, _)| known == name) {
            Some((_, reason)) => reason,
            None => Self::Other(name.to_owned()),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A connection that could not be made, or that broke. Its source says why.
#[derive(Debug, Clone)]
pub struct TransportError {
    cause: Cause,
    /// Why the server broke the connection.
    refusal: Option<Arc<io::Error>>,
    endpoint: Option<String>,
}

#[derive(Debug, Clone)]
enum Cause {
    /// As the transport has it.
    Status(tonic::Status),
    /// The name of the server stands for nothing.
    Unresolved(Arc<io::Error>),
    /// The server does not answer, though the connection stands.
    Silent,
}

impl From<Cause> for TransportError {
    fn from(cause: Cause) -> Self {
        Self {
            cause,
            refusal: None,
            endpoint: None,
        }
    }
}

impl TransportError {
    pub(crate) fn broken(status: tonic::Status) -> Self {
        Cause::Status(status).into()
    }

    pub(crate) fn unresolved(error: Arc<io::Error>) -> Self {
        Cause::Unresolved(error).into()
    }

    pub(crate) fn silent() -> Self {
        Cause::Silent.into()
    }

    /// What went wrong while the connection was made, where that is known.
    pub(crate) fn fault(&self) -> Option<Fault> {
        Fault::of(self.source()?)
    }

    fn is_of_a_broken_connection(&self) -> bool {
        let mut cause = self.source();
        while let Some(error) = cause {
            if error.is::<tonic::ConnectError>() {
                return false;
            }
            cause = error.source();
        }
        matches!(self.cause, Cause::Status(_))
    }

    /// The endpoint that it was to, where that is known.
    pub fn endpoint(&self) -> Option<&str> {
        self.endpoint.as_deref()
    }

    /// The status that the transport made of it, where it did. Its code means little.
    pub fn status(&self) -> Option<&tonic::Status> {
        match &self.cause {
            Cause::Status(status) => Some(status),
            Cause::Unresolved(_) | Cause::Silent => None,
        }
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.cause, self.source()) {
            (Cause::Silent, _) => return f.write_str("the service does not answer"),
            // Nothing below tells more, so the text stands here.
            (Cause::Status(status), None) => {
                return write!(f, "no connection to the service: {}", status.message());
            }
            _ => f.write_str("no connection to the service")?,
        }
        match self.fault().and_then(Fault::hint) {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

impl StdError for TransportError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        if let Some(refusal) = &self.refusal {
            return Some(refusal.as_ref());
        }
        let outer = match &self.cause {
            Cause::Status(status) => status.source()?,
            Cause::Unresolved(error) => return Some(error.as_ref()),
            Cause::Silent => return None,
        };
        // The transport's own wrapper says only "transport error".
        if outer.is::<tonic::transport::Error>() {
            return outer.source();
        }
        Some(outer)
    }
}

/// How an answer breaks the contract.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProtocolError {
    /// An answer without a result.
    #[error("an answer without a result")]
    MissingResult,
    /// A message with more or fewer results than puzzles were asked.
    #[error("{received} results for {asked} puzzles")]
    ResultCount {
        /// The number of puzzles in the request.
        asked: usize,
        /// The number of results in the answer.
        received: usize,
    },
    /// An outcome that the contract does not have, or does not have there.
    #[error("outcome {outcome} is not one of those expected")]
    Outcome {
        /// Its number.
        outcome: i32,
    },
    /// A solution that is not 81 digits.
    #[error("{text:?} is not a solution")]
    Solution {
        /// What came in its place.
        text: String,
    },
    /// Solutions that do not match the outcome or the count that they came with.
    #[error("{received} solutions with a count of {count} do not fit the outcome")]
    SolutionCount {
        /// The count in the answer.
        count: u32,
        /// The number of solutions in the answer.
        received: usize,
    },
    /// A conflict whose digit, unit or cells do not exist.
    #[error("a conflict that no grid can have")]
    Conflict,
    /// A stream that ended, without an error, before all puzzles were answered.
    #[error("the stream ended before all puzzles were answered")]
    EndedEarly,
    /// A message in a stream that answers none.
    #[error("an answer to nothing that was asked")]
    Unasked,
}
