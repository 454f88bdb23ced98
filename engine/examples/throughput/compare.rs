//! What it costs that puzzles come in messages.
//!
//! The table has a row for each file, of puzzles taken evenly from it. Its times are nanoseconds a puzzle, each the best of
//! `--repeat` passes in turn with all others, so that a busy machine slows all of them down or none:
//!
//! - `whole`: the batch engine with all puzzles in one message;
//! - `256`: with messages of 256, a few at a time, and how fast that is against `whole`;
//! - `single`: the single engine;
//! - then, for messages of 16 and more that each come alone, how fast that is against `single`. In brackets is the same for
//!   an engine that takes all on, where the batch engine as it is would leave a message of that size to the single engine.
//!   Below 1.00 there, and no lower outside, is as it should be.

use std::time::{Duration, Instant};

use sudoku_engine::Isa;

use crate::MESSAGES;
use crate::options::Options;
use crate::single::solve_each;
use crate::stream::Stream;
use crate::tally::Tally;

/// How many puzzles of a file are taken.
const PUZZLES: usize = 10_240;

/// The sizes of messages that come alone.
const SIZES: [usize; 9] = [16, 32, 48, 64, 96, 128, 160, 192, 256];

pub fn print_head(isa: Isa) {
    println!("On {isa}:\n");
    print!("| file | whole | 256 | speed | single |");
    for size in SIZES {
        print!(" {size} |");
    }
    println!("\n|---|---:|---:|---:|---:|{}", "---:|".repeat(SIZES.len()));
}

pub fn print_row(options: &Options, isa: Isa, file: &str, puzzles: &[&str]) -> anyhow::Result<()> {
    let every = puzzles.len().div_ceil(PUZZLES);
    let puzzles: Vec<&str> = puzzles.iter().step_by(every).copied().collect();
    let stream = |size, messages| Stream::new(isa, options.limit, size, messages);
    let mut whole = Pass::new(stream(puzzles.len(), 1));
    let mut busy = Pass::new(stream(256, MESSAGES));
    let mut alone = SIZES.map(|size| Pass::new(stream(size, 1)));
    let mut all_taken = SIZES.map(|size| Pass::new(stream(size, 1).taking_all()));
    let mut single = Duration::MAX;
    for _ in 0..options.repeat {
        let batch = [&mut whole, &mut busy].into_iter();
        for pass in batch.chain(&mut alone).chain(&mut all_taken) {
            pass.run(&puzzles)?;
        }
        single = single.min(timed(|| solve_each(isa, options.limit, &puzzles, false))?);
    }
    let each = |time: Duration| time.as_nanos() as f64 / puzzles.len() as f64;
    let speed = |time: Duration, of: Duration| of.as_secs_f64() / time.as_secs_f64();
    print!(
        "| {file} | {:.0} | {:.0} | {:.2} | {:.0} |",
        each(whole.best),
        each(busy.best),
        speed(busy.best, whole.best),
        each(single)
    );
    for (alone, all_taken) in alone.iter().zip(&all_taken) {
        let [speed, taken] = [alone, all_taken].map(|pass| speed(pass.best, single));
        print!(" {speed:.2} ({taken:.2}) |");
    }
    println!();
    Ok(())
}

/// A way to solve the puzzles, and its best time.
struct Pass {
    stream: Stream,
    best: Duration,
}

impl Pass {
    fn new(stream: Stream) -> Self {
        Self {
            stream,
            best: Duration::MAX,
        }
    }

    fn run(&mut self, puzzles: &[&str]) -> anyhow::Result<()> {
        self.best = self.best.min(timed(|| self.stream.run(puzzles, false))?);
        Ok(())
    }
}

fn timed(pass: impl FnOnce() -> anyhow::Result<Tally>) -> anyhow::Result<Duration> {
    let start = Instant::now();
    pass()?;
    Ok(start.elapsed())
}
