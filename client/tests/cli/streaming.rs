//! A long input streams through: memory does not grow with it.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::thread;

use crate::support::{OTHER, OTHER_SOLVED, raw_client};

const PUZZLES: usize = 200_000;

/// The most that the process may hold, in KiB: less than the text of the puzzles and their solutions.
const MOST: u64 = 32 << 10;

/// The most that a process has held so far, in KiB.
fn peak(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn memory_does_not_grow_with_the_input() {
    for format in ["line", "json"] {
        let mut child = raw_client()
            .args(["solve", "--format", format])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        // Most of them are solved already, so that reading and writing is most of the work.
        let pair = format!("{OTHER_SOLVED}\n{OTHER}\n{OTHER_SOLVED}\n{OTHER_SOLVED}\n");
        let writer = thread::spawn(move || {
            for _ in 0..PUZZLES / 4 {
                input.write_all(pair.as_bytes()).unwrap();
            }
            input
        });
        let mut answered = 0;
        let mut answers = answers.lines();
        while answered < PUZZLES - 1 {
            let line = answers.next().unwrap().unwrap();
            answered += usize::from(line.contains(OTHER_SOLVED));
        }
        let peak = peak(child.id());
        assert!(peak < MOST, "{format}: {peak} KiB");
        drop(writer.join().unwrap());
        for line in answers {
            answered += usize::from(line.unwrap().contains(OTHER_SOLVED));
        }
        assert_eq!(answered, PUZZLES);
        assert!(child.wait().unwrap().success());
    }
}
