//! A file of puzzles, one a line, some of them damaged: every line comes out in its place, as a puzzle or as an error.
#![no_main]

use std::io::BufReader;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use sudoku_engine::batch::{Batch, Options};
use sudoku_engine::text::{ParseErrorKind, Reader};
use sudoku_engine::{Grid, Isa};
use sudoku_engine_fuzz::Puzzle;

#[derive(Debug, Arbitrary)]
struct Input {
    lines: Vec<Line>,
    end: End,
    /// The size of the reader's buffer, less one.
    buffer: u8,
}

#[derive(Debug, Arbitrary)]
enum Line {
    /// A puzzle, and what else stands on its line.
    Puzzle {
        puzzle: Puzzle,
        blank: Blank,
        rest: String,
    },
    /// A puzzle that lost cells at its end.
    Short { puzzle: Puzzle, missing: u8 },
    /// A puzzle with a letter in one of its cells.
    Letter { puzzle: Puzzle, cell: u8 },
    /// A comment.
    Comment { text: String },
}

#[derive(Debug, Arbitrary, Clone, Copy)]
enum Blank {
    Dot,
    Zero,
}

#[derive(Debug, Arbitrary, Clone, Copy)]
enum End {
    Lf,
    CrLf,
    Cr,
}

/// What a line must come to.
#[derive(Debug, PartialEq, Eq)]
enum Expected {
    Puzzle(Grid),
    Length { line: u64, cells: usize },
    Letter { line: u64, column: u64 },
}

fuzz_target!(|input: Input| {
    let mut text = String::new();
    let mut expected = Vec::new();
    // The first line is a puzzle, so that those after it are taken for the lines of a file.
    let first = Line::Puzzle {
        puzzle: Puzzle(Grid::EMPTY),
        blank: Blank::Dot,
        rest: String::new(),
    };
    for (line, number) in [first].iter().chain(&input.lines).zip(1..) {
        expected.extend(line.write(number, &mut text));
        text.push_str(match input.end {
            End::Lf => "\n",
            End::CrLf => "\r\n",
            End::Cr => "\r",
        });
    }
    let buffer = BufReader::with_capacity(usize::from(input.buffer) + 1, text.as_bytes());
    let found: Vec<Expected> = Reader::new(buffer)
        .map(|item| match item.expect("memory can be read") {
            Ok(grid) => Expected::Puzzle(grid),
            Err(error) => {
                let line = error.line().expect("it is of one line");
                match error.kind() {
                    ParseErrorKind::Length { cells } => Expected::Length { line, cells: *cells },
                    ParseErrorKind::Character { character: 'x' } => Expected::Letter {
                        line,
                        column: error.column().expect("a character has a column"),
                    },
                    other => panic!("line {line}: {other:?}"),
                }
            }
        })
        .collect();
    assert_eq!(found, expected, "{text}");
    for isa in Isa::available() {
        for line in text.as_bytes().split(|byte| b"\r\n".contains(byte)) {
            strict(isa, line.get(..81).unwrap_or(line));
        }
    }
});

/// The batch engine reads from a line just what the strict reader reads.
fn strict(isa: Isa, line: &[u8]) {
    let mut batch = Batch::new(0, Vec::new(), Options::default());
    let result = batch.push_lines(isa, [line]);
    let expected = str::from_utf8(line)
        .ok()
        .and_then(|line| Grid::from_line(line).ok());
    assert_eq!(result.err(), expected.is_none().then_some(line));
    assert_eq!(batch.puzzles(), Vec::from_iter(expected));
}

impl Line {
    /// Adds the line to a text, and returns what must come of it.
    fn write(&self, line: u64, text: &mut String) -> Option<Expected> {
        match self {
            Self::Puzzle { puzzle, blank, rest } => {
                let cells = puzzle.0.to_string();
                text.push_str(&match blank {
                    Blank::Dot => cells,
                    Blank::Zero => cells.replace('.', "0"),
                });
                text.push(' ');
                text.extend(rest.chars().filter(|character| !character.is_control()));
                Some(Expected::Puzzle(puzzle.0))
            }
            Self::Short { puzzle, missing } => {
                // With fewer cells it could be a row of a grid.
                let cells = 80 - usize::from(missing % 50);
                text.push_str(&puzzle.0.to_string()[..cells]);
                Some(Expected::Length { line, cells })
            }
            Self::Letter { puzzle, cell } => {
                let cell = usize::from(cell % 81);
                let mut cells = puzzle.0.to_string();
                cells.replace_range(cell..=cell, "x");
                text.push_str(&cells);
                Some(Expected::Letter {
                    line,
                    column: cell as u64 + 1,
                })
            }
            Self::Comment { text: comment } => {
                text.push('#');
                text.extend(comment.chars().filter(|character| !character.is_control()));
                None
            }
        }
    }
}
