//! The settings of the program: each is defined here, once.
//!
//! The flag's name gives the environment variable and the key in a file, which [`crate::config`] makes of it. A help text
//! is also the setting's line in `docs/operating.md`.

use std::error::Error;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;
use std::thread;
use std::time::Duration;

use clap::builder::BoolishValueParser;
use clap::{Parser, ValueEnum};
use humantime::parse_duration;
use sudoku_engine::{Isa, IsaError};
use sudoku_server::{Address, Limits, Origin, Settings};

const AFTER_HELP: &str = "\
Every setting is also an environment variable, SUDOKU_ with the flag's name in capitals, and a key of the TOML file that \
--config names, the flag's name without the dashes. A flag counts more than the variable, that more than the file, and \
the file more than the default.

Examples:
  sudoku-server
  sudoku-server --listen 127.0.0.1:0
      pick a free port, and print it
  sudoku-server --listen 127.0.0.1:50051,unix:/run/sudoku/grpc.sock
      listen in two places
  sudoku-server --listen 0.0.0.0:50051 --tls-cert server.pem --tls-key server.key
      take calls from other machines
  sudoku-server --max-solves 64 --print-config > sudoku.toml; sudoku-server --config sudoku.toml
  SUDOKU_LISTEN=[::1]:50051 RUST_LOG=debug sudoku-server

The first lines on standard output are the addresses that the server listens on, one a line in the order given, as in \
127.0.0.1:50051; then, with --admin-listen, the URL of the port for operators. The log goes to standard error; RUST_LOG says how much of it: error, warn, info (the default), debug or \
trace.

On SIGTERM or Ctrl-C the server drains: it refuses new calls, finishes those that run, and ends, at the latest after \
the drain deadline. A second signal ends it at once, with status 0 if no call runs then. On SIGHUP it looks whether certificates and tokens have changed.

Exit status: 0 drained, or no call ran at the second signal, 1 calls were cut off, 2 wrong usage, or the server could not start.";

/// Serves the Sudoku gRPC service.
#[derive(Debug, Parser)]
#[command(name = "sudoku-server", version, after_help = AFTER_HELP)]
pub struct Args {
    /// A TOML file with settings
    #[arg(long, value_name = "FILE", help_heading = "Configuration")]
    pub config: Option<PathBuf>,

    /// Print the settings in force as TOML that --config takes, and end
    #[arg(long, help_heading = "Configuration")]
    pub print_config: bool,

    /// Where to listen: an address and port, or a Unix socket as unix:/path; several are separated by commas. Port 0 picks
    /// a free one
    #[arg(
        long,
        value_name = "ADDRESS",
        value_delimiter = ',',
        default_value = "127.0.0.1:50051",
        help_heading = "Listening"
    )]
    pub listen: Vec<Address>,

    /// The permissions of Unix sockets, in octal; who may write may connect
    #[arg(long, value_name = "MODE", default_value = "600", help_heading = "Listening")]
    pub socket_mode: Mode,

    /// Listen on an address that other machines can reach, although nothing is encrypted
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_value = "false",
        default_missing_value = "true",
        value_parser = BoolishValueParser::new(),
        action = clap::ArgAction::Set,
        help_heading = "Listening"
    )]
    pub insecure: bool,

    /// The server's certificate in a PEM file, with those of the authorities between it and the root; turns on TLS for TCP
    #[arg(long, value_name = "FILE", help_heading = "Security")]
    pub tls_cert: Option<PathBuf>,

    /// The key of the certificate, in a PEM file
    #[arg(long, value_name = "FILE", help_heading = "Security")]
    pub tls_key: Option<PathBuf>,

    /// Take only clients with a certificate of one of the authorities in this PEM file
    #[arg(long, value_name = "FILE", help_heading = "Security")]
    pub tls_client_ca: Option<PathBuf>,

    /// Take only calls with a bearer token of this file, a line each: a name, and the token's SHA-256 in hexadecimal; health
    /// stays open
    #[arg(long, value_name = "FILE", help_heading = "Security")]
    pub token_file: Option<PathBuf>,

    /// How often to look whether the files with certificates and tokens have changed; SIGHUP makes it look at once
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = interval, help_heading = "Security")]
    pub reload_interval: Duration,

    /// An origin whose pages may call the server from a browser by gRPC-Web, as https://example.org; several are separated by
    /// commas
    #[arg(long, value_name = "ORIGIN", value_delimiter = ',', help_heading = "Security")]
    pub web_origin: Vec<Origin>,

    /// Where to answer operators over HTTP: /metrics, /livez and /readyz; nothing there is a secret
    #[arg(long, value_name = "ADDRESS", help_heading = "Observability")]
    pub admin_listen: Option<SocketAddr>,

    /// The collector that gets a span for each call, by OTLP over gRPC, as http://127.0.0.1:4317
    #[arg(long, value_name = "URL", value_parser = endpoint, help_heading = "Observability")]
    pub otlp_endpoint: Option<String>,

    /// The share of calls with a span, 0 to 1, of those whose callers send no trace; the others are as their callers say
    #[arg(long, value_name = "SHARE", default_value = "0.01", value_parser = share, help_heading = "Observability")]
    pub trace_share: f64,

    /// How the log is written: text for people, or json with an object a line
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "text",
        hide_possible_values = true,
        help_heading = "Observability"
    )]
    pub log_format: LogFormat,

    /// Cores that solve SolveMany messages at once; auto is all of them
    #[arg(long, value_name = "N", default_value = "auto", value_parser = threads, help_heading = "Solving")]
    threads: NonZeroUsize,

    /// The instructions to solve with: portable, avx2, avx2-no-pext or avx512; auto is the best that the processor has
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = simd, help_heading = "Solving")]
    simd: Isa,

    /// The time limit of a puzzle whose request names none
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration, help_heading = "Solving")]
    default_time_limit: Duration,

    /// The highest time limit of a request
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_duration, help_heading = "Solving")]
    max_time_limit: Duration,

    /// The highest solution limit of a request; in SolveMany the limit times the puzzles of a message
    #[arg(
        long,
        value_name = "N",
        default_value_t = Limits::default().max_solution_limit,
        help_heading = "Solving"
    )]
    max_solution_limit: u32,

    /// The most puzzles in a SolveMany message
    #[arg(
        long,
        value_name = "N",
        default_value_t = Limits::default().max_puzzles_per_message,
        help_heading = "Limits of messages"
    )]
    max_puzzles_per_message: u32,

    /// The most bytes in a SolveMany message, unpacked
    #[arg(
        long,
        value_name = "N",
        default_value_t = Limits::default().max_message_bytes,
        help_heading = "Limits of messages"
    )]
    max_message_bytes: u32,

    /// The most bytes in a Solve message, unpacked
    #[arg(
        long,
        value_name = "N",
        default_value_t = Limits::default().max_solve_bytes,
        help_heading = "Limits of messages"
    )]
    max_solve_bytes: u32,

    /// Solve calls solved at once; further ones are refused as overloaded
    #[arg(
        long,
        value_name = "N",
        default_value_t = Settings::default().max_solves,
        help_heading = "Limits of calls"
    )]
    max_solves: usize,

    /// SolveMany streams open at once; further ones are refused as overloaded
    #[arg(
        long,
        value_name = "N",
        default_value_t = Settings::default().max_streams,
        help_heading = "Limits of calls"
    )]
    max_streams: usize,

    /// Calls of all methods open at once, health and reflection included; further ones are refused as overloaded
    #[arg(
        long,
        value_name = "N",
        default_value_t = Settings::default().max_calls,
        help_heading = "Limits of calls"
    )]
    max_calls: usize,

    /// Messages of a stream that are taken before the oldest of them is answered
    #[arg(
        long,
        value_name = "N",
        default_value_t = Settings::default().messages_per_stream,
        help_heading = "Limits of calls"
    )]
    messages_per_stream: usize,

    /// The same for all streams together, not counting one message for each
    #[arg(
        long,
        value_name = "N",
        default_value_t = Settings::default().shared_messages,
        help_heading = "Limits of calls"
    )]
    shared_messages: usize,

    /// How long the message of a unary call may take to arrive, as in 30s or 500ms
    #[arg(
        long,
        value_name = "TIME",
        default_value = "30s",
        value_parser = parse_duration,
        help_heading = "Limits of calls"
    )]
    request_deadline: Duration,

    /// Connections open at once; further ones are closed at once
    #[arg(
        long,
        value_name = "N",
        default_value_t = Settings::default().max_connections,
        help_heading = "Limits of connections"
    )]
    max_connections: usize,

    /// Calls open at once on a connection; clients are told, and keep further ones back
    #[arg(
        long,
        value_name = "N",
        default_value_t = Settings::default().max_streams_per_connection,
        help_heading = "Limits of connections"
    )]
    max_streams_per_connection: u32,

    /// The most bytes of a call's headers, with 32 more for each header; a call with more is answered with HTTP status 431
    #[arg(
        long,
        value_name = "N",
        default_value_t = Settings::default().max_header_bytes,
        help_heading = "Limits of connections"
    )]
    max_header_bytes: u32,

    /// How long a connection without a call stays open
    #[arg(
        long,
        value_name = "TIME",
        default_value = "15m",
        value_parser = parse_duration,
        help_heading = "Limits of connections"
    )]
    max_connection_idle: Duration,

    /// The age at which a connection's client is asked to connect anew, up to a tenth less by chance; running calls are finished
    #[arg(
        long,
        value_name = "TIME",
        default_value = "1h",
        value_parser = parse_duration,
        help_heading = "Limits of connections"
    )]
    max_connection_age: Duration,

    /// After how much silence a client is asked whether it is still there
    #[arg(
        long,
        value_name = "TIME",
        default_value = "60s",
        value_parser = parse_duration,
        help_heading = "Limits of connections"
    )]
    keepalive_interval: Duration,

    /// How long it has to answer
    #[arg(
        long,
        value_name = "TIME",
        default_value = "20s",
        value_parser = parse_duration,
        help_heading = "Limits of connections"
    )]
    keepalive_timeout: Duration,

    /// How long a connection may take to begin, the handshake of TLS included
    #[arg(
        long,
        value_name = "TIME",
        default_value = "10s",
        value_parser = parse_duration,
        help_heading = "Limits of connections"
    )]
    handshake_timeout: Duration,

    /// Connections open at once to the port for operators; further ones are closed at once
    #[arg(
        long,
        value_name = "N",
        default_value_t = Settings::default().admin_max_connections,
        help_heading = "Limits of the port for operators"
    )]
    admin_max_connections: usize,

    /// How long the header of a request may take there, silence before it included
    #[arg(
        long,
        value_name = "TIME",
        default_value = "10s",
        value_parser = parse_duration,
        help_heading = "Limits of the port for operators"
    )]
    admin_header_timeout: Duration,

    /// How old a connection may become there; a request under way has as long again as a header may take
    #[arg(
        long,
        value_name = "TIME",
        default_value = "60s",
        value_parser = parse_duration,
        help_heading = "Limits of the port for operators"
    )]
    admin_max_connection_age: Duration,

    /// How long to go on as before on SIGTERM while health and readiness say that the server goes, for balancers to notice
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = parse_duration, help_heading = "Shutting down")]
    drain_delay: Duration,

    /// How long to wait then for running calls, as in 25s or 500ms
    #[arg(long, value_name = "TIME", default_value = "25s", value_parser = parse_duration, help_heading = "Shutting down")]
    drain_deadline: Duration,
}

/// How the log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    Text,
    Json,
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
            threads: self.threads,
            isa: self.simd,
            max_solves: self.max_solves,
            max_streams: self.max_streams,
            messages_per_stream: self.messages_per_stream,
            shared_messages: self.shared_messages,
            max_calls: self.max_calls,
            max_connections: self.max_connections,
            max_streams_per_connection: self.max_streams_per_connection,
            max_header_bytes: self.max_header_bytes,
            max_connection_idle: self.max_connection_idle,
            max_connection_age: self.max_connection_age,
            keepalive_interval: self.keepalive_interval,
            keepalive_timeout: self.keepalive_timeout,
            handshake_timeout: self.handshake_timeout,
            admin_max_connections: self.admin_max_connections,
            admin_header_timeout: self.admin_header_timeout,
            admin_max_connection_age: self.admin_max_connection_age,
            request_deadline: self.request_deadline,
            drain_delay: self.drain_delay,
            drain_deadline: self.drain_deadline,
        }
    }
}

/// What lets the program itself choose.
const AUTO: &str = "auto";

fn threads(text: &str) -> Result<NonZeroUsize, std::num::ParseIntError> {
    match text {
        AUTO => Ok(thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)),
        number => number.parse(),
    }
}

/// What a setting must be, where a value is not that.
#[derive(Debug, thiserror::Error)]
#[error("it must be {0}")]
pub struct MustBe(pub &'static str);

/// The permissions of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mode(pub u32);

impl FromStr for Mode {
    type Err = MustBe;

    fn from_str(text: &str) -> Result<Self, MustBe> {
        match u32::from_str_radix(text, 8) {
            Ok(mode) if mode <= 0o777 => Ok(Self(mode)),
            _ => Err(MustBe("permissions in octal, 000 to 777")),
        }
    }
}

fn simd(text: &str) -> Result<Isa, Box<dyn Error + Send + Sync>> {
    match text {
        AUTO => Ok(Isa::detect()),
        name => match Isa::named(name) {
            Err(IsaError::Unknown { .. }) => {
                Err(MustBe("auto, portable, avx2, avx2-no-pext or avx512").into())
            }
            named => Ok(named?),
        },
    }
}

/// Looking reads the files.
const LEAST_INTERVAL: Duration = Duration::from_millis(10);
const MOST_INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);

fn interval(text: &str) -> Result<Duration, MustBe> {
    match parse_duration(text) {
        Ok(time) if (LEAST_INTERVAL..=MOST_INTERVAL).contains(&time) => Ok(time),
        _ => Err(MustBe("a time of 10ms to 24h with its unit, as in 30s or 500ms")),
    }
}

fn endpoint(text: &str) -> Result<String, MustBe> {
    match text.strip_prefix("http://") {
        Some(authority) if !authority.is_empty() && !authority.contains('@') => Ok(text.to_owned()),
        _ => Err(MustBe("http:// with a host and port")),
    }
}

fn share(text: &str) -> Result<f64, MustBe> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err(MustBe("a number from 0 to 1")),
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

    #[test]
    fn permissions_are_octal() {
        assert_eq!("660".parse::<Mode>().unwrap(), Mode(0o660));
        for wrong in ["", "8", "1000", "-1", "rw-"] {
            wrong.parse::<Mode>().unwrap_err();
        }
    }
}
