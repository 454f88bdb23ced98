//! A span for each call, in the trace of its caller, and beneath it spans for messages of a stream.

use std::sync::Arc;
use std::time::Instant;

use http::HeaderMap;
use opentelemetry::propagation::{Extractor, TextMapPropagator};
use opentelemetry::trace::{Span as _, SpanKind, Status, TraceContextExt, Tracer};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracer, Span};
use tonic::Code;

use crate::sample::Sample;

/// Load balancers ask for health all the time, and nobody wants to see it.
const HEALTH: &str = "grpc.health.v1.Health";

/// Makes the spans of calls.
#[derive(Debug, Clone)]
pub(crate) struct Traces {
    tracer: SdkTracer,
    propagator: TraceContextPropagator,
}

impl Traces {
    pub fn new(tracer: SdkTracer) -> Self {
        Self {
            tracer,
            propagator: TraceContextPropagator::new(),
        }
    }

    /// Begins the span of a call, if it is to have one.
    pub fn begin(
        &self,
        (service, method): (&'static str, &'static str),
        headers: &HeaderMap,
    ) -> Option<Span> {
        if service == HEALTH {
            return None;
        }
        // Nothing of this thread's: a caller without a trace begins one.
        let caller = self
            .propagator
            .extract_with_context(&Context::new(), &Headers(headers));
        // One that is not sampled costs no more than to know that.
        if caller.has_active_span() && !caller.span().span_context().is_sampled() {
            return None;
        }
        let attributes = [
            KeyValue::new("rpc.system", "grpc"),
            KeyValue::new("rpc.service", service),
            KeyValue::new("rpc.method", method),
        ];
        let span = self
            .tracer
            .span_builder(format!("{service}/{method}"))
            .with_kind(SpanKind::Server)
            .with_attributes(attributes)
            .start_with_context(&self.tracer, &caller);
        span.is_recording().then_some(span)
    }

    /// Makes spans for the messages of a stream beneath the span of its call.
    pub fn messages(&self, call: &Span) -> MessageTraces {
        let call = call.span_context().clone();
        MessageTraces(Arc::new(Messages {
            tracer: self.tracer.clone(),
            call: Context::new().with_remote_span_context(call),
            sample: Sample::new(),
        }))
    }
}

/// Makes spans for the messages of a stream: for ten a second at most, since there may be a million.
#[derive(Debug, Clone)]
pub(crate) struct MessageTraces(Arc<Messages>);

#[derive(Debug)]
struct Messages {
    tracer: SdkTracer,
    call: Context,
    sample: Sample,
}

impl MessageTraces {
    /// Begins the span of a message, the number of those before it and of its puzzles given, if it is to have one.
    pub fn begin(&self, number: u64, puzzles: usize) -> Option<Box<MessageSpan>> {
        let Messages { tracer, call, sample } = &*self.0;
        sample.line(Instant::now())?;
        let attributes = [
            KeyValue::new("sudoku.message", i64::try_from(number).unwrap_or(i64::MAX)),
            KeyValue::new("sudoku.puzzles", i64::try_from(puzzles).unwrap_or(i64::MAX)),
        ];
        let span = tracer
            .span_builder(MESSAGE)
            .with_kind(SpanKind::Internal)
            .with_attributes(attributes)
            .start_with_context(tracer, call);
        Some(Box::new(MessageSpan {
            span,
            answered: false,
        }))
    }
}

const MESSAGE: &str = "message";

/// The span of a message, from when it was taken until its answer leaves, or it is given up.
#[derive(Debug)]
pub(crate) struct MessageSpan {
    span: Span,
    answered: bool,
}

impl MessageSpan {
    pub fn answered(mut self) {
        self.answered = true;
    }
}

impl Drop for MessageSpan {
    fn drop(&mut self) {
        if !self.answered {
            self.span.set_status(Status::error("given up"));
        }
        self.span.end();
    }
}

/// Ends the span of a call that ended so.
pub(crate) fn end(mut span: Span, code: Code) {
    span.set_attribute(KeyValue::new("rpc.grpc.status_code", i64::from(i32::from(code))));
    // By the conventions of OpenTelemetry only the server's own faults are errors of its span.
    if matches!(
        code,
        Code::Unknown
            | Code::DeadlineExceeded
            | Code::Unimplemented
            | Code::Internal
            | Code::Unavailable
            | Code::DataLoss
    ) {
        span.set_status(Status::error(""));
    }
    span.end();
}

struct Headers<'a>(&'a HeaderMap);

impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(http::HeaderName::as_str).collect()
    }
}
