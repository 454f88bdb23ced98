//! Reading puzzles from text, as people hand it over.
//!
//! [`Reader`] reads a stream of puzzles, in constant memory; `str::parse::<Grid>` a text with one puzzle. Both take any
//! of the forms below, also mixed in one text.
//!
//! # What is read
//!
//! The text is UTF-8, with or without a byte-order mark, or UTF-16 with one. Lines end in LF, CR LF or CR. A cell is a
//! digit `1` to `9`, or one of the blanks `.`, `0`, `*`, `-`, `_` and `?`, which may be mixed. Blank lines are passed
//! over, and so is every line that begins with `#`.
//!
//! - **A puzzle a line.** The first separate field of 81 cells is the puzzle, and all else on the line is metadata: an
//!   identifier before it, a rating or the known solution after it. Fields are parted by white space, `,`, `;`, `:`,
//!   `|` or quotes, so csv files read as well; their header is passed over as text.
//! - **Nine rows on a line**, parted as fields are or by `/`, or joined by one character that stands nowhere in them;
//!   also 81 cells parted each, or in groups of three.
//! - **A grid of nine rows**, one a line. Between its cells may stand spaces, tabs, commas, semicolons, bars, brackets
//!   or box drawings; between its rows, borders, blank lines and comments. In a table, parted by commas, semicolons or
//!   tabs or with bars around every cell, an empty field is a blank. Titles, footers and numbers stand around a grid,
//!   not inside it. A text may have many grids, if there is a border, a blank line, a comment or a title between them.
//! - **Lists**, as in JSON: nine rows of nine values, 81 values, or a string of a puzzle, at any depth, alone or many.
//!   What has a name with `solution`, `solved` or `answer` in it is passed over. A value is a digit as a number or a
//!   string; a blank is 0, `null`, an empty string or one of the characters above. The notation may be that of another
//!   language, with any brackets and quotes, and `name =` before it.
//! - **XML**: every attribute `data`, which is where Open Sudoku keeps its puzzles. It ends before the first line that
//!   neither begins with a tag nor is a part of one.
//!
//! # What is not
//!
//! A space or a letter for a blank; candidates; other sizes than 9x9; other encodings; one grid after the other with
//! nothing in between. These are errors.
//!
//! # How errors are told
//!
//! A [`ParseError`] names the line and, where there is one, the character and its column. One line or grid that is
//! wrong is one error, between the puzzles around it. A file of lines is taken strictly: after a line with a puzzle,
//! each line that follows without a blank one in between is a puzzle or an error, so a batch keeps its count; only
//! comments and borders between them stand for nothing. Text before the first puzzle or after a blank line is a heading.
//!
//! Some forms can be read in two ways:
//!
//! - `---------` is nine blanks where the rows of its grid have `-` for a blank, else a border; `*` and `_` likewise.
//! - Nine rows, whatever gaps there are in them, are one grid if a gap follows. If a tenth row follows instead, those
//!   before the last gap were a grid of their own, with rows missing.
//! - A complete grid after a shorter field of cells on the same line is the solution of a puzzle that was cut short, so
//!   that line is an error.
//! - A line of at most 25 cells is taken for a row of a grid, unless it follows a line with a puzzle.
//! - A line that is longer than 64 KiB, without the space before it, is read up to there, lists and XML excepted, which
//!   are read to their end.

mod alphabet;
mod brackets;
mod error;
mod line;
mod lines;
mod parser;
mod reader;
mod rows;
mod source;
mod xml;

pub use error::{ParseError, ParseErrorKind};
pub use reader::Reader;
