//! What the benchmarks of the whole service share: puzzle sets, servers as processes, the load, and the clocks.

#![allow(dead_code, reason = "every benchmark uses a part of it")]

use std::io;

use tokio::task::LocalSet;

pub mod cpu;
pub mod echo;
pub mod load;
pub mod process;
pub mod sets;
pub mod unary;

/// The path of a method of the service.
pub const SOLVE: &str = "/sudoku.v1.SudokuService/Solve";
pub const SOLVE_MANY: &str = "/sudoku.v1.SudokuService/SolveMany";

/// Runs a load to its end.
pub fn on_this_thread<T>(load: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    LocalSet::new().block_on(&runtime, load)
}

/// The value at a part of a sorted list: 0.5 for the median.
pub fn quantile(sorted: &[f64], part: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    sorted
        .get((last as f64 * part).round() as usize)
        .copied()
        .unwrap_or(f64::NAN)
}

/// The median of figures in any order.
pub fn median(figures: impl IntoIterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.into_iter().collect();
    figures.sort_by(f64::total_cmp);
    quantile(&figures, 0.5)
}
