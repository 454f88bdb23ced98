//! What the tests share: servers on free ports, puzzles, and waiting for something to become true.
#![allow(dead_code, unused_imports, reason = "every test file uses a part of it")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use sudoku_proto::v1::sudoku_service_client::SudokuServiceClient;
use sudoku_proto::v1::{SolveManyRequest, SolveManyResponse, SolveOptions, SolveRequest, SolveResult};
use sudoku_server::{Drained, Limits, Service, Settings, serve};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tonic::metadata::MetadataValue;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status, Streaming};
use tonic_types::{ErrorInfo, StatusExt};

pub use test_support::puzzles::{PUZZLE, SOLUTION};

/// Has 6,670,903,752,021,072,936,960 solutions: counting them outlasts every test, whatever the engine.
pub const EMPTY: &str = ".................................................................................";

/// How long anything may take before a test fails. Nothing waits as long where all is well.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server on a free port.
pub struct Server {
    pub address: SocketAddr,
    pub service: Service,
    shutdown: CancellationToken,
    task: JoinHandle<Drained>,
}

impl Server {
    pub async fn start(settings: Settings) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let service = Service::new(settings).unwrap();
        let shutdown = CancellationToken::new();
        let task = tokio::spawn(serve(
            listener,
            service.clone(),
            shutdown.clone().cancelled_owned(),
        ));
        Self {
            address,
            service,
            shutdown,
            task,
        }
    }

    /// A new connection.
    pub async fn channel(&self) -> Channel {
        Endpoint::from_shared(format!("http://{}", self.address))
            .unwrap()
            .connect()
            .await
            .unwrap()
    }

    pub async fn client(&self) -> SudokuServiceClient<Channel> {
        SudokuServiceClient::new(self.channel().await)
    }

    /// Asks the server to end.
    pub fn drain(&self) {
        self.shutdown.cancel();
    }

    /// Waits until it has.
    pub async fn ended(self) -> Drained {
        tokio::time::timeout(PATIENCE, self.task)
            .await
            .expect("the server ends")
            .unwrap()
    }
}

/// The default settings, with a solution limit high enough to keep a search going for as long as its time limit.
pub fn patient() -> Settings {
    Settings {
        limits: Limits {
            max_solution_limit: u32::MAX,
            default_time_limit: Duration::from_secs(60),
            ..Limits::default()
        },
        ..Settings::default()
    }
}

/// Options that make [`EMPTY`] take all of its time limit.
pub fn count_all() -> SolveOptions {
    SolveOptions {
        solution_limit: u32::MAX,
        omit_solutions: true,
        ..SolveOptions::default()
    }
}

pub fn with_time_limit(time: Duration) -> SolveOptions {
    SolveOptions {
        time_limit: Some(time.try_into().unwrap()),
        ..count_all()
    }
}

pub fn solve(puzzle: &str) -> SolveRequest {
    SolveRequest {
        puzzle: puzzle.into(),
        options: None,
    }
}

/// A request that runs until something ends it.
pub fn endless() -> SolveRequest {
    SolveRequest {
        puzzle: EMPTY.into(),
        options: Some(count_all()),
    }
}

pub fn message<S: Into<String>>(puzzles: impl IntoIterator<Item = S>) -> SolveManyRequest {
    SolveManyRequest {
        puzzles: puzzles.into_iter().map(Into::into).collect(),
        options: None,
    }
}

/// A message that keeps a thread busy until something ends it.
pub fn endless_message() -> SolveManyRequest {
    SolveManyRequest {
        puzzles: vec![EMPTY.into()],
        options: Some(count_all()),
    }
}

/// Opens a stream that sends without end and reads nothing, and waits until the server cannot send either.
pub async fn start_unread(server: &Server, timeout: Option<&'static str>) -> Streaming<SolveManyResponse> {
    let endpoint = Endpoint::from_shared(format!("http://{}", server.address)).unwrap();
    let channel = endpoint
        .initial_stream_window_size(1_024)
        .connect()
        .await
        .unwrap();
    let sent = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&sent);
    let messages = tokio_stream::iter(std::iter::repeat_with(move || {
        count.fetch_add(1, Ordering::Relaxed);
        message(vec![PUZZLE; 500])
    }));
    let mut request = Request::new(messages);
    if let Some(timeout) = timeout {
        request
            .metadata_mut()
            .insert("grpc-timeout", MetadataValue::from_static(timeout));
    }
    let mut client = SudokuServiceClient::new(channel);
    let answers = soon(client.solve_many(request)).await.unwrap().into_inner();
    // Two messages are more than the window of a stream: when the third is asked for, the server has read of the first.
    // When it then does nothing for a while, it is because no answer goes out.
    let mut quiet = 0;
    until("answers wait", || {
        let load = server.service.load();
        let idle = load.busy_threads == 0 && load.waiting == 0 && sent.load(Ordering::Relaxed) >= 3;
        quiet = if idle { quiet + 1 } else { 0 };
        // It may be over already where the machine is slow.
        load.streams == 0 || quiet >= 200
    })
    .await;
    answers
}

pub fn outcomes(results: &[SolveResult]) -> Vec<sudoku_proto::v1::Outcome> {
    results.iter().map(SolveResult::outcome).collect()
}

/// The `ErrorInfo` of a status, which every error of the service has.
#[track_caller]
pub fn error_info(status: &Status) -> ErrorInfo {
    let info = status
        .get_details_error_info()
        .unwrap_or_else(|| panic!("no ErrorInfo in {status:?}"));
    assert_eq!(info.domain, "sudoku.v1");
    info
}

/// Waits until something is true.
pub async fn until(what: &str, mut is_true: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_true() {
        assert!(begin.elapsed() < PATIENCE, "waited in vain until {what}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Waits for a future, and fails the test if that takes too long.
pub async fn soon<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(PATIENCE, future)
        .await
        .expect("takes too long")
}
