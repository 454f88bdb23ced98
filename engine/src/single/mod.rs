//! The single engine: one puzzle at a time, resumable.
//!
//! A [`Search`] is a value with a stack of its own, so it goes on only when it is told to, and by as much as it is told.
//! Its state holds, for each digit, the cells where the digit may still go, as bits ([`vector::Cells`]); [`propagate`]
//! deduces what follows, for all cells at once, and [`branch`] splits what is left in two. `docs/engine.md` tells more.

mod branch;
mod cells;
mod conflicts;
mod locked;
mod propagate;
mod state;
mod triads;
mod vector;

use std::iter::FusedIterator;

use crate::{Grid, Isa, Solution};
use conflicts::{Conflicts, PATIENCE};
use propagate::Outcome;
use state::State;
use vector::{Kernel, Vector};

/// What a slice of a search came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A solution. Run on for the next one.
    Solution(Solution),
    /// Every solution has been found; there is nothing left to search.
    Done,
    /// The budget is spent. Run on to continue.
    Paused,
}

/// A search for the solutions of one puzzle, as a value: it goes on when it is told to, and dropping it ends it.
///
/// It allocates its stack, 50 KB, when it is made, and nothing after that: [`Search::restart`] takes it to the next
/// puzzle.
///
/// ```
/// use sudoku_engine::{Grid, Search, Step};
///
/// let puzzle = Grid::from_line("53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79")?;
/// let mut search = Search::new(&puzzle);
/// let Step::Solution(solution) = search.run(100) else { panic!("100 steps are plenty for it") };
/// assert!(solution.to_string().starts_with("534678912"));
/// assert_eq!(search.run(100), Step::Done);
/// # Ok::<(), sudoku_engine::GridError>(())
/// ```
#[derive(Debug)]
pub struct Search {
    isa: Isa,
    puzzle: Grid,
    steps: u64,
    conflicts: Conflicts,
    /// The states still to be looked at, the next one last. Together they hold all solutions not yet found.
    stack: Vec<State>,
}

/// The most states that a stack can hold.
///
/// Every state but the last is what a guess left behind, and in the state that the guess went on with, a digit has in
/// some box one row, or one column, or both, and had more before. That stays so further down, so it can happen twice
/// for each digit and box.
const DEPTH: usize = 2 * 9 * 9 + 1;

impl Clone for Search {
    /// The copy has room for all of its stack too, so that it allocates nothing either when it goes on.
    fn clone(&self) -> Self {
        let mut stack = Vec::with_capacity(DEPTH);
        stack.extend_from_slice(&self.stack);
        Self {
            stack,
            conflicts: self.conflicts.clone(),
            ..*self
        }
    }
}

impl Search {
    /// Starts a search on the best instruction set of this processor.
    pub fn new(puzzle: &Grid) -> Self {
        Self::with_isa(puzzle, Isa::detect())
    }

    /// Starts a search on an instruction set. The solutions and their order are the same on each, and so are the steps.
    pub fn with_isa(puzzle: &Grid, isa: Isa) -> Self {
        let mut search = Self {
            isa,
            puzzle: *puzzle,
            steps: 0,
            conflicts: Conflicts::NONE,
            stack: Vec::with_capacity(DEPTH),
        };
        search.restart(puzzle);
        search
    }

    /// Drops what is left of the search and starts one for another puzzle, in the same memory.
    pub fn restart(&mut self, puzzle: &Grid) {
        self.puzzle = *puzzle;
        self.steps = 0;
        self.conflicts = Conflicts::NONE;
        self.stack.clear();
        self.stack.extend(vector::run_on(self.isa, Start(puzzle)));
    }

    /// Goes on for at most `budget` steps, and stops at the first solution on the way.
    ///
    /// A step is one node of the search: the state after a guess, and all that follows from it. It takes about a third of
    /// a microsecond, half of one on the portable instruction set; a node from which very much follows takes up to ten
    /// times that.
    ///
    /// Returns [`Step::Done`] when nothing is left to search, even with a budget of 0, and at every call from then on. A
    /// puzzle whose clues contradict each other is done from the start. [`Step::Paused`] means that all of the budget was
    /// spent.
    pub fn run(&mut self, budget: u32) -> Step {
        vector::run_on(self.isa, Run { search: self, budget })
    }

    /// The steps taken since the start.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The solutions still to be found, one by one.
    ///
    /// Finding the next one can take as long as the puzzle likes; whoever needs a bound calls [`Search::run`].
    pub fn solutions(self) -> Solutions {
        Solutions { search: self }
    }
}

/// [`State::new`] for an instruction set.
struct Start<'a>(&'a Grid);

impl Kernel for Start<'_> {
    type Output = Option<State>;

    #[inline(always)]
    fn run<V: Vector>(self, token: V::Token) -> Option<State> {
        State::new::<V>(token, self.0)
    }
}

/// [`Search::run`] for an instruction set.
struct Run<'a> {
    search: &'a mut Search,
    budget: u32,
}

impl Kernel for Run<'_> {
    type Output = Step;

    #[inline(always)]
    fn run<V: Vector>(self, token: V::Token) -> Step {
        let Search {
            puzzle,
            steps,
            stack,
            conflicts,
            ..
        } = self.search;
        for _ in 0..self.budget {
            if triads::are_due(*steps) {
                stack.iter_mut().for_each(triads::apply);
            }
            let Some(state) = stack.last_mut() else {
                return Step::Done;
            };
            *steps += 1;
            match propagate::propagate::<V>(token, state) {
                Outcome::Dead => {
                    conflicts.note(state);
                    stack.pop();
                }
                Outcome::Complete => {
                    let grid = state.grid();
                    stack.pop();
                    if let Some(solution) = grid.and_then(|grid| Solution::check(puzzle, &grid).ok()) {
                        return Step::Solution(solution);
                    }
                }
                Outcome::Stalled => {
                    let learned = if *steps > PATIENCE {
                        conflicts.pick(state)
                    } else {
                        None
                    };
                    let (guess, another) = match learned {
                        Some(guess) => (guess, None),
                        None => branch::pick::<V>(token, state, conflicts),
                    };
                    guess.split(stack);
                    if let Some(another) = another {
                        another.split(stack);
                    }
                }
            }
        }
        if stack.is_empty() {
            Step::Done
        } else {
            Step::Paused
        }
    }
}

/// The solutions of a puzzle, one by one. Made by [`solutions`] and [`Search::solutions`].
#[derive(Debug, Clone)]
pub struct Solutions {
    search: Search,
}

impl Iterator for Solutions {
    type Item = Solution;

    fn next(&mut self) -> Option<Solution> {
        loop {
            match self.search.run(u32::MAX) {
                Step::Solution(solution) => return Some(solution),
                Step::Done => return None,
                Step::Paused => {}
            }
        }
    }
}

impl FusedIterator for Solutions {}

/// The solutions of a puzzle, each once, in no order that means anything.
///
/// ```
/// use sudoku_engine::{Grid, solutions};
///
/// let empty = Grid::EMPTY;
/// assert_eq!(solutions(&empty).take(3).count(), 3);
/// ```
pub fn solutions(puzzle: &Grid) -> Solutions {
    Search::new(puzzle).solutions()
}

/// How many solutions a puzzle has, counted up to `limit`: less means that there are no more.
pub fn count(puzzle: &Grid, limit: usize) -> usize {
    solutions(puzzle).take(limit).count()
}
