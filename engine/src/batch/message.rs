//! What goes into the engine and comes out again: puzzles in batches.

use crate::{Grid, Solution};

/// How many solutions to look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Limit {
    /// Stop at the first, without asking whether there are others.
    One,
    /// Find a solution and prove that it is the only one, or find two.
    Two,
}

/// How the puzzles of a batch are solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Options {
    /// How many solutions to look for.
    pub limit: Limit,
    /// Whether to count solutions only, and hand none out.
    pub omit_solutions: bool,
    /// How many steps a puzzle may take before it is left open, a step being a lane that branches: 0 allows only what
    /// needs no search. [`Options::default`] has the right number for most uses.
    pub budget: u32,
}

impl Default for Options {
    /// Limit two, solutions included, 10,000 steps: 90 times what the hardest puzzles known need on average, and about a
    /// millisecond of an engine that does nothing else.
    fn default() -> Self {
        Self {
            limit: Limit::Two,
            omit_solutions: false,
            budget: 10_000,
        }
    }
}

/// What became of a puzzle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Not finished: the puzzle exceeded its budget, or its batch was cancelled or too small to be worth a sweep. It is
    /// for [`crate::Search`] to solve, from the start.
    Open,
    /// There is no solution. Whether clues contradict each other, [`crate::conflicts`] tells.
    Unsolvable,
    /// A solution, where one was asked for.
    Solved,
    /// Exactly one solution.
    Unique,
    /// Two solutions, and perhaps more.
    Multiple,
}

/// Puzzles that go through the engine together, with room for their results.
///
/// It is made by whoever has the puzzles, lent to the engine, and comes back with the outcomes.
#[derive(Debug)]
pub struct Batch {
    key: u64,
    options: Options,
    puzzles: Vec<Grid>,
    outcomes: Vec<Outcome>,
    /// The first solution of each puzzle and the second, as cells; the first cell is zero where there is none. Empty
    /// where solutions are omitted, or where one is enough.
    first: Vec<[u8; 81]>,
    second: Vec<[u8; 81]>,
    /// How many puzzles the engine has taken, from the start.
    taken: usize,
    /// How many it has not answered.
    unanswered: usize,
}

/// No solution.
const ABSENT: [u8; 81] = [0; 81];

impl Batch {
    /// A batch of puzzles; `key` is the caller's, for telling batches apart. All memory that its results need is
    /// allocated here.
    pub fn new(key: u64, puzzles: Vec<Grid>, options: Options) -> Self {
        let mut batch = Self {
            key,
            options,
            puzzles,
            outcomes: Vec::new(),
            first: Vec::new(),
            second: Vec::new(),
            taken: 0,
            unanswered: 0,
        };
        batch.make_room();
        batch
    }

    /// Other puzzles in the same memory, with the same options. Nothing is allocated unless they are more than ever
    /// before.
    pub fn refill(&mut self, key: u64, puzzles: impl IntoIterator<Item = Grid>) {
        self.key = key;
        self.puzzles.clear();
        self.puzzles.extend(puzzles);
        self.make_room();
    }

    /// Makes the results as many as there are puzzles, and empties them.
    fn make_room(&mut self) {
        let count = self.puzzles.len();
        let firsts = if self.options.omit_solutions { 0 } else { count };
        let seconds = if self.options.limit == Limit::Two {
            firsts
        } else {
            0
        };
        self.outcomes.clear();
        self.outcomes.resize(count, Outcome::Open);
        for (solutions, count) in [(&mut self.first, firsts), (&mut self.second, seconds)] {
            solutions.resize(count, ABSENT);
            solutions.iter_mut().for_each(|cells| cells[0] = 0);
        }
        self.taken = 0;
        self.unanswered = count;
    }

    /// The caller's key.
    pub fn key(&self) -> u64 {
        self.key
    }

    /// How its puzzles are solved.
    pub fn options(&self) -> Options {
        self.options
    }

    /// Its puzzles.
    pub fn puzzles(&self) -> &[Grid] {
        &self.puzzles
    }

    /// What became of puzzle `index`. `None` if there is no such puzzle.
    pub fn outcome(&self, index: usize) -> Option<Outcome> {
        let outcome = *self.outcomes.get(index)?;
        let missing =
            !self.options.omit_solutions && self.written(index, outcome).count() < outcome.solutions();
        // A solution that does not keep the clues is not written down. There is none, unless the engine is wrong.
        Some(if missing { Outcome::Open } else { outcome })
    }

    /// The solutions found for puzzle `index`: as many as its outcome speaks of, or none where they are omitted or the
    /// puzzle is open. Which of several come, and in what order, may differ from call to call.
    pub fn solutions(&self, index: usize) -> impl Iterator<Item = Solution> {
        let outcome = self.outcomes.get(index).copied().unwrap_or(Outcome::Open);
        self.written(index, outcome)
            .filter_map(|cells| Grid::from_cells(*cells).map(Solution::checked))
    }

    /// The solutions written down for a puzzle of this outcome.
    fn written(&self, index: usize, outcome: Outcome) -> impl Iterator<Item = &[u8; 81]> {
        let found = [self.first.get(index), self.second.get(index)];
        found
            .into_iter()
            .flatten()
            .take(outcome.solutions())
            .filter(|cells| cells[0] != 0)
    }

    /// The indices of the puzzles that are left to the single engine, ascending.
    pub fn open(&self) -> impl Iterator<Item = usize> {
        (0..self.puzzles.len()).filter(|&index| self.outcome(index) == Some(Outcome::Open))
    }

    /// The indices of the next puzzles for the engine, at most `count`.
    pub(super) fn take(&mut self, count: usize) -> std::ops::Range<usize> {
        let start = self.taken;
        self.taken += count.min(self.puzzles.len() - start);
        start..self.taken
    }

    /// The puzzles taken last, from index `start`.
    pub(super) fn taken(&self, start: usize) -> &[Grid] {
        &self.puzzles[start..self.taken]
    }

    pub(super) fn is_untouched(&self) -> bool {
        self.taken == 0
    }

    pub(super) fn is_taken(&self) -> bool {
        self.taken == self.puzzles.len()
    }

    /// Notes an outcome. Returns whether it was the last one missing.
    pub(super) fn answer(&mut self, index: usize, outcome: Outcome) -> bool {
        self.outcomes[index] = outcome;
        self.unanswered -= 1;
        self.unanswered == 0
    }

    /// Writes a solution down, if the puzzle's clues stand in it.
    #[inline(always)]
    pub(super) fn write(&mut self, index: usize, second: bool, cells: &[u8; 81]) {
        if keeps(self.puzzles[index].cells(), cells) {
            let solutions = if second { &mut self.second } else { &mut self.first };
            solutions[index] = *cells;
        }
    }
}

/// Whether all clues stand in a complete grid. Eight cells at a time: this is done for every solution.
#[inline(always)]
fn keeps(clues: &[u8; 81], cells: &[u8; 81]) -> bool {
    let ((clues, last_clue), (cells, last_cell)) = (clues.as_chunks::<8>(), cells.as_chunks::<8>());
    let mut changed = 0;
    for (clues, cells) in clues.iter().zip(cells) {
        let (clues, cells) = (u64::from_ne_bytes(*clues), u64::from_ne_bytes(*cells));
        // A clue, at most 9, carries into the top bit of its byte, and a blank does not.
        let given = (clues + 0x7f7f_7f7f_7f7f_7f7f) >> 7 & 0x0101_0101_0101_0101;
        changed |= (clues ^ cells) & (given * 0xff);
    }
    changed == 0 && (last_clue == [0] || last_clue == last_cell)
}

impl Outcome {
    /// How many solutions it speaks of.
    fn solutions(self) -> usize {
        match self {
            Self::Open | Self::Unsolvable => 0,
            Self::Solved | Self::Unique => 1,
            Self::Multiple => 2,
        }
    }
}
