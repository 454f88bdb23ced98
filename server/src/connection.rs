//! Connections: accepted up to a number, served as HTTP/2, and ended when the server drains.

use std::convert::Infallible;
use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::future::join_all;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::HttpService;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tonic::Status;
use tower::BoxError;

use crate::calls::Calls;
use crate::frames::{Frames, Seen};
use crate::lifetime::{self, Activity, Over};
use crate::listener::{Accepted, Listener, Transport};
use crate::preface::{self, Preface, Rewound};
use crate::rejected::{Rejected, Rejection};
use crate::sample::Sample;
use crate::service::Service;
use crate::settings::Settings;
use crate::tls::Tls;
use crate::web::{Pages, Web};

/// What a client may send of a stream before the server asks for more: some 3,000 puzzles, as many as keep the engines
/// full until the next have come. With a quarter of it a puzzle took a fifth more of the server's time.
///
/// Stream and connection window belong together: h2 charges small DATA frames that wait unread against the connection
/// window, and a server that is slow for a moment must not run out of it. So the connection window has room for the small
/// messages of all streams. It takes no memory by itself, since the stream windows bound what can wait.
const STREAM_WINDOW: u32 = 256 * 1024;
const CONNECTION_WINDOW_PER_STREAM: u32 = 10 * STREAM_WINDOW;

/// A message of many puzzles comes in one frame or a few, and these are read from the socket at once.
const MAX_FRAME: u32 = 64 * 1024;

/// What is read ahead of an HTTP/1.1 connection.
const HTTP1_BUFFER: usize = 64 * 1024;

/// How long accepting rests after an error. The usual one is that no file descriptor is free, which does not pass at
/// once.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The connections of a server.
#[derive(Debug)]
pub(crate) struct Connections {
    calls: Calls,
    tls: Option<Tls>,
    pages: Option<Pages>,
    turned_away: Arc<TurnedAway>,
    settings: Arc<Settings>,
    room: Arc<Semaphore>,
    tasks: TaskTracker,
    /// Tells the connections that are there to finish.
    draining: CancellationToken,
    /// Tells those to finish that came later.
    closing: CancellationToken,
    /// Ends all at once.
    cut: CancellationToken,
}

impl Connections {
    /// No connections yet, and never more at once than the service's settings say.
    pub fn new(calls: Calls, tls: Option<Tls>, pages: Option<Pages>, service: &Service) -> Self {
        let settings = &service.settings;
        Self {
            calls,
            tls,
            pages,
            turned_away: Arc::new(TurnedAway {
                rejected: Arc::clone(&service.rejected),
                lines: Sample::new(),
            }),
            settings: Arc::clone(settings),
            room: Arc::clone(&service.connections),
            tasks: TaskTracker::new(),
            draining: CancellationToken::new(),
            closing: CancellationToken::new(),
            cut: CancellationToken::new(),
        }
    }

    /// Accepts connections for as long as it is polled, and serves each in its own task.
    pub async fn accept(&self, listeners: Vec<Listener>) -> Infallible {
        let accepting = listeners.iter().map(|listener| self.accept_from(listener));
        // The first to end would be one of these that never do.
        match join_all(accepting).await.pop() {
            Some(never) => match never {},
            None => std::future::pending().await,
        }
    }

    async fn accept_from(&self, listener: &Listener) -> Infallible {
        loop {
            let mut accepted = match listener.accept().await {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            };
            match Arc::clone(&self.room).try_acquire_owned() {
                Ok(room) => {
                    tracing::debug!(peer = accepted.peer, "connection accepted");
                    let cork = accepted.cork.take();
                    let connection = self.connection(accepted, room);
                    match cork {
                        Some(cork) => self.tasks.spawn(cork.drive(connection)),
                        None => self.tasks.spawn(connection),
                    };
                }
                // Closed at once: a client that waits for its turn would learn nothing, and could try elsewhere.
                Err(_) => self
                    .turned_away
                    .add(&accepted.peer, &Rejection::ConnectionLimit.into()),
            }
        }
    }

    /// Asks the clients that are connected to finish their calls and to go elsewhere. Those that connect from now on are
    /// served until [`Connections::close`], so that they learn what is going on.
    pub fn drain(&self) {
        self.draining.cancel();
    }

    /// Asks all to finish, and waits until they have.
    pub async fn close(&self) {
        self.draining.cancel();
        self.closing.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Ends all connections at once.
    pub async fn cut(&self) {
        self.cut.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Serves a connection to its end.
    fn connection(
        &self,
        accepted: Accepted,
        room: OwnedSemaphorePermit,
    ) -> impl Future<Output = ()> + Send + 'static {
        let (calls, activity) = self.calls.on_connection(&accepted.peer);
        let settings = Arc::clone(&self.settings);
        let turned_away = Arc::clone(&self.turned_away);
        let peer = accepted.peer.clone();
        let opening = timeout(
            settings.handshake_timeout,
            open(accepted, self.tls.clone(), self.pages.is_some()),
        );
        let pages = self.pages.clone();
        let (draining, closing, cut) = (self.draining.clone(), self.closing.clone(), self.cut.clone());
        async move {
            let _room = room;
            cut.run_until_cancelled(async {
                let Some(opened) = closing.run_until_cancelled(opening).await else {
                    return;
                };
                let (preface, stream) = match opened.unwrap_or(Err(Rejection::Handshake.into())) {
                    Ok(stream) => stream,
                    Err(refused) => return turned_away.add(&peer, &refused),
                };
                // One that comes during a drain is served until its end.
                let finish = match draining.is_cancelled() {
                    true => closing,
                    false => draining,
                };
                let connection = Connection {
                    activity,
                    settings,
                    finish,
                };
                let end = match (pages, preface) {
                    (None, _) => connection.http2(stream, calls).await,
                    (Some(pages), Preface::Http2) => {
                        let service = TowerToHyperService::new(pages.guard(calls));
                        connection.http2(stream, service).await
                    }
                    (Some(pages), Preface::Other) => connection.http1(stream, pages.guard(calls)).await,
                };
                if let Err(reason) = end {
                    turned_away.add(&peer, &reason.into());
                }
            })
            .await;
        }
    }
}

/// Counts the connections that were turned away, and logs some of them.
#[derive(Debug)]
struct TurnedAway {
    rejected: Arc<Rejected>,
    lines: Sample,
}

/// Why there is nothing to serve.
struct Refused {
    reason: Rejection,
    /// What was wrong, where it is not always the same.
    error: Option<io::Error>,
}

impl From<Rejection> for Refused {
    fn from(reason: Rejection) -> Self {
        Self { reason, error: None }
    }
}

impl TurnedAway {
    fn add(&self, peer: &str, refused: &Refused) {
        self.rejected.add(refused.reason);
        let reason = refused.reason.name();
        // These come day in, day out: from probes of the port, and from clients that rest or have left.
        if matches!(
            refused.reason,
            Rejection::Idle | Rejection::NotHttp2 | Rejection::Unresponsive
        ) {
            return tracing::debug!(reason, peer, "a connection was closed");
        }
        let Some(left_out) = self.lines.line(Instant::now()) else {
            return;
        };
        if left_out > 0 {
            tracing::warn!(
                left_out,
                "connections that were turned away were left out of the log"
            );
        }
        let error = refused.error.as_ref().map(tracing::field::display);
        tracing::info!(reason, peer, error, "a connection was turned away");
    }
}

/// Does the handshake of TLS where there is one, and waits for the client's first bytes. Fails with the reason why there is
/// nothing to serve.
async fn open(
    accepted: Accepted,
    tls: Option<Tls>,
    web: bool,
) -> Result<(Preface, Rewound<Box<dyn Transport>>), Refused> {
    let stream: Box<dyn Transport> = match tls {
        Some(tls) if accepted.tcp => {
            let stream = tls.accept(accepted.stream, web).await.map_err(|error| Refused {
                reason: Rejection::Tls,
                error: Some(error),
            })?;
            Box::new(stream)
        }
        _ => accepted.stream,
    };
    match preface::read(stream).await {
        Ok((Preface::Other, _)) if !web => Err(Rejection::NotHttp2.into()),
        Ok(begun) => Ok(begun),
        Err(_) => Err(Rejection::NotHttp2.into()),
    }
}

/// A connection that has begun.
struct Connection {
    activity: Arc<Activity>,
    settings: Arc<Settings>,
    /// Asks the client to finish.
    finish: CancellationToken,
}

impl Connection {
    /// Serves it until it ends, or until its last call has ended after it was asked to finish. Fails with the reason why the
    /// server ended it before its client did.
    async fn http2<S, B>(self, stream: Rewound<Box<dyn Transport>>, service: S) -> Result<(), Rejection>
    where
        S: HttpService<Incoming, ResBody = B>,
        S::Error: Into<BoxError>,
        S::Future: Send + 'static,
        B: http_body::Body<Data = Bytes, Error = Status> + Send + 'static,
    {
        let (stream, seen) = Frames::watch(stream);
        let connection = self.protocol().serve_connection(TokioIo::new(stream), service);
        let mut connection = std::pin::pin!(connection);
        let over = tokio::select! {
            // In this order, since a connection that is told to finish before it was polled closes without a word.
            biased;
            end = connection.as_mut() => return why(end, &seen),
            () = self.finish.cancelled() => None,
            over = lifetime::over(&seen, &self.activity, &self.settings) => Some(over),
        };
        if over == Some(Over::HalfOpen) {
            return Err(Rejection::Handshake);
        }
        // Sends GOAWAY: the client opens no more streams here, and those that are open go on to their ends.
        connection.as_mut().graceful_shutdown();
        if let Err(error) = connection.await {
            tracing::debug!(%error, "the connection broke");
        }
        match over {
            Some(Over::Idle) => Err(Rejection::Idle),
            _ => Ok(()),
        }
    }

    /// The same for HTTP/1.1, which only browsers are served.
    async fn http1(self, stream: Rewound<Box<dyn Transport>>, service: Web) -> Result<(), Rejection> {
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.settings.handshake_timeout)
            .max_buf_size(HTTP1_BUFFER.max(2 * self.settings.max_header_bytes as usize))
            .serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
        let mut connection = std::pin::pin!(connection);
        let seen = Seen::settled_already();
        tokio::select! {
            biased;
            _ = connection.as_mut() => return Ok(()),
            () = self.finish.cancelled() => {}
            _ = lifetime::over(&seen, &self.activity, &self.settings) => {}
        }
        connection.as_mut().graceful_shutdown();
        if let Err(error) = connection.await {
            tracing::debug!(%error, "the connection broke");
        }
        Ok(())
    }

    fn protocol(&self) -> http2::Builder<TokioExecutor> {
        let settings = &self.settings;
        let streams = settings.max_streams_per_connection;
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder
            .timer(TokioTimer::new())
            .adaptive_window(false)
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(streams * CONNECTION_WINDOW_PER_STREAM)
            .max_concurrent_streams(streams)
            .max_frame_size(MAX_FRAME)
            // Twice as much, so that what is too large gets as far as to be counted.
            .max_header_list_size(2 * settings.max_header_bytes)
            .keep_alive_interval(settings.keepalive_interval)
            .keep_alive_timeout(settings.keepalive_timeout);
        builder
    }
}

/// Why a connection ended that nobody asked to finish, where it was the server that ended it.
fn why(end: hyper::Result<()>, seen: &Seen) -> Result<(), Rejection> {
    let Err(error) = end else {
        return Ok(());
    };
    tracing::debug!(%error, "the connection broke");
    let own = error
        .source()
        .and_then(|error| error.downcast_ref::<h2::Error>())
        .filter(|error| !error.is_remote())
        .and_then(h2::Error::reason);
    if seen.flooded() || own == Some(h2::Reason::ENHANCE_YOUR_CALM) {
        return Err(Rejection::Flood);
    }
    // It may end so too where a ping was not answered, in the midst of a frame.
    if own == Some(h2::Reason::NO_ERROR) {
        return Err(Rejection::Unresponsive);
    }
    match error.is_timeout() {
        true => Err(Rejection::Unresponsive),
        false => Ok(()),
    }
}
