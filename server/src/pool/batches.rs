//! A thread's batch engine, and the parts of messages in it.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sudoku_engine::batch::{self, Batch, Engine, Limit};
use sudoku_engine::{Isa, conflicts};

use super::message::Message;
use super::work::Work;
use crate::search::{Answer, Outcome};

/// How many puzzles the engine is given at most before it has to finish some: it works on 256, has as many ready for the
/// lanes that become free, and shares these among the batches that wait. More would only make the others wait longer.
const MOST_PUZZLES: usize = 768;

/// The least that a batch counts as, since it has a cost of its own.
const LEAST_SIZE: usize = 4;

/// How long the engine works between two looks at what else there is to do: some 50 microseconds.
const SWEEPS: u32 = 32;

/// The engine, and what came in since it last worked.
#[derive(Debug)]
pub(super) struct Batches {
    engine: Engine,
    isa: Isa,
    /// What is in the engine, by the key of its batch.
    parts: HashMap<u64, Part>,
    waiting: Vec<Part>,
    next_key: u64,
    /// The size of all that is in the engine or waits.
    held: usize,
}

/// Puzzles of a message that go through the engine together.
#[derive(Debug)]
struct Part {
    message: Arc<Message>,
    range: Range<usize>,
}

impl Part {
    fn size(&self) -> usize {
        size(&self.range)
    }

    fn batch(&self, key: u64) -> Batch {
        let options = batch::Options {
            limit: match self.message.options.solution_limit {
                1 => Limit::One,
                _ => Limit::Two,
            },
            omit_solutions: self.message.options.omit_solutions,
            budget: budget(self.message.options.time_limit),
        };
        Batch::new(key, self.message.puzzles[self.range.clone()].to_vec(), options)
    }
}

/// The steps that take about as long as a puzzle may take. The engine has no clock, and takes a tenth of a microsecond for
/// a step of one of its puzzles. What exceeds this is for the single engine, which has.
fn budget(time_limit: Duration) -> u32 {
    let steps = time_limit.as_nanos() / 100;
    let most = batch::Options::default().budget;
    u32::try_from(steps).map_or(most, |steps| steps.min(most))
}

/// How much of the engine's room a part of a message takes.
pub(super) fn size(range: &Range<usize>) -> usize {
    range.len().max(LEAST_SIZE)
}

impl Batches {
    pub fn new(isa: Isa) -> Self {
        Self {
            // The last part that is taken may be larger than the room that was left.
            engine: Engine::new(isa, MOST_PUZZLES / LEAST_SIZE),
            isa,
            parts: HashMap::new(),
            waiting: Vec::new(),
            next_key: 0,
            held: 0,
        }
    }

    /// How much more it should be given.
    pub fn room(&self) -> usize {
        MOST_PUZZLES.saturating_sub(self.held)
    }

    pub fn is_idle(&self) -> bool {
        self.held == 0
    }

    /// Takes a part of a message in.
    pub fn take(&mut self, message: Arc<Message>, range: Range<usize>) {
        let part = Part { message, range };
        self.held += part.size();
        self.waiting.push(part);
    }

    /// Works for a slice. Pushes what is left to the single engine.
    pub fn advance(&mut self, rest: &mut Vec<Work>) {
        self.give_up();
        self.submit(rest);
        self.engine.run(SWEEPS);
        while let Some(batch) = self.engine.finished() {
            let Some(part) = self.parts.remove(&batch.key()) else {
                continue;
            };
            self.held -= part.size();
            part.settle(&batch, rest);
        }
    }

    /// Drops what is for calls that are over.
    fn give_up(&mut self) {
        let now = Instant::now();
        let (engine, held) = (&mut self.engine, &mut self.held);
        self.waiting.retain(|part| {
            let wanted = !part.message.call.is_over(now);
            *held -= if wanted { 0 } else { part.size() };
            wanted
        });
        self.parts.retain(|&key, part| {
            let wanted = !part.message.call.is_over(now);
            if !wanted {
                engine.cancel(key);
                *held -= part.size();
            }
            wanted
        });
    }

    /// Gives the engine what waits for it. It leaves all of it open if it has nothing else and this is too little.
    fn submit(&mut self, rest: &mut Vec<Work>) {
        for part in self.waiting.drain(..) {
            let key = self.next_key;
            if self.engine.submit(part.batch(key)).is_err() {
                self.held -= part.size();
                rest.push(Work::unit(part.message, part.range));
                continue;
            }
            self.next_key += 1;
            self.parts.insert(key, part);
        }
    }

    /// Drops all that it holds, and starts with a new engine: the old one may be in any state after a panic.
    pub fn reset(&mut self) {
        *self = Self::new(self.isa);
    }
}

impl Part {
    /// Takes the outcomes over into the message. What the engine left open is for the single engine.
    fn settle(self, batch: &Batch, rest: &mut Vec<Work>) {
        let mut answers = Vec::with_capacity(self.range.len());
        let mut open = Vec::new();
        for index in self.range.clone() {
            match answer(batch, index - self.range.start) {
                Some(answer) => answers.push((index, answer)),
                None => open.push(index),
            }
        }
        self.message.fill(answers);
        if !open.is_empty() {
            rest.push(Work::unit(self.message, open));
        }
    }
}

/// The answer to puzzle `index` of a batch. `None` if it is open.
fn answer(batch: &Batch, index: usize) -> Option<Answer> {
    let (outcome, count) = match batch.outcome(index)? {
        batch::Outcome::Open => return None,
        batch::Outcome::Unsolvable => (Outcome::Unsolvable, 0),
        batch::Outcome::Solved => (Outcome::Solved, 1),
        batch::Outcome::Unique => (Outcome::Unique, 1),
        batch::Outcome::Multiple => (Outcome::Multiple, 2),
    };
    Some(Answer {
        outcome,
        solutions: batch.solutions(index).collect(),
        count,
        conflicts: match outcome {
            Outcome::Unsolvable => conflicts(&batch.puzzles()[index]),
            _ => Vec::new(),
        },
    })
}
