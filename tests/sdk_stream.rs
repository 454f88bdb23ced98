//! The SDK's `solve_many`: outcomes in order, puzzles packed as they come, bounded, cancelled when dropped.

mod common;

use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{EASY, assert_solves, client, collect, grid, puzzle, until};
use sudoku_client::{Grid, GridError, InvalidPuzzle, Outcome, Reason, SolveOptions, SudokuClient, Transport};
use sudoku_proto::v1::sudoku_service_client::SudokuServiceClient;
use sudoku_proto::v1::sudoku_service_server::{SudokuService, SudokuServiceServer};
use sudoku_proto::v1::{
    GetServerInfoRequest, GetServerInfoResponse, SolveManyRequest, SolveManyResponse, SolveRequest,
    SolveResponse,
};
use sudoku_server::{Limits, Rpc, Service, Settings};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::{ReceiverStream, UnboundedReceiverStream};
use tonic::body::Body;
use tonic::codegen::http;
use tonic::{Request, Response, Status, Streaming};

const PATIENCE: Duration = Duration::from_secs(60);

fn settings(limits: Limits) -> Settings {
    Settings {
        limits,
        ..Settings::default()
    }
}

fn rpc(limits: Limits) -> Rpc {
    sudoku_server::in_process(settings(limits)).unwrap()
}

/// Passes everything on to a service, and notes how many puzzles each message of a stream holds.
#[derive(Clone)]
struct Recorder {
    service: SudokuServiceClient<Rpc>,
    sizes: Arc<Mutex<Vec<usize>>>,
}

impl Recorder {
    fn client(service: Rpc) -> (SudokuClient<SudokuServiceServer<Self>>, Arc<Mutex<Vec<usize>>>) {
        let sizes = Arc::default();
        let recorder = Self {
            service: SudokuServiceClient::new(service),
            sizes: Arc::clone(&sizes),
        };
        (
            SudokuClient::from_service(SudokuServiceServer::new(recorder)),
            sizes,
        )
    }
}

#[tonic::async_trait]
impl SudokuService for Recorder {
    async fn solve(&self, request: Request<SolveRequest>) -> Result<Response<SolveResponse>, Status> {
        self.service.clone().solve(request.into_inner()).await
    }

    type SolveManyStream = Streaming<SolveManyResponse>;

    async fn solve_many(
        &self,
        request: Request<Streaming<SolveManyRequest>>,
    ) -> Result<Response<Self::SolveManyStream>, Status> {
        let sizes = Arc::clone(&self.sizes);
        let messages = request.into_inner().map_while(Result::ok).map(move |message| {
            sizes.lock().unwrap().push(message.puzzles.len());
            message
        });
        self.service.clone().solve_many(messages).await
    }

    async fn get_server_info(
        &self,
        request: Request<GetServerInfoRequest>,
    ) -> Result<Response<GetServerInfoResponse>, Status> {
        self.service.clone().get_server_info(request.into_inner()).await
    }
}

#[tokio::test]
async fn outcomes_come_in_the_order_of_the_puzzles() {
    let puzzles = (0..10_000).map(|number| puzzle(number).0);
    let (outcomes, error) = collect(client().solve_iter(puzzles)).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(outcomes.len(), 10_000);
    for (number, outcome) in outcomes.iter().enumerate() {
        assert_solves(number, outcome);
    }
}

#[tokio::test]
async fn no_puzzles_have_no_outcomes() {
    let (outcomes, error) = collect(client().solve_iter(Vec::<Grid>::new())).await;
    assert!(outcomes.is_empty() && error.is_none());
}

#[tokio::test]
async fn what_is_no_puzzle_comes_out_in_its_place_and_is_not_sent() {
    let is_bad = |number: usize| number % 7 < 3 || (3_000..6_000).contains(&number);
    let bad = GridError::Length { length: 4 };
    let items = (0..8_000).map(move |number| {
        if is_bad(number) {
            Err(bad)
        } else {
            Ok(puzzle(number).0)
        }
    });
    let (client, sizes) = Recorder::client(rpc(Limits::default()));
    let (outcomes, error) = collect(client.solve_iter(items)).await;
    assert!(error.is_none(), "{error:?}");
    for (number, outcome) in outcomes.iter().enumerate() {
        if is_bad(number) {
            assert_eq!(
                *outcome,
                Outcome::Invalid(InvalidPuzzle::Line(bad)),
                "item {number}"
            );
        } else {
            assert_solves(number, outcome);
        }
    }
    assert_eq!(outcomes.len(), 8_000);
    let sent: usize = sizes.lock().unwrap().iter().sum();
    assert_eq!(sent, (0..8_000).filter(|&number| !is_bad(number)).count());
}

#[tokio::test]
async fn a_puzzle_is_answered_before_the_next_is_offered() {
    let (sender, receiver) = mpsc::channel(1);
    let mut outcomes = client().solve_many(ReceiverStream::new(receiver));
    for number in 0..50 {
        let item = if number % 5 == 4 {
            Err(GridError::Length { length: 4 })
        } else {
            Ok(puzzle(number).0)
        };
        sender.send(item).await.unwrap();
        let outcome = timeout(PATIENCE, outcomes.next()).await.expect("held back");
        match (outcome.unwrap().unwrap(), item) {
            (Outcome::Invalid(_), Err(_)) => {}
            (outcome, _) => assert_solves(number, &outcome),
        }
    }
    drop(sender);
    assert!(outcomes.next().await.is_none());
}

#[tokio::test]
async fn plenty_of_puzzles_fill_the_messages() {
    let (client, sizes) = Recorder::client(rpc(Limits::default()));
    let (outcomes, error) = collect(client.solve_iter(vec![grid(EASY); 10_000])).await;
    assert!(error.is_none() && outcomes.len() == 10_000, "{error:?}");
    let sizes = sizes.lock().unwrap();
    let (last, full) = sizes.split_last().unwrap();
    assert!(full.iter().all(|&size| size == 2_048), "{sizes:?}");
    assert_eq!(*last, 10_000 % 2_048);
}

#[tokio::test]
async fn messages_keep_to_the_limits_of_the_server() {
    let limits = Limits {
        max_puzzles_per_message: 50,
        ..Limits::default()
    };
    let bytes = Limits {
        max_message_bytes: 1_000,
        ..Limits::default()
    };
    for (limits, options, most) in [
        (limits, SolveOptions::new(), 50),
        (bytes, SolveOptions::new(), 11),
        (Limits::default(), SolveOptions::new().solution_limit(2_500), 4),
    ] {
        let (client, sizes) = Recorder::client(rpc(limits));
        let (outcomes, error) =
            collect(client.with_options(options).solve_iter(vec![grid(EASY); 1_000])).await;
        assert!(error.is_none() && outcomes.len() == 1_000, "{error:?}");
        assert_eq!(sizes.lock().unwrap().iter().max(), Some(&most));
    }
}

#[tokio::test]
async fn a_slow_reader_keeps_the_puzzles_waiting() {
    let taken = Arc::new(AtomicUsize::new(0));
    let puzzles = std::iter::repeat_with({
        let taken = Arc::clone(&taken);
        move || {
            taken.fetch_add(1, Ordering::Relaxed);
            grid(EASY)
        }
    });
    let mut outcomes = client().solve_iter(puzzles);
    for read in 1..=5_000 {
        outcomes.next().await.unwrap().unwrap();
        // Eight full messages under way, one being filled, one being read.
        let ahead = taken.load(Ordering::Relaxed) - read;
        assert!(
            ahead <= 10 * 2_048,
            "{ahead} puzzles taken ahead of outcome {read}"
        );
    }
}

#[tokio::test]
async fn dropped_outcomes_cancel_the_work() {
    let service = Service::new(Settings::default()).unwrap();
    let client = SudokuClient::from_service(service.rpc());
    let mut outcomes = client.solve_iter(std::iter::repeat(grid(EASY)));
    outcomes.next().await.unwrap().unwrap();
    assert_eq!(service.load().streams, 1);
    drop(outcomes);
    until("the stream is gone", || {
        service.load().streams == 0 && service.load().messages == 0
    })
    .await;
}

/// A service without `GetServerInfo`, as one built before that method came.
#[derive(Clone)]
struct WithoutInfo(Rpc);

impl tower::Service<http::Request<Body>> for WithoutInfo {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = <Rpc as tower::Service<http::Request<Body>>>::Future;

    fn poll_ready(&mut self, cx: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), Infallible>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        match request.uri().path().ends_with("/GetServerInfo") {
            true => Box::pin(async { Ok(Status::unimplemented("no such method").into_http()) }),
            false => self.0.call(request),
        }
    }
}

#[tokio::test]
async fn a_server_without_info_gets_the_default_sizes() {
    async fn solves(client: SudokuClient<impl Transport>) {
        let (outcomes, error) = collect(client.solve_iter(vec![grid(EASY); 5_000])).await;
        assert!(error.is_none() && outcomes.len() == 5_000, "{error:?}");
    }
    solves(SudokuClient::from_service(WithoutInfo(rpc(Limits::default())))).await;
}

#[tokio::test]
async fn a_refused_option_ends_the_stream_and_says_why() {
    let client = client().with_options(SolveOptions::new().solution_limit(10_001));
    let (outcomes, error) = collect(client.solve_iter([grid(EASY)])).await;
    assert!(outcomes.is_empty());
    assert_eq!(error.unwrap().reason(), Some(&Reason::OptionOutOfRange));
}

#[tokio::test]
async fn limits_that_shrank_are_asked_for_again() {
    let current = Arc::new(Mutex::new(rpc(Limits::default())));
    let service = tower::service_fn({
        let current = Arc::clone(&current);
        move |request: http::Request<Body>| tower::Service::call(&mut *current.lock().unwrap(), request)
    });
    let client = SudokuClient::from_service(service);
    let puzzles = || vec![grid(EASY); 100];
    assert!(collect(client.solve_iter(puzzles())).await.1.is_none());

    *current.lock().unwrap() = rpc(Limits {
        max_puzzles_per_message: 10,
        ..Limits::default()
    });
    let (_, error) = collect(client.solve_iter(puzzles())).await;
    assert_eq!(error.unwrap().reason(), Some(&Reason::TooManyPuzzles));
    let (outcomes, error) = collect(client.solve_iter(puzzles())).await;
    assert!(error.is_none() && outcomes.len() == 100, "{error:?}");
}

#[tokio::test]
async fn many_streams_share_a_client() {
    let client = client();
    let mut streams = tokio::task::JoinSet::new();
    for first in (0..8_000).step_by(1_000) {
        let client = client.clone();
        streams.spawn(async move {
            let (sender, receiver) = mpsc::unbounded_channel();
            for number in first..first + 1_000 {
                sender.send(puzzle(number).0).unwrap();
            }
            drop(sender);
            (
                first,
                collect(client.solve_many(UnboundedReceiverStream::new(receiver))).await,
            )
        });
    }
    while let Some(stream) = streams.join_next().await {
        let (first, (outcomes, error)) = stream.unwrap();
        assert!(error.is_none() && outcomes.len() == 1_000, "{error:?}");
        for (index, outcome) in outcomes.iter().enumerate() {
            assert_solves(first + index, outcome);
        }
    }
}
