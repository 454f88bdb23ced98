//! Pipes: a reader that leaves, and a writer that takes its time.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};

use crate::support::{OTHER, OTHER_SOLVED, UNIQUE, UNIQUE_SOLVED, raw_client};

fn start(arguments: &[&str]) -> Child {
    raw_client()
        .arg("solve")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts")
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    for format in ["line", "csv", "json", "pretty"] {
        let mut child = start(&["--format", format]);
        let mut input = child.stdin.take().unwrap();
        let mut answers = BufReader::new(child.stdout.take().unwrap());
        writeln!(input, "{UNIQUE}").unwrap();
        let mut first = String::new();
        answers.read_line(&mut first).unwrap();
        drop(answers);
        // It notices at its next answers, and then stops to read.
        while writeln!(input, "{UNIQUE}").is_ok() {}
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{format}");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{format}");
    }
}

#[test]
fn an_answer_comes_before_the_next_puzzle() {
    let mut child = start(&["--quiet"]);
    let mut input = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for (puzzle, solution) in [(UNIQUE, UNIQUE_SOLVED), (OTHER, OTHER_SOLVED)].repeat(3) {
        writeln!(input, "{puzzle}").unwrap();
        assert_eq!(answers.next().unwrap().unwrap(), solution);
    }
    drop(input);
    assert!(answers.next().is_none());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
