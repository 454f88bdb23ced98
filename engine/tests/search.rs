//! The single engine as a value that stops and goes on.

mod common;

use proptest::prelude::*;
use sudoku_engine::{Grid, Isa, Search, Solution, Step, count, solutions};

/// Hard puzzles of one solution, puzzles of many, and some of none.
fn mixture() -> Vec<Grid> {
    let unique = common::unique_cases().into_iter().map(|case| case.puzzle);
    let multiple = common::multiple_cases().into_iter().map(|case| case.puzzle);
    let unsolvable = common::unsolvable_cases().into_iter().map(|case| case.puzzle);
    let invalid = common::invalid_cases().into_iter().map(|case| case.puzzle);
    unique.chain(multiple).chain(unsolvable).chain(invalid).collect()
}

/// The first solutions, and the steps they took, with budgets from a list that repeats.
fn run(search: &mut Search, limit: usize, budgets: &[u32]) -> (Vec<Solution>, u64) {
    let mut found = Vec::new();
    for &budget in budgets.iter().cycle() {
        if found.len() == limit {
            break;
        }
        let before = search.steps();
        match search.run(budget) {
            Step::Solution(solution) => found.push(solution),
            Step::Done => break,
            Step::Paused => assert_eq!(search.steps() - before, u64::from(budget)),
        }
        assert!(search.steps() - before <= u64::from(budget));
    }
    (found, search.steps())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn budgets_change_nothing(budgets in prop::collection::vec(0..50_u32, 0..10), least in 1..5_u32) {
        let budgets: Vec<u32> = budgets.into_iter().chain([least]).collect();
        for isa in Isa::available() {
            for puzzle in mixture() {
                let mut search = Search::with_isa(&puzzle, isa);
                let whole = run(&mut search.clone(), 20, &[u32::MAX]);
                prop_assert_eq!(run(&mut search, 20, &budgets), whole, "{} on {}", puzzle, isa);
            }
        }
    }
}

#[test]
fn instruction_sets_take_the_same_steps_to_the_same_solutions() {
    for puzzle in mixture() {
        let expected = run(&mut Search::with_isa(&puzzle, Isa::PORTABLE), 20, &[u32::MAX]);
        for isa in Isa::available() {
            let found = run(&mut Search::with_isa(&puzzle, isa), 20, &[u32::MAX]);
            assert_eq!(found, expected, "{puzzle} on {isa}");
        }
    }
}

#[test]
fn a_search_that_is_done_stays_done() {
    for case in common::unique_cases() {
        let mut search = Search::new(&case.puzzle);
        assert!(matches!(search.run(u32::MAX), Step::Solution(_)), "{}", case.id);
        for budget in [u32::MAX, 0, 1] {
            assert_eq!(search.run(budget), Step::Done, "{}", case.id);
        }
    }
}

#[test]
fn a_search_with_no_budget_takes_no_step() {
    let mut search = Search::new(&Grid::EMPTY);
    assert_eq!(search.run(0), Step::Paused);
    assert_eq!(search.steps(), 0);
    assert!(matches!(search.run(1_000), Step::Solution(_)));
}

#[test]
fn clues_that_clash_are_done_before_the_first_step() {
    for case in common::invalid_cases() {
        let mut search = Search::new(&case.puzzle);
        assert_eq!(search.run(0), Step::Done, "{}", case.id);
        assert_eq!(search.steps(), 0, "{}", case.id);
    }
}

#[test]
fn a_search_can_be_used_again_at_any_time() {
    let mut search = Search::new(&Grid::EMPTY);
    for case in common::unique_cases() {
        search.run(3);
        search.restart(&case.puzzle);
        assert_eq!(search.steps(), 0, "{}", case.id);
        let (found, _) = run(&mut search, 2, &[u32::MAX]);
        assert_eq!(found.len(), 1, "{}", case.id);
        assert_eq!(*found[0].grid(), case.solution, "{}", case.id);
    }
}

#[test]
fn solutions_come_as_an_iterator() {
    let puzzle = common::unique_cases().remove(0);
    let mut all = solutions(&puzzle.puzzle);
    assert_eq!(all.next().map(Grid::from), Some(puzzle.solution));
    assert_eq!((all.next(), all.next()), (None, None));
    let mut some: Vec<_> = solutions(&Grid::EMPTY).take(5_000).collect();
    some.sort();
    some.dedup();
    assert_eq!(some.len(), 5_000);
}

/// The second solution is often found without a search, which comes across it later.
#[test]
fn no_solution_comes_twice() {
    for case in common::multiple_cases() {
        let mut some: Vec<_> = solutions(&case.puzzle).take(2_000).collect();
        let found = some.len();
        some.sort();
        some.dedup();
        assert_eq!(some.len(), found, "{}", case.id);
        assert!(found > 1, "{}", case.id);
    }
}

#[test]
fn a_copy_of_a_search_goes_on_in_the_same_way() {
    for case in common::multiple_cases() {
        let mut search = Search::new(&case.puzzle);
        for _ in 0..3 {
            let mut copy = search.clone();
            assert_eq!(copy.run(u32::MAX), search.run(u32::MAX), "{}", case.id);
            assert_eq!(
                run(&mut copy, 20, &[7]),
                run(&mut search.clone(), 20, &[7]),
                "{}",
                case.id
            );
        }
    }
}

#[test]
fn counting_stops_at_the_limit() {
    assert_eq!(count(&Grid::EMPTY, 0), 0);
    assert_eq!(count(&Grid::EMPTY, 1_000), 1_000);
    let case = common::unique_cases().remove(0);
    assert_eq!(count(&case.puzzle, 1), 1);
    assert_eq!(count(&case.puzzle, 1_000), 1);
}
