//! A column of a delimited file.

use std::convert::Infallible;
use std::io::{self, BufRead, Cursor, Read};
use std::rc::Rc;
use std::str::FromStr;

use csv::ByteRecord;
use sudoku_engine::Grid;

use super::entry::{Entry, Slip};
use super::lines::{Lines, Place};

/// The most bytes that a record may have. Only a quote that is never closed gets there.
pub const LONGEST: u64 = 1 << 20;

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

impl<R: BufRead> Table<Seen<Seen<R>>> {
    /// A table of what `input` holds.
    ///
    /// # Errors
    ///
    /// The beginning of the input cannot be read.
    pub fn new(mut input: R, wanted: Column) -> io::Result<Self> {
        let mut mark = Vec::new();
        input.by_ref().take(3).read_to_end(&mut mark)?;
        if mark.starts_with(b"\xff\xfe") || mark.starts_with(b"\xfe\xff") {
            return Err(invalid("a table must be UTF-8, not UTF-16".to_owned()));
        }
        if mark == "\u{feff}".as_bytes() {
            mark.clear();
        }
        let mut input = Cursor::new(mark).chain(input);
        let (first, skipped) = first_record(&mut input)?;
        let delimiter = delimiter(&first);
        let place = Rc::<Place>::default();
        let lines = Lines::new(Cursor::new(first).chain(input), delimiter, skipped, &place);
        let records = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
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
            if !self.records.read_byte_record(&mut self.record)? {
                self.has_ended = true;
                break;
            }
            if self.is_blank() || (self.column == 0 && self.is_heading()?) {
                continue;
            }
            self.has_entry = true;
            return Ok(Some(self.entry()));
        }
        // Said once.
        let is_barren = !std::mem::replace(&mut self.has_entry, true);
        Ok(is_barren.then(|| Err(Slip::barren())))
    }

    /// Whether the record is a line with nothing but spaces in it.
    fn is_blank(&self) -> bool {
        self.record.len() == 1 && !self.record.as_slice().is_empty() && is_blank(self.record.as_slice())
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
        text.parse::<Grid>().map_err(|error| {
            Slip::in_field(
                error,
                &text,
                self.place.record.get(),
                self.column,
                self.record.len(),
            )
        })
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

/// The first line that is a record, or begins one, and how many lines come before it. Those are taken from `text` as well.
fn first_record(text: &mut impl BufRead) -> io::Result<(Vec<u8>, u64)> {
    let mut line = Vec::new();
    let (mut skipped, mut after_cr) = (0, false);
    while line.len() as u64 <= LONGEST {
        let available = text.fill_buf()?;
        let Some(&first) = available.first() else {
            break;
        };
        if std::mem::take(&mut after_cr) && first == b'\n' {
            text.consume(1);
            continue;
        }
        let end = memchr::memchr2(b'\r', b'\n', available);
        let taken = end.map_or(available.len(), |end| end + 1);
        let is_comment = *line.first().unwrap_or(&first) == b'#';
        // Of a comment that it is one is all that counts.
        let kept = if is_comment { 1 - line.len() } else { taken };
        line.extend_from_slice(&available[..kept]);
        after_cr = available[taken - 1] == b'\r';
        text.consume(taken);
        if end.is_none() {
            continue;
        }
        if !is_comment && !is_blank(&line) {
            break;
        }
        line.clear();
        skipped += 1;
    }
    Ok((line, skipped))
}

fn is_blank(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_whitespace)
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

/// What is wrong with the table as a whole.
pub fn invalid(reason: String) -> io::Error {
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
        for end in ["\n", "\r\n", "\r"] {
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
    fn a_quote_that_is_left_open_never_swallows_records_in_silence() {
        // To the end of the file, whether that has a line end or not.
        for end in ["", "\n"] {
            let text = format!("id,puzzle\n1,{PUZZLE}\n2,\"{PUZZLE}\n3,{PUZZLE}{end}");
            let error = "line 3: the quote that opens here is never closed".to_owned();
            assert_eq!(read(&text, "2"), [grid(), Err(error)], "{end:?}");
        }
        // To a quote that opens another field.
        let text = format!("id,note,puzzle\n1,\"a,{PUZZLE}\n2,\"b\",{PUZZLE}\n3,c,{PUZZLE}\n");
        let error =
            "line 3: a quoted field has text after its end; is the quote that opens in line 2 left open?";
        assert_eq!(read(&text, "3"), [Err(error.to_owned())]);
        // What only looks like that is none.
        let text = format!(
            "1,a \"b,{PUZZLE}\n2,\"say \"\"hi\"\",\nor not\",{PUZZLE}\n# \"\n\"3\",\"\",\"{PUZZLE}\""
        );
        assert_eq!(read(&text, "3"), [grid(), grid(), grid()]);
    }

    #[test]
    fn comments_may_be_as_long_as_they_like() {
        let comments = format!("# {}\n", "x;".repeat(1 << 8)).repeat(1 << 12);
        assert!(comments.len() > 2 << 20);
        let long = format!("#{}\n", "x".repeat(2 << 20));
        let text = format!("{comments}id,puzzle\n{long}1,{PUZZLE}\n{comments}2,12\n");
        let slip = format!("line {}, field 2: no puzzle found", 2 * 4096 + 4);
        assert_eq!(read(&text, "2"), [grid(), Err(slip)]);
    }

    #[test]
    fn what_parts_fields_is_not_taken_from_comments_or_blank_lines() {
        let text = format!("# a;b;c;d\n  \nid,puzzle\n1,{PUZZLE}\n");
        assert_eq!(read(&text, "puzzle"), [grid()]);
        assert_eq!(
            read(&format!("\u{feff}#;;\nid,puzzle\n1,{PUZZLE}\n"), "puzzle"),
            [grid()]
        );
    }

    #[test]
    fn lines_of_spaces_are_no_records() {
        for blank in ["   ", "\t", " \t "] {
            let text = format!("{blank}\nid,puzzle\n{blank}\n1,12\n{blank}\n2,{PUZZLE}\n{blank}");
            let slip = "line 4, field 2: no puzzle found".to_owned();
            assert_eq!(read(&text, "puzzle"), [Err(slip), grid()], "{blank:?}");
        }
        // Here they are empty fields.
        let text = format!("id\tpuzzle\n\t\n2\t{PUZZLE}\n");
        let slip = "line 2, field 2: no puzzle: the text is empty".to_owned();
        assert_eq!(read(&text, "puzzle"), [Err(slip), grid()]);
    }

    #[test]
    fn a_long_table_with_any_line_ends_has_the_right_lines() {
        for end in ["\n", "\r\n", "\r"] {
            let line = format!("1,{PUZZLE}{end}");
            let text = format!("# none{end}{end}id,puzzle{end}{}2,12{end}", line.repeat(2_000));
            // However it comes.
            for capacity in [1, 2, 7, 64 << 10] {
                let input = io::BufReader::with_capacity(capacity, text.as_bytes());
                let mut table = Table::new(input, Column::Number(2)).unwrap();
                let last = table.by_ref().nth(2_000).unwrap().unwrap().unwrap_err();
                assert_eq!(
                    last.to_string(),
                    "line 2004, field 2: no puzzle found",
                    "{end:?} {capacity}"
                );
                assert!(table.next().is_none());
            }
        }
    }

    #[test]
    fn utf_16_is_refused() {
        let error = Table::new(&b"\xff\xfe1\0"[..], Column::Number(1)).err().unwrap();
        assert!(error.to_string().contains("UTF-16"), "{error}");
    }
}
