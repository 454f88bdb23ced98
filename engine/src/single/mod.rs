//! The single engine: one puzzle at a time, resumable.
//!
//! A [`Search`] is a value with a stack of its own, so it goes on only when it is told to, and by as much as it is told.
//! Its state holds, for each digit, the cells where the digit may still go, as bits ([`vector::Cells`]); [`propagate`]
//! deduces what follows, for all cells at once, and [`branch`] splits what is left in two. `docs/engine.md` tells more.

mod branch;
mod cells;
mod conflicts;
mod exchange;
mod locked;
mod propagate;
mod stack;
mod state;
mod triads;
mod vector;

use std::iter::FusedIterator;

use crate::{Grid, Isa, Solution};
use branch::Split;
use conflicts::{Conflicts, PATIENCE};
use exchange::Second;
use propagate::Outcome;
use stack::Stack;
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
/// It allocates its stack, 80 KB, when it is made, and nothing after that: [`Search::restart`] takes it to the next
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
#[derive(Debug, Clone)]
pub struct Search {
    isa: Isa,
    puzzle: Grid,
    steps: u64,
    conflicts: Conflicts,
    second: Second,
    stack: Stack,
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
            second: Second::Awaited,
            stack: Stack::new(),
        };
        search.restart(puzzle);
        search
    }

    /// Drops what is left of the search and starts one for another puzzle, in the same memory.
    pub fn restart(&mut self, puzzle: &Grid) {
        self.puzzle = *puzzle;
        self.steps = 0;
        self.conflicts = Conflicts::NONE;
        self.second = Second::Awaited;
        let state = self.stack.restart();
        if !vector::run_on(self.isa, Start { state, puzzle }) {
            self.stack.clear();
        }
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
        if budget > 0
            && let Some(solution) = self.exchange()
        {
            return Step::Solution(solution);
        }
        let last = self.steps + u64::from(budget);
        loop {
            let budget = (last - self.steps) as u32;
            if !vector::run_on(self.isa, Run { search: self, budget }) {
                break;
            }
            if let Some(solution) = self.take_solution() {
                return Step::Solution(solution);
            }
        }
        if self.stack.is_empty() {
            Step::Done
        } else {
            Step::Paused
        }
    }

    /// The solution that is the last state, in which every cell has one candidate. `None` if it is none, or if it was told
    /// before.
    fn take_solution(&mut self) -> Option<Solution> {
        let grid = self.stack.states().last().and_then(State::grid);
        let solution = grid.and_then(|grid| Solution::check(&self.puzzle, &grid).ok());
        match (&self.second, solution) {
            (Second::Awaited, Some(first)) if self.stack.states().len() > 1 => {
                self.second = Second::Due(first)
            }
            (Second::Told(told), Some(solution)) if *told == solution => {
                self.stack.pop();
                return None;
            }
            _ => self.stack.pop(),
        }
        solution
    }

    /// The second solution, if it is time to try an exchange and there is one.
    fn exchange(&mut self) -> Option<Solution> {
        let Second::Due(first) = &self.second else {
            return None;
        };
        let second = exchange::exchange(&self.puzzle, first, self.stack.states());
        self.second = second.map_or(Second::Unknown, Second::Told);
        self.stack.pop();
        second
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

/// [`State::set`] for an instruction set.
struct Start<'a> {
    state: &'a mut State,
    puzzle: &'a Grid,
}

impl Kernel for Start<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<V: Vector>(self, token: V::Token) -> bool {
        self.state.set::<V>(token, self.puzzle)
    }
}

/// The steps of [`Search::run`] for an instruction set, up to the first state in which every cell has one candidate.
struct Run<'a> {
    search: &'a mut Search,
    budget: u32,
}

impl Kernel for Run<'_> {
    /// Whether there is such a state. It is the last on the stack.
    type Output = bool;

    #[inline(always)]
    fn run<V: Vector>(self, token: V::Token) -> bool {
        let Search {
            steps,
            stack,
            conflicts,
            ..
        } = self.search;
        for _ in 0..self.budget {
            if triads::are_due(*steps) {
                stack.states_mut().iter_mut().for_each(triads::apply);
            }
            let Some(state) = stack.states_mut().last_mut() else {
                return false;
            };
            *steps += 1;
            match propagate::propagate::<V>(token, state, conflicts.are_few()) {
                Outcome::Dead => {
                    conflicts.note(state);
                    stack.pop();
                }
                Outcome::Complete => return true,
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
                    V::run(
                        token,
                        Split {
                            stack,
                            guess,
                            another,
                        },
                    );
                }
            }
        }
        false
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
