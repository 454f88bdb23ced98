//! Arbitrary bytes as puzzles.
//!
//! Nearly all of 81 arbitrary digits clash. So most puzzles are made from a case of the test suite: its puzzle, or some
//! cells of its solution, seen through a symmetry, with a few cells changed.

use std::sync::LazyLock;

use arbitrary::{Arbitrary, Result, Unstructured};
use sudoku_engine::Grid;

use crate::Symmetry;

/// A puzzle to fuzz with.
#[derive(Debug, Clone, Copy)]
pub struct Puzzle(pub Grid);

/// The puzzles that have one solution in the test suite, and their solutions.
static CASES: LazyLock<Vec<[Grid; 2]>> = LazyLock::new(|| {
    let row = |row: &str| {
        let columns: Vec<&str> = row.split('\t').collect();
        [columns[1], columns[3]].map(|line| Grid::from_line(line).expect("a fixture is a grid"))
    };
    include_str!("../../../tests/fixtures/solve_unique.tsv")
        .lines()
        .skip(1)
        .map(row)
        .collect()
});

impl<'a> Arbitrary<'a> for Puzzle {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Self> {
        let mut cells = match bytes.int_in_range(0..=7)? {
            0 => [0; 81],
            1 | 2 => some_case(bytes)?,
            _ => some_of_a_solution(bytes)?,
        };
        change(bytes, &mut cells)?;
        let grid = Grid::from_cells(cells).ok_or(arbitrary::Error::IncorrectFormat)?;
        Ok(Self(grid))
    }
}

fn some_case(bytes: &mut Unstructured) -> Result<[u8; 81]> {
    let [puzzle, _] = bytes.choose(&CASES)?;
    seen_through(bytes, puzzle)
}

fn some_of_a_solution(bytes: &mut Unstructured) -> Result<[u8; 81]> {
    let [_, solution] = bytes.choose(&CASES)?;
    let mut cells = seen_through(bytes, solution)?;
    let mut kept: u128 = bytes.arbitrary()?;
    if bytes.arbitrary()? {
        kept &= bytes.arbitrary::<u128>()?;
    }
    for (index, cell) in cells.iter_mut().enumerate() {
        *cell *= (kept >> index & 1) as u8;
    }
    Ok(cells)
}

/// A few arbitrary digits or blanks in arbitrary cells.
fn change(bytes: &mut Unstructured, cells: &mut [u8; 81]) -> Result<()> {
    let changes = bytes.int_in_range(0..=255_u8)?;
    // Mostly none, sometimes one or two, rarely up to 60.
    let changes = match changes {
        0..=127 => 0,
        128..=191 => changes % 2 + 1,
        _ => changes - 191,
    };
    for _ in 0..changes.min(60) {
        let cell = bytes.choose_index(81)?;
        cells[cell] = bytes.int_in_range(0..=9)?;
    }
    Ok(())
}

fn seen_through(bytes: &mut Unstructured, grid: &Grid) -> Result<[u8; 81]> {
    let symmetry = Symmetry::seeded(bytes.arbitrary()?);
    Ok(*symmetry.apply(grid).cells())
}
