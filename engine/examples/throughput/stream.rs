//! The batch engine at work on a file.

use anyhow::{Context, ensure};
use sudoku_engine::batch::{Batch, Engine, Limit, Options, Outcome};
use sudoku_engine::{Grid, GridError, Isa, Search};

use crate::single::solve;
use crate::tally::Tally;

/// How many sweeps it does at a time: a few tens of microseconds.
const SLICE: u32 = 24;

/// The batch engine, with messages that go round.
pub struct Stream {
    engine: Engine,
    /// Messages that are not in the engine.
    idle: Vec<Batch>,
    /// The puzzles of a message; the last may have fewer.
    size: usize,
    /// For what the engine leaves open.
    search: Search,
    limit: usize,
}

impl Stream {
    /// Messages of `size` puzzles, `messages` of them in the engine at a time.
    pub fn new(isa: Isa, limit: usize, size: usize, messages: usize) -> Self {
        let options = Options {
            limit: if limit == 1 { Limit::One } else { Limit::Two },
            ..Options::default()
        };
        let message = |_| Batch::new(0, Vec::new(), options);
        Self {
            engine: Engine::new(isa, messages),
            idle: (0..messages).map(message).collect(),
            size,
            search: Search::with_isa(&Grid::EMPTY, isa),
            limit,
        }
    }

    /// The same, that leaves nothing to the single engine because it comes alone.
    pub fn taking_all(mut self) -> Self {
        self.engine = self.engine.starting_with(0);
        self
    }

    /// One pass over the puzzles, with the checksum or without.
    pub fn run(&mut self, puzzles: &[&str], checksum: bool) -> anyhow::Result<Tally> {
        let mut tally = Tally::default();
        let mut messages = puzzles.chunks(self.size).zip(0..);
        let mut in_flight = 0;
        loop {
            while let Some(mut message) = self.idle.pop() {
                let Some((lines, key)) = messages.next() else {
                    self.idle.push(message);
                    break;
                };
                read(&mut message, key, self.engine.isa(), lines)
                    .with_context(|| format!("message {}", key + 1))?;
                ensure!(self.engine.submit(message).is_ok(), "the engine holds too little");
                in_flight += 1;
            }
            if in_flight == 0 {
                return Ok(tally);
            }
            self.engine.run(SLICE);
            while let Some(message) = self.engine.finished() {
                self.count(&message, checksum, &mut tally);
                self.idle.push(message);
                in_flight -= 1;
            }
        }
    }

    /// Counts the results of a message, and solves what the engine left open.
    fn count(&mut self, message: &Batch, checksum: bool, tally: &mut Tally) {
        for (index, puzzle) in message.puzzles().iter().enumerate() {
            match message.outcome(index) {
                Some(Outcome::Unsolvable) => tally.count(0),
                Some(Outcome::Multiple) => tally.count(2),
                Some(Outcome::Solved | Outcome::Unique) => {
                    tally.count(1);
                    if checksum {
                        message.solutions(index).for_each(|solution| tally.sum(&solution));
                    }
                }
                Some(Outcome::Open) | None => solve(&mut self.search, puzzle, self.limit, checksum, tally),
            }
        }
    }
}

/// Fills a message with puzzles. The first line that is no puzzle is an error.
fn read(message: &mut Batch, key: u64, isa: Isa, lines: &[&str]) -> Result<(), GridError> {
    message.clear(key, message.options());
    let bad = message
        .push_lines(isa, lines.iter().map(|line| line.as_bytes()))
        .err();
    match bad.map(String::from_utf8_lossy) {
        Some(line) => Grid::from_line(&line).map(|_| ()),
        None => Ok(()),
    }
}
