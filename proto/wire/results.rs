//! `SolveManyResponse`: results out of a server, and into a client.

use bytes::{Buf, Bytes};
use prost::{DecodeError, Message, decode_length_delimiter, length_delimiter_len};

use super::codec::Decode;
use super::{CELLS, LINE, count_lines, length_delimited, line_header, varint};
use crate::v1::{Outcome, SolveManyResponse, SolveResult};

/// The tag of a result in its message.
const RESULT: u8 = length_delimited(1);

/// The tags of the fields of a result that usual ones have, and what stands before a solution.
const OUTCOME: u8 = varint(1);
const SOLUTION: [u8; 2] = line_header(2);
const COUNT: u8 = varint(3);

/// The values of an integer that take a byte.
const ONE_BYTE: u32 = 0x80;

/// Writes a [`SolveManyResponse`] result by result, after whatever a buffer holds.
///
/// ```
/// use prost::Message;
/// use sudoku_proto::v1::{Outcome, SolveManyResponse, SolveResult};
/// use sudoku_proto::wire::ResultWriter;
///
/// let mut message = Vec::new();
/// ResultWriter::new(&mut message).push(Outcome::Unsolvable, 0, []);
///
/// let result = SolveResult { outcome: Outcome::Unsolvable.into(), ..SolveResult::default() };
/// assert_eq!(message, SolveManyResponse { results: vec![result] }.encode_to_vec());
/// ```
#[derive(Debug)]
pub struct ResultWriter<'a> {
    encoded: &'a mut Vec<u8>,
}

/// The bytes of a result with one solution, as nearly all have.
const ONE: usize = 4 + LINE + 2;

impl<'a> ResultWriter<'a> {
    /// Begins a message at the end of `encoded`.
    pub fn new(encoded: &'a mut Vec<u8>) -> Self {
        Self { encoded }
    }

    /// Makes room for so many results with a solution each, which then need no further allocation.
    pub fn reserve(&mut self, results: usize) {
        self.encoded.reserve(ONE * results);
    }

    /// Adds a result without conflicts of a puzzle that is one. The solutions are 81 characters each, which must be
    /// ASCII for the message to be valid.
    pub fn push<S>(&mut self, outcome: Outcome, solution_count: u32, solutions: S)
    where
        S: IntoIterator<Item = [u8; CELLS], IntoIter: ExactSizeIterator>,
    {
        let mut solutions = solutions.into_iter();
        if let (1, 1, 1..ONE_BYTE) = (solutions.len(), solution_count, outcome as u32)
            && let Some(solution) = solutions.next()
        {
            return self.push_one(outcome as u8, &solution);
        }
        let count_len = match solution_count {
            0 => 0,
            count => 1 + length_delimiter_len(count as usize),
        };
        let outcome = outcome as u8;
        let outcome_len = if outcome == 0 { 0 } else { 2 };
        let len = outcome_len + solutions.len() * LINE + count_len;
        self.encoded.reserve(1 + length_delimiter_len(len) + len);
        self.encoded.push(RESULT);
        put_varint(len, self.encoded);
        if outcome != 0 {
            self.encoded.extend_from_slice(&[OUTCOME, outcome]);
        }
        for solution in solutions {
            let mut line = [0; LINE];
            line[..2].copy_from_slice(&SOLUTION);
            line[2..].copy_from_slice(&solution);
            self.encoded.extend_from_slice(&line);
        }
        if solution_count != 0 {
            self.encoded.push(COUNT);
            put_varint(solution_count as usize, self.encoded);
        }
    }

    /// Adds a result with one solution, as nearly all are: in one piece.
    fn push_one(&mut self, outcome: u8, solution: &[u8; CELLS]) {
        const BODY: usize = ONE - 2;
        let mut field = [0; ONE];
        let (head, body) = field.split_at_mut(4);
        head.copy_from_slice(&[RESULT, BODY as u8, OUTCOME, outcome]);
        let (line, count) = body.split_at_mut(LINE);
        line[..2].copy_from_slice(&SOLUTION);
        line[2..].copy_from_slice(solution);
        count.copy_from_slice(&[COUNT, 1]);
        self.encoded.extend_from_slice(&field);
    }

    /// Adds a result of any kind.
    pub fn push_any(&mut self, result: SolveResult) {
        SolveManyResponse {
            results: vec![result],
        }
        .encode_raw(self.encoded);
    }
}

/// Writes an integer as everywhere in a message.
fn put_varint(value: usize, buffer: &mut Vec<u8>) {
    match u8::try_from(value) {
        Ok(byte) if u32::from(byte) < ONE_BYTE => buffer.push(byte),
        // It only fails where a buffer has no room, and this one grows.
        _ => prost::encode_length_delimiter(value, buffer).unwrap_or_default(),
    }
}

/// A [`SolveManyResponse`] that was received.
#[derive(Debug, Clone, Default)]
pub struct Results {
    encoded: Bytes,
    entries: Vec<Entry>,
}

/// Where a result stands.
#[derive(Debug, Clone)]
enum Entry {
    /// One of the usual form.
    Plain(Plain),
    /// Any other, as `prost` reads it.
    Other(Box<SolveResult>),
}

/// A result with no conflicts and nothing about an invalid puzzle, and with solutions of 81 ASCII characters.
#[derive(Debug, Clone, Copy)]
struct Plain {
    outcome: u8,
    count: u32,
    /// Where in the message its solutions begin, and how many there are.
    start: usize,
    solutions: u32,
}

/// A result in a message.
#[derive(Debug, Clone)]
pub enum Found<'a> {
    /// One of the usual form.
    Plain {
        /// [`SolveResult::outcome`].
        outcome: i32,
        /// [`SolveResult::solution_count`].
        solution_count: u32,
        /// [`SolveResult::solutions`], all of which have 81 ASCII characters.
        solutions: Solutions<'a>,
    },
    /// Any other: one with conflicts, one of an invalid puzzle, one that no server of ours writes.
    Other(&'a SolveResult),
}

/// The solutions of a result.
#[derive(Debug, Clone)]
pub struct Solutions<'a> {
    lines: std::slice::Iter<'a, [u8; LINE]>,
}

impl<'a> Iterator for Solutions<'a> {
    type Item = &'a [u8; CELLS];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8; CELLS]> {
        self.lines.next().map(|[_, _, solution @ ..]| solution)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.lines.size_hint()
    }
}

impl ExactSizeIterator for Solutions<'_> {}

impl Results {
    /// How many results there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The result of puzzle `index`. `None` if there is none.
    #[inline]
    pub fn get(&self, index: usize) -> Option<Found<'_>> {
        Some(match self.entries.get(index)? {
            Entry::Plain(plain) => {
                let (lines, _) = self.encoded[plain.start..].as_chunks::<LINE>();
                Found::Plain {
                    outcome: plain.outcome.into(),
                    solution_count: plain.count,
                    solutions: Solutions {
                        lines: lines[..plain.solutions as usize].iter(),
                    },
                }
            }
            Entry::Other(result) => Found::Other(result),
        })
    }
}

impl Decode for Results {
    fn decode(mut frame: impl Buf) -> Result<Self, DecodeError> {
        let encoded = frame.copy_to_bytes(frame.remaining());
        let mut entries = Vec::with_capacity(encoded.len() / (LINE + 6));
        let mut start = 0;
        while start < encoded.len() {
            if let Some(outcome) = encoded[start..].first_chunk().and_then(read_one) {
                entries.push(Entry::Plain(Plain {
                    outcome,
                    count: 1,
                    start: start + 4,
                    solutions: 1,
                }));
                start += ONE;
                continue;
            }
            let field = result_field(&encoded[start..]);
            // What is no result is left to prost, with all that follows.
            let (body, end) = field.map_or((0, encoded.len()), |(body, end)| (start + body, start + end));
            match field.and_then(|_| Plain::read(&encoded[body..end], body)) {
                Some(plain) => entries.push(Entry::Plain(plain)),
                None => {
                    let others = SolveManyResponse::decode(&encoded[start..end])?.results;
                    entries.extend(others.into_iter().map(|other| Entry::Other(Box::new(other))));
                }
            }
            start = end;
        }
        Ok(Self { encoded, entries })
    }
}

/// The outcome in a result as [`ResultWriter::push_one`] writes it. `None` if it is any other.
#[inline]
fn read_one(result: &[u8; ONE]) -> Option<u8> {
    let (head, body) = result.split_first_chunk::<4>()?;
    let (line, count) = body.split_first_chunk::<LINE>()?;
    let [RESULT, length, OUTCOME, outcome] = *head else {
        return None;
    };
    let is_one = usize::from(length) == ONE - 2 && u32::from(outcome) < ONE_BYTE && count == [COUNT, 1];
    (is_one && line.starts_with(&SOLUTION) && line.is_ascii()).then_some(outcome)
}

/// Where the result with which a message begins starts and ends. `None` if it begins with something else.
fn result_field(encoded: &[u8]) -> Option<(usize, usize)> {
    let [RESULT, field @ ..] = encoded else {
        return None;
    };
    let mut body = field;
    let len = match field {
        [len, rest @ ..] if u32::from(*len) < ONE_BYTE => {
            body = rest;
            usize::from(*len)
        }
        _ => decode_length_delimiter(&mut body).ok()?,
    };
    let start = encoded.len() - body.len();
    (len <= body.len()).then(|| (start, start + len))
}

impl Plain {
    /// Reads a result that stands at `start` in its message. `None` if it has not the usual form.
    fn read(result: &[u8], start: usize) -> Option<Self> {
        let (outcome, rest) = match result {
            [OUTCOME, outcome, rest @ ..] if u32::from(*outcome) < ONE_BYTE => (*outcome, rest),
            _ => (0, result),
        };
        let solutions = count_lines(rest, SOLUTION);
        let start = start + result.len() - rest.len();
        let count = match &rest[LINE * solutions..] {
            [] => 0,
            [COUNT, count] if u32::from(*count) < ONE_BYTE => (*count).into(),
            [COUNT, count @ ..] => {
                let mut count = count;
                let value = decode_length_delimiter(&mut count).ok()?;
                // A larger one is cut by prost, not refused.
                u32::try_from(value).ok().filter(|_| count.is_empty())?
            }
            _ => return None,
        };
        Some(Self {
            outcome,
            count,
            start,
            solutions: solutions.try_into().ok()?,
        })
    }
}
