//! What is kept of a call until it ends: for the metrics, for its span, and for the log if it fails.

use std::sync::Arc;
use std::time::Instant;

use http::{HeaderMap, HeaderValue};
use opentelemetry::trace::Span as _;
use opentelemetry_sdk::trace::Span;
use tonic::Code;

use crate::metrics::Call;
use crate::sample::Sample;
use crate::traces::{self, MessageTraces, Traces};

/// A call, which is counted out and perhaps logged when this is dropped.
#[derive(Debug)]
pub(crate) struct Record {
    pub call: Call,
    failures: Arc<Sample>,
    peer: Arc<str>,
    /// The W3C trace context that the caller sent.
    traceparent: Option<HeaderValue>,
    span: Option<Span>,
}

impl Record {
    pub fn new(
        call: Call,
        traces: Option<&Traces>,
        failures: Arc<Sample>,
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

    /// What makes spans for messages beneath the span of this call, if it has one.
    pub fn messages(&self, traces: Option<&Traces>) -> Option<MessageTraces> {
        Some(traces?.messages(self.span.as_ref()?))
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

/// The trace's id out of `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`.
fn trace_id(traceparent: &HeaderValue) -> Option<&str> {
    let id = traceparent.to_str().ok()?.split('-').nth(1)?;
    (id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

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
