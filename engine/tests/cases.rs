//! Texts as people hand them over, each with what reading it must give.

mod common;

use sudoku_engine::text::{ParseError, ParseErrorKind, Reader};

/// An error in the words of the case files: a label and the place.
fn describe(error: &ParseError) -> String {
    let line = error.line().unwrap_or(0);
    let column = error.column().unwrap_or(0);
    match error.kind() {
        ParseErrorKind::Empty => "empty".into(),
        ParseErrorKind::NoPuzzle => match error.line() {
            None => "no_puzzle".into(),
            Some(line) => format!("no_puzzle line {line}"),
        },
        ParseErrorKind::Character { character } => format!("bad_char {line}:{column} '{character}'"),
        ParseErrorKind::Encoding { offset } => format!("not_utf8 byte {offset}"),
        ParseErrorKind::Length { cells } => format!("length line {line}: {cells} cells, need 81"),
        ParseErrorKind::RowLength { cells, .. } => format!("row_length line {line}: {cells} cells, need 9"),
        ParseErrorKind::RowCount { rows } => format!("row_count {rows} rows, need 9"),
        ParseErrorKind::Value { row, column, value } => format!("bad_value r{row}c{column} {value}"),
        ParseErrorKind::Size { side } => format!("unsupported {side}x{side} ({} cells)", side * side),
        ParseErrorKind::Candidates => format!("candidates line {line}"),
        ParseErrorKind::Unfinished => format!("unfinished line {line}"),
        other => format!("{other:?}"),
    }
}

/// What reading the text gives, in the form of the case files.
fn outcome(input: &[u8]) -> String {
    let (mut puzzles, mut errors) = (Vec::new(), Vec::new());
    for item in Reader::new(input) {
        match item.expect("reading from memory does not fail") {
            Ok(grid) => puzzles.push(grid.to_string()),
            Err(error) => errors.push(describe(&error)),
        }
    }
    match (puzzles.is_empty(), errors.is_empty()) {
        (false, true) => format!("ok {}", puzzles.join(" ")),
        (true, _) => format!("error {}", errors.join(" ; ")),
        (false, false) => format!("mixed ok {} | error {}", puzzles.join(" "), errors.join(" ; ")),
    }
}

#[test]
fn every_case_reads_as_expected() {
    let mut failures = Vec::new();
    for case in common::parse_cases() {
        let expected = String::from_utf8(common::unescape(&case.expected)).unwrap();
        let found = outcome(&case.input);
        if found != expected {
            failures.push(format!(
                "{} ({})\n  expected {expected}\n  found    {found}",
                case.id, case.level
            ));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
