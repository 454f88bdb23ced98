//! What follows from a state without guessing: naked singles, hidden singles and locked candidates.
//!
//! A sweep applies each rule to all cells at once, and sweeps follow each other until one changes nothing. Singles are
//! looked for in boxes only. A digit that has one place in a row has one minirow there, so the locked candidates leave
//! its box no other minirow, and it is a hidden single of the box; a digit placed in a box is likewise locked into its
//! row and column, from which they drop it elsewhere.

use super::state::State;
use super::vector::{Cells, Vector};

/// What propagation makes of a state.
pub(super) enum Outcome {
    /// It has no solution.
    Dead,
    /// Every cell has one candidate.
    Complete,
    /// Nothing more follows.
    Stalled,
}

/// The same statements for each digit, 0 to 8, the digit a constant in each: the arrays indexed by it can then stay in
/// registers, which no loop allows.
macro_rules! for_each_digit {
    ($digit:ident => $body:block) => {
        for_each_digit!(@ $digit $body 0 1 2 3 4 5 6 7 8)
    };
    (@ $digit:ident $body:block $($value:literal)*) => {
        $({ let $digit = $value; $body })*
    };
}
pub(super) use for_each_digit;

/// Sweeps until a state is dead or complete, or nothing more follows.
#[inline(always)]
pub(super) fn propagate<V: Vector>(token: V::Token, state: &mut State) -> Outcome {
    let mut places = state.places.map(|cells| V::load(token, &cells));
    let outcome = loop {
        if let Some(outcome) = sweep(token, &mut places) {
            break outcome;
        }
    };
    state.places = places.map(V::store);
    outcome
}

/// Applies each rule once. `None` if something changed and nothing is settled.
#[inline(always)]
fn sweep<V: Vector>(token: V::Token, places: &mut [V; 9]) -> Option<Outcome> {
    let all = V::load(token, &Cells::ALL);
    let before = *places;
    let (one, two) = candidates(&before);
    if !all.without(one).is_zero() {
        return Some(Outcome::Dead);
    }
    if two.is_zero() {
        return Some(Outcome::Complete);
    }
    let none = all.without(all);
    let mut hidden = before;
    let (mut taken, mut clash) = (none, none);
    for_each_digit!(digit => {
        let naked = before[digit].without(two);
        let open = naked.empty_lanes();
        let here = naked.or(before[digit].and(open));
        let rest = here.drop_lowest();
        let single = here.and(rest.empty_lanes());
        // Two naked singles of a digit in a box, or two hidden singles in a cell.
        clash = clash.or(rest.without(open)).or(taken.and(single));
        taken = taken.or(single);
        places[digit] = here;
        hidden[digit] = single;
    });
    if !clash.is_zero() {
        return Some(Outcome::Dead);
    }
    let free = all.without(taken);
    let mut lost = none;
    for_each_digit!(digit => {
        let here = places[digit].and(hidden[digit].or(free));
        let here = lock_columns(token, lock_rows(token, here));
        lost = lost.or(before[digit].without(here));
        places[digit] = here;
    });
    lost.is_zero().then_some(Outcome::Stalled)
}

/// The cells with a candidate, and those with two or more.
#[inline(always)]
fn candidates<V: Vector>(places: &[V; 9]) -> (V, V) {
    let [a, b, c, d, e, f, g, h, i] = *places;
    let [x, y, z] = [[a, b, c], [d, e, f], [g, h, i]].map(one_and_two);
    let (one, two) = one_and_two([x.0, y.0, z.0]);
    (one, two.or(x.1).or(y.1).or(z.1))
}

/// What is in one of three sets or more, and what is in two or more.
#[inline(always)]
fn one_and_two<V: Vector>([a, b, c]: [V; 3]) -> (V, V) {
    let either = a.or(b);
    (either.or(c), a.and(b).or(either.and(c)))
}

/// Locked candidates in the rows, exactly: keeps the minirows that are in some way to give each box of a band another
/// row.
///
/// A box can take a row if the other two boxes can take the other two rows, one way round or the other.
#[inline(always)]
pub(super) fn lock_rows<V: Vector>(token: V::Token, places: V) -> V {
    let (next, previous) = other_rows(token, places);
    let kept = next.and(previous.down::<4>()).or(next.down::<4>().and(previous));
    places.and(kept.sub(kept.down::<3>()))
}

/// For the boxes next to and before each one in its band, which rows are possible: bit 3 of nibble `i` for the row
/// `i + 1` rows further down, nibble 3 like nibble 0.
#[inline(always)]
pub(super) fn other_rows<V: Vector>(token: V::Token, places: V) -> (V, V) {
    let rows = rows(token, places);
    let turned = rows.down::<4>().or(rows.up::<8>());
    (turned.next_in_band(), turned.previous_in_band())
}

/// Bit 3 of nibble `row` of a box: whether it has a place in that row.
#[inline(always)]
pub(super) fn rows<V: Vector>(token: V::Token, places: V) -> V {
    places.add(V::splat(token, 0x777)).and(V::splat(token, 0x888))
}

/// Locked candidates in the columns: [`lock_rows`] turned by 90 degrees.
#[inline(always)]
pub(super) fn lock_columns<V: Vector>(token: V::Token, places: V) -> V {
    let (next, previous) = other_columns(token, places);
    let kept = next.and(previous.down::<1>()).or(next.down::<1>().and(previous));
    places.and(kept.and(V::splat(token, 7)).repeat_rows())
}

/// For the boxes next to and before each one in its stack, which columns are possible: bit `i` for the column `i + 1`
/// columns further right, bit 3 like bit 0. The other bits are unspecified.
#[inline(always)]
pub(super) fn other_columns<V: Vector>(token: V::Token, places: V) -> (V, V) {
    let columns = columns(token, places);
    let turned = columns.down::<1>().or(columns.up::<2>());
    (turned.next_in_stack(), turned.previous_in_stack())
}

/// Bit `column` of a box: whether it has a place in that column.
#[inline(always)]
pub(super) fn columns<V: Vector>(token: V::Token, places: V) -> V {
    let all = places.or(places.down::<4>()).or(places.down::<8>());
    all.and(V::splat(token, 7))
}
