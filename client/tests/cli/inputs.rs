//! Arguments, files and standard input, and what errors say of them.

use std::fs;

use predicates::prelude::*;

use crate::support::{OTHER, OTHER_SOLVED, SHORT, TWO, UNIQUE, UNIQUE_SOLVED, answer, failure, lines, solve};

#[test]
fn puzzles_files_and_standard_input_are_answered_in_the_order_of_the_arguments() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("puzzles.txt");
    fs::write(&file, lines(&[OTHER, UNIQUE])).unwrap();
    let (answers, status) = answer(
        solve()
            .args([UNIQUE])
            .arg(&file)
            .args(["-", OTHER])
            .write_stdin(UNIQUE),
    );
    let expected = [
        UNIQUE_SOLVED,
        OTHER_SOLVED,
        UNIQUE_SOLVED,
        UNIQUE_SOLVED,
        OTHER_SOLVED,
    ];
    assert_eq!((answers, status), (lines(&expected), 0));
}

#[test]
fn standard_input_is_read_when_nothing_is_named() {
    assert_eq!(answer(solve().write_stdin(UNIQUE)), (lines(&[UNIQUE_SOLVED]), 0));
    assert_eq!(
        answer(solve().arg("-").write_stdin(UNIQUE)),
        (lines(&[UNIQUE_SOLVED]), 0)
    );
}

#[test]
fn a_drawn_grid_is_a_puzzle() {
    let rows: Vec<&str> = UNIQUE
        .as_bytes()
        .chunks(9)
        .map(|row| std::str::from_utf8(row).unwrap())
        .collect();
    let grid = rows.join("\n");
    assert_eq!(answer(solve().arg(&grid)), (lines(&[UNIQUE_SOLVED]), 0));
    assert_eq!(answer(solve().write_stdin(grid)), (lines(&[UNIQUE_SOLVED]), 0));
}

#[test]
fn a_puzzle_may_begin_with_a_dash() {
    let dashes = OTHER.replace('.', "-");
    assert_eq!(
        answer(solve().args([&dashes, "--limit", "2"])),
        (lines(&[OTHER_SOLVED]), 0)
    );
}

#[test]
fn a_bad_line_keeps_its_place_and_shifts_no_other() {
    let (answers, status) = answer(solve().write_stdin(lines(&[UNIQUE, SHORT, TWO, "what?", OTHER])));
    let answers: Vec<&str> = answers.lines().collect();
    assert_eq!(status, 1);
    assert_eq!(answers.len(), 5, "{answers:?}");
    assert_eq!(answers[0], UNIQUE_SOLVED);
    assert!(answers[1].starts_with("# invalid: line 2"), "{}", answers[1]);
    assert!(answers[1].contains("80 cells"), "{}", answers[1]);
    assert!(answers[2].starts_with("# multiple: "), "{}", answers[2]);
    assert!(answers[3].starts_with("# invalid: line 4"), "{}", answers[3]);
    assert_eq!(answers[4], OTHER_SOLVED);
}

#[test]
fn with_several_sources_an_error_names_its_own() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("good"), lines(&[UNIQUE])).unwrap();
    fs::write(folder.path().join("bad"), lines(&[OTHER, SHORT])).unwrap();
    let (answers, _) = answer(solve().args(["good", "bad"]).current_dir(&folder));
    let last = answers.lines().last().unwrap();
    assert!(last.starts_with("# invalid: bad: line 2"), "{last}");
}

#[test]
fn a_slip_in_a_puzzle_is_told_from_a_missing_file() {
    let (error, status) = failure(solve().arg(SHORT));
    assert_eq!(status, 2);
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(error.contains("neither a file nor a puzzle"), "{error}");
    assert!(error.contains("80 cells, need 81"), "{error}");

    let letter = UNIQUE.replacen("8...6", "8..a6", 1);
    assert_ne!(letter, UNIQUE);
    let (error, status) = failure(solve().arg(&letter));
    assert_eq!(status, 2);
    assert!(error.contains("column 31: 'a'"), "{error}");
}

#[test]
fn a_file_is_named_by_an_error_that_ends_the_run_before_any_answer() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("good"), lines(&[UNIQUE])).unwrap();
    solve()
        .args(["good", "missing.txt"])
        .current_dir(&folder)
        .assert()
        .code(2)
        .stdout("")
        .stderr(predicate::str::starts_with(
            "sudoku-client: cannot read missing.txt: ",
        ));
    solve()
        .arg(folder.path())
        .assert()
        .code(2)
        .stderr(predicate::str::contains("is a directory"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_fails_while_it_is_read_ends_the_run_after_the_answers_before_it() {
    // Reading a process's memory from address 0 fails with an input/output error, even for root.
    solve()
        .args([UNIQUE, "/proc/self/mem", OTHER])
        .assert()
        .code(2)
        .stdout(lines(&[UNIQUE_SOLVED]))
        .stderr(predicate::str::starts_with(
            "sudoku-client: cannot read /proc/self/mem: ",
        ));
}

#[test]
fn arguments_that_are_not_unicode_can_be_files() {
    #[cfg(unix)]
    {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;
        let folder = tempfile::tempdir().unwrap();
        let name = OsStr::from_bytes(b"puzzles-\xff.txt");
        fs::write(folder.path().join(name), lines(&[UNIQUE])).unwrap();
        let answers = answer(solve().arg(name).current_dir(&folder));
        assert_eq!(answers, (lines(&[UNIQUE_SOLVED]), 0));
    }
}
