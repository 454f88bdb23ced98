//! `sudoku-client`, the command line.
#![forbid(unsafe_code)]

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run().unwrap_or_else(|error| {
        cli::report(&error);
        cli::exit::status_of(&error).into()
    })
}
