//! Every engine on the published sets of puzzles, where they stand beside the checkout.

mod common;

use common::Solutions;
use common::engines::engines;
use sudoku_engine::{Grid, Solution};

fn grids(solutions: &[Solution]) -> Vec<Grid> {
    solutions.iter().map(|solution| *solution.grid()).collect()
}

/// All puzzles of a set have exactly one solution. The engines check each; all must find the same.
fn check_unique(set: &str) {
    let Some(puzzles) = common::puzzles(set) else {
        return;
    };
    let mut expected = None;
    for engine in engines() {
        let found = engine.solutions(&puzzles, 2);
        for (puzzle, solutions) in puzzles.iter().zip(&found) {
            assert_eq!(solutions.len(), 1, "{engine}: {set}: {puzzle}");
        }
        assert_eq!(
            expected.get_or_insert_with(|| found.clone()),
            &found,
            "{engine}: {set}"
        );
    }
}

#[test]
fn the_17_clue_puzzles_have_one_solution_each() {
    check_unique("17_clue.txt");
}

#[test]
fn the_hard_puzzles_have_one_solution_each() {
    check_unique("top1465.txt");
    check_unique("hardest_1106.txt");
}

#[test]
fn the_easy_puzzles_have_one_solution_each() {
    check_unique("easy_kaggle.txt");
}

#[test]
fn minimal_puzzles_have_one_solution_each() {
    check_unique("unbiased_minimal.tsv");
}

#[test]
fn two_witnesses_are_found_wherever_there_are_several_solutions() {
    let Some(puzzles) = common::puzzles("two_plus_solutions.txt") else {
        return;
    };
    for engine in engines() {
        for (puzzle, found) in puzzles.iter().zip(engine.solutions(&puzzles, 2)) {
            assert_eq!(found.len(), 2, "{engine}: {puzzle}");
        }
    }
}

#[test]
fn counts_up_to_a_thousand_are_exact() {
    let Some(rows) = common::exact_counts() else {
        return;
    };
    let (puzzles, counts): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
    for engine in engines() {
        let found = engine.solutions(&puzzles, 1_001);
        for ((puzzle, count), found) in puzzles.iter().zip(&counts).zip(found) {
            assert_eq!(found.len(), *count, "{engine}: {puzzle}");
        }
    }
}

#[test]
fn raw_generator_output_is_told_apart() {
    let Some(rows) = common::mixed() else { return };
    let (puzzles, answers): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
    for engine in engines() {
        let found = engine.solutions(&puzzles, 2);
        for ((puzzle, answer), found) in puzzles.iter().zip(&answers).zip(found) {
            let same = match answer {
                Solutions::None => found.is_empty(),
                Solutions::One(solution) => grids(&found) == [*solution],
                Solutions::TwoOrMore => found.len() == 2,
            };
            assert!(
                same,
                "{engine}: {puzzle}: {answer:?} expected, {} found",
                found.len()
            );
        }
    }
}
