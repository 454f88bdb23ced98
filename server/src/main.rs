//! `sudoku-server`: the service as a program.

#![forbid(unsafe_code)]

mod args;
mod signals;

use std::io::{self, IsTerminal, Write};
use std::net::SocketAddr;
use std::pin::pin;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Parser;
use sudoku_server::{Drained, Service, serve};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::EnvFilter;

use args::Args;
use signals::Signals;

// Messages are allocated on one thread and freed on another, which costs this one little.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const CUT_OFF: u8 = 1;
const CANNOT_START: u8 = 2;

fn main() -> ExitCode {
    let args = Args::parse();
    match run(&args) {
        Ok(Drained::Finished) => ExitCode::SUCCESS,
        Ok(Drained::CutOff) => ExitCode::from(CUT_OFF),
        Err(error) => {
            eprintln!("sudoku-server: {error:#}");
            ExitCode::from(CANNOT_START)
        }
    }
}

#[tokio::main]
async fn run(args: &Args) -> anyhow::Result<Drained> {
    if !args.listen.ip().is_loopback() && !args.insecure {
        bail!(
            "{} can be reached from other machines, and calls are not encrypted; say --insecure if that is meant",
            args.listen
        );
    }
    let log_filter = EnvFilter::builder()
        .with_default_directive(LevelFilter::INFO.into())
        .from_env()
        .context("RUST_LOG is no log filter")?;
    tracing_subscriber::fmt()
        .with_env_filter(log_filter)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .init();

    let mut signals = Signals::new().context("cannot listen for signals")?;
    let service = Service::new(args.settings())?;
    let listener = TcpListener::bind(args.listen)
        .await
        .with_context(|| format!("cannot listen on {}", args.listen))?;
    announce(listener.local_addr()?);

    let shutdown = CancellationToken::new();
    let mut serving = pin!(serve(listener, service, shutdown.cancelled()));
    tokio::select! {
        drained = serving.as_mut() => return Ok(drained),
        () = signals.next() => shutdown.cancel(),
    }
    tokio::select! {
        drained = serving => Ok(drained),
        () = signals.next() => {
            tracing::warn!("a second signal; calls are cut off");
            Ok(Drained::CutOff)
        }
    }
}

/// Prints the address, for whoever started the server and waits for it. Nobody has to: a closed output is no error.
fn announce(address: SocketAddr) {
    let mut output = io::stdout().lock();
    let _ = writeln!(output, "{address}").and_then(|()| output.flush());
    tracing::info!(%address, "listening");
}
