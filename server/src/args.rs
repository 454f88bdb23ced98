//! What is typed on the command line, and what it means.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::time::Duration;

use clap::Parser;
use sudoku_engine::Isa;
use sudoku_server::{Limits, Settings};

const AFTER_HELP: &str = "\
Examples:
  sudoku-server
  sudoku-server --listen 127.0.0.1:0
      pick a free port, and print it
  sudoku-server --listen 0.0.0.0:50051 --insecure
      take calls from other machines, unencrypted
  SUDOKU_LISTEN=[::1]:50051 RUST_LOG=debug sudoku-server

The first line on standard output is the address that the server listens on, as in 127.0.0.1:50051. \
The log goes to standard error; RUST_LOG says how much of it: error, warn, info (the default), debug or trace.

On SIGTERM or Ctrl-C the server drains: it refuses new calls, finishes those that run, and ends, at the latest after \
the drain deadline. A second signal ends it at once.

Exit status: 0 drained, 1 calls were cut off, 2 wrong usage, or the server could not start.";

/// Serves the Sudoku gRPC service.
#[derive(Debug, Parser)]
#[command(name = "sudoku-server", version, after_help = AFTER_HELP)]
pub struct Args {
    /// The address and port to listen on. Port 0 picks a free one
    #[arg(
        long,
        env = "SUDOKU_LISTEN",
        value_name = "ADDRESS:PORT",
        default_value = "127.0.0.1:50051"
    )]
    pub listen: SocketAddr,

    /// Listen on an address that other machines can reach, although nothing is encrypted
    #[arg(long, env = "SUDOKU_INSECURE")]
    pub insecure: bool,

    /// Threads that solve SolveMany messages [default: one for each core]
    #[arg(long, env = "SUDOKU_THREADS", value_name = "N")]
    threads: Option<NonZeroUsize>,

    /// The instructions to solve with: portable, avx2, avx2-no-pext or avx512 [default: the best that the processor has]
    #[arg(long, env = "SUDOKU_SIMD", value_name = "NAME", value_parser = Isa::named)]
    simd: Option<Isa>,

    /// Solve calls solved at once; further ones are refused as overloaded
    #[arg(long, env = "SUDOKU_MAX_SOLVES", value_name = "N", default_value_t = Settings::default().max_solves)]
    max_solves: usize,

    /// SolveMany streams open at once; further ones are refused as overloaded
    #[arg(long, env = "SUDOKU_MAX_STREAMS", value_name = "N", default_value_t = Settings::default().max_streams)]
    max_streams: usize,

    /// Messages of a stream that are taken before the oldest of them is answered
    #[arg(
        long,
        env = "SUDOKU_MESSAGES_PER_STREAM",
        value_name = "N",
        default_value_t = Settings::default().messages_per_stream
    )]
    messages_per_stream: usize,

    /// The same for all streams together, not counting one message for each
    #[arg(
        long,
        env = "SUDOKU_SHARED_MESSAGES",
        value_name = "N",
        default_value_t = Settings::default().shared_messages
    )]
    shared_messages: usize,

    /// Connections open at once; further ones wait
    #[arg(long, env = "SUDOKU_MAX_CONNECTIONS", value_name = "N", default_value_t = Settings::default().max_connections)]
    max_connections: usize,

    /// How long the message of a Solve call may take to arrive, as in 30s or 500ms
    #[arg(
        long,
        env = "SUDOKU_REQUEST_DEADLINE",
        value_name = "TIME",
        default_value = "30s",
        value_parser = humantime::parse_duration
    )]
    request_deadline: Duration,

    /// How long to wait for running calls on SIGTERM, as in 25s or 500ms
    #[arg(
        long,
        env = "SUDOKU_DRAIN_DEADLINE",
        value_name = "TIME",
        default_value = "25s",
        value_parser = humantime::parse_duration
    )]
    drain_deadline: Duration,

    /// The most puzzles in a SolveMany message
    #[arg(
        long,
        env = "SUDOKU_MAX_PUZZLES_PER_MESSAGE",
        value_name = "N",
        default_value_t = Limits::default().max_puzzles_per_message
    )]
    max_puzzles_per_message: u32,

    /// The most bytes in a SolveMany message
    #[arg(
        long,
        env = "SUDOKU_MAX_MESSAGE_BYTES",
        value_name = "N",
        default_value_t = Limits::default().max_message_bytes
    )]
    max_message_bytes: u32,

    /// The most bytes in a Solve message
    #[arg(long, env = "SUDOKU_MAX_SOLVE_BYTES", value_name = "N", default_value_t = Limits::default().max_solve_bytes)]
    max_solve_bytes: u32,

    /// The highest solution limit of a request
    #[arg(
        long,
        env = "SUDOKU_MAX_SOLUTION_LIMIT",
        value_name = "N",
        default_value_t = Limits::default().max_solution_limit
    )]
    max_solution_limit: u32,

    /// The time limit of a puzzle whose request names none
    #[arg(
        long,
        env = "SUDOKU_DEFAULT_TIME_LIMIT",
        value_name = "TIME",
        default_value = "1s",
        value_parser = humantime::parse_duration
    )]
    default_time_limit: Duration,

    /// The highest time limit of a request
    #[arg(
        long,
        env = "SUDOKU_MAX_TIME_LIMIT",
        value_name = "TIME",
        default_value = "60s",
        value_parser = humantime::parse_duration
    )]
    max_time_limit: Duration,
}

impl Args {
    /// The settings that they mean.
    pub fn settings(&self) -> Settings {
        Settings {
            limits: Limits {
                max_puzzles_per_message: self.max_puzzles_per_message,
                max_message_bytes: self.max_message_bytes,
                max_solve_bytes: self.max_solve_bytes,
                max_solution_limit: self.max_solution_limit,
                default_time_limit: self.default_time_limit,
                max_time_limit: self.max_time_limit,
            },
            threads: self.threads.unwrap_or(Settings::default().threads),
            isa: self.simd.unwrap_or(Settings::default().isa),
            max_solves: self.max_solves,
            max_streams: self.max_streams,
            messages_per_stream: self.messages_per_stream,
            shared_messages: self.shared_messages,
            max_connections: self.max_connections,
            request_deadline: self.request_deadline,
            drain_deadline: self.drain_deadline,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_typed_means_the_defaults() {
        let args = Args::parse_from(["sudoku-server"]);
        assert_eq!(args.settings(), Settings::default());
    }
}
