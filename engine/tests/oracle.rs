//! Every engine against the reference engine, and against itself, on puzzles made at random.

mod common;

use common::engines::engines;
use common::symmetry::Symmetry;
use proptest::prelude::*;
use proptest::sample::{Index, select, subsequence};
use sudoku_engine::{Grid, Search, Step, conflicts, reference};

/// More solutions than this are not compared.
const LIMIT: usize = 30;

/// Any symmetry.
fn symmetry() -> impl Strategy<Value = Symmetry> {
    any::<u64>().prop_map(Symmetry::seeded)
}

/// A complete grid: the solution of one of the cases, seen through a symmetry.
fn complete() -> impl Strategy<Value = Grid> {
    let solutions: Vec<Grid> = common::unique_cases().iter().map(|case| case.solution).collect();
    (select(solutions), symmetry()).prop_map(|(grid, symmetry)| symmetry.apply(&grid))
}

/// A complete grid, and a puzzle of some of its digits: at least 25, so that the reference engine comes to an end.
fn puzzle() -> impl Strategy<Value = (Grid, Grid)> {
    let kept = subsequence((0..81).collect::<Vec<usize>>(), 25..=45);
    (complete(), kept).prop_map(|(solution, kept)| {
        let mut cells = [0; 81];
        for cell in kept {
            cells[cell] = solution.cells()[cell];
        }
        (solution, Grid::from_cells(cells).expect("digits of a grid"))
    })
}

/// A grid with one cell changed.
fn with(grid: &Grid, cell: usize, value: u8) -> Grid {
    let mut cells = *grid.cells();
    cells[cell] = value;
    Grid::from_cells(cells).expect("the value is a digit")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn engines_find_what_the_reference_engine_finds((_, puzzle) in puzzle()) {
        let expected = reference::solutions(&puzzle, LIMIT + 1);
        for engine in engines() {
            let found = engine.solutions_of(&puzzle, LIMIT + 1);
            prop_assert_eq!(found.len(), expected.len(), "{}", engine);
            if expected.len() <= LIMIT {
                prop_assert_eq!(&found, &expected, "{}", engine);
            }
        }
    }

    /// A digit that the solution does not have there mostly leaves no solution at all.
    #[test]
    fn engines_agree_on_a_wrong_clue((solution, puzzle) in puzzle(), at in any::<Index>(), digit in 1..=9_u8) {
        let cell = at.index(81);
        let wrong = with(&puzzle, cell, digit);
        prop_assume!(solution.get(cell) != Some(digit) && conflicts(&wrong).is_empty());
        let expected = reference::solutions(&wrong, 2).len();
        for engine in engines() {
            prop_assert_eq!(engine.solutions_of(&wrong, 2).len(), expected, "{}", engine);
        }
    }

    /// Anything at all in a few cells: clashes, no solution, or thousands.
    #[test]
    fn engines_agree_on_arbitrary_clues(clues in prop::collection::vec((0..81_usize, 1..=9_u8), 0..=40)) {
        let grid = clues.iter().fold(Grid::EMPTY, |grid, &(cell, digit)| with(&grid, cell, digit));
        // A few clues can leave a search without a solution that nobody lives to see the end of.
        prop_assume!(ends_within(&grid, 20_000));
        let mut counts = engines().map(|engine| (engine, engine.solutions_of(&grid, 2).len()));
        let (_, first) = counts.next().expect("there is an engine");
        for (engine, count) in counts {
            prop_assert_eq!(count, first, "{}", engine);
        }
        if !conflicts(&grid).is_empty() {
            prop_assert_eq!(first, 0);
        }
    }

    #[test]
    fn symmetries_keep_the_count((_, puzzle) in puzzle(), symmetry in symmetry()) {
        let image = symmetry.apply(&puzzle);
        for engine in engines() {
            let found = engine.solutions(&[puzzle, image], LIMIT + 1);
            prop_assert_eq!(found[0].len(), found[1].len(), "{}", engine);
            if found[0].len() <= LIMIT {
                for solution in &found[0] {
                    let seen = symmetry.apply(solution.grid());
                    prop_assert!(found[1].iter().any(|other| *other.grid() == seen), "{}", engine);
                }
            }
        }
    }

    #[test]
    fn a_clue_taken_from_a_solution_keeps_that_solution((solution, puzzle) in puzzle(), at in any::<Index>()) {
        let cell = at.index(81);
        let digit = solution.get(cell).expect("a complete grid");
        for engine in engines() {
            let before = engine.solutions_of(&puzzle, LIMIT + 1).len();
            let after = engine.solutions_of(&with(&puzzle, cell, digit), LIMIT + 1);
            prop_assert!((1..=before).contains(&after.len()), "{}", engine);
            if after.len() <= LIMIT {
                prop_assert!(after.iter().any(|found| *found.grid() == solution), "{}", engine);
            }
        }
    }
}

/// Whether the search for two solutions of `grid` ends within so many steps.
fn ends_within(grid: &Grid, steps: u32) -> bool {
    let mut search = Search::new(grid);
    let mut found = 0;
    while found < 2 {
        let left = steps.saturating_sub(search.steps().try_into().unwrap_or(u32::MAX));
        match search.run(left) {
            Step::Solution(_) => found += 1,
            Step::Done => return true,
            Step::Paused => return false,
        }
    }
    true
}
