//! One puzzle's search, in slices.

use std::time::{Duration, Instant};

use sudoku_engine::{Conflict, Grid, Isa, Search, Solution, Step, conflicts};

use crate::options::Options;

/// About how long a slice takes: short enough to run between two awaits, long enough that nearly every puzzle is solved
/// within its first.
const SLICE: Duration = Duration::from_micros(40);

/// The most that one slice counts as. One that takes longer than this did not run all the time: the operating system gave
/// the core to somebody else in the middle.
const MOST_OF_A_SLICE: Duration = Duration::from_millis(1);

/// The steps of the first slice, before the search's pace is known: a step takes a third of a microsecond to ten.
const FIRST_BUDGET: u32 = 32;

/// What a search established about a puzzle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Unique,
    Multiple,
    Unsolvable,
    Solved,
    Undecided,
}

/// The result of one puzzle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub outcome: Outcome,
    /// What was found, unless the options leave it out.
    pub solutions: Vec<Solution>,
    /// How many solutions were found.
    pub count: u32,
    /// Every repeated clue, if that is why there is no solution.
    pub conflicts: Vec<Conflict>,
}

/// A search under way. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Attempt {
    puzzle: Grid,
    options: Options,
    search: Search,
    spent: Spent,
    /// The steps that take about a slice.
    budget: u32,
    solutions: Vec<Solution>,
    count: u32,
}

/// The time that a search has run, from its first step: what its time limit bounds. The time between its slices, when it
/// waits for its next turn, does not count, and a machine with too much to do makes no puzzle undecided that is not hard.
#[derive(Debug, Clone, Copy, Default)]
struct Spent {
    total: Duration,
}

impl Spent {
    fn add(&mut self, slice: Duration) {
        self.total += slice.min(MOST_OF_A_SLICE);
    }
}

/// Why a search stopped.
enum Stop {
    Finished,
    SolutionLimit,
    TimeLimit,
}

impl Attempt {
    pub fn new(puzzle: &Grid, options: Options, isa: Isa) -> Self {
        Self {
            puzzle: *puzzle,
            options,
            search: Search::with_isa(puzzle, isa),
            spent: Spent::default(),
            budget: FIRST_BUDGET,
            solutions: Vec::new(),
            count: 0,
        }
    }

    /// Drops what is left of the search and starts on another puzzle, in the same memory.
    pub fn restart(&mut self, puzzle: &Grid, options: Options) {
        self.puzzle = *puzzle;
        self.options = options;
        self.search.restart(puzzle);
        self.spent = Spent::default();
        self.solutions.clear();
        self.count = 0;
    }

    /// Goes on for a slice, and gives the answer once there is one. The time limit is looked at between slices.
    pub fn slice(&mut self) -> Option<Answer> {
        let begin = Instant::now();
        let mut at = begin;
        loop {
            let step = self.search.run(self.budget);
            match step {
                Step::Solution(solution) => {
                    self.keep(solution);
                    if self.count == self.options.solution_limit {
                        return Some(self.answer(Stop::SolutionLimit));
                    }
                }
                Step::Done => return Some(self.answer(Stop::Finished)),
                Step::Paused => {}
            }
            let now = Instant::now();
            let took = now - at;
            if step == Step::Paused {
                self.set_pace(took);
            }
            self.spent.add(took);
            if self.spent.total >= self.options.time_limit {
                return Some(self.answer(Stop::TimeLimit));
            }
            if step == Step::Paused || now - begin >= SLICE {
                return None;
            }
            at = now;
        }
    }

    fn keep(&mut self, solution: Solution) {
        self.count += 1;
        if !self.options.omit_solutions {
            self.solutions.push(solution);
        }
    }

    /// Sets the budget so that the next slice takes its due. It grows at most twofold: the last slice may have been
    /// lucky. One that lost its core in the middle looks slow, which the next ones make up for.
    fn set_pace(&mut self, took: Duration) {
        let due = u128::from(self.budget) * SLICE.as_nanos() / took.as_nanos().max(1);
        let due = u32::try_from(due).unwrap_or(u32::MAX);
        self.budget = due.clamp(FIRST_BUDGET / 2, self.budget.saturating_mul(2));
    }

    fn answer(&mut self, stop: Stop) -> Answer {
        let outcome = match (stop, self.count) {
            (Stop::TimeLimit, _) => Outcome::Undecided,
            (_, 0) => Outcome::Unsolvable,
            (_, 1) if self.options.solution_limit == 1 => Outcome::Solved,
            (_, 1) => Outcome::Unique,
            _ => Outcome::Multiple,
        };
        let conflicts = match outcome {
            Outcome::Unsolvable => conflicts(&self.puzzle),
            _ => Vec::new(),
        };
        Answer {
            outcome,
            solutions: std::mem::take(&mut self.solutions),
            count: self.count,
            conflicts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIQUE: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
    const UNSOLVABLE: &str =
        "..9.287..8.6..4..5..3.....46.........2.71345.........23.....5..9..4..8.7..125.3..";

    fn options(solution_limit: u32) -> Options {
        Options {
            solution_limit,
            time_limit: Duration::from_secs(60),
            omit_solutions: false,
        }
    }

    fn attempt(puzzle: &Grid, options: Options) -> Attempt {
        Attempt::new(puzzle, options, Isa::detect())
    }

    fn run(attempt: &mut Attempt) -> Answer {
        loop {
            if let Some(answer) = attempt.slice() {
                return answer;
            }
        }
    }

    #[track_caller]
    fn check(puzzle: &str, solution_limit: u32, outcome: Outcome, count: u32) -> Answer {
        let puzzle = Grid::from_line(puzzle).unwrap();
        let answer = run(&mut attempt(&puzzle, options(solution_limit)));
        assert_eq!((answer.outcome, answer.count), (outcome, count));
        assert_eq!(answer.solutions.len(), count as usize);
        answer
    }

    #[test]
    fn outcomes() {
        let empty = ".".repeat(81);
        check(UNIQUE, 1, Outcome::Solved, 1);
        check(UNIQUE, 2, Outcome::Unique, 1);
        check(UNIQUE, 9, Outcome::Unique, 1);
        check(&empty, 1, Outcome::Solved, 1);
        check(&empty, 2, Outcome::Multiple, 2);
        check(&empty, 999, Outcome::Multiple, 999);
        check(UNSOLVABLE, 1, Outcome::Unsolvable, 0);
        check(UNSOLVABLE, 2, Outcome::Unsolvable, 0);
    }

    #[test]
    fn conflicts_come_with_the_clues_that_make_them() {
        let answer = check(&format!("77{}", ".".repeat(79)), 2, Outcome::Unsolvable, 0);
        assert_eq!(answer.conflicts.len(), 2);
        let answer = check(UNSOLVABLE, 2, Outcome::Unsolvable, 0);
        assert!(answer.conflicts.is_empty());
    }

    #[test]
    fn time_spent_is_undecided() {
        let options = Options {
            time_limit: Duration::from_nanos(1),
            ..options(u32::MAX)
        };
        let answer = run(&mut attempt(&Grid::EMPTY, options));
        assert_eq!(answer.outcome, Outcome::Undecided);
        assert_eq!(answer.solutions.len(), answer.count as usize);
    }

    #[test]
    fn the_time_of_slices_adds_up() {
        let mut spent = Spent::default();
        for _ in 0..1_000 {
            spent.add(SLICE);
        }
        assert_eq!(spent.total, 1_000 * SLICE);
    }

    #[test]
    fn a_slice_that_lost_its_core_hardly_counts() {
        let mut spent = Spent::default();
        spent.add(Duration::from_secs(3_600));
        spent.add(SLICE);
        assert_eq!(spent.total, MOST_OF_A_SLICE + SLICE);
    }

    #[test]
    fn a_restart_leaves_nothing_behind() {
        let unique = Grid::from_line(UNIQUE).unwrap();
        let mut attempt = attempt(&Grid::EMPTY, options(1_000_000));
        assert_eq!(attempt.slice(), None);
        attempt.restart(&unique, options(2));
        let answer = run(&mut attempt);
        assert_eq!((answer.outcome, answer.count), (Outcome::Unique, 1));
        assert_eq!(answer, run(&mut self::attempt(&unique, options(1_000_000))));
    }

    #[test]
    fn the_pace_follows_the_time_that_steps_take() {
        let mut attempt = attempt(&Grid::EMPTY, options(2));
        attempt.set_pace(Duration::from_nanos(1));
        assert_eq!(attempt.budget, 2 * FIRST_BUDGET);
        attempt.set_pace(2 * SLICE);
        assert_eq!(attempt.budget, FIRST_BUDGET);
        attempt.set_pace(Duration::from_secs(1));
        assert_eq!(attempt.budget, FIRST_BUDGET / 2);
        attempt.budget = u32::MAX;
        attempt.set_pace(Duration::ZERO);
        assert_eq!(attempt.budget, u32::MAX);
    }
}
