//! Times the engines on files of puzzles.
//!
//! ```text
//! cargo run --release -p sudoku-engine --example throughput -- [--engine single|batch] [--limit N] [--repeat N]
//!     [--message N] FILE...
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
//! `SUDOKU_SIMD=portable|avx2|avx2-no-pext|avx512` picks the instruction set; without it, it is the best there is.

use std::fmt;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use sudoku_engine::batch::{Batch, Engine, Limit, Options as BatchOptions, Outcome};
use sudoku_engine::{Grid, GridError, Isa, Search, Solution, Step};

const USAGE: &str =
    "usage: throughput [--engine single|batch] [--limit N] [--repeat N] [--message N] [--alone] FILE...";

/// How many messages the batch engine holds, unless each goes alone.
const MESSAGES: usize = 16;

/// How many sweeps it does at a time: a few tens of microseconds.
const SLICE: u32 = 24;

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
    for file in &options.files {
        let text = std::fs::read_to_string(file).with_context(|| file.clone())?;
        let puzzles: Vec<&str> = text
            .lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| line.get(..81))
            .collect();
        ensure!(!puzzles.is_empty(), "{file}: no puzzle in it");
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
    let mut stream = (options.engine == "batch" && options.limit <= 2).then(|| Stream::new(options, isa));
    for _ in 0..options.repeat {
        let start = Instant::now();
        tally = match &mut stream {
            Some(stream) => stream.run(puzzles, false)?,
            None => solve_each(isa, options.limit, puzzles)?,
        };
        best = best.min(start.elapsed());
    }
    if let Some(stream) = &mut stream {
        // The checksum takes longer than many puzzles, so it gets a pass of its own.
        tally = stream.run(puzzles, true)?;
    }
    Ok((best, tally))
}

/// The batch engine, with messages that go round.
struct Stream {
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
    fn new(options: &Options, isa: Isa) -> Self {
        let limit = if options.limit == 1 {
            Limit::One
        } else {
            Limit::Two
        };
        let of = BatchOptions {
            limit,
            ..BatchOptions::default()
        };
        let messages = if options.alone { 1 } else { MESSAGES };
        Self {
            engine: Engine::new(isa, messages),
            idle: (0..messages).map(|_| Batch::new(0, Vec::new(), of)).collect(),
            size: options.message,
            search: Search::with_isa(&Grid::EMPTY, isa),
            limit: options.limit,
        }
    }

    /// One pass over the file, with the checksum or without.
    fn run(&mut self, puzzles: &[&str], checksum: bool) -> anyhow::Result<Tally> {
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
                Some(Outcome::Unsolvable) => tally.unsolvable += 1,
                Some(Outcome::Multiple) => tally.multiple += 1,
                Some(Outcome::Solved | Outcome::Unique) if checksum => {
                    tally.add(1, message.solutions(index).next());
                }
                Some(Outcome::Solved | Outcome::Unique) => tally.unique += 1,
                Some(Outcome::Open) | None => {
                    self.search.restart(puzzle);
                    let (found, first) = find(&mut self.search, self.limit);
                    tally.add(found, first);
                }
            }
        }
    }
}

/// Fills a message with puzzles. The first line that is no puzzle is an error.
fn read(message: &mut Batch, key: u64, isa: Isa, lines: &[&str]) -> Result<(), GridError> {
    message.clear(key);
    let bad = message
        .push_lines(isa, lines.iter().map(|line| line.as_bytes()))
        .err();
    match bad.map(String::from_utf8_lossy) {
        Some(line) => Grid::from_line(&line).map(|_| ()),
        None => Ok(()),
    }
}

/// One pass over a file, a puzzle at a time.
fn solve_each(isa: Isa, limit: usize, puzzles: &[&str]) -> anyhow::Result<Tally> {
    let mut tally = Tally::default();
    let mut search = Search::with_isa(&Grid::EMPTY, isa);
    for (line, puzzle) in puzzles.iter().enumerate() {
        let grid = Grid::from_line(puzzle).with_context(|| format!("puzzle {}", line + 1))?;
        search.restart(&grid);
        let (found, first) = find(&mut search, limit);
        tally.add(found, first);
    }
    Ok(tally)
}

/// Searches up to a limit: how many solutions there are, and the first.
fn find(search: &mut Search, limit: usize) -> (usize, Option<Solution>) {
    let (mut found, mut first) = (0, None);
    while found < limit {
        match search.run(u32::MAX) {
            Step::Solution(solution) => {
                found += 1;
                first.get_or_insert(solution);
            }
            Step::Done => break,
            Step::Paused => {}
        }
    }
    (found, first)
}

/// What a pass found.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    unique: u64,
    multiple: u64,
    unsolvable: u64,
    checksum: u64,
}

impl Tally {
    fn add(&mut self, found: usize, first: Option<Solution>) {
        match (found, first) {
            (1, Some(solution)) => {
                self.unique += 1;
                self.checksum = self.checksum.wrapping_add(fnv1a(&solution.grid().to_line()));
            }
            (0, _) => self.unsolvable += 1,
            _ => self.multiple += 1,
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            unique,
            multiple,
            unsolvable,
            checksum,
        } = self;
        write!(f, "{unique}\t{multiple}\t{unsolvable}\t{checksum:016x}")
    }
}

/// The 64-bit FNV-1a hash.
fn fnv1a(bytes: &[u8]) -> u64 {
    let mix = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix)
}

#[derive(Debug)]
struct Options {
    engine: String,
    limit: usize,
    repeat: usize,
    message: usize,
    alone: bool,
    files: Vec<String>,
}

impl Options {
    fn parse(mut args: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let mut options = Self {
            engine: "single".into(),
            limit: 2,
            repeat: 1,
            message: 256,
            alone: false,
            files: Vec::new(),
        };
        while let Some(arg) = args.next() {
            let mut value = || {
                args.next()
                    .with_context(|| format!("{arg} needs a value\n{USAGE}"))
            };
            match arg.as_str() {
                "--engine" => options.engine = value()?,
                "--limit" => options.limit = positive(&arg, &value()?)?,
                "--message" => options.message = positive(&arg, &value()?)?,
                "--alone" => options.alone = true,
                "--repeat" => options.repeat = positive(&arg, &value()?)?,
                _ if arg.starts_with("--") => bail!("unknown option {arg}\n{USAGE}"),
                _ => options.files.push(arg),
            }
        }
        let engine = options.engine.as_str();
        ensure!(
            matches!(engine, "single" | "batch"),
            "--engine {engine}: expected single or batch"
        );
        ensure!(!options.files.is_empty(), "no file named\n{USAGE}");
        Ok(options)
    }
}

fn positive(option: &str, text: &str) -> anyhow::Result<usize> {
    let number = text.parse().ok().filter(|&number| number > 0);
    number.with_context(|| format!("{option} {text}: expected a number from 1"))
}
