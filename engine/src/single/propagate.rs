//! What follows from a state without guessing: locked candidates, naked singles and hidden singles.
//!
//! A sweep applies each rule to all cells at once, and sweeps follow each other until one finds no single. Singles are
//! looked for, and taken out of the other cells, in boxes only. The locked candidates do the rest: a digit with one place
//! in a row has one minirow there, so its box keeps no other minirow for it, and it is a hidden single of the box; and a
//! digit placed in a box is locked into its row and column, so these lose it in the other boxes.

use super::locked::lock;
use super::state::{NO_GUESS, State};
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

/// Sweeps until a state is dead or complete, or nothing more follows.
///
/// The first sweep locks only the digits that a guess changed, with their group of three: the others have been at rest.
/// After a guess in an early search, a sweep that took next to nothing out is the last: with many solutions ahead the next
/// guess tells more than another sweep.
#[inline(always)]
pub(super) fn propagate<V: Vector>(token: V::Token, state: &mut State, early: bool) -> Outcome {
    let guessed = state.guessed != NO_GUESS;
    let hasty = guessed && early;
    let mut changed = state.changed;
    state.changed = 0;
    let groups = state.places.as_chunks_mut::<3>().0;
    while let Some(group) = groups.get_mut(changed.trailing_zeros() as usize) {
        *group = lock(token, group.map(|cells| V::load(token, &cells))).map(V::store);
        changed &= changed - 1;
    }
    let mut places = state.places.map(|cells| V::load(token, &cells));
    // The guess counts as a loss of the first sweep, which has not yet locked what follows from it.
    let mut lost = V::splat(token, u16::from(guessed));
    let outcome = loop {
        if let Some(outcome) = place_singles(token, &mut places, lost, hasty) {
            break outcome;
        }
        lost = V::splat(token, 0);
        let [a, b, c, d, e, f, g, h, i] = places;
        let [a, b, c] = lock(token, [a, b, c]);
        let [d, e, f] = lock(token, [d, e, f]);
        let [g, h, i] = lock(token, [g, h, i]);
        places = [a, b, c, d, e, f, g, h, i];
    };
    state.places = places.map(V::store);
    outcome
}

/// Takes naked and hidden singles out of the other candidates of their box and cell. `None` if there were any to take out
/// and nothing is settled.
///
/// `lost` is where there were losses before. A `hasty` caller takes next to none for none, if there is a cell to guess on.
#[inline(always)]
fn place_singles<V: Vector>(
    token: V::Token,
    places: &mut [V; 9],
    mut lost: V,
    hasty: bool,
) -> Option<Outcome> {
    let all = V::load(token, &Cells::ALL);
    let (one, two) = candidates(places);
    if !all.without(one).is_zero() {
        return Some(Outcome::Dead);
    }
    if two.is_zero() {
        return Some(Outcome::Complete);
    }
    let none = all.without(all);
    let mut alone = *places;
    let (mut taken, mut clash) = (none, none);
    for_each_digit!(digit => {
        let before = places[digit];
        let naked = before.without(two);
        let absent = naked.empty_lanes();
        let here = naked.or(before.and(absent));
        let rest = here.drop_lowest();
        let single = rest.empty_lanes();
        // Two naked singles of a digit in a box, or two hidden singles in a cell.
        clash = clash.or(rest.without(absent)).or(taken.and(here).and(single));
        taken = taken.or(here.and(single));
        lost = lost.or(before.xor(here));
        places[digit] = here;
        alone[digit] = single;
    });
    if !clash.is_zero() {
        return Some(Outcome::Dead);
    }
    // Hidden singles have other candidates to take out only where a cell has two.
    let lost = lost.or(taken.and(two));
    if lost.is_zero() {
        return Some(Outcome::Stalled);
    }
    let free = all.without(taken);
    for_each_digit!(digit => {
        places[digit] = places[digit].and(alone[digit].or(free));
    });
    let places_lost = lost.union();
    let few = places_lost & places_lost.wrapping_sub(1) == 0;
    (hasty && few && !two.without(lost).is_zero()).then_some(Outcome::Stalled)
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
