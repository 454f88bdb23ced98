//! The reference engine, which the other engines are tested against.

mod common;

use common::Count;
use sudoku_engine::reference::{solutions, solve, solve_board};
use sudoku_engine::{Grid, Solution};

type Board = [[char; 9]; 9];

fn board(grid: &Grid) -> Board {
    let line = grid.to_line();
    std::array::from_fn(|row| std::array::from_fn(|column| char::from(line[9 * row + column])))
}

/// Whether the classic algorithm is quick enough for a test: it takes seconds to minutes where the first rows, which
/// it fills first, hold few clues.
fn quick(puzzle: &Grid) -> bool {
    puzzle.cells()[..27].iter().filter(|&&value| value != 0).count() >= 8
}

#[test]
fn unique_puzzles_have_their_solution_and_no_other() {
    for case in common::unique_cases().iter().filter(|case| quick(&case.puzzle)) {
        let found: Vec<Grid> = solutions(&case.puzzle, 2).into_iter().map(Grid::from).collect();
        assert_eq!(found, [case.solution], "{}", case.id);
    }
}

#[test]
fn solutions_are_counted_up_to_the_limit() {
    for case in common::multiple_cases().iter().filter(|case| quick(&case.puzzle)) {
        let (limit, count) = match case.count {
            Count::Exactly(count) => (count + 1, count),
            Count::MoreThan(bound) => (bound + 1, bound + 1),
        };
        let mut found = solutions(&case.puzzle, limit);
        assert_eq!(found.len(), count, "{}", case.id);
        assert!(
            found.is_sorted(),
            "{}: not in the order of the cells and digits",
            case.id
        );
        found.dedup();
        assert_eq!(found.len(), count, "{}: a solution twice", case.id);
        for solution in found {
            assert_eq!(Solution::check(&case.puzzle, solution.grid()), Ok(solution));
        }
    }
}

#[test]
fn the_first_solution_is_the_lowest() {
    let solution = solve(&Grid::EMPTY).unwrap();
    assert_eq!(solution, solutions(&Grid::EMPTY, 3)[0]);
    assert_eq!(
        solution.to_string(),
        "123456789456789123789123456214365897365897214897214365531642978642978531978531642"
    );
}

#[test]
fn no_solution_is_wanted_or_there_is_none() {
    assert_eq!(solutions(&Grid::EMPTY, 0), []);
    for case in common::unsolvable_cases()
        .iter()
        .filter(|case| quick(&case.puzzle))
    {
        assert_eq!(solve(&case.puzzle), None, "{}", case.id);
    }
    for case in common::invalid_cases() {
        assert_eq!(solve(&case.puzzle), None, "{}", case.id);
    }
}

#[test]
fn a_board_is_solved_in_place() {
    for case in common::unique_cases().iter().filter(|case| quick(&case.puzzle)) {
        let mut solved = board(&case.puzzle);
        assert!(solve_board(&mut solved), "{}", case.id);
        assert_eq!(solved, board(&case.solution), "{}", case.id);
    }
}

#[test]
fn a_board_without_a_solution_is_left_as_it_was() {
    let unsolvable = common::unsolvable_cases().into_iter().map(|case| case.puzzle);
    let invalid = common::invalid_cases().into_iter().map(|case| case.puzzle);
    for puzzle in unsolvable.filter(quick).chain(invalid) {
        let mut after = board(&puzzle);
        assert!(!solve_board(&mut after), "{puzzle}");
        assert_eq!(after, board(&puzzle));
    }
}

#[test]
fn a_board_with_a_foreign_character_is_left_as_it_was() {
    for character in ['0', ' ', 'a', '*', '\0', '５', '٣', '\u{10ffff}'] {
        for cell in [0, 40, 80] {
            let mut before = [['.'; 9]; 9];
            before[cell / 9][cell % 9] = character;
            let mut after = before;
            assert!(!solve_board(&mut after), "{character:?}");
            assert_eq!(after, before);
        }
    }
}
