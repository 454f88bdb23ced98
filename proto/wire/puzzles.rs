//! `SolveManyRequest`: puzzles out of a client, and into a server.

use bytes::BufMut;
use prost::{DecodeError, Message};

use super::codec::Encode;
use super::{CELLS, LINE, count_lines, line_header};
use crate::v1::{SolveManyRequest, SolveOptions};

/// What stands before a puzzle of 81 characters.
const HEADER: [u8; 2] = line_header(1);

/// A [`SolveManyRequest`] that was received, read where it lies.
///
/// ```
/// use sudoku_proto::v1::SolveManyRequest;
/// use sudoku_proto::wire::Puzzles;
/// use prost::Message;
///
/// let puzzles = vec![".".repeat(81), "too short".to_owned()];
/// let message = SolveManyRequest { puzzles, options: None };
/// let encoded = message.encode_to_vec();
/// let received = Puzzles::read(&encoded)?;
/// assert_eq!(received.len(), 2);
/// assert!(received.iter().eq(&message.puzzles));
/// # Ok::<(), prost::DecodeError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Puzzles<'a> {
    /// The fields of puzzles of 81 ASCII characters that the message begins with.
    lines: &'a [[u8; LINE]],
    /// What comes after them, from the first puzzle on that is something else. Nearly always that is nothing.
    rest: Option<Box<SolveManyRequest>>,
}

impl<'a> Puzzles<'a> {
    /// Reads a message that takes all of `encoded`.
    ///
    /// # Errors
    ///
    /// What `prost` has against the message. It accepts all that this does, and nothing else.
    pub fn read(encoded: &'a [u8]) -> Result<Self, DecodeError> {
        let count = count_lines(encoded, HEADER);
        let (lines, rest) = encoded.split_at(LINE * count);
        Ok(Self {
            lines: lines.as_chunks().0,
            rest: match rest {
                [] => None,
                // A message may be cut between any two fields, and what the parts mean adds up.
                rest => Some(Box::new(SolveManyRequest::decode(rest)?)),
            },
        })
    }

    /// How many puzzles there are.
    pub fn len(&self) -> usize {
        self.lines.len() + self.rest().len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn rest(&self) -> &[String] {
        self.rest.as_ref().map_or(&[], |rest| &rest.puzzles)
    }

    /// The options for all of them, if the message has any.
    pub fn options(&self) -> Option<&SolveOptions> {
        self.rest.as_ref()?.options.as_ref()
    }

    /// The texts that should be puzzles, in the order of the message.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        // All are UTF-8, or there would be no message, so none is lost.
        self.lines().filter_map(|line| str::from_utf8(line).ok())
    }

    /// The same texts as bytes, which costs less.
    pub fn lines(&self) -> Lines<'_> {
        Lines {
            lines: self.lines.iter(),
            rest: self.rest().iter(),
        }
    }
}

/// The texts of a message that should be puzzles.
#[derive(Debug, Clone)]
pub struct Lines<'a> {
    lines: std::slice::Iter<'a, [u8; LINE]>,
    rest: std::slice::Iter<'a, String>,
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        match self.lines.next() {
            Some([_, _, line @ ..]) => Some(line),
            None => self.rest.next().map(String::as_bytes),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = self.lines.len() + self.rest.len();
        (count, Some(count))
    }
}

impl ExactSizeIterator for Lines<'_> {}

/// A [`SolveManyRequest`] that is written puzzle by puzzle.
///
/// ```
/// use prost::Message;
/// use sudoku_proto::v1::{SolveManyRequest, SolveOptions};
/// use sudoku_proto::wire::{Encode, PuzzleWriter};
///
/// let options = SolveOptions { solution_limit: 1, ..SolveOptions::default() };
/// let mut writer = PuzzleWriter::default();
/// writer.push(&[b'.'; 81]);
/// writer.set_options(Some(options));
///
/// let mut message = Vec::new();
/// writer.encode(&mut message);
/// let puzzles = vec![".".repeat(81)];
/// assert_eq!(message, SolveManyRequest { puzzles, options: Some(options) }.encode_to_vec());
/// ```
#[derive(Debug, Clone, Default)]
pub struct PuzzleWriter {
    lines: Vec<u8>,
    /// A message of the options alone.
    options: SolveManyRequest,
}

impl PuzzleWriter {
    /// A message without puzzles, in which `puzzles` have room without a further allocation.
    pub fn with_capacity(puzzles: usize) -> Self {
        Self {
            lines: Vec::with_capacity(LINE * puzzles),
            options: SolveManyRequest::default(),
        }
    }

    /// Adds a puzzle: its 81 characters, which must be ASCII for the message to be valid.
    pub fn push(&mut self, puzzle: &[u8; CELLS]) {
        let mut line = [0; LINE];
        line[..2].copy_from_slice(&HEADER);
        line[2..].copy_from_slice(puzzle);
        self.lines.extend_from_slice(&line);
    }

    /// Sets the options for all puzzles, or takes them out.
    pub fn set_options(&mut self, options: Option<SolveOptions>) {
        self.options.options = options;
    }

    /// How many puzzles there are.
    pub fn len(&self) -> usize {
        self.lines.len() / LINE
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

impl Encode for PuzzleWriter {
    fn encoded_len(&self) -> usize {
        self.lines.len() + self.options.encoded_len()
    }

    fn encode(&self, frame: &mut impl BufMut) {
        frame.put_slice(&self.lines);
        self.options.encode_raw(frame);
    }
}
