//! From bytes to lines: encodings, line ends, and the bound on what is held of a line.

use std::io::{self, BufRead, ErrorKind};

use memchr::memchr2;

use super::{alphabet, line};
use crate::Grid;

/// How many bytes of a line are held at once.
pub(super) const PIECE: usize = 64 * 1024;

/// The lines of a text, each in one piece, or in several if it is longer than [`PIECE`].
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: R,
    encoding: Encoding,
    /// Bytes taken from the input that turned out not to be a byte-order mark.
    ahead: Vec<u8>,
    /// The piece, as UTF-8 if the text is valid.
    buffer: Vec<u8>,
    /// The beginning of a character that the end of a piece has cut.
    cut: Vec<u8>,
    /// The piece's line, from 1.
    line: u64,
    /// Characters of the line before the piece.
    column: u64,
    /// Bytes taken from the input.
    offset: u64,
    /// The last line ended in a carriage return, so a line feed now belongs to it.
    after_return: bool,
    /// The piece did not end its line.
    inside_line: bool,
}

/// A line or a part of one, without its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece<'a> {
    pub bytes: &'a [u8],
    /// Its line, from 1.
    pub line: u64,
    /// Characters of the line before it.
    pub column: u64,
    /// Bytes of the text before it.
    pub offset: u64,
    /// Whether its line ends with it.
    pub ends_line: bool,
}

#[derive(Debug)]
enum Encoding {
    /// No byte has been looked at.
    Unknown,
    Utf8,
    Utf16(Utf16),
}

impl<R: BufRead> Lines<R> {
    pub fn new(input: R) -> Self {
        Self {
            input,
            encoding: Encoding::Unknown,
            ahead: Vec::new(),
            buffer: Vec::new(),
            cut: Vec::new(),
            line: 0,
            column: 0,
            offset: 0,
            after_return: false,
            inside_line: false,
        }
    }

    /// Takes lines as long as they are plain ones, at most so many: all of the line in the input's buffer, with a puzzle in
    /// a field of its own. Every other line is left for [`Self::next`], whether it holds a puzzle or not. Says how many it
    /// took. Must not be called inside a line.
    ///
    /// The input is read only where its buffer is empty, and that before the first puzzle is handed out.
    pub fn plain_puzzles(&mut self, most: usize, mut take: impl FnMut(Grid)) -> io::Result<usize> {
        if !matches!(self.encoding, Encoding::Utf8) || !self.ahead.is_empty() {
            return Ok(0);
        }
        let available = fill(&mut self.input)?;
        let (mut taken, mut count) = (0, 0);
        while count < most {
            // The rest of the end of the line before.
            let start = taken + usize::from(self.after_return && available.get(taken) == Some(&b'\n'));
            let rest = &available[start..];
            // Most lines hold nothing else, which is quicker to see than to search for.
            if let Some((field, [b'\n', ..])) = rest.split_first_chunk()
                && let Some(grid) = Grid::from_ascii(field)
            {
                taken = start + 82;
                self.after_return = false;
                take(grid);
            } else if let Some((grid, end)) = plain_line(rest) {
                taken = start + end;
                self.after_return = available[taken - 1] == b'\r';
                take(grid);
            } else {
                break;
            }
            count += 1;
        }
        self.line += count as u64;
        self.consume(taken);
        Ok(count)
    }

    /// The next piece, `None` at the end of the text.
    pub fn next(&mut self) -> io::Result<Option<Piece<'_>>> {
        self.skip_mark()?;
        if self.inside_line {
            self.column += characters(&self.buffer).count() as u64;
        } else {
            self.line += 1;
            self.column = 0;
        }
        self.buffer.clear();
        self.buffer.append(&mut self.cut);
        let mut offset = self.offset - self.buffer.len() as u64;
        let was_inside = self.inside_line;
        let end = loop {
            if self.buffer.len() >= PIECE {
                self.cut_character();
                break End::Piece;
            }
            if let Some(end) = self.take_some()? {
                break end;
            }
            if self.buffer.is_empty() {
                // What was taken is the rest of the end of the line before.
                offset = self.offset;
            }
        };
        self.inside_line = matches!(end, End::Piece);
        if matches!(end, End::Text) && self.buffer.is_empty() && !was_inside {
            return Ok(None);
        }
        Ok(Some(Piece {
            bytes: &self.buffer,
            line: self.line,
            column: self.column,
            offset,
            ends_line: !self.inside_line,
        }))
    }

    /// Passes over the rest of the line, without holding it.
    pub fn skip_rest_of_line(&mut self) -> io::Result<()> {
        while self.inside_line {
            self.next()?;
        }
        Ok(())
    }

    /// Moves some of the input to the buffer. Says what ended there, if anything.
    fn take_some(&mut self) -> io::Result<Option<End>> {
        let available = match self.ahead.as_slice() {
            [] => fill(&mut self.input)?,
            ahead => ahead,
        };
        if available.is_empty() {
            if let Encoding::Utf16(decoder) = &mut self.encoding {
                decoder.finish(&mut self.buffer);
            }
            return Ok(Some(End::Text));
        }
        let window = &available[..available.len().min(PIECE - self.buffer.len())];
        let (taken, end) = match &mut self.encoding {
            Encoding::Utf16(decoder) => decoder.take_line(window, &mut self.buffer, &mut self.after_return),
            _ => take_line(window, &mut self.buffer, &mut self.after_return),
        };
        self.consume(taken);
        Ok(end)
    }

    fn consume(&mut self, taken: usize) {
        self.offset += taken as u64;
        if self.ahead.is_empty() {
            self.input.consume(taken);
        } else {
            self.ahead.drain(..taken);
        }
    }

    /// Finds out the encoding, at the beginning of the text.
    fn skip_mark(&mut self) -> io::Result<()> {
        const MARKS: [&[u8]; 3] = [b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"];
        while matches!(self.encoding, Encoding::Unknown) {
            let next = fill(&mut self.input)?.first();
            let candidate: Vec<u8> = self.ahead.iter().chain(next).copied().collect();
            if next.is_none() || !MARKS.iter().any(|mark| mark.starts_with(&candidate)) {
                self.encoding = Encoding::Utf8;
                break;
            }
            self.input.consume(1);
            self.ahead = candidate;
            if MARKS.contains(&self.ahead.as_slice()) {
                self.encoding = match self.ahead[0] {
                    0xef => Encoding::Utf8,
                    first => Encoding::Utf16(Utf16::new(first == 0xff)),
                };
                self.offset = self.ahead.len() as u64;
                self.ahead.clear();
            }
        }
        Ok(())
    }

    /// Keeps the last character for the next piece if this one has only its beginning.
    fn cut_character(&mut self) {
        let tail = self.buffer.len().saturating_sub(3);
        let Some(lead) = self.buffer[tail..].iter().rposition(|&byte| byte >= 0xc0) else {
            return;
        };
        let is_cut = |bytes| std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none());
        if is_cut(&self.buffer[tail + lead..]) {
            self.cut = self.buffer.split_off(tail + lead);
        }
    }
}

enum End {
    /// A line ended.
    Line,
    /// The text ended.
    Text,
    /// The piece is full.
    Piece,
}

/// The characters of a line; what is not UTF-8 becomes U+FFFD, one for each broken sequence.
pub(super) fn characters(bytes: &[u8]) -> impl Iterator<Item = char> {
    bytes.utf8_chunks().flat_map(|chunk| {
        let broken = (!chunk.invalid().is_empty()).then_some(char::REPLACEMENT_CHARACTER);
        chunk.valid().chars().chain(broken)
    })
}

/// Where the bytes of the character at an index begin, if they are not UTF-8.
pub(super) fn broken_at(bytes: &[u8], index: usize) -> Option<usize> {
    let (mut passed, mut offset) = (0, 0);
    for chunk in bytes.utf8_chunks() {
        passed += chunk.valid().chars().count();
        offset += chunk.valid().len();
        if !chunk.invalid().is_empty() {
            if passed == index {
                return Some(offset);
            }
            passed += 1;
            offset += chunk.invalid().len();
        }
    }
    None
}

fn is_line_end(byte: u8) -> bool {
    byte == b'\n' || byte == b'\r'
}

/// The puzzle of a plain line, and where the next line begins.
#[inline(never)]
fn plain_line(text: &[u8]) -> Option<(Grid, usize)> {
    let (grid, puzzle_end) = plain_field(text)?;
    let line_end = memchr2(b'\n', b'\r', &text[puzzle_end..])?;
    Some((grid, puzzle_end + line_end + 1))
}

/// The puzzle in the first separate field of 81 cells, and where that field ends, if the line is such that nothing else
/// can be the puzzle: before the field stand only a few short fields that are metadata.
fn plain_field(line: &[u8]) -> Option<(Grid, usize)> {
    const FARTHEST: usize = 64;
    let parts = |byte: u8| byte.is_ascii() && alphabet::parts_fields(byte.into());
    let mut begin = 0;
    while begin <= FARTHEST {
        let (field, rest) = line.get(begin..)?.split_first_chunk::<81>()?;
        if let Some(cells) = alphabet::cells(field)
            && parts(*rest.first()?)
        {
            return Some((Grid::from_cells(cells)?, begin + 81));
        }
        // No field of 40 characters or fewer can be meant as a puzzle.
        let length = field[..41].iter().position(|&byte| parts(byte))?;
        let gap = field[length..].iter().position(|&byte| !parts(byte))?;
        if !is_metadata(&field[..length]) || field[length..][..gap].iter().any(|&byte| is_line_end(byte)) {
            return None;
        }
        begin += length + gap;
    }
    None
}

/// Whether a field is neither cells, a border nor the beginning of a comment, a list or XML.
fn is_metadata(field: &[u8]) -> bool {
    field.iter().any(u8::is_ascii_alphanumeric)
        && !field.iter().any(|byte| b"#[{<".contains(byte))
        && !line::is_cut_short(field.iter().copied().map(char::from))
}

/// What the input has ready, nothing at its end. An interrupted read is tried again.
fn fill(input: &mut impl BufRead) -> io::Result<&[u8]> {
    loop {
        match input.fill_buf() {
            Ok([]) => return Ok(&[]),
            // Asked again, as the borrow of this answer cannot leave the loop. Nothing is read for it.
            Ok(_) => return input.fill_buf(),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Moves bytes up to the end of a line, which is not kept. Says how many were taken, and whether a line ended.
fn take_line(bytes: &[u8], buffer: &mut Vec<u8>, after_return: &mut bool) -> (usize, Option<End>) {
    if std::mem::take(after_return) && bytes.first() == Some(&b'\n') {
        return (1, None);
    }
    let Some(end) = memchr2(b'\n', b'\r', bytes) else {
        buffer.extend_from_slice(bytes);
        return (bytes.len(), None);
    };
    buffer.extend_from_slice(&bytes[..end]);
    *after_return = bytes[end] == b'\r';
    (end + 1, Some(End::Line))
}

/// A decoder of UTF-16 that takes one byte after the other.
#[derive(Debug)]
struct Utf16 {
    little_endian: bool,
    half_unit: Option<u8>,
    high_surrogate: Option<u16>,
}

impl Utf16 {
    fn new(little_endian: bool) -> Self {
        Self {
            little_endian,
            half_unit: None,
            high_surrogate: None,
        }
    }

    /// As [`take_line`], but from UTF-16. A surrogate without its other half becomes U+FFFD.
    fn take_line(
        &mut self,
        bytes: &[u8],
        buffer: &mut Vec<u8>,
        after_return: &mut bool,
    ) -> (usize, Option<End>) {
        for (index, &byte) in bytes.iter().enumerate() {
            let Some(unit) = self.unit(byte) else {
                continue;
            };
            let belongs_to_return = std::mem::take(after_return) && unit == u16::from(b'\n');
            if belongs_to_return {
                continue;
            }
            if self.push(unit, buffer) {
                *after_return = unit == u16::from(b'\r');
                return (index + 1, Some(End::Line));
            }
            if buffer.len() >= PIECE {
                return (index + 1, None);
            }
        }
        (bytes.len(), None)
    }

    fn unit(&mut self, byte: u8) -> Option<u16> {
        let Some(first) = self.half_unit.take() else {
            self.half_unit = Some(byte);
            return None;
        };
        Some(if self.little_endian {
            u16::from_le_bytes([first, byte])
        } else {
            u16::from_be_bytes([first, byte])
        })
    }

    /// Adds a unit's character to the buffer, or says that it ends the line.
    fn push(&mut self, unit: u16, buffer: &mut Vec<u8>) -> bool {
        let high = self.high_surrogate.take();
        if high.is_none() && unit < 0x80 {
            let ascii = unit as u8;
            if !is_line_end(ascii) {
                buffer.push(ascii);
            }
            return is_line_end(ascii);
        }
        if high.is_none() && matches!(unit, 0xd800..=0xdbff) {
            self.high_surrogate = Some(unit);
            return false;
        }
        for character in char::decode_utf16(high.into_iter().chain([unit])) {
            let character = character.unwrap_or(char::REPLACEMENT_CHARACTER);
            if matches!(character, '\n' | '\r') {
                return true;
            }
            buffer.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
        false
    }

    /// Half a character at the end of the text becomes U+FFFD.
    fn finish(&mut self, buffer: &mut Vec<u8>) {
        let half_unit = self.half_unit.take().is_some();
        let half_pair = self.high_surrogate.take().is_some();
        if half_unit || half_pair {
            buffer.extend_from_slice("\u{fffd}".as_bytes());
        }
    }
}
