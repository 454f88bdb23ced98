//! The engines under test: each runs the whole suite, on each instruction set that is here.

use std::fmt;
use std::sync::LazyLock;

use sudoku_engine::batch::{self, Batch, Limit, Options, Outcome};
use sudoku_engine::{Grid, Isa, Search, Solution, Step};

use super::stream;

/// An engine on an instruction set.
#[derive(Clone, Copy)]
pub struct Engine {
    name: &'static str,
    isa: Isa,
    solve: Solve,
}

/// The solutions of each puzzle, at most as many as the limit says.
type Solve = fn(Isa, &[Grid], usize) -> Vec<Vec<Solution>>;

/// The batches that a batch engine holds at a time.
const CAPACITY: usize = 5;

/// Every engine. A new one joins the suite by a line here.
const ENGINES: [(&str, Solve); 2] = [("single", single), ("batch", batch)];

/// The engines again, driven in ways that must make no difference.
const VARIANTS: [(&str, Solve); 2] = [
    ("single, one step at a time", single_in_steps),
    ("batch, in messages of many sizes", batch_in_messages),
];

/// Every instruction set that this build and this processor can run. What is skipped is named once.
static ISAS: LazyLock<Vec<Isa>> = LazyLock::new(|| {
    let named = |name| {
        Isa::named(name)
            .inspect_err(|error| eprintln!("not tested: {error}"))
            .ok()
    };
    ["portable", "avx2", "avx2-no-pext", "avx512"]
        .into_iter()
        .filter_map(named)
        .collect()
});

/// Every engine on every instruction set, and in every variant.
pub fn engines() -> impl Iterator<Item = Engine> {
    on_each_isa(ENGINES.into_iter().chain(VARIANTS))
}

/// Every engine on every instruction set, without the variants: for large sets.
pub fn plain_engines() -> impl Iterator<Item = Engine> {
    on_each_isa(ENGINES.into_iter())
}

fn on_each_isa(engines: impl Iterator<Item = (&'static str, Solve)>) -> impl Iterator<Item = Engine> {
    engines.flat_map(|(name, solve)| ISAS.iter().map(move |&isa| Engine { name, isa, solve }))
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
    search_each(isa, puzzles, limit, u32::MAX)
}

/// The same search in the smallest slices.
fn single_in_steps(isa: Isa, puzzles: &[Grid], limit: usize) -> Vec<Vec<Solution>> {
    search_each(isa, puzzles, limit, 1)
}

/// One search value for all puzzles, run in slices.
fn search_each(isa: Isa, puzzles: &[Grid], limit: usize, slice: u32) -> Vec<Vec<Solution>> {
    let mut search = Search::with_isa(&Grid::EMPTY, isa);
    let mut solve = |puzzle| {
        search.restart(puzzle);
        let mut found = Vec::new();
        while found.len() < limit {
            match search.run(slice) {
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
    batches(isa, puzzles, limit, &[usize::MAX], 64)
}

fn batch_in_messages(isa: Isa, puzzles: &[Grid], limit: usize) -> Vec<Vec<Solution>> {
    batches(isa, puzzles, limit, &[1, 100, 0, 33, 7, 256, 300], 3)
}

/// The puzzles in batches of the sizes given, over and over, as the service solves them: what the engine leaves open goes
/// to a search, and so does what has more solutions than it looks for.
fn batches(isa: Isa, puzzles: &[Grid], limit: usize, sizes: &[usize], slice: u32) -> Vec<Vec<Solution>> {
    let options = Options {
        limit: if limit == 1 { Limit::One } else { Limit::Two },
        ..Options::default()
    };
    let results = |batch: &Batch| -> Vec<Vec<Solution>> {
        (0..batch.puzzles().len())
            .map(|index| result(isa, batch, index, limit))
            .collect()
    };
    let mut engine = batch::Engine::new(isa, CAPACITY).starting_with(0);
    stream::drain(&mut engine, stream::split(puzzles, sizes, options), 0, slice)
        .iter()
        .flat_map(results)
        .collect()
}

/// What the batch engine found for a puzzle, or a search where it leaves the puzzle to one.
fn result(isa: Isa, batch: &Batch, index: usize, limit: usize) -> Vec<Solution> {
    let puzzle = &batch.puzzles()[index];
    let (outcome, found) = stream::answer(batch, index);
    if outcome == Outcome::Open {
        return search(isa, puzzle, limit);
    }
    if outcome == Outcome::Multiple && limit > 2 {
        let all = search(isa, puzzle, limit);
        assert!(all.len() >= 2, "{puzzle} on {isa}");
        return all;
    }
    found
}

fn search(isa: Isa, puzzle: &Grid, limit: usize) -> Vec<Solution> {
    Search::with_isa(puzzle, isa).solutions().take(limit).collect()
}
