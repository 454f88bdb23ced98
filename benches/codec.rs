//! What the messages of `SolveMany` cost, with the codec of `wire` and with `prost`: a message of 256 puzzles, between its
//! bytes and grids.
//!
//! ```text
//! cargo bench --bench codec [-- FILTER]
//! ```

use std::hint::black_box;

use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use prost::Message;
use sudoku_engine::Grid;
use sudoku_proto::v1::{Outcome, SolveManyRequest, SolveManyResponse, SolveResult};
use sudoku_proto::wire::{Decode, Encode, Found, PuzzleWriter, Puzzles, ResultWriter, Results};

const PUZZLES: usize = 256;
const PUZZLE: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
const SOLUTION: &str = "534678912672195348198342567859761423426853791713924856961537284287419635345286179";

fn grid(line: &str) -> Grid {
    Grid::from_line(line).expect("81 cells")
}

fn text(grid: &Grid) -> String {
    grid.to_line().into_iter().map(char::from).collect()
}

fn prost_request(puzzles: &[Grid]) -> SolveManyRequest {
    SolveManyRequest {
        puzzles: puzzles.iter().map(text).collect(),
        options: None,
    }
}

fn prost_response(solutions: &[Grid]) -> SolveManyResponse {
    let result = |solution| SolveResult {
        outcome: Outcome::Unique.into(),
        solutions: vec![text(solution)],
        solution_count: 1,
        ..SolveResult::default()
    };
    SolveManyResponse {
        results: solutions.iter().map(result).collect(),
    }
}

fn requests(c: &mut Criterion) {
    let puzzles = [grid(PUZZLE); PUZZLES];
    let bytes = Bytes::from(prost_request(&puzzles).encode_to_vec());
    let mut group = c.benchmark_group("request");
    group.throughput(Throughput::Elements(PUZZLES as u64));
    group.bench_function("write/wire", |b| {
        b.iter(|| {
            let mut writer = PuzzleWriter::with_capacity(PUZZLES);
            black_box(&puzzles)
                .iter()
                .for_each(|grid| writer.push(&grid.to_line()));
            frame(&writer)
        });
    });
    group.bench_function("write/prost", |b| {
        b.iter(|| prost_request(black_box(&puzzles)).encode_to_vec());
    });
    group.bench_function("read/wire", |b| {
        b.iter(|| {
            let message = Puzzles::read(black_box(&bytes)).expect("a message");
            message.iter().map(grid).collect::<Vec<_>>()
        });
    });
    group.bench_function("read/prost", |b| {
        b.iter(|| {
            let message = SolveManyRequest::decode(black_box(bytes.clone())).expect("a message");
            message.puzzles.iter().map(|line| grid(line)).collect::<Vec<_>>()
        });
    });
    group.finish();
}

fn responses(c: &mut Criterion) {
    let solutions = [grid(SOLUTION); PUZZLES];
    let bytes = Bytes::from(prost_response(&solutions).encode_to_vec());
    let mut group = c.benchmark_group("response");
    group.throughput(Throughput::Elements(PUZZLES as u64));
    group.bench_function("write/wire", |b| {
        b.iter(|| {
            let mut frame = Vec::new();
            let mut writer = ResultWriter::new(&mut frame);
            writer.reserve(PUZZLES);
            for solution in black_box(&solutions) {
                writer.push(Outcome::Unique, 1, [solution.to_line()]);
            }
            frame
        });
    });
    group.bench_function("write/prost", |b| {
        b.iter(|| prost_response(black_box(&solutions)).encode_to_vec());
    });
    group.bench_function("read/wire", |b| {
        b.iter(|| {
            let message = Results::decode(black_box(bytes.clone())).expect("a message");
            (0..message.len())
                .map(|index| first_solution(&message, index))
                .collect::<Vec<_>>()
        });
    });
    group.bench_function("read/prost", |b| {
        b.iter(|| {
            let message = SolveManyResponse::decode(black_box(bytes.clone())).expect("a message");
            message
                .results
                .iter()
                .map(|result| grid(&result.solutions[0]))
                .collect::<Vec<_>>()
        });
    });
    group.finish();
}

fn frame(message: &impl Encode) -> Vec<u8> {
    let mut frame = Vec::with_capacity(message.encoded_len());
    message.encode(&mut frame);
    frame
}

fn first_solution(message: &Results, index: usize) -> Grid {
    match message.get(index) {
        Some(Found::Plain { mut solutions, .. }) => {
            let solution = solutions.next().expect("a solution");
            grid(str::from_utf8(solution).expect("ASCII"))
        }
        other => panic!("{other:?} is not of the usual form"),
    }
}

criterion_group!(benches, requests, responses);
criterion_main!(benches);
