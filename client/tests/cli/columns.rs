//! `--column`: tables.

use std::fs;

use crate::support::{OTHER, OTHER_SOLVED, SHORT, UNIQUE, UNIQUE_SOLVED, answer, failure, lines, solve};

fn table() -> String {
    lines(&[
        "id,puzzle,\"known, perhaps\"",
        &format!("1,{UNIQUE},{OTHER_SOLVED}"),
        &format!("2,{SHORT},"),
        "3",
        &format!("4,\"{OTHER}\",{OTHER}"),
    ])
}

#[test]
fn a_column_is_named_or_counted() {
    let expected = [
        UNIQUE_SOLVED,
        "# invalid: line 3, field 2: 80 cells, need 81",
        "# invalid: line 4: no field 2, only 1",
        OTHER_SOLVED,
    ];
    for column in ["puzzle", "2"] {
        let found = answer(solve().args(["--column", column]).write_stdin(table()));
        assert_eq!(found, (lines(&expected), 1));
    }
}

#[test]
fn a_column_that_is_not_there_is_2() {
    for (column, reason) in [
        (
            "puzzles",
            "no column \"puzzles\"; the first line has: id, puzzle, known, perhaps",
        ),
        ("4", "no column 4, only 3"),
    ] {
        let (error, status) = failure(solve().args(["--column", column]).write_stdin(table()));
        assert_eq!(status, 2, "{error}");
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn each_file_has_its_heading_and_errors_name_their_file() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("one"),
        lines(&["puzzle\tid", &format!("{UNIQUE}\t1")]),
    )
    .unwrap();
    fs::write(
        folder.path().join("two"),
        lines(&["id;puzzle", "2;12", &format!("3;{OTHER}")]),
    )
    .unwrap();
    let found = answer(
        solve()
            .args(["--column", "puzzle", "one", UNIQUE, "two"])
            .current_dir(&folder),
    );
    let slip = "# invalid: two: line 2, field 2: no puzzle found";
    assert_eq!(
        found,
        (lines(&[UNIQUE_SOLVED, UNIQUE_SOLVED, slip, OTHER_SOLVED]), 1)
    );
}

#[test]
fn a_quote_that_is_never_closed_ends_the_run_after_the_answers_before_it() {
    let text = format!(
        "id,puzzle\n1,{UNIQUE}\n2,\"{}",
        format!("{OTHER}\n").repeat(20_000)
    );
    let output = solve()
        .args(["--column", "2"])
        .write_stdin(text)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), lines(&[UNIQUE_SOLVED]));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("is a quote left open?"), "{error}");
}
