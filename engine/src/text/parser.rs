//! From lines to puzzles: what a line is, seen with those before it.

use std::collections::VecDeque;

use super::alphabet::parts_fields;
use super::brackets::Brackets;
use super::error::{ParseError, ParseErrorKind};
use super::line::{self, Line, Row};
use super::lines::PIECE;
use super::rows::Rows;
use super::source::Source;
use super::xml::Xml;
use crate::Grid;

/// The state between two lines.
#[derive(Debug, Default)]
pub(super) struct Parser {
    mode: Mode,
    rows: Rows,
    /// The line before, comments and borders aside, was a whole puzzle or meant as one, so this one should be too.
    after_puzzle_line: bool,
    /// The line before had brackets that were closed on it, so those of this one should be too.
    after_bracket_line: bool,
    /// What was read and not yet given out: at most what stands in one piece of a line.
    items: VecDeque<Result<Grid, ParseError>>,
    has_text: bool,
    has_item: bool,
}

#[derive(Debug, Default)]
enum Mode {
    #[default]
    Lines,
    Brackets(Brackets),
    Xml(Xml),
}

impl Parser {
    /// What has been read, in order.
    pub fn next_item(&mut self) -> Option<Result<Grid, ParseError>> {
        let item = self.items.pop_front();
        self.has_item |= item.is_some();
        item
    }

    /// Whether something was read that was not given out.
    pub fn has_items(&self) -> bool {
        !self.items.is_empty()
    }

    /// Whether the next line is on its own, and no part of what was read before.
    pub fn is_between_puzzles(&self) -> bool {
        matches!(self.mode, Mode::Lines) && self.rows.is_empty()
    }

    /// Takes note of a whole puzzle that was read elsewhere.
    pub fn pass_puzzle_line(&mut self) {
        self.has_item = true;
        self.after_puzzle_line = true;
        self.after_bracket_line = false;
    }

    /// Reads a line, or a piece of one. Returns whether the rest of the line is needed.
    pub fn read(&mut self, text: Source<'_>, ends_line: bool) -> bool {
        let is_blank = || text.trimmed().characters.is_empty();
        self.has_text = self.has_text || !is_blank();
        if let Mode::Xml(xml) = &self.mode
            && xml.has_ended_before(text)
        {
            self.mode = Mode::Lines;
        }
        if !ends_line && matches!(self.mode, Mode::Lines) && is_blank() {
            // What the line is, what follows the space says.
            return true;
        }
        match &mut self.mode {
            Mode::Brackets(brackets) => brackets.read(text, &mut self.items),
            Mode::Xml(xml) => xml.read(text, &mut self.items),
            Mode::Lines if ends_line => self.take(line::read(text), text),
            Mode::Lines => self.take(read_beginning(text), text),
        }
        if ends_line {
            self.end_line();
        }
        !matches!(self.mode, Mode::Lines)
    }

    /// The text has ended.
    pub fn end(&mut self) {
        match &mut self.mode {
            Mode::Brackets(brackets) => brackets.finish(&mut self.items),
            Mode::Xml(xml) => xml.finish(&mut self.items),
            Mode::Lines => self.end_grid(),
        }
        if !self.has_item && self.items.is_empty() {
            let kind = if self.has_text {
                ParseErrorKind::NoPuzzle
            } else {
                ParseErrorKind::Empty
            };
            self.items.push_back(Err(ParseError::whole(kind)));
        }
    }

    fn take(&mut self, line: Line, text: Source<'_>) {
        match line {
            Line::Blank => {
                self.after_puzzle_line = false;
                self.rows.gap(&mut self.items);
            }
            Line::Comment | Line::Border => self.rows.gap(&mut self.items),
            Line::Row(row) => self.row(row),
            Line::Puzzle(grid) => self.puzzle_line(Ok(grid)),
            Line::Bad(error) => self.puzzle_line(Err(error)),
            _ if self.after_puzzle_line => {
                self.items
                    .push_back(Err(text.trimmed().error(ParseErrorKind::NoPuzzle)));
            }
            Line::Text => self.end_grid(),
            Line::Brackets(at) => {
                self.end_grid();
                let mut brackets = Brackets::default();
                brackets.read(text.part(at, text.characters.len()), &mut self.items);
                self.mode = Mode::Brackets(brackets);
                return;
            }
            Line::Xml => {
                self.end_grid();
                let mut xml = Xml::default();
                xml.read(text, &mut self.items);
                self.mode = Mode::Xml(xml);
            }
        }
        self.after_bracket_line = false;
    }

    fn end_line(&mut self) {
        match &mut self.mode {
            Mode::Lines => {}
            Mode::Xml(xml) => xml.end_line(&mut self.items),
            Mode::Brackets(brackets) => {
                let is_closed = brackets.end_line(&mut self.items);
                if !is_closed && !self.after_bracket_line {
                    return;
                }
                self.after_bracket_line = brackets.is_on_one_line();
                brackets.finish(&mut self.items);
                self.mode = Mode::Lines;
            }
        }
    }

    fn row(&mut self, row: Row) {
        let follows_line = self.after_puzzle_line || self.rows.follow_line();
        if follows_line && row.length != 9 {
            return self.puzzle_line(Err(row.length_error()));
        }
        if is_label(&row) && !self.rows.is_inside_grid() {
            return self.end_grid();
        }
        self.rows.push(row, self.after_puzzle_line, &mut self.items);
        self.after_puzzle_line = false;
    }

    fn puzzle_line(&mut self, puzzle: Result<Grid, ParseError>) {
        self.rows.end(true, &mut self.items);
        self.items.push_back(puzzle);
        self.after_puzzle_line = true;
    }

    fn end_grid(&mut self) {
        self.rows.end(false, &mut self.items);
    }
}

/// What a line is of which only the beginning is known: what is decided by that, else an error.
fn read_beginning(text: Source<'_>) -> Line {
    let known = text
        .characters
        .iter()
        .rposition(|&character| parts_fields(character))
        .unwrap_or(0);
    match line::read(text.part(0, known)) {
        line @ (Line::Puzzle(_) | Line::Comment | Line::Brackets(_) | Line::Xml) => line,
        _ if text.characters.first() == Some(&'#') => Line::Comment,
        _ => match line::read(text) {
            line @ (Line::Brackets(_) | Line::Xml) => line,
            _ => Line::Bad(text.error(ParseErrorKind::TooLong { limit: PIECE })),
        },
    }
}

/// Whether a row is more likely the number of a grid: up to four digits, perhaps in brackets or with a dot after it.
fn is_label(row: &Row) -> bool {
    let number = row.text.trim_start_matches(['[', '(']);
    let number = number.strip_suffix(['.', ':', ')', ']']).unwrap_or(number);
    (1..=4).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
}
