//! A worker's batch engine, and the parts of streams in it.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use sudoku_engine::Isa;
use sudoku_engine::batch::{Batch, Engine};

use super::call::{Done, Duty, Wakes};
use super::schedule::Source;
use super::work::{Puzzle, Work};
use crate::options::Options;

/// How many puzzles wait in the engine when it has enough: as many easy ones as it begins before it is given more. With more
/// of them streams would only have to have more under way.
const ENOUGH: usize = 512;

/// The most batches in the engine: one for each puzzle that waits, and one for each of the 512 that it works on or has ready.
const CAPACITY: usize = ENOUGH + 512;

/// The least that a batch counts as, since it has a cost of its own.
const LEAST_SIZE: usize = 4;

/// How long the engine works before others have the thread. Single calls wait for it, and calls that are over end then.
/// With half of it a puzzle that is easy takes a tenth more of the server's time.
const TURN: Duration = Duration::from_micros(300);

/// After how many sweeps it is given more puzzles, and the clock is looked at. It was short of puzzles for a tenth of its
/// sweeps when it got all of them before a turn, since what a turn takes is not known before.
const SWEEPS: u32 = 16;

/// The engine, and what came in since it last worked.
#[derive(Debug)]
pub(super) struct Batches {
    engine: Engine,
    isa: Isa,
    /// What is in the engine, by the key of its batch.
    parts: HashMap<u64, Part>,
}

/// What is to be known of puzzles that are in the engine.
#[derive(Debug)]
struct Part {
    duty: Duty,
    options: Options,
}

/// How much of the engine's room a batch takes.
pub(super) fn size(batch: &Batch) -> usize {
    batch.puzzles().len().max(LEAST_SIZE)
}

impl Batches {
    pub fn new(isa: Isa) -> Self {
        Self {
            engine: Engine::new(isa, CAPACITY),
            isa,
            parts: HashMap::new(),
        }
    }

    /// How much more it should be given.
    pub fn room(&self) -> usize {
        ENOUGH.saturating_sub(self.engine.waiting())
    }

    pub fn is_idle(&self) -> bool {
        self.parts.is_empty()
    }

    /// Takes a part of a stream in. Pushes it to the single engine if there are too many.
    pub fn take(&mut self, duty: Duty, options: Options, batch: Batch, rest: &mut Vec<Work>) {
        let part = Part { duty, options };
        let key = batch.key();
        match self.engine.submit(batch) {
            Ok(()) => {
                self.parts.insert(key, part);
            }
            Err(batch) => part.settle(batch, rest, &mut Wakes::default()),
        }
    }

    /// Works for a turn, and takes more from `source` as it gets room. Pushes what is left to the single engine.
    pub fn advance(&mut self, source: &mut impl Source<Work>, rest: &mut Vec<Work>) {
        self.give_up();
        let begin = Instant::now();
        let mut calls = Wakes::default();
        loop {
            self.engine.run(SWEEPS);
            self.settle(rest, &mut calls);
            if begin.elapsed() >= TURN {
                return;
            }
            self.take_more(source, rest);
            if self.is_idle() {
                return;
            }
        }
    }

    fn take_more(&mut self, source: &mut impl Source<Work>, rest: &mut Vec<Work>) {
        let room = self.room();
        if room == 0 {
            return;
        }
        for task in source.more(room) {
            match task {
                Work::Batch { duty, options, batch } => self.take(duty, options, batch, rest),
                other => rest.push(other),
            }
        }
    }

    /// Takes out what is finished.
    fn settle(&mut self, rest: &mut Vec<Work>, calls: &mut Wakes) {
        while let Some(batch) = self.engine.finished() {
            if let Some(part) = self.parts.remove(&batch.key()) {
                part.settle(batch, rest, calls);
            }
        }
    }

    /// Drops what is for calls that are over.
    fn give_up(&mut self) {
        let now = Instant::now();
        let engine = &mut self.engine;
        self.parts.retain(|&key, part| {
            let wanted = !part.duty.call().is_over(now);
            if !wanted {
                engine.cancel(key);
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::call::Call;
    use super::super::work::tests::{call, evil};
    use super::*;

    /// Has so many parts of so many puzzles, and counts how often it was asked for some.
    struct Parts {
        call: Arc<Call>,
        puzzles: usize,
        left: usize,
        given: u64,
        asked: u32,
    }

    impl Parts {
        fn new(puzzles: usize, left: usize) -> Self {
            Self {
                call: call(None),
                puzzles,
                left,
                given: 0,
                asked: 0,
            }
        }

        fn next(&mut self) -> Option<Work> {
            self.left = self.left.checked_sub(1)?;
            self.given += 1;
            Some(evil(&self.call, self.given, self.puzzles))
        }
    }

    impl Source<Work> for Parts {
        fn more(&mut self, room: usize) -> impl Iterator<Item = Work> {
            self.asked += 1;
            let parts = room.div_ceil(self.puzzles.max(LEAST_SIZE));
            let parts: Vec<Work> = (0..parts).map_while(|_| self.next()).collect();
            parts.into_iter()
        }
    }

    /// Solves them all. Returns what was pushed back, and in how many turns more was asked for.
    fn solve(parts: &mut Parts) -> (Vec<Work>, u32) {
        let mut batches = Batches::new(Isa::detect());
        let (mut rest, mut turns) = (Vec::new(), 0);
        while parts.left > 0 || !batches.is_idle() {
            // As much as it takes to begin with.
            while parts.left > 0 && batches.room() > 0 {
                batches.take_more(parts, &mut rest);
            }
            let asked = parts.asked;
            batches.advance(parts, &mut rest);
            turns += u32::from(parts.asked > asked);
        }
        (rest, turns)
    }

    #[test]
    fn a_turn_goes_on_with_what_comes_amid_it() {
        let mut parts = Parts::new(256, 20);
        let (rest, turns) = solve(&mut parts);
        assert!(rest.is_empty());
        assert!(turns > 0, "it asked for none but before its turns");
    }

    #[test]
    fn there_is_a_place_for_each_of_the_smallest_parts() {
        let (rest, _) = solve(&mut Parts::new(1, 1_500));
        assert!(rest.is_empty(), "{} were pushed back", rest.len());
    }
}
