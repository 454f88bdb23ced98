//! Tells how much work the puzzles of a file are for the single engine, as they are and in symmetric copies.
//!
//! ```text
//! cargo run --release -p sudoku-engine --example effort -- FILE...
//! ```
//!
//! The puzzle is the first 81 characters of a line; lines that start with `#`, or hold no puzzle there, are skipped. All are
//! searched for two solutions. It prints a table with a row for each file:
//!
//! - the puzzles, the steps of the slowest, the microseconds that it takes (the best of five), and those of a step on average;
//! - one of 20 puzzles is compared with 24 symmetric copies of itself: how many are, how many of them are uneven, which is that
//!   the slowest copy takes at least 10 times the steps of the fastest and at least 150, which take 50 microseconds; and the
//!   greatest such ratio, with the steps of both.
//!
//! After the table come the slowest puzzle of each file, and every uneven one.
//!
//! `SUDOKU_SIMD=portable|avx2|avx2-no-pext|avx512` picks the instruction set, and with it the times; the steps are the same on
//! each.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use sudoku_engine::{Grid, Isa, Search};

#[path = "../tests/common/effort.rs"]
mod effort;
#[path = "../tests/common/symmetry.rs"]
mod symmetry;

use effort::{EVERY, SOON, Spread, steps};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("effort: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run() -> anyhow::Result<()> {
    let isa = match std::env::var("SUDOKU_SIMD") {
        Ok(name) => Isa::named(&name).context("SUDOKU_SIMD")?,
        Err(_) => Isa::detect(),
    };
    let files: Vec<String> = std::env::args().skip(1).collect();
    ensure!(!files.is_empty(), "no file named");
    let mut search = Search::with_isa(&Grid::EMPTY, isa);
    println!("On {isa}:\n");
    println!("| file | puzzles | most steps | us | us a step | compared | uneven | worst ratio | steps |");
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|");
    let mut notes = Vec::new();
    for file in &files {
        let puzzles = read(file).with_context(|| file.clone())?;
        let slowest = Slowest::of(&mut search, &puzzles);
        let spreads: Vec<Spread> = puzzles
            .iter()
            .enumerate()
            .step_by(EVERY)
            .map(|(place, puzzle)| Spread::of(&mut search, puzzle, place))
            .collect();
        let uneven: Vec<&Spread> = spreads.iter().filter(|spread| !spread.is_even()).collect();
        println!(
            "| {file} | {} | {slowest} | {} | {} | {} |",
            puzzles.len(),
            spreads.len(),
            uneven.len(),
            worst(&spreads)
        );
        notes.push(format!("{file}: {} steps: {}", slowest.steps, slowest.puzzle));
        for Spread { puzzle, least, most } in uneven {
            notes.push(format!("{file}: copies take {least} to {most} steps: {puzzle}"));
        }
    }
    println!("\n{}", notes.join("\n"));
    Ok(())
}

fn read(file: &str) -> anyhow::Result<Vec<Grid>> {
    let text = std::fs::read_to_string(file)?;
    let puzzles: Vec<Grid> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| Grid::from_line(line.get(..81)?).ok())
        .collect();
    ensure!(!puzzles.is_empty(), "no puzzle in it");
    Ok(puzzles)
}

/// The puzzle of a file that takes the most steps.
struct Slowest {
    puzzle: Grid,
    steps: u64,
    time: Duration,
    /// What a step of any puzzle takes, in microseconds.
    step: f64,
}

impl Slowest {
    fn of(search: &mut Search, puzzles: &[Grid]) -> Self {
        let start = Instant::now();
        let (mut all, mut most, mut slowest) = (0, 0, puzzles[0]);
        for puzzle in puzzles {
            let steps = steps(search, puzzle);
            all += steps;
            if steps > most {
                (most, slowest) = (steps, *puzzle);
            }
        }
        let step = start.elapsed().as_secs_f64() * 1e6 / all as f64;
        let time = (0..5).map(|_| {
            let start = Instant::now();
            steps(search, &slowest);
            start.elapsed()
        });
        Self {
            puzzle: slowest,
            steps: most,
            time: time.min().unwrap_or_default(),
            step,
        }
    }
}

impl std::fmt::Display for Slowest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let micros = self.time.as_secs_f64() * 1e6;
        write!(f, "{} | {micros:.0} | {:.2}", self.steps, self.step)
    }
}

/// The greatest ratio between copies of which the slowest is not done soon, and its steps.
fn worst(spreads: &[Spread]) -> String {
    let ratio = |spread: &Spread| spread.most as f64 / spread.least as f64;
    spreads
        .iter()
        .filter(|spread| spread.most >= SOON)
        .max_by(|a, b| ratio(a).total_cmp(&ratio(b)))
        .map_or("- | -".into(), |spread| {
            format!("{:.1} | {} / {}", ratio(spread), spread.most, spread.least)
        })
}
