//! Going on where an earlier run was stopped.
//!
//! The answers in `FILE.partial` are read one by one, each with its puzzle, which it must fit. What follows the last
//! whole one is cut off; there the new answers begin. Nothing else is known of the earlier run, so the file itself is
//! all that it takes to go on after a power cut.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Read};

use anyhow::{Context, bail, ensure};
use serde::Deserialize;
use sudoku_engine::Grid;
use tokio_stream::StreamExt;

use crate::cli::entry::Entry;
use crate::cli::explain::Kind;
use crate::cli::feed::{Puzzles, Records};
use crate::cli::format::csv::HEADER;
use crate::cli::format::{Format, input};
use crate::cli::output::Pending;
use crate::cli::tally::Tally;

/// The most bytes of one answer: more than ten times what 10,000 solutions take.
const LONGEST: u64 = 16 << 20;

/// The formats whose answers can be told from each other in a file that ends anywhere.
pub const FORMATS: [Format; 3] = [Format::Line, Format::Csv, Format::Jsonl];

/// Passes over the puzzles that are answered in the output already, counts their answers into `tally`, and cuts off what
/// is not whole.
///
/// # Errors
///
/// The answers belong to other puzzles or are of another format, or there are more of them than puzzles.
pub async fn pass_over(
    output: &Pending,
    format: Format,
    limit: u32,
    puzzles: &mut Puzzles,
    records: &mut Records,
    tally: &mut Tally,
) -> anyhow::Result<()> {
    let mut answers = Answers::new(output.written(), format);
    while let Some(answer) = answers.next().context("cannot read the answers so far")? {
        let number = tally.total() + 1;
        if puzzles.next().await.is_none() {
            records.finish()?;
            bail!("it has more answers than there are puzzles: {number} or more");
        }
        let record = records.next().context("more puzzles than records")?;
        let earlier = Earlier::read(format, &answer).with_context(|| format!("answer {number} is none"))?;
        ensure!(
            earlier.fits(record.entry),
            "answer {number} is not for puzzle {number} of this input; give the input that it is of, or remove it to begin anew"
        );
        let kind = match earlier.kind {
            // A line with a solution does not tell which of the two it was.
            Kind::Unique if limit == 1 => Kind::Solved,
            kind => kind,
        };
        let is_full = kind == Kind::Multiple && earlier.count >= limit;
        tally.add_earlier(kind, is_full, record.entry);
    }
    ensure!(
        answers.rest_may_be_ours(),
        "what follows answer {} is not the beginning of one",
        tally.total()
    );
    // A heading alone is written again.
    let end = if tally.total() > 0 { answers.end } else { 0 };
    output.cut(end).context("cannot cut off what is not whole")
}

/// The whole answers in an output.
struct Answers<R> {
    text: BufReader<R>,
    format: Format,
    /// Where the last whole answer ended, or the heading.
    end: u64,
    /// What follows there without an end.
    rest: Vec<u8>,
}

impl<R: Read> Answers<R> {
    fn new(text: R, format: Format) -> Self {
        Self {
            text: BufReader::with_capacity(64 << 10, text),
            format,
            end: 0,
            rest: Vec::new(),
        }
    }

    /// The next answer; `None` where no whole one follows.
    fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        if self.end == 0 && self.format == Format::Csv {
            match self.read()? {
                None => return Ok(None),
                Some(line) if line == heading() => {}
                Some(_) => return Err(invalid_data("it has another heading")),
            }
        }
        self.read()
    }

    /// Whether what follows the whole answers can be the beginning of one. It is cut off, which must not happen to what is
    /// somebody else's.
    fn rest_may_be_ours(&self) -> bool {
        let rest = self.rest.as_slice();
        match self.format {
            Format::Csv if self.end == 0 => heading().starts_with(rest),
            // The input comes first, which may be anything.
            Format::Csv => true,
            Format::Jsonl => begins_alike(rest, br#"{"input":""#),
            _ => begins_alike(rest, b"# ") || (rest.len() <= 81 && rest.iter().all(u8::is_ascii_digit)),
        }
    }

    /// Reads up to the end of a line. In csv a line may end inside quotes, of which there is then an odd number before.
    fn read(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut record = Vec::new();
        loop {
            let left = LONGEST - record.len() as u64;
            let begin = record.len();
            self.text.by_ref().take(left).read_until(b'\n', &mut record)?;
            if record.len() as u64 == LONGEST {
                return Err(invalid_data("an answer without an end"));
            }
            if record[begin..].last() != Some(&b'\n') {
                self.rest = record;
                return Ok(None);
            }
            let quotes = record.iter().filter(|&&byte| byte == b'"').count();
            if self.format != Format::Csv || quotes % 2 == 0 {
                self.end += record.len() as u64;
                return Ok(Some(record));
            }
        }
    }
}

/// The first line of csv.
fn heading() -> Vec<u8> {
    let mut heading = HEADER.join(",").into_bytes();
    heading.push(b'\n');
    heading
}

/// Whether the two are the same as far as both go.
fn begins_alike(one: &[u8], other: &[u8]) -> bool {
    one.iter().zip(other).all(|(a, b)| a == b)
}

fn invalid_data(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// What an answer in the output tells.
#[derive(Debug, PartialEq, Eq)]
struct Earlier {
    kind: Kind,
    /// How many solutions were found, where there are several.
    count: u32,
    of: Answered,
}

/// What is known of the puzzle that was answered.
#[derive(Debug, PartialEq, Eq)]
enum Answered {
    /// All of it.
    Input(String),
    /// One of its solutions.
    Solution(Grid),
    /// Nothing.
    Unknown,
}

impl Earlier {
    fn read(format: Format, answer: &[u8]) -> anyhow::Result<Self> {
        let text = str::from_utf8(answer).context("not UTF-8")?;
        match format {
            Format::Csv => Self::read_csv(text),
            Format::Jsonl => Self::read_json(text),
            _ => Self::read_line(text.trim_end_matches('\n')),
        }
    }

    fn read_line(line: &str) -> anyhow::Result<Self> {
        let Some(reason) = line.strip_prefix("# ") else {
            let solution = Grid::from_line(line)?;
            return Ok(Self {
                kind: Kind::Unique,
                count: 1,
                of: Answered::Solution(solution),
            });
        };
        let name = reason.split(':').next().unwrap_or(reason);
        let number = reason.split(' ').find_map(|word| word.parse().ok());
        Self::named(name, number.unwrap_or(0), Answered::Unknown)
    }

    fn read_csv(text: &str) -> anyhow::Result<Self> {
        // As nearly all are. A reader for each of them would take more time than solving them again.
        if !text.contains('"') {
            let (input, rest) = text.split_once(',').context("too few fields")?;
            let mut fields = rest.split([',', '\n']);
            let outcome = fields.next().unwrap_or(rest);
            return Self::of_input(input, outcome, fields.nth(1).unwrap_or_default());
        }
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .from_reader(text.as_bytes());
        let record = reader.records().next().context("an empty record")??;
        let (input, outcome) = record.get(0).zip(record.get(1)).context("too few fields")?;
        Self::of_input(input, outcome, record.get(3).unwrap_or_default())
    }

    fn read_json(text: &str) -> anyhow::Result<Self> {
        /// The rest is passed over, and not taken apart: solving again would be quicker than that.
        #[derive(Deserialize)]
        struct Object<'a> {
            #[serde(borrow)]
            input: Cow<'a, str>,
            outcome: &'a str,
            count: u32,
        }

        let object: Object<'_> = serde_json::from_str(text)?;
        Self::named(
            object.outcome,
            object.count,
            Answered::Input(object.input.into_owned()),
        )
    }

    fn of_input(input: &str, outcome: &str, count: &str) -> anyhow::Result<Self> {
        let count = count.parse().context("the count is no number")?;
        Self::named(outcome, count, Answered::Input(input.to_owned()))
    }

    fn named(outcome: &str, count: u32, of: Answered) -> anyhow::Result<Self> {
        let kind = Kind::named(outcome).context("an unknown outcome")?;
        Ok(Self { kind, count, of })
    }

    /// Whether it can be the answer to this.
    fn fits(&self, entry: &Entry) -> bool {
        if entry.is_err() != (self.kind == Kind::Invalid) {
            return false;
        }
        match (&self.of, entry) {
            (Answered::Input(text), entry) => *text == input(entry),
            (Answered::Solution(solution), Ok(puzzle)) => {
                let keeps = |cell| {
                    puzzle
                        .get(cell)
                        .is_none_or(|digit| solution.get(cell) == Some(digit))
                };
                (0..81).all(keeps)
            }
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PUZZLE: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
    const SOLUTION: &str =
        "534678912672195348198342567859761423426853791713924856961537284287419635345286179";

    #[track_caller]
    fn whole(format: Format, text: &str, expected: &[&str], end: usize) {
        let mut answers = Answers::new(text.as_bytes(), format);
        let mut found = Vec::new();
        while let Some(answer) = answers.next().unwrap() {
            found.push(String::from_utf8(answer).unwrap());
        }
        assert_eq!(found, expected);
        assert_eq!(answers.end, end as u64);
    }

    #[test]
    fn what_is_not_whole_is_left_aside() {
        whole(Format::Line, "", &[], 0);
        whole(Format::Line, "ab", &[], 0);
        whole(Format::Line, "ab\ncd\ne", &["ab\n", "cd\n"], 6);
        let heading = String::from_utf8(heading()).unwrap();
        let csv = |rest: &str, expected: &[&str], end: usize| {
            whole(
                Format::Csv,
                &format!("{heading}{rest}"),
                expected,
                heading.len() + end,
            );
        };
        whole(Format::Csv, "inp", &[], 0);
        csv("", &[], 0);
        csv("a,b\nc", &["a,b\n"], 4);
        csv("\"a\n\"\"b\",c\nd", &["\"a\n\"\"b\",c\n"], 10);
        csv("\"a\nb", &[], 0);
    }

    #[test]
    fn only_what_may_be_ours_is_cut_off() {
        let ours = |format, text: &str| {
            let mut answers = Answers::new(text.as_bytes(), format);
            while answers.next().unwrap().is_some() {}
            answers.rest_may_be_ours()
        };
        assert!(ours(Format::Line, "") && ours(Format::Line, "5346") && ours(Format::Line, "# multi"));
        assert!(!ours(Format::Line, "my notes") && !ours(Format::Line, "534x") && !ours(Format::Line, "#!"));
        assert!(!ours(Format::Line, &"1".repeat(82)));
        assert!(ours(Format::Csv, "input,out") && !ours(Format::Csv, "in,out"));
        assert!(ours(Format::Jsonl, "{\"inp") && ours(Format::Jsonl, "{\"input\":\"53.."));
        assert!(!ours(Format::Jsonl, "[1") && !ours(Format::Jsonl, "{\"output"));
        assert!(Answers::new(&b"foo,bar\na,b\n"[..], Format::Csv).next().is_err());
    }

    #[test]
    fn an_answer_must_fit_its_puzzle() {
        let puzzle = Ok(PUZZLE.parse().unwrap());
        let other = Ok(PUZZLE.replacen("53", "54", 1).parse().unwrap());
        let invalid = Err(Box::new("12..".parse::<Grid>().unwrap_err().into()));
        let csv = format!("{PUZZLE},unique,{SOLUTION},1,,");
        let json = format!("{{\"input\":\"{PUZZLE}\",\"outcome\":\"unique\",\"count\":1}}");
        for (format, text) in [
            (Format::Line, SOLUTION),
            (Format::Csv, &csv),
            (Format::Jsonl, &json),
        ] {
            let earlier = Earlier::read(format, text.as_bytes()).unwrap();
            assert_eq!(earlier.kind, Kind::Unique);
            assert!(earlier.fits(&puzzle), "{text}");
            assert!(!earlier.fits(&other), "{text}");
            assert!(!earlier.fits(&invalid), "{text}");
        }
        let invalid_line = Earlier::read(Format::Line, b"# invalid: line 1: 4 cells, need 81").unwrap();
        assert!(invalid_line.fits(&invalid));
        assert!(!invalid_line.fits(&puzzle));
    }

    #[test]
    fn what_is_no_answer_is_an_error() {
        for (format, text) in [
            (Format::Line, "what"),
            (Format::Line, "# what: ever"),
            (Format::Csv, "a"),
            (Format::Csv, "a,b"),
            (Format::Csv, "a,unique,b"),
            (Format::Jsonl, "{"),
            (Format::Jsonl, "{}"),
            (Format::Jsonl, "{\"input\":1,\"outcome\":2}"),
        ] {
            assert!(Earlier::read(format, text.as_bytes()).is_err(), "{text}");
        }
        assert!(Earlier::read(Format::Line, b"\xff").is_err());
    }
}
