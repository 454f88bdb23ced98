//! What each format looks like.

use crate::support::{
    CONFLICT, EMPTY, SHORT, TWO, TWO_SOLVED, UNIQUE, UNIQUE_SOLVED, UNSOLVABLE, answer, client, lines, solve,
};

/// One of each kind.
fn input() -> String {
    lines(&[UNIQUE, TWO, UNSOLVABLE, CONFLICT, SHORT])
}

#[test]
fn line_k_answers_puzzle_k() {
    let (answers, _) = answer(solve().args(["--format", "line"]).write_stdin(input()));
    let expected = [
        UNIQUE_SOLVED,
        "# multiple: 2 or more solutions",
        "# unsolvable: no solution",
        "# unsolvable: box 5 repeats 5 at r4c6 r5c4",
        "# invalid: line 5: 80 cells, need 81",
    ];
    assert_eq!(answers, lines(&expected));
}

#[test]
fn a_line_never_lists_more_than_one_solution() {
    let (answers, _) = answer(solve().args(["--limit", "5", TWO, EMPTY]));
    let expected = [
        "# multiple: exactly 2 solutions",
        "# multiple: 5 or more solutions",
    ];
    assert_eq!(answers, lines(&expected));
    let (answers, _) = answer(solve().args(["--limit", "1", TWO]));
    assert_eq!(answers.trim_end().len(), 81);
}

#[test]
fn csv_has_a_record_for_each_puzzle() {
    let (answers, _) = answer(solve().args(["--format", "csv"]).write_stdin(input()));
    let mut reader = csv::Reader::from_reader(answers.as_bytes());
    let header = ["input", "outcome", "solution", "count", "conflicts", "error"];
    assert_eq!(reader.headers().unwrap(), &header[..]);
    let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(records.len(), 5);
    assert_eq!(&records[0], &[UNIQUE, "unique", UNIQUE_SOLVED, "1", "", ""][..]);
    let mut solutions: Vec<&str> = records[1][2].split(' ').collect();
    solutions.sort_unstable();
    assert_eq!(solutions, TWO_SOLVED);
    assert_eq!((&records[1][1], &records[1][3]), ("multiple", "2"));
    assert_eq!(&records[2], &[UNSOLVABLE, "unsolvable", "", "0", "", ""][..]);
    let conflicts = "box 5 repeats 5 at r4c6 r5c4";
    assert_eq!(&records[3], &[CONFLICT, "unsolvable", "", "0", conflicts, ""][..]);
    assert_eq!(
        &records[4],
        &[SHORT, "invalid", "", "0", "", "line 5: 80 cells, need 81"][..]
    );
}

#[test]
fn csv_writes_the_blanks_of_a_puzzle_as_dots_and_quotes_other_text() {
    let zeros = UNIQUE.replace('.', "0");
    let other = "what, \"ever\"";
    let input = lines(&[&zeros, other]);
    let (answers, _) = answer(solve().args(["--format", "csv"]).write_stdin(input));
    let mut reader = csv::Reader::from_reader(answers.as_bytes());
    let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(&records[0][0], UNIQUE);
    assert_eq!((&records[1][0], &records[1][1]), (other, "invalid"));
}

#[test]
fn json_is_one_array_of_objects() {
    let (answers, _) = answer(solve().args(["--format", "json"]).write_stdin(input()));
    let mut answers: serde_json::Value = serde_json::from_str(&answers).unwrap();
    answers[1]["solutions"]
        .as_array_mut()
        .unwrap()
        .sort_by(|a, b| a.as_str().cmp(&b.as_str()));
    let object = |input: &str, outcome: &str, solutions: &[&str]| {
        serde_json::json!({
            "input": input,
            "outcome": outcome,
            "solutions": solutions,
            "count": solutions.len(),
            "conflicts": [],
            "error": null,
        })
    };
    let mut conflict = object(CONFLICT, "unsolvable", &[]);
    let unit = serde_json::json!({ "kind": "box", "index": 4 });
    conflict["conflicts"] = serde_json::json!([{ "digit": 5, "unit": unit, "cells": [32, 39] }]);
    let mut invalid = object(SHORT, "invalid", &[]);
    invalid["error"] = "line 5: 80 cells, need 81".into();
    let expected = [
        object(UNIQUE, "unique", &[UNIQUE_SOLVED]),
        object(TWO, "multiple", &TWO_SOLVED),
        object(UNSOLVABLE, "unsolvable", &[]),
        conflict,
        invalid,
    ];
    assert_eq!(answers, serde_json::Value::from(expected.to_vec()));
}

#[test]
fn an_undecided_puzzle_is_never_called_anything_else() {
    for (format, expected) in [
        ("line", "# undecided: out of time, "),
        ("csv", ",undecided,"),
        ("json", "\"undecided\""),
    ] {
        let limits = ["--limit", "10000", "--time-limit", "1us"];
        let (answers, status) = answer(solve().args(["--format", format, EMPTY]).args(limits));
        assert_eq!(status, 1);
        assert!(answers.contains(expected), "{answers}");
    }
}

#[test]
fn text_from_outside_cannot_steer_a_terminal_or_begin_a_line() {
    let bad = UNIQUE.replacen('.', "\u{1b}", 1);
    let (answers, _) = answer(solve().args(["--format", "pretty"]).write_stdin(bad));
    assert!(!answers.contains('\u{1b}'), "{answers:?}");
}

#[test]
fn colours_can_be_forced_and_forbidden() {
    let drawn = |variables: &[(&str, &str)]| {
        let mut command = client();
        command.args(["solve", "--format", "pretty", UNIQUE]);
        answer(command.envs(variables.iter().copied())).0
    };
    assert!(!drawn(&[]).contains('\u{1b}'));
    let coloured = drawn(&[("CLICOLOR_FORCE", "1")]);
    // The first clue is bold, and the first digit found has a colour.
    assert!(
        coloured.contains("│ \u{1b}[1m5\u{1b}[0m \u{1b}[1m3\u{1b}[0m \u{1b}[36m4\u{1b}[0m │"),
        "{coloured}"
    );
    assert!(!drawn(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]).contains('\u{1b}'));
}

#[test]
fn a_summary_of_a_batch_goes_to_standard_error() {
    let output = solve().write_stdin(input()).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    let counts = "5 puzzles: 1 unique, 1 multiple, 2 unsolvable, 1 invalid, 0 undecided; ";
    assert!(error.contains(counts), "{error}");
    assert!(error.trim_end().ends_with(" puzzles a second"), "{error}");
    for arguments in [&[UNIQUE][..], &["--quiet", UNIQUE, TWO]] {
        let output = solve().args(arguments).output().unwrap();
        assert!(output.stderr.is_empty());
    }
}
