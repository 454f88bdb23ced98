//! The SDK without async.

mod common;

use std::convert::Infallible;
use std::sync::mpsc;
use std::task::{Context, Poll};
use std::time::Duration;

use common::server::Server;
use common::{EASY, assert_solves, grid, puzzle};
use sudoku_client::blocking::SudokuClient;
use sudoku_client::{Error, Grid, SolveOptions};
use sudoku_server::{Rpc, Settings};
use tokio::runtime::Runtime;
use tonic::body::Body;
use tonic::codegen::http;

/// A server, and a runtime to end it in.
fn server() -> (Server, Runtime) {
    let runtime = Runtime::new().unwrap();
    (runtime.block_on(Server::start(Settings::default())), runtime)
}

#[test]
fn calls_wait_for_their_answers() {
    let (server, _runtime) = server();
    let client = SudokuClient::connect(server.address.to_string()).unwrap();
    assert!(client.solve(&grid(EASY)).unwrap().is_unique());
    assert_eq!(client.server_info().unwrap().version, env!("CARGO_PKG_VERSION"));
    let counting = client.clone().with_options(SolveOptions::new().solution_limit(7));
    assert_eq!(counting.solve(&Grid::EMPTY).unwrap().solution_count(), 7);

    let mut solved = 0;
    for outcome in client.solve_many((0..10_000).map(|number| puzzle(number).0)) {
        assert_solves(solved, &outcome.unwrap());
        solved += 1;
    }
    assert_eq!(solved, 10_000);
}

#[test]
fn puzzles_may_come_from_another_thread() {
    let (server, _runtime) = server();
    let client = SudokuClient::connect(server.address.to_string()).unwrap();
    let (sender, receiver) = std::sync::mpsc::sync_channel(0);
    let producer = std::thread::spawn(move || {
        for number in 0..20 {
            sender.send(puzzle(number).0).unwrap();
        }
    });
    let outcomes: Vec<_> = client.solve_many(receiver).map(Result::unwrap).collect();
    producer.join().unwrap();
    assert_eq!(outcomes.len(), 20);
}

/// A service that has two tasks wait for each other, each on a thread.
#[derive(Clone)]
struct Pair(Rpc);

impl tower::Service<http::Request<Body>> for Pair {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = <Rpc as tower::Service<http::Request<Body>>>::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let (there, here) = (mpsc::channel(), mpsc::channel());
        let halves = [(there.0, here.1), (here.0, there.1)];
        let tasks = halves.map(|(sender, receiver)| {
            tokio::spawn(async move {
                sender.send(()).unwrap();
                receiver
                    .recv_timeout(Duration::from_secs(60))
                    .expect("the other runs at the same time");
            })
        });
        let answer = self.0.call(request);
        Box::pin(async move {
            for task in tasks {
                task.await.unwrap();
            }
            answer.await
        })
    }
}

#[test]
fn a_service_in_this_process_works_on_all_cores() {
    if std::thread::available_parallelism().unwrap().get() < 2 {
        eprintln!("skipped: there is one core");
        return;
    }
    let service = Pair(sudoku_server::in_process(Settings::default()).unwrap());
    let client = SudokuClient::from_service(service).unwrap();
    assert!(client.solve(&grid(EASY)).unwrap().is_unique());
}

#[test]
fn dropped_outcomes_cancel_the_work() {
    let (server, runtime) = server();
    let client = SudokuClient::connect(server.address.to_string()).unwrap();
    let mut outcomes = client.solve_many(std::iter::repeat(grid(EASY)));
    outcomes.next().unwrap().unwrap();
    drop(outcomes);
    runtime.block_on(common::until("the streams are gone", || {
        server.service.load().streams == 0
    }));
    assert!(client.solve(&grid(EASY)).unwrap().is_unique());
}

#[test]
fn a_stream_says_how_far_it_got() {
    let (server, _runtime) = server();
    let client = SudokuClient::connect(server.address.to_string()).unwrap();
    let client = client.with_deadline(Duration::from_millis(200));
    let mut answered = 0;
    let error = client
        .solve_many(std::iter::repeat(grid(EASY)))
        .find_map(|outcome| outcome.map(|_| answered += 1).err())
        .unwrap();
    match error {
        Error::Interrupted {
            answered: said,
            source,
        } => {
            assert_eq!(said, answered);
            assert!(matches!(*source, Error::DeadlineExceeded));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn where_nobody_listens_there_is_no_connection() {
    let error = SudokuClient::connect("http://127.0.0.1:1").unwrap_err();
    assert!(matches!(error, Error::Transport(_)), "{error:?}");
}

/// To wait there is refused, but not to let go of a client.
#[test]
fn a_client_may_be_dropped_in_an_async_function() {
    let (server, runtime) = server();
    let client = SudokuClient::connect(server.address.to_string()).unwrap();
    runtime.block_on(async move { drop(client) });
}
