//! The command line: one file a command, and what the commands share.
//!
//! Each command has its arguments as they were typed (`Args`) and what they mean (`Plan`), so that everything past the
//! parsing works on decided values.

mod bench;
mod check;
mod completions;
mod config;
mod connection;
mod draw;
mod entry;
pub mod exit;
mod explain;
mod feed;
mod format;
mod interrupt;
mod lines;
mod manual;
mod output;
mod ping;
mod progress;
mod service;
mod solve;
mod source;
mod table;
mod tally;
mod unpack;

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};
use sudoku_client::Error;

/// Solves Sudoku puzzles, here or on a Sudoku service.
#[derive(Debug, Parser)]
#[command(name = "sudoku-client", version, max_term_width = 100, after_help = MORE)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const MORE: &str = "\
Exit statuses and environment of a command: sudoku-client COMMAND --help";

#[derive(Debug, Subcommand)]
enum Command {
    Solve(solve::Args),
    Check(check::Args),
    Ping(ping::Args),
    Bench(bench::Args),
    Completions(completions::Args),
    /// Write the manual, for `man`
    Man,
}

/// Reads the arguments and does what they say.
///
/// # Errors
///
/// Whatever kept the command from doing its work; [`exit::status_of`] tells the exit status. Wrong usage does not
/// return: clap prints it and exits with status 2.
pub fn run() -> anyhow::Result<ExitCode> {
    let arguments = std::env::args_os().map(source::without_leading_dash);
    match Cli::parse_from(arguments).command {
        Command::Solve(args) => solve::run(args),
        Command::Check(args) => check::run(args),
        Command::Ping(args) => ping::run(args),
        Command::Bench(args) => bench::run(args),
        Command::Completions(args) => completions::run(args),
        Command::Man => manual::run(),
    }
    .map(ExitCode::from)
}

/// Writes an error to standard error: one line, with its causes. A cause that the text before it already tells is left
/// out.
pub fn report(error: &anyhow::Error) {
    let mut line = String::new();
    for cause in error.chain() {
        let text = match cause.downcast_ref() {
            Some(Error::TokenInTheOpen { endpoint }) => {
                format!("the token would travel unencrypted to {endpoint}; --token-in-the-open allows that")
            }
            Some(Error::Service(error)) => {
                service::refused_option(error).unwrap_or_else(|| error.to_string())
            }
            _ => cause.to_string(),
        };
        if line.is_empty() {
            line = text;
        } else if !line.ends_with(&text) {
            line.extend([": ", &text]);
        }
    }
    note(format_args!("{}", explain::one_line(&line)));
}

/// A time that something may take: more than none.
fn patience(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(Duration::ZERO) => Err("it must be more than 0".to_owned()),
        parsed => parsed.map_err(|error| error.to_string()),
    }
}

/// Writes one line for people to standard error.
fn note(text: std::fmt::Arguments<'_>) {
    line(&format!("sudoku-client: {text}"));
}

/// Writes one line to standard error. Whether anybody reads it does not matter to the work.
fn line(text: &str) {
    // In one piece, so that nothing from elsewhere comes between.
    let line = format!("{text}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
}
