//! How long a call of `Solve` takes while streams keep every core busy, against how long it takes when nothing else runs.
//!
//!     cargo bench --bench latency_under_load -- --help
//!
//! The server may use all cores, and shares them with the load and with the calls that are timed.

mod support;

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;
use support::load::{StreamLoad, Tally, connect};
use support::process::{Process, Program, server_binary};
use support::sets::{Frames, Set};
use support::unary::call;
use support::{cpu, on_this_thread, quantile};
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

/// Times calls of `Solve` on an idle server and on one that is busy with streams.
#[derive(Debug, Parser)]
struct Args {
    /// Seconds of calls, idle and under load each
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,

    /// Milliseconds from one call to the next
    #[arg(long, default_value_t = 2)]
    every: u64,

    /// The puzzles of the calls
    #[arg(long, default_value = "17_clue")]
    set: String,

    /// The puzzles of the streams
    #[arg(long, default_value = "hardest_11plus")]
    load_set: String,

    /// Streams, each on a connection of its own
    #[arg(long, default_value_t = 4)]
    streams: usize,

    /// Puzzles in a message of a stream
    #[arg(long, default_value_t = 256)]
    puzzles: usize,

    /// Messages of a stream under way at a time
    #[arg(long, default_value_t = 16)]
    depth: usize,

    /// Measure this server instead of the one of this checkout
    #[arg(long, value_name = "FILE")]
    server: Option<PathBuf>,

    /// Give the server this argument
    #[arg(long, value_name = "ARGUMENT", allow_hyphen_values = true)]
    server_arg: Vec<String>,

    /// What cargo passes to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

/// How many times as long as on an idle server the slowest hundredth may take.
const MOST: f64 = 10.0;

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("latency_under_load: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> io::Result<()> {
    let cores = cpu::cores()?;
    let program = Program::Ours(server_binary(args.server.as_deref())?, args.server_arg.clone());
    let server = Process::start(&program, &cores, &cores)?;
    println!(
        "Solve, {}, a call every {} ms for {} s; load: {} streams of {}, {} puzzles a message, {} messages each; {} cores",
        args.set,
        args.every,
        args.seconds,
        args.streams,
        args.load_set,
        args.puzzles,
        args.depth,
        cores.len(),
    );
    println!(
        "{:<10} {:>10} {:>10} {:>10} {:>14}",
        "", "p50, us", "p99, us", "most, us", "cores busy"
    );
    let idle = timed(args, &server, "idle")?;
    let enough = Arc::new(AtomicBool::new(false));
    start_load(args, server.address, Arc::clone(&enough))?;
    let loaded = timed(args, &server, "under load")?;
    enough.store(true, Ordering::Relaxed);
    println!("p99 under load / idle: {:.2}; it may be {MOST}", loaded / idle);
    Ok(())
}

/// Times calls, prints what they took, and gives the time within which 99 of 100 were answered.
fn timed(args: &Args, server: &Process, what: &str) -> io::Result<f64> {
    let frames = Set::read(&args.set)?.calls();
    let mut times = Vec::new();
    let (begin, cpu) = (Instant::now(), server.cpu_time()?);
    on_this_thread(async {
        let mut client = connect(server.address).await?;
        let mut ticks = tokio::time::interval(Duration::from_millis(args.every));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // The first calls find nothing in the caches.
        let warm_up = Duration::from_secs(1);
        let end = warm_up + Duration::from_secs_f64(args.seconds);
        for frame in frames.iter().cycle() {
            ticks.tick().await;
            let sent_at = Instant::now();
            client = call(client, frame.clone()).await?;
            if begin.elapsed() >= warm_up {
                times.push(sent_at.elapsed().as_secs_f64() * 1e6);
            }
            if begin.elapsed() >= end {
                break;
            }
        }
        Ok(())
    })?;
    let busy = (server.cpu_time()? - cpu).as_secs_f64() / begin.elapsed().as_secs_f64();
    times.sort_by(f64::total_cmp);
    let [p50, p99, most] = [0.5, 0.99, 1.0].map(|part| quantile(&times, part));
    println!("{what:<10} {p50:>10.0} {p99:>10.0} {most:>10.0} {busy:>14.2}");
    Ok(p99)
}

/// Starts streams on a thread of their own. They go on until the program ends, and say so if they break before it is enough.
fn start_load(args: &Args, address: SocketAddr, enough: Arc<AtomicBool>) -> io::Result<()> {
    let frames = Set::read(&args.load_set)?.frames(args.puzzles);
    let (streams, depth) = (args.streams, args.depth);
    thread::Builder::new().name("load".to_owned()).spawn(move || {
        let ended = on_this_thread(load(address, frames, streams, depth));
        if !enough.load(Ordering::Relaxed) {
            eprintln!("latency_under_load: the load ended: {ended:?}");
        }
    })?;
    Ok(())
}

/// Streams for ever. It ends when one of them does.
async fn load(address: SocketAddr, frames: Frames, streams: usize, depth: usize) -> io::Result<()> {
    let tally = Rc::new(Tally::default());
    let mut running = JoinSet::new();
    for _ in 0..streams {
        let client = connect(address).await?;
        let stream = StreamLoad::open(&client, frames.clone(), depth, Rc::clone(&tally)).await?;
        running.spawn_local(stream.run());
    }
    match running.join_next().await {
        Some(error) => Err(error?),
        None => Ok(()),
    }
}
