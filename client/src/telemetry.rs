//! What calls tell of themselves: a span each (`tracing`), and counts and times (`metrics`).
//!
//! Both cost next to nothing where nobody listens, and are told for each call or message, never for each puzzle.

use std::time::Instant;

use metrics::{counter, histogram};
use tonic::metadata::MetadataMap;
use tracing::{Instrument, Span, field, info_span};

use crate::Error;

/// A call that runs. Dropped before it ended, it was cancelled.
#[derive(Debug)]
pub(crate) struct Observed {
    method: &'static str,
    started: Instant,
    span: Span,
    has_ended: bool,
}

impl Observed {
    pub(crate) fn start(method: &'static str) -> Self {
        let span = info_span!(
            "sudoku_client",
            otel.name = format_args!("sudoku.v1.SudokuService/{method}"),
            otel.kind = "client",
            otel.status_code = field::Empty,
            rpc.system = "grpc",
            rpc.service = "sudoku.v1.SudokuService",
            rpc.method = method,
            result = field::Empty,
        );
        Self {
            method,
            started: Instant::now(),
            span,
            has_ended: false,
        }
    }

    /// The span, to do the work of the call in.
    pub(crate) fn span(&self) -> &Span {
        &self.span
    }

    /// Notes how the call ended.
    pub(crate) fn end(&mut self, error: Option<&Error>) {
        match error {
            None => self.end_with("ok".into(), "OK"),
            Some(error) => self.end_with(label(error), "ERROR"),
        }
    }

    fn end_with(&mut self, result: String, status: &str) {
        if std::mem::replace(&mut self.has_ended, true) {
            return;
        }
        self.span.record("otel.status_code", status);
        self.span.record("result", result.as_str());
        histogram!("sudoku_client_call_seconds", "method" => self.method).record(self.started.elapsed());
        counter!("sudoku_client_calls_total", "method" => self.method, "result" => result).increment(1);
    }
}

impl Drop for Observed {
    fn drop(&mut self) {
        self.end_with("cancelled".into(), "ERROR");
    }
}

/// How a call ended, in a word: one of few.
fn label(error: &Error) -> String {
    match error.root() {
        Error::Transport(_) => "transport".into(),
        Error::DeadlineExceeded => "deadline".into(),
        Error::Service(error) => format!("{:?}", error.code()),
        Error::Protocol(_) => "protocol".into(),
        Error::Endpoint { .. }
        | Error::TokenInTheOpen { .. }
        | Error::Config(_)
        | Error::Interrupted { .. } => "other".into(),
    }
}

/// Makes a call of one message under observation.
pub(crate) async fn observe<R>(
    method: &'static str,
    call: impl Future<Output = Result<R, Error>>,
) -> Result<R, Error> {
    let mut observed = Observed::start(method);
    let result = call.instrument(observed.span().clone()).await;
    observed.end(result.as_ref().err());
    result
}

/// Notes that a call goes on with another try.
pub(crate) fn retried() {
    counter!("sudoku_client_retries_total").increment(1);
}

/// Notes that an endpoint was taken out.
pub(crate) fn ejected(endpoint: &str) {
    tracing::debug!(endpoint, "taken out");
    counter!("sudoku_client_ejections_total", "endpoint" => endpoint.to_owned()).increment(1);
}

/// Notes that a message of a stream was answered.
pub(crate) fn answered(puzzles: usize) {
    counter!("sudoku_client_stream_puzzles_total").increment(puzzles as u64);
}

/// Tells the server which trace a call belongs to, in the headers of W3C Trace Context where the program has set that
/// propagator.
#[cfg(feature = "opentelemetry")]
pub(crate) fn inject(headers: &mut MetadataMap) {
    use tracing_opentelemetry::OpenTelemetrySpanExt;

    let context = Span::current().context();
    opentelemetry::global::get_text_map_propagator(|propagator| {
        propagator.inject_context(&context, &mut Headers(headers));
    });
}

/// Without OpenTelemetry there is no trace.
#[cfg(not(feature = "opentelemetry"))]
pub(crate) fn inject(_: &mut MetadataMap) {}

#[cfg(feature = "opentelemetry")]
struct Headers<'a>(&'a mut MetadataMap);

#[cfg(feature = "opentelemetry")]
impl opentelemetry::propagation::Injector for Headers<'_> {
    fn set(&mut self, key: &str, value: String) {
        use tonic::metadata::{Ascii, MetadataKey};

        let key = MetadataKey::<Ascii>::from_bytes(key.as_bytes());
        if let (Ok(key), Ok(value)) = (key, value.parse()) {
            self.0.insert(key, value);
        }
    }
}
