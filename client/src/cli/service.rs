//! The service that does the work: on servers, or in this process.

use sudoku_client::{Error, Outcome, Outcomes, SolveOptions, SudokuClient};
use sudoku_engine::{Grid, Isa};
use sudoku_server::Settings;

use super::feed::Puzzles;

/// What can be said about the service on the command line.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct Args {
    /// Send the puzzles to this service, such as http://127.0.0.1:50051, instead of solving them here
    #[arg(long, value_name = "URL", env = "SUDOKU_ENDPOINT", hide_env_values = true)]
    endpoint: Option<String>,

    /// Solve with these instructions: portable, avx2, avx2-no-pext or avx512 [default: the best that the processor has]
    ///
    /// The answers are the same, only slower or faster. A service at an endpoint picks its own.
    #[arg(long, value_name = "NAME", env = "SUDOKU_SIMD", value_parser = Isa::named, hide_short_help = true)]
    simd: Option<Isa>,
}

/// Which service does the work.
#[derive(Debug, Clone)]
pub struct Which {
    /// `None` for the one in this process.
    pub endpoint: Option<String>,
    /// The instruction set of the one in this process, where it is not the best one.
    isa: Option<Isa>,
}

impl From<Args> for Which {
    fn from(args: Args) -> Self {
        Self {
            endpoint: args.endpoint.filter(|endpoint| !endpoint.is_empty()),
            isa: args.simd,
        }
    }
}

impl Which {
    /// Solves a stream of puzzles.
    ///
    /// # Errors
    ///
    /// The endpoint is none, or this process can't get the threads to solve.
    pub fn solve_many(&self, options: SolveOptions, puzzles: Puzzles) -> anyhow::Result<Outcomes> {
        Ok(match &self.endpoint {
            Some(endpoint) => SudokuClient::connect_lazy(endpoint)?
                .with_options(options)
                .solve_many(puzzles),
            None => SudokuClient::from_service(sudoku_server::in_process(self.settings())?)
                .with_options(options)
                .solve_many(puzzles),
        })
    }

    /// Solves one puzzle.
    ///
    /// # Errors
    ///
    /// Those of [`solve_many`](Self::solve_many), and whatever the service could not do.
    pub async fn solve(&self, options: SolveOptions, puzzle: &Grid) -> anyhow::Result<Outcome> {
        let outcome = match &self.endpoint {
            Some(endpoint) => {
                let client = SudokuClient::connect_lazy(endpoint)?.with_options(options);
                client.solve(puzzle).await
            }
            None => {
                let service = sudoku_server::in_process(self.settings())?;
                let client = SudokuClient::from_service(service).with_options(options);
                client.solve(puzzle).await
            }
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
        match &self.endpoint {
            Some(endpoint) => anyhow::Error::new(error).context(endpoint.clone()),
            None => error.into(),
        }
    }

    fn settings(&self) -> Settings {
        let defaults = Settings::default();
        Settings {
            isa: self.isa.unwrap_or(defaults.isa),
            ..defaults
        }
    }
}
