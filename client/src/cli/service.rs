//! The service that does the work: on servers, or in this process.

use std::time::Duration;

use anyhow::ensure;
use sudoku_client::{Error, Outcome, Outcomes, ServerInfo, ServiceError, SolveOptions, SudokuClient};
use sudoku_engine::{Grid, Isa, IsaError};
use sudoku_server::{Rpc, Settings};

use super::connection::{self, Connection};
use super::feed::Puzzles;

/// What can be said about the service on the command line.
#[derive(Debug, Default, clap::Args)]
#[group(skip)]
pub struct Args {
    #[command(flatten)]
    connection: connection::Args,

    /// Solve in this process, also where a variable or the configuration file names a service
    #[arg(long, help_heading = connection::HEADING, hide_short_help = true)]
    local: bool,

    /// Solve with these instructions: portable, avx2, avx2-no-pext or avx512 [default: auto, the best that the processor has]
    ///
    /// The answers are the same, only slower or faster. A service at an endpoint picks its own.
    #[arg(long, value_name = "NAME", env = "SUDOKU_SIMD", value_parser = simd, hide_short_help = true)]
    simd: Option<Isa>,
}

/// A variable that is set to nothing says nothing, and `auto` is what a server calls the same.
fn simd(text: &str) -> Result<Isa, String> {
    match text {
        "" | "auto" => Ok(Isa::detect()),
        name => Isa::named(name).map_err(|error| match error {
            IsaError::Unknown { .. } => "it must be auto, portable, avx2, avx2-no-pext or avx512".to_owned(),
            error => error.to_string(),
        }),
    }
}

/// Which service does the work.
#[derive(Debug, Clone)]
pub enum Which {
    /// The one in this process, with an instruction set where that is not to be the best one.
    Here(Option<Isa>),
    /// The one on these servers.
    There(Box<Connection>),
}

impl Which {
    /// Finds out which service is asked for. What servers allow they say themselves.
    ///
    /// # Errors
    ///
    /// Those of [`Connection::load`], and an option that the service in this process does not allow.
    pub fn new(args: Args, options: &SolveOptions) -> anyhow::Result<Self> {
        let connection = match args.local {
            true => None,
            false => Connection::load(args.connection)?,
        };
        if let Some(connection) = connection {
            return Ok(Self::There(Box::new(connection)));
        }
        Allowed::here().hold(options)?;
        Ok(Self::Here(args.simd))
    }

    /// Solves a stream of puzzles.
    ///
    /// # Errors
    ///
    /// The endpoint is none, or this process can't get the threads to solve.
    pub fn solve_many(&self, options: SolveOptions, puzzles: Puzzles) -> anyhow::Result<Outcomes> {
        Ok(match self {
            Self::There(connection) => connection
                .builder()
                .options(options)
                .connect_lazy()?
                .solve_many(puzzles),
            Self::Here(_) => self.in_process()?.with_options(options).solve_many(puzzles),
        })
    }

    /// Solves one puzzle.
    ///
    /// # Errors
    ///
    /// Those of [`solve_many`](Self::solve_many), and whatever the service could not do.
    pub async fn solve(&self, options: SolveOptions, puzzle: &Grid) -> anyhow::Result<Outcome> {
        let outcome = match self {
            Self::There(connection) => {
                let client = connection.builder().options(options).connect_lazy()?;
                client.solve(puzzle).await
            }
            Self::Here(_) => self.in_process()?.with_options(options).solve(puzzle).await,
        };
        outcome.map_err(|error| self.explain(error))
    }

    /// An error of the service, with the name of what was called. The place in the stream is left out where it says no
    /// more than that nothing was answered.
    pub fn explain(&self, error: Error) -> anyhow::Error {
        let error = match error {
            Error::Interrupted { answered: 0, source } => *source,
            other => other,
        };
        match self {
            Self::There(connection) => anyhow::Error::new(error).context(connection.name()),
            Self::Here(_) => error.into(),
        }
    }

    /// A client of the service in this process.
    ///
    /// # Errors
    ///
    /// This process can't get the threads to solve.
    pub fn in_process(&self) -> anyhow::Result<SudokuClient<Rpc>> {
        let defaults = Settings::default();
        let isa = match self {
            Self::Here(Some(isa)) => *isa,
            _ => defaults.isa,
        };
        let settings = Settings { isa, ..defaults };
        Ok(SudokuClient::from_service(sudoku_server::in_process(settings)?))
    }
}

/// What options a service allows.
#[derive(Debug)]
pub struct Allowed {
    solution_limit: u32,
    time_limit: Option<Duration>,
}

impl Allowed {
    fn here() -> Self {
        let limits = Settings::default().limits;
        Self {
            solution_limit: limits.max_solution_limit,
            time_limit: Some(limits.max_time_limit),
        }
    }

    /// As a server tells.
    pub fn by(info: &ServerInfo) -> Self {
        Self {
            solution_limit: info.max_solution_limit,
            time_limit: info.max_time_limit,
        }
    }

    /// Holds options against it.
    ///
    /// # Errors
    ///
    /// One is above it, by the name of its flag.
    pub fn hold(&self, options: &SolveOptions) -> anyhow::Result<()> {
        let most = self.solution_limit;
        ensure!(
            options.solution_limit <= most,
            "{LIMIT} is {}; it may be from 1 to {most}",
            options.solution_limit
        );
        if let (Some(limit), Some(most)) = (options.time_limit, self.time_limit) {
            ensure!(
                limit <= most,
                "{TIME_LIMIT} is {}; it may be up to {}",
                humantime::format_duration(limit),
                humantime::format_duration(most)
            );
        }
        Ok(())
    }
}

const LIMIT: &str = "--limit";
const TIME_LIMIT: &str = "--time-limit";

/// What a service says of an option that it does not allow, with the name of its flag. `None` for other errors.
pub fn refused_option(error: &ServiceError) -> Option<String> {
    error.fields.iter().find_map(|violation| {
        let flag = match violation.field.as_str() {
            "options.solution_limit" => LIMIT,
            "options.time_limit" => TIME_LIMIT,
            _ => return None,
        };
        Some(format!("{flag} {}", violation.description))
    })
}
