//! What a server's standard health service says of it.

use std::time::Duration;

use sudoku_proto::wire::sudoku_service_server::SERVICE_NAME;
use tokio::time::timeout;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use crate::error::{Error, TransportError};
use crate::{Transport, status};

/// How long the answer may take.
pub(crate) const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// How a server is.
#[derive(Debug)]
pub(crate) enum Health {
    /// It takes calls.
    Serving,
    /// It answers, and takes no calls.
    NotServing,
    /// It does not answer.
    Gone(Error),
}

/// Asks the server behind `service`.
pub(crate) async fn check<T: Transport>(service: T) -> Health {
    let request = HealthCheckRequest {
        service: SERVICE_NAME.to_owned(),
    };
    let mut client = HealthClient::new(service);
    let Ok(answer) = timeout(ANSWER_WITHIN, client.check(request)).await else {
        return Health::Gone(Error::Transport(TransportError::silent()));
    };
    let error = match answer.map_err(status::error) {
        Ok(answer) if answer.get_ref().status() == ServingStatus::Serving => return Health::Serving,
        Ok(_) => return Health::NotServing,
        Err(error) => error,
    };
    match error {
        Error::Service(error) if status::is_unavailable(&error) => Health::NotServing,
        // What has no such service, or none for us, is there all the same.
        Error::Service(_) => Health::Serving,
        error => Health::Gone(error),
    }
}
