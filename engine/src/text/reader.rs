//! The reader of puzzles from text.

use std::io::{self, BufRead};
use std::str::FromStr;

use super::error::{ParseError, ParseErrorKind};
use super::lines::{self, Lines};
use super::parser::Parser;
use super::source::Source;
use crate::Grid;

/// Reads the puzzles of a text one after the other: an iterator of `io::Result<Result<Grid, ParseError>>`.
///
/// Every puzzle of the text comes out once, in order, and so does every line or grid that was meant as one: that is an
/// error in its place, and the puzzles after it follow. A text without any puzzle gives one error that says so. See
/// [the module](super) for what is read.
///
/// The outer error is one of reading the input, and ends the iteration. Memory stays constant, however long the text
/// or one of its lines. A puzzle on a line of its own comes out as soon as that line has ended; one that takes several
/// lines, when the line after it has ended or the text has.
///
/// ```
/// use sudoku_engine::text::Reader;
///
/// let text = "\
/// 53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79
/// 53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..7
/// ";
/// let mut reader = Reader::new(text.as_bytes());
/// let first = reader.next().unwrap()?;
/// assert_eq!(first.unwrap().clues(), 30);
/// let second = reader.next().unwrap()?;
/// assert_eq!(second.unwrap_err().to_string(), "line 2: 80 cells, need 81");
/// assert!(reader.next().is_none());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Reader<R> {
    lines: Lines<R>,
    parser: Parser,
    /// The characters of the last piece of a line, kept for their space.
    characters: Vec<char>,
    has_ended: bool,
}

impl<R: BufRead> Reader<R> {
    /// A reader of everything in `input`. A buffer of 64 KiB or more suits files with millions of lines.
    pub fn new(input: R) -> Self {
        Self {
            lines: Lines::new(input),
            parser: Parser::default(),
            characters: Vec::new(),
            has_ended: false,
        }
    }

    /// Takes puzzles that come next and stand on a line each, at most so many, and says how many it took: the same ones as
    /// the iterator, at a fraction of its cost. It stops before whatever takes a closer look, so 0 means that it is the
    /// iterator's turn.
    ///
    /// The input is read at most once, and that before the first puzzle is handed out.
    ///
    /// ```
    /// use sudoku_engine::text::Reader;
    ///
    /// let text = format!("# two\n{}\n{}\n", ".".repeat(81), "1".repeat(81));
    /// let mut reader = Reader::new(text.as_bytes());
    /// let mut puzzles = Vec::new();
    /// while let Some(puzzle) = reader.next() {
    ///     puzzles.push(puzzle?);
    ///     reader.take_plain(1_000, |puzzle| puzzles.push(Ok(puzzle)))?;
    /// }
    /// assert_eq!(puzzles.len(), 2);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of reading the input, which end the iteration.
    pub fn take_plain(&mut self, most: usize, take: impl FnMut(Grid)) -> io::Result<usize> {
        if self.has_ended || self.parser.has_items() {
            return Ok(0);
        }
        let taken = self.plain_puzzles(most, take);
        self.has_ended = taken.is_err();
        taken
    }

    fn plain_puzzles(&mut self, most: usize, take: impl FnMut(Grid)) -> io::Result<usize> {
        if !self.parser.is_between_puzzles() {
            return Ok(0);
        }
        let taken = self.lines.plain_puzzles(most, take)?;
        if taken > 0 {
            self.parser.pass_puzzle_line();
        }
        Ok(taken)
    }

    fn next_item(&mut self) -> io::Result<Option<Result<Grid, ParseError>>> {
        loop {
            if let Some(item) = self.parser.next_item() {
                return Ok(Some(item));
            }
            if self.has_ended {
                return Ok(None);
            }
            let mut plain = None;
            self.plain_puzzles(1, |grid| plain = Some(grid))?;
            if let Some(grid) = plain {
                return Ok(Some(Ok(grid)));
            }
            self.read_piece()?;
        }
    }

    fn read_piece(&mut self) -> io::Result<()> {
        let Some(piece) = self.lines.next()? else {
            self.has_ended = true;
            self.parser.end();
            return Ok(());
        };
        self.characters.clear();
        self.characters.extend(lines::characters(piece.bytes));
        let text = Source {
            characters: &self.characters,
            line: piece.line,
            column: piece.column,
            bytes: piece.bytes,
            offset: piece.offset,
            skipped: 0,
        };
        let needs_rest = self.parser.read(text, piece.ends_line);
        if !needs_rest {
            self.lines.skip_rest_of_line()?;
        }
        Ok(())
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = io::Result<Result<Grid, ParseError>>;

    fn next(&mut self) -> Option<Self::Item> {
        let item = self.next_item().transpose();
        self.has_ended |= matches!(item, Some(Err(_)));
        item
    }
}

impl<R: BufRead> std::iter::FusedIterator for Reader<R> {}

impl FromStr for Grid {
    type Err = ParseError;

    /// Reads a text that holds one puzzle, in any of the forms that [`crate::text`] lists. [`Grid::from_line`] is the
    /// strict and quick way to read the one form in which puzzles travel.
    ///
    /// # Errors
    ///
    /// What is wrong with the puzzle, that there is none, or that there is another one after it.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        // Reading from memory does not fail, so an outer error cannot come.
        let mut items = Reader::new(text.as_bytes()).filter_map(io::Result::ok);
        let first = items
            .next()
            .unwrap_or(Err(ParseError::whole(ParseErrorKind::Empty)))?;
        match items.next() {
            None => Ok(first),
            Some(Ok(_)) => Err(ParseError::whole(ParseErrorKind::Several)),
            Some(Err(error)) => Err(error),
        }
    }
}
