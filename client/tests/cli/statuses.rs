//! The exit status is the highest that applies.

use crate::support::{
    CONFLICT, EMPTY, OTHER, SHORT, TWO, UNIQUE, UNIQUE_SOLVED, UNSOLVABLE, answer, failure, lines, solve,
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
    let (error, status) = failure(solve().args(["--limit", "10001", UNIQUE]));
    assert_eq!(status, 2, "{error}");
    assert!(error.contains("10000") || error.contains("10,000"), "{error}");
    let (error, status) = failure(solve().args(["--time-limit", "1h", UNIQUE]));
    assert_eq!(status, 2, "{error}");
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
