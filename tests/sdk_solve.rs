//! The SDK's `solve`: every outcome typed, every refusal with its reason.

mod common;

use std::time::Duration;

use common::{EASY, SOLUTION, client, grid};
use sudoku_client::{Conflict, Error, Grid, Outcome, Outcomes, Reason, SolveOptions, SudokuClient, Unit};
use sudoku_server::{Limits, Settings};

/// The easy puzzle without some of its clues has several solutions.
fn ambiguous() -> Grid {
    let mut cells = *grid(EASY).cells();
    cells[..27].fill(0);
    Grid::from_cells(cells).unwrap()
}

#[tokio::test]
async fn a_proper_puzzle_has_its_one_solution() {
    let outcome = client().solve(&grid(EASY)).await.unwrap();
    assert_eq!(
        outcome,
        Outcome::Unique {
            solution: Some(grid(SOLUTION))
        }
    );
}

#[tokio::test]
async fn several_solutions_come_with_witnesses() {
    let outcome = client().solve(&ambiguous()).await.unwrap();
    let Outcome::Multiple { solutions, count: 2 } = &outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(solutions.len(), 2);
    assert_ne!(solutions[0], solutions[1]);
}

#[tokio::test]
async fn the_solution_limit_counts() {
    let client = client().with_options(SolveOptions::new().solution_limit(1_000));
    let outcome = client.solve(&Grid::EMPTY).await.unwrap();
    assert_eq!(
        (outcome.solution_count(), outcome.solutions().len()),
        (1_000, 1_000)
    );
}

#[tokio::test]
async fn with_a_limit_of_one_nobody_asks_for_a_second() {
    let client = client().with_options(SolveOptions::new().solution_limit(1));
    let outcome = client.solve(&grid(EASY)).await.unwrap();
    assert_eq!(
        outcome,
        Outcome::Solved {
            solution: Some(grid(SOLUTION))
        }
    );
}

#[tokio::test]
async fn contradicting_clues_are_named() {
    let mut cells = *grid(EASY).cells();
    cells[1] = 5;
    cells[0] = 5;
    let outcome = client().solve(&Grid::from_cells(cells).unwrap()).await.unwrap();
    let expected = [
        Conflict {
            digit: 5,
            unit: Unit::Row(0),
            cells: vec![0, 1],
        },
        Conflict {
            digit: 5,
            unit: Unit::Box(0),
            cells: vec![0, 1],
        },
    ];
    assert_eq!(outcome.conflicts(), expected);
}

#[tokio::test]
async fn solutions_can_be_left_out() {
    let client = client().with_options(SolveOptions::new().omit_solutions(true));
    assert_eq!(
        client.solve(&grid(EASY)).await.unwrap(),
        Outcome::Unique { solution: None }
    );
    let outcome = client.solve(&ambiguous()).await.unwrap();
    assert_eq!(
        outcome,
        Outcome::Multiple {
            solutions: vec![],
            count: 2
        }
    );
}

#[tokio::test]
async fn a_search_out_of_time_is_undecided() {
    let options = SolveOptions::new()
        .solution_limit(10_000)
        .time_limit(Duration::from_nanos(1));
    let outcome = client().with_options(options).solve(&Grid::EMPTY).await.unwrap();
    let Outcome::Undecided { solutions, count } = outcome else {
        panic!("{outcome}")
    };
    assert_eq!(solutions.len(), count as usize);
    assert!(count < 10_000);
}

#[tokio::test]
async fn options_out_of_range_are_refused_with_the_field() {
    let cases = [
        (
            SolveOptions::new().solution_limit(10_001),
            "options.solution_limit",
        ),
        (
            SolveOptions::new().time_limit(Duration::ZERO),
            "options.time_limit",
        ),
        (
            SolveOptions::new().time_limit(Duration::MAX),
            "options.time_limit",
        ),
    ];
    for (options, field) in cases {
        let error = client()
            .with_options(options)
            .solve(&Grid::EMPTY)
            .await
            .unwrap_err();
        assert_eq!(error.reason(), Some(&Reason::OptionOutOfRange), "{error:?}");
        assert_eq!(error.service().unwrap().fields[0].field, field);
    }
}

#[tokio::test]
async fn the_server_tells_its_limits() {
    let limits = Limits {
        max_puzzles_per_message: 7,
        ..Limits::default()
    };
    let settings = Settings {
        limits,
        ..Settings::default()
    };
    let client = SudokuClient::from_service(sudoku_server::in_process(settings).unwrap());
    let info = client.server_info().await.unwrap();
    assert_eq!(info.version, env!("CARGO_PKG_VERSION"));
    assert_eq!(info.max_puzzles_per_message, 7);
    assert_eq!(info.max_message_bytes, 512 << 10);
    assert_eq!(info.max_solution_limit, 10_000);
    assert_eq!(info.max_time_limit, Some(Duration::from_secs(60)));
}

#[test]
fn reasons_have_the_names_of_the_contract() {
    let names: Vec<_> = include_str!("../proto/sudoku/v1/sudoku.proto")
        .lines()
        .filter_map(|line| line.strip_prefix("//   "))
        .filter_map(|row| row.split_whitespace().next())
        .filter(|name| name.len() > 3 && name.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
        .collect();
    assert!(names.contains(&"OVERLOADED"), "{names:?}");
    // A deadline that passed is an error of its own.
    for name in names.into_iter().filter(|&name| name != "DEADLINE") {
        let reason = Reason::from(name);
        assert!(!matches!(reason, Reason::Other(_)), "{name}");
        assert_eq!(reason.to_string(), name);
    }
}

#[test]
fn clients_outcomes_and_errors_cross_threads() {
    fn check<T: Send + Unpin + 'static>() {}
    check::<Error>();
    check::<SudokuClient>();
    check::<Outcomes>();
}
