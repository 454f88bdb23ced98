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
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::metrics::Metrics;
use crate::service::Service;

const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The most bytes of a request's header, of which none needs a tenth.
const LONGEST_HEADER: usize = 16 * 1024;

const TEXT: &str = "text/plain; charset=utf-8";
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Answers `/metrics`, `/livez` and `/readyz` for as long as it is polled, and longer than the service takes calls: whoever
/// watches a server wants to see how it ends.
///
/// `/livez` says 200 always. `/readyz` says 200 while the service takes calls on a socket, and 503 before and after.
/// Nothing is encrypted, since nothing here is a secret. Few ask, and seldom, so the port has limits of its own:
/// [`Settings::admin_max_connections`](crate::Settings::admin_max_connections) and those beside it.
pub async fn serve_admin(listener: TcpListener, service: Service) -> Infallible {
    let room = Arc::new(Semaphore::new(service.settings.admin_max_connections));
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
            serve_connection(stream, &service).await;
        });
    }
}

async fn serve_connection(stream: TcpStream, service: &Service) {
    let header_timeout = service.settings.admin_header_timeout;
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(header_timeout)
        .max_buf_size(LONGEST_HEADER)
        .serve_connection(
            TokioIo::new(stream),
            service_fn(|request| std::future::ready(Ok::<_, Infallible>(answer(&request, service)))),
        );
    let mut connection = pin!(connection);
    let mut end = timeout(service.settings.admin_max_connection_age, connection.as_mut()).await;
    if end.is_err() {
        connection.as_mut().graceful_shutdown();
        end = timeout(header_timeout, connection).await;
    }
    if let Ok(Err(error)) = end {
        tracing::debug!(%error, "a connection to the admin port broke");
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

    use super::*;
    use crate::settings::Settings;

    const LONG: Duration = Duration::from_secs(3_600);
    const SHORT: Duration = Duration::from_millis(50);
    const REQUEST: &[u8] = b"GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n";

    /// A port with one place, where headers and connections may take so long.
    async fn connect(header: Duration, age: Duration) -> (std::net::SocketAddr, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let settings = Settings {
            admin_max_connections: 1,
            admin_header_timeout: header,
            admin_max_connection_age: age,
            ..Settings::default()
        };
        tokio::spawn(serve_admin(listener, Service::new(settings).unwrap()));
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
        let (address, mut first) = connect(LONG, LONG).await;
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
        for begun in [&b""[..], &REQUEST[..20]] {
            let (_, mut stream) = connect(SHORT, LONG).await;
            stream.write_all(begun).await.unwrap();
            closed(&mut stream).await;
        }
    }

    #[tokio::test]
    async fn no_connection_keeps_its_place_for_ever() {
        // One that asks again and again.
        let (address, mut stream) = connect(SHORT, SHORT).await;
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
}
