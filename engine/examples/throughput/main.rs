//! Times the engines on files of puzzles.
//!
//! ```text
//! cargo run --release -p sudoku-engine --example throughput -- [--engine single|batch] [--limit N] [--repeat N]
//!     [--message N] [--alone] FILE...
//! cargo run --release -p sudoku-engine --example throughput -- --compare [--limit N] [--repeat N] FILE...
//! ```
//!
//! The batch engine gets the puzzles in messages of `--message`, 256 unless told, and is never without work until the
//! file ends. With `--alone` it gets a message only once the one before is answered. What it leaves open, and any limit
//! above 2, goes to the single engine.
//!
//! The puzzle is the first 81 characters of a line; lines that start with `#`, or are shorter, are skipped. For each file
//! it prints one line, its columns separated by tabs: the file, the engine, the puzzles, the nanoseconds a puzzle, how
//! many puzzles have one solution, more than one, and none, and a checksum. The time is the best of `--repeat` passes
//! over the whole file, reading the characters and checking the solutions included. With `--limit 1` the search stops at
//! the first solution, so every puzzle that has one counts as unique. The checksum is the wrapping sum, over the
//! uniquely solvable puzzles, of the 64-bit FNV-1a hash of the 81 digits of the solution, so that it does not depend on
//! the order.
//!
//! With `--compare` it prints a table instead, of what messages cost; `compare.rs` says what is in it.
//!
//! `SUDOKU_SIMD=portable|avx2|avx2-no-pext|avx512` picks the instruction set; without it, it is the best there is.

#[path = "../../tests/common/checksum.rs"]
mod checksum;
mod compare;
mod options;
mod single;
mod stream;
mod tally;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use options::Options;
use single::solve_each;
use stream::Stream;
use sudoku_engine::Isa;
use tally::Tally;

/// How many messages the batch engine holds, unless each goes alone.
const MESSAGES: usize = 16;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("throughput: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run() -> anyhow::Result<()> {
    let options = Options::parse(std::env::args().skip(1))?;
    let isa = match std::env::var("SUDOKU_SIMD") {
        Ok(name) => Isa::named(&name).context("SUDOKU_SIMD")?,
        Err(_) => Isa::detect(),
    };
    if options.compare {
        compare::print_head(isa);
    }
    for file in &options.files {
        let text = std::fs::read_to_string(file).with_context(|| file.clone())?;
        let puzzles: Vec<&str> = text
            .lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| line.get(..81))
            .collect();
        ensure!(!puzzles.is_empty(), "{file}: no puzzle in it");
        if options.compare {
            compare::print_row(&options, isa, file, &puzzles).with_context(|| file.clone())?;
            continue;
        }
        let (best, tally) = time(&options, isa, &puzzles).with_context(|| file.clone())?;
        let each = best.as_nanos() as f64 / puzzles.len() as f64;
        println!(
            "{file}\t{}\t{}\t{each:.1}\t{tally}",
            options.engine,
            puzzles.len()
        );
    }
    Ok(())
}

/// The fastest of the passes over a file, and what they found.
fn time(options: &Options, isa: Isa, puzzles: &[&str]) -> anyhow::Result<(Duration, Tally)> {
    let (mut best, mut tally) = (Duration::MAX, Tally::default());
    let messages = if options.alone { 1 } else { MESSAGES };
    let mut stream = (options.engine == "batch" && options.limit <= 2)
        .then(|| Stream::new(isa, options.limit, options.message, messages));
    for _ in 0..options.repeat {
        let start = Instant::now();
        tally = match &mut stream {
            Some(stream) => stream.run(puzzles, false)?,
            None => solve_each(isa, options.limit, puzzles, true)?,
        };
        best = best.min(start.elapsed());
    }
    if let Some(stream) = &mut stream {
        // The checksum takes longer than many puzzles, so it gets a pass of its own.
        tally = stream.run(puzzles, true)?;
    }
    Ok((best, tally))
}
