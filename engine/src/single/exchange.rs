//! A second solution from the first, without a search.
//!
//! Take two digits in a solution. Some of the cells of the one share units with cells of the other, those with more of
//! the first, and so on: the cells so found, with both digits, are closed. In each unit they are a cell of each digit or
//! none, so exchanging the two digits in them leaves every unit complete. If the clues allow it, this is another solution.
//!
//! Puzzles with several solutions mostly have some that differ by such an exchange. So before a search goes on to the
//! second, it tries the guesses it made on its way to the first: in what a guess left behind, another digit takes the cell
//! of the guessed one, and whatever else that changes may be closed.

use super::state::State;
use super::vector::Cells;
use crate::{Grid, Solution};

/// What is known of a second solution.
#[derive(Debug, Clone)]
pub(super) enum Second {
    /// Nothing, as there has been no first.
    Awaited,
    /// This is the first, its state is the last on the stack, and an exchange in it is to be tried.
    Due(Solution),
    /// It was tried in vain, or there was nothing left to search.
    Unknown,
    /// It was found, and the search will come across it.
    Told(Solution),
}

/// The other solution that comes of exchanging two digits in the state of a first one, in one of the states that guesses on
/// the way left behind. The last are tried first.
pub(super) fn exchange(puzzle: &Grid, first: &Solution, states: &[State]) -> Option<Solution> {
    let (solved, left) = states.split_last()?;
    left.iter()
        .rev()
        .find_map(|state| Exchange::find(solved, state)?.apply(puzzle, first))
}

/// Two digits, counted from 0, and closed cells of both.
struct Exchange {
    digits: [usize; 2],
    cells: Cells,
}

impl Exchange {
    /// Looks for an exchange that takes the guessed digit out of the cell that it has in a solution, and into none that
    /// `state`, which the guess left behind, does not allow.
    fn find(solved: &State, state: &State) -> Option<Self> {
        let guessed = usize::from(state.guessed);
        let (digit, band, stack) = (guessed / 9, guessed / 3 % 3, guessed % 3);
        let places = solved.places.get(digit)?;
        let mut cell = Cells::default();
        cell.0[band] = places.0[band] & 0xffff << (16 * stack);
        (0..9)
            .filter(|&other| other != digit && state.places[other].0[band] & cell.0[band] != 0)
            .find_map(|other| {
                let allowed = [&state.places[other], &state.places[digit]];
                let cells = closure(cell, [places, &solved.places[other]], allowed)?;
                let digits = [digit, other];
                Some(Self { digits, cells })
            })
    }

    fn apply(&self, puzzle: &Grid, first: &Solution) -> Option<Solution> {
        let [one, other] = self.digits.map(|digit| digit as u8 + 1);
        let mut cells = *first.grid().cells();
        for (band, mut word) in self.cells.0.into_iter().enumerate() {
            while word != 0 {
                let bit = word.trailing_zeros() as usize;
                word &= word - 1;
                let (row, column) = (3 * band + bit % 16 / 4, bit / 16 * 3 + bit % 4);
                if let Some(cell) = cells.get_mut(9 * row + column) {
                    *cell = if *cell == one { other } else { one };
                }
            }
        }
        Solution::check(puzzle, &Grid::from_cells(cells)?).ok()
    }
}

/// The closed cells with a cell of the first digit in them. `None` if one of the two digits is not allowed where the other
/// is.
fn closure(
    cell: Cells,
    [places, others]: [&Cells; 2],
    [allowed, others_allowed]: [&Cells; 2],
) -> Option<Cells> {
    let mut cells = cell;
    loop {
        let met = seen_from(&cells, others);
        if !met.is_within(others_allowed) {
            return None;
        }
        let more = seen_from(&met, places);
        if !more.is_within(allowed) {
            return None;
        }
        if more == cells {
            return Some(Cells([0, 1, 2, 3].map(|word| cells.0[word] | met.0[word])));
        }
        cells = more;
    }
}

/// Those of some cells that share a unit with cells of a set.
fn seen_from(set: &Cells, cells: &Cells) -> Cells {
    let [a, b, c, _] = set.0;
    let columns = a | b | c;
    let columns = ((columns | columns >> 4 | columns >> 8) & 0x0007_0007_0007) * 0x111;
    let seen = |word: u64| {
        let rows = (word | word >> 1 | word >> 2) & 0x0111_0111_0111;
        let rows = ((rows | rows >> 16 | rows >> 32) & 0x0111) * 0x0007_0007_0007;
        // A carry into bit 15 says that the box has a cell.
        let boxes = ((word + 0x7fff_7fff_7fff) >> 15 & 0x0001_0001_0001) * 0x0777;
        rows | boxes | columns
    };
    let [x, y, z, _] = cells.0;
    Cells([seen(a) & x, seen(b) & y, seen(c) & z, 0])
}

#[cfg(test)]
mod tests {
    use super::super::vector::Portable;
    use super::*;

    /// The cells of a band, by row and column.
    fn cells(band: usize, places: &[(usize, usize)]) -> Cells {
        let mut cells = Cells::default();
        for (row, column) in places {
            cells.0[band] |= 1 << (column / 3 * 16 + 4 * row + column % 3);
        }
        cells
    }

    fn state(line: &str) -> State {
        let mut state = State::NONE;
        let grid = Grid::from_line(line).expect("81 characters");
        assert!(state.set::<Portable>((), &grid));
        state
    }

    const SOLUTION: &str =
        "123456789456789123789123456231564897564897231897231564312645978645978312978312645";

    /// What a guess that digit 1 goes to its cell in the first box leaves behind.
    fn left(puzzle: &str) -> State {
        let mut left = state(puzzle);
        left.guessed = 0;
        left
    }

    #[test]
    fn cells_that_meet_in_a_unit_are_seen() {
        let corner = cells(0, &[(0, 0)]);
        let around = cells(0, &[(0, 8), (2, 2), (2, 3), (1, 4)]);
        assert_eq!(seen_from(&corner, &around), cells(0, &[(0, 8), (2, 2)]));
        let below = cells(2, &[(1, 0), (1, 1)]);
        assert_eq!(seen_from(&corner, &below), cells(2, &[(1, 0)]));
    }

    #[test]
    fn closed_cells_have_as_many_of_both_digits() {
        let solved = state(SOLUTION);
        let all = Cells::ALL;
        for digit in 1..9 {
            let first = cells(0, &[(0, 0)]);
            let closed = closure(first, [&solved.places[0], &solved.places[digit]], [&all, &all])
                .expect("everything is allowed");
            assert_eq!(closed.len() % 2, 0);
            assert_ne!(closed.0[0] & first.0[0], 0);
        }
    }

    #[test]
    fn an_exchange_gives_another_solution() {
        let puzzle = SOLUTION.replace(['1', '2'], ".");
        let (puzzle, left) = (Grid::from_line(&puzzle).expect("81 characters"), left(&puzzle));
        let grid = Grid::from_line(SOLUTION).expect("81 characters");
        let first = Solution::check(&puzzle, &grid).expect("a solution");
        let exchange = Exchange::find(&state(SOLUTION), &left).expect("both digits are open everywhere");
        assert_eq!(exchange.digits, [0, 1]);
        let second = exchange.apply(&puzzle, &first).expect("a solution");
        assert_ne!(second, first);
        assert_ne!(second.grid().get(0), first.grid().get(0));
    }

    #[test]
    fn a_clue_among_the_cells_forbids_the_exchange() {
        // The first two cells are open, but not the others that are closed with them.
        let puzzle = SOLUTION.replacen(['1', '2'], ".", 2);
        assert!(Exchange::find(&state(SOLUTION), &left(&puzzle)).is_none());
    }
}
