//! What the engine's parts take: reading, a search, a batch, writing.
//!
//! ```text
//! cargo bench -p sudoku-engine [-- FILTER]
//! ```
//!
//! The puzzles are those of the test suite that have one solution, each in 64 symmetric copies, so that every run has the
//! same work wherever it is. Each engine is timed on every instruction set that is there.

#[path = "../tests/common/symmetry.rs"]
mod symmetry;

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use sudoku_engine::batch::{Batch, Engine, Limit, Options};
use sudoku_engine::{Grid, Isa, Search, Step, text};
use symmetry::Symmetry;

/// Copies of each puzzle of the fixtures: enough to fill the lanes of the batch engine several times.
const COPIES: u64 = 64;

fn fixtures() -> Vec<Grid> {
    let grid = |row: &str| {
        let puzzle = row.split('\t').nth(1).expect("a second column");
        Grid::from_line(puzzle).expect("a fixture is a grid")
    };
    include_str!("../../tests/fixtures/solve_unique.tsv")
        .lines()
        .skip(1)
        .map(grid)
        .collect()
}

fn puzzles() -> Vec<Grid> {
    let copies = |grid: Grid| (0..COPIES).map(move |seed| Symmetry::seeded(seed).apply(&grid));
    fixtures().into_iter().flat_map(copies).collect()
}

fn text_of(puzzles: &[Grid]) -> String {
    puzzles.iter().map(|puzzle| format!("{puzzle}\n")).collect()
}

fn parse(c: &mut Criterion) {
    let puzzles = puzzles();
    let lines = text_of(&puzzles);
    let drawings: String = puzzles
        .iter()
        .map(|puzzle| format!("{}\n", puzzle.pretty()))
        .collect();
    let mut group = c.benchmark_group("parse");
    group.throughput(Throughput::Elements(puzzles.len() as u64));
    group.bench_function("from_line", |bencher| {
        bencher.iter(|| {
            lines
                .lines()
                .filter_map(|line| Grid::from_line(black_box(line)).ok())
                .count()
        });
    });
    for (name, text) in [("reader/lines", &lines), ("reader/drawings", &drawings)] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| text::Reader::new(black_box(text.as_bytes())).count());
        });
    }
    group.finish();
}

/// The search of the single engine, from a grid to the proof that its solution is the only one.
fn single(c: &mut Criterion) {
    let puzzles = puzzles();
    let mut group = c.benchmark_group("single");
    group.throughput(Throughput::Elements(puzzles.len() as u64));
    for isa in Isa::available() {
        let mut search = Search::with_isa(&Grid::EMPTY, isa);
        group.bench_function(isa.name(), |bencher| {
            bencher.iter(|| {
                for puzzle in &puzzles {
                    search.restart(puzzle);
                    while let Step::Solution(solution) = search.run(u32::MAX) {
                        black_box(solution);
                    }
                }
            });
        });
    }
    group.finish();
}

/// The batch engine, from a message of grids to the same with its outcomes.
fn batch(c: &mut Criterion) {
    let puzzles = puzzles();
    let mut group = c.benchmark_group("batch");
    group.throughput(Throughput::Elements(puzzles.len() as u64));
    for isa in Isa::available() {
        let mut engine = Engine::new(isa, 1);
        for limit in [Limit::One, Limit::Two] {
            let options = Options {
                limit,
                ..Options::default()
            };
            group.bench_function(format!("{isa}/{limit:?}"), |bencher| {
                bencher.iter(|| answer(&mut engine, Batch::new(0, puzzles.clone(), options)));
            });
        }
    }
    group.finish();
}

/// Four sweeps of a busy engine, refilling the lanes, and writing solutions down. Where the puzzles run out, which
/// is once in some hundred rounds, the same are handed over once more.
fn sweep(c: &mut Criterion) {
    let mut group = c.benchmark_group("sweep");
    group.throughput(Throughput::Elements(256));
    for isa in Isa::available() {
        let mut engine = Engine::new(isa, 1);
        let puzzles = puzzles().repeat(10);
        let mut idle = Some(Batch::new(0, puzzles.clone(), Options::default()));
        group.bench_function(isa.name(), |bencher| {
            bencher.iter(|| {
                if engine.run(4) == 0 {
                    let batch = idle
                        .take()
                        .or_else(|| engine.finished())
                        .expect("it is idle or finished");
                    engine.submit(batch).expect("the engine is empty");
                }
            });
        });
    }
    group.finish();
}

fn answer(engine: &mut Engine, batch: Batch) -> Option<Batch> {
    engine.submit(batch).ok()?;
    loop {
        engine.run(64);
        if let Some(batch) = engine.finished() {
            return Some(batch);
        }
    }
}

fn output(c: &mut Criterion) {
    let solutions: Vec<_> = fixtures()
        .iter()
        .flat_map(|puzzle| Search::new(puzzle).solutions().next())
        .collect();
    let mut group = c.benchmark_group("output");
    group.throughput(Throughput::Elements(solutions.len() as u64));
    group.bench_function("to_line", |bencher| {
        bencher.iter(|| {
            for solution in &solutions {
                black_box(solution.grid().to_line());
            }
        });
    });
    group.bench_function("pretty", |bencher| {
        bencher.iter(|| {
            solutions
                .iter()
                .map(|solution| solution.grid().pretty().to_string().len())
                .sum::<usize>()
        });
    });
    group.finish();
}

criterion_group!(benches, parse, single, batch, sweep, output);
criterion_main!(benches);
