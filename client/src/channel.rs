//! Connections to an endpoint.

use std::error::Error as StdError;
use std::time::Duration;

use tonic::codegen::http::Uri;
use tonic::transport::{Channel, Endpoint};

use crate::Error;

/// How long making a connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A connection that carries nothing is asked whether it still lives this often. Strict servers close connections that
/// ask more often.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(30);

/// How long the answer to that may take before the connection counts as broken.
const KEEP_ALIVE_TIMEOUT: Duration = Duration::from_secs(20);

/// The flow-control windows of a stream and of a connection. That of a stream has room for the answer to a full message.
/// The connection's is far larger because the transport charges unread small frames to it and closes a connection whose
/// budget is spent; a reader that is slow on many streams must not get there.
const STREAM_WINDOW: u32 = 256 << 10;
const CONNECTION_WINDOW: u32 = 256 << 20;

/// The largest frame that is taken. The default of 16 KiB cuts every message into many.
const MAX_FRAME: u32 = 64 << 10;

/// Connects to `endpoint`, and returns when the connection stands.
pub(crate) async fn connect(endpoint: &str) -> Result<Channel, Error> {
    let channel = settings(endpoint)?.connect().await;
    channel.map_err(|error| crate::status::error(tonic::Status::from_error(error.into())))
}

/// Connects to `endpoint` when the first call needs it, and again whenever the connection was lost.
pub(crate) fn connect_lazy(endpoint: &str) -> Result<Channel, Error> {
    Ok(settings(endpoint)?.connect_lazy())
}

fn settings(endpoint: &str) -> Result<Endpoint, Error> {
    let invalid = |source: tonic::transport::Error| refused(endpoint, source);
    let uri = match endpoint.contains("://") {
        true => endpoint.to_owned(),
        false => format!("http://{endpoint}"),
    };
    let settings = Endpoint::from_shared(uri).map_err(invalid)?;
    if let Some(reason) = unsupported(settings.uri()) {
        return Err(refused(endpoint, reason));
    }
    Ok(settings
        .user_agent(concat!("sudoku-client/", env!("CARGO_PKG_VERSION")))
        .map_err(invalid)?
        .connect_timeout(CONNECT_TIMEOUT)
        .http2_keep_alive_interval(KEEP_ALIVE_INTERVAL)
        .keep_alive_timeout(KEEP_ALIVE_TIMEOUT)
        .keep_alive_while_idle(true)
        .http2_adaptive_window(false)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_frame_size(MAX_FRAME))
}

fn refused(endpoint: &str, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Error {
    Error::Endpoint {
        endpoint: endpoint.to_owned(),
        source: source.into(),
    }
}

/// What in the URI the transport would leave aside without a word. Of `https` that is the encryption.
fn unsupported(uri: &Uri) -> Option<&'static str> {
    if uri.scheme_str() != Some("http") {
        return Some("only http is supported");
    }
    if uri
        .authority()
        .is_some_and(|authority| authority.as_str().contains('@'))
    {
        return Some("a user name or password is not supported");
    }
    if uri.path_and_query().is_some_and(|path| path != "/") {
        return Some("a path is not supported");
    }
    None
}
