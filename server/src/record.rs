//! What is kept of a call until it ends: for the metrics, for its span, and for the log if it fails.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use http::{HeaderMap, HeaderValue};
use opentelemetry::trace::Span as _;
use opentelemetry_sdk::trace::Span;
use tonic::Code;

use crate::metrics::Call;
use crate::traces::{self, Traces};

/// How many failed calls have a line in the log within [`PERIOD`]. A flood of them would fill the disk, and hide the rest.
const MOST_LINES: u32 = 10;
const PERIOD: Duration = Duration::from_secs(1);

/// A call, which is counted out and perhaps logged when this is dropped.
#[derive(Debug)]
pub(crate) struct Record {
    pub call: Call,
    failures: Arc<Failures>,
    peer: Arc<str>,
    /// The W3C trace context that the caller sent.
    traceparent: Option<HeaderValue>,
    span: Option<Span>,
}

/// Says which failed calls have a line in the log.
#[derive(Debug)]
pub(crate) struct Failures(Mutex<Window>);

#[derive(Debug)]
struct Window {
    begin: Instant,
    lines: u32,
    left_out: u64,
}

impl Record {
    pub fn new(
        call: Call,
        traces: Option<&Traces>,
        failures: Arc<Failures>,
        peer: Arc<str>,
        headers: &HeaderMap,
    ) -> Self {
        Self {
            span: traces.and_then(|traces| traces.begin(call.method(), headers)),
            call,
            failures,
            peer,
            traceparent: headers.get("traceparent").cloned(),
        }
    }

    fn log(&self) {
        let Some(left_out) = self.failures.line(Instant::now()) else {
            return;
        };
        if left_out > 0 {
            tracing::warn!(left_out, "failed calls were left out of the log");
        }
        let (service, method) = self.call.method();
        let code = self.call.code();
        let seconds = self.call.elapsed().as_secs_f64();
        let own = self
            .span
            .as_ref()
            .map(|span| span.span_context().trace_id().to_string());
        let callers = self.traceparent.as_ref().and_then(trace_id);
        let (peer, trace_id) = (&*self.peer, own.as_deref().or(callers));
        match code {
            // Whatever the client did.
            Code::Internal | Code::Unknown | Code::DataLoss => {
                tracing::error!(service, method, ?code, seconds, peer, trace_id, "a call failed");
            }
            _ => tracing::info!(service, method, ?code, seconds, peer, trace_id, "a call failed"),
        }
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        // Clients that go away are no failure.
        if !matches!(self.call.code(), Code::Ok | Code::Cancelled) {
            self.log();
        }
        if let Some(span) = self.span.take() {
            traces::end(span, self.call.code());
        }
    }
}

impl Failures {
    pub fn new() -> Self {
        Self(Mutex::new(Window {
            begin: Instant::now(),
            lines: 0,
            left_out: 0,
        }))
    }

    /// Whether there may be a line now, and how many had none since the last.
    fn line(&self, now: Instant) -> Option<u64> {
        let mut window = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if now.saturating_duration_since(window.begin) >= PERIOD {
            window.begin = now;
            window.lines = 0;
        }
        if window.lines == MOST_LINES {
            window.left_out += 1;
            return None;
        }
        window.lines += 1;
        Some(std::mem::take(&mut window.left_out))
    }
}

/// The trace's id out of `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`.
fn trace_id(traceparent: &HeaderValue) -> Option<&str> {
    let id = traceparent.to_str().ok()?.split('-').nth(1)?;
    (id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_has_few_lines_and_then_a_count() {
        let failures = Failures::new();
        let now = Instant::now();
        for _ in 0..MOST_LINES {
            assert_eq!(failures.line(now), Some(0));
        }
        for _ in 0..100 {
            assert_eq!(failures.line(now), None);
        }
        assert_eq!(failures.line(now + PERIOD), Some(100));
        assert_eq!(failures.line(now + PERIOD), Some(0));
    }

    #[test]
    fn a_trace_is_known_by_its_id() {
        let id = |text: &'static str| trace_id(&HeaderValue::from_static(text)).map(str::to_owned);
        let good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        assert_eq!(id(good).unwrap(), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(id("00-4bf92f35-00f067aa0ba902b7-01"), None);
        assert_eq!(
            id("00-zzf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
            None
        );
        assert_eq!(id(""), None);
    }
}
