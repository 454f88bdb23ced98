//! What the command line costs beside the engine that does its work.
//!
//! ```text
//! cargo bench -p sudoku-client --bench cli [-- ROUNDS]
//! ```
//!
//! A file of a million puzzles is solved twice in each round: by `sudoku-client solve`, from the file to a file, and by
//! batch engines in this process, one a core, that find the puzzles in memory and keep nothing. The times are by the wall
//! clock, so nothing else should run; the ratio is the median of those of the rounds, which the machine's ups and downs
//! change little.
//!
//! The puzzles are those of `../shared/puzzles/17_clue.txt`, over and over; where that file is missing, a few others.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use sudoku_engine::batch::{Batch, Engine, Options, Outcome};
use sudoku_engine::{Grid, Isa};

const PUZZLES: usize = 1_000_000;

/// What the engine is given at a time, how many such are in it, and for how many sweeps it works before it gets more.
const BATCH: usize = 256;
const CAPACITY: usize = 16;
const SWEEPS: u32 = 24;

const OTHERS: [&str; 2] = [
    "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79",
    "..............3.85..1.2.......5.7.....4...1...9.......5......73..2.1........4...9",
];

fn main() {
    let rounds = std::env::args()
        .skip(1)
        .find_map(|argument| argument.parse().ok())
        .unwrap_or(5);
    let puzzles = puzzles();
    let folder = tempfile::tempdir().expect("a folder can be made");
    let input = folder.path().join("puzzles.txt");
    fs::write(&input, text(&puzzles)).expect("the puzzles can be written");
    let cores = thread::available_parallelism().map_or(1, usize::from);
    println!("{PUZZLES} puzzles, {cores} cores, {} instructions", Isa::detect());
    let mut ratios = Vec::new();
    for _ in 0..rounds {
        let engine = engines(&puzzles, cores);
        let output = folder.path().join("answers.txt");
        let line = command(&input, &output);
        // So that no round pays for the file of the one before.
        fs::remove_file(&output).expect("the answers can be removed");
        let ratio = line.as_secs_f64() / engine.as_secs_f64();
        println!("engine {engine:.2?}, command line {line:.2?}, ratio {ratio:.2}");
        ratios.push(ratio);
    }
    ratios.sort_by(f64::total_cmp);
    println!("median ratio {:.2}", ratios[ratios.len() / 2]);
}

fn puzzles() -> Vec<Grid> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/puzzles/17_clue.txt");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| {
        println!("{}: {error}; other puzzles instead", path.display());
        OTHERS.join("\n")
    });
    let grids = text
        .lines()
        .filter_map(|line| Grid::from_line(line.get(..81)?).ok());
    let grids: Vec<Grid> = grids.collect();
    grids.into_iter().cycle().take(PUZZLES).collect()
}

fn text(puzzles: &[Grid]) -> String {
    let mut text = String::with_capacity(82 * puzzles.len());
    for puzzle in puzzles {
        writeln!(text, "{puzzle}").expect("a string takes everything");
    }
    text
}

/// How long the program takes from the file to a file, with all that a process costs.
fn command(input: &Path, output: &Path) -> Duration {
    let started = Instant::now();
    let status = Command::new(env!("CARGO_BIN_EXE_sudoku-client"))
        .args(["solve", "--quiet", "--output"])
        .args([output, input])
        .env_remove("SUDOKU_ENDPOINT")
        .env_remove("SUDOKU_SIMD")
        .stdin(Stdio::null())
        .status()
        .expect("the program runs");
    let elapsed = started.elapsed();
    assert!(status.success(), "{status}");
    let size = fs::metadata(output).expect("there are answers").len();
    assert_eq!(size, 82 * PUZZLES as u64, "every puzzle has its solution");
    elapsed
}

/// How long engines take for the puzzles, on so many threads, each of which takes batches as it needs them.
fn engines(puzzles: &[Grid], threads: usize) -> Duration {
    let started = Instant::now();
    let batches = Mutex::new(puzzles.chunks(BATCH));
    let solved: usize = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(|| engine(&batches))).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("no engine panics"))
            .sum()
    });
    let elapsed = started.elapsed();
    assert_eq!(solved, puzzles.len());
    elapsed
}

/// Solves batches until there are no more, with an engine that is never short of them.
fn engine(puzzles: &Mutex<std::slice::Chunks<'_, Grid>>) -> usize {
    let mut engine = Engine::new(Isa::detect(), CAPACITY);
    let mut spare: Vec<Batch> = (0..CAPACITY)
        .map(|_| Batch::new(0, Vec::new(), Options::default()))
        .collect();
    let (mut solved, mut more) = (0, true);
    while more || spare.len() < CAPACITY {
        while more && let Some(mut batch) = spare.pop() {
            let Some(chunk) = puzzles.lock().expect("no engine panics").next() else {
                more = false;
                spare.push(batch);
                break;
            };
            batch.clear(0, Options::default());
            chunk.iter().for_each(|puzzle| batch.push(*puzzle));
            assert!(engine.submit(batch).is_ok(), "there is room");
        }
        engine.run(SWEEPS);
        while let Some(batch) = engine.finished() {
            // What it leaves open another engine solves; that is too little to count.
            let is_done = |index| matches!(batch.outcome(index), Some(Outcome::Unique | Outcome::Open));
            solved += (0..batch.puzzles().len()).filter(|&index| is_done(index)).count();
            spare.push(batch);
        }
    }
    solved
}
