//! The triad rule: a minirow, and a minicolumn, holds exactly three digits.
//!
//! It sees contradictions at once that guesses find only by going through all of them, in puzzles with few clues and no
//! solution: copies of one that took millions of steps take a hundred. But it costs as much as a step, and elsewhere is of
//! little use. So only a search that goes on for long applies it, now and then, to all that it has still to look at.

use super::state::State;
use super::vector::{COLUMNS, ROWS};

/// The steps after which the rule is applied for the first time. Then it is after twice as many, and so on.
const FIRST: u64 = 100;

/// Whether it is time, after so many steps, to apply the rule to every state.
pub(super) fn are_due(steps: u64) -> bool {
    steps.is_multiple_of(FIRST) && (steps / FIRST).is_power_of_two()
}

/// Applies the rule in every box: where only three digits are possible in a line, they are nowhere else in the box; where
/// three digits are possible nowhere else in the box, no other is in that line. Where a line cannot have three digits, the
/// box loses all candidates.
#[cold]
pub(super) fn apply(state: &mut State) {
    for band in 0..3 {
        for stack in 0..3 {
            apply_to_lines(state, band, stack, ROWS, rows_of);
            apply_to_lines(state, band, stack, COLUMNS, columns_of);
        }
    }
}

/// The minirows of a box in which a digit is possible, a nibble each, from its places in the box.
fn rows_of(lane: u16) -> u16 {
    (lane | lane >> 1 | lane >> 2) & 0x111
}

/// The same for minicolumns.
fn columns_of(lane: u16) -> u16 {
    let columns = (lane | lane >> 4 | lane >> 8) & 0x007;
    (columns | columns << 3 | columns << 6) & 0x111
}

/// Counts, for each minirow or each minicolumn of a box, the digits that are possible in it and those that are possible in
/// no other, and does what follows.
fn apply_to_lines(state: &mut State, band: usize, stack: usize, lines: [u16; 3], lines_of: fn(u16) -> u16) {
    let (mut possible, mut forced) = (0, 0);
    for places in &state.places {
        let here = lines_of(places.lane(band, stack));
        possible += here;
        forced += if here & here.wrapping_sub(1) == 0 { here } else { 0 };
    }
    for (nibble, line) in [0, 4, 8].into_iter().zip(lines) {
        let (possible, forced) = (possible >> nibble & 0xf, forced >> nibble & 0xf);
        if possible <= 3 || forced >= 3 {
            apply_to_line(state, band, stack, line, possible, forced);
        }
    }
}

fn apply_to_line(state: &mut State, band: usize, stack: usize, line: u16, possible: u16, forced: u16) {
    for (digit, places) in state.places.iter_mut().enumerate() {
        let lane = places.lane(band, stack);
        let lost = match (possible, forced) {
            (..3, _) | (_, 4..) => lane,
            (3, _) if lane & line != 0 => lane & !line,
            (_, 3) if lane & !line != 0 => lane & line,
            _ => 0,
        };
        if lost != 0 {
            places.0[band] &= !(u64::from(lost) << (16 * stack));
            state.changed |= 1 << (digit / 3);
        }
    }
}
