//! Compressed files.

use std::fs;
use std::io::{Cursor, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::support::{
    OTHER, OTHER_SOLVED, SHORT, UNIQUE, UNIQUE_SOLVED, answer, failure, lines, solve, text,
};

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(content).unwrap();
    packed.finish().unwrap()
}

fn zstd(content: &[u8]) -> Vec<u8> {
    zstd::encode_all(content, 1).unwrap()
}

fn zip(files: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        match name.strip_suffix('/') {
            Some(folder) => archive
                .add_directory(folder, SimpleFileOptions::default())
                .unwrap(),
            None => {
                archive.start_file(*name, SimpleFileOptions::default()).unwrap();
                archive.write_all(content.as_bytes()).unwrap();
            }
        }
    }
    archive.finish().unwrap().into_inner()
}

/// Solves a file of this name and content.
fn solved(name: &str, content: &[u8]) -> (String, i32) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), content).unwrap();
    answer(solve().arg(name).current_dir(&folder))
}

fn refused(name: &str, content: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), content).unwrap();
    let (error, status) = failure(solve().arg(name).current_dir(&folder));
    assert_eq!(status, 2, "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    error
}

#[test]
fn what_a_file_holds_decides_and_not_its_name() {
    let both = lines(&[UNIQUE, OTHER]);
    let expected = (lines(&[UNIQUE_SOLVED, OTHER_SOLVED]), 0);
    for name in [
        "puzzles",
        "puzzles.txt",
        "puzzles.gz",
        "puzzles.zst",
        "puzzles.zip",
    ] {
        for packed in [gzip(both.as_bytes()), zstd(both.as_bytes()), zip(&[("a", &both)])] {
            assert_eq!(solved(name, &packed), expected, "{name}");
        }
    }
}

#[test]
fn parts_one_after_the_other_are_one_text() {
    let (first, second) = (
        UNIQUE.as_bytes(),
        b"\n..43..2.9..5..9..1.7..6..43..6..2.8719...74...5..83...6.....1.5..35.869..4291.3..",
    );
    let expected = (lines(&[UNIQUE_SOLVED, OTHER_SOLVED]), 0);
    assert_eq!(solved("a.gz", &[gzip(first), gzip(second)].concat()), expected);
    assert_eq!(solved("a.zst", &[zstd(first), zstd(second)].concat()), expected);
}

#[test]
fn a_zip_archive_is_several_files() {
    let files = [
        ("folder/", ""),
        ("folder/one.txt", &*lines(&[UNIQUE, SHORT])),
        ("__MACOSX/folder/._one.txt", "\0\u{5}\u{16}\u{7}"),
        ("two.txt", OTHER),
        ("readme", "nothing"),
    ];
    let slip = "# invalid: a.zip/folder/one.txt: line 2: 80 cells, need 81";
    let nothing = "# invalid: a.zip/readme: no puzzle found";
    let expected = lines(&[UNIQUE_SOLVED, slip, OTHER_SOLVED, nothing]);
    assert_eq!(solved("a.zip", &zip(&files)), (expected, 1));
    assert!(refused("a.zip", &zip(&[])).contains("no puzzle"));
}

/// An archive in which two files have the same name, as programs that add to an archive make them.
fn zip_of_twins(name: &str, first: &str, second: &str) -> Vec<u8> {
    let other: String = name.chars().rev().collect();
    let mut archive = zip(&[(name, first), (&other, second)]);
    while let Some(place) = archive
        .windows(other.len())
        .position(|bytes| bytes == other.as_bytes())
    {
        archive[place..place + other.len()].copy_from_slice(name.as_bytes());
    }
    archive
}

#[test]
fn files_of_the_same_name_in_an_archive_are_all_read() {
    let archive = zip_of_twins("ab", UNIQUE, OTHER);
    assert_eq!(
        solved("a.zip", &archive),
        (lines(&[UNIQUE_SOLVED, OTHER_SOLVED]), 0)
    );
}

#[test]
fn files_in_an_archive_may_be_compressed_once_more() {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let files = [
        ("one.txt.gz", gzip(UNIQUE.as_bytes())),
        ("two", zstd(OTHER.as_bytes())),
    ];
    for (name, content) in &files {
        archive.start_file(*name, SimpleFileOptions::default()).unwrap();
        archive.write_all(content).unwrap();
    }
    let archive = archive.finish().unwrap().into_inner();
    assert_eq!(
        solved("a.zip", &archive),
        (lines(&[UNIQUE_SOLVED, OTHER_SOLVED]), 0)
    );

    let mut nested = ZipWriter::new(Cursor::new(Vec::new()));
    nested.start_file("b.zip", SimpleFileOptions::default()).unwrap();
    nested.write_all(&archive).unwrap();
    assert_eq!(
        refused("a.zip", &nested.finish().unwrap().into_inner()),
        "sudoku-client: cannot read a.zip/b.zip: it is an archive inside an archive\n"
    );
    assert_eq!(
        refused("a.zip", &zip(&[("b.gz", UNIQUE)])),
        "sudoku-client: cannot read a.zip/b.gz: it is not gzip, as its name says\n"
    );
}

/// As tapes and block devices leave them.
#[test]
fn zeros_after_gzip_are_padding() {
    let expected = (lines(&[UNIQUE_SOLVED]), 0);
    for padding in [1, 511, 200_000] {
        let padded = [gzip(UNIQUE.as_bytes()), vec![0; padding]].concat();
        assert_eq!(solved("a.gz", &padded), expected, "{padding}");
    }
    let both = [
        gzip(format!("{UNIQUE}\n").as_bytes()),
        vec![0; 10],
        gzip(OTHER.as_bytes()),
    ];
    assert_eq!(
        solved("a.gz", &both.concat()),
        (lines(&[UNIQUE_SOLVED, OTHER_SOLVED]), 0)
    );
    let output = solve()
        .write_stdin([gzip(UNIQUE.as_bytes()), b"\0\0rest".to_vec()].concat())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn standard_input_may_be_compressed() {
    let expected = (lines(&[UNIQUE_SOLVED]), 0);
    for packed in [gzip(UNIQUE.as_bytes()), zstd(UNIQUE.as_bytes())] {
        assert_eq!(answer(solve().write_stdin(packed)), expected);
    }
    let (error, status) = failure(solve().write_stdin(zip(&[("a", UNIQUE)])));
    assert_eq!(status, 2);
    assert_eq!(
        error,
        "sudoku-client: cannot read standard input: a zip archive must be a file, not a stream\n"
    );
}

#[test]
fn a_compressed_table_has_columns() {
    let folder = tempfile::tempdir().unwrap();
    let table = format!("id,puzzle\n1,{UNIQUE}\n");
    fs::write(folder.path().join("table.csv.gz"), gzip(table.as_bytes())).unwrap();
    let found = answer(
        solve()
            .args(["--column", "puzzle", "table.csv.gz"])
            .current_dir(&folder),
    );
    assert_eq!(found, (lines(&[UNIQUE_SOLVED]), 0));
}

#[test]
fn a_damaged_file_is_an_error_after_the_answers_before_the_damage() {
    let many = lines(&[UNIQUE; 3000]);
    for (name, packed) in [("a.gz", gzip(many.as_bytes())), ("a.zst", zstd(many.as_bytes()))] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(name), &packed[..packed.len() - 9]).unwrap();
        let output = solve().arg(name).current_dir(&folder).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{name}");
        let answers = text(output.stdout);
        assert!(answers.lines().all(|line| line == UNIQUE_SOLVED), "{name}");
        let count = answers.lines().count();
        assert!((1_000..=3_000).contains(&count), "{name}: {count}");
        let error = text(output.stderr);
        assert!(error.contains(&format!("cannot read {name}: ")), "{error}");
    }
    assert!(refused("a.zip", &zip(&[("a", UNIQUE)])[..60]).contains("cannot read a.zip: "));
}

#[test]
fn a_name_that_promises_compression_must_keep_it() {
    assert_eq!(
        refused("a.gz", UNIQUE.as_bytes()),
        "sudoku-client: cannot read a.gz: it is not gzip, as its name says\n"
    );
    refused("a.zst", b"");
}

#[cfg(target_os = "linux")]
#[test]
fn a_bomb_takes_no_memory() {
    use std::process::{Child, Stdio};

    use rustix::process::{Pid, Resource, Rlimit, prlimit};

    use crate::support::raw_client;

    /// More than this in data, and the program gets no memory any more.
    const MOST: u64 = 48 << 20;

    /// Starts to solve its standard input, with little memory.
    fn start() -> Child {
        let mut command = raw_client();
        command.args(["solve", "--quiet"]).stdin(Stdio::piped());
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let limit = Rlimit {
            current: Some(MOST),
            maximum: Some(MOST),
        };
        prlimit(Some(Pid::from_child(&child)), Resource::Data, limit).unwrap();
        child
    }

    let line = vec![b'5'; 64 << 20];
    for packed in [gzip(&line), zstd(&line)] {
        let mut child = start();
        child.stdin.take().unwrap().write_all(&packed).unwrap();
        let output = child.wait_with_output().unwrap();
        let answers = text(output.stdout);
        assert_eq!(
            answers,
            "# invalid: line 1: the line is longer than 65536 bytes\n"
        );
        assert_eq!(output.status.code(), Some(1));
    }
}
