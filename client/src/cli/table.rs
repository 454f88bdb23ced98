//! A column of a delimited file.

use std::cell::Cell;
use std::convert::Infallible;
use std::io::{self, BufRead, Cursor, Read};
use std::rc::Rc;
use std::str::FromStr;

use csv::ByteRecord;
use sudoku_engine::Grid;

use super::entry::{Entry, Slip};

/// The most bytes that a record may have. Only a quote that is never closed gets there.
const LONGEST: u64 = 1 << 20;

/// What parts fields: the first of these that is most frequent on the first line, outside quotes.
const DELIMITERS: [u8; 4] = *b",;\t|";

/// The column in which the puzzles stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Column {
    /// By its place, from 1.
    Number(usize),
    /// By its name in the first record.
    Name(String),
}

impl FromStr for Column {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text.parse() {
            Ok(number) if number > 0 => Self::Number(number),
            _ => Self::Name(text.to_owned()),
        })
    }
}

/// Reads a column: an entry for each record, as an iterator. Blank lines and lines that begin with `#` are no records.
///
/// An outer error is one of reading, or of the table as a whole, and ends the iteration.
pub struct Table<R> {
    records: csv::Reader<Lines<R>>,
    place: Rc<Place>,
    record: ByteRecord,
    wanted: Column,
    /// The column's number, from 1, once the first record has been read.
    column: usize,
    /// Whether anything was given out, so that there is no need to say that there is nothing.
    has_entry: bool,
    has_ended: bool,
}

/// Where reading is, known to the table and to its lines.
#[derive(Debug, Default)]
struct Place {
    /// Lines of which something was handed out.
    lines: Cell<u64>,
    /// Bytes handed out since the last record ended.
    bytes: Cell<u64>,
}

impl<R: BufRead> Table<Seen<R>> {
    /// A table of what `input` holds.
    ///
    /// # Errors
    ///
    /// The beginning of the input cannot be read.
    pub fn new(mut input: R, wanted: Column) -> io::Result<Self> {
        let mut head = Vec::new();
        let mut begin = 0;
        // The first line that is no comment and not blank tells what parts the fields.
        while input.by_ref().take(LONGEST).read_until(b'\n', &mut head)? > 0 && is_no_record(&head[begin..]) {
            begin = head.len();
            if begin as u64 > LONGEST {
                break;
            }
        }
        if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
            return Err(invalid("a table must be UTF-8, not UTF-16".to_owned()));
        }
        let delimiter = delimiter(&head[begin..]);
        let place = Rc::<Place>::default();
        let lines = Lines {
            text: Cursor::new(head).chain(input),
            place: Rc::clone(&place),
            inside_line: false,
        };
        let records = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .comment(Some(b'#'))
            .delimiter(delimiter)
            .buffer_capacity(64 << 10)
            .from_reader(lines);
        Ok(Self {
            records,
            place,
            record: ByteRecord::new(),
            wanted,
            column: 0,
            has_entry: false,
            has_ended: false,
        })
    }
}

type Seen<R> = io::Chain<Cursor<Vec<u8>>, R>;

impl<R: BufRead> Table<R> {
    fn next_entry(&mut self) -> io::Result<Option<Entry>> {
        while !self.has_ended {
            self.place.bytes.set(0);
            if !self.records.read_byte_record(&mut self.record)? {
                self.has_ended = true;
                break;
            }
            if self.column == 0 && self.is_heading()? {
                continue;
            }
            self.has_entry = true;
            return Ok(Some(self.entry()));
        }
        // Said once.
        let is_barren = !std::mem::replace(&mut self.has_entry, true);
        Ok(is_barren.then(|| Err(Slip::barren())))
    }

    /// Finds the column in the first record, and tells whether that is a heading.
    fn is_heading(&mut self) -> io::Result<bool> {
        match &self.wanted {
            Column::Number(number) => {
                self.column = *number;
                let fields = self.record.len();
                if fields < *number {
                    return Err(invalid(format!("there is no column {number}, only {fields}")));
                }
                Ok(self.entry().is_err_and(|slip| !slip.error().is_near_puzzle()))
            }
            Column::Name(name) => {
                let names: Vec<_> = self.record.iter().map(String::from_utf8_lossy).collect();
                let found = names.iter().position(|found| found.trim() == name);
                let Some(found) = found else {
                    let names = names.join(", ");
                    return Err(invalid(format!(
                        "there is no column {name:?}; the first line has: {names}"
                    )));
                };
                self.column = found + 1;
                Ok(true)
            }
        }
    }

    /// What stands in the column.
    fn entry(&self) -> Entry {
        let bytes = self.record.get(self.column - 1).unwrap_or_default();
        let text = String::from_utf8_lossy(bytes);
        if let Ok(grid) = Grid::from_line(&text) {
            return Ok(grid);
        }
        text.parse::<Grid>()
            .map_err(|error| Slip::in_field(error, &text, self.line(), self.column, self.record.len()))
    }

    /// The line on which the record begins, from 1.
    fn line(&self) -> u64 {
        let inner = self.record.as_slice().iter().filter(|&&byte| byte == b'\n');
        self.place.lines.get().saturating_sub(inner.count() as u64)
    }
}

impl<R: BufRead> Iterator for Table<R> {
    type Item = io::Result<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        let entry = self.next_entry().transpose();
        if let Some(Err(_)) = entry {
            (self.has_ended, self.has_entry) = (true, true);
        }
        entry
    }
}

/// Hands out a text at most a line at a time. So the reader of records, which reads ahead, never has more than the line
/// on which a record ends, and that line's number is known.
struct Lines<R> {
    text: R,
    place: Rc<Place>,
    inside_line: bool,
}

impl<R: BufRead> Read for Lines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let available = self.text.fill_buf()?;
        let available = &available[..available.len().min(buffer.len())];
        let end = memchr::memchr(b'\n', available);
        let taken = end.map_or(available.len(), |end| end + 1);
        buffer[..taken].copy_from_slice(&available[..taken]);
        self.text.consume(taken);
        if taken == 0 {
            return Ok(0);
        }
        if !std::mem::replace(&mut self.inside_line, end.is_none()) {
            self.place.lines.set(self.place.lines.get() + 1);
        }
        self.place.bytes.set(self.place.bytes.get() + taken as u64);
        if self.place.bytes.get() > LONGEST {
            let line = self.place.lines.get();
            return Err(invalid(format!(
                "a record of more than 1 MiB ends nowhere before line {line}; is a quote left open?"
            )));
        }
        Ok(taken)
    }
}

fn is_no_record(line: &[u8]) -> bool {
    line.starts_with(b"#") || line.iter().all(|byte| b"\r\n".contains(byte))
}

/// What parts the fields of a line. A line without any such character is all one field.
fn delimiter(line: &[u8]) -> u8 {
    let mut quoted = false;
    let mut counts = [0; DELIMITERS.len()];
    for &byte in line {
        quoted ^= byte == b'"';
        if let Some(index) = DELIMITERS.iter().position(|&delimiter| delimiter == byte)
            && !quoted
        {
            counts[index] += 1;
        }
    }
    let mut best = 0;
    for index in 1..DELIMITERS.len() {
        if counts[index] > counts[best] {
            best = index;
        }
    }
    DELIMITERS[best]
}

fn invalid(reason: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PUZZLE: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";

    /// What is read of a column: the puzzles, and the errors as text.
    fn read(text: &str, column: &str) -> Vec<Result<Grid, String>> {
        let table = Table::new(text.as_bytes(), column.parse().unwrap()).unwrap();
        let entries = table.map(|entry| entry.map_err(|error| error.to_string()));
        entries
            .map(|entry| entry.and_then(|entry| entry.map_err(|slip| slip.to_string())))
            .collect()
    }

    fn grid() -> Result<Grid, String> {
        Ok(PUZZLE.parse().unwrap())
    }

    #[test]
    fn a_column_has_a_number_or_a_name() {
        let text = format!("id,puzzle,rating\n1,{PUZZLE},7.2\n2,{PUZZLE},1.2\n");
        for column in ["2", "puzzle"] {
            assert_eq!(read(&text, column), [grid(), grid()]);
        }
        assert_eq!(
            read(&text, "grid"),
            [Err(
                "there is no column \"grid\"; the first line has: id, puzzle, rating".to_owned()
            )]
        );
        assert_eq!(read(&text, "4"), [Err("there is no column 4, only 3".to_owned())]);
    }

    #[test]
    fn the_delimiter_is_found_out() {
        for delimiter in [",", ";", "\t", "|"] {
            let text = format!("{PUZZLE}{delimiter}\"a,b;c\td|e\"{delimiter}{PUZZLE}\n");
            assert_eq!(read(&text, "3"), [grid()], "{delimiter:?}");
            assert_eq!(read(&text, "1"), [grid()], "{delimiter:?}");
        }
        assert_eq!(read(PUZZLE, "1"), [grid()]);
    }

    #[test]
    fn a_first_record_with_a_slip_is_no_heading() {
        let text = format!("1,{}\n2,{PUZZLE}\n", &PUZZLE[1..]);
        let slip = "line 1, field 2: 80 cells, need 81".to_owned();
        assert_eq!(read(&text, "2"), [Err(slip), grid()]);
    }

    #[test]
    fn each_record_has_its_entry_and_its_line() {
        let letter = PUZZLE.replacen('.', "x", 1);
        for end in ["\n", "\r\n"] {
            let text = [
                "# a comment",
                "",
                "id,note,puzzle",
                "1,\"two",
                "lines\",12",
                "",
                "2",
                "# another",
                &format!("3,,{letter}"),
                &format!("4,,{PUZZLE}"),
                "5,,",
                &format!("6,\"open\nand closed\",\"{PUZZLE}\""),
            ]
            .join(end);
            let expected = [
                Err("line 4, field 3: no puzzle found".to_owned()),
                Err("line 7: no field 3, only 1".to_owned()),
                Err("line 9, field 3, character 3: 'x' is neither a digit nor a blank".to_owned()),
                grid(),
                Err("line 11, field 3: no puzzle: the text is empty".to_owned()),
                grid(),
            ];
            assert_eq!(read(&text, "puzzle"), expected, "{end:?}");
        }
    }

    #[test]
    fn a_field_is_read_as_any_text_is() {
        let rows: Vec<&str> = PUZZLE
            .as_bytes()
            .chunks(9)
            .map(|row| str::from_utf8(row).unwrap())
            .collect();
        let text = format!("\"{}\",1\n{},2\n", rows.join("\n"), PUZZLE.replace('.', "*"));
        assert_eq!(read(&text, "1"), [grid(), grid()]);
    }

    #[test]
    fn a_table_without_a_record_is_barren() {
        for text in ["", "# none\n", "id,puzzle\n"] {
            let mut table = Table::new(text.as_bytes(), Column::Number(1)).unwrap();
            let slip = table.next().unwrap().unwrap().unwrap_err();
            assert!(slip.is_barren(), "{text:?}");
            assert!(table.next().is_none());
        }
    }

    #[test]
    fn a_quote_that_is_never_closed_is_no_table_in_memory() {
        let text = format!("id,puzzle\n1,\"{}", "x\n".repeat(1 << 20));
        let entries = read(&text, "2");
        assert_eq!(entries.len(), 1);
        let error = entries[0].as_ref().unwrap_err();
        assert!(error.contains("a record of more than 1 MiB"), "{error}");
    }

    #[test]
    fn utf_16_is_refused() {
        let error = Table::new(&b"\xff\xfe1\0"[..], Column::Number(1)).err().unwrap();
        assert!(error.to_string().contains("UTF-16"), "{error}");
    }
}
