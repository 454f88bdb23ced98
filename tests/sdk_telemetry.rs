//! What the SDK's calls tell of themselves: spans in the caller's trace, and metrics.

mod common;

use std::sync::{Arc, Mutex};

use common::server::Server;
use common::{EASY, collect, grid};
use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};
use opentelemetry::trace::TracerProvider;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use sudoku_client::SudokuClient;
use sudoku_server::Settings;
use tokio::runtime::Runtime;
use tokio_stream::StreamExt;
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

/// Runs all on this thread, where a recorder may be set for it.
fn runtime() -> Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().unwrap()
}

#[test]
fn calls_are_counted_and_timed() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let runtime = runtime();
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
    let (counts, timed) = counted(&snapshotter);
    let expected = [
        ("sudoku_client_calls_total", "GetServerInfo ok", 1),
        ("sudoku_client_calls_total", "Solve InvalidArgument", 1),
        ("sudoku_client_calls_total", "Solve ok", 1),
        ("sudoku_client_calls_total", "SolveMany cancelled", 1),
        ("sudoku_client_calls_total", "SolveMany ok", 1),
        ("sudoku_client_stream_puzzles_total", "", 10),
    ];
    let expected = expected.map(|(name, labels, count)| (name.to_owned(), labels.to_owned(), count));
    assert_eq!(counts, expected);
    assert_eq!(timed, 5);
}

/// The counters with their labels, in order, and how many times were measured.
fn counted(snapshotter: &Snapshotter) -> (Vec<(String, String, u64)>, usize) {
    let (mut counts, mut timed) = (Vec::new(), 0);
    for (key, _, _, value) in snapshotter.snapshot().into_vec() {
        let labels: Vec<_> = key.key().labels().map(|label| label.value().to_owned()).collect();
        match value {
            DebugValue::Counter(count) => counts.push((key.key().name().to_owned(), labels.join(" "), count)),
            DebugValue::Histogram(times) => timed += times.len(),
            DebugValue::Gauge(_) => {}
        }
    }
    counts.sort();
    (counts, timed)
}

/// One that is only busy stays.
#[test]
fn servers_that_are_taken_out_are_counted() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let runtime = runtime();
    let ejections = |client: SudokuClient| {
        let call = async { collect(client.solve_iter([grid(EASY)])).await.1.unwrap() };
        metrics::with_local_recorder(&recorder, || runtime.block_on(call));
        let (counts, _) = counted(&snapshotter);
        let of_them = counts
            .iter()
            .filter(|(name, ..)| name == "sudoku_client_ejections_total");
        of_them.map(|(.., count)| count).sum::<u64>()
    };
    let (busy, gone, _held) = runtime.block_on(async {
        let server = Server::start(Settings {
            max_streams: 1,
            ..Settings::default()
        })
        .await;
        let mut held = server.client().await.solve_iter(std::iter::repeat(grid(EASY)));
        held.next().await.unwrap().unwrap();
        let busy = server.builder().retries(1).connect_lazy().unwrap();
        // Nothing can listen at port 1 without the system's consent.
        let gone = SudokuClient::builder().endpoint("http://127.0.0.1:1");
        (busy, gone.retries(1).connect_lazy().unwrap(), (server, held))
    });
    assert_eq!(ejections(busy), 0);
    assert_eq!(ejections(gone), 1);
}
