//! The SDK without async.

mod common;

use std::time::Duration;

use common::server::Server;
use common::{EASY, assert_solves, grid, puzzle};
use sudoku_client::blocking::SudokuClient;
use sudoku_client::{Error, Grid, SolveOptions};
use sudoku_server::Settings;
use tokio::runtime::Runtime;

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
