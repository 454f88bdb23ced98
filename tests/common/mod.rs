//! What the tests of the SDK share.

// Each test file uses a part of it.
#![allow(dead_code, unused_imports)]

pub mod server;

use std::time::Duration;

use sudoku_client::{Error, Grid, Outcome, Outcomes, SudokuClient};
use sudoku_server::{Rpc, Settings};
use tokio_stream::StreamExt;

pub use test_support::puzzles::{PUZZLE as EASY, SOLUTION};

/// A client of a service in this process, with the default settings.
pub fn client() -> SudokuClient<Rpc> {
    SudokuClient::from_service(sudoku_server::in_process(Settings::default()).unwrap())
}

pub fn grid(line: &str) -> Grid {
    Grid::from_line(line).unwrap()
}

/// A puzzle of many that differ, so that an outcome in the wrong place is noticed, and its solution.
pub fn puzzle(number: usize) -> (Grid, Grid) {
    let (puzzle, solution) = test_support::puzzles::numbered(number);
    (grid(&puzzle), grid(&solution))
}

/// Checks that an outcome is that of [`puzzle`] `number`.
pub fn assert_solves(number: usize, outcome: &Outcome) {
    assert_eq!(
        *outcome,
        Outcome::Unique {
            solution: Some(puzzle(number).1)
        },
        "puzzle {number}"
    );
}

/// Reads to the end, now one by one and now some together: the outcomes, and the error that ended them.
pub async fn collect(mut outcomes: Outcomes) -> (Vec<Outcome>, Option<Error>) {
    let mut good = Vec::new();
    while let Some(outcome) = outcomes.next().await {
        match outcome {
            Ok(outcome) => {
                good.push(outcome);
                take_some(&mut outcomes, &mut good);
            }
            Err(error) => {
                assert!(outcomes.next().await.is_none(), "an item came after the error");
                return (good, Some(error));
            }
        }
    }
    (good, None)
}

/// Takes none, one or more of the outcomes that are at hand: what comes must not depend on that.
fn take_some(outcomes: &mut Outcomes, good: &mut Vec<Outcome>) {
    let most = good.len() + good.len() % 4;
    if most == good.len() {
        return;
    }
    let taken = outcomes.take_ready(|outcome| {
        good.push(outcome);
        if good.len() < most { Ok(()) } else { Err("enough") }
    });
    assert_eq!(
        taken.is_err(),
        good.len() == most,
        "it ends early only where it is told to"
    );
}

/// Waits until `condition` holds, and fails with `what` if it does not for a minute.
pub async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let poll = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), poll)
        .await
        .unwrap_or_else(|_| panic!("waited for ever until {what}"));
}

/// The error of a call that fails, and does not hang.
pub async fn failed(client: &SudokuClient) -> Error {
    tokio::time::timeout(Duration::from_secs(120), client.solve(&grid(EASY)))
        .await
        .expect("the call hangs")
        .unwrap_err()
}

/// What ended a stream after `answered` outcomes.
pub fn interrupted(error: Option<Error>, answered: usize) -> Error {
    match error {
        Some(Error::Interrupted {
            answered: said,
            source,
        }) => {
            assert_eq!(said, answered as u64, "{source}");
            *source
        }
        other => panic!("{other:?} does not say how far the stream got"),
    }
}

/// The error with all that caused it, as a person gets to read it.
pub fn chain(error: &dyn std::error::Error) -> String {
    match error.source() {
        None => error.to_string(),
        Some(source) => format!("{error}: {}", chain(source)),
    }
}
