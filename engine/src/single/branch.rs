//! The guess: how a state from which nothing follows is split in two.
//!
//! In a band, a digit takes another row in each of the three boxes: six *arrangements*, of which the clues leave some.
//! The search splits on a digit that has two arrangements left in some band or stack, in the one that has the fewest over
//! all digits: little is open there, so either choice soon shows what it is worth. (The rule of tdoku, by Tom Dillon.)
//! Where much is open everywhere, it splits on a cell with the fewest candidates; and if that has two, on another such
//! cell as well, since two guesses at a time cost one propagation. The two have no candidate in common, so that the first
//! does not decide the second.

use super::conflicts::Conflicts;
use super::locked::{Columns, Rows};
use super::state::State;
use super::vector::{Cells, Vector};

/// A band or stack with more arrangements than this, over all digits, is too open to split on. There are 9 at least, 54
/// at most.
const TIGHT: u16 = 19;

/// The same for the first guess of a search.
///
/// From the second guess to the first dead end a search splits on cells only: it may well be on its straight way to a
/// solution, one of many perhaps, and two guesses at a time get it there faster.
const TIGHT_AT_FIRST: u16 = 13;

/// That a digit goes to one of these cells of a box.
///
/// Making it leaves the digit fewer rows, fewer columns or both in that box than before, and one of them.
pub(super) struct Guess {
    pub(super) digit: usize,
    pub(super) band: usize,
    pub(super) stack: usize,
    pub(super) cells: u16,
}

impl Guess {
    /// Splits the last state in two: the one in its place is what is left if the guess is false, the new one, after it,
    /// what is if it is true.
    pub(super) fn split(&self, states: &mut Vec<State>) {
        states.extend_from_within(states.len().saturating_sub(1)..);
        if let [.., rest, first] = states.as_mut_slice() {
            for state in [&mut *rest, &mut *first] {
                state.guessed = (9 * self.digit + 3 * self.band + self.stack) as u8;
                state.changed |= 1 << (self.digit / 3);
            }
            self.rule_out(rest);
            self.make(first);
        }
    }

    /// Takes it as true.
    fn make(&self, state: &mut State) {
        let others = u64::from(!self.cells) << (16 * self.stack);
        state.places[self.digit].0[self.band] &= !others;
    }

    /// Takes it as false.
    fn rule_out(&self, state: &mut State) {
        let cells = u64::from(self.cells) << (16 * self.stack);
        state.places[self.digit].0[self.band] &= !cells;
    }
}

/// Picks a guess for a stalled state, the `first` one of a search or a later one, and perhaps another to make if that one
/// is made.
#[inline(always)]
pub(super) fn pick<V: Vector>(
    token: V::Token,
    state: &State,
    conflicts: &Conflicts,
    first: bool,
) -> (Guess, Option<Guess>) {
    let tight = match (conflicts.any(), first) {
        (true, _) => Some(TIGHT),
        (false, true) => Some(TIGHT_AT_FIRST),
        (false, false) => None,
    };
    match tight.and_then(|tight| pick_pair::<V>(token, state, tight)) {
        Some(guess) => (guess, None),
        None => pick_cells::<V>(token, state),
    }
}

const ROWS: [u16; 3] = [0x007, 0x070, 0x700];
const COLUMNS: [u16; 3] = [0x111, 0x222, 0x444];

/// The lanes that tell of the bands and stacks: of band `i` its box `i`, of stack `i` its box `i + 1`.
const BANDS: Cells = Cells([0xffff, 0xffff << 16, 0xffff << 32, 0]);
const LANES: [(usize, usize); 6] = [(0, 0), (1, 1), (2, 2), (1, 0), (2, 1), (0, 2)];

/// Guesses between the two arrangements that a digit has left in a band or stack, by the minirow or minicolumn that one
/// of them takes in one of the boxes; the rest of it follows. `None` if there is none in a band or stack that is tight.
#[inline(always)]
fn pick_pair<V: Vector>(token: V::Token, state: &State, tight: u16) -> Option<Guess> {
    let [a, b, c] = [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
        .map(|digits| Arrangements::of(token, digits.map(|digit| V::load(token, &state.places[digit]))));
    let bands = V::load(token, &BANDS);
    let pairs = a.row_pairs.or(b.row_pairs.up::<4>()).or(c.row_pairs.up::<8>());
    let column_pairs = a
        .column_pairs
        .or(b.column_pairs.up::<1>())
        .or(c.column_pairs.up::<2>());
    let pairs = pairs.select(column_pairs, bands).store();
    let total = total([a.ways[0], a.ways[1], b.ways[0], b.ways[1], c.ways[0], c.ways[1]]).store();

    let open = LANES
        .into_iter()
        .filter(|&(band, stack)| pairs.lane(band, stack) != 0);
    let (band, stack) = open.min_by_key(|&(band, stack)| total.lane(band, stack))?;
    if total.lane(band, stack) > tight {
        return None;
    }
    let bit = pairs.lane(band, stack).trailing_zeros() as usize;
    let lines = |digit, boxes: [(usize, usize); 3], lines: [u16; 3]| {
        let places: &Cells = state.places.get(digit)?;
        boxes.into_iter().find_map(|(band, stack)| {
            let lane = places.lane(band, stack);
            let held = lines.map(|line| lane & line);
            let two = held.into_iter().filter(|&cells| cells != 0).count() == 2;
            let cells = held.into_iter().find(|&cells| cells != 0)?;
            two.then_some(Guess {
                digit,
                band,
                stack,
                cells,
            })
        })
    };
    if band == stack {
        lines(
            bit / 4 * 3 + [2, 2, 1, 0][bit % 4],
            [0, 1, 2].map(|stack| (band, stack)),
            ROWS,
        )
    } else {
        lines(
            bit % 4 * 3 + bit / 4,
            [0, 1, 2].map(|band| (band, stack)),
            COLUMNS,
        )
    }
}

/// What three digits have left, in the lanes of the bands and stacks.
struct Arrangements<V> {
    /// A bit for each, those in which the boxes take lines one after the other, and those in which they take them one
    /// before the other.
    ways: [V; 2],
    /// Which of the digits have two in a band: bits 3, 2 and 0.
    row_pairs: V,
    /// Which of the digits have two in a stack: bits 0, 4 and 8.
    column_pairs: V,
}

impl<V: Vector> Arrangements<V> {
    #[inline(always)]
    fn of(token: V::Token, places: [V; 3]) -> Self {
        let rows = Rows::of(token, places);
        let by_row = rows.ways().map(|way| way.and(rows.here));
        let columns = Columns::of(token, places);
        let by_column = columns.ways().map(|way| way.and(columns.here));
        let row_pairs = two_of_six(by_row.map(|way| [way, way.down::<4>(), way.down::<8>()]));
        let column_pairs = two_of_six(by_column.map(|way| [way, way.down::<1>(), way.down::<2>()]));
        let bands = V::load(token, &BANDS);
        Self {
            ways: [0, 1].map(|way| by_row[way].select(by_column[way], bands)),
            row_pairs: row_pairs.and(V::splat(token, 0x00d)),
            column_pairs: column_pairs.and(V::splat(token, 0x111)),
        }
    }
}

/// How many bits of six sets are set, for each lane.
#[inline(always)]
fn total<V: Vector>([a, b, c, d, e, f]: [V; 6]) -> V {
    let (x, y) = (odd_and_two([a, b, c]), odd_and_two([d, e, f]));
    let ones = x.0.xor(y.0);
    let (twos, fours) = odd_and_two([x.1, y.1, x.0.and(y.0)]);
    let (ones, twos, fours) = (ones.count(), twos.count(), fours.count());
    ones.add(twos.up::<1>()).add(fours.up::<2>())
}

/// The two digits of a binary sum of three bits.
#[inline(always)]
fn odd_and_two<V: Vector>([a, b, c]: [V; 3]) -> (V, V) {
    (a.xor(b).xor(c), a.and(b).or(a.or(b).and(c)))
}

/// The bits that are set in exactly two of six sets.
#[inline(always)]
fn two_of_six<V: Vector>(sets: [[V; 3]; 2]) -> V {
    let [(odd, two), (other_odd, other_two)] = sets.map(odd_and_two);
    let one_and_one = odd.and(other_odd).without(two.or(other_two));
    let two_and_none = two.xor(other_two).without(odd.or(other_odd));
    one_and_one.or(two_and_none)
}

/// Guesses a candidate of the first cell with two, and one of the last such cell that has other candidates. Where no cell
/// has two, of the first with three, or else with more.
#[inline(always)]
fn pick_cells<V: Vector>(token: V::Token, state: &State) -> (Guess, Option<Guess>) {
    let none = V::splat(token, 0);
    let (mut one, mut two, mut three, mut four) = (none, none, none, none);
    for places in &state.places {
        let places = V::load(token, places);
        four = four.or(three.and(places));
        three = three.or(two.and(places));
        two = two.or(one.and(places));
        one = one.or(places);
    }
    let (pairs, triples) = (two.without(three), three.without(four));
    if pairs.is_zero() {
        let cells = if triples.is_zero() { two } else { triples };
        return (guess_candidate(state, first(&cells.store())), None);
    }
    let mut pairs = pairs.store();
    let (band, bit) = first(&pairs);
    let candidates = state
        .places
        .iter()
        .filter(|places| places.0[band] >> bit & 1 == 1);
    for candidate in candidates {
        for (word, places) in pairs.0.iter_mut().zip(candidate.0) {
            *word &= !places;
        }
    }
    let other = (pairs != Cells::default()).then(|| guess_candidate(state, last(&pairs)));
    (guess_candidate(state, (band, bit)), other)
}

/// The word and the bit of the first of some cells.
fn first(cells: &Cells) -> (usize, usize) {
    let word = cells.0.iter().position(|&word| word != 0).unwrap_or(0) % 3;
    (word, cells.0[word].trailing_zeros() as usize % 64)
}

/// The word and the bit of the last of some cells.
fn last(cells: &Cells) -> (usize, usize) {
    let word = cells.0.iter().rposition(|&word| word != 0).unwrap_or(0) % 3;
    (word, (cells.0[word] | 1).ilog2() as usize)
}

/// Guesses the lowest candidate of a cell.
fn guess_candidate(state: &State, (band, bit): (usize, usize)) -> Guess {
    let holds = |digit: &usize| state.places[*digit].0[band] >> bit & 1 == 1;
    Guess {
        digit: (0..9).find(holds).unwrap_or(0),
        band,
        stack: bit / 16,
        cells: 1 << (bit % 16),
    }
}
