//! Sudoku grids, their text formats, and exact, resumable solvers.
//!
//! The crate knows no file, socket, clock or environment: text comes in through a [`std::io::BufRead`], and a search
//! is bounded in steps by whoever runs it. It never panics on any input, and allocates nothing in a search.

mod arch;
pub mod batch;
mod conflict;
mod draw;
mod grid;
mod isa;
pub mod reference;
#[cfg(feature = "serde")]
mod serde;
mod single;
mod solution;
pub mod text;
mod unit;

pub use conflict::{Conflict, conflicts};
pub use draw::Pretty;
pub use grid::{Grid, GridError};
pub use isa::{Isa, IsaError};
pub use single::{Search, Solutions, Step, count, solutions};
pub use solution::{Solution, SolutionError};
pub use text::{ParseError, ParseErrorKind, Reader};
pub use unit::Unit;
