//! One puzzle's search, in slices.

use std::time::{Duration, Instant};

use sudoku_engine::{Conflict, Grid, Search, Solution, Step, conflicts};

use crate::options::Options;

/// About how long a slice takes: short enough to run between two awaits, long enough that nearly every puzzle is solved
/// within its first.
const SLICE: Duration = Duration::from_micros(40);

/// The steps of the first slice, before the search's pace is known.
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
    /// When the first step was made.
    started: Option<Instant>,
    /// The steps that take about a slice.
    budget: u32,
    solutions: Vec<Solution>,
    count: u32,
}

/// Why a search stopped.
enum Stop {
    Finished,
    SolutionLimit,
    TimeLimit,
}

impl Attempt {
    pub fn new(puzzle: &Grid, options: Options) -> Self {
        Self {
            puzzle: *puzzle,
            options,
            search: Search::new(puzzle),
            started: None,
            budget: FIRST_BUDGET,
            solutions: Vec::new(),
            count: 0,
        }
    }

    /// Goes on for a slice, and gives the answer once there is one. The time limit is looked at between slices.
    pub fn slice(&mut self) -> Option<Answer> {
        let begin = Instant::now();
        let started = *self.started.get_or_insert(begin);
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
            if step == Step::Paused {
                self.set_pace(now - at);
            }
            if now - started >= self.options.time_limit {
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
