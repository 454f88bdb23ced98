//! Puzzles in lists: JSON, and what programs print or have in their source.
//!
//! The notation is taken loosely: brackets of any kind, values parted by commas or space, quotes of either kind, names
//! with or without quotes. So a list from Python, C or a matrix library reads as well as JSON does.

use std::collections::VecDeque;

use super::alphabet;
use super::error::{ParseError, ParseErrorKind};
use super::line::{self, Line};
use super::source::Source;
use crate::Grid;

type Item = Result<Grid, ParseError>;

/// How deep lists may be nested. What is deeper is passed over.
const DEPTH: usize = 32;

/// The most characters of one value that are kept.
const VALUE: usize = 1024;

/// The most cells that a row may have, were it one of a grid of 25x25.
const LONGEST_ROW: usize = 25;

/// A reader of brackets that is given one stretch of text after the other, and holds no more than the lists that are
/// open: of each, one grid.
#[derive(Debug, Default)]
pub(super) struct Brackets {
    open: Vec<List>,
    /// Brackets open beyond [`DEPTH`].
    too_deep: usize,
    token: Token,
    value: Value,
    /// The first line that was read.
    first_line: Option<u64>,
    /// The last line that was read.
    line: u64,
}

/// What the next character belongs to.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Token {
    #[default]
    None,
    Word,
    Quoted {
        quote: char,
        is_escaped: bool,
    },
    /// A value that has ended, but could be the name of the one after it.
    Ended {
        is_quoted: bool,
    },
}

/// The value being read, and where it begins.
#[derive(Debug, Default)]
struct Value {
    text: Vec<char>,
    line: u64,
    column: u64,
}

/// A list or an object that is open.
#[derive(Debug)]
struct List {
    line: u64,
    /// In the value of a name such as "solution".
    is_answer: bool,
    name: Option<Name>,
    /// It has names, so it is an object.
    is_object: bool,
    /// A puzzle or an error has come out of it.
    has_item: bool,
    /// Its own values, if it is a row or a puzzle.
    values: Cells,
    /// The rows in it, if it is a grid.
    rows: Cells,
    row_count: usize,
    /// The length of its rows, while all have the same.
    row_length: Option<usize>,
}

/// What a list turns out to be, apart from the puzzles that came out of it before.
enum Content {
    Nothing,
    Row(Cells),
    Puzzle(Item),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name {
    Answer,
    Other,
}

/// Cells one after the other, and the first thing that is wrong with them.
#[derive(Debug)]
struct Cells {
    cells: [u8; 81],
    count: usize,
    bad: Option<BadValue>,
    error: Option<ParseError>,
}

/// A value that is no cell.
#[derive(Debug)]
struct BadValue {
    index: usize,
    text: Vec<char>,
    line: u64,
    column: u64,
}

/// The most characters before a bracket: fewer than those of a puzzle.
const FARTHEST: usize = 40;

/// Where on a line brackets begin, if they do: at its beginning, or after `=`, `:` or `(`. A row of a grid that is in
/// brackets by itself is none; nor is a heading such as `[Puzzle]`.
pub(super) fn beginning(line: &[char]) -> Option<usize> {
    let mut brackets = (0..line.len().min(FARTHEST)).filter(|&at| matches!(line[at], '[' | '{'));
    brackets.find(|&at| begins_at(line, at))
}

fn begins_at(line: &[char], at: usize) -> bool {
    let before = line[..at]
        .iter()
        .rfind(|&&character| !alphabet::is_space(character));
    if !before.is_none_or(|character| matches!(character, '=' | ':' | '(')) {
        return false;
    }
    let inside = trim_start(&line[at + 1..]);
    let word = inside
        .iter()
        .position(|&character| ends_word(character))
        .unwrap_or(inside.len());
    let (word, after) = inside.split_at(word);
    let begins = match (inside.first(), trim_start(after).first()) {
        (None | Some('[' | '{' | '(' | ']' | '}' | '"' | '\''), _) => true,
        (_, Some(':')) => line[at] == '{',
        (_, after) => digit(word).is_some() && !matches!(after, Some(']' | '}') | None),
    };
    begins && !is_row(inside)
}

fn trim_start(characters: &[char]) -> &[char] {
    let inked = characters.iter().position(|character| !character.is_whitespace());
    &characters[inked.unwrap_or(characters.len())..]
}

/// Whether what follows a bracket is one row of a grid, with the closing bracket at its end.
fn is_row(inside: &[char]) -> bool {
    let end = inside
        .iter()
        .rposition(|&c| !c.is_whitespace() && !matches!(c, ',' | ';'));
    let Some((last, row)) = end.and_then(|end| inside[..=end].split_last()) else {
        return false;
    };
    matches!(last, ']' | '}')
        && !row.is_empty()
        && !row.iter().any(|&c| is_bracket(c) || c == ':')
        && row.iter().filter(|&&c| alphabet::is_cell(c)).count() <= LONGEST_ROW
}

impl Brackets {
    /// Reads on. Puzzles and errors are added to `items`.
    pub fn read(&mut self, text: Source<'_>, items: &mut VecDeque<Item>) {
        self.line = text.line;
        self.first_line.get_or_insert(text.line);
        for (index, &character) in text.characters.iter().enumerate() {
            self.take(character, text.column + index as u64 + 1, items);
        }
    }

    /// A line has ended. Returns whether all brackets are closed, so that other text may follow.
    pub fn end_line(&mut self, items: &mut VecDeque<Item>) -> bool {
        if matches!(self.token, Token::Quoted { .. }) {
            self.token = Token::Ended { is_quoted: true };
        }
        self.take(' ', 0, items);
        self.open.is_empty()
    }

    /// Whether all that was read is on one line.
    pub fn is_on_one_line(&self) -> bool {
        self.first_line == Some(self.line)
    }

    /// The text has ended, or brackets that should be closed by now are not.
    pub fn finish(&mut self, items: &mut VecDeque<Item>) {
        // Its line is that of the outermost, as nobody can say which was forgotten.
        if let Some(list) = self.open.first() {
            items.push_back(Err(ParseError::new(
                ParseErrorKind::Unfinished,
                list.line,
                None,
                [],
            )));
        }
        *self = Self::default();
    }

    fn take(&mut self, character: char, column: u64, items: &mut VecDeque<Item>) {
        match self.token {
            Token::Quoted { quote, is_escaped } => return self.take_quoted(character, quote, is_escaped),
            Token::Word if ends_word(character) => self.token = Token::Ended { is_quoted: false },
            Token::Word => return self.value.push(character),
            Token::None | Token::Ended { .. } => {}
        }
        match character {
            ':' => return self.name(),
            _ if character.is_whitespace() => return,
            _ => self.end_value(items),
        }
        match character {
            ',' | ';' => {}
            '[' | '{' | '(' => self.open(),
            ']' | '}' | ')' => self.close(items),
            // Outside the outermost bracket there is nothing to read.
            _ if self.open.is_empty() => {}
            '"' | '\'' => {
                let is_escaped = false;
                self.token = Token::Quoted {
                    quote: character,
                    is_escaped,
                };
                self.value.begin(self.line, column);
            }
            _ => {
                self.token = Token::Word;
                self.value.begin(self.line, column - 1);
                self.value.push(character);
            }
        }
    }

    fn take_quoted(&mut self, character: char, quote: char, is_escaped: bool) {
        if !is_escaped && character == quote {
            self.token = Token::Ended { is_quoted: true };
            return;
        }
        let is_escape = !is_escaped && character == '\\';
        self.token = Token::Quoted {
            quote,
            is_escaped: is_escape,
        };
        match character {
            _ if is_escape => {}
            'n' | 'r' | 't' if is_escaped => self.value.push(' '),
            _ => self.value.push(character),
        }
    }

    fn open(&mut self) {
        if self.open.len() == DEPTH {
            self.too_deep += 1;
            return;
        }
        let is_answer = self.open.last_mut().is_some_and(|list| {
            let name = list.name.take();
            list.is_answer || name == Some(Name::Answer)
        });
        self.open.push(List::new(self.line, is_answer));
    }

    fn close(&mut self, items: &mut VecDeque<Item>) {
        if self.too_deep > 0 {
            self.too_deep -= 1;
            return;
        }
        let Some(mut list) = self.open.pop() else {
            return;
        };
        let line = list.line;
        let outer = self.open.last_mut();
        let is_element = outer.as_ref().is_some_and(|outer| !outer.is_object);
        let item = match (list.content(), outer) {
            (Content::Row(row), Some(outer)) if is_element => return outer.add_row(row, line),
            (Content::Puzzle(item), _) => Some(item),
            // An object in a list stands for a puzzle, and so does what is in no list.
            (_, outer)
                if !list.has_item && (outer.is_none() || list.is_object && is_element && !list.is_answer) =>
            {
                Some(Err(list_error(ParseErrorKind::NoPuzzle, line)))
            }
            _ => None,
        };
        if let Some(outer) = self.open.last_mut() {
            outer.has_item |= list.has_item || item.is_some();
        }
        items.extend(item);
    }

    /// What was read is the name of what follows.
    fn name(&mut self) {
        self.token = Token::None;
        let Some(list) = self.open.last_mut() else {
            return;
        };
        let name: String = self
            .value
            .text
            .iter()
            .flat_map(|character| character.to_lowercase())
            .collect();
        let is_answer = ["solution", "solved", "answer"]
            .iter()
            .any(|answer| name.contains(answer));
        list.is_object = true;
        list.name = Some(if is_answer { Name::Answer } else { Name::Other });
    }

    /// What was read, if anything, is a value.
    fn end_value(&mut self, items: &mut VecDeque<Item>) {
        let Token::Ended { is_quoted } = std::mem::take(&mut self.token) else {
            return;
        };
        let Some(list) = self.open.last_mut().filter(|_| self.too_deep == 0) else {
            return;
        };
        let name = list.name.take();
        if list.is_answer || name == Some(Name::Answer) {
            return;
        }
        if name.is_none() && (!is_quoted || self.value.source().trimmed().characters.len() < 4) {
            list.values.push(&self.value);
            return;
        }
        match line::read(self.value.source()) {
            _ if !is_quoted => return,
            Line::Puzzle(grid) => items.push_back(Ok(grid)),
            Line::Bad(error) => items.push_back(Err(error)),
            Line::Row(row) if name.is_none() => {
                let mut cells = Cells::new();
                cells.cells[..9].copy_from_slice(&row.cells);
                cells.count = row.length;
                cells.error = row.error;
                return list.add_row(cells, row.line);
            }
            _ => return,
        }
        list.has_item = true;
    }
}

impl List {
    fn new(line: u64, is_answer: bool) -> Self {
        Self {
            line,
            is_answer,
            name: None,
            is_object: false,
            has_item: false,
            values: Cells::new(),
            rows: Cells::new(),
            row_count: 0,
            row_length: None,
        }
    }

    fn add_row(&mut self, mut row: Cells, line: u64) {
        let length = row.count;
        if self.row_count == 0 {
            self.row_length = Some(length);
        } else if self.row_length != Some(length) {
            self.row_length = None;
        }
        if let Some(cells) = self.rows.cells.chunks_exact_mut(9).nth(self.row_count) {
            cells.copy_from_slice(&row.cells[..9]);
        }
        self.row_count += 1;
        let kind = ParseErrorKind::RowLength {
            row: self.row_count,
            cells: length,
        };
        let length_error = || (length != 9).then(|| list_error(kind, line));
        let error = row.take_error(self.row_count).or_else(length_error);
        self.rows.error = self.rows.error.take().or(error);
    }

    fn content(&mut self) -> Content {
        if self.is_answer || self.is_object {
            return Content::Nothing;
        }
        if self.row_count > 0 {
            return Content::Puzzle(self.grid());
        }
        let values = std::mem::replace(&mut self.values, Cells::new());
        match values.count {
            0 => Content::Nothing,
            81 => Content::Puzzle(values.grid(self.line)),
            cells @ 41.. => Content::Puzzle(Err(list_error(ParseErrorKind::Length { cells }, self.line))),
            _ => Content::Row(values),
        }
    }

    /// The grid of the rows in it.
    fn grid(&mut self) -> Item {
        let rows = self.row_count;
        if rows != 9 && self.row_length == Some(rows) {
            return Err(list_error(ParseErrorKind::Size { side: rows }, self.line));
        }
        let cells = std::mem::replace(&mut self.rows, Cells::new());
        if cells.error.is_none() && rows != 9 {
            return Err(list_error(ParseErrorKind::RowCount { rows }, self.line));
        }
        cells.grid(self.line)
    }
}

impl Cells {
    fn new() -> Self {
        Self {
            cells: [0; 81],
            count: 0,
            bad: None,
            error: None,
        }
    }

    fn push(&mut self, value: &Value) {
        let digit = digit(&value.text);
        if let (Some(cell), Some(digit)) = (self.cells.get_mut(self.count), digit) {
            *cell = digit;
        }
        if digit.is_none() && self.bad.is_none() {
            self.bad = Some(BadValue {
                index: self.count,
                text: value.text.iter().copied().take(20).collect(),
                line: value.line,
                column: value.column + 1,
            });
        }
        self.count += 1;
    }

    /// What is wrong with them, `row` being the row of the first, from 1.
    fn take_error(&mut self, row: usize) -> Option<ParseError> {
        let bad = self.bad.take().map(|bad| {
            let kind = ParseErrorKind::Value {
                row: row + bad.index / 9,
                column: bad.index % 9 + 1,
                value: bad.text.iter().collect(),
            };
            ParseError::new(kind, bad.line, Some(bad.column), bad.text)
        });
        self.error.take().or(bad)
    }

    fn grid(mut self, line: u64) -> Item {
        match self.take_error(1) {
            Some(error) => Err(error),
            None => Grid::from_cells(self.cells).ok_or_else(|| list_error(ParseErrorKind::NoPuzzle, line)),
        }
    }
}

/// An error of a list that begins on a line.
fn list_error(kind: ParseErrorKind, line: u64) -> ParseError {
    ParseError::new(kind, line, None, [])
}

impl Value {
    /// Begins a value, `column` being the number of characters of the line before it.
    fn begin(&mut self, line: u64, column: u64) {
        self.text.clear();
        self.line = line;
        self.column = column;
    }

    fn push(&mut self, character: char) {
        if self.text.len() < VALUE {
            self.text.push(character);
        }
    }

    fn source(&self) -> Source<'_> {
        Source {
            characters: &self.text,
            line: self.line,
            column: self.column,
            bytes: &[],
            offset: 0,
            skipped: 0,
        }
    }
}

/// The cell that a value stands for: a digit as a number in any notation, a blank as 0, nothing, or a character.
fn digit(value: &[char]) -> Option<u8> {
    if let [character] = *value
        && !character.is_whitespace()
    {
        return alphabet::value(character);
    }
    let text: String = value.iter().collect();
    match text.trim() {
        "" | "null" | "None" | "nil" | "undefined" => Some(0),
        number => {
            let number = number.parse::<f64>().ok()?;
            (0..=9_u8).find(|&digit| f64::from(digit) == number)
        }
    }
}

fn is_bracket(character: char) -> bool {
    matches!(character, '[' | ']' | '{' | '}' | '(' | ')')
}

fn ends_word(character: char) -> bool {
    character.is_whitespace() || is_bracket(character) || matches!(character, ',' | ';' | ':' | '"' | '\'')
}
