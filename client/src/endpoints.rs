//! The servers that a client knows, and which of them take part.
//!
//! A call goes to the less loaded of two that are picked at random. One that fails calls, or owes answers and does not
//! live any more, is taken out (`endpoint`), and let back in when its standard health service (`health`) says that it
//! serves. Names are looked up again and again (`resolve`).

mod address;
mod channel;
mod connect;
mod endpoint;
mod health;
mod refusal;
mod resolve;
mod silence;

use std::sync::{Arc, PoisonError, RwLock};

use tokio::task::JoinSet;
use tonic::transport::Channel;

use crate::{Error, Transport};
pub(crate) use address::{Address, unbracketed};
pub(crate) use channel::Connections;
pub(crate) use endpoint::{Endpoint, EndpointId, Lease};
use health::Health;
pub(crate) use refusal::Foreign;
use refusal::Refusal;
use resolve::Names;
pub(crate) use resolve::{Lookup, Resolving};
pub(crate) use silence::Watch;

/// The servers of a client and its clones.
#[derive(Debug, Clone)]
pub(crate) struct Endpoints<T> {
    shared: Arc<Shared<T>>,
}

#[derive(Debug)]
struct Shared<T> {
    members: RwLock<Arc<[Arc<Endpoint<T>>]>>,
    /// Those that have to be looked up.
    names: Names,
}

impl<T: Transport> Endpoints<T> {
    /// A service that is not ours to look after, as the only endpoint.
    pub(crate) fn single(service: T) -> Self {
        let endpoint = Endpoint::new(String::new(), [service], Refusal::default());
        Self {
            shared: Arc::new(Shared {
                members: RwLock::new(Arc::new([Arc::new(endpoint)])),
                names: Names::default(),
            }),
        }
    }

    /// All endpoints, also those that were taken out.
    pub(crate) fn members(&self) -> Arc<[Arc<Endpoint<T>>]> {
        self.shared.members()
    }

    /// Waits until at least one endpoint is known.
    ///
    /// # Errors
    ///
    /// No name stands for any.
    pub(crate) async fn known(&self) -> Result<(), Error> {
        self.shared
            .names
            .known(|| !self.shared.members().is_empty())
            .await
    }

    /// Has names looked up again soon, since none of the endpoints serves.
    pub(crate) fn look_again(&self) {
        self.shared.names.look_again();
    }

    /// Whether one of them at least takes calls. `false` where some answer, and none takes any.
    ///
    /// # Errors
    ///
    /// Why none can be reached, for the first that said so.
    pub(crate) async fn serving(&self) -> Result<bool, Error> {
        self.known().await?;
        let mut asked = JoinSet::new();
        for endpoint in self.members().iter() {
            let endpoint = Arc::clone(endpoint);
            asked.spawn(async move {
                match endpoint.health().await {
                    Health::Gone(error) => Health::Gone(endpoint.explain(error)),
                    health => health,
                }
            });
        }
        let (mut failed, mut answered) = (None, false);
        while let Some(Ok(health)) = asked.join_next().await {
            match health {
                Health::Serving => return Ok(true),
                Health::NotServing => answered = true,
                Health::Gone(error) => failed = failed.or(Some(error)),
            }
        }
        match failed {
            Some(error) if !answered => Err(error),
            _ => Ok(false),
        }
    }
}

impl Endpoints<Channel> {
    /// The servers at `addresses`.
    ///
    /// # Errors
    ///
    /// Those of [`Connections::open`].
    ///
    /// # Panics
    ///
    /// Outside a Tokio runtime.
    pub(crate) fn open(
        addresses: Vec<Address>,
        connections: Connections,
        resolving: Resolving,
    ) -> Result<Self, Error> {
        let mut fixed = Vec::new();
        let mut named = Vec::new();
        for address in addresses {
            match address {
                Address::Fixed { uri } => {
                    let (lines, refusal) = connections.open(&uri, None)?;
                    fixed.push(Arc::new(Endpoint::new(uri, lines, refusal)));
                }
                Address::Named { uri, host, port } => {
                    // What is wrong with the settings is found here, not when the name has been looked up.
                    connections.open(&uri.to_string(), None)?;
                    named.push((uri, host, port));
                }
            }
        }
        let shared = Arc::new(Shared {
            members: RwLock::new(fixed.clone().into()),
            names: Names::default(),
        });
        resolve::keep(&shared, fixed, named, connections, resolving);
        Ok(Self { shared })
    }
}

impl<T> Shared<T> {
    fn members(&self) -> Arc<[Arc<Endpoint<T>>]> {
        Arc::clone(&self.members.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn set_members(&self, members: Arc<[Arc<Endpoint<T>>]>) {
        *self.members.write().unwrap_or_else(PoisonError::into_inner) = members;
    }
}

/// The less loaded of two of `candidates` that are picked at random.
pub(crate) fn less_loaded<'a, T: Transport>(
    candidates: &[&'a Arc<Endpoint<T>>],
) -> Option<&'a Arc<Endpoint<T>>> {
    let count = candidates.len();
    if count < 2 {
        return candidates.first().copied();
    }
    let first = fastrand::usize(..count);
    let second = (first + fastrand::usize(1..count)) % count;
    Some(match candidates[second].load() < candidates[first].load() {
        true => candidates[second],
        false => candidates[first],
    })
}
