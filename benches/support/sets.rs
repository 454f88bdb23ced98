//! Puzzles to send, and how long the engine takes for them by itself.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use prost::Message;
use sudoku_engine::batch::{Batch, Engine, Options, Outcome};
use sudoku_engine::{Grid, Isa};
use sudoku_proto::v1::{SolveManyRequest, SolveRequest};

use super::cpu;

/// Where the large sets are, if they are.
const SHARED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/puzzles");
const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/solve_unique.tsv");

/// As many puzzles are sent before they begin anew: enough that no cache helps with them.
const LEAST_PUZZLES: usize = 8_192;

/// Puzzles with one solution each.
#[derive(Debug, Clone)]
pub struct Set {
    pub puzzles: Vec<String>,
}

impl Set {
    /// A set by the name of its file. Where there is none, the fixtures of the tests take its place, and it says so.
    pub fn read(name: &str) -> io::Result<Self> {
        let path = Path::new(SHARED).join(name).with_extension("txt");
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(_) => {
                eprintln!("{name} is not at hand: these are the figures of the tests' puzzles instead");
                fs::read_to_string(FIXTURES)?
            }
        };
        let puzzles: Vec<String> = text
            .lines()
            .filter_map(|line| line.split('\t').find(|field| Grid::from_line(field).is_ok()))
            .map(str::to_owned)
            .collect();
        if puzzles.is_empty() {
            return Err(io::Error::other(format!("{} has no puzzle", path.display())));
        }
        let count = puzzles.len().max(LEAST_PUZZLES);
        Ok(Self {
            puzzles: puzzles.into_iter().cycle().take(count).collect(),
        })
    }

    /// The requests of a stream, framed as gRPC has them and one after the other. They all have the same length.
    pub fn frames(&self, puzzles_per_message: usize) -> Frames {
        let mut bytes = BytesMut::new();
        let cycled = || self.puzzles.iter().cycle();
        let count = (self.puzzles.len() / puzzles_per_message).max(1);
        let mut puzzles = cycled();
        for _ in 0..count {
            let puzzles = puzzles.by_ref().take(puzzles_per_message).cloned().collect();
            put_frame(
                &SolveManyRequest {
                    puzzles,
                    options: None,
                },
                &mut bytes,
            );
        }
        Frames {
            length: bytes.len() / count,
            bytes: bytes.freeze(),
        }
    }

    /// The requests of unary calls, one frame each.
    pub fn calls(&self) -> Vec<Bytes> {
        let frame = |puzzle: &String| {
            let mut bytes = BytesMut::new();
            let puzzle = puzzle.clone();
            put_frame(
                &SolveRequest {
                    puzzle,
                    options: None,
                },
                &mut bytes,
            );
            bytes.freeze()
        };
        self.puzzles.iter().map(frame).collect()
    }

    /// The processor time that the batch engine takes a puzzle when it is used within a program: the characters read, and
    /// proved that there is one solution.
    pub fn engine_time(&self, at_least: Duration) -> Duration {
        let mut engine = Engine::new(Isa::detect(), BATCHES);
        let mut puzzles = 0;
        let begin = cpu::thread_time();
        loop {
            solve_all(&mut engine, &self.puzzles);
            puzzles += self.puzzles.len();
            let spent = cpu::thread_time() - begin;
            if spent >= at_least {
                return spent / puzzles as u32;
            }
        }
    }
}

/// What the engine is given at a time, how many such are in it, and for how many sweeps it works before it gets more: with
/// less it would wait for puzzles, and seem slower than it is.
const BATCH: usize = 256;
const BATCHES: usize = 16;
const SWEEPS: u32 = 24;

/// Solves all puzzles with an engine that is never short of them.
fn solve_all(engine: &mut Engine, puzzles: &[String]) {
    let mut spare: VecDeque<Batch> = (0..BATCHES)
        .map(|_| Batch::new(0, Vec::new(), Options::default()))
        .collect();
    let mut chunks = puzzles.chunks(BATCH);
    while spare.len() < BATCHES || chunks.len() > 0 {
        while let Some(mut batch) = spare.pop_front() {
            let Some(chunk) = chunks.next() else {
                spare.push_front(batch);
                break;
            };
            batch.clear(0, Options::default());
            let lines = chunk.iter().map(String::as_bytes);
            batch.push_lines(engine.isa(), lines).expect("they are puzzles");
            engine.submit(batch).expect("there is room for all batches");
        }
        engine.run(SWEEPS);
        while let Some(batch) = engine.finished() {
            let unique = |index| batch.outcome(index) == Some(Outcome::Unique);
            let open = |index| batch.outcome(index) == Some(Outcome::Open);
            assert!((0..batch.puzzles().len()).all(|index| unique(index) || open(index)));
            spare.push_back(batch);
        }
    }
}

/// Messages of a stream, encoded and framed.
#[derive(Debug, Clone)]
pub struct Frames {
    pub bytes: Bytes,
    /// The bytes of one, its head included.
    pub length: usize,
}

/// The bytes before a message: whether it is compressed, and its length.
pub const FRAME_HEAD: usize = 5;

fn put_frame(message: &impl Message, bytes: &mut BytesMut) {
    bytes.put_u8(0);
    bytes.put_u32(message.encoded_len() as u32);
    message.encode(bytes).expect("the buffer grows");
}
