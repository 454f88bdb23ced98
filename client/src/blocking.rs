//! The client for programs without async: the same calls, each of which waits for its answer.
//!
//! ```no_run
//! use sudoku_client::{Grid, blocking::SudokuClient};
//!
//! # fn example(puzzles: Vec<Grid>) -> Result<(), sudoku_client::Error> {
//! let client = SudokuClient::connect("http://127.0.0.1:50051")?;
//! for outcome in client.solve_many(puzzles) {
//!     println!("{}", outcome?);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! The connections have a thread of their own, so they stay alive between the calls.

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::thread;
use std::time::Duration;

use sudoku_engine::Grid;
use tokio::runtime::{self, Handle, Runtime};
use tokio_stream::Stream;
use tonic::transport::Channel;

use crate::{ClientBuilder, Error, Outcome, Puzzle, ServerInfo, SolveOptions, Transport};

/// The most outcomes that are taken over at a time.
const TAKEN_AT_ONCE: usize = 2_048;

/// A client of the Sudoku service whose calls wait: [`crate::SudokuClient`] without async.
///
/// It is cheap to clone; clones share the connections and their thread.
///
/// # Panics
///
/// Every method that waits panics in an async function, where it would stop all others; there the client of the crate's
/// root is the right one.
#[derive(Debug, Clone)]
pub struct SudokuClient<T = Channel> {
    client: crate::SudokuClient<T>,
    driver: Arc<Driver>,
}

impl SudokuClient {
    /// Connects to a server, as [`crate::SudokuClient::connect`] does.
    ///
    /// # Errors
    ///
    /// Those of [`build`](Self::build).
    pub fn connect(endpoint: impl AsRef<str>) -> Result<Self, Error> {
        Self::build(crate::SudokuClient::builder().endpoint(endpoint.as_ref()))
    }

    /// The client that `builder` describes, once it has reached at least one endpoint.
    ///
    /// ```no_run
    /// use sudoku_client::blocking::SudokuClient;
    ///
    /// # fn example() -> Result<(), sudoku_client::Error> {
    /// let endpoints = ["http://10.0.0.1:50051", "http://10.0.0.2:50051"];
    /// let client = SudokuClient::build(sudoku_client::SudokuClient::builder().endpoints(endpoints))?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`ClientBuilder::connect`], and [`Error::Config`] if the system has no thread for the connections.
    pub fn build(builder: ClientBuilder) -> Result<Self, Error> {
        let driver = Driver::start(1)?;
        let client = driver.wait(builder.connect())?;
        Ok(Self { client, driver })
    }
}

impl<T: Transport> SudokuClient<T> {
    /// A client that sends its calls through `service`, as [`crate::SudokuClient::from_service`] does. The service may do
    /// the work itself, so it gets a thread for each core.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] if the system has no thread to run it.
    pub fn from_service(service: T) -> Result<Self, Error> {
        Ok(Self {
            client: crate::SudokuClient::from_service(service),
            driver: Driver::start(thread::available_parallelism().map_or(1, NonZeroUsize::get))?,
        })
    }

    /// This client with other options for the puzzles of its calls.
    #[must_use]
    pub fn with_options(mut self, options: SolveOptions) -> Self {
        self.client = self.client.with_options(options);
        self
    }

    /// This client with a deadline for each of its calls, as [`crate::SudokuClient::with_deadline`] has it.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.client = self.client.with_deadline(deadline);
        self
    }

    /// This client with another number of retries, as [`ClientBuilder::retries`] has them.
    #[must_use]
    pub fn with_retries(mut self, retries: usize) -> Self {
        self.client = self.client.with_retries(retries);
        self
    }

    /// Solves one puzzle.
    ///
    /// ```
    /// use sudoku_client::{Grid, blocking::SudokuClient};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let service = sudoku_server::in_process(Default::default())?;
    /// # let client = SudokuClient::from_service(service)?;
    /// let puzzle = Grid::from_line(
    ///     "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79",
    /// )?;
    /// assert!(client.solve(&puzzle)?.is_unique());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`crate::SudokuClient::solve`].
    pub fn solve(&self, puzzle: &Grid) -> Result<Outcome, Error> {
        self.driver.wait(self.client.solve(puzzle))
    }

    /// Solves any number of puzzles. The outcomes come in the same order, one for each, as those of
    /// [`crate::SudokuClient::solve_many`] do.
    ///
    /// The puzzles are taken while the outcomes are, on the same thread: a bounded number of them ahead.
    ///
    /// ```
    /// use sudoku_client::{Grid, blocking::SudokuClient};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let service = sudoku_server::in_process(Default::default())?;
    /// # let client = SudokuClient::from_service(service)?;
    /// let outcomes: Result<Vec<_>, _> = client.solve_many([Grid::EMPTY; 3]).collect();
    /// assert_eq!(outcomes?.len(), 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn solve_many<I>(&self, puzzles: I) -> Outcomes
    where
        I: IntoIterator<Item: Into<Puzzle>, IntoIter: Send + 'static>,
    {
        Outcomes {
            outcomes: self.client.solve_iter(puzzles),
            ready: VecDeque::new(),
            driver: Arc::clone(&self.driver),
        }
    }

    /// Asks for the server's version and limits.
    ///
    /// # Errors
    ///
    /// Those of [`crate::SudokuClient::server_info`].
    pub fn server_info(&self) -> Result<ServerInfo, Error> {
        self.driver.wait(self.client.server_info())
    }
}

/// The outcomes of many puzzles, in the order of the puzzles. An error is the last item.
///
/// Dropping it cancels the work.
#[must_use = "nothing is solved before the outcomes are taken"]
pub struct Outcomes {
    outcomes: crate::Outcomes,
    /// Those that were taken over and not handed out.
    ready: VecDeque<Result<Outcome, Error>>,
    driver: Arc<Driver>,
}

impl Iterator for Outcomes {
    type Item = Result<Outcome, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ready.is_empty() {
            let (outcomes, ready) = (&mut self.outcomes, &mut self.ready);
            // Waiting has its price, so all that is there is taken over together.
            self.driver.wait(poll_fn(|cx| {
                while ready.len() < TAKEN_AT_ONCE {
                    match Pin::new(&mut *outcomes).poll_next(cx) {
                        Poll::Ready(Some(outcome)) => ready.push_back(outcome),
                        Poll::Ready(None) => break,
                        Poll::Pending if ready.is_empty() => return Poll::Pending,
                        Poll::Pending => break,
                    }
                }
                Poll::Ready(())
            }));
        }
        self.ready.pop_front()
    }
}

impl fmt::Debug for Outcomes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outcomes")
            .field("outcomes", &self.outcomes)
            .finish_non_exhaustive()
    }
}

impl Drop for Outcomes {
    /// What is cancelled may need the runtime to tell the server.
    fn drop(&mut self) {
        let _entered = self.driver.handle.enter();
        self.outcomes.cancel();
    }
}

/// Runs the connections.
#[derive(Debug)]
struct Driver {
    handle: Handle,
    /// `None` once it ends.
    runtime: Option<Runtime>,
}

impl Driver {
    fn start(threads: usize) -> Result<Arc<Self>, Error> {
        let runtime = runtime::Builder::new_multi_thread()
            .worker_threads(threads)
            .thread_name("sudoku-client")
            .enable_all()
            .build();
        let runtime = runtime.map_err(Error::config)?;
        Ok(Arc::new(Self {
            handle: runtime.handle().clone(),
            runtime: Some(runtime),
        }))
    }

    /// Waits for a future on this thread.
    fn wait<F: Future>(&self, future: F) -> F::Output {
        self.handle.block_on(future)
    }
}

impl Drop for Driver {
    /// Waits for nothing, so that a client may be dropped in an async function.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
