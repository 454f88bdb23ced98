//! The report of clues that clash.

mod common;

use std::collections::BTreeSet;

use proptest::prelude::*;
use sudoku_engine::{Grid, conflicts};

#[test]
fn every_unit_and_every_cell_is_named() {
    for case in common::invalid_cases() {
        let found = conflicts(&case.puzzle);
        assert_eq!(found, case.conflicts, "{}", case.id);
        let cells: BTreeSet<u8> = found.into_iter().flat_map(|conflict| conflict.cells).collect();
        assert_eq!(cells.into_iter().collect::<Vec<_>>(), case.cells, "{}", case.id);
    }
}

#[test]
fn puzzles_without_a_clash_have_an_empty_report() {
    let unique = common::unique_cases().into_iter().map(|case| case.puzzle);
    let multiple = common::multiple_cases().into_iter().map(|case| case.puzzle);
    let unsolvable = common::unsolvable_cases().into_iter().map(|case| case.puzzle);
    for puzzle in unique.chain(multiple).chain(unsolvable) {
        assert_eq!(conflicts(&puzzle), [], "{puzzle}");
    }
}

/// Whether two cells share a row, a column or a box.
fn see_each_other(a: usize, b: usize) -> bool {
    a / 9 == b / 9 || a % 9 == b % 9 || (a / 27, a % 9 / 3) == (b / 27, b % 9 / 3)
}

proptest! {
    /// A cell is in the report exactly when another cell that it sees holds the same digit.
    #[test]
    fn the_cells_named_are_those_that_see_their_digit(
        cells in proptest::array::uniform32(0_u8..=9),
        places in proptest::sample::subsequence((0..81_usize).collect::<Vec<_>>(), 32),
    ) {
        let mut board = [0; 81];
        for (place, value) in places.into_iter().zip(cells) {
            board[place] = value;
        }
        let grid = Grid::from_cells(board).unwrap();
        let clashes = |a: usize| {
            board[a] != 0 && (0..81).any(|b| a != b && board[a] == board[b] && see_each_other(a, b))
        };
        let expected: BTreeSet<u8> = (0..81_u8).filter(|&cell| clashes(cell.into())).collect();
        let named: BTreeSet<u8> = conflicts(&grid).into_iter().flat_map(|conflict| conflict.cells).collect();
        prop_assert_eq!(named, expected);
    }
}
