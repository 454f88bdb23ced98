//! What clients meet before their calls are looked at.

use tokio::net::TcpListener;

use crate::listener::Listener;

/// What clients meet first: the sockets they connect to.
#[derive(Debug)]
pub struct Front {
    pub(crate) listeners: Vec<Listener>,
}

impl Front {
    /// Takes connections on all of these.
    pub fn new(listeners: impl IntoIterator<Item = Listener>) -> Self {
        Self {
            listeners: listeners.into_iter().collect(),
        }
    }
}

impl From<TcpListener> for Front {
    fn from(listener: TcpListener) -> Self {
        Self::new([listener.into()])
    }
}
