//! Connections to a server.

use std::time::Duration;

use tonic::codegen::http::Uri;
use tonic::transport::{Channel, Endpoint};

use super::address::is_encrypted;
use super::connect::{Connector, Place};
use super::refusal::Refusal;
use crate::{Error, Tls};

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

/// How the connections of a client are made.
#[derive(Debug, Clone, Default)]
pub(crate) struct Connections {
    /// How many each server gets.
    pub(crate) lines: usize,
    /// What stands before the SDK in the user agent.
    pub(crate) user_agent: Option<String>,
    pub(crate) tls: Tls,
}

impl Connections {
    /// Connections to the server at `uri`, made when the first call needs them and again whenever they were lost, and what
    /// it says where it refuses them. Where the server is one of several behind a name, `name` is what it is called by, and
    /// what its certificate has to be for.
    ///
    /// # Errors
    ///
    /// [`Error::Endpoint`] for what is no URI, [`Error::Config`] for a user agent that no header can carry, and for TLS
    /// settings that cannot be used.
    pub(super) fn open(&self, uri: &str, name: Option<&Uri>) -> Result<(Vec<Channel>, Refusal), Error> {
        let mut settings = Endpoint::from_shared(uri.to_owned())
            .map_err(|source| Error::endpoint(uri, source))?
            .user_agent(self.user_agent())
            .map_err(|_| Error::config("the user agent has characters that no header may have"))?
            .http2_keep_alive_interval(KEEP_ALIVE_INTERVAL)
            .keep_alive_timeout(KEEP_ALIVE_TIMEOUT)
            .keep_alive_while_idle(true)
            .http2_adaptive_window(false)
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_frame_size(MAX_FRAME);
        let refusal = Refusal::default();
        let host = name.unwrap_or(settings.uri()).host().unwrap_or_default();
        let encrypted = is_encrypted(settings.uri());
        let connector = Connector {
            place: Place::of(uri, settings.uri()),
            tls: encrypted.then(|| self.tls.connector(host)).transpose()?,
            refusal: refusal.clone(),
        };
        if let Some(name) = name {
            settings = settings.origin(name.clone());
        }
        let line = |_| Channel::new(connector.clone(), settings.clone());
        Ok(((0..self.lines).map(line).collect(), refusal))
    }

    fn user_agent(&self) -> String {
        const SDK: &str = concat!("sudoku-client/", env!("CARGO_PKG_VERSION"));
        match &self.user_agent {
            Some(program) => format!("{program} {SDK}"),
            None => SDK.to_owned(),
        }
    }
}
