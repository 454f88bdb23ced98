//! What the server counts, in the names that dashboards for gRPC servers expect.
//!
//! Everything that a call touches is looked up once, when the server starts or the call begins; a stream adds what it counted
//! for many messages together.

mod collect;

use std::collections::HashMap;
use std::fmt::{self, Debug};
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::HeaderMap;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};
use sudoku_proto::v1::Outcome;
use sudoku_proto::v1::sudoku_service_server::SERVICE_NAME;
use tonic::{Code, Status};

use crate::service::Service;

/// The bounds of the histograms, in seconds: from a puzzle that is solved at once to the longest time limit.
const SECONDS: [f64; 14] = [
    0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 15.0, 60.0,
];

/// The names of the codes, by their numbers, as gRPC's middleware for Go has them.
const CODES: [&str; 17] = [
    "OK",
    "Canceled",
    "Unknown",
    "InvalidArgument",
    "DeadlineExceeded",
    "NotFound",
    "AlreadyExists",
    "PermissionDenied",
    "ResourceExhausted",
    "FailedPrecondition",
    "Aborted",
    "OutOfRange",
    "Unimplemented",
    "Internal",
    "Unavailable",
    "DataLoss",
    "Unauthenticated",
];

const UNARY: &str = "unary";
const SERVER_STREAM: &str = "server_stream";
const BIDI_STREAM: &str = "bidi_stream";

/// The methods that there are: service, method, and kind.
const METHODS: [(&str, &str, &str); 7] = [
    (SERVICE_NAME, "Solve", UNARY),
    (SERVICE_NAME, SOLVE_MANY, BIDI_STREAM),
    (SERVICE_NAME, "GetServerInfo", UNARY),
    ("grpc.health.v1.Health", "Check", UNARY),
    ("grpc.health.v1.Health", "Watch", SERVER_STREAM),
    (
        "grpc.reflection.v1.ServerReflection",
        "ServerReflectionInfo",
        BIDI_STREAM,
    ),
    (
        "grpc.reflection.v1alpha.ServerReflection",
        "ServerReflectionInfo",
        BIDI_STREAM,
    ),
];
const SOLVE_MANY: &str = "SolveMany";

/// What calls of anything else are counted as. Their names come from clients, and there is no end of them.
const UNKNOWN: (&str, &str, &str) = ("unknown", "unknown", "unknown");

/// The outcomes of puzzles, by their numbers in the contract.
const OUTCOMES: [(Outcome, &str); 6] = [
    (Outcome::Unique, "unique"),
    (Outcome::Multiple, "multiple"),
    (Outcome::Unsolvable, "unsolvable"),
    (Outcome::Solved, "solved"),
    (Outcome::Invalid, "invalid"),
    (Outcome::Undecided, "undecided"),
];

/// The counters and histograms of a server.
pub(crate) struct Metrics {
    grpc: Grpc,
    methods: HashMap<String, Arc<Method>>,
    unknown: Arc<Method>,
    solve_many: Arc<Method>,
    outcomes: Family<OutcomeLabel, Counter>,
    /// By the outcome's number less one.
    puzzles: [Counter; OUTCOMES.len()],
    solve_seconds: Histogram,
    slices: Counter,
}

struct Grpc {
    started: Family<MethodLabels, Counter>,
    handled: Family<HandledLabels, Counter>,
    received: Family<MethodLabels, Counter>,
    sent: Family<MethodLabels, Counter>,
    seconds: Family<MethodLabels, Histogram, fn() -> Histogram>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct MethodLabels {
    grpc_type: &'static str,
    grpc_service: &'static str,
    grpc_method: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct HandledLabels {
    grpc_type: &'static str,
    grpc_service: &'static str,
    grpc_method: &'static str,
    grpc_code: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OutcomeLabel {
    outcome: &'static str,
}

/// What is counted of a method.
#[derive(Debug)]
struct Method {
    labels: MethodLabels,
    started: Counter,
    handled: [Counter; CODES.len()],
    received: Counter,
    sent: Counter,
    seconds: Histogram,
}

/// What a stream has done since it last told.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub received: u64,
    pub sent: u64,
    /// Its puzzles by the outcome's number less one.
    puzzles: [u64; OUTCOMES.len()],
}

impl Tally {
    /// Counts a puzzle.
    pub fn puzzle(&mut self, outcome: Outcome) {
        if let Some(count) = self.puzzles.get_mut((outcome as usize).wrapping_sub(1)) {
            *count += 1;
        }
    }
}

impl Metrics {
    /// All counts zero, and all there to be seen.
    pub fn new() -> Self {
        let grpc = Grpc::new();
        let methods: HashMap<_, _> = METHODS
            .iter()
            .map(|method| {
                (
                    format!("/{}/{}", method.0, method.1),
                    Arc::new(grpc.method(*method)),
                )
            })
            .collect();
        let outcomes = Family::<OutcomeLabel, Counter>::default();
        Self {
            unknown: Arc::new(grpc.method(UNKNOWN)),
            solve_many: Arc::clone(&methods[&format!("/{SERVICE_NAME}/{SOLVE_MANY}")]),
            puzzles: OUTCOMES.map(|(_, outcome)| outcomes.get_or_create_owned(&OutcomeLabel { outcome })),
            solve_seconds: Histogram::new(SECONDS),
            slices: Counter::default(),
            outcomes,
            methods,
            grpc,
        }
    }

    /// Counts a call in, which is counted out when what is given is dropped.
    pub fn call(&self, path: &str) -> Call {
        let method = Arc::clone(self.methods.get(path).unwrap_or(&self.unknown));
        method.started.inc();
        if method.labels.grpc_type != BIDI_STREAM {
            method.received.inc();
        }
        Call {
            // A stream of puzzles tells itself of its messages.
            counts_messages: !Arc::ptr_eq(&method, &self.solve_many),
            method,
            begin: Instant::now(),
            code: None,
        }
    }

    /// Counts a puzzle of `Solve`.
    pub fn solved(&self, outcome: Outcome, time: Duration, slices: u64) {
        let mut tally = Tally::default();
        tally.puzzle(outcome);
        self.add(&mut tally);
        self.solve_seconds.observe(time.as_secs_f64());
        self.slices.inc_by(slices);
    }

    /// Adds what a stream has counted, which begins anew.
    pub fn add(&self, tally: &mut Tally) {
        let Tally {
            received,
            sent,
            puzzles,
        } = std::mem::take(tally);
        let counts = self.puzzles.iter().zip(puzzles);
        let messages = [
            (&self.solve_many.received, received),
            (&self.solve_many.sent, sent),
        ];
        for (counter, count) in counts.chain(messages) {
            if count > 0 {
                counter.inc_by(count);
            }
        }
    }

    /// All metrics of a service, as text in the OpenMetrics format.
    pub fn text(service: &Service) -> Result<String, fmt::Error> {
        let mut registry = Registry::default();
        service.metrics.register(&mut registry);
        collect::register(service, &mut registry);
        let mut text = String::new();
        encode(&mut text, &registry)?;
        Ok(text)
    }

    fn register(&self, registry: &mut Registry) {
        let Grpc {
            started,
            handled,
            received,
            sent,
            seconds,
        } = &self.grpc;
        registry.register("grpc_server_started", "Calls that began", started.clone());
        registry.register(
            "grpc_server_handled",
            "Calls that ended, by code",
            handled.clone(),
        );
        registry.register("grpc_server_msg_received", "Messages received", received.clone());
        registry.register("grpc_server_msg_sent", "Messages sent", sent.clone());
        registry.register(
            "grpc_server_handling_seconds",
            "Time from the beginning of a call to its end",
            seconds.clone(),
        );
        registry.register(
            "sudoku_puzzles",
            "Puzzles answered, by outcome",
            self.outcomes.clone(),
        );
        registry.register_with_unit(
            "sudoku_solve",
            "Time that a puzzle of a Solve call took",
            Unit::Seconds,
            self.solve_seconds.clone(),
        );
        let slices = self.slices.clone();
        registry.register(
            "sudoku_solve_slices",
            "Slices that searches of Solve calls ran in",
            slices,
        );
        let version = [("version", env!("CARGO_PKG_VERSION"))];
        registry.register("sudoku_build", "The version of the server", Info::new(version));
    }
}

impl Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

impl Grpc {
    fn new() -> Self {
        Self {
            started: Family::default(),
            handled: Family::default(),
            received: Family::default(),
            sent: Family::default(),
            seconds: Family::new_with_constructor(|| Histogram::new(SECONDS)),
        }
    }

    fn method(
        &self,
        (grpc_service, grpc_method, grpc_type): (&'static str, &'static str, &'static str),
    ) -> Method {
        let labels = MethodLabels {
            grpc_type,
            grpc_service,
            grpc_method,
        };
        Method {
            started: self.started.get_or_create_owned(&labels),
            handled: CODES.map(|grpc_code| {
                self.handled.get_or_create_owned(&HandledLabels {
                    grpc_type,
                    grpc_service,
                    grpc_method,
                    grpc_code,
                })
            }),
            received: self.received.get_or_create_owned(&labels),
            sent: self.sent.get_or_create_owned(&labels),
            seconds: self.seconds.get_or_create_owned(&labels),
            labels,
        }
    }
}

/// A call that is counted out when it is dropped: as canceled, if it has no status by then.
#[derive(Debug)]
pub(crate) struct Call {
    method: Arc<Method>,
    counts_messages: bool,
    begin: Instant,
    code: Option<Code>,
}

impl Call {
    /// Looks for the status in headers or trailers.
    pub fn ends(&mut self, headers: &HeaderMap) {
        if let Some(code) = headers.get(Status::GRPC_STATUS) {
            self.code = Some(Code::from_bytes(code.as_bytes()));
        }
    }

    /// The call ended without a status of gRPC.
    pub fn breaks(&mut self) {
        self.code = Some(Code::Unknown);
    }

    /// Its status so far: canceled, as long as it has none.
    pub fn code(&self) -> Code {
        self.code.unwrap_or(Code::Cancelled)
    }

    /// The names of its service and method, or `unknown`.
    pub fn method(&self) -> (&'static str, &'static str) {
        let labels = &self.method.labels;
        (labels.grpc_service, labels.grpc_method)
    }

    pub fn elapsed(&self) -> Duration {
        self.begin.elapsed()
    }

    /// A message of the answer is on its way.
    pub fn message(&self) {
        if !self.counts_messages {
            return;
        }
        self.method.sent.inc();
        // Reflection has an answer for each message.
        if self.method.labels.grpc_type == BIDI_STREAM {
            self.method.received.inc();
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.method.handled[self.code() as usize].inc();
        self.method.seconds.observe(self.elapsed().as_secs_f64());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codes_have_their_numbers() {
        assert_eq!(CODES[Code::Unauthenticated as usize], "Unauthenticated");
        assert_eq!(CODES[Code::Cancelled as usize], "Canceled");
        assert_eq!(CODES[Code::Internal as usize], "Internal");
    }

    #[test]
    fn the_outcomes_have_their_numbers() {
        for (number, (outcome, name)) in (1..).zip(OUTCOMES) {
            assert_eq!(outcome as usize, number);
            assert_eq!(outcome.as_str_name().to_lowercase(), format!("outcome_{name}"));
        }
    }

    #[test]
    fn calls_are_counted_out_with_their_status() {
        let metrics = Metrics::new();
        let handled = |path: &str, code: Code| metrics.methods[path].handled[code as usize].get();
        let path = "/sudoku.v1.SudokuService/Solve";
        let mut call = metrics.call(path);
        assert_eq!(metrics.methods[path].started.get(), 1);
        let mut headers = HeaderMap::new();
        call.ends(&headers);
        headers.insert("grpc-status", "3".parse().unwrap());
        call.ends(&headers);
        drop(call);
        assert_eq!(handled(path, Code::InvalidArgument), 1);
        drop(metrics.call(path));
        assert_eq!(handled(path, Code::Cancelled), 1);
        drop(metrics.call("/made/up"));
        assert_eq!(metrics.unknown.started.get(), 1);
    }

    #[test]
    fn a_tally_is_added_once() {
        let metrics = Metrics::new();
        let mut tally = Tally {
            received: 2,
            sent: 1,
            ..Tally::default()
        };
        tally.puzzle(Outcome::Invalid);
        tally.puzzle(Outcome::Unspecified);
        metrics.add(&mut tally);
        metrics.add(&mut tally);
        assert_eq!(metrics.solve_many.received.get(), 2);
        assert_eq!(metrics.solve_many.sent.get(), 1);
        assert_eq!(metrics.puzzles.each_ref().map(Counter::get), [0, 0, 0, 0, 1, 0]);
    }
}
