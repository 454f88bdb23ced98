//! Building a client.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;

use crate::calls::Calls;
use crate::endpoints::{Address, Connections, Endpoints, Lookup, Resolving};
use crate::retry::{self, Policy};
use crate::token::Token;
use crate::{Error, SolveOptions, SudokuClient, Tls};

/// How many connections an endpoint gets, unless the client is built otherwise. One is shared by all calls on it, and two
/// carry noticeably more.
const CONNECTIONS: usize = 2;

/// The most connections of an endpoint.
const MOST_CONNECTIONS: usize = 64;

/// How many calls of one message run at once, unless the client is built otherwise.
const CONCURRENCY: usize = 1_024;

/// Builds a [`SudokuClient`]: which servers it calls, and how.
///
/// All but the endpoints may be left as it is.
///
/// ```no_run
/// use std::time::Duration;
/// use sudoku_client::SudokuClient;
///
/// # async fn example() -> Result<(), sudoku_client::Error> {
/// let client = SudokuClient::builder()
///     .endpoint("http://10.0.0.1:50051")
///     .endpoint("http://10.0.0.2:50051")
///     .deadline(Duration::from_secs(30))
///     .connect()
///     .await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct ClientBuilder {
    endpoints: Vec<String>,
    settings: Connections,
    token: Option<Secret>,
    token_in_the_open: bool,
    expects_tls: bool,
    resolving: Resolving,
    options: SolveOptions,
    deadline: Option<Duration>,
    concurrency: usize,
    batch_size: usize,
    retries: usize,
    hedge: Option<Duration>,
}

impl Default for ClientBuilder {
    fn default() -> Self {
        Self {
            endpoints: Vec::new(),
            settings: Connections {
                lines: CONNECTIONS,
                ..Connections::default()
            },
            token: None,
            token_in_the_open: false,
            expects_tls: false,
            resolving: Resolving::default(),
            options: SolveOptions::default(),
            deadline: None,
            concurrency: CONCURRENCY,
            batch_size: usize::MAX,
            retries: retry::RETRIES,
            hedge: None,
        }
    }
}

impl ClientBuilder {
    /// Adds an endpoint: `http://HOST:PORT`, `https://HOST:PORT`, or `unix:PATH` for a Unix socket. Without a scheme it is
    /// `http`.
    ///
    /// A host that is a name stands for all of its addresses, each an endpoint of its own; see
    /// [`resolve_every`](Self::resolve_every).
    pub fn endpoint(mut self, endpoint: impl Into<String>) -> Self {
        self.endpoints.push(endpoint.into());
        self
    }

    /// Adds any number of endpoints.
    pub fn endpoints(mut self, endpoints: impl IntoIterator<Item: Into<String>>) -> Self {
        self.endpoints.extend(endpoints.into_iter().map(Into::into));
        self
    }

    /// How many connections each endpoint gets: 1 to 64, by default 2. What is outside the range is moved into it.
    pub fn connections(mut self, connections: usize) -> Self {
        self.settings.lines = connections.clamp(1, MOST_CONNECTIONS);
        self
    }

    /// How often names are looked up again, by default every 30 seconds. They also are when no endpoint serves. Shorter
    /// than 100 ms is that.
    pub fn resolve_every(mut self, interval: Duration) -> Self {
        self.resolving.every = interval;
        self
    }

    /// Looks names up with `lookup`, which gets a host and a port, instead of asking the operating system.
    pub fn resolve_with<F, R>(mut self, lookup: F) -> Self
    where
        F: Fn(String, u16) -> R + Send + Sync + 'static,
        R: Future<Output = io::Result<Vec<SocketAddr>>> + Send + 'static,
    {
        self.resolving.lookup = Lookup::new(lookup);
        self
    }

    /// What the program calls itself, as in `shop/1.4`. It comes first in the user agent that servers see.
    pub fn user_agent(mut self, program: impl Into<String>) -> Self {
        self.settings.user_agent = Some(program.into());
        self
    }

    /// How `https` endpoints are reached. Refused where no endpoint is one, since then nothing would be encrypted.
    pub fn tls(mut self, tls: Tls) -> Self {
        self.settings.tls = tls;
        self.expects_tls = true;
        self
    }

    /// The bearer token that calls carry.
    ///
    /// It is refused for an endpoint to which it would travel in the open, [`Error::TokenInTheOpen`]: one that is not `https`
    /// and not on this machine.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(Secret(token.into()));
        self
    }

    /// Whether the token may travel in the open, for networks that encrypt by themselves. `false` by default.
    pub fn token_in_the_open(mut self, allowed: bool) -> Self {
        self.token_in_the_open = allowed;
        self
    }

    /// How puzzles are solved; [`SudokuClient::with_options`] changes it later.
    pub fn options(mut self, options: SolveOptions) -> Self {
        self.options = options;
        self
    }

    /// How long each call may take; [`SudokuClient::with_deadline`] changes it later. By default any time.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// How many calls of one message run at once, by default 1,024; further ones wait, within their deadline. At least 1.
    /// Streams of puzzles do not count: each has its own bounds.
    pub fn concurrency(mut self, calls: usize) -> Self {
        self.concurrency = calls.clamp(1, Semaphore::MAX_PERMITS);
        self
    }

    /// The most puzzles in a message of a stream, at least 1. By default, and at most, what the server allows or 2,048,
    /// whichever is less.
    pub fn batch_size(mut self, puzzles: usize) -> Self {
        self.batch_size = puzzles.max(1);
        self
    }

    /// How many times a call goes back to an endpoint that failed it, by default 4; with 0 nothing is retried. Other
    /// endpoints are tried first, and at once.
    ///
    /// Retried are connections that cannot be made or break, UNAVAILABLE, and RESOURCE_EXHAUSTED where the server asks to
    /// come back. A connection that fails for a certificate that is refused, or since the server does not speak TLS or
    /// speaks nothing else, is tried on other endpoints alone. The first pause is 100 ms, each further one twice as long,
    /// with a random part of up to as much on top. All retries of a client together are bounded by a share of the calls
    /// that succeed.
    pub fn retries(mut self, retries: usize) -> Self {
        self.retries = retries;
        self
    }

    /// Has a second endpoint solve the puzzle of a [`solve`](SudokuClient::solve) as well when the first has not
    /// answered after `delay`; what answers first counts. Off by default. Hedged calls count as retries.
    pub fn hedge_after(mut self, delay: Duration) -> Self {
        self.hedge = Some(delay);
        self
    }

    /// The client, once it has reached at least one of the endpoints.
    ///
    /// # Errors
    ///
    /// Those of [`connect_lazy`](Self::connect_lazy), and [`Error::Transport`] if none can be reached.
    pub async fn connect(self) -> Result<SudokuClient, Error> {
        let client = self.connect_lazy()?;
        client.endpoints().serving().await?;
        Ok(client)
    }

    /// The client, which connects when a call needs it.
    ///
    /// # Errors
    ///
    /// [`Error::Endpoint`] for what is no endpoint, [`Error::TokenInTheOpen`] for one to which the token is not sent,
    /// [`Error::Config`] for another setting that cannot be.
    ///
    /// # Panics
    ///
    /// Outside a Tokio runtime.
    pub fn connect_lazy(self) -> Result<SudokuClient, Error> {
        let addresses = self.addresses()?;
        let calls = Calls {
            endpoints: Endpoints::open(addresses, self.settings, self.resolving)?,
            policy: Policy::new(self.retries),
            hedge: self.hedge,
            places: Arc::new(Semaphore::new(self.concurrency)),
            token: self.token.map(|Secret(token)| Token::new(&token)).transpose()?,
            longest_reply: 0,
        };
        let client = SudokuClient::new(calls, self.batch_size).with_options(self.options);
        Ok(match self.deadline {
            Some(deadline) => client.with_deadline(deadline),
            None => client,
        })
    }

    /// What the endpoints mean, if nothing that is to stay secret is at risk.
    fn addresses(&self) -> Result<Vec<Address>, Error> {
        if self.endpoints.is_empty() {
            return Err(Error::config("a client needs an endpoint"));
        }
        let mut addresses = Vec::new();
        for endpoint in &self.endpoints {
            let address = Address::parse(endpoint)?;
            if self.token.is_some() && !self.token_in_the_open && !address.is_private() {
                return Err(Error::TokenInTheOpen {
                    endpoint: endpoint.clone(),
                });
            }
            addresses.push(address);
        }
        if self.expects_tls && !addresses.iter().any(Address::is_encrypted) {
            return Err(Error::config("TLS is set, and no endpoint is https"));
        }
        Ok(addresses)
    }
}

/// What is not shown.
#[derive(Clone)]
struct Secret(String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}
