//! The service, and the methods of the contract that take one message and give one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use prost_types::Duration as WireDuration;
use sudoku_engine::Grid;
use sudoku_proto::v1::{GetServerInfoRequest, GetServerInfoResponse, SolveRequest, SolveResponse};
use sudoku_proto::wire::sudoku_service_server::SudokuService;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;
use tonic::{Request, Response, Status};

use crate::deadline::Deadline;
use crate::error::Error;
use crate::metrics::Metrics;
use crate::options::Options;
use crate::pool::Pool;
use crate::rejected::{Rejected, Rejection};
use crate::reply;
use crate::search::{Answer, Attempt};
use crate::settings::{Settings, SettingsError};

/// The Sudoku service: the methods, the workers that solve, and the bounds on what is taken on at once.
///
/// Clones share all of that. [`Service::rpc`] makes the tower service that serves it.
#[derive(Debug, Clone)]
pub struct Service {
    pub(crate) settings: Arc<Settings>,
    pub(crate) pool: Pool,
    solves: Arc<Semaphore>,
    streams: Arc<Semaphore>,
    /// The messages in flight beyond the one that each stream may have.
    pub(crate) shared_messages: Arc<Semaphore>,
    pub(crate) messages: Arc<AtomicUsize>,
    pub(crate) draining: CancellationToken,
    pub(crate) rejected: Arc<Rejected>,
    pub(crate) metrics: Arc<Metrics>,
    /// The room for connections.
    pub(crate) connections: Arc<Semaphore>,
    ready: Arc<AtomicBool>,
    calls: TaskTracker,
}

/// How many slices of a search go together while streams are solved: as long as a turn of a worker.
const SLICES_BESIDE_STREAMS: u64 = 8;

/// What a service is doing at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Load {
    /// `Solve` calls being solved.
    pub solves: usize,
    /// `SolveMany` streams open.
    pub streams: usize,
    /// Messages of streams that are taken and whose answers have not left yet.
    pub messages: usize,
    /// Workers that have messages of streams to solve.
    pub busy_threads: usize,
    /// Pieces of messages that wait for a worker.
    pub waiting: usize,
}

impl Service {
    /// Makes a service.
    ///
    /// # Errors
    ///
    /// A setting is outside its range.
    pub fn new(settings: Settings) -> Result<Self, SettingsError> {
        settings.check()?;
        Ok(Self {
            pool: Pool::new(settings.threads, settings.isa),
            solves: Arc::new(Semaphore::new(settings.max_solves)),
            streams: Arc::new(Semaphore::new(settings.max_streams)),
            shared_messages: Arc::new(Semaphore::new(settings.shared_messages)),
            messages: Arc::new(AtomicUsize::new(0)),
            draining: CancellationToken::new(),
            rejected: Arc::default(),
            metrics: Arc::new(Metrics::new()),
            connections: Arc::new(Semaphore::new(settings.max_connections)),
            ready: Arc::default(),
            calls: TaskTracker::new(),
            settings: Arc::new(settings),
        })
    }

    /// What the service is doing right now. The figures are read one after the other.
    pub fn load(&self) -> Load {
        let pool = self.pool.load();
        Load {
            solves: self.settings.max_solves - self.solves.available_permits(),
            streams: self.settings.max_streams - self.streams.available_permits(),
            messages: self.messages.load(Ordering::Relaxed),
            busy_threads: pool.busy,
            waiting: pool.waiting,
        }
    }

    /// How many calls of the Sudoku service run, those whose requests or answers are on their way included.
    pub fn calls(&self) -> usize {
        self.calls.len()
    }

    /// How many connections of clients are open.
    pub fn connections(&self) -> usize {
        self.settings.max_connections - self.connections.available_permits()
    }

    /// How often connections and calls were turned away for this reason.
    pub fn rejected(&self, reason: Rejection) -> u64 {
        self.rejected.count(reason)
    }

    /// Whether calls are taken on a socket: from when [`serve`](crate::serve()) begins until it drains.
    pub fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Relaxed)
    }

    pub(crate) fn set_ready(&self, ready: bool) {
        self.ready.store(ready, Ordering::Relaxed);
    }

    /// Refuses new calls from now on, and tells the streams to end after the answers to what they have taken.
    pub(crate) fn drain(&self) {
        self.draining.cancel();
        self.calls.close();
    }

    /// Waits until no call runs. Only after [`Service::drain`].
    pub(crate) async fn drained(&self) {
        self.calls.wait().await;
    }

    /// Counts a call in, until the token is dropped.
    pub(crate) fn enter(&self) -> Result<TaskTrackerToken, Error> {
        // Counted first and refused second, so that a drain waits for every call that was not refused.
        let token = self.calls.token();
        if self.draining.is_cancelled() {
            return Err(Error::Draining);
        }
        Ok(token)
    }

    async fn solve_one(&self, request: SolveRequest, deadline: Option<Instant>) -> Result<Answer, Error> {
        let puzzle = Grid::from_line(&request.puzzle).map_err(Error::InvalidPuzzle)?;
        let options = Options::read(request.options.as_ref(), 1, &self.settings.limits)?;
        let _permit = self.permit(&self.solves)?;
        let begin = Instant::now();
        let mut attempt = Attempt::new(&puzzle, options, self.settings.isa);
        let mut slices = 0;
        loop {
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Err(Error::Deadline);
            }
            slices += 1;
            if let Some(answer) = attempt.slice() {
                let outcome = reply::outcome(answer.outcome);
                self.metrics.solved(outcome, begin.elapsed(), slices);
                return Ok(answer);
            }
            // Workers have the thread for longer than a slice, so that a search would get next to nothing beside them.
            if slices % SLICES_BESIDE_STREAMS != 0 && self.pool.is_busy() {
                continue;
            }
            // Lets the other calls have the thread, and is where a call is dropped whose client is gone.
            tokio::task::yield_now().await;
        }
    }

    /// Takes a permit for a stream.
    pub(crate) fn stream_permit(&self) -> Result<OwnedSemaphorePermit, Error> {
        self.permit(&self.streams)
    }

    /// Takes a permit, or refuses at once: work that waits for its turn would only get older.
    fn permit(&self, semaphore: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, Error> {
        Arc::clone(semaphore).try_acquire_owned().map_err(|error| {
            self.rejected.add(Rejection::Overloaded);
            match error {
                TryAcquireError::NoPermits | TryAcquireError::Closed => Error::Overloaded,
            }
        })
    }
}

fn deadline<T>(request: &Request<T>) -> Option<Instant> {
    request
        .extensions()
        .get::<Deadline>()
        .map(|&Deadline(instant)| instant)
}

#[tonic::async_trait]
impl SudokuService for Service {
    async fn solve(&self, request: Request<SolveRequest>) -> Result<Response<SolveResponse>, Status> {
        let deadline = deadline(&request);
        let answer = self.solve_one(request.into_inner(), deadline).await?;
        Ok(Response::new(SolveResponse {
            result: Some(reply::result(&answer)),
        }))
    }

    async fn get_server_info(
        &self,
        _: Request<GetServerInfoRequest>,
    ) -> Result<Response<GetServerInfoResponse>, Status> {
        let limits = &self.settings.limits;
        Ok(Response::new(GetServerInfoResponse {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            max_puzzles_per_message: limits.max_puzzles_per_message,
            max_message_bytes: limits.max_message_bytes,
            max_solution_limit: limits.max_solution_limit,
            max_time_limit: WireDuration::try_from(limits.max_time_limit).ok(),
        }))
    }
}
