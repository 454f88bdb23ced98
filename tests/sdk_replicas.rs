//! A stream over three servers of which one is killed, one drained and restarted, and one frozen while it runs: every
//! result comes once, in order, and is that of the engine in this process. With no server left it says how far it got.
#![cfg(unix)]

mod common;

use std::time::Duration;

use common::{EASY, chain, failed, grid, puzzle};
use sudoku_client::{Error, Grid, Outcome, SudokuClient};
use test_support::server::{Process, Signal};
use tokio::time::timeout;
use tokio_stream::StreamExt;

const PUZZLES: usize = 200_000;
const PATIENCE: Duration = Duration::from_secs(120);

/// How many puzzles differ. No batch has a multiple of it, so an outcome in the place of another is noticed.
const PERIOD: usize = 1_009;

/// Puzzles of every kind, and what the engine says of them.
struct Expected {
    puzzles: Vec<Grid>,
    /// The solution of those that have one, or how many were found.
    found: Vec<Result<Grid, usize>>,
}

impl Expected {
    fn new() -> Self {
        let puzzles: Vec<_> = (0..PERIOD).map(Self::puzzle).collect();
        let found = puzzles.iter().map(|puzzle| {
            let solutions: Vec<_> = sudoku_engine::solutions(puzzle).take(2).collect();
            match solutions.as_slice() {
                [only] => Ok(Grid::from_line(&only.to_string()).unwrap()),
                several => Err(several.len()),
            }
        });
        let found = found.collect();
        Self { puzzles, found }
    }

    fn puzzle(number: usize) -> Grid {
        let mut cells = *puzzle(number).0.cells();
        match number % 10 {
            // Without some clues it has several solutions.
            7 => cells[..20].fill(0),
            // With a clue that the only solution has not, it has none.
            8 => cells[2] = puzzle(number).1.cells()[2] % 9 + 1,
            _ => {}
        }
        Grid::from_cells(cells).unwrap()
    }

    fn all(&self) -> impl Iterator<Item = Grid> + Send + 'static {
        self.puzzles.clone().into_iter().cycle()
    }

    fn check(&self, number: usize, outcome: &Outcome) {
        match (&self.found[number % PERIOD], outcome) {
            (
                Ok(expected),
                Outcome::Unique {
                    solution: Some(solution),
                },
            ) => assert_eq!(solution, expected, "puzzle {number}"),
            (Err(0), Outcome::Unsolvable { .. }) => {}
            (Err(2), Outcome::Multiple { solutions, count: 2 }) => {
                let puzzle = &self.puzzles[number % PERIOD];
                let fits = |solution: &Grid| {
                    puzzle
                        .cells()
                        .iter()
                        .zip(solution.cells())
                        .all(|(&clue, &digit)| clue == 0 || clue == digit)
                };
                assert!(solutions.iter().all(fits), "puzzle {number}");
            }
            (expected, outcome) => panic!("puzzle {number}: {outcome} instead of {expected:?}"),
        }
    }
}

/// Starts a server where another one was.
async fn restart(ended: &Process) -> Process {
    let mut restarted = None;
    common::until("the port is free", || {
        restarted = Process::start_at(&ended.address, &[]);
        restarted.is_some()
    })
    .await;
    restarted.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_outlives_its_servers() {
    let killed = Process::start(&[]);
    let mut drained = Process::start(&[]);
    let frozen = Process::start(&[]);
    let client = SudokuClient::builder()
        .endpoints([&killed.address, &drained.address, &frozen.address])
        .connect()
        .await
        .unwrap();
    let expected = Expected::new();
    let mut outcomes = client.solve_iter(expected.all().take(PUZZLES));
    let mut restarted = None;
    for number in 0..PUZZLES {
        let outcome = timeout(PATIENCE, outcomes.next())
            .await
            .expect("hangs")
            .expect("too few outcomes");
        expected.check(
            number,
            &outcome.unwrap_or_else(|error| panic!("{}", chain(&error))),
        );
        match number {
            20_000 => killed.signal(Signal::KILL),
            50_000 => drained.signal(Signal::TERM),
            90_000 => {
                common::until("the server has drained", || drained.ended().is_some()).await;
                restarted = Some(restart(&drained).await);
            }
            // The restarted one may still be left out, and is let in while this stream goes on.
            100_000 => frozen.freeze(),
            _ => {}
        }
    }
    assert!(outcomes.next().await.is_none());

    // The frozen one is known by now, so that no call waits for it.
    assert!(client.solve(&grid(EASY)).await.unwrap().is_unique());
    let mut outcomes = client.solve_iter(expected.all());
    let mut answered = 0;
    let error = loop {
        match timeout(PATIENCE, outcomes.next())
            .await
            .expect("hangs")
            .expect("ends with an error")
        {
            Ok(outcome) => expected.check(answered, &outcome),
            Err(error) => break error,
        }
        answered += 1;
        if answered == 10_000 {
            drop(restarted.take());
            frozen.signal(Signal::KILL);
        }
    };
    assert!(
        matches!(error, Error::Interrupted { answered: said, .. } if said == answered as u64),
        "{error:?}"
    );
    assert!(
        chain(&error).starts_with(&format!("stopped after {answered} outcomes: no connection")),
        "{}",
        chain(&error)
    );
    assert!(outcomes.next().await.is_none());
}

#[tokio::test]
async fn a_call_to_a_frozen_server_fails() {
    let frozen = Process::start(&[]);
    let client = SudokuClient::connect(&frozen.address).await.unwrap();
    frozen.freeze();
    let client = client.with_retries(0);
    let error = failed(&client).await;
    assert_eq!(error.to_string(), "the service does not answer");
}
