//! The two `SolveMany` messages at little cost a puzzle, and the stubs of the service with them.
//!
//! The wire format is that of the contract, byte for byte, and so is what is refused. What differs is that no puzzle and
//! no solution becomes a `String`: a message that was received stays as it came, and its lines are read in place; one to
//! be sent is written as it will travel. Who reads and who writes a message are two programs, so each of the two has two
//! types:
//!
//! | message | written by | as | read by | as |
//! |---|---|---|---|---|
//! | [`SolveManyRequest`](crate::v1::SolveManyRequest) | a client | [`PuzzleWriter`] | a server | [`Puzzles`] |
//! | [`SolveManyResponse`](crate::v1::SolveManyResponse) | a server | [`ResultWriter`] | a client | [`Results`] |
//!
//! Only the usual forms are read and written here: puzzles and solutions of 81 characters, one after the other, and
//! results that consist of them. Whatever else may stand in a message is left to `prost`, which so decides what it means
//! and whether it is allowed. The types of [`v1`](crate::v1) are the simpler ones to use, at some 100 ns a puzzle.

mod codec;
mod puzzles;
mod results;

pub use codec::{Codec, Decode, Decoder, Encode, Encoder};
pub use puzzles::{Lines, PuzzleWriter, Puzzles};
pub use results::{Found, ResultWriter, Results, Solutions};

// The client as generated for the types above, and the server of the methods without streams: whoever serves
// `SolveMany` with these types has the frames of gRPC in hand itself, as a stub has no place for a message that is
// borrowed from one.
include!(concat!(
    env!("OUT_DIR"),
    "/wire_client/sudoku.v1.SudokuService.rs"
));
include!(concat!(
    env!("OUT_DIR"),
    "/wire_server/sudoku.v1.SudokuService.rs"
));

/// The characters of a puzzle or a solution.
const CELLS: usize = 81;

/// A field of 81 characters: its tag, its length and the characters.
const LINE: usize = 2 + CELLS;

/// The tag and the length before the 81 characters of field `number`, a string.
const fn line_header(number: u8) -> [u8; 2] {
    [length_delimited(number), CELLS as u8]
}

/// The tag of field `number`, a string or a message.
const fn length_delimited(number: u8) -> u8 {
    number << 3 | 2
}

/// The tag of field `number`, an integer.
const fn varint(number: u8) -> u8 {
    number << 3
}

/// How many fields of 81 characters, all of them ASCII, a message begins with.
fn count_lines(encoded: &[u8], header: [u8; 2]) -> usize {
    let (lines, _) = encoded.as_chunks::<LINE>();
    if are_lines(lines, header) {
        return lines.len();
    }
    let is_line = |line: &[u8; LINE]| line.starts_with(&header) && line.is_ascii();
    lines
        .iter()
        .position(|line| !is_line(line))
        .unwrap_or(lines.len())
}

/// Whether all are such fields, as nearly always. All are looked at in one go: compilers make vectors of this, and
/// `is_ascii` goes through the end of a slice byte by byte.
fn are_lines(lines: &[[u8; LINE]], [tag, length]: [u8; 2]) -> bool {
    let mut others = 0;
    let mut seen = [0; LINE];
    for line in lines {
        others |= (line[0] ^ tag) | (line[1] ^ length);
        seen.iter_mut().zip(line).for_each(|(seen, byte)| *seen |= byte);
    }
    others == 0 && seen.iter().fold(0, |all, byte| all | byte).is_ascii()
}
