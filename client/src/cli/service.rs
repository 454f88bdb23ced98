//! The service that does the work: on servers, or in this process.

use sudoku_client::{Outcomes, SolveOptions, SudokuClient};
use sudoku_engine::Isa;
use sudoku_server::Settings;

use super::feed::Puzzles;

/// Solves a stream of puzzles through the service at `endpoint`; without one, through the same service in this process,
/// on the instruction set `isa` or on the best one.
///
/// # Errors
///
/// `endpoint` is none, or this process can't get the threads to solve.
pub fn solve_many(
    endpoint: Option<&str>,
    isa: Option<Isa>,
    options: SolveOptions,
    puzzles: Puzzles,
) -> anyhow::Result<Outcomes> {
    Ok(match endpoint {
        Some(endpoint) => SudokuClient::connect_lazy(endpoint)?
            .with_options(options)
            .solve_many(puzzles),
        None => SudokuClient::from_service(sudoku_server::in_process(settings(isa))?)
            .with_options(options)
            .solve_many(puzzles),
    })
}

fn settings(isa: Option<Isa>) -> Settings {
    let defaults = Settings::default();
    Settings {
        isa: isa.unwrap_or(defaults.isa),
        ..defaults
    }
}
