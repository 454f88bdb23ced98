//! The limits, as their flags set them: what is past each, and that the rest goes on.
#![cfg(unix)]

mod support;

use std::time::Duration;

use sudoku_proto::v1::{SolveManyRequest, SolveOptions, SolveRequest};
use support::{PUZZLE, Server, solve, start_for_operators, until};
use test_support::http2::{RST_STREAM, SOLVE_MANY, acknowledgement, beginning, call, frame};
use test_support::operators::metrics;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Request, Status};
use tonic_types::StatusExt;

/// Code, reason, and the limit that the error tells. What would be past the limit the next time too is not to be retried.
#[track_caller]
fn assert_refused(status: &Status, code: Code, reason: &str, limit: Option<&str>) {
    assert_eq!(status.code(), code, "{status:?}");
    let info = status.get_details_error_info().unwrap();
    assert_eq!(info.reason, reason);
    assert_eq!(info.metadata.get("limit").map(String::as_str), limit);
    assert!(status.get_details_retry_info().is_none());
}

async fn solve_many(server: &Server, puzzles: Vec<String>) -> Result<usize, Status> {
    let message = SolveManyRequest {
        puzzles,
        options: None,
    };
    let mut client = server.client().await;
    let mut answers = client
        .solve_many(tokio_stream::iter([message]))
        .await?
        .into_inner();
    Ok(answers.message().await?.unwrap().results.len())
}

#[tokio::test]
async fn messages() {
    let server = Server::start(&[
        "--max-puzzles-per-message=3",
        "--max-message-bytes=1000",
        "--max-solve-bytes=200",
    ]);
    let exhausted = Code::ResourceExhausted;
    assert_eq!(solve_many(&server, vec![PUZZLE.into(); 3]).await.unwrap(), 3);
    let status = solve_many(&server, vec![PUZZLE.into(); 4]).await.unwrap_err();
    assert_refused(&status, exhausted, "TOO_MANY_PUZZLES", Some("3"));
    assert_eq!(solve_many(&server, vec!["x".repeat(990)]).await.unwrap(), 1);
    let status = solve_many(&server, vec!["x".repeat(1_000)]).await.unwrap_err();
    assert_refused(&status, exhausted, "MESSAGE_TOO_LARGE", Some("1000"));

    let mut client = server.client().await;
    let status = client.solve(solve(&"x".repeat(190))).await.unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument);
    let status = client.solve(solve(&"x".repeat(200))).await.unwrap_err();
    assert_refused(&status, exhausted, "MESSAGE_TOO_LARGE", Some("200"));
    client.solve(solve(PUZZLE)).await.unwrap();
}

#[tokio::test]
async fn options() {
    let server = Server::start(&[
        "--max-solution-limit=10",
        "--default-time-limit=1s",
        "--max-time-limit=2s",
    ]);
    let mut client = server.client().await;
    let mut call = async |solution_limit, seconds| {
        let time_limit = Duration::from_secs(seconds).try_into().unwrap();
        let options = SolveOptions {
            solution_limit,
            time_limit: Some(time_limit),
            omit_solutions: true,
        };
        let puzzle = ".".repeat(81);
        client
            .solve(SolveRequest {
                puzzle,
                options: Some(options),
            })
            .await
    };
    let result = call(10, 2).await.unwrap().into_inner().result.unwrap();
    assert_eq!(result.solution_count, 10);
    for (solution_limit, seconds) in [(11, 2), (10, 3)] {
        let status = call(solution_limit, seconds).await.unwrap_err();
        assert_refused(&status, Code::InvalidArgument, "OPTION_OUT_OF_RANGE", None);
    }
}

#[tokio::test]
async fn one_stream_too_many_is_refused_at_once_and_may_come_again() {
    let (server, admin) = start_for_operators(&["--max-streams=2"]);
    let mut client = server.client().await;
    let mut open = async || {
        let (messages, receiver) = mpsc::channel::<SolveManyRequest>(1);
        let answers = client.solve_many(ReceiverStream::new(receiver)).await;
        answers.map(|answers| (messages, answers))
    };
    let streams = [open().await.unwrap(), open().await.unwrap()];
    let status = open().await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted);
    assert_eq!(status.get_details_error_info().unwrap().reason, "OVERLOADED");
    let retry = status.get_details_retry_info().unwrap().retry_delay.unwrap();
    assert!(retry > Duration::ZERO);
    assert_eq!(
        metrics(&admin)["sudoku_rejected_total{reason=\"overloaded\"}"],
        1.0
    );
    drop(streams);
    until("there is room again", || async {
        solve_many(&server, vec![PUZZLE.into()]).await.is_ok()
    })
    .await;
}

#[tokio::test]
async fn headers() {
    let (server, admin) = start_for_operators(&["--max-header-bytes=2048"]);
    let mut client = server.client().await;
    let mut call = async |bytes: usize| {
        let mut request = Request::new(solve(PUZZLE));
        let value = "x".repeat(bytes).parse().unwrap();
        request.metadata_mut().insert("filler", value);
        client.solve(request).await
    };
    call(1_000).await.unwrap();
    call(2_048).await.unwrap_err();
    assert_eq!(metrics(&admin)["sudoku_rejected_total{reason=\"headers\"}"], 1.0);
    call(200_000).await.unwrap_err();
    call(1_000).await.unwrap();
}

#[tokio::test]
async fn a_client_that_opens_more_calls_than_a_connection_may_have() {
    let server = Server::start(&["--max-streams-per-connection=2"]);
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let calls = [1, 3, 5].map(|number| call(number, SOLVE_MANY)).concat();
    stream
        .write_all(&[beginning(), acknowledgement(), calls].concat())
        .await
        .unwrap();
    // REFUSED_STREAM: the client may try again elsewhere.
    let refused = frame(RST_STREAM, 0, 5, &[0, 0, 0, 7]);
    let mut received = Vec::new();
    let refusal = async {
        while !received.windows(refused.len()).any(|bytes| bytes == refused) {
            assert_ne!(stream.read_buf(&mut received).await.unwrap(), 0);
        }
    };
    tokio::time::timeout(support::PATIENCE, refusal).await.unwrap();
    server.client().await.solve(solve(PUZZLE)).await.unwrap();
}

/// Reads until the server closes the connection, and gives what it had sent.
async fn until_closed(stream: &mut TcpStream) -> Vec<u8> {
    let mut received = Vec::new();
    // It may see an orderly end or a reset.
    let end = async { while let Ok(1..) = stream.read_buf(&mut received).await {} };
    tokio::time::timeout(support::PATIENCE, end).await.unwrap();
    received
}

const ASK: &[u8] = b"GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n";

#[tokio::test]
async fn connections_of_operators() {
    let (server, admin) =
        start_for_operators(&["--admin-max-connections=1", "--admin-max-connection-age=300ms"]);
    let mut busy = TcpStream::connect(&admin).await.unwrap();
    busy.write_all(ASK).await.unwrap();
    busy.read_exact(&mut [0; 15]).await.unwrap();
    let mut second = TcpStream::connect(&admin).await.unwrap();
    // It may be closed already.
    let _ = second.write_all(ASK).await;
    assert_eq!(until_closed(&mut second).await, b"");

    let asks_again = async {
        while busy.write_all(ASK).await.is_ok() && matches!(busy.read(&mut [0; 4_096]).await, Ok(1..)) {}
    };
    tokio::time::timeout(support::PATIENCE, asks_again).await.unwrap();
    assert_eq!(metrics(&admin)["sudoku_ready"], 1.0);
    server.client().await.solve(solve(PUZZLE)).await.unwrap();
}

#[tokio::test]
async fn requests_of_operators() {
    let (_server, admin) = start_for_operators(&["--admin-header-timeout=300ms"]);
    for begun in [&b""[..], &ASK[..20]] {
        let mut slow = TcpStream::connect(&admin).await.unwrap();
        slow.write_all(begun).await.unwrap();
        until_closed(&mut slow).await;
    }
    let mut large = TcpStream::connect(&admin).await.unwrap();
    let filler = format!("GET /livez HTTP/1.1\r\nfiller: {}\r\n\r\n", "x".repeat(20_000));
    large.write_all(filler.as_bytes()).await.unwrap();
    let answer = until_closed(&mut large).await;
    assert!(answer.starts_with(b"HTTP/1.1 431 "), "{}", answer.escape_ascii());
}
