//! No puzzle takes the single engine long, and none takes much longer in another guise.
//!
//! All bounds are in steps, which are the same on every machine. How near to them each set comes, and how long a step takes,
//! is printed by `cargo run --release -p sudoku-engine --example effort -- FILE...`.

mod common;

use common::effort::{EVERY, Spread, steps};
use sudoku_engine::{Grid, Search};

/// The steps in 5 milliseconds at a microsecond each: twice what a step takes in plain Rust, and thrice elsewhere.
const LONG: u64 = 5_000;

/// Any puzzle of the cases, whatever it comes to.
fn cases() -> Vec<Grid> {
    let unique = common::unique_cases().into_iter().map(|case| case.puzzle);
    let multiple = common::multiple_cases().into_iter().map(|case| case.puzzle);
    let unsolvable = common::unsolvable_cases().into_iter().map(|case| case.puzzle);
    let invalid = common::invalid_cases().into_iter().map(|case| case.puzzle);
    unique.chain(multiple).chain(unsolvable).chain(invalid).collect()
}

fn none_takes_long(set: &str, puzzles: &[Grid]) {
    let mut search = Search::new(&Grid::EMPTY);
    for puzzle in puzzles {
        let steps = steps(&mut search, puzzle);
        assert!(steps <= LONG, "{set}: {steps} steps for {puzzle}");
    }
}

/// No puzzle is uneven, and no copy takes long.
fn none_is_uneven(set: &str, puzzles: &[Grid], every: usize) {
    let mut search = Search::new(&Grid::EMPTY);
    for (place, puzzle) in puzzles.iter().enumerate().step_by(every) {
        let spread = Spread::of(&mut search, puzzle, place);
        assert!(
            spread.most <= LONG,
            "{set}: {} steps for a copy of {puzzle}",
            spread.most
        );
        assert!(spread.is_even(), "{set}: {spread:?}");
    }
}

#[test]
fn no_case_takes_long() {
    none_takes_long("the cases", &cases());
}

#[test]
fn copies_of_a_case_take_much_the_same() {
    let unique: Vec<Grid> = common::unique_cases().iter().map(|case| case.puzzle).collect();
    none_is_uneven("the cases", &unique, 1);
    let unsolvable: Vec<Grid> = common::unsolvable_cases()
        .iter()
        .map(|case| case.puzzle)
        .collect();
    none_is_uneven("the unsolvable cases", &unsolvable, 1);
}

mod large {
    use super::*;

    const SETS: [&str; 10] = [
        "17_clue.txt",
        "easy_kaggle.txt",
        "exact_counts_2_to_1000.tsv",
        "hardest_1106.txt",
        "hardest_11plus.txt",
        "mixed_0_1_2plus.tsv",
        "se_rated.tsv",
        "top1465.txt",
        "two_plus_solutions.txt",
        "unbiased_minimal.tsv",
    ];

    #[test]
    fn no_puzzle_takes_long() {
        for set in SETS {
            let Some(puzzles) = common::puzzles(set) else {
                continue;
            };
            none_takes_long(set, &puzzles);
        }
    }

    #[test]
    fn copies_take_much_the_same() {
        for set in SETS {
            let Some(puzzles) = common::puzzles(set) else {
                continue;
            };
            none_is_uneven(set, &puzzles, EVERY);
        }
    }
}
