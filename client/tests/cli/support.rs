//! What the tests share: puzzles with their answers, and the command without the surroundings of whoever runs them.

use std::process;
use std::time::{Duration, Instant};

use assert_cmd::Command;

/// A puzzle with one solution.
pub const UNIQUE: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
pub const UNIQUE_SOLVED: &str =
    "534678912672195348198342567859761423426853791713924856961537284287419635345286179";

/// Another.
pub const OTHER: &str = "..43..2.9..5..9..1.7..6..43..6..2.8719...74...5..83...6.....1.5..35.869..4291.3..";
pub const OTHER_SOLVED: &str =
    "864371259325849761971265843436192587198657432257483916689734125713528694542916378";

/// A puzzle with exactly two solutions.
pub const TWO: &str = ".39...12....9.7...8..4.1..6.42...79...........91...54.5..1.9..3...8.5....14...87.";
pub const TWO_SOLVED: [&str; 2] = [
    "439658127156927384827431956342516798785294631691783542578149263263875419914362875",
    "439658127156927384827431956642513798785294631391786542578149263263875419914362875",
];

/// A puzzle with very many solutions.
pub const EMPTY: &str = ".................................................................................";

/// No two clues contradict each other, yet there is no solution.
pub const UNSOLVABLE: &str =
    "..9.287..8.6..4..5..3.....46.........2.71345.........23.....5..9..4..8.7..125.3..";

/// Two clues contradict each other.
pub const CONFLICT: &str =
    "..9.7...5..21..9..1...28....7...5..1..851.....5....3.......3..68........21.....87";

/// A puzzle that takes more than a step to solve, so that it can be given up.
pub const HARD: &str = "..............3.85..1.2.......5.7.....4...1...9.......5......73..2.1........4...9";

/// A puzzle with its last cell missing.
pub const SHORT: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..7";

/// Variables that are not ours and change what the command does.
const VARIABLES: [&str; 9] = [
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLORTERM",
    "COLUMNS",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "NO_COLOR",
    "TERM",
];

/// `sudoku-client`.
pub fn client() -> Command {
    Command::from_std(raw_client())
}

/// `sudoku-client`, as the standard library runs it.
pub fn raw_client() -> process::Command {
    let mut command = test_support::command::command(assert_cmd::cargo::cargo_bin!("sudoku-client"));
    for variable in VARIABLES {
        command.env_remove(variable);
    }
    // Nobody's configuration file.
    command.env("XDG_CONFIG_HOME", "/nowhere");
    command
}

/// `sudoku-client solve`.
pub fn solve() -> Command {
    let mut command = client();
    command.arg("solve");
    command
}

/// `sudoku-client check`.
pub fn check() -> Command {
    let mut command = client();
    command.arg("check");
    command
}

/// What a command wrote to standard output, and its exit status.
pub fn answer(command: &mut Command) -> (String, i32) {
    let output = command.output().expect("the command runs");
    let status = output.status.code().expect("it ends by itself");
    (text(output.stdout), status)
}

/// What a command wrote to standard error, and its exit status. It must have written no answer.
pub fn failure(command: &mut Command) -> (String, i32) {
    let output = command.output().expect("the command runs");
    assert_eq!(text(output.stdout), "");
    let status = output.status.code().expect("it ends by itself");
    (text(output.stderr), status)
}

pub fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("output is UTF-8")
}

/// Lines, each with its end.
pub fn lines(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Waits until something holds, and fails if that takes far too long.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < deadline, "never came: {what}");
        std::thread::yield_now();
    }
}
