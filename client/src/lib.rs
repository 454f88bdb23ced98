//! The SDK of the Sudoku service.
//!
//! A [`SudokuClient`] sends grids to the service and returns typed outcomes: one at a time with
//! [`solve`](SudokuClient::solve), any number in order with [`solve_many`](SudokuClient::solve_many).
//!
//! ```no_run
//! use sudoku_client::{Grid, Outcome, SudokuClient};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let client = SudokuClient::connect("http://127.0.0.1:50051").await?;
//! let puzzle = Grid::from_line(
//!     "..............3.85..1.2.......5.7.....4...1...9.......5......73..2.1........4...9",
//! )?;
//! match client.solve(&puzzle).await? {
//!     Outcome::Unique { solution: Some(solution) } => println!("{solution}"),
//!     other => println!("{other}"),
//! }
//! # Ok(())
//! # }
//! ```
//!
//! What the service finds out about a puzzle is an [`Outcome`], even that it is none; an [`Error`] is a call that
//! failed. [`SolveOptions`] say how to solve, [`SudokuClient::with_deadline`] how long a call may take.
//!
//! Without default features the crate is the SDK alone; `cli` adds the command line and what it needs.
//!
//! # Telemetry
//!
//! Each call has a span of [`tracing`], named `sudoku_client`, with the fields of OpenTelemetry's conventions and the
//! `result`. With the feature `opentelemetry`, calls carry the trace that the span belongs to, in the form of the
//! propagator that the program has set, which should be that of W3C Trace Context.
//!
//! For the [`metrics`] facade there are `sudoku_client_calls_total` (`method`, `result`), `sudoku_client_call_seconds`
//! (`method`), `sudoku_client_retries_total`, `sudoku_client_ejections_total` (`endpoint`) and
//! `sudoku_client_stream_puzzles_total`. A `result` is `ok`, the name of a status code, `transport`, `deadline`, `protocol`,
//! `cancelled` or `other`.
//!
//! # Serde
//!
//! With the feature `serde` the types that go in and come out can be written and read: [`Grid`], [`Puzzle`], [`SolveOptions`],
//! [`Outcome`] and all that it holds, and [`ServerInfo`]. What is read back is equal to what was written. In JSON:
//!
//! ```json
//! {"outcome":"unique","solution":"534678912672195348198342567859761423426853791713924856961537284287419635345286179"}
//! {"outcome":"multiple","solutions":["...","..."],"count":2}
//! {"outcome":"unsolvable","conflicts":[{"digit":1,"unit":{"kind":"row","index":0},"cells":[0,1]}]}
//! {"outcome":"solved","solution":"..."}
//! {"outcome":"invalid","message":"80 cells, need 81","error":{"line":{"length":{"length":80}}}}
//! {"outcome":"undecided","solutions":[],"count":0}
//! ```
//!
//! A grid is its 81 characters. A unit has the kind `row`, `column` or `box`; cells and units are numbered from 0. A
//! [`Puzzle`] is a grid, or an object with `message` and `error` for what is none; any string is read as a puzzle, though
//! perhaps as one that is invalid. Of the options `solution_limit`, `time_limit` and `omit_solutions` those that are missing
//! are the default ones; a time is `{"secs":1,"nanos":0}`. `message` is for people, and left aside when it is read.
//!
//! # Layout
//!
//! `builder` and `client` are what a program sees. `endpoints` knows the servers and which of them take part, `retry` what
//! is tried again and when; `calls` makes calls of one message with both, `many` streams of puzzles. `blocking` is the same without async,
//! `balanced` the way to the endpoints for raw stubs. `telemetry` is what calls tell of themselves. `wire` is where the
//! types of the contract become those of the SDK, and `status` where a gRPC status becomes an [`Error`].

#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod balanced;
pub mod blocking;
mod builder;
mod calls;
mod client;
mod deadline;
mod endpoints;
mod error;
mod fault;
mod many;
mod options;
mod outcome;
mod puzzle;
mod retry;
#[cfg(feature = "serde")]
mod serial;
mod server_info;
mod status;
mod telemetry;
mod tls;
mod token;
mod wire;

pub use balanced::Balanced;
pub use builder::ClientBuilder;
pub use client::{SudokuClient, Transport};
pub use error::{Error, FieldViolation, ProtocolError, Reason, ServiceError, TransportError};
pub use many::Outcomes;
pub use options::SolveOptions;
pub use outcome::{InvalidPuzzle, Outcome};
pub use puzzle::Puzzle;
pub use server_info::ServerInfo;
pub use sudoku_engine::{Conflict, Grid, GridError, ParseError, Unit};
pub use tls::Tls;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
