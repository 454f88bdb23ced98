//! What goes into the SDK and comes out of it, written by serde and read back.

mod common;

use std::fmt::Debug;
use std::time::Duration;

use common::{EASY, SOLUTION, client, collect, grid};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, from_value, json, to_value};
use sudoku_client::{Grid, Outcome, Puzzle, SolveOptions};

/// Checks that a value is written like this, and that this is read as the value.
#[track_caller]
fn is_written<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T, written: &Value) {
    assert_eq!(&to_value(value).unwrap(), written);
    assert_eq!(&from_value::<T>(written.clone()).unwrap(), value);
}

#[tokio::test]
async fn outcomes() {
    let empty = ".".repeat(81);
    let repeated = format!("55{}", ".".repeat(79));
    let conflict = |kind: &str| json!({ "digit": 5, "unit": { "kind": kind, "index": 0 }, "cells": [0, 1] });
    for (puzzle, options, written) in [
        (
            EASY,
            SolveOptions::new(),
            json!({ "outcome": "unique", "solution": SOLUTION }),
        ),
        (
            EASY,
            SolveOptions::new().omit_solutions(true),
            json!({ "outcome": "unique", "solution": null }),
        ),
        (
            EASY,
            SolveOptions::new().solution_limit(1),
            json!({ "outcome": "solved", "solution": SOLUTION }),
        ),
        (
            &empty,
            SolveOptions::new().omit_solutions(true),
            json!({ "outcome": "multiple", "solutions": [], "count": 2 }),
        ),
        (
            &repeated,
            SolveOptions::new(),
            json!({ "outcome": "unsolvable", "conflicts": [conflict("row"), conflict("box")] }),
        ),
    ] {
        let outcome = client().with_options(options).solve(&grid(puzzle)).await.unwrap();
        is_written(&outcome, &written);
    }
    let undecided = Outcome::Undecided {
        solutions: vec![grid(SOLUTION)],
        count: 1,
    };
    is_written(
        &undecided,
        &json!({ "outcome": "undecided", "solutions": [SOLUTION], "count": 1 }),
    );
}

#[tokio::test]
async fn puzzles_and_what_is_none() {
    is_written(&Puzzle::from(grid(EASY)), &json!(EASY));
    let line = Puzzle::from(Grid::from_line("12"));
    let error = json!({ "message": "2 cells, need 81", "error": { "line": { "length": { "length": 2 } } } });
    is_written(&line, &error);
    // A string that is none is the same.
    assert_eq!(from_value::<Puzzle>(json!("12")).unwrap(), line);
    assert!(from_value::<Puzzle>(json!(12)).is_err());

    // Each way in which a text can be wrong comes out of the SDK as it went in.
    let texts = [
        "",
        "nothing",
        "12",
        &EASY.replacen('.', "x", 1),
        &format!("{EASY}\n{EASY}"),
        "[[1,2],[3",
    ];
    let puzzles: Vec<Puzzle> = texts.map(|text| Puzzle::from(text.parse::<Grid>())).into();
    let (outcomes, error) = collect(client().solve_iter(puzzles.clone())).await;
    assert!(error.is_none(), "{error:?}");
    for (puzzle, outcome) in puzzles.iter().zip(&outcomes) {
        let written = to_value(outcome).unwrap();
        assert_eq!(written["outcome"], "invalid");
        let Outcome::Invalid(invalid) = outcome else {
            panic!("{outcome:?} is a puzzle")
        };
        assert_eq!(written["message"], invalid.to_string());
        is_written(outcome, &written);
        is_written(puzzle, &to_value(puzzle).unwrap());
    }
    let refused = json!({
        "message": "no",
        "error": { "refused": { "message": "no", "length": 80, "position": 3 } },
    });
    is_written(&from_value::<Puzzle>(refused.clone()).unwrap(), &refused);
}

#[tokio::test]
async fn options_and_what_a_server_says_of_itself() {
    let options = SolveOptions::new()
        .solution_limit(7)
        .time_limit(Duration::from_millis(1_500));
    is_written(
        &options,
        &json!({
            "solution_limit": 7,
            "time_limit": { "secs": 1, "nanos": 500_000_000 },
            "omit_solutions": false,
        }),
    );
    assert_eq!(
        from_value::<SolveOptions>(json!({})).unwrap(),
        SolveOptions::new()
    );

    let info = client().server_info().await.unwrap();
    let written = to_value(&info).unwrap();
    assert_eq!(written["version"], info.version);
    is_written(&info, &written);
}
