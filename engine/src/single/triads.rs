//! The triad rule: a minirow, and a minicolumn, holds exactly three digits.
//!
//! It sees contradictions at once that guesses find only by going through all of them, in puzzles with few clues and no
//! solution: copies of one that took millions of steps take a hundred. But it costs as much as a step, and elsewhere is of
//! little use. So only a search that goes on for long applies it, now and then, to all that it has still to look at.

use super::state::State;

const ROWS: [u16; 3] = [0x007, 0x070, 0x700];
const COLUMNS: [u16; 3] = [0x111, 0x222, 0x444];

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
            for lines in [ROWS, COLUMNS] {
                for line in lines {
                    apply_to_line(state, band, stack, line);
                }
            }
        }
    }
}

fn apply_to_line(state: &mut State, band: usize, stack: usize, line: u16) {
    let lanes: [u16; 9] = std::array::from_fn(|digit| state.places[digit].lane(band, stack));
    let possible = lanes.iter().filter(|&lane| lane & line != 0).count();
    let forced = lanes.iter().filter(|&lane| lane & !line == 0).count();
    let lost = |lane: u16| match (possible, forced) {
        (..3, _) | (_, 4..) => lane,
        (3, _) if lane & line != 0 => lane & !line,
        (_, 3) if lane & !line != 0 => lane & line,
        _ => 0,
    };
    for (digit, lane) in lanes.into_iter().enumerate() {
        let lost = lost(lane);
        if lost != 0 {
            state.places[digit].0[band] &= !(u64::from(lost) << (16 * stack));
            state.changed |= 1 << (digit / 3);
        }
    }
}
