//! A server, and what is known of it.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use tokio::runtime::Handle;
use tokio::time::sleep;

use super::health::{self, Health};
use super::refusal::Refusal;
use crate::{Error, Transport, telemetry};

/// How long an endpoint that was taken out is left alone before it is asked again: doubled each time, with a random part
/// on top.
const ASK_AGAIN: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(100))
    .with_max_delay(Duration::from_secs(10))
    .without_max_times()
    .with_jitter();

/// Tells endpoints apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EndpointId(u64);

/// A server with its connections.
#[derive(Debug)]
pub(crate) struct Endpoint<T> {
    id: EndpointId,
    /// Its URI, for people.
    name: String,
    lines: Box<[Line<T>]>,
    refusal: Refusal,
    /// How many puzzles it has been sent and not answered.
    load: AtomicUsize,
    /// Whether it takes part: not while it was taken out, and no more once its name stands for others.
    serving: AtomicBool,
    retired: AtomicBool,
    /// Whether it was taken out since its last answer, and how long it is left alone next time.
    failing: AtomicBool,
    delays: Mutex<ExponentialBackoff>,
}

/// A connection.
#[derive(Debug)]
struct Line<T> {
    service: T,
    load: AtomicUsize,
}

impl<T: Transport> Endpoint<T> {
    pub(super) fn new(name: String, services: impl IntoIterator<Item = T>, refusal: Refusal) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let line = |service| Line {
            service,
            load: AtomicUsize::new(0),
        };
        Self {
            id: EndpointId(NEXT.fetch_add(1, Ordering::Relaxed)),
            name,
            lines: services.into_iter().map(line).collect(),
            refusal,
            load: AtomicUsize::new(0),
            serving: AtomicBool::new(true),
            retired: AtomicBool::new(false),
            failing: AtomicBool::new(false),
            delays: Mutex::new(ASK_AGAIN.build()),
        }
    }

    pub(crate) fn id(&self) -> EndpointId {
        self.id
    }

    /// The error of a call to it, with its name, and with what the server said where the transport lost that.
    pub(crate) fn explain(&self, error: Error) -> Error {
        let error = error.at(&self.name);
        match self.refusal.reason() {
            Some(reason) => error.because(reason),
            None => error,
        }
    }

    pub(crate) fn load(&self) -> usize {
        self.load.load(Ordering::Relaxed)
    }

    pub(crate) fn lines(&self) -> usize {
        self.lines.len()
    }

    /// Connection `line`.
    pub(crate) fn service(&self, line: usize) -> T {
        self.lines[line].service.clone()
    }

    /// Whether it is one of those that calls go to.
    pub(crate) fn is_serving(&self) -> bool {
        self.serving.load(Ordering::Relaxed) && !self.is_retired()
    }

    /// Whether its name no longer stands for it.
    pub(crate) fn is_retired(&self) -> bool {
        self.retired.load(Ordering::Relaxed)
    }

    pub(super) fn retire(&self) {
        self.retired.store(true, Ordering::Relaxed);
    }

    /// Notes that it has answered a call.
    pub(crate) fn has_answered(&self) {
        if self.failing.load(Ordering::Relaxed) && self.is_serving() {
            self.failing.store(false, Ordering::Relaxed);
            *self.delays.lock().unwrap_or_else(PoisonError::into_inner) = ASK_AGAIN.build();
        }
    }

    /// Takes it out until its health service says that it serves.
    pub(crate) fn eject(self: &Arc<Self>) {
        self.failing.store(true, Ordering::Relaxed);
        if !self.serving.swap(false, Ordering::Relaxed) {
            return;
        }
        telemetry::ejected(&self.name);
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(readmit(Arc::downgrade(self)))),
            // Nobody would let it back in.
            Err(_) => self.serving.store(true, Ordering::Relaxed),
        }
    }

    /// Asks its health service over the connection that carries the least.
    pub(super) async fn health(self: &Arc<Self>) -> Health {
        let lease = Lease::new(Arc::clone(self), |_| true);
        health::check(lease.service()).await
    }

    fn next_delay(&self) -> Duration {
        let mut delays = self.delays.lock().unwrap_or_else(PoisonError::into_inner);
        delays.next().unwrap_or_default()
    }
}

/// Lets an endpoint back in when it serves again. Ends when no client has it any more.
async fn readmit<T: Transport>(endpoint: Weak<Endpoint<T>>) {
    loop {
        let Some(delay) = endpoint.upgrade().map(|endpoint| endpoint.next_delay()) else {
            return;
        };
        sleep(delay).await;
        let Some(endpoint) = endpoint.upgrade() else {
            return;
        };
        if matches!(endpoint.health().await, Health::Serving) {
            tracing::debug!(endpoint = endpoint.name, "back in");
            endpoint.serving.store(true, Ordering::Relaxed);
            return;
        }
    }
}

/// A connection of an endpoint, as long as a call has it. The puzzles under way in it count as the load of both.
#[derive(Debug)]
pub(crate) struct Lease<T> {
    endpoint: Arc<Endpoint<T>>,
    line: usize,
    load: usize,
}

impl<T: Transport> Lease<T> {
    /// The connection that carries the least of those that are free.
    pub(crate) fn new(endpoint: Arc<Endpoint<T>>, is_free: impl Fn(usize) -> bool) -> Self {
        let free = (0..endpoint.lines.len()).filter(|&line| is_free(line));
        let line = free.min_by_key(|&line| endpoint.lines[line].load.load(Ordering::Relaxed));
        Self {
            endpoint,
            line: line.unwrap_or(0),
            load: 0,
        }
    }

    pub(crate) fn endpoint(&self) -> &Arc<Endpoint<T>> {
        &self.endpoint
    }

    pub(crate) fn line(&self) -> usize {
        self.line
    }

    pub(crate) fn service(&self) -> T {
        self.endpoint.service(self.line)
    }

    /// Notes that so many more puzzles are under way.
    pub(crate) fn sent(&mut self, puzzles: usize) {
        self.load += puzzles;
        self.endpoint.load.fetch_add(puzzles, Ordering::Relaxed);
        self.endpoint.lines[self.line]
            .load
            .fetch_add(puzzles, Ordering::Relaxed);
    }

    /// Notes that so many of them were answered.
    pub(crate) fn answered(&mut self, puzzles: usize) {
        self.endpoint.has_answered();
        self.release(puzzles);
    }
}

impl<T> Lease<T> {
    fn release(&mut self, puzzles: usize) {
        self.load -= puzzles;
        self.endpoint.load.fetch_sub(puzzles, Ordering::Relaxed);
        self.endpoint.lines[self.line]
            .load
            .fetch_sub(puzzles, Ordering::Relaxed);
    }
}

impl<T> Drop for Lease<T> {
    fn drop(&mut self) {
        self.release(self.load);
    }
}
