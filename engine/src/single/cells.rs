//! Guesses on cells.
//!
//! A cell with two candidates is good to guess on if both digits have many other places in its units: whichever of the two
//! it holds, much follows. Those in its minirow and minicolumn do not tell much, as locked candidates are found without a
//! guess. Choosing by such a number also makes the search of a puzzle much the same however its rows, columns and digits
//! are ordered, where choosing the first cell may lead astray in one order and straight to the end in another.

use super::branch::Guess;
use super::state::State;
use super::vector::{Cells, Kernel, Vector};

/// In an early search, cells are compared only if fewer than one in so many has two candidates: where they are many,
/// the puzzle is easy, and nearly any will do.
const FEW: u32 = 5;

/// The places that count for a cell, by its bit in the word of its band: those in that word, and in the words of the other
/// bands. They are in its row and column, outside its box, or in its box, but neither in its row nor in its column.
const SEEN: [(u64, u64); 64] = {
    let mut seen = [(0, 0); 64];
    let mut bit = 0;
    while bit < 48 {
        let (stack, row, column) = (bit / 16, bit % 16 / 4, bit % 4);
        if row < 3 && column < 3 {
            let minirow = 0x007 << (4 * row);
            let minicolumn = 0x111 << column;
            let of_row = minirow | minirow << 16 | minirow << 32;
            let rest = 0x777 & !(minirow | minicolumn);
            let own = of_row & !(0xffff << (16 * stack)) | rest << (16 * stack);
            seen[bit] = (own, minicolumn << (16 * stack));
        }
        bit += 1;
    }
    seen
};

/// Guesses a candidate of a cell with two, and one of another such cell that has other candidates. Where no cell has two,
/// of one with three, or else with more. `early` is whether dead ends were few so far.
#[inline(always)]
pub(super) fn pick<V: Vector>(token: V::Token, state: &State, early: bool) -> (Guess, Option<Guess>) {
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
        let (cells, heavy) = (cells.store(), None);
        return (V::run(token, Compare { state, cells, heavy }).guess(), None);
    }
    let (open, pairs) = (two.store(), pairs.store());
    if early && open.len() < FEW * pairs.len() {
        let choice = Choice::at(state, first(&pairs));
        let apart = choice.apart(state, &pairs);
        let other = (apart != Cells::default()).then(|| Choice::at(state, last(&apart)).guess_of_two());
        return (choice.guess_of_two(), other);
    }
    let heavy = early.then_some(pairs);
    let choice = V::run(
        token,
        Compare {
            state,
            cells: pairs,
            heavy,
        },
    );
    let cells = choice.apart(state, &pairs);
    let other =
        (cells != Cells::default()).then(|| V::run(token, Compare { state, cells, heavy }).guess_of_two());
    (choice.guess_of_two(), other)
}

/// The word and the bit of the first of some cells.
fn first(cells: &Cells) -> (usize, usize) {
    let [a, b, ..] = cells.0;
    let word = usize::from(a == 0) + usize::from(a | b == 0);
    (word, cells.0[word].trailing_zeros() as usize % 64)
}

/// The word and the bit of the last of some cells.
fn last(cells: &Cells) -> (usize, usize) {
    let [_, b, c, _] = cells.0;
    let word = 2 - usize::from(c == 0) - usize::from(b | c == 0);
    (word, (cells.0[word] | 1).ilog2() as usize)
}

/// A cell and the digit to guess there.
struct Choice {
    /// The word and the bit of the cell.
    cell: (usize, usize),
    digit: usize,
    /// Another of its candidates.
    other: usize,
}

impl Choice {
    /// The lowest candidate of a cell.
    #[inline(always)]
    fn at(state: &State, cell: (usize, usize)) -> Self {
        let candidates = candidates(state, cell);
        Self {
            cell,
            digit: candidates.trailing_zeros() as usize % 9,
            other: (candidates | 1).ilog2() as usize % 9,
        }
    }

    /// The cells that share no candidate with this one, which has two.
    #[inline(always)]
    fn apart(&self, state: &State, cells: &Cells) -> Cells {
        let [taken, spare] = [self.digit, self.other].map(|digit| &state.places[digit]);
        Cells([0, 1, 2, 3].map(|word| cells.0[word] & !(taken.0[word] | spare.0[word])))
    }

    fn guess(&self) -> Guess {
        Guess::cell(self.digit, self.cell)
    }

    /// The guess, if the cell has two candidates.
    fn guess_of_two(&self) -> Guess {
        let other = Some(self.other);
        Guess {
            other,
            ..self.guess()
        }
    }
}

/// Finds the cell whose candidates have the most places that count, and the candidate that has more of them.
struct Compare<'a> {
    state: &'a State,
    cells: Cells,
    /// The places that count three times; if `None`, all that are outside the cell's box.
    heavy: Option<Cells>,
}

impl Kernel for Compare<'_> {
    type Output = Choice;

    #[inline(always)]
    fn run<V: Vector>(self, _: V::Token) -> Choice {
        let (mut best, mut most) = (
            Choice {
                cell: (0, 0),
                digit: 0,
                other: 0,
            },
            0,
        );
        for band in 0..3 {
            let mut word = self.cells.0[band];
            while word != 0 {
                let cell = (band, word.trailing_zeros() as usize);
                word &= word - 1;
                let (score, choice) = self.score(cell);
                // Not `>`: there may be nothing that counts.
                if score >= most {
                    (best, most) = (choice, score);
                }
            }
        }
        best
    }
}

impl Compare<'_> {
    /// The score of a cell: the places that count for it, and if there are as many, those for one candidate.
    #[inline(always)]
    fn score(&self, cell: (usize, usize)) -> (u32, Choice) {
        let (mut sum, mut most, mut choice) = (
            0,
            0,
            Choice {
                cell,
                digit: 0,
                other: 0,
            },
        );
        let mut candidates = candidates(self.state, cell);
        while candidates != 0 {
            let digit = candidates.trailing_zeros() as usize % 9;
            candidates &= candidates - 1;
            let seen = self.seen(digit, cell);
            sum += seen;
            if seen >= most {
                (most, choice.digit, choice.other) = (seen, digit, choice.digit);
            } else {
                choice.other = digit;
            }
        }
        (sum << 8 | most, choice)
    }

    /// The places of a digit that count for a cell.
    #[inline(always)]
    fn seen(&self, digit: usize, (band, bit): (usize, usize)) -> u32 {
        let (own, other) = SEEN[bit % 64];
        let this_box = 0xffff << (bit / 16 * 16);
        let mut count = 0;
        for word in 0..3 {
            let seen = self.state.places[digit].0[word] & if word == band { own } else { other };
            let heavy = match self.heavy {
                Some(heavy) => seen & heavy.0[word],
                None if word == band => seen & !this_box,
                None => seen,
            };
            count += seen.count_ones() + 2 * heavy.count_ones();
        }
        count
    }
}

/// The candidates of a cell, a bit for each digit.
#[inline(always)]
fn candidates(state: &State, (band, bit): (usize, usize)) -> u16 {
    // Without branches: none could be predicted.
    let holds = |places: &Cells| (places.0[band] >> bit & 1) as u16;
    (0..)
        .zip(&state.places)
        .fold(0, |all, (digit, places)| all | holds(places) << digit)
}

#[cfg(test)]
mod tests {
    use super::super::vector::Portable;
    use super::*;
    use crate::Grid;

    /// Two digits are in the same four cells of a box and nowhere else, so no place counts for any of the four.
    #[test]
    fn a_guess_is_on_a_candidate_even_if_no_place_counts() {
        let mut state = State::NONE;
        assert!(state.set::<Portable>((), &Grid::EMPTY));
        let corner = 0x033;
        for digit in [3, 7] {
            state.places[digit] = Cells([corner, 0, 0, 0]);
        }
        for digit in [0, 1, 2, 4, 5, 6, 8] {
            state.places[digit].0[0] &= !corner;
        }
        for early in [true, false] {
            let (guess, _) = pick::<Portable>((), &state, early);
            assert!(guess.digit == 3 || guess.digit == 7);
            assert_ne!(u64::from(guess.cells) & corner, 0);
        }
    }
}
