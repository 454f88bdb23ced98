//! Puzzles in XML: the `data` attributes, as Open Sudoku writes them.

use std::collections::VecDeque;

use super::error::{ParseError, ParseErrorKind};
use super::line::{self, Line};
use super::source::Source;
use crate::Grid;

/// The most characters of a name or value that are kept.
const KEPT: usize = 1024;

/// A reader of XML that is given one stretch of text after the other. It looks only at attributes.
#[derive(Debug, Default)]
pub(super) struct Xml {
    state: State,
    name: String,
    /// The name is complete: another letter begins a new one.
    is_name_ended: bool,
    value: Vec<char>,
    /// Where the value begins.
    line: u64,
    column: u64,
    /// Where the tag or comment begins.
    opened: (u64, u64),
}

#[derive(Debug, Default, Clone, Copy)]
enum State {
    #[default]
    Content,
    Tag,
    Value(char),
    /// A comment, and how many dashes were the last characters in it.
    Comment(usize),
}

/// Whether a line begins with a tag, a declaration or a comment.
pub(super) fn begins(line: &[char]) -> bool {
    let ['<', name @ ..] = line else {
        return false;
    };
    let end = name.iter().find(|&&character| !is_in_name(character));
    name.first().is_some_and(|&first| is_in_name(first))
        && end.is_none_or(|end| matches!(end, '>' | '/' | ' ' | '\t'))
}

fn is_in_name(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '?' | '!' | '-' | '_' | ':')
}

impl Xml {
    /// Whether it has ended before this line: what stands there is neither in a tag nor begins with one.
    pub fn has_ended_before(&self, text: Source<'_>) -> bool {
        let first = text.trimmed().characters.first();
        text.column == 0 && matches!(self.state, State::Content) && first.is_some_and(|&first| first != '<')
    }

    /// The text has ended. In a tag or comment that is an error, since puzzles may have been taken for a part of it.
    pub fn finish(&mut self, items: &mut VecDeque<Result<Grid, ParseError>>) {
        if !matches!(self.state, State::Content) {
            let (line, column) = self.opened;
            let error = ParseError::new(ParseErrorKind::UnfinishedTag, line, Some(column), []);
            items.push_back(Err(error));
        }
    }

    /// Reads on. Puzzles and errors are added to `items`.
    pub fn read(&mut self, text: Source<'_>, items: &mut VecDeque<Result<Grid, ParseError>>) {
        for (index, &character) in text.characters.iter().enumerate() {
            self.take(character, text.line, text.column + index as u64 + 1, items);
        }
    }

    /// A line has ended, which in XML is a space.
    pub fn end_line(&mut self, items: &mut VecDeque<Result<Grid, ParseError>>) {
        self.take(' ', self.line, 0, items);
    }

    fn take(
        &mut self,
        character: char,
        line: u64,
        column: u64,
        items: &mut VecDeque<Result<Grid, ParseError>>,
    ) {
        match (self.state, character) {
            (State::Content, '<') => {
                self.state = State::Tag;
                self.opened = (line, column);
                self.name.clear();
            }
            (State::Content, _) => {}
            (State::Tag, '>') => self.state = State::Content,
            (State::Tag, '"' | '\'') => {
                self.state = State::Value(character);
                self.value.clear();
                (self.line, self.column) = (line, column);
            }
            (State::Tag, '=') => self.is_name_ended = true,
            (State::Tag, _) if character.is_whitespace() => self.is_name_ended = true,
            (State::Tag, _) => self.take_name(character),
            (State::Value(quote), _) if character == quote => {
                self.state = State::Tag;
                self.is_name_ended = true;
                if self.name == "data" {
                    items.push_back(self.puzzle());
                }
            }
            (State::Value(_), _) if self.value.len() < KEPT => self.value.push(character),
            (State::Value(_), _) => {}
            (State::Comment(2..), '>') => self.state = State::Content,
            (State::Comment(dashes), '-') => self.state = State::Comment(dashes + 1),
            (State::Comment(_), _) => self.state = State::Comment(0),
        }
    }

    fn take_name(&mut self, character: char) {
        if std::mem::take(&mut self.is_name_ended) {
            self.name.clear();
        }
        if self.name.len() < KEPT {
            self.name.push(character);
        }
        if self.name == "!--" {
            self.state = State::Comment(0);
        }
    }

    /// The puzzle in the value of a `data` attribute.
    fn puzzle(&self) -> Result<Grid, ParseError> {
        let value = Source {
            characters: &self.value,
            line: self.line,
            column: self.column,
            bytes: &[],
            offset: 0,
            skipped: 0,
        };
        match line::read(value) {
            Line::Puzzle(grid) => Ok(grid),
            Line::Bad(error) => Err(error),
            Line::Row(row) => Err(value.error(ParseErrorKind::Length { cells: row.length })),
            _ => Err(value.error(ParseErrorKind::NoPuzzle)),
        }
    }
}
