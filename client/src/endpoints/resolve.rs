//! Names that stand for any number of servers: looked up at the start, and again while a client has them.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::{sleep, timeout};
use tonic::codegen::http::Uri;
use tonic::transport::Channel;

use super::{Connections, Endpoint, Shared, address};
use crate::error::{Error, TransportError};

/// The shortest time between two look-ups, however much they are wanted.
const PAUSE: Duration = Duration::from_millis(100);

/// How long a look-up may take.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// The most servers that a name may stand for. The rest is left aside.
const MOST: usize = 64;

type Found = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send>>;

/// Finds the addresses of a host and a port.
#[derive(Clone)]
pub(crate) struct Lookup(Arc<dyn Fn(String, u16) -> Found + Send + Sync>);

impl Lookup {
    pub(crate) fn new<F, R>(lookup: F) -> Self
    where
        F: Fn(String, u16) -> R + Send + Sync + 'static,
        R: Future<Output = io::Result<Vec<SocketAddr>>> + Send + 'static,
    {
        Self(Arc::new(move |host, port| Box::pin(lookup(host, port))))
    }
}

/// That of the operating system.
impl Default for Lookup {
    fn default() -> Self {
        Self::new(|host, port| async move { Ok(tokio::net::lookup_host((host, port)).await?.collect()) })
    }
}

impl fmt::Debug for Lookup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lookup")
    }
}

/// How names are looked up, and how often.
#[derive(Debug, Clone)]
pub(crate) struct Resolving {
    pub(crate) lookup: Lookup,
    pub(crate) every: Duration,
}

impl Default for Resolving {
    fn default() -> Self {
        Self {
            lookup: Lookup::default(),
            every: Duration::from_secs(30),
        }
    }
}

/// What is known of the names of a set of endpoints.
#[derive(Debug, Default)]
pub(super) struct Names {
    last: watch::Sender<LastLookup>,
    wanted: Notify,
}

#[derive(Debug, Clone, Default)]
struct LastLookup(Option<Arc<io::Error>>);

impl Names {
    /// Asks for another look-up before it is time.
    pub(super) fn look_again(&self) {
        self.wanted.notify_one();
    }

    /// Waits until `is_known` says that there is an endpoint, through one more look-up if the last one found none.
    pub(super) async fn known(&self, is_known: impl Fn() -> bool) -> Result<(), Error> {
        let mut last = self.last.subscribe();
        if is_known() {
            return Ok(());
        }
        self.look_again();
        // It is never closed, since this holds it.
        let _ = last.changed().await;
        let LastLookup(error) = last.borrow().clone();
        match error {
            Some(error) if !is_known() => Err(Error::Transport(TransportError::unresolved(error))),
            _ => Ok(()),
        }
    }
}

/// A name, and the endpoints that it stands for.
struct Name {
    uri: Uri,
    host: String,
    port: u16,
    endpoints: Vec<(SocketAddr, Arc<Endpoint<Channel>>)>,
}

/// Looks the names up, now and as long as `shared` is there.
pub(super) fn keep(
    shared: &Arc<Shared<Channel>>,
    fixed: Vec<Arc<Endpoint<Channel>>>,
    named: Vec<(Uri, String, u16)>,
    connections: Connections,
    resolving: Resolving,
) {
    if named.is_empty() {
        return;
    }
    let name = |(uri, host, port)| Name {
        uri,
        host,
        port,
        endpoints: Vec::new(),
    };
    let keeper = Keeper {
        shared: Arc::downgrade(shared),
        fixed,
        names: named.into_iter().map(name).collect(),
        connections,
        resolving,
    };
    tokio::spawn(keeper.run());
}

/// Keeps the endpoints of names up to date.
struct Keeper {
    shared: Weak<Shared<Channel>>,
    fixed: Vec<Arc<Endpoint<Channel>>>,
    names: Vec<Name>,
    connections: Connections,
    resolving: Resolving,
}

impl Keeper {
    async fn run(mut self) {
        loop {
            let error = self.look_up().await.err().map(Arc::new);
            let Some(shared) = self.shared.upgrade() else {
                return;
            };
            shared.set_members(self.members());
            shared.names.last.send_replace(LastLookup(error));
            drop(shared);
            sleep(PAUSE).await;
            if !self.wait().await {
                return;
            }
        }
    }

    /// Waits until it is time again, or a call found no endpoint at all. `false` when no client is left, which is looked
    /// at every now and then.
    async fn wait(&self) -> bool {
        let mut left = self.resolving.every;
        while !left.is_zero() {
            let Some(shared) = self.shared.upgrade() else {
                return false;
            };
            let step = left.min(Duration::from_secs(1));
            if timeout(step, shared.names.wanted.notified()).await.is_ok() {
                break;
            }
            left -= step;
        }
        true
    }

    /// # Errors
    ///
    /// That of the last name that could not be looked up. What was known of it stays.
    async fn look_up(&mut self) -> io::Result<()> {
        let mut result = Ok(());
        for name in &mut self.names {
            let found = (self.resolving.lookup.0)(name.host.clone(), name.port);
            let found = match timeout(ANSWER_WITHIN, found).await {
                Ok(Ok(found)) if found.is_empty() => Err(io::Error::other("the name stands for no address")),
                Ok(found) => found,
                Err(_) => Err(io::ErrorKind::TimedOut.into()),
            };
            match found {
                Ok(found) => name.update(&found, &self.connections),
                Err(error) => result = Err(io::Error::new(error.kind(), format!("{}: {error}", name.host))),
            }
        }
        result
    }

    fn members(&self) -> Arc<[Arc<Endpoint<Channel>>]> {
        let named = self
            .names
            .iter()
            .flat_map(|name| &name.endpoints)
            .map(|(_, endpoint)| endpoint);
        self.fixed.iter().chain(named).cloned().collect()
    }
}

impl Name {
    /// Keeps the endpoints that the name still stands for, and adds the new ones.
    fn update(&mut self, found: &[SocketAddr], connections: &Connections) {
        self.endpoints.retain(|(address, endpoint)| {
            let stays = found.contains(address);
            if !stays {
                endpoint.retire();
            }
            stays
        });
        for &address in found {
            let is_known = self.endpoints.iter().any(|&(known, _)| known == address);
            if is_known || self.endpoints.len() == MOST {
                continue;
            }
            let opened = connections.open(&address::at(address, &self.uri), Some(&self.uri));
            // The same settings were good when the client was made.
            let Ok((lines, refusal)) = opened else { continue };
            let name = format!("{} at {address}", self.uri);
            self.endpoints
                .push((address, Arc::new(Endpoint::new(name, lines, refusal))));
        }
    }
}
