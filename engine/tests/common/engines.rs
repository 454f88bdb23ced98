//! The engines under test: each runs the whole suite, on each instruction set that is here.

use std::fmt;

use sudoku_engine::batch::{self, Batch, Limit, Options, Outcome};
use sudoku_engine::{Grid, Isa, Search, Solution, Step};

/// An engine on an instruction set.
#[derive(Clone, Copy)]
pub struct Engine {
    name: &'static str,
    isa: Isa,
    solve: Solve,
}

/// The solutions of each puzzle, at most as many as the limit says.
type Solve = fn(Isa, &[Grid], usize) -> Vec<Vec<Solution>>;

/// Every engine. A new one joins the suite by a line here.
const ENGINES: [(&str, Solve); 3] = [
    ("single", single),
    ("batch", batch),
    ("batch, in messages of 100", batch_in_messages),
];

/// Every engine on every instruction set.
pub fn engines() -> impl Iterator<Item = Engine> {
    ENGINES
        .into_iter()
        .flat_map(|(name, solve)| Isa::available().map(move |isa| Engine { name, isa, solve }))
}

impl Engine {
    /// The solutions of each puzzle, at most `limit` of them, ascending.
    pub fn solutions(&self, puzzles: &[Grid], limit: usize) -> Vec<Vec<Solution>> {
        let mut all = (self.solve)(self.isa, puzzles, limit);
        assert_eq!(all.len(), puzzles.len(), "{self}");
        for (puzzle, found) in puzzles.iter().zip(&mut all) {
            found.sort();
            assert!(
                found.len() <= limit,
                "{self}: {puzzle} has more than were asked for"
            );
            assert!(
                found.is_sorted_by(|a, b| a < b),
                "{self}: {puzzle} has a solution twice"
            );
            for solution in found.iter() {
                assert_eq!(
                    Solution::check(puzzle, solution.grid()),
                    Ok(*solution),
                    "{self}: {puzzle}"
                );
            }
        }
        all
    }

    /// The solutions of one puzzle.
    pub fn solutions_of(&self, puzzle: &Grid, limit: usize) -> Vec<Solution> {
        self.solutions(std::slice::from_ref(puzzle), limit).remove(0)
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}", self.name, self.isa)
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Engine({self})")
    }
}

fn single(isa: Isa, puzzles: &[Grid], limit: usize) -> Vec<Vec<Solution>> {
    let mut search = Search::with_isa(&Grid::EMPTY, isa);
    let mut solve = |puzzle| {
        search.restart(puzzle);
        let mut found = Vec::new();
        while found.len() < limit {
            match search.run(u32::MAX) {
                Step::Solution(solution) => found.push(solution),
                Step::Done => break,
                Step::Paused => {}
            }
        }
        found
    };
    puzzles.iter().map(&mut solve).collect()
}

fn batch(isa: Isa, puzzles: &[Grid], limit: usize) -> Vec<Vec<Solution>> {
    in_batches(isa, puzzles, puzzles.len().max(1), limit)
}

fn batch_in_messages(isa: Isa, puzzles: &[Grid], limit: usize) -> Vec<Vec<Solution>> {
    in_batches(isa, puzzles, 100, limit)
}

/// The batch engine in batches of a size, and the single engine for what it leaves open and for limits above 2.
fn in_batches(isa: Isa, puzzles: &[Grid], size: usize, limit: usize) -> Vec<Vec<Solution>> {
    let options = match limit {
        1 => Options {
            limit: Limit::One,
            ..Options::default()
        },
        2 => Options::default(),
        _ => return single(isa, puzzles, limit),
    };
    let count = puzzles.len().div_ceil(size);
    let mut engine = batch::Engine::new(isa, count).starting_with(0);
    for (puzzles, key) in puzzles.chunks(size).zip(0..) {
        let batch = Batch::new(key, puzzles.to_vec(), options);
        engine.submit(batch).expect("there is room for all");
    }
    let mut back = Vec::new();
    while back.len() < count {
        engine.run(64);
        back.extend(std::iter::from_fn(|| engine.finished()));
    }
    back.sort_by_key(Batch::key);
    let solutions = |batch: &Batch| -> Vec<Vec<Solution>> {
        let of = |index| match batch.outcome(index) {
            Some(Outcome::Open) => single(isa, &batch.puzzles()[index..=index], limit).remove(0),
            _ => batch.solutions(index).collect(),
        };
        (0..batch.puzzles().len()).map(of).collect()
    };
    back.iter().flat_map(solutions).collect()
}
