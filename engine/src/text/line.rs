//! What one line of a text is.

use super::alphabet::{self, is_cell, is_space, parts_cells, parts_fields};
use super::error::{ParseError, ParseErrorKind};
use super::source::Source;
use super::{brackets, xml};
use crate::Grid;

/// What a line is, on its own.
#[derive(Debug)]
pub(super) enum Line {
    /// Nothing but space.
    Blank,
    /// Begins with `#`.
    Comment,
    /// A horizontal border of a grid.
    Border,
    /// Text that is no part of a puzzle: a title, a footer, a header.
    Text,
    /// A whole puzzle.
    Puzzle(Grid),
    /// Meant as a whole puzzle, but it is none.
    Bad(ParseError),
    /// A row of a grid.
    Row(Row),
    /// Lists or objects begin, at this index.
    Brackets(usize),
    /// XML begins.
    Xml,
}

/// A row of a grid, or what may be one.
#[derive(Debug)]
pub(super) struct Row {
    /// Its line, from 1.
    pub line: u64,
    /// How many cells it has.
    pub length: usize,
    /// Its cells, if they are nine.
    pub cells: [u8; 9],
    /// What is wrong with it apart from its length.
    pub error: Option<ParseError>,
    /// The first character in it that stands for a blank. An empty field of a table counts as a space.
    pub blank: Option<char>,
    /// All of it is one character, nine times, so that it may be a border as well.
    pub may_be_border: bool,
    /// The row as it is written.
    pub text: String,
}

impl Row {
    /// The error if it is no row after all, but was meant as a whole puzzle.
    pub fn length_error(&self) -> ParseError {
        let kind = ParseErrorKind::Length { cells: self.length };
        ParseError::new(kind, self.line, None, self.text.chars())
    }
}

/// The most cells that a row of a grid has, were it one of 25x25. What has more is meant as a whole puzzle.
const LONGEST_ROW: usize = 25;

/// Looks at a line.
pub(super) fn read(line: Source<'_>) -> Line {
    let trimmed = line.trimmed();
    match trimmed.characters {
        [] => return empty_fields(line).map_or(Line::Blank, Line::Row),
        ['#', ..] => return Line::Comment,
        _ => {}
    }
    if let Some(line) = cells_alone(trimmed) {
        return line;
    }
    if let Some(at) = brackets::beginning(line.characters) {
        return Line::Brackets(at);
    }
    if xml::begins(trimmed.characters) {
        return Line::Xml;
    }
    empty_fields(line)
        .map(Line::Row)
        .or_else(|| border(trimmed))
        .or_else(|| one_field(trimmed))
        .unwrap_or_else(|| separate_cells(trimmed.without_comment()))
}

/// A puzzle or a row with nothing else on the line, as most are. A row without a digit is left for a closer look.
fn cells_alone(line: Source<'_>) -> Option<Line> {
    match line.characters.len() {
        81 => grid(line.characters).map(Line::Puzzle),
        9 if line.characters.iter().all(|&character| is_cell(character)) => {
            let has_digit = line.characters.iter().any(char::is_ascii_digit);
            has_digit.then(|| Line::Row(row(line, false)))
        }
        _ => None,
    }
}

/// A puzzle in one separate field, the first that is meant as one. Everything else on the line is metadata.
///
/// A complete grid after a shorter field of cells is no puzzle but the solution of one that has been cut short.
fn one_field(line: Source<'_>) -> Option<Line> {
    let mut cut_short = None;
    let field = line.fields(parts_fields).find(|field| {
        if is_cut_short(field.characters.iter().copied()) {
            cut_short.get_or_insert(*field);
        }
        is_meant_as_puzzle(field.characters)
    })?;
    if let Some(grid) = grid(field.characters).or_else(|| joined_rows(field.characters)) {
        let cut_short = cut_short.filter(|_| grid.clues() == 81);
        return Some(match cut_short {
            Some(field) => Line::Bad(length_error(field, field.characters.len())),
            None => Line::Puzzle(grid),
        });
    }
    let stranger = field.characters.iter().position(|&character| !is_cell(character));
    Some(Line::Bad(match stranger {
        Some(stranger) => field.character_error(stranger),
        None => length_error(field, field.characters.len()),
    }))
}

/// Whether a field may be the beginning of a puzzle, rather than a number: it has cells alone, and ten to eighty.
pub(super) fn is_cut_short(mut field: impl ExactSizeIterator<Item = char>) -> bool {
    (10..=80).contains(&field.len()) && field.all(is_cell)
}

/// Whether a field is a puzzle, or one with a mistake in it, rather than a number, a name or a checksum. It has 81
/// characters and no fewer cells than a puzzle has clues at least, or it has the cells of half a puzzle and hardly
/// anything else.
fn is_meant_as_puzzle(field: &[char]) -> bool {
    let cells = field.iter().filter(|&&character| is_cell(character)).count();
    field.len() == 81 && cells >= 17 || cells > 40 && 5 * cells >= 4 * field.len()
}

fn grid(characters: &[char]) -> Option<Grid> {
    let mut cells = [0; 81];
    if characters.len() != cells.len() {
        return None;
    }
    for (cell, &character) in cells.iter_mut().zip(characters) {
        *cell = alphabet::value(character)?;
    }
    Grid::from_cells(cells)
}

/// Whether a field of the line is a puzzle.
fn has_puzzle(line: Source<'_>) -> bool {
    line.fields(parts_fields)
        .any(|field| grid(field.characters).is_some())
}

/// Nine rows joined by a character that is no digit and stands nowhere in them.
fn joined_rows(field: &[char]) -> Option<Grid> {
    let &joint = field.get(9).filter(|&&character| !character.is_ascii_digit())?;
    let joins = |(index, &character): (usize, &char)| (index % 10 == 9) == (character == joint);
    if field.len() != 89 || !field.iter().enumerate().all(joins) {
        return None;
    }
    let cells: Vec<char> = field
        .iter()
        .copied()
        .filter(|&character| character != joint)
        .collect();
    grid(&cells)
}

/// A border that lies between two rows of a grid, or at its ends.
///
/// A line of nine `-`, `*` or `_` can be nine blanks as well: what it is depends on the other rows.
fn border(line: Source<'_>) -> Option<Line> {
    let (mut has_rule, mut has_upright) = (false, false);
    let (mut blank, mut blanks, mut is_mixed) = (None, 0, false);
    for &character in line.characters {
        match character {
            '-' | '*' | '_' | '.' => {
                blanks += 1;
                is_mixed |= *blank.get_or_insert(character) != character;
            }
            '+' | '=' | '~' | '–' | '—' => has_rule = true,
            '\'' | '`' | ':' | ',' => {}
            _ if alphabet::is_upright(character) => has_upright = true,
            _ if alphabet::is_box_drawing(character) => has_rule = true,
            _ if is_space(character) => {}
            _ => return None,
        }
    }
    match blank {
        // A puzzle without a clue, whatever else stands on its line.
        _ if blanks >= 81 && has_puzzle(line) => None,
        None => (has_rule || has_upright).then_some(Line::Border),
        Some('.') if !is_mixed => None,
        _ if has_rule || is_mixed || blanks != 9 => Some(Line::Border),
        _ => Some(Line::Row(row(line, true))),
    }
}

/// A row of a table in which blank cells are empty: nine fields parted by commas, semicolons or tabs, or by upright
/// bars on both sides.
fn empty_fields(line: Source<'_>) -> Option<Row> {
    let trimmed = line.trimmed();
    let count = |part: char| {
        line.characters
            .iter()
            .filter(|&&character| character == part)
            .count()
    };
    let (part, inner) = [',', ';', '\t']
        .into_iter()
        .find(|&part| count(part) == 8)
        .map(|part| (part, line.characters))
        .or_else(|| {
            let part = *trimmed
                .characters
                .first()
                .filter(|&&first| alphabet::is_upright(first))?;
            let inner = trimmed.characters.strip_prefix(&[part])?.strip_suffix(&[part])?;
            (count(part) == 10).then_some((part, inner))
        })?;
    let mut cells = [0; 9];
    let mut is_any_empty = false;
    for (cell, field) in cells.iter_mut().zip(inner.split(|&character| character == part)) {
        let mut inked = field
            .iter()
            .filter(|&&character| !is_space(character) && character != '"');
        match (inked.next(), inked.next()) {
            (None, _) => is_any_empty = true,
            (Some(&character), None) => *cell = alphabet::value(character)?,
            _ => return None,
        }
    }
    is_any_empty.then(|| Row {
        cells,
        length: 9,
        error: None,
        blank: Some(' '),
        may_be_border: trimmed.characters.is_empty(),
        ..row(trimmed, false)
    })
}

/// Cells with other characters between them: a row of a grid, or nine rows on one line. Anything else is text, but for
/// what has the cells of a quarter of a puzzle in one field.
fn separate_cells(line: Source<'_>) -> Line {
    let cells = count(line.characters, is_cell);
    let strangers: Vec<usize> = (0..line.characters.len())
        .filter(|&index| !is_cell(line.characters[index]) && !parts_cells(line.characters[index]))
        .collect();
    if let Some(&first) = strangers.first() {
        return strange(line, cells, first, &strangers);
    }
    match cells {
        0 => Line::Text,
        81 if is_evenly_spaced(line) => {
            let cells: Vec<char> = line
                .characters
                .iter()
                .copied()
                .filter(|&character| is_cell(character))
                .collect();
            grid(&cells).map_or(Line::Text, Line::Puzzle)
        }
        _ if cells > 9 && is_candidates(line) => Line::Row(Row {
            error: Some(line.error(ParseErrorKind::Candidates)),
            ..row(line, false)
        }),
        1..=LONGEST_ROW => Line::Row(row(line, false)),
        _ => Line::Bad(length_error(line, longest_field(line).unwrap_or(cells))),
    }
}

/// A line without a whole puzzle in one field and with characters that are no cells, the first of them at `first`.
fn strange(line: Source<'_>, cells: usize, first: usize, strangers: &[usize]) -> Line {
    let all = cells + strangers.len();
    let mut kinds: Vec<char> = strangers.iter().map(|&index| line.characters[index]).collect();
    kinds.sort_unstable();
    kinds.dedup();
    if all == 9 && cells > 0 && kinds.len() <= 2 {
        return Line::Row(Row {
            length: 9,
            error: Some(line.character_error(first)),
            ..row(line, false)
        });
    }
    if cells > 20 && 5 * cells >= 4 * all {
        return Line::Bad(line.character_error(first));
    }
    match longest_field(line) {
        Some(length) => Line::Bad(length_error(line, length)),
        None => Line::Text,
    }
}

fn row(line: Source<'_>, may_be_border: bool) -> Row {
    let written = line
        .characters
        .iter()
        .copied()
        .filter(|&character| is_cell(character));
    let mut cells = [0; 9];
    for (cell, character) in cells.iter_mut().zip(written.clone()) {
        *cell = alphabet::value(character).unwrap_or(0);
    }
    Row {
        line: line.line,
        length: written.clone().count(),
        cells,
        error: None,
        blank: written
            .clone()
            .find(|&character| alphabet::value(character) == Some(0)),
        may_be_border,
        text: line.characters.iter().take(81).collect(),
    }
}

/// Whether nine rows stand on one line: all its fields have the same number of cells.
fn is_evenly_spaced(line: Source<'_>) -> bool {
    let mut lengths = line.fields(parts_cells).map(|field| field.characters.len());
    let first = lengths.next();
    lengths.all(|length| Some(length) == first)
}

/// Whether a row has nine fields with ascending digits, as a grid of candidates has.
fn is_candidates(line: Source<'_>) -> bool {
    let ascending = |field: Source<'_>| {
        field.characters.is_sorted_by(|a, b| a < b)
            && field.characters.iter().all(|digit| ('1'..='9').contains(digit))
    };
    line.fields(parts_cells).count() == 9 && line.fields(parts_cells).all(ascending)
}

/// The length of the longest field of cells alone, if it has a quarter of a puzzle's.
fn longest_field(line: Source<'_>) -> Option<usize> {
    line.fields(parts_fields)
        .filter(|field| field.characters.iter().all(|&character| is_cell(character)))
        .map(|field| field.characters.len())
        .max()
        .filter(|&length| length > 20)
}

fn length_error(line: Source<'_>, cells: usize) -> ParseError {
    line.error(match cells {
        256 => ParseErrorKind::Size { side: 16 },
        625 => ParseErrorKind::Size { side: 25 },
        _ => ParseErrorKind::Length { cells },
    })
}

fn count(characters: &[char], is_counted: impl Fn(char) -> bool) -> usize {
    characters
        .iter()
        .filter(|&&character| is_counted(character))
        .count()
}
