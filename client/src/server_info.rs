//! What a server says of itself.

use std::time::Duration;

/// A server's version and limits, as [`SudokuClient::server_info`](crate::SudokuClient::server_info) returns them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ServerInfo {
    /// The server's version, as in `0.1.0`.
    pub version: String,
    /// The most puzzles that one message of a stream may hold: 1 or more.
    pub max_puzzles_per_message: u32,
    /// The most bytes that one message of a stream may have, encoded.
    pub max_message_bytes: u32,
    /// The highest [`SolveOptions::solution_limit`](crate::SolveOptions::solution_limit): 2 or more.
    pub max_solution_limit: u32,
    /// The highest [`SolveOptions::time_limit`](crate::SolveOptions::time_limit). `None` if the server does not say.
    pub max_time_limit: Option<Duration>,
}
