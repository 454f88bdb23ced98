//! The guess: how a state from which nothing follows is split in two.
//!
//! In a band, a digit takes another row in each of the three boxes: six *arrangements*, of which the clues leave some.
//! The search splits on a digit that has two arrangements left in some band or stack, in the one that has the fewest over
//! all digits: little is open there, so either choice soon shows what it is worth. (The rule of tdoku, by Tom Dillon.)
//! Where no digit has exactly two, which takes few clues, it splits on a cell with the fewest candidates.

use super::propagate::{columns, for_each_digit, other_columns, other_rows, rows};
use super::state::{PLACES, State};
use super::vector::{Cells, Vector};

/// The two states that together hold the solutions of a stalled one: what is searched first, and the rest.
///
/// In the first a digit has one arrangement left in a band or stack, or a cell has one candidate, that had more before.
#[inline(always)]
pub(super) fn split<V: Vector>(token: V::Token, state: &State) -> [State; 2] {
    let Some((digit, ways)) = pick_arrangements::<V>(token, state) else {
        return split_cell(state);
    };
    ways.map(|way| {
        let mut next = *state;
        let places = V::load(token, &state.places[digit]);
        next.places[digit] = places.and(V::load(token, &way)).store();
        next
    })
}

/// Which arrangements are left for a digit, a lane for each band and stack.
///
/// Band `i` is told in box `i` of the band, stack `i` in box `i + 1` of the stack. A bit is an arrangement, by the row
/// (or column) that this box takes: the boxes after it take those after it (bits 3, 7 and 11 of a band, 0, 1 and 2 of a
/// stack), or those before it (bits 2, 6 and 10, or 4, 5 and 6).
#[inline(always)]
fn arrangements<V: Vector>(token: V::Token, places: V) -> V {
    let (next, previous) = other_rows(token, places);
    let here = rows(token, places);
    let after = here.and(next).and(previous.down::<4>());
    let before = here.and(next.down::<4>()).and(previous);
    let bands = after.or(before.down::<1>());

    let (next, previous) = other_columns(token, places);
    let here = columns(token, places);
    let after = here.and(next).and(previous.down::<1>());
    let before = here.and(next.down::<1>()).and(previous);
    let stacks = after.or(before.up::<4>());

    const BANDS: Cells = Cells([0xffff, 0xffff << 16, 0xffff << 32, 0]);
    const STACKS: Cells = Cells([0xffff << 32, 0xffff, 0xffff << 16, 0]);
    bands
        .and(V::load(token, &BANDS))
        .or(stacks.and(V::load(token, &STACKS)))
}

/// A digit with two arrangements left in some band or stack, with the places that each of the two leaves it.
#[inline(always)]
fn pick_arrangements<V: Vector>(token: V::Token, state: &State) -> Option<(usize, [Cells; 2])> {
    let mut left = [Cells::default(); 9];
    // For each band and stack, the digits with two arrangements, and the arrangements of all digits.
    let (mut pairs, mut total) = (V::splat(token, 0), V::splat(token, 0));
    for_each_digit!(digit => {
        let all = arrangements(token, V::load(token, &state.places[digit]));
        let second = all.drop_lowest();
        let pair = second.drop_lowest().empty_lanes().without(second.empty_lanes());
        pairs = pairs.or(pair.and(V::splat(token, 1 << digit)));
        total = total.add(all.count());
        left[digit] = all.store();
    });
    let (pairs, total) = (pairs.store(), total.store());
    let (band, stack) = [(0, 0), (1, 1), (2, 2), (1, 0), (2, 1), (0, 2)]
        .into_iter()
        .filter(|&(band, stack)| pairs.lane(band, stack) != 0)
        .min_by_key(|&(band, stack)| total.lane(band, stack))?;
    let digit = pairs.lane(band, stack).trailing_zeros() as usize;
    let ways = left.get(digit)?.lane(band, stack);
    let first = ways.trailing_zeros();
    let second = (ways & ways.wrapping_sub(1)).trailing_zeros();
    Some((
        digit,
        [first, second].map(|bit| arrangement(band, stack, bit as usize)),
    ))
}

/// The cells that an arrangement leaves to its digit. It is named by its lane and bit in [`arrangements`].
fn arrangement(band: usize, stack: usize, bit: usize) -> Cells {
    let mut cells = Cells::ALL;
    if band == stack {
        let (row, step) = (bit / 4, if bit % 4 == 3 { 1 } else { 2 });
        cells.0[band] = 0;
        for i in 0..3 {
            let box_at = 16 * ((stack + i) % 3);
            cells.0[band] |= 0b111 << (box_at + 4 * ((row + i * step) % 3));
        }
    } else {
        let (column, step) = (bit % 4, if bit < 4 { 1 } else { 2 });
        for i in 0..3 {
            let word = &mut cells.0[(band + i) % 3];
            *word &= !(0xfff << (16 * stack));
            *word |= 0x111 << (16 * stack + (column + i * step) % 3);
        }
    }
    cells
}

/// Splits on the lowest candidate of a cell with the fewest, but two or more.
fn split_cell(state: &State) -> [State; 2] {
    let candidates = |(word, bit): (u8, u8)| {
        let digits = (0..).zip(&state.places);
        digits.fold(0_u16, |all, (digit, places)| {
            all | ((places.0[usize::from(word)] >> bit & 1) as u16) << digit
        })
    };
    let counted = PLACES.map(|place| (candidates(place).count_ones(), place));
    let open = counted.into_iter().filter(|&(count, _)| count > 1);
    let mut ways = [*state; 2];
    if let Some((_, (word, bit))) = open.min() {
        let chosen = candidates((word, bit)).trailing_zeros() as usize;
        for digit in 0..9 {
            let way = usize::from(digit == chosen);
            ways[way].places[digit].0[usize::from(word)] &= !(1 << bit);
        }
    }
    ways
}
