//! Every engine on the published sets of puzzles, where they stand beside the checkout.

mod common;

use common::Solutions;
use common::checksum::checksum;
use common::engines::plain_engines;
use sudoku_engine::{Grid, Solution};

/// What a set comes to when two solutions are looked for in each puzzle. The figures are those of an independent solver,
/// the `sudoku` crate 0.8.0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Tally {
    unique: usize,
    multiple: usize,
    unsolvable: usize,
    /// That of the solutions of the puzzles with one.
    checksum: u64,
}

impl Tally {
    fn of(found: &[Vec<Solution>]) -> Self {
        let mut tally = Self::default();
        for solutions in found {
            match solutions.as_slice() {
                [] => tally.unsolvable += 1,
                [solution] => {
                    tally.unique += 1;
                    tally.checksum = tally.checksum.wrapping_add(checksum(solution));
                }
                _ => tally.multiple += 1,
            }
        }
        tally
    }

    fn unique(unique: usize, checksum: u64) -> Self {
        Self {
            unique,
            checksum,
            ..Self::default()
        }
    }

    fn multiple(multiple: usize) -> Self {
        Self {
            multiple,
            ..Self::default()
        }
    }
}

fn check(set: &str, expected: Tally) {
    let Some(puzzles) = common::puzzles(set) else {
        return;
    };
    for engine in plain_engines() {
        let found = engine.solutions(&puzzles, 2);
        assert_eq!(Tally::of(&found), expected, "{engine}: {set}");
    }
}

#[test]
fn the_classic_hard_puzzles_have_their_solutions() {
    check("top1465.txt", Tally::unique(1_465, 0x40df_58dd_d09b_9118));
}

#[test]
fn the_hardest_for_backtracking_have_their_solutions() {
    check("hardest_1106.txt", Tally::unique(375, 0xc96f_ecb7_ccf0_b258));
}

#[test]
fn the_easy_puzzles_have_their_solutions() {
    check("easy_kaggle.txt", Tally::unique(20_000, 0x8314_3796_d7b3_7b9c));
}

#[test]
fn rated_puzzles_have_their_solutions() {
    check("se_rated.tsv", Tally::unique(1_660, 0xd8fe_a779_0efe_21c4));
}

#[test]
fn several_solutions_are_found_wherever_there_are() {
    check("two_plus_solutions.txt", Tally::multiple(10_000));
    check("exact_counts_2_to_1000.tsv", Tally::multiple(4_251));
}

#[test]
fn raw_generator_output_is_told_apart() {
    check(
        "mixed_0_1_2plus.tsv",
        Tally {
            unique: 808,
            multiple: 9_215,
            unsolvable: 9_977,
            checksum: 0x60d0_3bfc_cae9_a2d4,
        },
    );
    let Some(rows) = common::mixed() else { return };
    let (puzzles, answers): (Vec<Grid>, Vec<_>) = rows.into_iter().unzip();
    for engine in plain_engines() {
        let found = engine.solutions(&puzzles, 2);
        for ((puzzle, answer), found) in puzzles.iter().zip(&answers).zip(found) {
            let same = match answer {
                Solutions::None => found.is_empty(),
                Solutions::One(solution) => matches!(found.as_slice(), [one] if one.grid() == solution),
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

/// What takes long: runs that are slow anyway pass `--skip large`.
mod large {
    use super::*;

    #[test]
    fn the_17_clue_puzzles_have_their_solutions() {
        check("17_clue.txt", Tally::unique(49_158, 0x84f1_7c93_ea60_a2f0));
    }

    #[test]
    fn the_hardest_for_people_have_their_solutions() {
        check("hardest_11plus.txt", Tally::unique(48_766, 0x0975_0a48_7510_3958));
    }

    #[test]
    fn minimal_puzzles_have_their_solutions() {
        check(
            "unbiased_minimal.tsv",
            Tally::unique(43_070, 0xeb02_5919_b744_c318),
        );
    }

    #[test]
    fn counts_up_to_a_thousand_are_exact() {
        let Some(rows) = common::exact_counts() else {
            return;
        };
        let (puzzles, counts): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
        for engine in plain_engines() {
            let found = engine.solutions(&puzzles, 1_001);
            for ((puzzle, count), found) in puzzles.iter().zip(&counts).zip(found) {
                assert_eq!(found.len(), *count, "{engine}: {puzzle}");
            }
        }
    }
}
