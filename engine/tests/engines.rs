//! Every engine on the cases: puzzles on which programs went wrong, and the field's own.

mod common;

use common::Count;
use common::engines::engines;

#[test]
fn unique_puzzles_have_their_solution_and_no_other() {
    for engine in engines() {
        for case in common::unique_cases() {
            let found = engine.solutions_of(&case.puzzle, 2);
            let grids: Vec<_> = found.iter().map(|solution| *solution.grid()).collect();
            assert_eq!(grids, [case.solution], "{engine}: {}", case.id);
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
    for engine in engines() {
        for case in common::unsolvable_cases() {
            assert_eq!(engine.solutions_of(&case.puzzle, 1), [], "{engine}: {}", case.id);
        }
    }
}

#[test]
fn clues_that_clash_have_no_solution() {
    for engine in engines() {
        for case in common::invalid_cases() {
            assert_eq!(engine.solutions_of(&case.puzzle, 1), [], "{engine}: {}", case.id);
        }
    }
}
