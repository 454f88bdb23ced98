//! `sudoku-client ping`.

use std::fmt;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use anyhow::Context;
use sudoku_client::{ClientBuilder, Error, ServerInfo};
use tokio::time::timeout;

use super::connection::{self, Connection};
use super::exit::{self, Status};

/// The arguments, as typed.
#[derive(Debug, clap::Args)]
#[command(about = "Ask a service whether it serves, and for its version, limits and round trip", after_long_help = LONG_HELP)]
pub struct Args {
    /// The services, such as http://127.0.0.1:50051: the same as --endpoint
    #[arg(value_name = "URL")]
    urls: Vec<String>,

    #[command(flatten)]
    connection: connection::Args,

    /// How many calls to time for the round trip
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    count: u32,

    /// Give up on a call after this time, such as 500ms or 10s
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = super::patience)]
    timeout: Duration,
}

const LONG_HELP: &str = concat!(
    "\
The round trip is that of a call that needs no work, GetServerInfo, on a connection that stands. Of several services each \
is asked by itself.

Exit status:
  0  the service serves; of several, all do
  2  wrong usage
  3  it cannot be reached, does not serve, or fails

",
    include_str!("environment.txt")
);

/// What was found out.
struct Report {
    endpoint: String,
    serves: bool,
    info: ServerInfo,
    /// In ascending order; never empty.
    round_trips: Vec<Duration>,
}

/// Asks the services that `args` name, one after the other.
///
/// # Errors
///
/// None is named, a setting is wrong, or the answer cannot be written.
pub fn run(args: Args) -> anyhow::Result<Status> {
    let mut connection = args.connection;
    if !args.urls.is_empty() {
        connection.endpoint = args.urls;
    }
    let connection = Connection::load(connection)?.context(
        "no service is named: give its URL, SUDOKU_ENDPOINT, or a configuration file with an endpoint",
    )?;
    let runtime = tokio::runtime::Runtime::new().context("cannot start")?;
    let mut status = Status::Solved;
    for (index, endpoint) in connection.endpoints().iter().enumerate() {
        let builder = connection.builder_for(std::slice::from_ref(endpoint));
        let asked = runtime.block_on(ask(endpoint, builder, args.timeout, args.count));
        match asked.with_context(|| endpoint.clone()) {
            Ok(report) => {
                let gap = if index > 0 { "\n" } else { "" };
                match write!(io::stdout().lock(), "{gap}{report}") {
                    Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                        return Err(error).context("cannot write the answer");
                    }
                    _ if report.serves => {}
                    _ => status = status.max(Status::Service),
                }
            }
            Err(error) => {
                super::report(&error);
                status = status.max(exit::status_of(&error));
            }
        }
    }
    Ok(status)
}

async fn ask(
    endpoint: &str,
    builder: ClientBuilder,
    patience: Duration,
    count: u32,
) -> anyhow::Result<Report> {
    let client = builder.deadline(patience).retries(0).connect_lazy()?;
    // Connecting is bounded by this alone.
    let serves = timeout(patience, client.is_serving())
        .await
        .map_err(|_| Error::DeadlineExceeded)??;
    let info = client.server_info().await?;
    let mut round_trips = Vec::new();
    for _ in 0..count {
        let begin = Instant::now();
        client.server_info().await?;
        round_trips.push(begin.elapsed());
    }
    round_trips.sort_unstable();
    Ok(Report {
        endpoint: endpoint.to_owned(),
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
