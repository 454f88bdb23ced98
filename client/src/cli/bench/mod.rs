//! `sudoku-client bench`: how much a service carries, and how long its answers take.

mod load;
mod measured;
mod report;
mod schedule;

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use clap::ValueEnum;
use sudoku_client::{SolveOptions, SudokuClient, Transport};
use sudoku_engine::Grid;
use tokio_stream::StreamExt;

use super::exit::Status;
use super::feed;
use super::interrupt::interrupted;
use super::note;
use super::service::{self, Allowed, Which};
use super::source::Source;
use load::Load;
use measured::Measured;
use report::Report;
use schedule::Schedule;

/// The arguments, as typed.
#[derive(Debug, clap::Args)]
#[command(about = ABOUT, after_long_help = LONG_HELP)]
pub struct Args {
    /// Puzzles, files of puzzles, or `-` for standard input, sent again and again; by default a few of every kind
    ///
    /// All that `solve` reads is read, up to a million puzzles, and kept in memory. Lines that hold no puzzle are left out,
    /// and counted on standard error.
    #[arg(value_name = "PUZZLE|FILE|-")]
    inputs: Vec<OsString>,

    #[command(flatten)]
    service: service::Args,

    /// How puzzles are sent
    #[arg(long, value_enum, default_value_t = Mode::Unary)]
    mode: Mode,

    /// How many calls run at once, or how many streams [default: 16 calls, or 1 stream]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    concurrency: Option<u32>,

    /// Send so many puzzles a second, whether answers come or not [default: as fast as answers come]
    ///
    /// The latency of a puzzle then counts from when it was due. So a service that stalls is charged with all that it
    /// holds up, and not only with the few calls that were on their way.
    #[arg(long, value_name = "N", value_parser = rate)]
    rate: Option<f64>,

    /// Send for this time, such as 500ms or 1m [default: 10s, or no bound where --count is given]
    #[arg(long, value_name = "TIME", value_parser = super::patience)]
    duration: Option<Duration>,

    /// Send so many puzzles at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,

    /// Give up on a call after this time; streams are not bounded
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = super::patience)]
    timeout: Duration,

    /// How many connections each endpoint gets
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=64))]
    #[arg(hide_short_help = true)]
    connections: u8,

    /// Stop each search after this many solutions
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,

    /// Give up on a puzzle after this time [default: the service's, 1s]
    #[arg(long, value_name = "TIME", value_parser = super::patience)]
    time_limit: Option<Duration>,

    /// How to write what was measured
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// How puzzles are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Mode {
    /// A call for each puzzle
    Unary,
    /// Streams of puzzles, packed into messages as `solve` does
    Stream,
}

/// How a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Tables for people
    Text,
    /// A JSON object
    Json,
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if (0.001..=1e9).contains(&rate) => Ok(rate),
        _ => Err("it must be a number from 0.001 to 1000000000".to_owned()),
    }
}

const ABOUT: &str = "Send puzzles to a service for a while, and tell how many it answers and how fast";

const LONG_HELP: &str = concat!(
    "\
Latency is told in percentiles and as a histogram, of answers alone; calls that failed are counted by their code. \
Nothing is tried again. With --rate there are two: the latency, from when a puzzle was due, and the service time, \
from when it was sent. What was due and could not be sent in time is counted as well.

Ctrl-C ends the run, and what was measured until then is told.

Examples:
  The service in this process, 8 calls at once:
    sudoku-client bench --concurrency 8
  A server at 2,000 puzzles a second for a minute, as JSON:
    sudoku-client bench --endpoint http://127.0.0.1:50051 --rate 2000 --duration 1m -f json
  Two streams, as many puzzles as they carry:
    sudoku-client bench --endpoint http://127.0.0.1:50051 --mode stream --concurrency 2 puzzles.txt

Exit status:
  0    every puzzle that was sent was answered
  2    wrong usage, or an input that cannot be read or holds no puzzle
  3    some calls failed, or no connection could be made
  130  ended by Ctrl-C
  143  ended by SIGTERM

",
    include_str!("../environment.txt"),
    include_str!("../environment_solving.txt"),
);

/// Puzzles for those who name none: easy, medium and hard ones, one with two solutions, and one with none.
const PUZZLES: [&str; 5] = [
    "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79",
    "..43..2.9..5..9..1.7..6..43..6..2.8719...74...5..83...6.....1.5..35.869..4291.3..",
    "..............3.85..1.2.......5.7.....4...1...9.......5......73..2.1........4...9",
    ".39...12....9.7...8..4.1..6.42...79...........91...54.5..1.9..3...8.5....14...87.",
    "..9.287..8.6..4..5..3.....46.........2.71345.........23.....5..9..4..8.7..125.3..",
];

/// The most puzzles that are kept.
const MOST: usize = 1_000_000;

/// What the arguments mean.
struct Plan {
    puzzles: Arc<[Grid]>,
    mode: Mode,
    concurrency: usize,
    rate: Option<f64>,
    duration: Option<Duration>,
    count: Option<u64>,
    service: Which,
    options: SolveOptions,
    timeout: Duration,
    connections: usize,
    format: Format,
}

impl Plan {
    async fn new(args: Args) -> anyhow::Result<Self> {
        let duration = match (args.duration, args.count) {
            (None, None) => Some(Duration::from_secs(10)),
            (duration, _) => duration,
        };
        let by_default = if args.mode == Mode::Unary { 16 } else { 1 };
        let options = SolveOptions::new()
            .solution_limit(args.limit)
            .time_limit(args.time_limit);
        Ok(Self {
            service: Which::new(args.service, &options)?,
            puzzles: puzzles(&args.inputs).await?.into(),
            mode: args.mode,
            concurrency: args.concurrency.unwrap_or(by_default) as usize,
            rate: args.rate,
            duration,
            count: args.count,
            options,
            timeout: args.timeout,
            connections: args.connections.into(),
            format: args.format,
        })
    }
}

/// All puzzles of the inputs.
async fn puzzles(inputs: &[OsString]) -> anyhow::Result<Vec<Grid>> {
    if inputs.is_empty() {
        return Ok(PUZZLES.iter().filter_map(|line| line.parse().ok()).collect());
    }
    let sources: Result<Vec<_>, _> = inputs.iter().map(|input| Source::from_argument(input)).collect();
    let sources = sources?;
    // What is the only one has no name in its records.
    let only = sources[0].name();
    let (mut waiting, mut records, _) = feed::start(sources, None);
    let (mut puzzles, mut slips, mut first_slip) = (Vec::new(), 0_u64, None);
    while waiting.next().await.is_some() {
        let record = records.next().context("more puzzles than records")?;
        match record.entry {
            Ok(grid) => puzzles.push(*grid),
            Err(slip) => {
                let slipped = format!("{}: {slip}", record.source.unwrap_or(&only));
                ensure!(!slip.is_barren(), slipped);
                slips += 1;
                first_slip.get_or_insert(slipped);
            }
        }
        if puzzles.len() == MOST {
            note(format_args!("only the first {MOST} puzzles are used"));
            break;
        }
    }
    if puzzles.len() < MOST {
        records.finish()?;
    }
    if let Some(first) = first_slip {
        ensure!(!puzzles.is_empty(), first);
        note(format_args!(
            "left out as no puzzles: {slips}, the first at {first}"
        ));
    }
    Ok(puzzles)
}

/// Puts the load that `args` describe on a service, and tells how it went.
///
/// # Errors
///
/// There is no puzzle, no connection could be made, or the report cannot be written.
pub fn run(args: Args) -> anyhow::Result<Status> {
    let runtime = tokio::runtime::Runtime::new().context("cannot start")?;
    let (report, format) = runtime.block_on(async {
        let plan = Plan::new(args).await?;
        let format = plan.format;
        anyhow::Ok((measure(plan).await?, format))
    })?;
    // Calls that were given up need not be waited for.
    runtime.shutdown_background();
    let text = match format {
        Format::Text => report.to_string(),
        Format::Json => report.to_json(),
    };
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(error).context("cannot write what was measured")
        }
        _ => Ok(report.status()),
    }
}

async fn measure(plan: Plan) -> anyhow::Result<Report> {
    let service = plan.service.clone();
    match &service {
        Which::There(connection) => {
            let client = connection
                .builder()
                .retries(0)
                .connections(plan.connections)
                .concurrency(plan.concurrency);
            let client = client.connect_lazy()?;
            // So that making the connection is not measured. Waiting for an answer is bounded as in every call.
            let reached = tokio::time::timeout(plan.timeout, client.server_info()).await;
            match reached {
                Ok(Ok(info)) => {
                    Allowed::by(&info)
                        .hold(&plan.options)
                        .context(connection.name())?;
                }
                Ok(Err(error)) => return Err(service.explain(error)),
                Err(_) => return Err(service.explain(sudoku_client::Error::DeadlineExceeded)),
            }
            Ok(put_load(client, plan, connection.name()).await)
        }
        Which::Here(_) => {
            let client = service.in_process()?;
            Ok(put_load(client, plan, "in this process".to_owned()).await)
        }
    }
}

/// Sends what is planned, until it is all answered or Ctrl-C is pressed.
async fn put_load<T: Transport>(client: SudokuClient<T>, plan: Plan, service: String) -> Report {
    let client = client.with_options(plan.options);
    let schedule = Arc::new(Schedule::start(plan.rate, plan.duration, plan.count));
    let measured = Arc::new(Measured::default());
    if io::stderr().is_terminal() {
        note(format_args!(
            "sending; Ctrl-C ends it and tells what was measured"
        ));
    }
    let load = Load {
        client,
        puzzles: plan.puzzles,
        schedule: Arc::clone(&schedule),
        measured: Arc::clone(&measured),
        timeout: plan.timeout,
    };
    let started = Instant::now();
    let interrupted = tokio::select! {
        () = load.run(plan.mode == Mode::Stream, plan.concurrency) => None,
        Ok(status) = interrupted() => Some(status),
    };
    let elapsed = started.elapsed();
    Report {
        service,
        stream: plan.mode == Mode::Stream,
        concurrency: plan.concurrency,
        rate: plan.rate,
        elapsed,
        interrupted,
        unsent: schedule.unsent(Instant::now()),
        measured: measured.take(),
    }
}
