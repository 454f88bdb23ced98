//! What clients meet before their calls are looked at.

use opentelemetry_sdk::trace::SdkTracer;
use tokio::net::TcpListener;

use crate::listener::Listener;
use crate::tls::Tls;
use crate::tokens::Tokens;
use crate::traces::Traces;
use crate::web::{Origin, Pages};

/// What clients meet first: the sockets they connect to, encryption, and the question who they are.
#[derive(Debug)]
pub struct Front {
    pub(crate) listeners: Vec<Listener>,
    pub(crate) tls: Option<Tls>,
    pub(crate) tokens: Option<Tokens>,
    pub(crate) pages: Option<Pages>,
    pub(crate) traces: Option<Traces>,
}

impl Front {
    /// Takes connections on all of these.
    pub fn new(listeners: impl IntoIterator<Item = Listener>) -> Self {
        Self {
            listeners: listeners.into_iter().collect(),
            tls: None,
            tokens: None,
            pages: None,
            traces: None,
        }
    }

    /// Encrypts what comes over TCP. Unix sockets stay as they are: their file's permissions guard them.
    pub fn tls(self, tls: Tls) -> Self {
        Self {
            tls: Some(tls),
            ..self
        }
    }

    /// Takes only calls that have one of the tokens. Health is open to all.
    pub fn tokens(self, tokens: Tokens) -> Self {
        Self {
            tokens: Some(tokens),
            ..self
        }
    }

    /// Makes a span with this tracer for each call but those of health, in the W3C trace that the caller sends if it sends one.
    pub fn traces(self, tracer: SdkTracer) -> Self {
        Self {
            traces: Some(Traces::new(tracer)),
            ..self
        }
    }

    /// Also takes calls from scripts of pages of these origins: gRPC-Web, over HTTP/2 and HTTP/1.1.
    pub fn web(self, origins: Vec<Origin>) -> Self {
        Self {
            pages: Some(Pages::new(origins)),
            ..self
        }
    }
}

impl From<TcpListener> for Front {
    fn from(listener: TcpListener) -> Self {
        Self::new([listener.into()])
    }
}
