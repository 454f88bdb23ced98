//! The lines of a delimited file, as its reader of records gets to see them.

use std::cell::Cell;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

use super::table::{LONGEST, invalid};

/// Hands out a text at most a line at a time, without comments. So the reader of records, which reads ahead, never has more
/// than the line on which a record ends, and where a record began is known.
///
/// It follows the quotes, as that reader does, to tell a line that begins a record from one inside a field, and to notice
/// a quote that is left open: the reader would take all up to the next one for a field.
pub struct Lines<R> {
    text: R,
    delimiter: u8,
    place: Rc<Place>,
    state: State,
    /// How many lines have begun.
    line: u64,
    inside_line: bool,
    /// Whether the last byte was a carriage return, to which a line feed would belong.
    after_cr: bool,
    /// The line of the last quote that opened a field.
    quote: u64,
    /// Bytes handed out of the current record.
    bytes: u64,
}

/// Where reading is, known to the table and to its lines.
#[derive(Debug, Default)]
pub struct Place {
    /// The line, from 1, on which the last record that was handed out begins.
    pub record: Cell<u64>,
}

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Record,
    Comment,
    Field,
    /// Inside a field without quotes, where a quote means itself.
    Unquoted,
    Quoted,
    /// After a quote inside a quoted field: its end, or the first half of a quote that means itself.
    Quote,
}

impl<R: BufRead> Lines<R> {
    /// The lines of `text`, of which so many have been `skipped`.
    pub fn new(text: R, delimiter: u8, skipped: u64, place: &Rc<Place>) -> Self {
        Self {
            text,
            delimiter,
            place: Rc::clone(place),
            state: State::Record,
            line: skipped,
            inside_line: false,
            after_cr: false,
            quote: 0,
            bytes: 0,
        }
    }

    /// Begins a line, if that is where reading is.
    fn begin_line(&mut self, first: u8) {
        if std::mem::replace(&mut self.inside_line, true) {
            return;
        }
        self.line += 1;
        if self.state != State::Record {
            return;
        }
        self.place.record.set(self.line);
        self.bytes = 0;
        self.state = if first == b'#' {
            State::Comment
        } else {
            State::Field
        };
    }

    /// Follows what is handed out, which ends with a line if it `is_line`.
    fn follow(&mut self, text: &[u8], is_line: bool) -> io::Result<()> {
        self.bytes += text.len() as u64;
        if self.bytes > LONGEST {
            let line = self.place.record.get();
            return Err(invalid(format!(
                "line {line}: a record of more than 1 MiB begins here; is a quote left open?"
            )));
        }
        let unquoted = !matches!(self.state, State::Quoted | State::Quote);
        if is_line && unquoted && memchr::memchr(b'"', text).is_none() {
            self.state = State::Record;
            return Ok(());
        }
        for &byte in text {
            self.state = self.after(byte)?;
        }
        Ok(())
    }

    /// The end of the text.
    fn end(&self) -> io::Result<usize> {
        match self.state {
            State::Quoted => Err(invalid(format!(
                "line {}: the quote that opens here is never closed",
                self.quote
            ))),
            _ => Ok(0),
        }
    }

    /// What comes next after one more byte.
    fn after(&mut self, byte: u8) -> io::Result<State> {
        Ok(match (self.state, byte) {
            (State::Quoted, b'"') => State::Quote,
            (State::Quoted, _) | (State::Quote, b'"') => State::Quoted,
            (_, b'\r' | b'\n') => State::Record,
            (_, delimiter) if delimiter == self.delimiter => State::Field,
            (State::Quote, _) => {
                let (line, quote) = (self.line, self.quote);
                return Err(invalid(format!(
                    "line {line}: a quoted field has text after its end; is the quote that opens in line {quote} left open?"
                )));
            }
            (State::Field, b'"') => {
                self.quote = self.line;
                State::Quoted
            }
            _ => State::Unquoted,
        })
    }
}

impl<R: BufRead> Read for Lines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let Some(&first) = self.text.fill_buf()?.first() else {
                return self.end();
            };
            // The rest of a line's end is no line of its own.
            let is_rest = std::mem::take(&mut self.after_cr) && first == b'\n';
            if !is_rest {
                self.begin_line(first);
            }
            let available = self.text.fill_buf()?;
            let available = &available[..available.len().min(buffer.len())];
            let end = match is_rest {
                true => Some(0),
                false => memchr::memchr2(b'\r', b'\n', available),
            };
            let taken = end.map_or(available.len(), |end| end + 1);
            let text = &mut buffer[..taken];
            text.copy_from_slice(&available[..taken]);
            self.text.consume(taken);
            self.after_cr = text.last() == Some(&b'\r');
            self.inside_line &= end.is_none();
            if self.state != State::Comment {
                self.follow(text, end.is_some())?;
                return Ok(taken);
            }
            if end.is_some() {
                self.state = State::Record;
            }
        }
    }
}
