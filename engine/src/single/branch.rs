//! The guess: how a state from which nothing follows is split in two.
//!
//! In a band, a digit takes another row in each of the three boxes: six *arrangements*, of which the clues leave some.
//! The search splits on a digit that has two arrangements left in some band or stack, in the one that has the fewest over
//! all digits: little is open there, so either choice soon shows what it is worth. (The rule of tdoku, by Tom Dillon.)
//! Where much is open everywhere, it splits on a cell with the fewest candidates; and if that has two, on another such
//! cell as well, since two guesses at a time cost one propagation. The two have no candidate in common, so that the first
//! does not decide the second.
//!
//! Of several choices that are as good, none is taken because it comes first, unless the puzzle is easy: how a puzzle is
//! numbered must not decide how long its search takes.

use super::cells;
use super::conflicts::Conflicts;
use super::locked::{Columns, Rows};
use super::stack::Stack;
use super::state::State;
use super::vector::{COLUMNS, Cells, Kernel, ROWS, Vector};

/// A band or stack with more arrangements than this, over all digits, is too open to split on. There are 9 at least, 54
/// at most.
const TIGHT: u16 = 19;

/// That a digit goes to one of these cells of a box.
///
/// Making it leaves the digit fewer rows, fewer columns or both in that box than before, and one of them.
pub(super) struct Guess {
    pub(super) digit: usize,
    pub(super) band: usize,
    pub(super) stack: usize,
    pub(super) cells: u16,
    /// The digit that takes them if this one does not: the other candidate, if they are one cell with two.
    pub(super) other: Option<usize>,
}

impl Guess {
    /// That a digit goes to the cell of a bit of the word of a band.
    pub(super) fn cell(digit: usize, (band, bit): (usize, usize)) -> Self {
        Self {
            digit,
            band,
            stack: bit / 16,
            cells: 1 << (bit % 16),
            other: None,
        }
    }

    /// Splits the last state in two: the one in its place is what is left if the guess is false, the new one, after it,
    /// what is if it is true.
    #[inline(always)]
    fn split<V: Vector>(&self, token: V::Token, stack: &mut Stack) {
        let (rest, first) = stack.double::<V>(token);
        let cells = u64::from(self.cells) << (16 * self.stack);
        let others = u64::from(!self.cells) << (16 * self.stack);
        rest.places[self.digit].0[self.band] &= !cells;
        first.places[self.digit].0[self.band] &= !others;
        let mut changed = 1 << (self.digit / 3);
        if let Some(other) = self.other {
            rest.places[other].0[self.band] &= !others;
            first.places[other].0[self.band] &= !cells;
            changed |= 1 << (other / 3);
        }
        for state in [rest, first] {
            state.guessed = (9 * self.digit + 3 * self.band + self.stack) as u8;
            state.changed |= changed;
        }
    }
}

/// Makes a guess, and perhaps another one where the first is true.
pub(super) struct Split<'a> {
    pub(super) stack: &'a mut Stack,
    pub(super) guess: Guess,
    pub(super) another: Option<Guess>,
}

impl Kernel for Split<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, token: V::Token) {
        self.guess.split::<V>(token, self.stack);
        if let Some(another) = self.another {
            another.split::<V>(token, self.stack);
        }
    }
}

/// Picks a guess for a stalled state, and perhaps another to make if that one is made.
///
/// As long as there are few dead ends all guesses are on cells: if the search is on its straight way to a solution, two
/// guesses at a time get it there faster.
#[inline(always)]
pub(super) fn pick<V: Vector>(
    token: V::Token,
    state: &State,
    conflicts: &Conflicts,
) -> (Guess, Option<Guess>) {
    let early = conflicts.are_few();
    let pair = if early { None } else { pick_pair::<V>(token, state) };
    match pair {
        Some(guess) => (guess, None),
        None => cells::pick::<V>(token, state, early),
    }
}

/// The lanes that tell of the bands and stacks: of band `i` its box `i`, of stack `i` its box `i + 1`.
const BANDS: Cells = Cells([0xffff, 0xffff << 16, 0xffff << 32, 0]);
const LANES: [(usize, usize); 6] = [(0, 0), (1, 1), (2, 2), (1, 0), (2, 1), (0, 2)];

/// Guesses between the two arrangements that a digit has left in a band or stack, by the minirow or minicolumn that one
/// of them takes in one of the boxes; the rest of it follows. Among those in the tightest bands and stacks it is the digit
/// that has the fewest places there. `None` if there is none in a band or stack that is tight.
#[inline(always)]
fn pick_pair<V: Vector>(token: V::Token, state: &State) -> Option<Guess> {
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

    // No branch could be predicted here, so the least total is found among numbers, and lanes without a pair come last.
    let key = |(band, stack): (usize, usize)| {
        let closed = u16::from(pairs.lane(band, stack) == 0);
        closed << 15 | total.lane(band, stack)
    };
    let least = LANES.into_iter().map(key).fold(u16::MAX, u16::min);
    if least > TIGHT {
        return None;
    }
    let mut fewest = (u32::MAX, None);
    for lane in LANES.into_iter().filter(|&lane| key(lane) == least) {
        let mut bits = pairs.lane(lane.0, lane.1);
        while bits != 0 {
            let pair = Pair::new(lane, bits.trailing_zeros() as usize);
            let places = pair.places(state);
            if places < fewest.0 {
                fewest = (places, Some(pair));
            }
            bits &= bits - 1;
        }
    }
    fewest.1?.guess(state)
}

/// A digit that has two arrangements in a band or stack.
struct Pair {
    digit: usize,
    line: Line,
}

enum Line {
    Band(usize),
    Stack(usize),
}

impl Pair {
    /// The one of a bit in the lane that tells of its band or stack.
    fn new((band, stack): (usize, usize), bit: usize) -> Self {
        if band == stack {
            let digit = bit / 4 * 3 + [2, 2, 1, 0][bit % 4];
            let line = Line::Band(band);
            Self { digit, line }
        } else {
            let digit = bit % 4 * 3 + bit / 4;
            let line = Line::Stack(stack);
            Self { digit, line }
        }
    }

    /// The places that are left for the digit there.
    fn places(&self, state: &State) -> u32 {
        let Some(places) = state.places.get(self.digit) else {
            return u32::MAX;
        };
        match self.line {
            Line::Band(band) => places.0[band].count_ones(),
            Line::Stack(stack) => {
                let boxes = 0xffff << (16 * stack);
                places.0.iter().map(|word| (word & boxes).count_ones()).sum()
            }
        }
    }

    fn guess(&self, state: &State) -> Option<Guess> {
        match self.line {
            Line::Band(band) => guess_line(state, self.digit, [(band, 0), (band, 1)], ROWS),
            Line::Stack(stack) => guess_line(state, self.digit, [(0, stack), (1, stack)], COLUMNS),
        }
    }
}

/// Guesses the first line of a digit in a box of a band or stack in which it has two arrangements. They differ in two
/// boxes at least, so in one of the first two.
fn guess_line(state: &State, digit: usize, boxes: [(usize, usize); 2], lines: [u16; 3]) -> Option<Guess> {
    let places = state.places.get(digit)?;
    let [one, other] = boxes;
    let lane = places.lane(one.0, one.1);
    let held = lines
        .into_iter()
        .map(|line| u8::from(lane & line != 0))
        .sum::<u8>();
    let (band, stack) = if held == 2 { one } else { other };
    let lane = places.lane(band, stack);
    let first = lane & lines[0];
    let cells = if first == 0 { lane & lines[1] } else { first };
    let splits = cells != 0 && cells != lane;
    splits.then_some(Guess {
        digit,
        band,
        stack,
        cells,
        other: None,
    })
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
