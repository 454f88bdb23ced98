//! What goes into the engine and comes out again: puzzles in batches.

use super::transpose::Unpacked;
use crate::arch::Kernel;
use crate::{Grid, Isa, Solution};

/// How many solutions to look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Limit {
    /// Stop at the first, without asking whether there are others.
    One,
    /// Find a solution and prove that it is the only one, or find two.
    Two,
}

impl Limit {
    pub(super) fn count(self) -> u8 {
        match self {
            Self::One => 1,
            Self::Two => 2,
        }
    }
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
    /// Not finished: the puzzle exceeded its budget or the engine's room for its guesses, or its batch was cancelled or too
    /// small to be worth a sweep. It is for [`crate::Search`] to solve, from the start.
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
    answers: Vec<Answer>,
    /// The first solution of each puzzle and the second. Empty where solutions are omitted, or where one is
    /// enough; what an answer does not speak of is left from puzzles before.
    first: Vec<Grid>,
    second: Vec<Grid>,
    /// How many puzzles the engine has taken, from the start.
    taken: usize,
    /// How many it has not answered.
    unanswered: usize,
}

/// What is known of a puzzle.
#[derive(Debug, Clone, Copy)]
struct Answer {
    outcome: Outcome,
    /// How many of its solutions are written down.
    written: u8,
}

impl Answer {
    const NONE: Self = Self {
        outcome: Outcome::Open,
        written: 0,
    };
}

impl Batch {
    /// A batch of puzzles; `key` is the caller's, for telling batches apart. All memory that their results need is
    /// allocated here, and that for more puzzles, added later, when it is submitted.
    pub fn new(key: u64, puzzles: Vec<Grid>, options: Options) -> Self {
        let mut batch = Self {
            key,
            options,
            puzzles,
            answers: Vec::new(),
            first: Vec::new(),
            second: Vec::new(),
            taken: 0,
            unanswered: 0,
        };
        batch.make_room();
        batch
    }

    /// Takes all puzzles out, for others. The memory stays, so that nothing is allocated unless they are more, or ask for
    /// more solutions, than ever before.
    pub fn clear(&mut self, key: u64, options: Options) {
        self.key = key;
        self.options = options;
        self.puzzles.clear();
        self.answers.clear();
    }

    /// Adds a puzzle. It has no outcome before the batch is submitted.
    #[inline(always)]
    pub fn push(&mut self, puzzle: Grid) {
        self.puzzles.push(puzzle);
    }

    /// Reads puzzles from lines of 81 characters, as [`Grid::from_line`] does, and adds them; `isa` makes it fast.
    ///
    /// # Errors
    ///
    /// The first line that is no puzzle. Those before it were added, and of those after it none was taken from an
    /// iterator passed by reference. [`Grid::from_line`] tells what is wrong.
    pub fn push_lines<'a>(
        &mut self,
        isa: Isa,
        lines: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<(), &'a [u8]> {
        isa.run(ReadLines {
            lines: lines.into_iter(),
            puzzles: &mut self.puzzles,
        })
    }

    /// Makes room for the results, and empties them.
    pub(super) fn make_room(&mut self) {
        let count = self.puzzles.len();
        let firsts = if self.options.omit_solutions { 0 } else { count };
        let seconds = if self.options.limit == Limit::Two {
            firsts
        } else {
            0
        };
        self.answers.clear();
        self.answers.resize(count, Answer::NONE);
        for (solutions, count) in [(&mut self.first, firsts), (&mut self.second, seconds)] {
            if solutions.len() < count {
                solutions.resize(count, Grid::EMPTY);
            }
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

    /// What became of puzzle `index`. `None` if there is no such puzzle, or if the batch was filled anew and not submitted
    /// since.
    pub fn outcome(&self, index: usize) -> Option<Outcome> {
        let answer = self.answers.get(index)?;
        let missing = !self.options.omit_solutions && answer.written < answer.outcome.solutions();
        // A solution that does not keep the clues is not written down. There is none, unless the engine is wrong.
        Some(if missing { Outcome::Open } else { answer.outcome })
    }

    /// The solutions found for puzzle `index`: as many as its outcome speaks of, or none where they are omitted or the
    /// puzzle is open. Which of several come, and in what order, may differ from call to call.
    pub fn solutions(&self, index: usize) -> impl Iterator<Item = Solution> {
        self.solution_grids(index).map(|grid| Solution::checked(*grid))
    }

    /// The grids of the same solutions, where they stand: for who only writes them out.
    pub fn solution_grids(&self, index: usize) -> impl Iterator<Item = &Grid> {
        let count = match self.outcome(index) {
            Some(outcome) if !self.options.omit_solutions => outcome.solutions(),
            _ => 0,
        };
        let found = [self.first.get(index), self.second.get(index)];
        found.into_iter().flatten().take(count.into())
    }

    /// The indices of the puzzles that have no outcome, ascending: they are left to the single engine.
    pub fn open(&self) -> impl Iterator<Item = usize> {
        (0..self.puzzles.len()).filter(|&index| matches!(self.outcome(index), Some(Outcome::Open) | None))
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

    /// How many puzzles are left to take.
    pub(super) fn waiting(&self) -> usize {
        self.puzzles.len() - self.taken
    }

    pub(super) fn is_taken(&self) -> bool {
        self.waiting() == 0
    }

    /// Notes an outcome.
    #[inline(always)]
    pub(super) fn answer(&mut self, index: usize, outcome: Outcome) {
        self.answers[index].outcome = outcome;
    }

    /// Takes so many answers off those that are missing. Returns whether they were the last.
    pub(super) fn count_answers(&mut self, count: usize) -> bool {
        self.unanswered -= count;
        self.unanswered == 0
    }

    /// Takes down its solutions.
    pub(super) fn writer(&mut self) -> Writer<'_> {
        Writer {
            puzzles: &self.puzzles,
            answers: &mut self.answers,
            first: &mut self.first,
            second: &mut self.second,
        }
    }
}

/// Takes down the solutions of a batch.
pub(super) struct Writer<'a> {
    puzzles: &'a [Grid],
    answers: &'a mut [Answer],
    first: &'a mut [Grid],
    second: &'a mut [Grid],
}

impl Writer<'_> {
    /// Writes a solution down, if the puzzle's clues stand in it.
    #[inline(always)]
    pub(super) fn write(&mut self, index: usize, second: bool, solution: &Unpacked) {
        if solution.keeps(self.puzzles[index].cells()) {
            let solutions = if second {
                &mut *self.second
            } else {
                &mut *self.first
            };
            solution.write_to(solutions[index].cells_mut());
            self.answers[index].written += 1;
        }
    }
}

/// Reads lines up to the first that is no puzzle, which it returns.
struct ReadLines<'p, I> {
    lines: I,
    puzzles: &'p mut Vec<Grid>,
}

impl<'a, I: Iterator<Item = &'a [u8]>> Kernel for ReadLines<'_, I> {
    type Output = Result<(), &'a [u8]>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        for line in self.lines {
            let Some(grid) = <&[u8; 81]>::try_from(line).ok().and_then(Grid::from_ascii) else {
                return Err(line);
            };
            self.puzzles.push(grid);
        }
        Ok(())
    }
}

impl Outcome {
    /// How many solutions it speaks of.
    fn solutions(self) -> u8 {
        match self {
            Self::Open | Self::Unsolvable => 0,
            Self::Solved | Self::Unique => 1,
            Self::Multiple => 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line that is no puzzle is handed back, the ones before it are in, and the ones after it are still to come.
    #[test]
    fn lines_are_read_up_to_the_first_bad_one() {
        let good = [b'.'; 81];
        for isa in Isa::available() {
            for at in 0..81 {
                for byte in [b'/', b':', b'-', b' ', 0, 9, 0x80, 0xff] {
                    let mut bad = [b'7'; 81];
                    bad[at] = byte;
                    let mut batch = Batch::new(0, Vec::new(), Options::default());
                    let mut lines = [&good[..], &bad[..], &good[..]].into_iter();
                    assert_eq!(
                        batch.push_lines(isa, &mut lines),
                        Err(&bad[..]),
                        "{isa}, {byte} at {at}"
                    );
                    assert_eq!((batch.puzzles().len(), lines.len()), (1, 1));
                }
            }
        }
    }

    #[test]
    fn lines_are_read_as_grids_are() {
        let line = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..70";
        for isa in Isa::available() {
            let mut batch = Batch::new(0, Vec::new(), Options::default());
            let lines = [line.as_bytes(), &line.as_bytes()[..80]];
            assert_eq!(batch.push_lines(isa, lines), Err(lines[1]));
            assert_eq!(batch.puzzles(), [Grid::from_line(line).expect("a grid")]);
        }
    }
}
