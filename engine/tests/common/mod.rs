//! The cases and puzzle sets that the tests share.
//!
//! `tests/fixtures` of the workspace holds a small set of every kind of case. Where `../shared` stands beside the
//! checkout, its larger sets of the same form are used as well.

#![allow(dead_code, reason = "each test binary uses a part of this module")]

pub mod checksum;
pub mod effort;
pub mod engines;
pub mod stream;
pub mod symmetry;

use std::fs;
use std::path::{Path, PathBuf};

use sudoku_engine::{Conflict, Grid, Unit};

/// A puzzle with exactly one solution.
#[derive(Debug)]
pub struct UniqueCase {
    pub id: String,
    pub puzzle: Grid,
    pub solution: Grid,
}

/// A puzzle with several solutions.
#[derive(Debug)]
pub struct MultipleCase {
    pub id: String,
    pub puzzle: Grid,
    pub count: Count,
}

/// How many solutions a puzzle has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    Exactly(usize),
    MoreThan(usize),
}

/// A puzzle with no solution, though no two of its clues clash.
#[derive(Debug)]
pub struct UnsolvableCase {
    pub id: String,
    pub puzzle: Grid,
}

/// A puzzle whose clues clash.
#[derive(Debug)]
pub struct InvalidCase {
    pub id: String,
    pub puzzle: Grid,
    /// The report expected, in the order of the engine's.
    pub conflicts: Vec<Conflict>,
    /// Every cell named in it, 0 to 80, ascending.
    pub cells: Vec<u8>,
}

/// A text, and what reading it must give.
#[derive(Debug)]
pub struct ParseCase {
    pub id: String,
    pub input: Vec<u8>,
    /// `ok PUZZLE...`, `error CODE PLACE`, or `mixed ok PUZZLE... | error CODE PLACE`.
    pub expected: String,
    /// `must`, `should` or `choice`.
    pub level: String,
}

/// How many solutions a generated puzzle has, as far as it was counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Solutions {
    None,
    One(Grid),
    TwoOrMore,
}

pub fn unique_cases() -> Vec<UniqueCase> {
    rows("solve_unique.tsv", |[id, puzzle, _, expected, _]| UniqueCase {
        id: id.into(),
        puzzle: grid(puzzle),
        solution: grid(expected),
    })
}

pub fn multiple_cases() -> Vec<MultipleCase> {
    rows("solve_multiple.tsv", |[id, puzzle, _, expected, _]| {
        MultipleCase {
            id: id.into(),
            puzzle: grid(puzzle),
            count: match expected.strip_prefix('>') {
                Some(bound) => Count::MoreThan(number(bound)),
                None => Count::Exactly(number(expected)),
            },
        }
    })
}

pub fn unsolvable_cases() -> Vec<UnsolvableCase> {
    rows("solve_unsolvable.tsv", |[id, puzzle, _, _, _]| UnsolvableCase {
        id: id.into(),
        puzzle: grid(puzzle),
    })
}

pub fn invalid_cases() -> Vec<InvalidCase> {
    rows("solve_invalid.tsv", |[id, puzzle, _, expected, _]| {
        let (conflicts, cells) = report(expected);
        InvalidCase {
            id: id.into(),
            puzzle: grid(puzzle),
            conflicts,
            cells,
        }
    })
}

pub fn parse_cases() -> Vec<ParseCase> {
    rows("parse.tsv", |[id, input, _, expected, level, _]| ParseCase {
        id: id.into(),
        input: unescape(input),
        expected: expected.into(),
        level: level.into(),
    })
}

/// The puzzles of a set, the first 81 characters of each line. `None` where the set is not there.
pub fn puzzles(file: &str) -> Option<Vec<Grid>> {
    let text = read(&shared("puzzles").join(file))?;
    Some(
        lines(&text)
            .map(|line| grid(line.get(..81).unwrap_or(line)))
            .collect(),
    )
}

/// Puzzles with their exact number of solutions, 2 to 1,000. `None` where the set is not there.
pub fn exact_counts() -> Option<Vec<(Grid, usize)>> {
    let text = read(&shared("puzzles").join("exact_counts_2_to_1000.tsv"))?;
    let row = |line| {
        let [puzzle, count] = columns(line);
        (grid(puzzle), number(count))
    };
    Some(lines(&text).map(row).collect())
}

/// Raw generator output with its answers. `None` where the set is not there.
pub fn mixed() -> Option<Vec<(Grid, Solutions)>> {
    let text = read(&shared("puzzles").join("mixed_0_1_2plus.tsv"))?;
    let row = |line| {
        let [puzzle, count, solution] = columns(line);
        let solutions = match count {
            "0" => Solutions::None,
            "1" => Solutions::One(grid(solution)),
            _ => Solutions::TwoOrMore,
        };
        (grid(puzzle), solutions)
    };
    Some(lines(&text).map(row).collect())
}

/// A folder of `../shared`, beside the workspace.
pub fn shared(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../shared")
        .join(folder)
}

/// The rows of a case file, ours and then those beside the checkout.
fn rows<const N: usize, T>(file: &str, row: impl Fn([&str; N]) -> T) -> Vec<T> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures");
    let ours = fs::read_to_string(fixtures.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    let theirs = read(&shared("cases").join(file)).unwrap_or_default();
    let of = |text: &str| -> Vec<T> { text.lines().skip(1).map(|line| row(columns(line))).collect() };
    let mut all = of(&ours);
    assert!(!all.is_empty(), "{file} has no case");
    all.extend(of(&theirs));
    all
}

/// The text of a file beside the checkout. Where there is none, says so: a test then covers less.
fn read(path: &Path) -> Option<String> {
    if !path.exists() {
        eprintln!("{} is not there and not tested", path.display());
        return None;
    }
    Some(fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn columns<const N: usize>(line: &str) -> [&str; N] {
    let columns: Vec<&str> = line.split('\t').collect();
    let found = columns.len();
    columns
        .try_into()
        .unwrap_or_else(|_| panic!("{found} columns instead of {N}: {line}"))
}

fn grid(line: &str) -> Grid {
    Grid::from_line(line).unwrap_or_else(|error| panic!("{line}: {error}"))
}

fn number(text: &str) -> usize {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Reads `conflicts row5:2@r5c1,r5c9 ... | cells r5c1,r5c9`, or the short form for a board full of one digit.
fn report(expected: &str) -> (Vec<Conflict>, Vec<u8>) {
    if let Some(rest) = expected.strip_prefix("conflicts in all 27 units: digit ") {
        let digit = rest.split(' ').next().map_or(0, number) as u8;
        let conflict = |unit: Unit| Conflict {
            digit,
            unit,
            cells: unit.cells().to_vec(),
        };
        return (Unit::all().map(conflict).collect(), (0..81).collect());
    }
    let (conflicts, all) = expected
        .strip_prefix("conflicts ")
        .and_then(|rest| rest.split_once(" | cells "))
        .unwrap_or_else(|| panic!("not a report: {expected}"));
    (conflicts.split(' ').map(conflict).collect(), cells(all))
}

/// Reads `row5:2@r5c1,r5c9`.
fn conflict(text: &str) -> Conflict {
    let read = || {
        let (unit, rest) = text.split_once(':')?;
        let (digit, at) = rest.split_once('@')?;
        let index = unit.get(3..)?.parse::<u8>().ok()? - 1;
        let unit = match unit.get(..3)? {
            "row" => Unit::Row(index),
            "col" => Unit::Column(index),
            "box" => Unit::Box(index),
            _ => return None,
        };
        Some(Conflict {
            digit: digit.parse().ok()?,
            unit,
            cells: cells(at),
        })
    };
    read().unwrap_or_else(|| panic!("not a conflict: {text}"))
}

/// Reads `r5c1,r5c9`.
fn cells(text: &str) -> Vec<u8> {
    let cell = |name: &str| {
        let (row, column) = name.strip_prefix('r')?.split_once('c')?;
        Some((row.parse::<u8>().ok()? - 1) * 9 + column.parse::<u8>().ok()? - 1)
    };
    text.split(',')
        .map(|name| cell(name).unwrap_or_else(|| panic!("not a cell: {name}")))
        .collect()
}

/// Undoes the escapes `\n \r \t \\ \xNN \uNNNN` of the case files. `\x` is a byte, `\u` a character.
pub fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((before, escape)) = rest.split_once('\\') {
        bytes.extend(before.as_bytes());
        let (value, length) = match escape.as_bytes().first() {
            Some(b'n') => ('\n', 1),
            Some(b'r') => ('\r', 1),
            Some(b't') => ('\t', 1),
            Some(b'\\') => ('\\', 1),
            Some(b'x') => (hexadecimal(escape, 3), 3),
            Some(b'u') => (hexadecimal(escape, 5), 5),
            _ => panic!("unknown escape in {text}"),
        };
        match escape.as_bytes()[0] {
            b'x' => bytes.push(value as u8),
            _ => bytes.extend(value.encode_utf8(&mut [0; 4]).as_bytes()),
        }
        rest = &escape[length..];
    }
    bytes.extend(rest.as_bytes());
    bytes
}

fn hexadecimal(escape: &str, end: usize) -> char {
    let digits = escape.get(1..end).unwrap_or_default();
    u32::from_str_radix(digits, 16)
        .ok()
        .and_then(char::from_u32)
        .unwrap_or_else(|| panic!("not an escape: {escape}"))
}
