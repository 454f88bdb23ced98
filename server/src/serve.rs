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
    let health = Health::serving().await;
    let routes = routes(&service, &health);
    serve_routes(front.into(), routes, health, service, shutdown).await
}

/// The same with whatever stands at these routes.
async fn serve_routes(
    front: Front,
    routes: Routes,
    health: Health,
    service: Service,
    shutdown: impl Future<Output = ()>,
) -> Drained {
    let Front {
        listeners,
        tls,
        tokens,
        pages,
        traces,
    } = front;
    let calls = Calls::new(routes, tokens, traces, &service);
    let connections = Connections::new(calls, tls, pages, &service);
    service.set_ready(true);
    let mut accepting = Box::pin(connections.accept(listeners));
    tokio::select! {
        never = accepting.as_mut() => match never {},
        () = shutdown => {}
    }
    let load = service.load();
    tracing::info!(
        solves = load.solves,
        streams = load.streams,
        messages = load.messages,
        "draining"
    );
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
    let load = service.load();
    tracing::warn!(
        solves = load.solves,
        streams = load.streams,
        messages = load.messages,
        "the drain deadline passed; calls are cut off"
    );
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

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use bytes::Bytes;
    use http::Request;
    use http_body::Frame;
    use sudoku_proto::v1::sudoku_service_client::SudokuServiceClient;
    use sudoku_proto::v1::{Outcome, SolveManyRequest, SolveRequest};
    use tokio::net::TcpListener;
    use tokio::sync::mpsc;
    use tokio_stream::wrappers::ReceiverStream;
    use tonic::body::Body;
    use tonic::transport::{Channel, Endpoint};
    use tonic::{Code, Status};
    use tonic_health::pb::HealthCheckRequest;
    use tonic_health::pb::health_client::HealthClient;
    use tonic_types::StatusExt;
    use tower::util::{MapRequestLayer, MapResponseLayer};

    use super::*;
    use crate::metrics::Metrics;
    use crate::settings::Settings;

    const PUZZLE: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";

    /// A body that panics on a part with this text: a bug in whatever reads it, as far as anybody can tell.
    #[derive(Debug)]
    struct Trap(Body, &'static str);

    const ASKED: &str = "a trap in the request";
    const ANSWERED: &str = "'\u{a4}'";

    impl http_body::Body for Trap {
        type Data = Bytes;
        type Error = Status;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
            let text = self.1;
            let frame = Pin::new(&mut self.0).poll_frame(cx);
            if let Poll::Ready(Some(Ok(frame))) = &frame
                && let Some(data) = frame.data_ref()
            {
                let found = data.windows(text.len()).any(|part| part == text.as_bytes());
                assert!(!found, "the cause");
            }
            frame
        }
    }

    /// The server as it is, but for traps in front of its services, which panic where a service would with a bug.
    async fn start() -> (SocketAddr, Service) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let service = Service::new(Settings::default()).unwrap();
        let health = Health::serving().await;
        let router = routes(&service, &health)
            .into_axum_router()
            .layer(MapRequestLayer::new(|request: Request<_>| {
                assert!(!request.headers().contains_key("trap"), "the cause");
                request.map(|body| Body::new(Trap(Body::new(body), ASKED)))
            }))
            .layer(MapResponseLayer::new(|response: http::Response<_>| {
                response.map(|body| Body::new(Trap(Body::new(body), ANSWERED)))
            }));
        let serving = serve_routes(
            listener.into(),
            router.into(),
            health,
            service.clone(),
            std::future::pending(),
        );
        tokio::spawn(serving);
        (address, service)
    }

    fn solve(puzzle: &str) -> SolveRequest {
        SolveRequest {
            puzzle: puzzle.to_owned(),
            options: None,
        }
    }

    fn message(puzzle: &str) -> SolveManyRequest {
        SolveManyRequest {
            puzzles: vec![puzzle.to_owned()],
            options: None,
        }
    }

    /// What a metric says whose name and labels begin so.
    fn metric(service: &Service, begin: &str) -> u64 {
        let text = Metrics::text(service).unwrap();
        let line = text.lines().find(|line| line.starts_with(begin)).unwrap();
        line.rsplit(' ').next().unwrap().parse().unwrap()
    }

    #[track_caller]
    fn assert_internal(status: &Status) {
        assert_eq!(status.code(), Code::Internal, "{status:?}");
        let info = status.get_details_error_info().unwrap();
        assert_eq!(
            (info.reason.as_str(), info.domain.as_str()),
            ("INTERNAL", "sudoku.v1")
        );
        assert!(!format!("{status:?}").contains("cause"), "{status:?}");
    }

    /// Sends a message, and expects its answer.
    async fn goes_on(
        send: &mpsc::Sender<SolveManyRequest>,
        answers: &mut tonic::Streaming<sudoku_proto::v1::SolveManyResponse>,
    ) {
        send.send(message(PUZZLE)).await.unwrap();
        let answer = answers.message().await.unwrap().unwrap();
        assert_eq!(answer.results[0].outcome(), Outcome::Unique);
    }

    /// Calls that panic, in each of the places where one may.
    async fn panics(channel: &Channel) -> Vec<Status> {
        let mut client = SudokuServiceClient::new(channel.clone());
        let mut statuses = vec![client.solve(solve(ASKED)).await.unwrap_err()];
        let mut request = tonic::Request::new(solve(PUZZLE));
        request.metadata_mut().insert("trap", "1".parse().unwrap());
        statuses.push(client.solve(request).await.unwrap_err());
        for text in [ASKED, "\u{a4}"] {
            let messages = tokio_stream::iter([message(PUZZLE), message(text), message(PUZZLE)]);
            let mut answers = client.solve_many(messages).await.unwrap().into_inner();
            let status = loop {
                match answers.message().await {
                    Ok(answer) => assert_eq!(answer.unwrap().results[0].outcome(), Outcome::Unique),
                    Err(status) => break status,
                }
            };
            statuses.push(status);
        }
        let request = HealthCheckRequest {
            service: ASKED.to_owned(),
        };
        statuses.push(
            HealthClient::new(channel.clone())
                .check(request)
                .await
                .unwrap_err(),
        );
        statuses
    }

    #[tokio::test]
    async fn a_panic_ends_one_call_and_nothing_else() {
        let (address, service) = start().await;
        let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
        let channel = endpoint.connect().await.unwrap();
        // A stream on the connection of those that panic, which outlives them all.
        let (send, messages) = mpsc::channel(1);
        let mut answers = SudokuServiceClient::new(channel.clone())
            .solve_many(ReceiverStream::new(messages))
            .await
            .unwrap()
            .into_inner();
        goes_on(&send, &mut answers).await;
        let caught = metric(&service, "sudoku_panics_total ");
        let statuses = panics(&channel).await;
        statuses.iter().for_each(assert_internal);
        goes_on(&send, &mut answers).await;

        let handled = |labels: &str| {
            let begin = format!("grpc_server_handled_total{{{labels},grpc_code=\"Internal\"}}");
            metric(&service, &begin)
        };
        let sudoku = "grpc_service=\"sudoku.v1.SudokuService\"";
        let unary = "grpc_type=\"unary\"";
        let check = "grpc_service=\"grpc.health.v1.Health\",grpc_method=\"Check\"";
        let counted = async {
            // A call is counted out once its last bytes are on their way.
            while [
                handled(&format!("{unary},{sudoku},grpc_method=\"Solve\"")),
                handled(&format!(
                    "grpc_type=\"bidi_stream\",{sudoku},grpc_method=\"SolveMany\""
                )),
                handled(&format!("{unary},{check}")),
            ] != [2, 2, 1]
            {
                sleep(Duration::from_millis(1)).await;
            }
        };
        timeout(Duration::from_secs(30), counted).await.unwrap();
        // Other tests of this process have theirs.
        assert!(metric(&service, "sudoku_panics_total ") - caught >= statuses.len() as u64);
        // Of all that, only the stream is left.
        let left = service.load();
        assert_eq!((left.solves, left.streams, left.messages), (0, 1, 0));
        let mut client = SudokuServiceClient::new(endpoint.connect().await.unwrap());
        client.solve(solve(PUZZLE)).await.unwrap();
    }
}
