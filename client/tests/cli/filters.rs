//! Which answers are written, how many solutions are looked for, and what is said at the end.

use serde_json::Value;

use crate::support::{
    CONFLICT, EMPTY, OTHER, SHORT, TWO, UNIQUE, UNIQUE_SOLVED, answer, failure, lines, solve, text,
};

fn input() -> String {
    lines(&[UNIQUE, TWO, CONFLICT, OTHER, SHORT])
}

#[test]
fn only_some_kinds_are_written_each_with_its_number() {
    let (answers, status) = answer(solve().args(["--only", "multiple,invalid"]).write_stdin(input()));
    let expected = [
        "2 # multiple: 2 or more solutions",
        "5 # invalid: line 5: 80 cells, need 81",
    ];
    assert_eq!((answers, status), (lines(&expected), 1));
    let (answers, _) = answer(solve().args(["--only", "unique"]).write_stdin(input()));
    assert!(
        answers.starts_with(&format!("1 {UNIQUE_SOLVED}\n4 ")),
        "{answers}"
    );
}

#[test]
fn every_format_has_the_number() {
    let with = |format| {
        let arguments = ["--only", "invalid", "--format", format];
        answer(solve().args(arguments).write_stdin(input())).0
    };
    assert!(with("csv").starts_with("number,input,outcome,"));
    assert!(
        with("csv")
            .lines()
            .nth(1)
            .unwrap()
            .starts_with(&format!("5,{SHORT},invalid,"))
    );
    let array: Value = serde_json::from_str(&with("json")).unwrap();
    assert_eq!(
        (array.as_array().unwrap().len(), &array[0]["number"]),
        (1, &Value::from(5))
    );
    let object: Value = serde_json::from_str(&with("jsonl")).unwrap();
    assert_eq!(object["number"], 5);
    assert!(with("pretty").starts_with("puzzle 5\ninvalid: "));
}

#[test]
fn nothing_to_write_is_still_a_whole_output_and_a_status_of_all_puzzles() {
    for (format, expected) in [("line", ""), ("jsonl", ""), ("json", "[\n\n]\n")] {
        let arguments = ["--only", "undecided", "--format", format];
        assert_eq!(
            answer(solve().args(arguments).write_stdin(UNIQUE)),
            (expected.to_owned(), 0)
        );
        assert_eq!(
            answer(solve().args(arguments).write_stdin(TWO)),
            (expected.to_owned(), 1)
        );
    }
}

#[test]
fn json_lines_are_the_objects_of_json() {
    let with = |format| answer(solve().args(["--format", format]).write_stdin(input())).0;
    let array: Vec<Value> = serde_json::from_str(&with("json")).unwrap();
    let lines = with("jsonl");
    let mut objects: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    // Which solutions of several come first may differ.
    objects[1]["solutions"] = array[1]["solutions"].clone();
    assert_eq!(objects, array);
    assert!(lines.ends_with("}\n"));
}

#[test]
fn all_is_a_limit_of_ten_thousand_and_says_when_that_was_reached() {
    let output = solve()
        .args(["--all", "--summary", "text", TWO, EMPTY])
        .output()
        .unwrap();
    let expected = [
        "# multiple: exactly 2 solutions",
        "# multiple: 10000 or more solutions",
    ];
    assert_eq!(text(output.stdout), lines(&expected));
    let said = text(output.stderr);
    assert!(
        said.contains("puzzles with 10000 solutions or more, of which no more are listed: 1\n"),
        "{said}"
    );
    let output = solve().args(["--all", "--quiet", EMPTY]).output().unwrap();
    assert_eq!(text(output.stderr), "");
    let (error, status) = failure(solve().args(["--all", "--limit", "3", EMPTY]));
    assert_eq!(status, 2, "{error}");
}

#[test]
fn a_summary_can_be_json() {
    for quiet in [&[][..], &["--quiet"]] {
        let output = solve()
            .args(["--summary", "json"])
            .args(quiet)
            .write_stdin(input())
            .output()
            .unwrap();
        let summary: Value = serde_json::from_str(&text(output.stderr)).unwrap();
        let counts = [
            "puzzles",
            "unique",
            "multiple",
            "unsolvable",
            "solved",
            "invalid",
            "undecided",
        ];
        let counts: Vec<u64> = counts.iter().map(|key| summary[key].as_u64().unwrap()).collect();
        assert_eq!(counts, [5, 2, 1, 1, 0, 1, 0]);
        assert!(summary["seconds"].as_f64().unwrap() > 0.0);
    }
}
