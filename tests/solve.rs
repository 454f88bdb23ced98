//! `Solve` gives every outcome as the contract describes it.

mod support;

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use sudoku_engine::{Grid, Solution};
use sudoku_proto::v1::sudoku_service_client::SudokuServiceClient;
use sudoku_proto::v1::{Conflict, Outcome, SolveOptions, SolveRequest, SolveResult, Unit, UnitKind};
use sudoku_server::Settings;
use support::{EMPTY, PUZZLE, SOLUTION, Server, patient, with_time_limit};
use tonic::transport::Channel;

async fn client(settings: Settings) -> (Server, SudokuServiceClient<Channel>) {
    let server = Server::start(settings).await;
    let client = server.client().await;
    (server, client)
}

async fn solve(
    client: &mut SudokuServiceClient<Channel>,
    puzzle: &str,
    options: SolveOptions,
) -> SolveResult {
    let request = SolveRequest {
        puzzle: puzzle.into(),
        options: Some(options),
    };
    client.solve(request).await.unwrap().into_inner().result.unwrap()
}

fn limit(solution_limit: u32) -> SolveOptions {
    SolveOptions {
        solution_limit,
        ..SolveOptions::default()
    }
}

#[track_caller]
fn assert_solutions(puzzle: &str, result: &SolveResult) {
    let puzzle = Grid::from_line(puzzle).unwrap();
    let distinct: HashSet<_> = result.solutions.iter().collect();
    assert_eq!(distinct.len(), result.solutions.len());
    assert_eq!(result.solutions.len(), result.solution_count as usize);
    for solution in &result.solutions {
        Solution::check(&puzzle, &Grid::from_line(solution).unwrap()).unwrap();
    }
}

#[tokio::test]
async fn a_unique_puzzle() {
    let (_server, mut client) = client(Settings::default()).await;
    for options in [SolveOptions::default(), limit(2), limit(10_000)] {
        let result = solve(&mut client, PUZZLE, options).await;
        let expected = SolveResult {
            outcome: Outcome::Unique.into(),
            solutions: vec![SOLUTION.into()],
            solution_count: 1,
            ..SolveResult::default()
        };
        assert_eq!(result, expected);
    }
}

#[tokio::test]
async fn blanks_may_be_zeros() {
    let (_server, mut client) = client(Settings::default()).await;
    let result = solve(&mut client, &PUZZLE.replace('.', "0"), SolveOptions::default()).await;
    assert_eq!(result.solutions, [SOLUTION]);
}

#[tokio::test]
async fn a_solved_grid_comes_back() {
    let (_server, mut client) = client(Settings::default()).await;
    let result = solve(&mut client, SOLUTION, SolveOptions::default()).await;
    assert_eq!(result.outcome(), Outcome::Unique);
    assert_eq!(result.solutions, [SOLUTION]);
}

#[tokio::test]
async fn multiple_comes_with_two_witnesses() {
    let (_server, mut client) = client(Settings::default()).await;
    let result = solve(&mut client, EMPTY, SolveOptions::default()).await;
    assert_eq!(result.outcome(), Outcome::Multiple);
    assert_eq!(result.solution_count, 2);
    assert_solutions(EMPTY, &result);
}

#[tokio::test]
async fn with_limit_one_nobody_asks_for_a_second() {
    let (_server, mut client) = client(Settings::default()).await;
    for puzzle in [PUZZLE, EMPTY] {
        let result = solve(&mut client, puzzle, limit(1)).await;
        assert_eq!(result.outcome(), Outcome::Solved);
        assert_eq!(result.solution_count, 1);
        assert_solutions(puzzle, &result);
    }
}

#[tokio::test]
async fn counts_up_to_the_limit() {
    // The first two rows of a solved grid left blank.
    let few = format!("{}{}", &EMPTY[..18], &SOLUTION[18..]);
    let (_server, mut client) = client(Settings::default()).await;
    let all = solve(&mut client, &few, limit(10_000)).await;
    assert_solutions(&few, &all);
    assert_eq!(all.outcome(), Outcome::Multiple);
    let count = all.solution_count;
    assert!((3..10_000).contains(&count));

    // A limit that is reached stops the search, one above does not.
    for limit_ in [count - 1, count, count + 1] {
        let result = solve(&mut client, &few, limit(limit_)).await;
        assert_eq!(result.outcome(), Outcome::Multiple);
        assert_eq!(result.solution_count, limit_.min(count));
    }

    let many = solve(&mut client, EMPTY, limit(10_000)).await;
    assert_eq!(many.solution_count, 10_000);
    assert_solutions(EMPTY, &many);
}

#[tokio::test]
async fn solutions_can_be_left_out() {
    let (_server, mut client) = client(Settings::default()).await;
    let options = SolveOptions {
        omit_solutions: true,
        ..limit(50)
    };
    let result = solve(&mut client, EMPTY, options).await;
    assert_eq!(result.outcome(), Outcome::Multiple);
    assert_eq!(result.solution_count, 50);
    assert!(result.solutions.is_empty());
}

#[tokio::test]
async fn repeated_clues_are_all_reported() {
    let (_server, mut client) = client(Settings::default()).await;
    // Two fives in the first row, which are also in the first box.
    let puzzle = format!("55{}", &EMPTY[2..]);
    let result = solve(&mut client, &puzzle, SolveOptions::default()).await;
    let conflict = |kind: UnitKind| Conflict {
        digit: 5,
        unit: Some(Unit {
            kind: kind.into(),
            index: 0,
        }),
        cells: vec![0, 1],
    };
    let expected = SolveResult {
        outcome: Outcome::Unsolvable.into(),
        conflicts: vec![conflict(UnitKind::Row), conflict(UnitKind::Box)],
        ..SolveResult::default()
    };
    assert_eq!(result, expected);
}

#[tokio::test]
async fn unsolvable_without_a_conflict() {
    let (_server, mut client) = client(Settings::default()).await;
    let puzzle = "..9.287..8.6..4..5..3.....46.........2.71345.........23.....5..9..4..8.7..125.3..";
    for options in [SolveOptions::default(), limit(1)] {
        let result = solve(&mut client, puzzle, options).await;
        let expected = SolveResult {
            outcome: Outcome::Unsolvable.into(),
            ..SolveResult::default()
        };
        assert_eq!(result, expected);
    }
}

#[tokio::test]
async fn time_spent_is_undecided_with_what_was_found() {
    let (_server, mut client) = client(patient()).await;
    let options = SolveOptions {
        omit_solutions: false,
        ..with_time_limit(Duration::from_millis(5))
    };
    let result = solve(&mut client, EMPTY, options).await;
    assert_eq!(result.outcome(), Outcome::Undecided);
    assert_solutions(EMPTY, &result);
}

#[tokio::test]
async fn the_default_time_limit_is_the_servers() {
    let mut settings = patient();
    settings.limits.default_time_limit = Duration::from_millis(1);
    let (_server, mut client) = client(settings).await;
    let result = solve(&mut client, EMPTY, support::count_all()).await;
    assert_eq!(result.outcome(), Outcome::Undecided);
}

/// The rows of a fixture as puzzle and expectation, and of the larger set beside the checkout where it is there.
fn cases(name: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut rows = Vec::new();
    for folder in ["tests/fixtures", "../shared/cases"] {
        let path = root.join(folder).join(name);
        let Ok(text) = std::fs::read_to_string(&path) else {
            assert_ne!(folder, "tests/fixtures", "{} is missing", path.display());
            eprintln!("{} is not there; only the fixtures are tested", path.display());
            continue;
        };
        rows.extend(text.lines().skip(1).map(|line| {
            let fields: Vec<_> = line.split('\t').collect();
            (fields[1].to_owned(), fields[3].to_owned())
        }));
    }
    assert!(!rows.is_empty());
    rows
}

#[tokio::test]
async fn every_case_has_its_outcome() {
    let (_server, mut client) = client(patient()).await;
    for (puzzle, solution) in cases("solve_unique.tsv") {
        let result = solve(&mut client, &puzzle, SolveOptions::default()).await;
        assert_eq!(result.outcome(), Outcome::Unique, "{puzzle}");
        assert_eq!(result.solutions, [solution], "{puzzle}");
    }
    for (puzzle, count) in cases("solve_multiple.tsv") {
        let result = solve(&mut client, &puzzle, limit(1_001)).await;
        assert_eq!(result.outcome(), Outcome::Multiple, "{puzzle}");
        let expected = count.parse().unwrap_or(1_001);
        assert_eq!(result.solution_count, expected, "{puzzle}");
        assert_solutions(&puzzle, &result);
    }
    for (puzzle, _) in cases("solve_unsolvable.tsv") {
        let result = solve(&mut client, &puzzle, SolveOptions::default()).await;
        assert_eq!(result.outcome(), Outcome::Unsolvable, "{puzzle}");
        assert!(result.conflicts.is_empty(), "{puzzle}");
    }
    for (puzzle, _) in cases("solve_invalid.tsv") {
        let result = solve(&mut client, &puzzle, SolveOptions::default()).await;
        assert_eq!(result.outcome(), Outcome::Unsolvable, "{puzzle}");
        assert!(!result.conflicts.is_empty(), "{puzzle}");
    }
}
