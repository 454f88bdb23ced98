//! Driving the batch engine, and holding what comes back against what may.

use sudoku_engine::batch::{Batch, Engine, Limit, Options, Outcome};
use sudoku_engine::{Grid, Solution};

/// Batches of the sizes given, over and over, with keys that count from 0.
pub fn split(puzzles: &[Grid], sizes: &[usize], options: Options) -> Vec<Batch> {
    let mut batches = Vec::new();
    let mut rest = puzzles;
    for &size in sizes.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (these, others) = rest.split_at(size.min(rest.len()));
        batches.push(Batch::new(batches.len() as u64, these.to_vec(), options));
        rest = others;
    }
    batches
}

/// Sends batches through an engine, as many at a time as it holds, in slices of so many sweeps. The batches must have the
/// keys from 0 on, those that are in the engine already included, and come back in their order.
pub fn drain(engine: &mut Engine, batches: Vec<Batch>, inside: usize, slice: u32) -> Vec<Batch> {
    let mut back: Vec<Option<Batch>> = (0..batches.len() + inside).map(|_| None).collect();
    let mut waiting = batches.into_iter().peekable();
    let mut refused = None;
    while back.iter().any(Option::is_none) {
        while let Some(batch) = refused.take().or_else(|| waiting.next()) {
            if let Err(batch) = engine.submit(batch) {
                refused = Some(batch);
                break;
            }
        }
        let done = engine.run(slice);
        let mut is_idle = done == 0;
        while let Some(batch) = engine.finished() {
            let key = batch.key() as usize;
            assert!(back[key].replace(batch).is_none(), "batch {key} came twice");
            is_idle = false;
        }
        assert!(!is_idle, "idle, with batches missing");
    }
    assert!(engine.is_idle() && engine.finished().is_none());
    back.into_iter().flatten().collect()
}

/// What became of a puzzle, and the solutions that came with it. Their number must go with the outcome, the outcome with
/// the limit, and each must be one.
pub fn answer(batch: &Batch, index: usize) -> (Outcome, Vec<Solution>) {
    let puzzle = &batch.puzzles()[index];
    let options = batch.options();
    let outcome = batch.outcome(index).expect("there is such a puzzle");
    let solutions: Vec<Solution> = batch.solutions(index).collect();
    let count = match outcome {
        Outcome::Open | Outcome::Unsolvable => 0,
        Outcome::Solved | Outcome::Unique => 1,
        Outcome::Multiple => 2,
    };
    let expected = if options.omit_solutions { 0 } else { count };
    assert_eq!(solutions.len(), expected, "{puzzle}: {outcome:?}");
    assert!(solutions.windows(2).all(|pair| pair[0] != pair[1]), "{puzzle}");
    for solution in &solutions {
        assert_eq!(Solution::check(puzzle, solution.grid()), Ok(*solution));
    }
    let limit = match outcome {
        Outcome::Open | Outcome::Unsolvable => options.limit,
        Outcome::Solved => Limit::One,
        Outcome::Unique | Outcome::Multiple => Limit::Two,
    };
    assert_eq!(limit, options.limit, "{puzzle}: {outcome:?}");
    (outcome, solutions)
}
