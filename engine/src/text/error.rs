//! What can be wrong with a text.

use std::fmt;

/// Why a text, or one line or grid in it, is not a puzzle; where; and what stands there.
///
/// Displays with its place, as in `line 2: 80 cells, need 81`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
#[cfg_attr(feature = "serde", derive(::serde::Serialize, ::serde::Deserialize))]
#[error("{}{kind}", Place(*line, *column))]
pub struct ParseError {
    kind: ParseErrorKind,
    line: Option<u64>,
    column: Option<u64>,
    excerpt: String,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
#[cfg_attr(feature = "serde", derive(::serde::Serialize, ::serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// The text holds nothing but white space.
    #[error("no puzzle: the text is empty")]
    Empty,
    /// There is text, but nothing in it reads as a puzzle.
    #[error("no puzzle found")]
    NoPuzzle,
    /// A character that is neither a digit nor a blank, in what is otherwise a puzzle.
    #[error("{character:?} is neither a digit nor a blank")]
    Character {
        /// The character.
        character: char,
    },
    /// A byte that is not UTF-8, in what is otherwise a puzzle.
    #[error("not UTF-8 at byte offset {offset}")]
    Encoding {
        /// Where the byte stands in the text, counted in bytes from 0.
        offset: u64,
    },
    /// A puzzle on one line with too many or too few cells.
    #[error("{}, need 81", Count(*cells, "cell"))]
    Length {
        /// How many cells there are.
        cells: usize,
    },
    /// A row of a grid with too many or too few cells.
    #[error("{}, need 9 in row {row}", Count(*cells, "cell"))]
    RowLength {
        /// The row, from 1.
        row: usize,
        /// How many cells there are.
        cells: usize,
    },
    /// A grid with too many or too few rows.
    #[error("{}, need 9", Count(*rows, "row"))]
    RowCount {
        /// How many rows there are.
        rows: usize,
    },
    /// A value in a list that is no digit.
    #[error("r{row}c{column} is {value}, neither a digit nor a blank")]
    Value {
        /// The row of its cell, from 1.
        row: usize,
        /// The column of its cell, from 1.
        column: usize,
        /// The value as it is written, its first characters if it is long.
        value: String,
    },
    /// A puzzle of another size.
    #[error("a grid of {side}x{side} ({} cells), only 9x9 is supported", side * side)]
    Size {
        /// Its rows, which are as many as its columns.
        side: usize,
    },
    /// A grid that lists several candidates for a cell.
    #[error("several digits in a cell: a grid of candidates is no puzzle")]
    Candidates,
    /// A line longer than is read, with no puzzle at its beginning.
    #[error("the line is longer than {limit} bytes")]
    TooLong {
        /// How many bytes of a line are read.
        limit: usize,
    },
    /// The text ends inside a list or an object.
    #[error("the text ends before its brackets are closed")]
    Unfinished,
    /// More than one puzzle where one is wanted.
    #[error("a second puzzle, need only one")]
    Several,
    /// The text ends inside a tag or a comment of XML.
    #[error("the text ends before this tag or comment does")]
    UnfinishedTag,
}

impl ParseError {
    /// How much of the text an error keeps, in characters.
    const EXCERPT: usize = 100;

    /// An error at a line and column, each counted from 1, with the text that it is about.
    pub(super) fn new(
        kind: ParseErrorKind,
        line: u64,
        column: Option<u64>,
        text: impl IntoIterator<Item = char>,
    ) -> Self {
        Self {
            kind,
            line: Some(line),
            column,
            excerpt: text.into_iter().take(Self::EXCERPT).collect(),
        }
    }

    /// An error of the text as a whole.
    pub(super) fn whole(kind: ParseErrorKind) -> Self {
        Self {
            kind,
            line: None,
            column: None,
            excerpt: String::new(),
        }
    }

    /// What is wrong.
    pub fn kind(&self) -> &ParseErrorKind {
        &self.kind
    }

    /// The line, counted from 1; of a grid, the line of the row that is wrong, else of its first row. `None` if the
    /// text as a whole holds no puzzle.
    pub fn line(&self) -> Option<u64> {
        self.line
    }

    /// The column, counted from 1 in characters, of an error that has one.
    pub fn column(&self) -> Option<u64> {
        self.column
    }

    /// The text in which the error is: the line, or the row of a grid, without the space around it, and at most its
    /// first 100 characters.
    pub fn excerpt(&self) -> &str {
        &self.excerpt
    }

    /// Whether the text was meant as a puzzle, as far as can be told: false if nothing in it looks like one, as with
    /// most names of files.
    pub fn is_near_puzzle(&self) -> bool {
        !matches!(self.kind, ParseErrorKind::Empty | ParseErrorKind::NoPuzzle)
    }
}

impl From<ParseErrorKind> for ParseError {
    /// An error of the text as a whole, without a place.
    fn from(kind: ParseErrorKind) -> Self {
        Self::whole(kind)
    }
}

/// The place of an error, as the beginning of its text.
struct Place(Option<u64>, Option<u64>);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0, self.1) {
            (None, _) => Ok(()),
            (Some(line), None) => write!(f, "line {line}: "),
            (Some(line), Some(column)) => write!(f, "line {line}, column {column}: "),
        }
    }
}

/// A number of things, with the plural where it is due.
struct Count(usize, &'static str);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(number, thing) = self;
        let plural = if *number == 1 { "" } else { "s" };
        write!(f, "{number} {thing}{plural}")
    }
}
