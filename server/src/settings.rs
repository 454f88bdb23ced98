//! What can be configured, its defaults, and its ranges.

use std::num::NonZeroUsize;
use std::thread;
use std::time::Duration;

use sudoku_engine::Isa;

/// The limits of the contract: what a call may ask for. `GetServerInfo` tells most of them to clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The most puzzles in one `SolveMany` message: 1 or more. Default 2,048.
    pub max_puzzles_per_message: u32,
    /// The most bytes of one encoded `SolveMany` message, unpacked if it came compressed: 128 or more. Default 524,288.
    ///
    /// With this default and that of [`Limits::max_puzzles_per_message`] no reply passes 3.2 MiB, under the 4 MiB that gRPC
    /// clients take by default. Raise them further, and clients must be told to accept larger messages.
    pub max_message_bytes: u32,
    /// The most bytes of one encoded `Solve` message, likewise: 128 or more. Default 4,096.
    pub max_solve_bytes: u32,
    /// The highest `solution_limit`: 2 or more. Default 10,000.
    pub max_solution_limit: u32,
    /// The time limit of a puzzle whose request names none: above 0, at most [`Limits::max_time_limit`]. Default 1 s.
    pub default_time_limit: Duration,
    /// The highest `time_limit` that a request may name: above 0, at most a day. Default 60 s.
    pub max_time_limit: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_puzzles_per_message: 2_048,
            max_message_bytes: 512 * 1024,
            max_solve_bytes: 4 * 1024,
            max_solution_limit: 10_000,
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
    /// How many cores solve `SolveMany` messages at once, 1 to 1,024: so many workers share the runtime's threads with all
    /// other tasks. Default: the cores that the process may use.
    pub threads: NonZeroUsize,
    /// The instruction set that the engines run on. Default: the best that the processor has. The answers are the same on
    /// each, but for which of several solutions come back.
    pub isa: Isa,
    /// `Solve` calls being solved at once, 1 or more; one more is refused as overloaded. Easy puzzles come and go
    /// within one slice and hardly count. Default 512.
    pub max_solves: usize,
    /// `SolveMany` streams open at once, 1 or more; one more is refused as overloaded. Default 512.
    pub max_streams: usize,
    /// Messages of one `SolveMany` stream that are taken and not yet answered, 1 or more. With that many the server
    /// stops reading the stream until an answer has left, and so it does with 8,192 puzzles in them for each of its
    /// `threads`, or fewer where other streams have puzzles waiting. One with a solution limit n above 2 counts as n / 2.
    /// Default 4,096.
    pub messages_per_stream: usize,
    /// Such messages of all streams together, not counting one for each stream, which it may always have. Default
    /// 16,384.
    ///
    /// So the server holds at most `max_streams + shared_messages` messages with their answers.
    pub shared_messages: usize,
    /// Calls of all methods open at once, reflection included, 1 or more; one more is refused as overloaded. An eighth
    /// of them is for health alone, a 128th for reflection alone, and only that. Default 4,096.
    pub max_calls: usize,
    /// Connections open at once, 1 or more; further ones are closed at once. Default 1,024.
    pub max_connections: usize,
    /// Calls open at once on a connection, 1 to 800. Clients are told, and keep further ones back. Default 100.
    pub max_streams_per_connection: u32,
    /// The most bytes of a call's headers, counted as in HTTP/2 with 32 more for each: 1 KiB to 1 MiB. A call with more is
    /// answered with the HTTP status 431. Default 16 KiB.
    pub max_header_bytes: u32,
    /// How long a connection without a call stays open, above 0 and at most a year. Default 15 min.
    pub max_connection_idle: Duration,
    /// The age at which a connection's client is asked to connect anew, above 0 and at most a year; up to a tenth less, by
    /// chance. Calls that run then are finished. Default 1 h.
    pub max_connection_age: Duration,
    /// After how much silence a client is asked whether it is still there, 1 ms to a day. Default 60 s.
    pub keepalive_interval: Duration,
    /// How long it has to answer, 1 ms to a day. Default 20 s.
    pub keepalive_timeout: Duration,
    /// How long a connection may take until it has sent the first bytes of HTTP/2, the handshake of TLS included: above 0 and
    /// at most a day. Default 10 s.
    pub handshake_timeout: Duration,
    /// Connections open at once to the port for operators, 1 or more; further ones are closed at once. Default 64.
    pub admin_max_connections: usize,
    /// How long the header of a request may take there, silence before it included: above 0 and at most a day. Default 10 s.
    pub admin_header_timeout: Duration,
    /// How long a connection lives there, so that one whose client reads nothing does not keep its place: above 0 and at
    /// most a year. A request under way has [`Settings::admin_header_timeout`] more. Default 60 s.
    pub admin_max_connection_age: Duration,
    /// How long the message of a unary call may take to arrive, above 0 and at most a day. A call whose message is late
    /// fails with DEADLINE_EXCEEDED. Default 30 s.
    pub request_deadline: Duration,
    /// How long a shutdown lasts before calls are refused, at most a day: health and readiness say that the server goes, and
    /// whoever routes calls to it has this time to stop. Default 0.
    pub drain_delay: Duration,
    /// How long a shutdown waits for calls that run before it ends them. Default 25 s, which fits within the 30 s that
    /// Kubernetes waits.
    pub drain_deadline: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            threads: thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            isa: Isa::detect(),
            max_solves: 512,
            max_streams: 512,
            messages_per_stream: 4_096,
            shared_messages: 16_384,
            max_calls: 4_096,
            max_connections: 1_024,
            max_streams_per_connection: 100,
            max_header_bytes: 16 * 1024,
            max_connection_idle: Duration::from_secs(15 * 60),
            max_connection_age: Duration::from_secs(60 * 60),
            keepalive_interval: Duration::from_secs(60),
            keepalive_timeout: Duration::from_secs(20),
            handshake_timeout: Duration::from_secs(10),
            admin_max_connections: 64,
            admin_header_timeout: Duration::from_secs(10),
            admin_max_connection_age: Duration::from_secs(60),
            request_deadline: Duration::from_secs(30),
            drain_delay: Duration::ZERO,
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
    pub range: String,
}

/// More of anything at once than a machine can serve.
const MOST_AT_ONCE: usize = 1_000_000;

const MOST_THREADS: usize = 1_024;

/// Below this no message has room for a puzzle with its options.
const LEAST_BYTES: u32 = 128;

const LEAST_TIME: Duration = Duration::from_nanos(1);
const LEAST_KEEPALIVE: Duration = Duration::from_millis(1);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// More would ask for a larger flow-control window than HTTP/2 has for a connection.
const MOST_STREAMS_PER_CONNECTION: u32 = 800;

impl Settings {
    /// Checks every setting against its range.
    ///
    /// # Errors
    ///
    /// The first that is outside.
    pub fn check(&self) -> Result<(), SettingsError> {
        self.ranges(&mut |setting| match setting.inside {
            true => Ok(()),
            false => Err(setting.error),
        })
    }

    /// What a setting may be, by the name of its field, where all others have their defaults. Nothing for one without a range.
    pub fn range(name: &str) -> Option<String> {
        let found = Self::default().ranges(&mut |setting| match setting.error.setting == name {
            true => Err(setting.error),
            false => Ok(()),
        });
        found.err().map(|setting| setting.range)
    }

    /// Shows each setting with its range, up to the first error.
    fn ranges(&self, look: &mut Look<'_>) -> Result<(), SettingsError> {
        self.limits.ranges(look)?;
        let mut number = |name, value: usize, least, most| look(Ranged::new(name, value, least, most));
        number("threads", self.threads.get(), 1, MOST_THREADS)?;
        number("max_solves", self.max_solves, 1, MOST_AT_ONCE)?;
        number("max_streams", self.max_streams, 1, MOST_AT_ONCE)?;
        number("messages_per_stream", self.messages_per_stream, 1, MOST_AT_ONCE)?;
        number("shared_messages", self.shared_messages, 0, MOST_AT_ONCE)?;
        number("max_calls", self.max_calls, 1, MOST_AT_ONCE)?;
        number("max_connections", self.max_connections, 1, MOST_AT_ONCE)?;
        let connections = self.admin_max_connections;
        number("admin_max_connections", connections, 1, MOST_AT_ONCE)?;
        let mut number = |name, value: u32, least, most| look(Ranged::new(name, value, least, most));
        let streams = self.max_streams_per_connection;
        number(
            "max_streams_per_connection",
            streams,
            1,
            MOST_STREAMS_PER_CONNECTION,
        )?;
        number("max_header_bytes", self.max_header_bytes, 1_024, 1024 * 1024)?;
        let mut time = |name, value: Duration, least, most| look(Ranged::new(name, value, least, most));
        time("max_connection_idle", self.max_connection_idle, LEAST_TIME, YEAR)?;
        time("max_connection_age", self.max_connection_age, LEAST_TIME, YEAR)?;
        time(
            "keepalive_interval",
            self.keepalive_interval,
            LEAST_KEEPALIVE,
            DAY,
        )?;
        time("keepalive_timeout", self.keepalive_timeout, LEAST_KEEPALIVE, DAY)?;
        time("handshake_timeout", self.handshake_timeout, LEAST_TIME, DAY)?;
        time("admin_header_timeout", self.admin_header_timeout, LEAST_TIME, DAY)?;
        let age = self.admin_max_connection_age;
        time("admin_max_connection_age", age, LEAST_TIME, YEAR)?;
        time("request_deadline", self.request_deadline, LEAST_TIME, DAY)?;
        time("drain_delay", self.drain_delay, Duration::ZERO, DAY)?;
        time("drain_deadline", self.drain_deadline, Duration::ZERO, DAY)
    }
}

impl Limits {
    fn ranges(&self, look: &mut Look<'_>) -> Result<(), SettingsError> {
        let mut number = |name, value: u32, least| look(Ranged::new(name, value, least, u32::MAX));
        number("max_puzzles_per_message", self.max_puzzles_per_message, 1)?;
        number("max_message_bytes", self.max_message_bytes, LEAST_BYTES)?;
        number("max_solve_bytes", self.max_solve_bytes, LEAST_BYTES)?;
        number("max_solution_limit", self.max_solution_limit, 2)?;
        let mut time = |name, value: Duration, most| look(Ranged::new(name, value, LEAST_TIME, most));
        time("max_time_limit", self.max_time_limit, DAY)?;
        time("default_time_limit", self.default_time_limit, self.max_time_limit)
    }
}

type Look<'a> = dyn FnMut(Ranged) -> Result<(), SettingsError> + 'a;

/// A setting, and whether it is inside its range.
struct Ranged {
    inside: bool,
    /// What would be said if it were not.
    error: SettingsError,
}

impl Ranged {
    fn new<T: PartialOrd + Shown>(setting: &'static str, value: T, least: T, most: T) -> Self {
        Self {
            inside: (&least..=&most).contains(&&value),
            error: SettingsError {
                setting,
                value: value.shown(),
                range: format!("{} to {}", least.shown(), most.shown()),
            },
        }
    }
}

/// A value as people would write it.
trait Shown {
    fn shown(&self) -> String;
}

impl Shown for usize {
    fn shown(&self) -> String {
        self.to_string()
    }
}

impl Shown for u32 {
    fn shown(&self) -> String {
        self.to_string()
    }
}

impl Shown for Duration {
    fn shown(&self) -> String {
        let (day, hour) = (24 * 60 * 60, 60 * 60);
        match self.as_secs() {
            _ if self.subsec_nanos() > 0 => format!("{self:?}"),
            seconds if seconds > day && seconds % day == 0 => format!("{}days", seconds / day),
            seconds if seconds >= hour && seconds % hour == 0 => format!("{}h", seconds / hour),
            seconds => format!("{seconds}s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_in_range() {
        assert_eq!(Settings::default().check(), Ok(()));
    }

    #[test]
    fn every_setting_has_a_range() {
        fn refused(setting: &str, change: impl Fn(&mut Settings)) {
            let mut settings = Settings::default();
            change(&mut settings);
            let error = settings.check().unwrap_err();
            assert_eq!(error.setting, setting);
        }
        refused("threads", |s| s.threads = NonZeroUsize::MAX);
        refused("max_solves", |s| s.max_solves = 0);
        refused("max_streams", |s| s.max_streams = 0);
        refused("messages_per_stream", |s| s.messages_per_stream = 0);
        refused("shared_messages", |s| s.shared_messages = usize::MAX);
        refused("max_connections", |s| s.max_connections = 0);
        refused("max_calls", |s| s.max_calls = 0);
        refused("max_streams_per_connection", |s| {
            s.max_streams_per_connection = 801
        });
        refused("max_header_bytes", |s| s.max_header_bytes = 1_023);
        refused("max_connection_idle", |s| s.max_connection_idle = Duration::ZERO);
        refused("max_connection_age", |s| s.max_connection_age = Duration::MAX);
        refused("keepalive_interval", |s| s.keepalive_interval = Duration::ZERO);
        refused("keepalive_timeout", |s| s.keepalive_timeout = Duration::MAX);
        refused("handshake_timeout", |s| s.handshake_timeout = Duration::MAX);
        refused("admin_max_connections", |s| s.admin_max_connections = 0);
        refused("admin_header_timeout", |s| {
            s.admin_header_timeout = Duration::ZERO
        });
        refused("admin_max_connection_age", |s| {
            s.admin_max_connection_age = Duration::MAX
        });
        refused("request_deadline", |s| s.request_deadline = Duration::ZERO);
        refused("drain_delay", |s| s.drain_delay = Duration::MAX);
        refused("drain_deadline", |s| s.drain_deadline = Duration::MAX);
        refused("max_puzzles_per_message", |s| {
            s.limits.max_puzzles_per_message = 0
        });
        refused("max_message_bytes", |s| s.limits.max_message_bytes = 127);
        refused("max_solve_bytes", |s| s.limits.max_solve_bytes = 127);
        refused("max_solution_limit", |s| s.limits.max_solution_limit = 1);
        refused("max_time_limit", |s| s.limits.max_time_limit = Duration::MAX);
        refused("default_time_limit", |s| {
            s.limits.default_time_limit = Duration::ZERO
        });
        refused("default_time_limit", |s| {
            s.limits.default_time_limit = Duration::from_secs(61)
        });
    }

    #[test]
    fn the_error_says_what_is_allowed() {
        let settings = Settings {
            max_solves: 0,
            ..Settings::default()
        };
        let error = settings.check().unwrap_err();
        assert_eq!(error.to_string(), "max_solves is 0; it must be 1 to 1000000");
    }

    #[test]
    fn a_range_is_known_without_a_value() {
        assert_eq!(Settings::range("max_solves").unwrap(), "1 to 1000000");
        assert_eq!(Settings::range("default_time_limit").unwrap(), "1ns to 60s");
        assert_eq!(Settings::range("drain_delay").unwrap(), "0s to 24h");
        assert_eq!(Settings::range("max_connection_age").unwrap(), "1ns to 365days");
        assert_eq!(Settings::range("keepalive_timeout").unwrap(), "1ms to 24h");
        assert_eq!(Settings::range("listen"), None);
    }
}
