//! The service that does the work: on servers, or in this process.

use sudoku_client::{Error, Outcome, Outcomes, SolveOptions, SudokuClient};
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
    /// Finds out which service is asked for.
    ///
    /// # Errors
    ///
    /// Those of [`Connection::load`].
    pub fn new(args: Args) -> anyhow::Result<Self> {
        if args.local {
            return Ok(Self::Here(args.simd));
        }
        Ok(match Connection::load(args.connection)? {
            Some(connection) => Self::There(Box::new(connection)),
            None => Self::Here(args.simd),
        })
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
