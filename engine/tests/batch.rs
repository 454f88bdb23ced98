//! The batch engine as a stream: grouping, order, budgets, cancelling, and puzzles that hold others up.

mod common;

use common::effort::steps;
use common::stream::{self, drain, split};
use common::symmetry::Symmetry;
use proptest::prelude::*;
use sudoku_engine::batch::{Batch, Engine, Limit, Options, Outcome};
use sudoku_engine::{Grid, Isa, Search, Solution};

/// What became of a puzzle, and its solution if it has one only: the same whatever its company.
type Answer = (Outcome, Option<Solution>);

fn answers(batch: &Batch) -> Vec<Answer> {
    let answer = |index| {
        let (outcome, solutions) = stream::answer(batch, index);
        let solution = solutions.first().filter(|_| outcome == Outcome::Unique);
        (outcome, solution.copied())
    };
    (0..batch.puzzles().len()).map(answer).collect()
}

/// An open puzzle is no wrong answer, but only the emptiest may be too much for the engine with its default budget.
fn is_open(puzzle: &Grid, answer: &Answer) -> bool {
    answer.0 == Outcome::Open && puzzle.clues() < 17
}

/// All answers for some puzzles, in batches of the sizes given, over and over.
fn solve(isa: Isa, puzzles: &[Grid], sizes: &[usize], slice: u32, options: Options) -> Vec<Answer> {
    let batches = split(puzzles, sizes, options);
    let mut engine = Engine::new(isa, batches.len()).starting_with(0);
    drain(&mut engine, batches, 0, slice)
        .iter()
        .flat_map(answers)
        .collect()
}

/// Puzzles of every kind, some of them hard.
fn mixture() -> Vec<Grid> {
    let unique = common::unique_cases().into_iter().map(|case| case.puzzle);
    let multiple = common::multiple_cases().into_iter().map(|case| case.puzzle);
    let unsolvable = common::unsolvable_cases().into_iter().map(|case| case.puzzle);
    let invalid = common::invalid_cases().into_iter().map(|case| case.puzzle);
    unique.chain(multiple).chain(unsolvable).chain(invalid).collect()
}

/// Puzzles on which programs spend seconds, hours or for ever.
fn evil() -> Vec<Grid> {
    let unique = common::unique_cases()
        .into_iter()
        .map(|case| (case.id, case.puzzle));
    let unsolvable = common::unsolvable_cases()
        .into_iter()
        .map(|case| (case.id, case.puzzle));
    let named = unique
        .chain(unsolvable)
        .filter(|(id, _)| {
            ["bf-worst", "norvig", "dead-cell", "last-cell"]
                .iter()
                .any(|name| id.starts_with(name))
        })
        .map(|(_, puzzle)| puzzle);
    named
        .chain([Grid::EMPTY; 3])
        .chain([Grid::from_line(NEAR_EMPTY).expect("a grid")])
        .collect()
}

/// Few clues, no solution, and hardly anything that says so.
const NEAR_EMPTY: &str = "..53.......3..1................15.6..............6..15...........6....48.415...3.";

/// Rated among the hardest that people solve.
const HARD: &str = ".......39.....1..5..3.5.8....8.9...6.7...2...1..4.......9.8..5..2....6..4..7.....";

#[test]
fn every_kind_of_puzzle_has_its_outcome() {
    for isa in Isa::available() {
        let unique = common::unique_cases();
        let puzzles: Vec<Grid> = unique.iter().map(|case| case.puzzle).collect();
        for (case, answer) in unique
            .iter()
            .zip(solve(isa, &puzzles, &[1000], 64, Options::default()))
        {
            let (outcome, solution) = answer;
            assert_eq!(outcome, Outcome::Unique, "{} on {isa}", case.id);
            assert_eq!(
                solution.map(Grid::from),
                Some(case.solution),
                "{} on {isa}",
                case.id
            );
        }
        let multiple = common::multiple_cases();
        let puzzles: Vec<Grid> = multiple.iter().map(|case| case.puzzle).collect();
        for (case, answer) in multiple
            .iter()
            .zip(solve(isa, &puzzles, &[1000], 64, Options::default()))
        {
            let right = answer.0 == Outcome::Multiple || is_open(&case.puzzle, &answer);
            assert!(right, "{} on {isa}: {:?}", case.id, answer.0);
        }
        let unsolvable = common::unsolvable_cases().into_iter().map(|case| case.puzzle);
        let invalid = common::invalid_cases().into_iter().map(|case| case.puzzle);
        let puzzles: Vec<Grid> = unsolvable.chain(invalid).collect();
        for (puzzle, answer) in puzzles
            .iter()
            .zip(solve(isa, &puzzles, &[1000], 64, Options::default()))
        {
            let right = answer.0 == Outcome::Unsolvable || is_open(puzzle, &answer);
            assert!(right, "{puzzle} on {isa}: {:?}", answer.0);
        }
    }
}

#[test]
fn with_limit_one_the_first_solution_is_enough() {
    let options = Options {
        limit: Limit::One,
        ..Options::default()
    };
    for isa in Isa::available() {
        let puzzles = mixture();
        let two = solve(isa, &puzzles, &[50], 64, Options::default());
        let one = solve(isa, &puzzles, &[50], 64, options);
        for (puzzle, (one, two)) in puzzles.iter().zip(one.iter().zip(two)) {
            let expected = match two.0 {
                Outcome::Unsolvable => Outcome::Unsolvable,
                _ => Outcome::Solved,
            };
            let open = is_open(puzzle, one) || is_open(puzzle, &two);
            assert!(one.0 == expected || open, "{puzzle} on {isa}: {one:?}");
        }
    }
}

#[test]
fn omitted_solutions_change_no_outcome() {
    let options = Options {
        omit_solutions: true,
        ..Options::default()
    };
    for isa in Isa::available() {
        let puzzles = mixture();
        let with = solve(isa, &puzzles, &[50], 64, Options::default());
        let without = solve(isa, &puzzles, &[50], 64, options);
        for (puzzle, (with, without)) in puzzles.iter().zip(with.iter().zip(without)) {
            assert_eq!(with.0, without.0, "{puzzle} on {isa}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(12) })]

    #[test]
    fn order_grouping_and_slices_change_no_outcome(
        puzzles in Just(mixture()).prop_shuffle(),
        sizes in prop::collection::vec(0..70_usize, 0..8),
        slice in 1..100_u32,
    ) {
        let sizes: Vec<usize> = sizes.into_iter().chain([7]).collect();
        for isa in Isa::available() {
            let alone: Vec<Answer> =
                puzzles.iter().flat_map(|&puzzle| solve(isa, &[puzzle], &[1], 64, Options::default())).collect();
            let together = solve(isa, &puzzles, &sizes, slice, Options::default());
            for (puzzle, (alone, together)) in puzzles.iter().zip(alone.iter().zip(together)) {
                let open = is_open(puzzle, alone) || is_open(puzzle, &together);
                prop_assert!(open || *alone == together, "{} on {}: {:?} {:?}", puzzle, isa, alone, together);
            }
        }
    }
}

#[test]
fn a_full_engine_gives_the_batch_back() {
    let mut engine = Engine::new(Isa::detect(), 1);
    let batch = |key| Batch::new(key, vec![Grid::EMPTY], Options::default());
    assert!(engine.submit(batch(1)).is_ok());
    let refused = engine.submit(batch(2)).expect_err("it holds one already");
    assert_eq!(refused.key(), 2);
}

#[test]
fn few_puzzles_alone_are_left_open_and_in_company_they_are_not() {
    for isa in Isa::available() {
        let easy = common::unique_cases()[0].puzzle;
        let batch = |key, count| Batch::new(key, vec![easy; count], Options::default());
        let mut engine = Engine::new(isa, 2);
        engine.submit(batch(0, 5)).expect("there is room");
        assert_eq!(engine.run(100), 0);
        let alone = engine.finished().expect("it is given back at once");
        assert_eq!(alone.open().count(), 5, "{isa}");
        for batch in drain(&mut engine, vec![batch(0, 5), batch(1, 300)], 0, 64) {
            assert_eq!(batch.open().count(), 0, "{isa}");
        }
    }
}

#[test]
fn what_waits_is_what_has_not_begun() {
    for isa in Isa::available() {
        let mut engine = Engine::new(isa, 3);
        assert_eq!(engine.waiting(), 0);
        for key in 0..3 {
            let batch = Batch::new(key, vec![evil()[0]; 400], Options::default());
            assert!(engine.submit(batch).is_ok());
        }
        assert_eq!(engine.waiting(), 1_200);
        engine.run(1);
        let begun = 1_200 - engine.waiting();
        assert!((256..=512).contains(&begun), "{begun}");
        engine.cancel(2);
        assert!(engine.waiting() <= 800);
        while !engine.is_idle() {
            engine.run(64);
        }
        assert_eq!(engine.waiting(), 0);
    }
}

#[test]
fn an_empty_batch_is_finished_at_once() {
    let mut engine = Engine::new(Isa::detect(), 1);
    engine
        .submit(Batch::new(5, Vec::new(), Options::default()))
        .expect("there is room");
    assert_eq!(engine.finished().map(|batch| batch.key()), Some(5));
    assert_eq!(engine.run(100), 0);
}

#[test]
fn what_exceeds_its_budget_is_left_open_and_nothing_else() {
    let options = Options {
        budget: 0,
        ..Options::default()
    };
    for isa in Isa::available() {
        let puzzles = mixture();
        let full = solve(isa, &puzzles, &[1000], 64, Options::default());
        let none = solve(isa, &puzzles, &[1000], 64, options);
        let open = none.iter().filter(|answer| answer.0 == Outcome::Open).count();
        // No two solutions are found without a branch.
        assert!(open >= common::multiple_cases().len(), "{open} open on {isa}");
        assert!(open < puzzles.len(), "{isa}");
        for ((puzzle, none), full) in puzzles.iter().zip(none).zip(full) {
            assert!(
                none == full || none.0 == Outcome::Open,
                "{puzzle} on {isa}: {none:?}"
            );
        }
    }
}

#[test]
fn a_cancelled_batch_comes_back_and_frees_its_lanes() {
    let endless = Options {
        budget: u32::MAX,
        ..Options::default()
    };
    for isa in Isa::available() {
        let mut engine = Engine::new(isa, 3).starting_with(0);
        let puzzles = evil();
        engine
            .submit(Batch::new(0, puzzles.repeat(20), endless))
            .expect("there is room");
        let easy = common::unique_cases()[0].puzzle;
        engine
            .submit(Batch::new(1, vec![easy; 10], endless))
            .expect("there is room");
        engine.run(10);
        let cancelled = engine.cancel(0).expect("it is there");
        assert_eq!(cancelled.key(), 0);
        assert!(engine.cancel(0).is_none());
        answers(&cancelled);
        // The other one is still inside.
        let batch = Batch::new(0, vec![easy; 300], endless);
        for batch in drain(&mut engine, vec![batch], 1, 7) {
            assert!(
                answers(&batch).iter().all(|answer| answer.0 == Outcome::Unique),
                "{isa}"
            );
        }
        engine
            .submit(Batch::new(9, puzzles, endless))
            .expect("there is room");
        engine.run(1);
        assert!(engine.cancel(9).is_some());
        assert!(engine.is_idle());
        assert_eq!(engine.run(100), 0);
    }
}

/// A few milliseconds of an engine, in which a sweep takes one to three microseconds.
const DELAY: u32 = 1_000;

/// The most steps that an easy puzzle takes the single engine.
const EASY: u64 = 20;

/// Hands over each puzzle as a batch of its own, as soon as there is room among `capacity` batches, and returns for how many
/// sweeps each of them was in the engine.
fn sweeps_of_each(isa: Isa, puzzles: &[Grid], capacity: usize) -> Vec<u32> {
    let mut engine = Engine::new(isa, capacity).starting_with(0);
    let mut waiting = puzzles.iter().zip(0..).peekable();
    let (mut since, mut waits) = (vec![0; puzzles.len()], vec![0; puzzles.len()]);
    let (mut sweeps, mut inside) = (0, 0);
    while inside > 0 || waiting.peek().is_some() {
        while inside < capacity
            && let Some((&puzzle, key)) = waiting.next()
        {
            let batch = Batch::new(key, vec![puzzle], Options::default());
            engine.submit(batch).expect("there is room");
            since[key as usize] = sweeps;
            inside += 1;
        }
        sweeps += engine.run(3);
        while let Some(batch) = engine.finished() {
            let key = batch.key() as usize;
            waits[key] = sweeps - since[key];
            inside -= 1;
        }
    }
    waits
}

/// So many puzzles made of those given, all different.
fn copies(puzzles: &[Grid], count: usize) -> Vec<Grid> {
    (0..count)
        .map(|number| Symmetry::seeded(number as u64).apply(&puzzles[number % puzzles.len()]))
        .collect()
}

#[test]
fn evil_puzzles_delay_their_neighbours_by_a_bounded_number_of_sweeps() {
    let near_empty = Grid::from_line(NEAR_EMPTY).expect("a grid");
    assert_eq!(sudoku_engine::count(&near_empty, 1), 0);
    let mut search = Search::new(&Grid::EMPTY);
    let easy: Vec<Grid> = common::unique_cases()
        .into_iter()
        .map(|case| case.puzzle)
        .filter(|puzzle| steps(&mut search, puzzle) <= EASY)
        .collect();
    let (easy, evil) = (copies(&easy, 600), copies(&evil(), 600));
    let in_turn: Vec<Grid> = easy.iter().zip(&evil).flat_map(|(&a, &b)| [a, b]).collect();
    // The easy ones before them open all lanes to puzzles, so that as many evil ones as there are lanes can get in.
    let flood = [&easy[..], &evil, &easy].concat();
    for isa in Isa::available() {
        for (puzzles, capacity) in [(&in_turn, 16), (&in_turn, 2_000), (&flood, 300), (&flood, 2_000)] {
            let waits = sweeps_of_each(isa, puzzles, capacity);
            for (puzzle, wait) in puzzles.iter().zip(waits) {
                assert!(
                    wait <= DELAY || evil.contains(puzzle),
                    "{puzzle} takes {wait} sweeps among {capacity} on {isa}"
                );
            }
        }
    }
}

/// Where most lanes are idle, a hard puzzle is searched in many of them, whatever else is in the engine.
#[test]
fn hard_puzzles_spread_over_lanes_that_nobody_needs() {
    let mut search = Search::new(&Grid::EMPTY);
    let hard: Vec<Grid> = common::unique_cases()
        .into_iter()
        .map(|case| case.puzzle)
        .chain([Grid::from_line(HARD).expect("a grid")])
        .filter(|puzzle| (100..1_000).contains(&steps(&mut search, puzzle)))
        .collect();
    let (hard, evil) = (copies(&hard, 100), copies(&evil(), 1_500));
    // Many puzzles with many solutions for each hard one.
    let puzzles: Vec<Grid> = evil
        .chunks(15)
        .zip(&hard)
        .flat_map(|(many, one)| [many, &[*one]].concat())
        .collect();
    for isa in Isa::available() {
        let waits = sweeps_of_each(isa, &puzzles, 16);
        for (puzzle, wait) in puzzles
            .iter()
            .zip(waits)
            .filter(|(puzzle, _)| hard.contains(puzzle))
        {
            assert!(wait <= 5 * DELAY / 2, "{puzzle} takes {wait} sweeps on {isa}");
        }
    }
}

/// Puzzles that come while hard ones have some of the lanes get lanes that are free.
#[test]
fn a_small_message_does_not_wait_for_lanes_in_use() {
    let hard = copies(&[Grid::from_line(HARD).expect("a grid")], 60);
    let easy = common::unique_cases()[0].puzzle;
    for isa in Isa::available() {
        let mut engine = Engine::new(isa, 2).starting_with(0);
        engine
            .submit(Batch::new(0, hard.clone(), Options::default()))
            .expect("there is room");
        engine.run(4);
        engine
            .submit(Batch::new(1, vec![easy; 10], Options::default()))
            .expect("there is room");
        let mut sweeps = 0;
        let first = loop {
            sweeps += engine.run(1);
            if let Some(batch) = engine.finished() {
                break batch;
            }
        };
        assert_eq!(first.key(), 1, "{isa}");
        assert!(sweeps <= 64, "{sweeps} sweeps on {isa}");
    }
}

#[test]
fn raw_generator_output_is_told_apart_whatever_the_message() {
    let Some(rows) = common::mixed() else { return };
    let (puzzles, expected): (Vec<Grid>, Vec<common::Solutions>) = rows.into_iter().unzip();
    for isa in Isa::available() {
        for sizes in [&[20_000_usize][..], &[256], &[1, 100, 33]] {
            let found = solve(isa, &puzzles, sizes, 64, Options::default());
            for ((puzzle, answer), expected) in puzzles.iter().zip(found).zip(&expected) {
                let right = match expected {
                    common::Solutions::None => answer.0 == Outcome::Unsolvable,
                    common::Solutions::One(grid) => answer.1.is_some_and(|solution| solution.grid() == grid),
                    common::Solutions::TwoOrMore => answer.0 == Outcome::Multiple,
                };
                assert!(right, "{puzzle} on {isa}: {answer:?}");
            }
        }
    }
}
