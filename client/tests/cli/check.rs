//! `check`: whether a puzzle is a proper one.

use std::fs;

use crate::support::{CONFLICT, EMPTY, OTHER, SHORT, TWO, UNIQUE, UNSOLVABLE, answer, check, failure, lines};

#[test]
fn a_puzzle_comes_from_the_command_line_a_file_or_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    let rows: Vec<&str> = UNIQUE
        .as_bytes()
        .chunks(9)
        .map(|row| str::from_utf8(row).unwrap())
        .collect();
    fs::write(folder.path().join("puzzle.txt"), rows.join("\n")).unwrap();
    let expected = answer(check().arg(UNIQUE));
    assert!(
        expected
            .0
            .ends_with("proper: exactly one solution, from 30 clues\n"),
        "{}",
        expected.0
    );
    assert_eq!(expected.1, 0);
    assert_eq!(answer(check().arg("puzzle.txt").current_dir(&folder)), expected);
    assert_eq!(answer(check().arg("-").write_stdin(UNIQUE)), expected);
    assert_eq!(answer(check().arg(UNIQUE.replace('.', "-"))), expected);
}

#[test]
fn a_proper_puzzle_is_not_given_away() {
    let (shown, _) = answer(check().arg(UNIQUE));
    let cells: String = shown
        .lines()
        .take(13)
        .flat_map(|line| line.chars().filter(|c| "123456789.".contains(*c)))
        .collect();
    assert_eq!(cells, UNIQUE);
}

#[test]
fn any_other_is_1() {
    for puzzle in [TWO, EMPTY, UNSOLVABLE, CONFLICT] {
        assert_eq!(answer(check().arg(puzzle)).1, 1, "{puzzle}");
    }
}

#[test]
fn the_cells_that_are_marked_are_those_in_which_the_solutions_differ() {
    let (shown, _) = answer(check().env("COLUMNS", "40").arg(TWO));
    let cells: Vec<&str> = shown.lines().filter(|line| line.starts_with('│')).collect();
    assert_eq!(cells.len(), 18);
    let marked: usize = cells.iter().map(|line| line.matches('*').count()).sum();
    assert_eq!(marked, 8);
    let names = shown.lines().skip(26).collect::<Vec<_>>().join(" ");
    assert!(
        names.ends_with("differ in 4 cells: r4c1 r4c6 r6c1 r6c6"),
        "{names}"
    );
    assert!(shown.lines().all(|line| line.chars().count() <= 40), "{shown}");
}

#[test]
fn what_is_no_puzzle_or_more_than_one_is_2() {
    for (input, reason) in [
        (lines(&[UNIQUE, OTHER]), "a second puzzle, need only one"),
        (lines(&[SHORT]), "line 1: 80 cells, need 81"),
        ("nothing".to_owned(), "no puzzle found"),
        ("x".repeat(2 << 20), "too long for a single puzzle"),
    ] {
        let (error, status) = failure(check().arg("-").write_stdin(input));
        assert_eq!(status, 2, "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
        assert!(
            error.starts_with("sudoku-client: standard input") && error.contains(reason),
            "{error}"
        );
    }
    assert_eq!(failure(check().arg(SHORT)).1, 2);
    assert_eq!(failure(check().arg("/no/such/file")).1, 2);
}

#[test]
fn a_service_that_cannot_be_reached_is_3() {
    let (error, status) = failure(check().args(["--endpoint", "http://127.0.0.1:1", UNIQUE]));
    assert_eq!(status, 3, "{error}");
    assert!(
        error.starts_with("sudoku-client: http://127.0.0.1:1: no connection"),
        "{error}"
    );
}
