//! What can be configured, its defaults, and its ranges.

use std::num::NonZeroUsize;
use std::thread;
use std::time::Duration;

/// The limits of the contract: what a call may ask for. `GetServerInfo` tells most of them to clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The most puzzles in one `SolveMany` message: 1 or more. Default 2,048.
    pub puzzles_per_message: u32,
    /// The most bytes of one encoded `SolveMany` message, unpacked if it came compressed: 128 or more. Default 524,288.
    ///
    /// With this default and that of [`Limits::puzzles_per_message`] no reply passes 3.2 MiB, under the 4 MiB that gRPC
    /// clients take by default. Raise them further, and clients must be told to accept larger messages.
    pub message_bytes: u32,
    /// The most bytes of one encoded `Solve` message, likewise: 128 or more. Default 4,096.
    pub solve_bytes: u32,
    /// The highest `solution_limit`: 2 or more. Default 10,000.
    pub solution_limit: u32,
    /// The time limit of a puzzle whose request names none: above 0, at most [`Limits::max_time_limit`]. Default 1 s.
    pub default_time_limit: Duration,
    /// The highest `time_limit` that a request may name: above 0, at most a day. Default 60 s.
    pub max_time_limit: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            puzzles_per_message: 2_048,
            message_bytes: 512 * 1024,
            solve_bytes: 4 * 1024,
            solution_limit: 10_000,
            default_time_limit: Duration::from_secs(1),
            max_time_limit: Duration::from_secs(60),
        }
    }
}

/// How the service runs: its limits, and how much it takes on at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// What a call may ask for.
    pub limits: Limits,
    /// The threads that solve `SolveMany` messages, 1 to 1,024. Default: one for each core that the process may use.
    pub threads: NonZeroUsize,
    /// `Solve` calls being solved at once, 1 or more; one more is refused as overloaded. Easy puzzles come and go
    /// within one slice and hardly count. Default 512.
    pub solves: usize,
    /// `SolveMany` streams open at once, 1 or more; one more is refused as overloaded. Default 512.
    pub streams: usize,
    /// Messages of one `SolveMany` stream that are taken and not yet answered, 1 or more. With that many the server
    /// stops reading the stream until an answer has left. Default 32.
    pub messages_per_stream: usize,
    /// Such messages of all streams together, not counting one for each stream, which it may always have. Default 256.
    ///
    /// So the server holds at most `streams + shared_messages` messages with their answers.
    pub shared_messages: usize,
    /// Connections open at once, 1 or more; further ones wait to be accepted. Default 1,024.
    pub connections: usize,
    /// How long a shutdown waits for calls that run before it ends them. Default 25 s, which fits within the 30 s that
    /// Kubernetes waits.
    pub drain_deadline: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            threads: thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            solves: 512,
            streams: 512,
            messages_per_stream: 32,
            shared_messages: 256,
            connections: 1_024,
            drain_deadline: Duration::from_secs(25),
        }
    }
}

/// A setting outside its range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{setting} is {value}; it must be {range}")]
pub struct SettingsError {
    /// The setting's name, as that of the field.
    pub setting: &'static str,
    /// Its value.
    pub value: String,
    /// What it may be.
    pub range: &'static str,
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

impl Settings {
    /// Checks every setting against its range.
    ///
    /// # Errors
    ///
    /// The first that is outside.
    pub fn check(&self) -> Result<(), SettingsError> {
        let limits = &self.limits;
        at_least("puzzles_per_message", limits.puzzles_per_message as usize, 1)?;
        at_least("message_bytes", limits.message_bytes as usize, 128)?;
        at_least("solve_bytes", limits.solve_bytes as usize, 128)?;
        at_least("solution_limit", limits.solution_limit as usize, 2)?;
        within(
            "max_time_limit",
            limits.max_time_limit,
            DAY,
            "above 0 and at most a day",
        )?;
        within(
            "default_time_limit",
            limits.default_time_limit,
            limits.max_time_limit,
            "above 0 and at most the maximum",
        )?;
        if self.threads.get() > 1_024 {
            return Err(SettingsError {
                setting: "threads",
                value: self.threads.to_string(),
                range: "at most 1024",
            });
        }
        at_least("solves", self.solves, 1)?;
        at_least("streams", self.streams, 1)?;
        at_least("messages_per_stream", self.messages_per_stream, 1)?;
        at_least("connections", self.connections, 1)
    }
}

fn at_least(setting: &'static str, value: usize, least: usize) -> Result<(), SettingsError> {
    // tokio's semaphores hold no more permits than this, and nobody needs more.
    const MOST: usize = u32::MAX as usize;
    let range = match least {
        1 => "1 to 4294967295",
        2 => "2 to 4294967295",
        _ => "128 to 4294967295",
    };
    if (least..=MOST).contains(&value) {
        return Ok(());
    }
    Err(SettingsError {
        setting,
        value: value.to_string(),
        range,
    })
}

fn within(
    setting: &'static str,
    value: Duration,
    most: Duration,
    range: &'static str,
) -> Result<(), SettingsError> {
    if !value.is_zero() && value <= most {
        return Ok(());
    }
    Err(SettingsError {
        setting,
        value: format!("{value:?}"),
        range,
    })
}
