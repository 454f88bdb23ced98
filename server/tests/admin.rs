//! The port for operators: what is counted, and whether the server lives and is ready.
#![cfg(unix)]

mod support;

use std::fs;
use std::io::Write;
use std::net::TcpStream;

use sudoku_proto::v1::{SolveManyRequest, SolveOptions, SolveRequest};
use support::{PUZZLE, Signal, solve, start_for_operators as start, until};
use test_support::operators::{get, metrics, request};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

const SOLVE: &str = r#"grpc_type="unary",grpc_service="sudoku.v1.SudokuService",grpc_method="Solve""#;
const SOLVE_MANY: &str =
    r#"grpc_type="bidi_stream",grpc_service="sudoku.v1.SudokuService",grpc_method="SolveMany""#;

#[tokio::test]
async fn calls_messages_and_puzzles_are_counted() {
    let (server, admin) = start(&["--max-solution-limit=4294967295", "--default-time-limit=60s"]);
    let before = metrics(&admin);
    for name in [
        format!("grpc_server_started_total{{{SOLVE}}}"),
        format!("grpc_server_handled_total{{{SOLVE},grpc_code=\"OK\"}}"),
        format!("grpc_server_handled_total{{{SOLVE_MANY},grpc_code=\"Unavailable\"}}"),
        format!("grpc_server_msg_received_total{{{SOLVE_MANY}}}"),
        format!("grpc_server_msg_sent_total{{{SOLVE_MANY}}}"),
        format!("grpc_server_handling_seconds_count{{{SOLVE_MANY}}}"),
        "sudoku_puzzles_total{outcome=\"undecided\"}".to_owned(),
        "sudoku_rejected_total{reason=\"overloaded\"}".to_owned(),
        "sudoku_solve_seconds_count".to_owned(),
        "sudoku_solve_slices_total".to_owned(),
        "sudoku_queue_depth".to_owned(),
        "sudoku_open_streams".to_owned(),
    ] {
        assert_eq!(before.get(&name), Some(&0.0), "{name}");
    }
    let version = concat!("sudoku_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\"}");
    assert_eq!(before[version], 1.0);

    let mut client = server.client().await;
    client.solve(solve(PUZZLE)).await.unwrap();
    client.solve(solve("no puzzle")).await.unwrap_err();
    let message = SolveManyRequest {
        puzzles: [PUZZLE, PUZZLE, "no puzzle", &".".repeat(81), &"1".repeat(81)]
            .map(str::to_owned)
            .to_vec(),
        options: None,
    };
    let messages = tokio_stream::iter(vec![message; 3]);
    let mut answers = client.solve_many(messages).await.unwrap().into_inner();
    while answers.message().await.unwrap().is_some() {}
    let stream = client.solve_many(tokio_stream::pending()).await.unwrap();

    let expected = [
        (format!("grpc_server_started_total{{{SOLVE}}}"), 2.0),
        (
            format!("grpc_server_handled_total{{{SOLVE},grpc_code=\"OK\"}}"),
            1.0,
        ),
        (
            format!("grpc_server_handled_total{{{SOLVE},grpc_code=\"InvalidArgument\"}}"),
            1.0,
        ),
        (format!("grpc_server_msg_received_total{{{SOLVE}}}"), 2.0),
        (format!("grpc_server_msg_sent_total{{{SOLVE}}}"), 1.0),
        (format!("grpc_server_handling_seconds_count{{{SOLVE}}}"), 2.0),
        (format!("grpc_server_started_total{{{SOLVE_MANY}}}"), 2.0),
        (
            format!("grpc_server_handled_total{{{SOLVE_MANY},grpc_code=\"OK\"}}"),
            1.0,
        ),
        (format!("grpc_server_msg_received_total{{{SOLVE_MANY}}}"), 3.0),
        (format!("grpc_server_msg_sent_total{{{SOLVE_MANY}}}"), 3.0),
        ("sudoku_puzzles_total{outcome=\"unique\"}".to_owned(), 7.0),
        ("sudoku_puzzles_total{outcome=\"multiple\"}".to_owned(), 3.0),
        ("sudoku_puzzles_total{outcome=\"unsolvable\"}".to_owned(), 3.0),
        ("sudoku_puzzles_total{outcome=\"invalid\"}".to_owned(), 3.0),
        ("sudoku_solve_seconds_count".to_owned(), 1.0),
        ("sudoku_open_streams".to_owned(), 1.0),
        ("sudoku_connections".to_owned(), 1.0),
        ("sudoku_ready".to_owned(), 1.0),
    ];
    // A call is counted out when its last bytes are on their way, which may be after the client has them.
    until("all is counted", || async {
        let now = metrics(&admin);
        expected.iter().all(|(name, value)| now.get(name) == Some(value))
    })
    .await;
    let now = metrics(&admin);
    assert!(now["sudoku_solve_slices_total"] >= 1.0);
    if cfg!(target_os = "linux") {
        assert!(now["process_resident_memory_bytes"] > 1e6);
        assert!(now["process_open_fds"] > 3.0);
        assert!(now["process_cpu_seconds_total"] >= 0.0);
    }

    drop(stream);
    // A client that goes away.
    let endless = SolveRequest {
        puzzle: ".".repeat(81),
        options: Some(SolveOptions {
            solution_limit: u32::MAX,
            omit_solutions: true,
            time_limit: None,
        }),
    };
    let call = tokio::spawn(async move { client.solve(endless).await });
    until("it is solved", || async {
        metrics(&admin)["sudoku_solves"] == 1.0
    })
    .await;
    call.abort();
    let canceled = format!("grpc_server_handled_total{{{SOLVE},grpc_code=\"Canceled\"}}");
    until("it is counted as canceled", || async {
        metrics(&admin)[&canceled] == 1.0
    })
    .await;
}

#[tokio::test]
async fn what_is_turned_away_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("tokens");
    fs::write(&tokens, format!("name {}\n", "ab".repeat(32))).unwrap();
    let (server, admin) = start(&["--token-file", tokens.to_str().unwrap()]);
    let mut client = server.client().await;
    for _ in 0..3 {
        client.solve(solve(PUZZLE)).await.unwrap_err();
    }
    let mut other = TcpStream::connect(server.address).unwrap();
    other.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let unauthenticated = format!("grpc_server_handled_total{{{SOLVE},grpc_code=\"Unauthenticated\"}}");
    until("they are counted", || async {
        let now = metrics(&admin);
        now["sudoku_rejected_total{reason=\"unauthenticated\"}"] == 3.0
            && now["sudoku_rejected_total{reason=\"not_http2\"}"] == 1.0
            && now[&unauthenticated] == 3.0
    })
    .await;
}

#[tokio::test]
async fn names_that_clients_make_up_make_no_metrics() {
    let (server, admin) = start(&[]);
    let mut grpc = tonic::client::Grpc::new(server.channel().await);
    for number in 0..20 {
        grpc.ready().await.unwrap();
        let path = format!("/made.up/Method{number}").parse().unwrap();
        let codec = tonic_prost::ProstCodec::<HealthCheckRequest, HealthCheckRequest>::default();
        let request = tonic::Request::new(HealthCheckRequest::default());
        grpc.unary(request, path, codec).await.unwrap_err();
    }
    let unknown = "grpc_type=\"unknown\",grpc_service=\"unknown\",grpc_method=\"unknown\"";
    let unimplemented = format!("grpc_server_handled_total{{{unknown},grpc_code=\"Unimplemented\"}}");
    until("they are counted together", || async {
        metrics(&admin)[&unimplemented] == 20.0
    })
    .await;
    assert!(!get(&admin, "/metrics").1.contains("made"));
}

#[tokio::test]
async fn a_server_that_goes_is_no_longer_ready_but_serves_for_a_while() {
    let (server, admin) = start(&["--drain-delay=1h"]);
    let ready = || get(&admin, "/readyz").0;
    until("it is ready", || async { ready() == 200 }).await;
    assert_eq!(get(&admin, "/livez").0, 200);

    server.signal(Signal::TERM);
    until("it is not ready", || async { ready() == 503 }).await;
    assert_eq!(get(&admin, "/livez").0, 200);
    assert_eq!(metrics(&admin)["sudoku_ready"], 0.0);
    let mut client = server.client().await;
    client.solve(solve(PUZZLE)).await.unwrap();
    let mut health = HealthClient::new(server.channel().await);
    let status = health
        .check(HealthCheckRequest::default())
        .await
        .unwrap()
        .into_inner();
    assert_eq!(status.status().as_str_name(), "NOT_SERVING");
    server.signal(Signal::TERM);
    assert_eq!(server.ended().await.0, Some(0));
}

#[test]
fn nothing_else_is_there() {
    let (_server, admin) = start(&[]);
    assert_eq!(get(&admin, "/").0, 404);
    assert_eq!(get(&admin, "/metrics/x").0, 404);
    let post = "POST /metrics HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    assert_eq!(request(&admin, post).0, 405);
}
