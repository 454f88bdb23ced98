//! Reads the status of a call that failed: the only place that does.

use std::error::Error as StdError;

use sudoku_proto::v1::ERROR_DOMAIN;
use tonic::{Code, Status, TimeoutExpired};
use tonic_types::StatusExt;

use crate::error::{Error, FieldViolation, Reason, ServiceError, TransportError};

/// What a status means to the caller.
pub(crate) fn error(status: Status) -> Error {
    if is_local_timeout(&status) || status.code() == Code::DeadlineExceeded {
        return Error::DeadlineExceeded;
    }
    let details = status.get_error_details();
    let info = details.error_info().filter(|info| info.domain == ERROR_DOMAIN);
    // A status that has a source was made on this side, from a broken connection, and its code means little.
    if status.source().is_some() || was_cut_off(&status) {
        return Error::Transport(TransportError::broken(status));
    }
    let fields = details
        .bad_request()
        .into_iter()
        .flat_map(|bad| &bad.field_violations);
    Error::Service(Box::new(ServiceError {
        reason: info.map(|info| Reason::from(info.reason.as_str())),
        metadata: info.map_or_else(Default::default, |info| {
            info.metadata.clone().into_iter().collect()
        }),
        fields: fields
            .map(|violation| FieldViolation {
                field: violation.field.clone(),
                description: violation.description.clone(),
            })
            .collect(),
        retry_delay: details.retry_info().and_then(|retry| retry.retry_delay),
        status,
    }))
}

/// Whether the call ended without any status: cut off, by something in between. The transport says so in words only.
fn was_cut_off(status: &Status) -> bool {
    status.code() == Code::Unknown && status.message().contains("missing grpc-status")
}

/// Whether the server does not take calls at present.
pub(crate) fn is_unavailable(error: &ServiceError) -> bool {
    error.code() == Code::Unavailable
}

/// Whether the server, or what the call asked for, is at a limit.
pub(crate) fn is_exhausted(error: &ServiceError) -> bool {
    error.code() == Code::ResourceExhausted
}

/// Whether the server does not have the method.
pub(crate) fn is_unimplemented(error: &Error) -> bool {
    error
        .service()
        .is_some_and(|error| error.code() == Code::Unimplemented)
}

/// The transport also watches the `grpc-timeout` of a call, and answers with `Cancelled` when it passes.
fn is_local_timeout(status: &Status) -> bool {
    let mut cause = status.source();
    while let Some(error) = cause {
        if error.is::<TimeoutExpired>() {
            return true;
        }
        cause = error.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::time::Duration;

    use tonic_types::ErrorDetails;

    use super::*;

    fn service_error(status: Status) -> ServiceError {
        match error(status) {
            Error::Service(error) => *error,
            other => panic!("{other:?} is no answer of the service"),
        }
    }

    #[test]
    fn details_are_kept() {
        let metadata = HashMap::from([("limit".to_owned(), "2048".to_owned())]);
        let mut details = ErrorDetails::with_error_info("TOO_MANY_PUZZLES", ERROR_DOMAIN, metadata);
        details.set_retry_info(Some(Duration::from_millis(100)));
        details.add_bad_request_violation("puzzles", "too many");
        let status = Status::with_error_details(Code::ResourceExhausted, "too many puzzles", details);
        let error = service_error(status);
        assert_eq!(error.code(), Code::ResourceExhausted);
        assert_eq!(error.reason, Some(Reason::TooManyPuzzles));
        assert_eq!(error.metadata["limit"], "2048");
        assert_eq!(error.retry_delay, Some(Duration::from_millis(100)));
        assert_eq!(error.fields[0].field, "puzzles");
        assert_eq!(error.to_string(), "too many puzzles (TOO_MANY_PUZZLES)");
    }

    #[test]
    fn reasons_of_others_are_not_ours() {
        let details = ErrorDetails::with_error_info("INTERNAL", "proxy.example", HashMap::new());
        let error = service_error(Status::with_error_details(Code::Internal, "oh", details));
        assert_eq!(error.reason, None);
        assert_eq!(error.to_string(), "oh (Internal)");
    }

    #[test]
    fn an_unknown_reason_keeps_its_name() {
        let details = ErrorDetails::with_error_info("NEW", ERROR_DOMAIN, HashMap::new());
        let error = service_error(Status::with_error_details(Code::Aborted, "", details));
        assert_eq!(error.reason, Some(Reason::Other("NEW".to_owned())));
    }

    #[test]
    fn a_status_made_here_is_a_broken_connection() {
        let status = Status::from_error("the line is dead".into());
        let Error::Transport(error) = error(status) else {
            panic!("not a broken connection")
        };
        assert_eq!(error.to_string(), "no connection to the service");
        assert_eq!(
            error.source().map(|source| source.to_string()),
            Some("the line is dead".to_owned())
        );
    }

    #[test]
    fn a_call_without_a_status_is_a_broken_connection() {
        let status = Status::unknown("protocol error: missing grpc-status trailer, stream was terminated");
        assert!(matches!(error(status), Error::Transport(_)));
    }

    #[test]
    fn an_unknown_error_of_the_service_is_its_own() {
        assert_eq!(service_error(Status::unknown("oh")).code(), Code::Unknown);
    }

    #[test]
    fn deadlines_are_one_error_wherever_they_passed() {
        let here = Status::from_error(Box::new(TimeoutExpired(())));
        assert!(matches!(error(here), Error::DeadlineExceeded));
        assert!(matches!(
            error(Status::deadline_exceeded("there")),
            Error::DeadlineExceeded
        ));
    }
}
