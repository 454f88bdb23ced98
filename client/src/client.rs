//! The client.

use std::sync::Arc;
use std::time::Duration;

use sudoku_engine::Grid;
use sudoku_proto::v1::GetServerInfoRequest;
use sudoku_proto::wire::sudoku_service_client::SudokuServiceClient;
use tokio::sync::Semaphore;
use tokio_stream::Stream;
use tonic::client::GrpcService;
use tonic::codegen::{Body, Bytes, StdError};
use tonic::transport::Channel;

use crate::calls::Calls;
use crate::deadline::Deadline;
use crate::endpoints::Endpoints;
use crate::many::{Limits, LimitsCache};
use crate::retry::Policy;
use crate::{
    Balanced, ClientBuilder, Error, Outcome, Outcomes, Puzzle, ServerInfo, SolveOptions, status, telemetry,
    wire,
};

/// What a [`SudokuClient`] sends its calls through: a [`Channel`], the same wrapped in tower layers, or the service
/// itself in this process.
///
/// It is implemented for every tower service of HTTP requests that gRPC can be spoken to, and not to be implemented
/// otherwise.
pub trait Transport:
    GrpcService<
        tonic::body::Body,
        Error: Into<StdError>,
        Future: Send,
        ResponseBody: Body<Data = Bytes, Error: Into<StdError> + Send> + Send + 'static,
    > + Clone
    + Send
    + Sync
    + 'static
{
}

impl<T> Transport for T where
    T: GrpcService<
            tonic::body::Body,
            Error: Into<StdError>,
            Future: Send,
            ResponseBody: Body<Data = Bytes, Error: Into<StdError> + Send> + Send + 'static,
        > + Clone
        + Send
        + Sync
        + 'static
{
}

/// A client of the Sudoku service.
///
/// It is cheap to clone; clones share the connections, and what is known of the servers.
#[derive(Debug, Clone)]
pub struct SudokuClient<T = Channel> {
    calls: Calls<T>,
    batch_size: usize,
    options: SolveOptions,
    deadline: Option<Duration>,
    limits: Arc<LimitsCache>,
}

impl SudokuClient {
    /// A builder, for several endpoints and for all else that can be set.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }

    /// Connects to a server, such as `http://127.0.0.1:50051`, with all else as the [builder](ClientBuilder) has it by
    /// default. Without a scheme it is `http`: the connection is not encrypted. `https` expects a certificate that the system
    /// trusts.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), sudoku_client::Error> {
    /// use sudoku_client::SudokuClient;
    ///
    /// let client = SudokuClient::connect("http://127.0.0.1:50051").await?;
    /// println!("version {}", client.server_info().await?.version);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Endpoint`] if that is not an endpoint, [`Error::Transport`] if no connection could be made.
    pub async fn connect(endpoint: impl AsRef<str>) -> Result<Self, Error> {
        Self::builder().endpoint(endpoint.as_ref()).connect().await
    }

    /// Connects to a server when the first call needs it. That call then fails if no connection can be made.
    ///
    /// # Errors
    ///
    /// [`Error::Endpoint`] if that is not an endpoint.
    ///
    /// # Panics
    ///
    /// Outside a Tokio runtime.
    pub fn connect_lazy(endpoint: impl AsRef<str>) -> Result<Self, Error> {
        Self::builder().endpoint(endpoint.as_ref()).connect_lazy()
    }
}

impl<T: Transport> SudokuClient<T> {
    /// A client that sends its calls through `service`: a channel of your own, one wrapped in tower layers, or the
    /// service itself in this process. Unless it gets [retries](Self::with_retries) nothing is
    /// retried, and whether the service lives is left to whoever brings it.
    ///
    /// ```
    /// use sudoku_client::{Grid, SudokuClient};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let client = SudokuClient::from_service(sudoku_server::in_process(Default::default())?);
    /// assert_eq!(client.solve(&Grid::EMPTY).await?.to_string(), "multiple (2 solutions found)");
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_service(service: T) -> Self {
        let calls = Calls {
            endpoints: Endpoints::single(service),
            policy: Policy::hands_off(0),
            hedge: None,
            places: Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)),
            token: None,
            longest_reply: 0,
        };
        Self::new(calls, usize::MAX).with_options(SolveOptions::default())
    }

    /// A client with its options still to be set.
    pub(crate) fn new(calls: Calls<T>, batch_size: usize) -> Self {
        Self {
            calls,
            batch_size,
            options: SolveOptions::default(),
            deadline: None,
            limits: Arc::default(),
        }
    }

    /// The endpoints as one tower service, for the raw stubs, or to be wrapped in layers of one's own and given to
    /// [`from_service`](Self::from_service).
    pub fn service(&self) -> Balanced<T> {
        Balanced::new(self.calls.clone())
    }

    pub(crate) fn endpoints(&self) -> &Endpoints<T> {
        &self.calls.endpoints
    }

    /// This client with other options for the puzzles of its calls.
    #[must_use]
    pub fn with_options(mut self, options: SolveOptions) -> Self {
        self.calls.set_options(&options);
        self.options = options;
        self
    }

    /// This client with a deadline for each of its calls: how long a call may take, from its start to its end. A stream
    /// of puzzles is one call.
    ///
    /// It is sent with the call, so that the server stops as well. There is none by default; what bounds the work is
    /// then the time limit of each puzzle.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// This client with another number of retries, as [`ClientBuilder::retries`] has them. A client of a service of your
    /// own has none.
    #[must_use]
    pub fn with_retries(mut self, retries: usize) -> Self {
        self.calls.policy.set_retries(retries);
        self
    }

    /// Solves one puzzle.
    ///
    /// ```
    /// use sudoku_client::{Grid, Outcome, SudokuClient};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let service = sudoku_server::in_process(Default::default())?;
    /// # let client = SudokuClient::from_service(service);
    /// let puzzle = Grid::from_line(
    ///     "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79",
    /// )?;
    /// match client.solve(&puzzle).await? {
    ///     Outcome::Unique { solution } => println!("{}", solution.expect("not left out")),
    ///     other => println!("no single solution: {other}"),
    /// }
    /// # assert!(client.solve(&puzzle).await?.is_unique());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Any [`Error`] but [`Error::Interrupted`]. A puzzle without a solution, or with several, is none.
    pub async fn solve(&self, puzzle: &Grid) -> Result<Outcome, Error> {
        let deadline = Deadline::after(self.deadline);
        let message = wire::solve_request(puzzle, &self.options);
        let call = |mut rpc: SudokuServiceClient<T>, request| async move { rpc.solve(request).await };
        let response = telemetry::observe("Solve", self.calls.hedged(deadline, message, call)).await?;
        Ok(wire::solved(response, &self.options)?)
    }

    /// Solves a stream of puzzles: grids, or what reading them returned ([`Puzzle`]). The outcomes come in the same
    /// order, one for each.
    ///
    /// Puzzles are sent in messages as large as the server allows when there are plenty, and a puzzle that is alone is
    /// sent at once. Nothing happens before the outcomes are polled. A bounded number of puzzles is taken from the
    /// stream ahead of the outcomes that were read, so a slow reader slows the whole down. Dropping the outcomes cancels
    /// the work. The deadline of the call runs from here.
    ///
    /// An error ends the outcomes, after all those that came before it, and is always [`Error::Interrupted`].
    ///
    /// ```
    /// use sudoku_client::{Grid, Outcome, SudokuClient};
    /// use tokio_stream::StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let service = sudoku_server::in_process(Default::default())?;
    /// # let client = SudokuClient::from_service(service);
    /// let (sender, puzzles) = tokio::sync::mpsc::channel(100);
    /// tokio::spawn(async move {
    ///     for line in ["53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79", "53.."] {
    ///         // What cannot be read takes its place among the outcomes.
    ///         if sender.send(Grid::from_line(line)).await.is_err() {
    ///             return;
    ///         }
    ///     }
    /// });
    /// let mut outcomes = client.solve_many(tokio_stream::wrappers::ReceiverStream::new(puzzles));
    /// while let Some(outcome) = outcomes.next().await {
    ///     println!("{}", outcome?);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn solve_many<S>(&self, puzzles: S) -> Outcomes
    where
        S: Stream<Item: Into<Puzzle>> + Send + 'static,
    {
        let deadline = Deadline::after(self.deadline);
        let client = self.clone();
        let limits = async move { client.limits().await };
        Outcomes::new(
            puzzles,
            self.options,
            deadline,
            self.calls.clone(),
            self.limits.clone(),
            limits,
            self.batch_size,
        )
    }

    /// Solves the puzzles of an iterator, as [`solve_many`](Self::solve_many) does those of a stream.
    ///
    /// The iterator is advanced inside the task that polls the outcomes. One that blocks, on a file for instance, is
    /// better run on a thread of its own that sends its items through a channel.
    ///
    /// ```
    /// use sudoku_client::{Grid, SudokuClient};
    /// use tokio_stream::StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let service = sudoku_server::in_process(Default::default())?;
    /// # let client = SudokuClient::from_service(service);
    /// let mut outcomes = client.solve_iter([Grid::EMPTY; 3]);
    /// let mut ambiguous = 0;
    /// while let Some(outcome) = outcomes.next().await {
    ///     ambiguous += usize::from(outcome?.solution_count() > 1);
    /// }
    /// assert_eq!(ambiguous, 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn solve_iter<I>(&self, puzzles: I) -> Outcomes
    where
        I: IntoIterator<Item: Into<Puzzle>, IntoIter: Send + 'static>,
    {
        self.solve_many(tokio_stream::iter(puzzles))
    }

    /// Whether a server takes calls, as the standard health service of each tells: `false` where some answer, and all are
    /// about to go or not ready. One without that service counts as taking calls. It takes 5 seconds at most.
    ///
    /// # Errors
    ///
    /// [`Error::Transport`] if none can be reached.
    pub async fn is_serving(&self) -> Result<bool, Error> {
        self.calls.endpoints.serving().await
    }

    /// Asks for the server's version and limits.
    ///
    /// # Errors
    ///
    /// Any [`Error`] but [`Error::Interrupted`].
    pub async fn server_info(&self) -> Result<ServerInfo, Error> {
        let deadline = Deadline::after(self.deadline);
        let call =
            |mut rpc: SudokuServiceClient<T>, request| async move { rpc.get_server_info(request).await };
        let call = self.calls.unary(deadline, GetServerInfoRequest {}, call);
        let response = telemetry::observe("GetServerInfo", call).await?;
        Ok(wire::server_info(response))
    }

    /// The limits by which messages are sized: asked for once, and the defaults of the contract where the server has no
    /// such method.
    async fn limits(&self) -> Result<Limits, Error> {
        if let Some(known) = self.limits.get() {
            // What is not the first stream has to know where to go as well.
            self.endpoints().known().await?;
            return Ok(known);
        }
        let limits = match self.server_info().await {
            Ok(info) => Limits::from(&info),
            Err(error) if status::is_unimplemented(&error) => Limits::default(),
            Err(error) => return Err(error),
        };
        self.limits.set(limits);
        Ok(limits)
    }
}
