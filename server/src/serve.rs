//! The server: the service, health and reflection on a listening socket, and its orderly end.

use std::future::Future;
use std::time::Duration;

use sudoku_proto::v1::FILE_DESCRIPTOR_SET;
use tokio::time::{sleep, timeout};
use tonic::service::Routes;

use crate::calls::Calls;
use crate::connection::Connections;
use crate::front::Front;
use crate::health::Health;
use crate::service::Service;

/// How long connections without a call have to take in what was sent and to close. A client that hangs does neither.
const FAREWELL: Duration = Duration::from_secs(2);

/// How a server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drained {
    /// Every call that ran has been finished, and its answer handed to the network.
    Finished,
    /// The drain deadline passed first. What still ran was cut off.
    CutOff,
}

/// Serves `service` to those who come to `front`, which may be a single [`TcpListener`](tokio::net::TcpListener), until `shutdown` is ready, and then drains.
///
/// Besides the service itself, clients find the standard health service, for the names "" and
/// `sudoku.v1.SudokuService`, and server reflection, v1 and v1alpha.
///
/// To drain is, in this order: health says NOT_SERVING, and so does [`Service::is_ready`]; after
/// [`Settings::drain_delay`](crate::Settings::drain_delay) clients that are connected are asked to go elsewhere (GOAWAY);
/// new calls are refused with UNAVAILABLE and the reason DRAINING, also those of clients that connect only now; calls
/// that run are finished, streams with the answers to the messages that were taken from them. When no call runs, or
/// [`Settings::drain_deadline`](crate::Settings::drain_deadline) has passed, the connections are closed.
///
/// Dropping the future ends everything at once.
pub async fn serve(front: impl Into<Front>, service: Service, shutdown: impl Future<Output = ()>) -> Drained {
    let Front {
        listeners,
        tls,
        tokens,
        pages,
        traces,
    } = front.into();
    let health = Health::serving().await;
    let calls = Calls::new(routes(&service, &health), tokens, traces, &service);
    let connections = Connections::new(calls, tls, pages, &service);
    service.set_ready(true);
    let mut accepting = Box::pin(connections.accept(listeners));
    tokio::select! {
        never = accepting.as_mut() => match never {},
        () = shutdown => {}
    }
    tracing::info!(load = ?service.load(), "draining");
    service.set_ready(false);
    health.not_serving().await;
    tokio::select! {
        never = accepting.as_mut() => match never {},
        () = sleep(service.settings.drain_delay) => {}
    }
    service.drain();
    connections.drain();

    let finish = async {
        tokio::select! {
            never = accepting.as_mut() => match never {},
            () = service.drained() => {}
        }
        // Closes the listeners: from now on nobody is left to tell a client why it is refused.
        drop(accepting);
        health.end().await;
        if timeout(FAREWELL, connections.close()).await.is_err() {
            connections.cut().await;
        }
    };
    if timeout(service.settings.drain_deadline, finish).await.is_ok() {
        tracing::info!("drained");
        return Drained::Finished;
    }
    tracing::warn!(load = ?service.load(), "the drain deadline passed; calls are cut off");
    connections.cut().await;
    Drained::CutOff
}

fn routes(service: &Service, health: &Health) -> Routes {
    let reflection = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(FILE_DESCRIPTOR_SET)
    };
    Routes::new(service.rpc())
        .add_service(health.service())
        .add_service(reflection().build_v1().expect("the descriptor set is our own"))
        .add_service(
            reflection()
                .build_v1alpha()
                .expect("the descriptor set is our own"),
        )
        .prepare()
}
