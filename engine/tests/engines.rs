//! Every engine on the cases: puzzles on which programs went wrong, and the field's own.

mod common;

use common::Count;
use common::engines::engines;
use sudoku_engine::Grid;

#[test]
fn unique_puzzles_have_their_solution_and_no_other() {
    let cases = common::unique_cases();
    let puzzles: Vec<Grid> = cases.iter().map(|case| case.puzzle).collect();
    for engine in engines() {
        for (case, found) in cases.iter().zip(engine.solutions(&puzzles, 2)) {
            let grids: Vec<Grid> = found.iter().map(|solution| *solution.grid()).collect();
            assert_eq!(grids, [case.solution], "{engine}: {}", case.id);
        }
    }
}

/// Hard ones and easy ones, many of each, so that they wait for lanes and the last of them meet an engine nearly empty.
#[test]
fn many_puzzles_have_their_solutions() {
    let cases = common::unique_cases();
    let puzzles: Vec<Grid> = cases.iter().map(|case| case.puzzle).collect();
    let solutions: Vec<Grid> = cases.iter().map(|case| case.solution).collect();
    let copies = 700_usize.div_ceil(cases.len());
    for engine in engines() {
        let found = engine.solutions(&puzzles.repeat(copies), 2);
        for (found, solution) in found.iter().zip(solutions.iter().cycle()) {
            assert!(
                matches!(found.as_slice(), [one] if one.grid() == solution),
                "{engine}: {solution}"
            );
        }
    }
}

#[test]
fn the_first_solution_is_enough_with_a_limit_of_one() {
    let unique = common::unique_cases().into_iter().map(|case| case.puzzle);
    let multiple = common::multiple_cases().into_iter().map(|case| case.puzzle);
    let puzzles: Vec<Grid> = unique.chain(multiple).collect();
    for engine in engines() {
        for (puzzle, found) in puzzles.iter().zip(engine.solutions(&puzzles, 1)) {
            assert_eq!(found.len(), 1, "{engine}: {puzzle}");
        }
    }
}

#[test]
fn solutions_are_counted_exactly() {
    for engine in engines() {
        for case in common::multiple_cases() {
            let (limit, expected) = match case.count {
                Count::Exactly(count) => (count + 1, count),
                Count::MoreThan(bound) => (bound + 1, bound + 1),
            };
            let found = engine.solutions_of(&case.puzzle, limit);
            assert_eq!(found.len(), expected, "{engine}: {}", case.id);
        }
    }
}

#[test]
fn no_solution_is_found_where_there_is_none() {
    let cases = common::unsolvable_cases();
    let puzzles: Vec<Grid> = cases.iter().map(|case| case.puzzle).collect();
    for engine in engines() {
        for (case, found) in cases.iter().zip(engine.solutions(&puzzles, 2)) {
            assert_eq!(found, [], "{engine}: {}", case.id);
        }
    }
}

#[test]
fn clues_that_clash_have_no_solution() {
    let cases = common::invalid_cases();
    let puzzles: Vec<Grid> = cases.iter().map(|case| case.puzzle).collect();
    for engine in engines() {
        for limit in [1, 2] {
            for (case, found) in cases.iter().zip(engine.solutions(&puzzles, limit)) {
                assert_eq!(found, [], "{engine}: {}", case.id);
            }
        }
    }
}
