//! Reading puzzles from text: what holds for every text, and how the reader treats its input.

mod common;

use std::io::{self, BufReader, Read};

use proptest::prelude::*;
use sudoku_engine::Grid;
use sudoku_engine::text::{ParseError, ParseErrorKind, Reader};

const PUZZLE: &str = "...9..7....8...5...1..42........5....76.......31267.5..2..1.84..8...31.....8..6.5";
const OTHER: &str = "46281...3....578628....241.....9..35.3...6..77....3.94.1.234.78..7.8..2.2.9.....1";

const SOLUTION: &str = "354986712268371594719542386842135967576498231931267458625719843487653129193824675";

/// Reads a text, now one by one and now some together: what comes must not depend on that.
fn read(text: impl AsRef<[u8]>) -> Vec<Result<Grid, ParseError>> {
    let mut reader = Reader::new(text.as_ref());
    let mut items = Vec::new();
    while let Some(item) = reader.next() {
        items.push(item.expect("reading from memory does not fail"));
        let most = items.len() % 4;
        let taken = reader.take_plain(most, |grid| items.push(Ok(grid)));
        assert!(taken.expect("reading from memory does not fail") <= most);
    }
    items
}

fn grid(line: &str) -> Grid {
    Grid::from_line(line).unwrap()
}

fn error(text: impl AsRef<[u8]>) -> ParseError {
    let [item] = <[_; 1]>::try_from(read(text)).unwrap();
    item.unwrap_err()
}

#[test]
fn errors_display_with_their_place() {
    let letter = PUZZLE.replacen('9', "a", 1);
    let rows: Vec<&str> = (0..9).map(|row| &PUZZLE[9 * row..9 * row + 9]).collect();
    let check = |text: &str, expected: &str| assert_eq!(error(text).to_string(), expected);
    check("", "no puzzle: the text is empty");
    check("# a comment", "no puzzle found");
    check(&PUZZLE[1..], "line 1: 80 cells, need 81");
    check(&letter, "line 1, column 4: 'a' is neither a digit nor a blank");
    check(
        &format!("\n\n  {letter}"),
        "line 3, column 6: 'a' is neither a digit nor a blank",
    );
    check(&rows[..8].join("\n"), "line 1: 8 rows, need 9");
    check(
        &format!("{}\n1..4", rows.join("\n")),
        "line 10: 4 cells, need 9 in row 10",
    );
    check(
        &".".repeat(256),
        "line 1: a grid of 16x16 (256 cells), only 9x9 is supported",
    );
    check(
        "[[1, 2, 10, 4, 5, 6, 7, 8, 9]]",
        "line 1, column 9: r1c3 is 10, neither a digit nor a blank",
    );
    check(
        "[[1, 2, 3\n4, 5",
        "line 1: the text ends before its brackets are closed",
    );
    let latin1 = [
        b"# one\n  ",
        &PUZZLE.as_bytes()[..40],
        b"\xb7",
        &PUZZLE.as_bytes()[41..],
    ]
    .concat();
    assert_eq!(
        error(latin1).to_string(),
        "line 2, column 43: not UTF-8 at byte offset 48"
    );
}

#[test]
fn errors_keep_a_bounded_excerpt() {
    assert_eq!(error(format!("  {}\t\n", &PUZZLE[1..])).excerpt(), &PUZZLE[1..]);
    assert_eq!(error(PUZZLE.repeat(100)).excerpt().len(), 100);
    assert_eq!(error("7".repeat(1 << 20)).excerpt().len(), 100);
}

#[test]
fn a_string_is_parsed_if_it_holds_one_puzzle() {
    assert_eq!(PUZZLE.parse(), Ok(grid(PUZZLE)));
    assert_eq!(grid(PUZZLE).to_string().parse(), Ok(grid(PUZZLE)));
    assert_eq!(format!("# one\n{PUZZLE}\n\n").parse(), Ok(grid(PUZZLE)));
    let kind = |text: &str| text.parse::<Grid>().unwrap_err().kind().clone();
    assert_eq!(kind(""), ParseErrorKind::Empty);
    assert_eq!(kind(&format!("{PUZZLE}\n{OTHER}")), ParseErrorKind::Several);
    assert_eq!(
        kind(&format!("{PUZZLE}\n{}", &OTHER[1..])),
        ParseErrorKind::Length { cells: 80 }
    );
}

#[test]
fn names_of_files_are_not_meant_as_puzzles() {
    for name in [
        "puzzles.txt",
        "17_clue.txt",
        "-",
        "--limit",
        "3",
        "/tmp/1.sdk",
        "C:\\puzzles\\2.csv",
        "top1465",
        "",
    ] {
        assert!(!name.parse::<Grid>().unwrap_err().is_near_puzzle(), "{name}");
    }
    for puzzle in [
        &PUZZLE[1..],
        &PUZZLE.replace('.', "x"),
        &PUZZLE[..30],
        &PUZZLE.repeat(2),
        "[[1, 2, 3], [4, 5",
    ] {
        assert!(puzzle.parse::<Grid>().unwrap_err().is_near_puzzle(), "{puzzle}");
    }
}

#[test]
fn a_real_file_in_utf16_with_headings() {
    let path = common::shared("puzzles").join("technique_list_utf16.txt");
    let Ok(text) = std::fs::read(&path) else {
        return eprintln!("{} is not there and not tested", path.display());
    };
    let items = read(text);
    assert_eq!(items.iter().filter(|item| item.is_ok()).count(), 669);
    let errors: Vec<_> = items.into_iter().filter_map(Result::err).collect();
    assert_eq!(errors.len(), 1, "one line marks what was filled in");
    assert_eq!(errors[0].line(), Some(512));
}

#[test]
fn the_puzzle_sets_read_as_their_first_81_characters() {
    let sets = [
        "17_clue.txt",
        "easy_kaggle.txt",
        "unbiased_minimal.tsv",
        "exact_counts_2_to_1000.tsv",
        "se_rated.tsv",
    ];
    for set in sets {
        let Some(expected) = common::puzzles(set) else {
            return;
        };
        let file = std::fs::File::open(common::shared("puzzles").join(set)).unwrap();
        let found = Reader::new(BufReader::new(file)).map(|item| item.unwrap().unwrap());
        assert!(found.eq(expected), "{set}");
    }
}

/// An input made of the same bytes over and over, which never stands in memory.
struct Repeated<'a> {
    bytes: &'a [u8],
    times: usize,
}

impl Read for Repeated<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.times == 0 {
            return Ok(0);
        }
        self.times -= 1;
        buffer[..self.bytes.len()].copy_from_slice(self.bytes);
        Ok(self.bytes.len())
    }
}

fn repeated(bytes: &[u8], times: usize) -> Repeated<'_> {
    Repeated { bytes, times }
}

#[test]
fn a_line_without_an_end_is_one_error() {
    let puzzle = format!("\n{PUZZLE}\n");
    for filler in ["7", ".", "-", "abc, ", "é", ":1", "1 2 ", "\0"] {
        let filler = filler.repeat(1000);
        let endless = repeated(filler.as_bytes(), 2000).chain(puzzle.as_bytes());
        let items: Vec<_> = Reader::new(BufReader::new(endless)).map(Result::unwrap).collect();
        assert_eq!(items.len(), 2, "{}", &filler[..2]);
        assert_eq!(
            items[0].as_ref().unwrap_err().kind(),
            &ParseErrorKind::TooLong { limit: 65536 }
        );
        assert_eq!(items[0].as_ref().unwrap_err().line(), Some(1));
        assert_eq!(items[1], Ok(grid(PUZZLE)));
    }
}

#[test]
fn a_long_line_may_begin_with_a_puzzle_or_be_a_comment() {
    for (begin, puzzles) in [(format!("{PUZZLE} "), 2), ("# ".into(), 1)] {
        let tail = format!("\n{OTHER}\n");
        let long = begin
            .as_bytes()
            .chain(repeated(b"metadata ", 100_000))
            .chain(tail.as_bytes());
        let items: Vec<_> = Reader::new(BufReader::new(long)).map(Result::unwrap).collect();
        assert_eq!(items.len(), puzzles);
        assert!(items.iter().all(Result::is_ok));
    }
}

#[test]
fn a_blank_line_is_one_however_long_it_is() {
    for space in [" ", "\t", "\u{3000}"] {
        for end in ["\n", "# a comment\n", ""] {
            let head = format!("{PUZZLE}\n");
            let tail = format!("{end}\n{OTHER}\n");
            let long = head
                .as_bytes()
                .chain(repeated(space.as_bytes(), 1_000_000))
                .chain(tail.as_bytes());
            let items: Vec<_> = Reader::new(BufReader::new(long)).map(Result::unwrap).collect();
            assert_eq!(items, [Ok(grid(PUZZLE)), Ok(grid(OTHER))], "{space:?} {end:?}");
        }
    }
    let nothing = BufReader::new(repeated(b" ", 1_000_000));
    let items: Vec<_> = Reader::new(nothing).map(Result::unwrap).collect();
    assert_eq!(items.len(), 1);
    assert_eq!(items[0].as_ref().unwrap_err().kind(), &ParseErrorKind::Empty);
    // Behind it stands a puzzle, or what is none.
    for (behind, is_puzzle) in [(PUZZLE, true), (&PUZZLE[1..], false)] {
        let long = repeated(b" ", 1_000_000).chain(behind.as_bytes());
        let items: Vec<_> = Reader::new(BufReader::new(long)).map(Result::unwrap).collect();
        assert_eq!(items.len(), 1);
        assert_eq!(items[0].is_ok(), is_puzzle, "{behind}");
    }
}

#[test]
fn a_list_may_be_longer_than_any_line() {
    let element = format!("\"{PUZZLE}\", ");
    let list = b"["
        .chain(repeated(element.as_bytes(), 5000))
        .chain(&b"null]"[..]);
    let mut reader = Reader::new(BufReader::new(list));
    assert!(reader.by_ref().all(|item| item.unwrap() == Ok(grid(PUZZLE))));
    let xml = format!("<game data='{PUZZLE}'/>");
    let xml = b"<games>"
        .chain(repeated(xml.as_bytes(), 5000))
        .chain(&b"</games>"[..]);
    assert_eq!(
        Reader::new(BufReader::new(xml))
            .filter(|item| item.as_ref().unwrap().is_ok())
            .count(),
        5000
    );
}

#[test]
fn lines_after_xml_are_read() {
    let xml = format!("<games>\n  <game data='{PUZZLE}'\n  />\n</games>\n");
    let items = |text: &str| -> Vec<_> { Reader::new(text.as_bytes()).map(Result::unwrap).collect() };
    for (text, puzzles) in [
        (format!("{xml}\n{PUZZLE}\n\n{PUZZLE}\n{PUZZLE}"), 4),
        (format!("{PUZZLE}\n\n<b>hard ones</b>\n{PUZZLE}\n{PUZZLE}\n"), 3),
        (format!("<!-- easy\nones -->\n\n{PUZZLE}\n\n{xml}"), 2),
        (format!("{xml}\n[\"{PUZZLE}\"]"), 2),
    ] {
        assert_eq!(items(&text), vec![Ok(grid(PUZZLE)); puzzles], "{text}");
    }
    let told = items(&format!("{PUZZLE}\n\n  <3 hard ones\n{PUZZLE}\n"));
    assert_eq!(told[0], Ok(grid(PUZZLE)));
    assert_eq!(
        told[1].as_ref().unwrap_err().to_string(),
        "line 3, column 3: the text ends before this tag or comment does"
    );
    assert_eq!(told.len(), 2);
}

#[test]
fn many_lines_are_counted() {
    let good = format!("{PUZZLE}\n");
    let bad = format!("{}\n", &PUZZLE[1..]);
    let lines = || repeated(good.as_bytes(), 100_000);
    let text = lines().chain(bad.as_bytes()).chain(lines());
    let mut count = 0;
    for (item, line) in Reader::new(BufReader::new(text)).zip(1..) {
        match item.unwrap() {
            Ok(_) => count += 1,
            Err(error) => assert_eq!((error.line(), line), (Some(100_001), 100_001)),
        }
    }
    assert_eq!(count, 200_000);
}

/// An input that fails once its bytes are read.
struct Failing(io::ErrorKind);

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(self.0.into())
    }
}

#[test]
fn a_puzzle_comes_out_before_more_is_read() {
    for line_end in ["\n", "\r\n", "\r"] {
        let text = format!("{PUZZLE}{line_end}{OTHER}{line_end}");
        let input = text.as_bytes().chain(Failing(io::ErrorKind::ConnectionReset));
        let mut reader = Reader::new(BufReader::new(input));
        assert_eq!(reader.next().unwrap().unwrap(), Ok(grid(PUZZLE)));
        assert_eq!(reader.next().unwrap().unwrap(), Ok(grid(OTHER)));
        assert_eq!(
            reader.next().unwrap().unwrap_err().kind(),
            io::ErrorKind::ConnectionReset
        );
        assert!(reader.next().is_none());
    }
}

/// An input that is interrupted before each read.
struct Interrupted<R>(R, bool);

impl<R: Read> Read for Interrupted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.1 = !self.1;
        if self.1 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        self.0.read(buffer)
    }
}

#[test]
fn an_interrupted_read_is_tried_again() {
    let text = format!("{PUZZLE}\n{OTHER}");
    let input = BufReader::with_capacity(10, Interrupted(text.as_bytes(), false));
    let items: Vec<_> = Reader::new(input).map(Result::unwrap).collect();
    assert_eq!(items, [Ok(grid(PUZZLE)), Ok(grid(OTHER))]);
}

fn any_grid() -> impl Strategy<Value = Grid> {
    let cell = prop_oneof![2 => Just(0_u8), 1 => 1..=9_u8];
    proptest::collection::vec(cell, 81).prop_map(|cells| Grid::from_cells(cells.try_into().unwrap()).unwrap())
}

fn any_grids() -> impl Strategy<Value = Vec<Grid>> {
    proptest::collection::vec(any_grid(), 1..6)
}

/// Pieces of which the texts of this module are made, and what they are made of.
fn any_text() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        any_grid().prop_map(|grid| grid.to_string().into_bytes()),
        "[0-9.*_?-]{1,12}".prop_map(String::into_bytes),
        "[-+|=*─│┼ ]{1,15}".prop_map(String::into_bytes),
        "[\\[\\]{}(),:\"'\\\\ 0-9nul.]{1,20}".prop_map(String::into_bytes),
        "<?(/|!--|[a-z]+)? ?(data=)?[\"'0-9.<>-]{0,9}".prop_map(String::into_bytes),
        "\\PC{0,9}".prop_map(String::into_bytes),
        proptest::collection::vec(any::<u8>(), 0..9),
        prop_oneof![
            Just("\n"),
            Just("\r\n"),
            Just("\r"),
            Just("\n\n"),
            Just(" "),
            Just("# "),
            Just("\u{feff}")
        ]
        .prop_map(|text| text.as_bytes().to_vec()),
    ];
    let mark = prop_oneof![
        4 => Just(Vec::new()),
        1 => Just(b"\xff\xfe".to_vec()),
        1 => Just(b"\xfe\xff".to_vec()),
        1 => Just(b"\xef\xbb\xbf".to_vec()),
    ];
    (mark, proptest::collection::vec(piece, 0..30))
        .prop_map(|(mark, pieces)| [mark, pieces.concat()].concat())
}

fn utf16(text: &str, little_endian: bool) -> Vec<u8> {
    let bytes = |unit: u16| {
        if little_endian {
            unit.to_le_bytes()
        } else {
            unit.to_be_bytes()
        }
    };
    std::iter::once('\u{feff}')
        .chain(text.chars())
        .collect::<String>()
        .encode_utf16()
        .flat_map(bytes)
        .collect()
}

proptest! {
    /// No text makes the reader panic or go on for ever, and how the input is cut into buffers makes no difference.
    #[test]
    fn any_text_is_read(text in any_text(), capacity in 1..100_usize) {
        let items = read(&text);
        prop_assert!(!items.is_empty());
        let buffered = BufReader::with_capacity(capacity, text.as_slice());
        let again: Vec<_> = Reader::new(buffered).map(Result::unwrap).collect();
        prop_assert_eq!(items, again);
    }

    #[test]
    fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..500)) {
        prop_assert!(!read(bytes).is_empty());
    }

    /// Grids that are written one a line come back, whatever the line end, the encoding and the blank.
    #[test]
    fn lines_read_back(
        grids in any_grids(),
        line_end in prop_oneof![Just("\n"), Just("\r\n"), Just("\r")],
        blank in prop_oneof![Just("."), Just("0"), Just("-"), Just("*"), Just("_"), Just("?")],
        ends_in_line_end: bool,
    ) {
        let lines: Vec<_> = grids.iter().map(|grid| grid.to_string().replace('.', blank)).collect();
        let text = lines.join(line_end) + if ends_in_line_end { line_end } else { "" };
        let grids: Vec<_> = grids.into_iter().map(Ok).collect();
        prop_assert_eq!(&read(&text), &grids);
        prop_assert_eq!(&read(format!("\u{feff}{text}")), &grids);
        prop_assert_eq!(&read(utf16(&text, true)), &grids);
        prop_assert_eq!(&read(utf16(&text, false)), &grids);
    }

    /// Grids that are written as nine rows come back, whatever parts the cells and the grids.
    #[test]
    fn rows_read_back(
        grids in any_grids(),
        between_cells in prop_oneof![Just(""), Just(" "), Just(","), Just("\t"), Just(", "), Just(" | ")],
        between_grids in prop_oneof![Just("\n"), Just("\n\n"), Just("Grid 7\n"), Just("# a comment\n"), Just("--+--+--\n")],
    ) {
        let row = |row: &[u8]| row.iter().map(|&cell| char::from(cell).to_string()).collect::<Vec<_>>().join(between_cells);
        let text = |grid: &Grid| grid.to_line().chunks(9).map(|cells| row(cells) + "\n").collect::<String>();
        let text: Vec<_> = grids.iter().map(text).collect();
        let grids: Vec<_> = grids.into_iter().map(Ok).collect();
        prop_assert_eq!(read(text.join(between_grids)), grids);
    }

    /// Drawings come back, with nothing between them or with lines of puzzles.
    #[test]
    fn drawings_read_back(grids in any_grids(), ascii: bool, lines: bool) {
        let draw = |grid: &Grid| match ascii {
            true => format!("{}\n", grid.pretty().ascii()),
            false => format!("{}\n", grid.pretty()),
        };
        let write = |grid: &Grid| if lines { format!("{}{grid}\n", draw(grid)) } else { draw(grid) };
        let text: String = grids.iter().map(write).collect();
        let times = if lines { 2 } else { 1 };
        let expected: Vec<_> = grids.into_iter().flat_map(|grid| std::iter::repeat_n(Ok(grid), times)).collect();
        prop_assert_eq!(read(text), expected);
    }

    /// One line that is damaged is one error with its number, and the lines around it come out as they were.
    #[test]
    fn a_damaged_line_is_one_error_in_its_place(
        grids in proptest::collection::vec(any_grid(), 2..6),
        damaged in any::<prop::sample::Index>(),
        damage in prop_oneof![
            (21..81_usize).prop_map(|length| (length, None)),
            (0..81_usize, "[^#\r\n0-9.*_?-]").prop_map(|(place, text)| (place, Some(text))),
            (81..82_usize, "[0-9.*_?a-z-]{1,100}").prop_map(|(place, text)| (place, Some(text))),
        ],
        before in prop_oneof![4 => Just(""), 1 => Just("7,"), 1 => Just("00ab17f "), 1 => Just("Puzzle 3: "), 1 => Just("x;y;")],
        after in prop_oneof![4 => Just(String::new()), 1 => Just(" # 7.1".into()), 1 => Just(format!(",{SOLUTION}"))],
        capacity in 50..200_usize,
    ) {
        let damaged = damaged.index(grids.len());
        let mut lines: Vec<String> = grids.iter().map(Grid::to_string).collect();
        match &damage {
            (length, None) => lines[damaged].truncate(*length),
            (81, Some(text)) => lines[damaged].push_str(text),
            (place, Some(text)) => lines[damaged].replace_range(place..&(place + 1), text),
        }
        let text: String = lines.iter().map(|line| format!("{before}{line}{after}\n")).collect();
        let items = read(&text);
        let buffered = BufReader::with_capacity(capacity, text.as_bytes());
        prop_assert_eq!(&items, &Reader::new(buffered).map(Result::unwrap).collect::<Vec<_>>());
        prop_assert_eq!(items.len(), grids.len());
        for (index, (item, grid)) in items.into_iter().zip(grids).enumerate() {
            if index == damaged {
                prop_assert_eq!(item.unwrap_err().line(), Some(index as u64 + 1));
            } else {
                prop_assert_eq!(item, Ok(grid));
            }
        }
    }
}
