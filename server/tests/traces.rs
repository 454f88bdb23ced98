//! A span for each call, as a collector sees it.
#![cfg(unix)]

mod support;

use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use serde_json::Value;
use sudoku_proto::v1::{SolveManyRequest, SolveOptions};
use support::{PUZZLE, Server, Signal, command, solve, start_for_operators, until};
use test_support::operators::metrics;
use tokio::net::TcpListener;
use tonic::{Request, Response, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

/// A collector that keeps what it gets.
#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Vec<Span>>>);

#[tonic::async_trait]
impl TraceService for Collector {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        for resource in request.into_inner().resource_spans {
            let attributes = format!("{:?}", resource.resource.unwrap().attributes);
            assert!(attributes.contains("sudoku-server"), "{attributes}");
            let spans = resource.scope_spans.into_iter().flat_map(|scope| scope.spans);
            self.0.lock().unwrap().extend(spans);
        }
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

impl Collector {
    async fn start() -> (Self, String) {
        let collector = Self::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let service = TraceServiceServer::new(collector.clone());
        let incoming = tokio_stream::wrappers::TcpListenerStream::new(listener);
        let server = tonic::transport::Server::builder().add_service(service);
        tokio::spawn(server.serve_with_incoming(incoming));
        (collector, format!("http://{address}"))
    }

    fn spans(&self) -> Vec<Span> {
        self.0.lock().unwrap().clone()
    }
}

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

#[tokio::test]
async fn each_call_has_a_span_in_its_callers_trace() {
    let (collector, endpoint) = Collector::start().await;
    let server = Server::start(&["--otlp-endpoint", &endpoint, "--trace-share=0"]);
    let mut client = server.client().await;
    let traced = |puzzle: &str, flags: &str| {
        let mut request = Request::new(solve(puzzle));
        let traceparent = format!("00-{TRACE}-{CALLER}-{flags}").parse().unwrap();
        request.metadata_mut().insert("traceparent", traceparent);
        request
    };
    client.solve(traced(PUZZLE, "01")).await.unwrap();
    client.solve(traced("no puzzle", "01")).await.unwrap_err();
    // Not sampled: by its caller, by our share of none, and health.
    client.solve(traced(PUZZLE, "00")).await.unwrap();
    client.solve(solve(PUZZLE)).await.unwrap();
    let mut health = HealthClient::new(server.channel().await);
    let mut check = Request::new(HealthCheckRequest::default());
    let traceparent = format!("00-{TRACE}-{CALLER}-01").parse().unwrap();
    check.metadata_mut().insert("traceparent", traceparent);
    health.check(check).await.unwrap();

    // The last spans are sent before the server ends.
    server.signal(Signal::TERM);
    assert_eq!(server.ended().await.0, Some(0));
    let spans = collector.spans();
    assert_eq!(spans.len(), 2, "{spans:?}");
    for (span, code) in spans.iter().zip([0, 3]) {
        assert_eq!(span.name, "sudoku.v1.SudokuService/Solve");
        assert_eq!(span.kind, SpanKind::Server as i32);
        assert_eq!(hex::encode(&span.trace_id), TRACE);
        assert_eq!(hex::encode(&span.parent_span_id), CALLER);
        assert!(span.end_time_unix_nano >= span.start_time_unix_nano);
        let attribute = span
            .attributes
            .iter()
            .find(|attribute| attribute.key == "rpc.grpc.status_code");
        let value = format!("{:?}", attribute.unwrap().value);
        assert!(value.contains(&format!("IntValue({code})")), "{value}");
    }
}

#[tokio::test]
async fn calls_without_a_trace_begin_one() {
    let (collector, endpoint) = Collector::start().await;
    let server = Server::start(&["--otlp-endpoint", &endpoint, "--trace-share=1"]);
    let mut client = server.client().await;
    for _ in 0..3 {
        client.solve(solve(PUZZLE)).await.unwrap();
    }
    server.signal(Signal::TERM);
    assert_eq!(server.ended().await.0, Some(0));
    let spans = collector.spans();
    assert_eq!(spans.len(), 3);
    assert!(spans.iter().all(|span| span.parent_span_id.is_empty()));
    assert_ne!(spans[0].trace_id, spans[1].trace_id);
}

fn attribute(span: &Span, key: &str) -> String {
    let attribute = span.attributes.iter().find(|attribute| attribute.key == key);
    format!("{:?}", attribute.unwrap().value)
}

#[tokio::test]
async fn messages_of_a_stream_have_spans_beneath_that_of_the_call_but_not_all() {
    let (collector, endpoint) = Collector::start().await;
    let server = Server::start(&["--otlp-endpoint", &endpoint, "--trace-share=0"]);
    let mut client = server.client().await;
    let message = |puzzles: usize| SolveManyRequest {
        puzzles: vec![PUZZLE.to_owned(); puzzles],
        options: None,
    };
    // Three in all, and more than have spans; the last stream is not sampled.
    let mut stream = async |messages: Vec<SolveManyRequest>, flags: &str| {
        let count = messages.len();
        let mut request = Request::new(tokio_stream::iter(messages));
        let traceparent = format!("00-{TRACE}-{CALLER}-{flags}").parse().unwrap();
        request.metadata_mut().insert("traceparent", traceparent);
        let mut answers = client.solve_many(request).await.unwrap().into_inner();
        for _ in 0..count {
            answers.message().await.unwrap().unwrap();
        }
        assert!(answers.message().await.unwrap().is_none());
    };
    stream(vec![message(1), message(2), message(3)], "01").await;
    stream(vec![message(1); 2_000], "01").await;
    stream(vec![message(1)], "00").await;
    server.signal(Signal::TERM);
    assert_eq!(server.ended().await.0, Some(0));

    let spans = collector.spans();
    let name = "sudoku.v1.SudokuService/SolveMany";
    let calls: Vec<_> = spans.iter().filter(|span| span.name == name).collect();
    assert_eq!(calls.len(), 2, "{spans:?}");
    let of = |call: &Span| -> Vec<&Span> {
        let beneath = |span: &&Span| span.parent_span_id == call.span_id && span.trace_id == call.trace_id;
        spans.iter().filter(beneath).collect()
    };
    let (few, many) = (of(calls[0]), of(calls[1]));
    assert_eq!(few.len() + many.len() + calls.len(), spans.len());
    assert_eq!(few.len(), 3);
    for (number, span) in few.iter().enumerate() {
        assert_eq!(span.name, "message");
        assert_eq!(hex::encode(&span.trace_id), TRACE);
        assert!(attribute(span, "sudoku.message").contains(&format!("IntValue({number})")));
        assert!(attribute(span, "sudoku.puzzles").contains(&format!("IntValue({})", number + 1)));
        assert!(span.end_time_unix_nano >= span.start_time_unix_nano);
        assert!(span.status.is_none() || span.status.as_ref().unwrap().code == 0);
    }
    assert!(many.len() >= 10 && many.len() < 2_000, "{}", many.len());
}

#[tokio::test]
async fn a_message_that_is_given_up_has_a_span_that_says_so() {
    let (collector, endpoint) = Collector::start().await;
    let (server, admin) = start_for_operators(&[
        "--otlp-endpoint",
        &endpoint,
        "--trace-share=1",
        "--max-solution-limit=4294967295",
        "--max-time-limit=1h",
    ]);
    let mut client = server.client().await;
    let endless = SolveManyRequest {
        puzzles: vec![".".repeat(81)],
        options: Some(SolveOptions {
            solution_limit: u32::MAX,
            omit_solutions: true,
            time_limit: Some(Duration::from_secs(3_600).try_into().unwrap()),
        }),
    };
    let answers = client.solve_many(tokio_stream::iter([endless])).await.unwrap();
    until("it is solved", || async {
        metrics(&admin)["sudoku_messages"] == 1.0
    })
    .await;
    drop(answers);
    until("nothing is left of it", || async {
        metrics(&admin)["sudoku_open_streams"] == 0.0
    })
    .await;
    server.signal(Signal::TERM);
    assert_eq!(server.ended().await.0, Some(0));
    let spans = collector.spans();
    let message = spans.iter().find(|span| span.name == "message").unwrap();
    assert_eq!(message.status.as_ref().unwrap().message, "given up");
}

#[tokio::test]
async fn a_collector_that_is_not_there_does_no_harm_and_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let mut command = command();
    command.args(["--listen=127.0.0.1:0", "--log-format=json", "--trace-share=1"]);
    command.arg("--otlp-endpoint=http://127.0.0.1:1");
    let server = Server::spawn_with_log(&mut command, fs::File::create(&log).unwrap());
    let mut client = server.client().await;
    client.solve(solve(PUZZLE)).await.unwrap();
    server.signal(Signal::TERM);
    assert_eq!(server.ended().await.0, Some(0));
    let log = fs::read_to_string(&log).unwrap();
    let lines = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let told: Vec<_> = lines
        .filter(|line| line["endpoint"] == "http://127.0.0.1:1")
        .collect();
    let [line] = told.as_slice() else {
        panic!("{told:?}");
    };
    assert_eq!(line["level"], "WARN");
    assert_eq!(line["spans"], 1);
    assert!(
        line["error"].as_str().is_some_and(|error| !error.is_empty()),
        "{line}"
    );
}
