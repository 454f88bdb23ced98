//! A stretch of text with its place.

use super::alphabet::is_space;
use super::error::{ParseError, ParseErrorKind};
use super::lines;

/// Characters that stand on one line, and where.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'a> {
    pub characters: &'a [char],
    /// Their line, from 1.
    pub line: u64,
    /// Characters of the line before them.
    pub column: u64,
    /// The line as it was read, to tell a broken byte from a U+FFFD that was written. Empty where that is not known.
    pub bytes: &'a [u8],
    /// Bytes of the text before `bytes`.
    pub offset: u64,
    /// Characters of the line from the beginning of `bytes` to these.
    pub skipped: usize,
}

impl<'a> Source<'a> {
    /// The part from `start` up to `end`.
    pub fn part(self, start: usize, end: usize) -> Self {
        Self {
            characters: &self.characters[start..end],
            column: self.column + start as u64,
            skipped: self.skipped + start,
            ..self
        }
    }

    /// Without the space around it.
    pub fn trimmed(self) -> Self {
        let inked = |&character: &char| !is_space(character);
        let start = self
            .characters
            .iter()
            .position(inked)
            .unwrap_or(self.characters.len());
        let end = self
            .characters
            .iter()
            .rposition(inked)
            .map_or(start, |last| last + 1);
        self.part(start, end)
    }

    /// Without a `#` that stands after a space, and what follows it.
    pub fn without_comment(self) -> Self {
        let begins_comment = |pair: &[char]| is_space(pair[0]) && pair[1] == '#';
        match self.characters.windows(2).position(begins_comment) {
            Some(end) => self.part(0, end).trimmed(),
            None => self,
        }
    }

    /// Its parts between characters for which `parts` holds, the empty ones left out.
    pub fn fields(self, parts: impl Fn(char) -> bool + 'a) -> impl Iterator<Item = Self> {
        let mut next = 0;
        std::iter::from_fn(move || {
            let start = next
                + self.characters[next..]
                    .iter()
                    .position(|&character| !parts(character))?;
            let rest = &self.characters[start..];
            next = start
                + rest
                    .iter()
                    .position(|&character| parts(character))
                    .unwrap_or(rest.len());
            Some(self.part(start, next))
        })
    }

    /// An error of all of it.
    pub fn error(self, kind: ParseErrorKind) -> ParseError {
        ParseError::new(kind, self.line, None, self.characters.iter().copied())
    }

    /// The error of the character at an index, which is no cell.
    pub fn character_error(self, index: usize) -> ParseError {
        let broken = lines::broken_at(self.bytes, self.skipped + index);
        let kind = match broken {
            Some(at) => ParseErrorKind::Encoding {
                offset: self.offset + at as u64,
            },
            None => ParseErrorKind::Character {
                character: self.characters[index],
            },
        };
        let column = self.column + index as u64 + 1;
        ParseError::new(kind, self.line, Some(column), self.characters.iter().copied())
    }
}
