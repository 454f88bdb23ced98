//! What clients meet before their calls are looked at.

use tokio::net::TcpListener;

use crate::listener::Listener;
use crate::tls::Tls;
use crate::tokens::Tokens;

/// What clients meet first: the sockets they connect to, encryption, and the question who they are.
#[derive(Debug)]
pub struct Front {
    pub(crate) listeners: Vec<Listener>,
    pub(crate) tls: Option<Tls>,
    pub(crate) tokens: Option<Tokens>,
}

impl Front {
    /// Takes connections on all of these.
    pub fn new(listeners: impl IntoIterator<Item = Listener>) -> Self {
        Self {
            listeners: listeners.into_iter().collect(),
            tls: None,
            tokens: None,
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
}

impl From<TcpListener> for Front {
    fn from(listener: TcpListener) -> Self {
        Self::new([listener.into()])
    }
}
