//! With `--endpoint` the puzzles go to a server.

use crate::support::{UNIQUE, UNIQUE_SOLVED, answer, failure, lines, solve};

#[test]
fn a_server_that_cannot_be_reached_is_3() {
    // Nothing can listen at port 1 without the system's consent.
    let (error, status) = failure(solve().args(["--endpoint", "http://127.0.0.1:1", UNIQUE]));
    assert_eq!(status, 3, "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(
        error.starts_with("sudoku-client: http://127.0.0.1:1: no connection"),
        "{error}"
    );
}

#[test]
fn an_empty_variable_names_no_server() {
    let answers = answer(solve().arg(UNIQUE).env("SUDOKU_ENDPOINT", ""));
    assert_eq!(answers, (lines(&[UNIQUE_SOLVED]), 0));
}
