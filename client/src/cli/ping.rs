//! `sudoku-client ping`.

use std::fmt;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use anyhow::Context;
use sudoku_client::{Error, ServerInfo, SudokuClient};
use tokio::time::timeout;

use super::exit::Status;

/// The arguments, as typed.
#[derive(Debug, clap::Args)]
#[command(about = "Ask a service whether it serves, and for its version, limits and round trip", after_long_help = LONG_HELP)]
pub struct Args {
    /// The service, such as http://127.0.0.1:50051
    #[arg(value_name = "URL", env = "SUDOKU_ENDPOINT", hide_env_values = true)]
    endpoint: String,

    /// How many calls to time for the round trip
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    count: u32,

    /// Give up on a call after this time, such as 500ms or 10s
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = patience)]
    timeout: Duration,
}

fn patience(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(Duration::ZERO) => Err("it must be more than 0".to_owned()),
        parsed => parsed.map_err(|error| error.to_string()),
    }
}

const LONG_HELP: &str = "\
The round trip is that of a call that needs no work, GetServerInfo, on a connection that stands.

Exit status:
  0  the service serves
  2  wrong usage
  3  it cannot be reached, does not serve, or fails

Environment:
  SUDOKU_ENDPOINT  the service, where no URL is given";

/// What was found out.
struct Report {
    endpoint: String,
    serves: bool,
    info: ServerInfo,
    /// In ascending order; never empty.
    round_trips: Vec<Duration>,
}

/// Asks the service that `args` name.
///
/// # Errors
///
/// It cannot be reached, or fails.
pub fn run(args: Args) -> anyhow::Result<Status> {
    let runtime = tokio::runtime::Runtime::new().context("cannot start")?;
    let report = runtime
        .block_on(ask(&args))
        .with_context(|| args.endpoint.clone())?;
    match write!(io::stdout().lock(), "{report}") {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(error).context("cannot write the answer")
        }
        _ if report.serves => Ok(Status::Solved),
        _ => Ok(Status::Service),
    }
}

async fn ask(args: &Args) -> anyhow::Result<Report> {
    let client = SudokuClient::builder()
        .endpoint(&args.endpoint)
        .deadline(args.timeout)
        .retries(0)
        .connect_lazy()?;
    // Connecting is bounded by this alone.
    let serves = timeout(args.timeout, client.is_serving())
        .await
        .map_err(|_| Error::DeadlineExceeded)??;
    let info = client.server_info().await?;
    let mut round_trips = Vec::new();
    for _ in 0..args.count {
        let begin = Instant::now();
        client.server_info().await?;
        round_trips.push(begin.elapsed());
    }
    round_trips.sort_unstable();
    Ok(Report {
        endpoint: args.endpoint.clone(),
        serves,
        info,
        round_trips,
    })
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            info, round_trips, ..
        } = self;
        writeln!(f, "endpoint    {}", self.endpoint)?;
        writeln!(
            f,
            "health      {}",
            if self.serves { "serving" } else { "not serving" }
        )?;
        writeln!(f, "version     {}", info.version)?;
        writeln!(f, "puzzles     {} a message", info.max_puzzles_per_message)?;
        writeln!(f, "bytes       {} a message", info.max_message_bytes)?;
        writeln!(f, "solutions   {} a puzzle", info.max_solution_limit)?;
        if let Some(limit) = info.max_time_limit {
            writeln!(f, "time        {} a puzzle", humantime::format_duration(limit))?;
        }
        let milliseconds = |time: Option<&Duration>| time.map_or(0.0, |time| time.as_secs_f64() * 1e3);
        writeln!(
            f,
            "round trip  {:.3} ms, {:.3} to {:.3} ms in {} calls",
            milliseconds(round_trips.get(round_trips.len() / 2)),
            milliseconds(round_trips.first()),
            milliseconds(round_trips.last()),
            round_trips.len(),
        )
    }
}
