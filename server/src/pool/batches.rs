//! A worker's batch engine, and the parts of streams in it.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use sudoku_engine::Isa;
use sudoku_engine::batch::{Batch, Engine};

use super::call::{Done, Duty, Wakes};
use super::work::{Puzzle, Work};
use crate::options::Options;

/// How many puzzles the engine is given before it has to finish some. It works on 256, has as many ready for the lanes that
/// become free, and shares these among the batches that wait: more hard ones would only make the others wait longer.
const LEAST_PUZZLES: usize = 768;

/// The same for puzzles so easy that it goes through these in a turn.
const MOST_PUZZLES: usize = 4_096;

/// The least that a batch counts as, since it has a cost of its own.
const LEAST_SIZE: usize = 4;

/// How long the engine works before others have the thread. Single calls wait for it, and calls that are over end then.
/// With half of it a puzzle that is easy takes a tenth more of the server's time.
const TURN: Duration = Duration::from_micros(300);

/// After how many sweeps it looks at the clock.
const SWEEPS: u32 = 16;

/// The engine, and what came in since it last worked.
#[derive(Debug)]
pub(super) struct Batches {
    engine: Engine,
    isa: Isa,
    /// What is in the engine, by the key of its batch.
    parts: HashMap<u64, Part>,
    /// The size of all that is in the engine.
    held: usize,
    /// The size of what it should have.
    goal: usize,
}

/// What is to be known of puzzles that are in the engine.
#[derive(Debug)]
struct Part {
    duty: Duty,
    options: Options,
    size: usize,
}

/// How much of the engine's room a batch takes.
pub(super) fn size(batch: &Batch) -> usize {
    batch.puzzles().len().max(LEAST_SIZE)
}

impl Batches {
    pub fn new(isa: Isa) -> Self {
        Self {
            // The last batch that is taken may be larger than the room that was left.
            engine: Engine::new(isa, MOST_PUZZLES / LEAST_SIZE),
            isa,
            parts: HashMap::new(),
            held: 0,
            goal: LEAST_PUZZLES,
        }
    }

    /// How much more it should be given.
    pub fn room(&self) -> usize {
        self.goal.saturating_sub(self.held)
    }

    pub fn is_idle(&self) -> bool {
        self.held == 0
    }

    /// Takes a part of a stream in. Pushes it to the single engine if there are too many.
    pub fn take(&mut self, duty: Duty, options: Options, batch: Batch, rest: &mut Vec<Work>) {
        let part = Part {
            duty,
            options,
            size: size(&batch),
        };
        let key = batch.key();
        match self.engine.submit(batch) {
            Ok(()) => {
                self.held += part.size;
                self.parts.insert(key, part);
            }
            Err(batch) => part.settle(batch, rest, &mut Wakes::default()),
        }
    }

    /// Works for a turn. Pushes what is left to the single engine.
    pub fn advance(&mut self, rest: &mut Vec<Work>) {
        self.give_up();
        let begin = Instant::now();
        while self.engine.run(SWEEPS) == SWEEPS && begin.elapsed() < TURN {}
        let before = self.held;
        let mut calls = Wakes::default();
        while let Some(batch) = self.engine.finished() {
            let Some(part) = self.parts.remove(&batch.key()) else {
                continue;
            };
            self.held -= part.size;
            part.settle(batch, rest, &mut calls);
        }
        // What two turns like this one take.
        self.goal = (2 * (before - self.held)).clamp(LEAST_PUZZLES, MOST_PUZZLES);
    }

    /// Drops what is for calls that are over.
    fn give_up(&mut self) {
        let now = Instant::now();
        let (engine, held) = (&mut self.engine, &mut self.held);
        self.parts.retain(|&key, part| {
            let wanted = !part.duty.call().is_over(now);
            if !wanted {
                engine.cancel(key);
                *held -= part.size;
            }
            wanted
        });
    }

    /// Drops all that it holds, and starts with a new engine: the old one may be in any state after a panic.
    pub fn reset(&mut self) {
        *self = Self::new(self.isa);
    }
}

impl Part {
    /// Sends the outcomes to the stream. What the engine left open is for the single engine.
    fn settle(self, batch: Batch, rest: &mut Vec<Work>, calls: &mut Wakes) {
        let puzzle = |&index: &usize| Puzzle {
            index,
            grid: batch.puzzles()[index],
        };
        let open: Vec<usize> = batch.open().collect();
        let puzzles: Vec<Puzzle> = open.iter().map(puzzle).collect();
        self.duty.send_with(Done::Batch(batch, open), calls);
        if puzzles.is_empty() {
            return self.duty.fulfil();
        }
        rest.push(Work::Unit {
            duty: self.duty,
            options: self.options,
            puzzles,
        });
    }
}
