//! What the SDK's calls tell of themselves: spans in the caller's trace, and metrics.

mod common;

use std::sync::{Arc, Mutex};

use common::{EASY, collect, grid};
use metrics_util::debugging::{DebugValue, DebuggingRecorder};
use opentelemetry::trace::TracerProvider;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use sudoku_client::SudokuClient;
use sudoku_server::Settings;
use tonic::body::Body;
use tonic::codegen::http::Request;
use tower::ServiceExt;
use tracing::Instrument;
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::prelude::*;

#[tokio::test]
async fn calls_belong_to_the_trace_of_the_program() {
    opentelemetry::global::set_text_map_propagator(TraceContextPropagator::new());
    let tracer = SdkTracerProvider::default().tracer("test");
    let layer = tracing_opentelemetry::layer().with_tracer(tracer);
    let _listening = tracing_subscriber::registry().with(layer).set_default();

    let seen = Arc::new(Mutex::new(Vec::new()));
    let service = sudoku_server::in_process(Settings::default())
        .unwrap()
        .map_request({
            let seen = Arc::clone(&seen);
            move |request: Request<Body>| {
                let parent = request
                    .headers()
                    .get("traceparent")
                    .map(|header| header.to_str().unwrap().to_owned());
                seen.lock()
                    .unwrap()
                    .push((request.uri().path().to_owned(), parent));
                request
            }
        });
    let client = SudokuClient::from_service(service);
    let span = tracing::info_span!("the program");
    let calls = async {
        client.solve(&grid(EASY)).await.unwrap();
        assert!(collect(client.solve_iter([grid(EASY)])).await.1.is_none());
        tracing::Span::current().context()
    };
    let context = calls.instrument(span).await;
    let trace = opentelemetry::trace::TraceContextExt::span(&context)
        .span_context()
        .trace_id()
        .to_string();

    let seen = seen.lock().unwrap();
    let methods: Vec<_> = seen
        .iter()
        .filter_map(|(path, _)| path.rsplit('/').next())
        .collect();
    assert_eq!(methods, ["Solve", "GetServerInfo", "SolveMany"]);
    for (path, parent) in seen.iter() {
        let parent = parent.as_deref().unwrap_or_default();
        assert!(parent.starts_with(&format!("00-{trace}-")), "{path}: {parent:?}");
    }
}

#[test]
fn calls_are_counted_and_timed() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    metrics::with_local_recorder(&recorder, || {
        runtime.block_on(async {
            let client = common::client();
            client.solve(&grid(EASY)).await.unwrap();
            assert!(collect(client.solve_iter([grid(EASY); 10])).await.1.is_none());
            let refused = sudoku_client::SolveOptions::new().solution_limit(u32::MAX);
            client
                .clone()
                .with_options(refused)
                .solve(&grid(EASY))
                .await
                .unwrap_err();
            drop(client.solve_iter([grid(EASY)]));
        });
    });
    let mut counts = Vec::new();
    let mut timed = 0;
    for (key, _, _, value) in snapshotter.snapshot().into_vec() {
        let labels: Vec<_> = key.key().labels().map(|label| label.value().to_owned()).collect();
        match value {
            DebugValue::Counter(count) => counts.push((key.key().name().to_owned(), labels.join(" "), count)),
            DebugValue::Histogram(times) => timed += times.len(),
            DebugValue::Gauge(_) => {}
        }
    }
    counts.sort();
    let expected = [
        ("sudoku_client_calls_total", "GetServerInfo ok", 1),
        ("sudoku_client_calls_total", "Solve InvalidArgument", 1),
        ("sudoku_client_calls_total", "Solve ok", 1),
        ("sudoku_client_calls_total", "SolveMany cancelled", 1),
        ("sudoku_client_calls_total", "SolveMany ok", 1),
        ("sudoku_client_stream_puzzles_total", "", 10),
    ];
    let counts: Vec<_> = counts
        .iter()
        .map(|(name, labels, count)| (name.as_str(), labels.as_str(), *count))
        .collect();
    assert_eq!(counts, expected);
    assert_eq!(timed, 5);
}
