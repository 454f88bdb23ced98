//! `--resume`: a run that was stopped anywhere goes on, and nobody can tell from the output.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::support::{
    CONFLICT, EMPTY, OTHER, OTHER_SOLVED, SHORT, TWO, UNIQUE, UNIQUE_SOLVED, UNSOLVABLE, lines, raw_client,
    solve, text, until,
};

const FORMATS: [&str; 3] = ["line", "csv", "jsonl"];

/// Numbers that are the same in each run of the tests: a linear congruential generator, its upper bits.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

/// Lines of every kind, some with quotes to be quoted in csv.
fn input(numbers: &mut Numbers, count: usize) -> String {
    let kinds = [
        UNIQUE,
        OTHER,
        OTHER_SOLVED,
        TWO,
        UNSOLVABLE,
        CONFLICT,
        SHORT,
        "say \"what, ever\"",
    ];
    let mut text = lines(&[UNIQUE]);
    for _ in 1..count {
        text.push_str(kinds[numbers.below(kinds.len())]);
        text.push('\n');
    }
    text
}

/// The output without what may differ from run to run: the solutions of puzzles that have several.
fn comparable(format: &str, output: &str) -> String {
    let plain = |line: &str| match format {
        "csv" if line.contains(",multiple,") => line.split(',').take(2).collect::<Vec<_>>().join(","),
        "jsonl" if line.contains("\"multiple\"") => {
            let mut object: Value = serde_json::from_str(line).unwrap();
            object["solutions"] = Value::Null;
            object.to_string()
        }
        _ => line.to_owned(),
    };
    output.split('\n').map(plain).collect::<Vec<_>>().join("\n")
}

fn start(folder: &Path, format: &str) -> Child {
    raw_client()
        .args([
            "solve", "--quiet", "--resume", "--format", format, "--output", "answers", "puzzles",
        ])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Solves all of `puzzles` in a folder at a stretch.
fn undisturbed(folder: &Path, format: &str) -> (String, i32) {
    let output = solve()
        .args(["--format", format, "puzzles"])
        .current_dir(folder)
        .output()
        .unwrap();
    (text(output.stdout), output.status.code().unwrap())
}

#[test]
fn a_run_that_is_killed_at_random_points_gives_the_output_of_one_that_is_not() {
    for seed in 1..=3 {
        for format in FORMATS {
            let mut numbers = Numbers(seed);
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join("puzzles"), input(&mut numbers, 8_000)).unwrap();
            let (expected, status) = undisturbed(folder.path(), format);
            let partial = folder.path().join("answers.partial");
            let written = || fs::metadata(&partial).map_or(0, |found| found.len() as usize);
            let mut kills = 0;
            while kills < 3 {
                let goal = written() + numbers.below(expected.len() / 3);
                let mut child = start(folder.path(), format);
                until("the run has got there", || {
                    written() > goal || child.try_wait().unwrap().is_some()
                });
                // On Unix this is SIGKILL.
                child.kill().unwrap();
                kills += usize::from(child.wait().unwrap().code().is_none());
                if folder.path().join("answers").exists() {
                    break;
                }
            }
            assert!(kills > 0, "seed {seed}, {format}: never killed in time");
            let last = start(folder.path(), format).wait_with_output().unwrap();
            assert_eq!(text(last.stderr), "", "seed {seed}, {format}");
            assert_eq!(last.status.code(), Some(status));
            let found = fs::read_to_string(folder.path().join("answers")).unwrap();
            assert!(
                comparable(format, &found) == comparable(format, &expected),
                "seed {seed}, {format}: the output differs"
            );
            assert!(!partial.exists());
        }
    }
}

#[test]
fn a_file_that_is_cut_anywhere_is_gone_on_with() {
    let mut numbers = Numbers(7);
    for format in FORMATS {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("puzzles"), input(&mut numbers, 12)).unwrap();
        let (expected, _) = undisturbed(folder.path(), format);
        let bytes = expected.as_bytes();
        let first_line = expected.find('\n').unwrap();
        let edges = [0, 1, first_line, first_line + 1, bytes.len() - 1, bytes.len()];
        let cuts = (0..12).map(|_| numbers.below(bytes.len())).chain(edges);
        for cut in cuts {
            fs::write(folder.path().join("answers.partial"), &bytes[..cut]).unwrap();
            let output = start(folder.path(), format).wait_with_output().unwrap();
            assert_eq!(text(output.stderr), "", "{format} cut after {cut} bytes");
            let found = fs::read_to_string(folder.path().join("answers")).unwrap();
            assert_eq!(
                comparable(format, &found),
                comparable(format, &expected),
                "{format} cut after {cut} bytes"
            );
        }
    }
}

/// Resumes from this text, with two puzzles, and returns the error.
fn refused(partial: &str, arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("answers.partial"), partial).unwrap();
    let output = solve()
        .args(["--resume", "--output", "answers"])
        .args(arguments)
        .args([UNIQUE, OTHER])
        .current_dir(&folder)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{:?}", text(output.stderr));
    assert_eq!(
        fs::read_to_string(folder.path().join("answers.partial")).unwrap(),
        partial
    );
    assert!(!folder.path().join("answers").exists());
    text(output.stderr)
}

#[test]
fn answers_to_other_puzzles_are_left_as_they_are() {
    let other = refused(&lines(&[OTHER_SOLVED]), &[]);
    assert!(
        other.contains("cannot resume answers.partial: answer 1 is not for puzzle 1 of this input"),
        "{other}"
    );
    assert!(!other.contains("--resume goes on"), "{other}");
    let drawn = refused("+-------+\n", &[]);
    assert!(drawn.contains("answer 1 is none"), "{drawn}");
    for (format, foreign, reason) in [
        (
            "line",
            "my notes",
            "what follows answer 0 is not the beginning of one",
        ),
        (
            "jsonl",
            "[1, 2",
            "what follows answer 0 is not the beginning of one",
        ),
        ("csv", "a,b", "what follows answer 0 is not the beginning of one"),
        ("csv", "a,b\n1,2\n", "another heading"),
    ] {
        let error = refused(foreign, &["--format", format]);
        assert!(error.contains(reason), "{error}");
    }
    let more = refused(&lines(&[UNIQUE_SOLVED, OTHER_SOLVED, UNIQUE_SOLVED]), &[]);
    assert!(
        more.contains("more answers than there are puzzles: 3 or more"),
        "{more}"
    );
}

#[test]
fn what_cannot_be_resumed_is_2() {
    for (arguments, reason) in [
        (
            &["--format", "json"][..],
            "--resume needs --format line, csv or jsonl",
        ),
        (
            &["--format", "pretty"],
            "--resume needs --format line, csv or jsonl",
        ),
        (&["--only", "unique"], "cannot be used with"),
    ] {
        let error = refused("", arguments);
        assert!(error.contains(reason), "{error}");
    }
    let output = solve().args(["--resume", UNIQUE]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(output.stderr).contains("--output"));
    let output = solve()
        .args(["--resume", "--output", "/dev/null", UNIQUE])
        .output()
        .unwrap();
    assert!(text(output.stderr).contains("no regular file"));
}

#[test]
fn what_was_answered_before_counts_for_the_exit_status_and_the_summary() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("answers.partial"),
        "# multiple: 2 or more solutions\n",
    )
    .unwrap();
    let output = solve()
        .args([
            "--resume",
            "--output",
            "answers",
            "--summary",
            "json",
            TWO,
            UNIQUE,
        ])
        .current_dir(&folder)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let summary: Value = serde_json::from_str(&text(output.stderr)).unwrap();
    assert_eq!(
        (&summary["multiple"], &summary["unique"]),
        (&Value::from(1), &Value::from(1))
    );
}

#[test]
fn puzzles_that_had_all_solutions_asked_for_before_count_too() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("puzzles"), lines(&[EMPTY, TWO, UNIQUE])).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = solve();
        command
            .args(["--all", "-o", "answers", "puzzles"])
            .args(arguments);
        command.current_dir(&folder).output().unwrap()
    };
    for format in FORMATS {
        run(&["--format", format]);
        let answers = fs::read_to_string(folder.path().join("answers")).unwrap();
        let last = answers.trim_end().rfind('\n').unwrap();
        fs::write(folder.path().join("answers.partial"), &answers[..=last]).unwrap();
        let said = text(run(&["--format", format, "--resume"]).stderr);
        assert!(
            said.contains("puzzles with 10000 solutions or more, of which no more are listed: 1\n"),
            "{format}: {said}"
        );
    }
}

/// A line with a solution does not tell whether others were looked for.
#[test]
fn with_a_limit_of_1_what_was_answered_before_counts_as_solved() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("answers.partial"), lines(&[UNIQUE_SOLVED])).unwrap();
    let output = solve()
        .args(["--resume", "--output", "answers", "--summary", "json"])
        .args(["--limit", "1", UNIQUE, OTHER])
        .current_dir(&folder)
        .output()
        .unwrap();
    let summary: Value = serde_json::from_str(&text(output.stderr)).unwrap();
    assert_eq!(
        (&summary["solved"], &summary["unique"]),
        (&Value::from(2), &Value::from(0))
    );
}
