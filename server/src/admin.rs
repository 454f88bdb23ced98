//! The port for operators: metrics, and whether the server lives and is ready, over HTTP/1.1.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http::header::CONTENT_TYPE;
use http::{Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::metrics::Metrics;
use crate::service::Service;

/// Few ask, and seldom.
const MAX_CONNECTIONS: usize = 64;

/// How long a connection has to send a request, and how long it lives, so that one whose client reads nothing does not keep
/// its place. A request under way has as long again as the header of one.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
const LIFETIME: Duration = Duration::from_secs(60);

const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

const TEXT: &str = "text/plain; charset=utf-8";
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Answers `/metrics`, `/livez` and `/readyz` for as long as it is polled, and longer than the service takes calls: whoever
/// watches a server wants to see how it ends.
///
/// `/livez` says 200 always. `/readyz` says 200 while the service takes calls on a socket, and 503 before and after.
/// Nothing is encrypted, since nothing here is a secret.
pub async fn serve_admin(listener: TcpListener, service: Service) -> Infallible {
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection to the admin port");
                sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        // Closed at once where there is no room.
        let Ok(room) = Arc::clone(&room).try_acquire_owned() else {
            continue;
        };
        let service = service.clone();
        tokio::spawn(async move {
            let _room = room;
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEADER_TIMEOUT)
                .serve_connection(
                    TokioIo::new(stream),
                    service_fn(|request| std::future::ready(Ok::<_, Infallible>(answer(&request, &service)))),
                );
            let mut connection = pin!(connection);
            let mut end = timeout(LIFETIME, connection.as_mut()).await;
            if end.is_err() {
                connection.as_mut().graceful_shutdown();
                end = timeout(HEADER_TIMEOUT, connection).await;
            }
            if let Ok(Err(error)) = end {
                tracing::debug!(%error, "a connection to the admin port broke");
            }
        });
    }
}

fn answer(request: &Request<Incoming>, service: &Service) -> Response<String> {
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return text(StatusCode::METHOD_NOT_ALLOWED, TEXT, "only GET and HEAD\n");
    }
    match request.uri().path() {
        "/metrics" => match Metrics::text(service) {
            Ok(metrics) => text(StatusCode::OK, OPEN_METRICS, metrics),
            Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, TEXT, error.to_string()),
        },
        "/livez" => text(StatusCode::OK, TEXT, "ok\n"),
        "/readyz" if service.is_ready() => text(StatusCode::OK, TEXT, "ok\n"),
        "/readyz" => text(
            StatusCode::SERVICE_UNAVAILABLE,
            TEXT,
            "the server takes no calls\n",
        ),
        _ => text(
            StatusCode::NOT_FOUND,
            TEXT,
            "there are /metrics, /livez and /readyz\n",
        ),
    }
}

fn text(status: StatusCode, kind: &'static str, body: impl Into<String>) -> Response<String> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, http::HeaderValue::from_static(kind));
    response
}
