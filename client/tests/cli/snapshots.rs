//! Help pages, drawings and errors, as they stand in `snapshots`. `INSTA_UPDATE=always cargo test -p sudoku-client`
//! renews them.

use crate::support::{CONFLICT, SHORT, TWO, UNIQUE, client, text};

/// Runs a command and compares all it shows with what is written down under `name`.
fn check(name: &str, arguments: &[&str]) {
    let output = client().args(arguments).output().expect("the command runs");
    let shown = format!(
        "{}{}exit status {}",
        text(output.stdout),
        text(output.stderr),
        output.status.code().expect("it ends by itself"),
    );
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(name, shown);
    });
}

#[test]
fn help() {
    check("help", &["--help"]);
    check("help_solve_short", &["solve", "-h"]);
    check("help_solve", &["solve", "--help"]);
    check("no_command", &[]);
    check("version", &["--version"]);
}

#[test]
fn drawings() {
    let draw = |name, puzzle| check(name, &["solve", "--format", "pretty", puzzle]);
    draw("drawing_unique", UNIQUE);
    draw("drawing_conflict", CONFLICT);
    let first = ["solve", "--format", "pretty", "--limit", "1", TWO];
    let output = client().args(first).output().unwrap();
    let shown = text(output.stdout);
    assert!(
        shown.ends_with("┘\nsolved: a solution, perhaps not the only one\n"),
        "{shown}"
    );
}

#[test]
fn errors() {
    check("error_slip", &["solve", SHORT]);
    check("error_endpoint", &["solve", "--endpoint", "no endpoint", UNIQUE]);
    check("error_limit", &["solve", "--limit", "10001", UNIQUE]);
    check("error_limit_zero", &["solve", "--limit", "0", UNIQUE]);
    check("error_time_limit", &["solve", "--time-limit", "5", UNIQUE]);
    check("error_format", &["solve", "--format", "xml", UNIQUE]);
}
