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
    // A status that has a source was made on this side, from a broken connection, and its code means little. So does
    // the code of a call that ended without any status, which comes as `Unknown`: the service never sends that.
    if status.source().is_some() || (status.code() == Code::Unknown && info.is_none()) {
        return Error::Transport(TransportError { status });
    }
    let fields = details
        .bad_request()
        .into_iter()
        .flat_map(|bad| &bad.field_violations);
    Error::Service(Box::new(ServiceError {
        reason: info.map(|info| Reason::from_name(info.reason.clone())),
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
