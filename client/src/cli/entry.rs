//! What stands in an input where a puzzle should.

use std::fmt;

use sudoku_engine::Grid;
use sudoku_engine::text::{ParseError, ParseErrorKind};

/// A puzzle, or something else. What is wrong is boxed: nearly all entries are puzzles, and they should stay small.
pub type Entry = Result<Grid, Box<Slip>>;

/// Text that is no puzzle, and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slip {
    error: ParseError,
    field: Option<Field>,
}

/// A field of a table: the column that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Field {
    /// The line on which its record begins, from 1.
    line: u64,
    /// The column that was asked for, from 1.
    column: usize,
    /// How many fields the record has.
    fields: usize,
    excerpt: String,
}

impl Slip {
    /// A source without any puzzle.
    pub fn barren() -> Box<Self> {
        Box::new(ParseError::from(ParseErrorKind::NoPuzzle).into())
    }

    /// What is wrong with the field in `column` (from 1) of a record that begins on `line` and has so many `fields`.
    pub fn in_field(error: ParseError, text: &str, line: u64, column: usize, fields: usize) -> Box<Self> {
        const EXCERPT: usize = 100;
        let field = Field {
            line,
            column,
            fields,
            excerpt: text.chars().take(EXCERPT).collect(),
        };
        Box::new(Self {
            error,
            field: Some(field),
        })
    }

    /// Whether it stands for a whole source in which there is no puzzle.
    pub fn is_barren(&self) -> bool {
        self.field.is_none() && self.error.line().is_none()
    }

    /// What is wrong with the text, regardless of where it stands.
    pub fn error(&self) -> &ParseError {
        &self.error
    }

    /// The text, at most its first 100 characters.
    pub fn excerpt(&self) -> &str {
        match &self.field {
            Some(field) => &field.excerpt,
            None => self.error.excerpt(),
        }
    }
}

impl From<ParseError> for Slip {
    fn from(error: ParseError) -> Self {
        Self { error, field: None }
    }
}

impl fmt::Display for Slip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(Field {
            line, column, fields, ..
        }) = self.field
        else {
            return self.error.fmt(f);
        };
        let kind = self.error.kind();
        match self.error.column() {
            _ if fields < column => write!(f, "line {line}: no field {column}, only {fields}"),
            Some(character) => write!(f, "line {line}, field {column}, character {character}: {kind}"),
            None => write!(f, "line {line}, field {column}: {kind}"),
        }
    }
}
