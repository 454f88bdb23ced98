//! The reader of puzzles: any bytes are read, the same whatever pieces they come in, and every error names its place.
//!
//! A line that is whole in the buffer is read by a shorter way, so a small buffer takes the longer one.
#![no_main]

use std::io::{self, BufReader};

use libfuzzer_sys::fuzz_target;
use sudoku_engine::Grid;
use sudoku_engine::text::{ParseError, Reader};

type Item = Result<Grid, ParseError>;

fuzz_target!(|input: (u8, &[u8])| {
    let (capacity, text) = input;
    let whole = items(Reader::new(text));
    let buffer = BufReader::with_capacity(usize::from(capacity) + 1, text);
    assert_eq!(whole, items(Reader::new(buffer)));
    assert!(!whole.is_empty(), "a text without a puzzle is an error");
    for item in &whole {
        match item {
            Ok(grid) => assert_eq!(Grid::from_line(&grid.to_string()).as_ref(), Ok(grid)),
            Err(error) => assert!(error.to_string().len() < 1000, "{error}"),
        }
    }
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    places(text, &whole);
    alone(text, &whole);
});

fn items(reader: impl Iterator<Item = io::Result<Item>>) -> Vec<Item> {
    reader.map(|item| item.expect("memory can be read")).collect()
}

/// Errors stand where they say, and in that order.
fn places(text: &str, items: &[Item]) {
    // Some marks at the beginning say that the text is in another encoding. A list or a tag may go over several lines, and
    // its errors are said of where they begin.
    if text.starts_with('\u{feff}') || text.contains(['\0', '<', '[', '{', '(']) {
        return;
    }
    let lines: Vec<&str> = lines(text);
    let mut last = 0;
    for error in items.iter().filter_map(|item| item.as_ref().err()) {
        let Some(line) = error.line() else {
            assert_eq!(items.len(), 1, "an error of the whole text stands alone");
            continue;
        };
        assert!(line >= last, "line {line} after line {last}");
        last = line;
        let content = lines[line as usize - 1];
        assert!(
            content.contains(error.excerpt()),
            "{error}: {:?} is not in it",
            error.excerpt()
        );
        if let Some(column) = error.column() {
            assert!((1..=content.chars().count() as u64).contains(&column), "{error}");
        }
    }
}

/// The lines of a text: they end in LF, CR LF or CR.
fn lines(text: &str) -> Vec<&str> {
    text.split('\n')
        .flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
        .collect()
}

/// A text of one puzzle parses, and the strict reader of lines takes nothing else for a puzzle.
fn alone(text: &str, items: &[Item]) {
    let parsed = text.parse::<Grid>().ok();
    let only = if items.len() == 1 {
        items[0].as_ref().ok()
    } else {
        None
    };
    assert_eq!(parsed.as_ref(), only);
    if let Ok(grid) = Grid::from_line(text) {
        assert_eq!(parsed, Some(grid));
    }
}
