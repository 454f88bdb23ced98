//! Help pages, drawings and errors, as they stand in `snapshots`. `INSTA_UPDATE=always cargo test -p sudoku-client`
//! renews them.

use crate::support::{CONFLICT, HARD, SHORT, TWO, UNIQUE, UNSOLVABLE, client, text};

/// Runs a command and compares all it shows with what is written down under `name`.
fn check(name: &str, arguments: &[&str]) {
    check_with(name, &[], arguments);
}

/// The same with variables of the environment. An escape character is shown as `␛`.
fn check_with(name: &str, variables: &[(&str, &str)], arguments: &[&str]) {
    let mut command = client();
    let command = command.args(arguments).envs(variables.iter().copied());
    let output = command.output().expect("the command runs");
    let shown = format!(
        "{}{}exit status {}",
        text(output.stdout),
        text(output.stderr),
        output.status.code().expect("it ends by itself"),
    );
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(name, shown.replace('\u{1b}', "␛"));
    });
}

#[test]
fn help() {
    check("help", &["--help"]);
    check("help_solve_short", &["solve", "-h"]);
    check("help_solve", &["solve", "--help"]);
    check("help_check_short", &["check", "-h"]);
    check("help_check", &["check", "--help"]);
    check("help_ping", &["ping", "--help"]);
    check("help_ping_short", &["ping", "-h"]);
    check("help_bench", &["bench", "--help"]);
    check("help_bench_short", &["bench", "-h"]);
    check("help_man", &["man", "--help"]);
    check("help_completions_short", &["completions", "-h"]);
    check("help_completions", &["completions", "--help"]);
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
fn drawings_of_checks() {
    const WIDE: [(&str, &str); 1] = [("COLUMNS", "53")];
    const NARROW: [(&str, &str); 1] = [("COLUMNS", "40")];
    const COLOURED: [(&str, &str); 1] = [("CLICOLOR_FORCE", "1")];
    check("check_proper", &["check", UNIQUE]);
    check("check_conflict", &["check", CONFLICT]);
    check("check_unsolvable", &["check", UNSOLVABLE]);
    check_with("check_two_wide", &WIDE, &["check", TWO]);
    check_with("check_two_narrow", &NARROW, &["check", TWO]);
    check_with("check_two_coloured", &COLOURED, &["check", TWO]);
    check_with("check_conflict_coloured", &COLOURED, &["check", CONFLICT]);
    check("check_ascii", &["check", "--ascii", CONFLICT]);
    check("check_undecided", &["check", "--time-limit", "1us", HARD]);
}

#[test]
fn drawings_for_narrow_and_poor_terminals() {
    let draw = ["solve", "--format", "pretty", CONFLICT];
    check_with("drawing_narrow", &[("COLUMNS", "40")], &draw);
    check_with("drawing_poor_locale", &[("LC_ALL", "C")], &draw);
    check_with(
        "drawing_coloured",
        &[("CLICOLOR_FORCE", "1")],
        &["solve", "--format", "pretty", UNIQUE],
    );
}

#[test]
fn errors() {
    check("error_check_slip", &["check", SHORT]);
    check("error_check_nothing", &["check"]);
    check("error_check_missing", &["check", "missing.txt"]);
    check("error_ping_nothing", &["ping"]);
    check("error_ping_endpoint", &["ping", "no endpoint"]);
    check("error_token", &["ping", "--token", "secret"]);
    check("error_ca", &["ping", "127.0.0.1:1", "--ca", "ca.pem"]);
    check("error_config", &["ping", "--config", "missing.toml"]);
    check(
        "error_cert",
        &["ping", "https://127.0.0.1:1", "--cert", "client.pem"],
    );
    check(
        "error_token_file",
        &["ping", "127.0.0.1:1", "--token-file", "token"],
    );
    check("error_bench_puzzle", &["bench", "--count", "1", SHORT]);
    check("error_bench_mode", &["bench", "--mode", "burst"]);
    check("error_bench_rate", &["bench", "--rate", "fast"]);
    check("error_shell", &["completions", "command.com"]);
    check("error_column", &["solve", "--column", "2", "-"]);
    check("error_only", &["solve", "--only", "good", UNIQUE]);
    check("error_all", &["solve", "--all", "--limit", "3", UNIQUE]);
    check("error_resume_output", &["solve", "--resume", UNIQUE]);
    check(
        "error_resume_format",
        &["solve", "--resume", "-f", "json", "-o", "answers", UNIQUE],
    );
    check("error_slip", &["solve", SHORT]);
    check("error_endpoint", &["solve", "--endpoint", "no endpoint", UNIQUE]);
    check("error_limit", &["solve", "--limit", "10001", UNIQUE]);
    check("error_limit_zero", &["solve", "--limit", "0", UNIQUE]);
    check("error_time_limit", &["solve", "--time-limit", "5", UNIQUE]);
    check("error_format", &["solve", "--format", "xml", UNIQUE]);
}
