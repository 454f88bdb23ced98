//! The single engine: one puzzle at a time, resumable.
//!
//! A [`Search`] is a value with a stack of its own, so it goes on only when it is told to, and by as much as it is told.
//! Its state holds, for each digit, the cells where the digit may still go, as bits ([`vector::Cells`]); [`propagate`]
//! deduces what follows, for all cells at once, and [`branch`] splits what is left in two. `docs/engine.md` tells more.

mod branch;
mod propagate;
mod state;
mod vector;

use std::iter::FusedIterator;

use crate::isa::Set;
use crate::{Grid, Isa, Solution, conflict};
use propagate::Outcome;
use state::State;
use vector::{Portable, Vector};

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
/// It allocates its stack, about 40 KB, when it is made, and nothing after that: [`Search::restart`] takes it to the next
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
    /// The states still to be looked at, the next one last. Together they hold all solutions not yet found.
    stack: Vec<State>,
}

/// The most states that a stack can hold.
///
/// Every state but the last is what a guess left behind, and in the state that the guess went on with, a digit had its
/// only arrangement left in a band or stack, or a cell its only candidate, that had more before. That stays so further
/// down, so it can happen once for each of the 9 digits in each of the 6 bands and stacks, and for each of the 81 cells.
const DEPTH: usize = 9 * 6 + 81 + 1;

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
            stack: Vec::with_capacity(DEPTH),
        };
        search.restart(puzzle);
        search
    }

    /// Drops what is left of the search and starts one for another puzzle, in the same memory.
    pub fn restart(&mut self, puzzle: &Grid) {
        self.puzzle = *puzzle;
        self.steps = 0;
        self.stack.clear();
        if !conflict::has_conflict(puzzle) {
            self.stack.push(State::new(puzzle));
        }
    }

    /// Goes on for at most `budget` steps, and stops at the first solution on the way.
    ///
    /// A step is one node of the search: the state after a guess, and all that follows from it. It takes about a third of
    /// a microsecond with vector instructions, a microsecond without; a node from which very much follows takes up to
    /// ten times that.
    ///
    /// Returns [`Step::Done`] when nothing is left to search, even with a budget of 0, and at every call from then on. A
    /// puzzle whose clues contradict each other is done from the start. [`Step::Paused`] means that all of the budget was
    /// spent.
    pub fn run(&mut self, budget: u32) -> Step {
        match self.isa.set() {
            Set::Portable => self.run_on::<Portable>((), budget),
            #[cfg(all(feature = "simd", target_arch = "x86_64"))]
            Set::Avx2(token) | Set::Avx2NoPext(token) => vector::run_avx2(token, self, budget),
            #[cfg(all(feature = "simd", target_arch = "x86_64"))]
            Set::Avx512(token) => vector::run_avx512(token, self, budget),
        }
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

    /// [`Search::run`] with the operations of an instruction set.
    #[inline(always)]
    fn run_on<V: Vector>(&mut self, token: V::Token, budget: u32) -> Step {
        for _ in 0..budget {
            let Some(state) = self.stack.last_mut() else {
                return Step::Done;
            };
            self.steps += 1;
            match propagate::propagate::<V>(token, state) {
                Outcome::Dead => {
                    self.stack.pop();
                }
                Outcome::Complete => {
                    let grid = state.grid();
                    self.stack.pop();
                    let checked = grid.and_then(|grid| Solution::check(&self.puzzle, &grid).ok());
                    if let Some(solution) = checked {
                        return Step::Solution(solution);
                    }
                }
                Outcome::Stalled => {
                    let [first, rest] = branch::split::<V>(token, state);
                    *state = rest;
                    self.stack.push(first);
                }
            }
        }
        if self.stack.is_empty() {
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
