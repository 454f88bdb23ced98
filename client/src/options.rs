//! How a puzzle is to be solved.

use std::time::Duration;

/// How to solve a puzzle: after how many solutions to stop, how long to search, and what to send back.
///
/// ```
/// use std::time::Duration;
/// use sudoku_client::SolveOptions;
///
/// let options = SolveOptions::new()
///     .solution_limit(100)
///     .time_limit(Duration::from_secs(5));
/// assert_eq!(options.solution_limit, 100);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default))]
#[non_exhaustive]
pub struct SolveOptions {
    /// After how many solutions the search stops.
    ///
    /// With 1 it stops at the first ([`Outcome::Solved`](crate::Outcome::Solved)). With 2, the default, it also proves
    /// whether that is the only one. With more it counts and lists up to that many, 10,000 at most unless the service is
    /// configured otherwise ([`ServerInfo::max_solution_limit`](crate::ServerInfo::max_solution_limit)). 0 means the
    /// default. What the service does not allow it refuses with
    /// [`Reason::OptionOutOfRange`](crate::Reason::OptionOutOfRange).
    pub solution_limit: u32,
    /// The longest time for each puzzle's search, counted from its first step; waiting does not count.
    ///
    /// A search that runs out of it ends as [`Outcome::Undecided`](crate::Outcome::Undecided). `None`, the default,
    /// means the service's own limit, 1 s unless configured otherwise. Otherwise above 0 and at most
    /// [`ServerInfo::max_time_limit`](crate::ServerInfo::max_time_limit).
    pub time_limit: Option<Duration>,
    /// Whether to leave out the solutions: the kind of outcome and the count are enough. `false` by default.
    pub omit_solutions: bool,
}

impl SolveOptions {
    /// The default options.
    pub fn new() -> Self {
        Self {
            solution_limit: 2,
            time_limit: None,
            omit_solutions: false,
        }
    }

    /// Sets [`solution_limit`](Self#structfield.solution_limit).
    #[must_use]
    pub fn solution_limit(mut self, limit: u32) -> Self {
        self.solution_limit = limit;
        self
    }

    /// Sets [`time_limit`](Self#structfield.time_limit): a duration, or `None` for the service's own.
    #[must_use]
    pub fn time_limit(mut self, limit: impl Into<Option<Duration>>) -> Self {
        self.time_limit = limit.into();
        self
    }

    /// Sets [`omit_solutions`](Self#structfield.omit_solutions).
    #[must_use]
    pub fn omit_solutions(mut self, omit: bool) -> Self {
        self.omit_solutions = omit;
        self
    }
}

impl Default for SolveOptions {
    fn default() -> Self {
        Self::new()
    }
}
