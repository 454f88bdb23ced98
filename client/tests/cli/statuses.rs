//! The exit status is the highest that applies.

use assert_cmd::Command;

use crate::server::Server;
use crate::support::{
    CONFLICT, EMPTY, OTHER, SHORT, TWO, UNIQUE, UNIQUE_SOLVED, UNSOLVABLE, answer, client, failure, lines,
    solve,
};

fn status(arguments: &[&str], input: &str) -> i32 {
    answer(solve().args(arguments).write_stdin(input)).1
}

#[test]
fn every_puzzle_unique_is_0() {
    assert_eq!(status(&[UNIQUE], ""), 0);
    assert_eq!(status(&[UNIQUE, OTHER], ""), 0);
    assert_eq!(status(&[], &lines(&[UNIQUE, OTHER])), 0);
}

#[test]
fn a_solution_is_enough_with_a_limit_of_1() {
    assert_eq!(status(&["--limit", "1", TWO, UNIQUE], ""), 0);
    assert_eq!(status(&["--limit", "1", UNSOLVABLE], ""), 1);
}

#[test]
fn any_other_outcome_is_1() {
    for puzzle in [TWO, UNSOLVABLE, CONFLICT] {
        assert_eq!(status(&[puzzle], ""), 1, "{puzzle}");
        assert_eq!(status(&[UNIQUE, puzzle, OTHER], ""), 1, "{puzzle}");
    }
    assert_eq!(status(&["-"], &lines(&[UNIQUE, SHORT])), 1);
    let undecided = ["--limit", "10000", "--time-limit", "1us", EMPTY];
    assert_eq!(status(&undecided, ""), 1);
}

#[test]
fn wrong_usage_is_2() {
    for arguments in [
        &["--no-such-option"][..],
        &["--limit", "0", UNIQUE],
        &["--limit", "many", UNIQUE],
        &["--time-limit", "5", UNIQUE],
        &["--format", "xml", UNIQUE],
        &["--simd", "mmx", UNIQUE],
        &["--endpoint", "not an endpoint", UNIQUE],
    ] {
        let (error, status) = failure(solve().args(arguments));
        assert_eq!(status, 2, "{arguments:?}: {error}");
    }
}

#[test]
fn an_option_that_the_service_does_not_allow_is_2() {
    let server = Server::start();
    let remote = ["--endpoint", &server.endpoint];
    for (option, value, here, there) in [
        (
            "--limit",
            "10001",
            "--limit is 10001; it may be from 1 to 10000",
            "--limit is 10001; it may be at most 10000",
        ),
        (
            "--time-limit",
            "1h",
            "--time-limit is 1h; it may be up to 1m",
            "--time-limit is 3600s; it must be above 0 and at most 60s",
        ),
    ] {
        let told = |command: &mut Command| {
            let (error, status) = failure(command.args([option, value, UNIQUE]));
            assert_eq!(status, 2, "{error}");
            error
        };
        // Before anything is read or written.
        let output = ["--output", "/nowhere/answers"];
        let alone = format!("sudoku-client: {here}\n");
        assert_eq!(told(solve().args(output)), alone);
        assert_eq!(told(client().arg("bench")), alone);
        let named = |text| format!("sudoku-client: {}: {text}\n", server.endpoint);
        assert_eq!(told(solve().args(remote)), named(there));
        assert_eq!(told(client().arg("bench").args(remote)), named(here));
    }
    for command in ["solve", "check", "bench"] {
        let (error, status) = failure(client().args([command, "--time-limit", "0s", UNIQUE]));
        assert_eq!(status, 2, "{error}");
        assert!(
            error.contains("'--time-limit <TIME>': it must be more than 0"),
            "{error}"
        );
    }
}

#[test]
fn no_puzzle_at_all_is_2() {
    for input in ["", "\n \n", "# nothing here\n"] {
        let (error, status) = failure(solve().write_stdin(input));
        assert_eq!(status, 2, "{input:?}");
        assert_eq!(error.lines().count(), 1, "{error}");
        assert!(error.contains("no puzzle"), "{error}");
    }
}

#[test]
fn an_input_that_cannot_be_read_outranks_what_the_puzzles_are() {
    let (error, status) = failure(solve().args([UNSOLVABLE, "/no/such/file"]));
    assert_eq!(status, 2);
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(
        error.starts_with("sudoku-client: cannot read /no/such/file: "),
        "{error}"
    );
}

#[test]
fn instructions_that_the_processor_lacks_are_2() {
    for name in ["portable", "avx2", "avx2-no-pext", "avx512", "mmx"] {
        let with = |run: fn(&mut assert_cmd::Command) -> (String, i32)| {
            [
                run(solve().args(["--simd", name, UNIQUE])),
                run(solve().env("SUDOKU_SIMD", name).arg(UNIQUE)),
            ]
        };
        match sudoku_engine::Isa::named(name) {
            Ok(_) => assert_eq!(with(answer), [(); 2].map(|()| (lines(&[UNIQUE_SOLVED]), 0))),
            Err(problem) => {
                let told = match problem {
                    sudoku_engine::IsaError::Unknown { .. } => "': it must be auto, portable".to_owned(),
                    problem => problem.to_string(),
                };
                for (error, status) in with(failure) {
                    assert_eq!(status, 2, "{error}");
                    assert!(error.contains(&told), "{error}");
                }
            }
        }
    }
}
