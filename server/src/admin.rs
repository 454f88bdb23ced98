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

/// What clients of the port may take.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    connections: usize,
    /// How long a connection has to send the header of a request.
    header: Duration,
    /// How long it lives, so that one whose client reads nothing does not keep its place. A request under way has as long
    /// again as the header of one.
    life: Duration,
}

/// Few ask, and seldom.
const BOUNDS: Bounds = Bounds {
    connections: 64,
    header: Duration::from_secs(10),
    life: Duration::from_secs(60),
};

const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

const TEXT: &str = "text/plain; charset=utf-8";
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Answers `/metrics`, `/livez` and `/readyz` for as long as it is polled, and longer than the service takes calls: whoever
/// watches a server wants to see how it ends.
///
/// `/livez` says 200 always. `/readyz` says 200 while the service takes calls on a socket, and 503 before and after.
/// Nothing is encrypted, since nothing here is a secret.
pub async fn serve_admin(listener: TcpListener, service: Service) -> Infallible {
    serve_within(BOUNDS, listener, service).await
}

async fn serve_within(bounds: Bounds, listener: TcpListener, service: Service) -> Infallible {
    let room = Arc::new(Semaphore::new(bounds.connections));
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
                .header_read_timeout(bounds.header)
                .serve_connection(
                    TokioIo::new(stream),
                    service_fn(|request| std::future::ready(Ok::<_, Infallible>(answer(&request, &service)))),
                );
            let mut connection = pin!(connection);
            let mut end = timeout(bounds.life, connection.as_mut()).await;
            if end.is_err() {
                connection.as_mut().graceful_shutdown();
                end = timeout(bounds.header, connection).await;
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

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    use super::*;
    use crate::settings::Settings;

    const LONG: Duration = Duration::from_secs(3_600);
    const SHORT: Duration = Duration::from_millis(50);
    const REQUEST: &[u8] = b"GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n";

    async fn connect(bounds: Bounds) -> (std::net::SocketAddr, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let service = Service::new(Settings::default()).unwrap();
        tokio::spawn(serve_within(bounds, listener, service));
        (address, TcpStream::connect(address).await.unwrap())
    }

    /// Reads until the server closes the connection, by an end or a reset.
    async fn closed(stream: &mut TcpStream) -> usize {
        let mut count = 0;
        let end = async {
            let mut buffer = [0; 4_096];
            while let Ok(read @ 1..) = stream.read(&mut buffer).await {
                count += read;
            }
        };
        timeout(Duration::from_secs(30), end).await.unwrap();
        count
    }

    #[tokio::test]
    async fn a_connection_too_many_is_closed_at_once() {
        let bounds = Bounds {
            connections: 1,
            header: LONG,
            life: LONG,
        };
        let (address, mut first) = connect(bounds).await;
        first.write_all(REQUEST).await.unwrap();
        first.read_exact(&mut [0; 100]).await.unwrap();
        let mut second = TcpStream::connect(address).await.unwrap();
        assert_eq!(closed(&mut second).await, 0);
        // The first still has its place.
        first.write_all(REQUEST).await.unwrap();
        first.read_exact(&mut [0; 100]).await.unwrap();
    }

    #[tokio::test]
    async fn who_asks_nothing_is_hung_up_on() {
        let bounds = Bounds {
            connections: 1,
            header: SHORT,
            life: LONG,
        };
        for begun in [&b""[..], &REQUEST[..20]] {
            let (_, mut stream) = connect(bounds).await;
            stream.write_all(begun).await.unwrap();
            closed(&mut stream).await;
        }
    }

    #[tokio::test]
    async fn no_connection_keeps_its_place_for_ever() {
        let bounds = Bounds {
            connections: 1,
            header: SHORT,
            life: SHORT,
        };
        // One that asks again and again.
        let (address, mut stream) = connect(bounds).await;
        while stream.write_all(REQUEST).await.is_ok() {
            if !matches!(stream.read(&mut [0; 65_536]).await, Ok(1..)) {
                break;
            }
        }
        // One that reads nothing: it is closed with what it has asked for.
        let mut unread = TcpStream::connect(address).await.unwrap();
        while unread.write_all(REQUEST).await.is_ok() {}
        let mut next = TcpStream::connect(address).await.unwrap();
        next.write_all(REQUEST).await.unwrap();
        assert!(closed(&mut next).await > 1_000);
    }

    #[test]
    fn the_bounds_are_as_they_are_documented() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/operating.md");
        let page = std::fs::read_to_string(page).unwrap();
        let said = format!(
            "{} connections at once, {} seconds for the header of a request, {} seconds for a connection",
            BOUNDS.connections,
            BOUNDS.header.as_secs(),
            BOUNDS.life.as_secs()
        );
        assert!(page.replace('\n', " ").contains(&said), "{said}");
    }
}
