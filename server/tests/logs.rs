//! The log: a line a failed call, but few of a flood.
#![cfg(unix)]

mod support;

use std::fs::{self, File};
use std::path::Path;

use serde_json::Value;
use support::{PUZZLE, Server, Signal, command, solve, until};
use test_support::authority::Authority;
use test_support::http2::{CANCEL, RST_STREAM, SOLVE, acknowledgement, beginning, call, frame};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tonic::{Code, Request};

/// A server with this level of log, and what it has logged so far.
fn start(level: Option<&str>, arguments: &[&str], path: &Path) -> Server {
    let mut command = command();
    command
        .args(["--listen=127.0.0.1:0", "--log-format=json"])
        .args(arguments);
    if let Some(level) = level {
        command.env("RUST_LOG", level);
    }
    command
        .env("SUDOKU_MAX_SOLVE", "3")
        .env("SUDOKU_TOKEN", "of the client");
    Server::spawn_with_log(&mut command, File::create(path).unwrap())
}

/// The complete lines of a log with this message.
fn lines(path: &Path, message: &str) -> Vec<Value> {
    let log = fs::read_to_string(path).unwrap();
    let complete = log.rsplit_once('\n').map_or("", |(complete, _)| complete);
    let lines = complete.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.filter(|line: &Value| line["message"] == message).collect()
}

#[tokio::test]
async fn a_flood_of_resets_has_a_line_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    for level in [None, Some("warn")] {
        let server = start(level, &[], &path);
        // Probes of the port are of every day, and have no line.
        let mut probe = TcpStream::connect(server.address).await.unwrap();
        probe.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
        let _ = probe.read_to_end(&mut Vec::new()).await;
        let resets: Vec<u8> = (0..1_000)
            .map(|number| 2 * number + 1)
            .flat_map(|stream| [call(stream, SOLVE), frame(RST_STREAM, 0, stream, &CANCEL)].concat())
            .collect();
        for _ in 0..15 {
            let mut stream = TcpStream::connect(server.address).await.unwrap();
            let _ = stream
                .write_all(&[beginning(), acknowledgement(), resets.clone()].concat())
                .await;
            // It may see an orderly end or a reset.
            let _ = stream.read_to_end(&mut Vec::new()).await;
        }
        server.client().await.solve(solve(PUZZLE)).await.unwrap();
        server.signal(Signal::TERM);
        assert_eq!(server.ended().await.0, Some(0));
        let log = fs::read_to_string(&path).unwrap();
        assert!(!log.contains("\"h2::"), "{log}");
        let floods = lines(&path, "a connection was turned away");
        match level {
            Some("warn") => assert_eq!(floods, [Value::Null; 0]),
            _ => assert!(!floods.is_empty() && floods.len() < 15, "{log}"),
        }
        assert!(floods.iter().all(|line| line["reason"] == "flood"), "{log}");
    }
}

#[tokio::test]
async fn failed_handshakes_of_tls_are_told_with_their_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let authority = Authority::new();
    let files = authority.server_arguments();
    let files = files.each_ref().map(String::as_str);
    let server = start(None, &files, &path);
    // Some of them have a line, and a later one tells of the others.
    let turned_away = || lines(&path, "a connection was turned away");
    let left_out = || {
        lines(
            &path,
            "connections that were turned away were left out of the log",
        )
    };
    until("some were left out", || async {
        for _ in 0..20 {
            let mut plain = TcpStream::connect(server.address).await.unwrap();
            let _ = plain.write_all(b"GET / HTTP/1.1\r\n\r\n").await;
            let _ = plain.read_to_end(&mut Vec::new()).await;
        }
        !left_out().is_empty()
    })
    .await;
    let line = turned_away().remove(0);
    assert_eq!((&line["level"], &line["reason"]), (&"INFO".into(), &"tls".into()));
    assert!(line["peer"].as_str().unwrap().starts_with("127.0.0.1:"), "{line}");
    assert!(line["error"].as_str().unwrap().contains("https://"), "{line}");
    assert_eq!(left_out()[0]["level"], "WARN");
}

#[tokio::test]
async fn variables_that_are_no_settings_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let server = start(None, &[], &path);
    server.signal(Signal::TERM);
    assert_eq!(server.ended().await.0, Some(0));
    let draining = lines(&path, "draining").remove(0);
    for count in ["solves", "streams", "messages"] {
        assert_eq!(draining[count], 0, "{draining}");
    }
    let unknown = lines(&path, "there is no setting of this variable");
    let [line] = unknown.as_slice() else {
        panic!("{unknown:?}");
    };
    assert_eq!(
        (&line["name"], &line["meant"]),
        (&"SUDOKU_MAX_SOLVE".into(), &"SUDOKU_MAX_SOLVES".into())
    );
}

#[tokio::test]
async fn failed_calls_are_logged_and_floods_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let server = start(None, &[], &path);
    let failed = || lines(&path, "a call failed");
    let mut client = server.client().await;
    client.solve(solve(PUZZLE)).await.unwrap();
    let mut request = Request::new(solve("a puzzle that is none"));
    let traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        .parse()
        .unwrap();
    request.metadata_mut().insert("traceparent", traceparent);
    client.solve(request).await.unwrap_err();
    until("it is logged", || async { failed().len() == 1 }).await;
    let line = failed().remove(0);
    assert_eq!(line["level"], "INFO");
    assert_eq!(
        (&line["service"], &line["method"]),
        (&"sudoku.v1.SudokuService".into(), &"Solve".into())
    );
    assert_eq!(line["code"], "InvalidArgument");
    assert_eq!(line["trace_id"], "4bf92f3577b34da6a3ce929d0e0e4736");
    assert!(line["peer"].as_str().unwrap().starts_with("127.0.0.1:"), "{line}");
    assert!(line["seconds"].as_f64().unwrap() > 0.0, "{line}");

    let mut calls = 1;
    let mut fail = async |count: u64| {
        for _ in 0..count {
            let status = client.solve(solve("a puzzle that is none")).await.unwrap_err();
            assert_eq!(status.code(), Code::InvalidArgument);
        }
        calls += count;
    };
    fail(500).await;
    let left_out = || {
        let told = lines(&path, "failed calls were left out of the log");
        let counts = told.iter().filter_map(|line| line["left_out"].as_u64());
        counts.sum::<u64>()
    };
    while left_out() == 0 {
        fail(1).await;
    }
    server.signal(Signal::TERM);
    assert_eq!(server.ended().await.0, Some(0));
    let logged = failed().len() as u64;
    assert!(logged < calls, "{logged} of {calls}");
    assert!(
        logged + left_out() <= calls,
        "{logged} and {} of {calls}",
        left_out()
    );
    assert!(!fs::read_to_string(&path).unwrap().contains("puzzle that is none"));
}
