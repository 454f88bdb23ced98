//! `--output`: the file is never seen half written.

use std::fs::{self, File};
use std::path::Path;

use predicates::prelude::*;

use crate::support::{OTHER, OTHER_SOLVED, UNIQUE, UNIQUE_SOLVED, lines, raw_client, solve, text};

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn answers_go_to_the_file_alone() {
    let folder = tempfile::tempdir().unwrap();
    solve()
        .args(["--output", "answers", UNIQUE, OTHER])
        .current_dir(&folder)
        .assert()
        .code(0)
        .stdout("");
    let answers = fs::read_to_string(folder.path().join("answers")).unwrap();
    assert_eq!(answers, lines(&[UNIQUE_SOLVED, OTHER_SOLVED]));
    assert_eq!(names(folder.path()), ["answers"]);
}

#[test]
fn what_an_earlier_run_left_is_written_anew_and_that_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let partial = folder.path().join("answers.partial");
    let run = |arguments: &[&str]| {
        fs::write(&partial, lines(&[UNIQUE_SOLVED])).unwrap();
        let mut command = solve();
        command.args(arguments).args(["--output", "answers", OTHER]);
        let output = command.current_dir(&folder).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(names(folder.path()), ["answers"]);
        fs::remove_file(folder.path().join("answers")).unwrap();
        text(output.stderr)
    };
    let told = "sudoku-client: answers.partial, left by an earlier run, is written anew";
    assert_eq!(run(&[]), format!("{told}; --resume would have gone on from it\n"));
    assert_eq!(run(&["--format", "pretty"]), format!("{told}\n"));
    assert_eq!(run(&["--quiet"]), "");
    // Nothing is lost with an empty one.
    fs::write(&partial, "").unwrap();
    let mut command = solve();
    command.args(["--output", "answers", OTHER]).current_dir(&folder);
    command.assert().code(0).stderr("");
}

#[test]
fn what_an_earlier_run_left_is_no_input_of_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let partial = folder.path().join("answers.partial");
    fs::write(&partial, lines(&[UNIQUE])).unwrap();
    fs::hard_link(&partial, folder.path().join("other")).unwrap();
    for input in ["./answers.partial", "other", "-"] {
        for resume in [&[][..], &["--resume"]] {
            let mut command = raw_client();
            command.args(["solve", "--output", "answers", input]).args(resume);
            command.stdin(File::open(&partial).unwrap()).current_dir(&folder);
            let ended = command.output().unwrap();
            let name = if input == "-" { "standard input" } else { input };
            let told = format!("sudoku-client: cannot read {name}: --output is written there first\n");
            assert_eq!((ended.status.code(), text(ended.stderr)), (Some(2), told));
            assert_eq!(fs::read_to_string(&partial).unwrap(), lines(&[UNIQUE]));
        }
    }
}

#[test]
fn a_file_may_be_input_and_output_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("puzzles");
    fs::write(&file, lines(&[UNIQUE, OTHER])).unwrap();
    solve().arg(&file).arg("--output").arg(&file).assert().code(0);
    let answers = fs::read_to_string(&file).unwrap();
    assert_eq!(answers, lines(&[UNIQUE_SOLVED, OTHER_SOLVED]));
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_that_fails_leaves_the_file_as_it_was_and_says_where_its_answers_are() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("answers"), "old").unwrap();
    solve()
        .args(["--output", "answers", UNIQUE, "/proc/self/mem"])
        .current_dir(&folder)
        .assert()
        .code(2)
        .stderr(
            predicate::str::contains("answers.partial: cannot read /proc/self/mem: ").and(
                predicate::str::ends_with("the same command with --resume goes on from there\n"),
            ),
        );
    assert_eq!(fs::read_to_string(folder.path().join("answers")).unwrap(), "old");
    let partial = fs::read_to_string(folder.path().join("answers.partial")).unwrap();
    assert_eq!(partial, lines(&[UNIQUE_SOLVED]));
}

#[test]
fn a_run_without_a_puzzle_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for format in ["line", "csv", "json", "pretty"] {
        solve()
            .args(["--format", format, "--output", "answers"])
            .current_dir(&folder)
            .write_stdin("# nothing\n")
            .assert()
            .code(2);
        assert!(names(folder.path()).is_empty());
    }
}

#[test]
fn a_file_that_cannot_be_written_is_2() {
    let folder = tempfile::tempdir().unwrap();
    solve()
        .args(["--output", "no/such/folder/answers", UNIQUE])
        .current_dir(&folder)
        .assert()
        .code(2)
        .stderr(predicate::str::starts_with(
            "sudoku-client: cannot write no/such/folder/answers.partial: ",
        ));
    solve()
        .args(["--output", ".", UNIQUE])
        .current_dir(&folder)
        .assert()
        .code(2)
        .stderr(predicate::str::contains("is a directory"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_2() {
    for format in ["line", "csv", "json", "pretty"] {
        solve()
            .args(["--format", format, "--output", "/dev/full", UNIQUE])
            .assert()
            .code(2)
            .stderr(predicate::str::starts_with(
                "sudoku-client: cannot write the answers: ",
            ));
    }
}

#[cfg(unix)]
#[test]
fn a_run_that_is_interrupted_leaves_the_file_as_it_was_and_says_how_to_go_on() {
    use std::io::Write;
    use std::process::Stdio;

    use rustix::process::Signal;

    use crate::support::{raw_client, text, until};

    for (signal, status, format, hint) in [
        (
            Signal::INT,
            130,
            "line",
            "sudoku-client: the same command with --resume goes on from there\n",
        ),
        (
            Signal::TERM,
            143,
            "csv",
            "sudoku-client: the same command with --resume goes on from there\n",
        ),
        (Signal::TERM, 143, "json", ""),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut child = raw_client()
            .args(["solve", "--format", format, "--output", "answers"])
            .current_dir(&folder)
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(lines(&[UNIQUE]).as_bytes()).unwrap();
        let partial = folder.path().join("answers.partial");
        until("the first answer is written", || {
            fs::read_to_string(&partial).is_ok_and(|answers| answers.contains(UNIQUE_SOLVED))
        });
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, signal).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(status));
        assert_eq!(
            text(output.stderr),
            format!("sudoku-client: interrupted: incomplete, left in answers.partial\n{hint}")
        );
        assert_eq!(names(folder.path()), ["answers.partial"]);
    }
}
