//! The log: a line a failed call, but few of a flood.
#![cfg(unix)]

mod support;

use std::fs::{self, File};

use serde_json::Value;
use support::{PUZZLE, Server, command, solve, until};
use tonic::{Code, Request};

#[tokio::test]
async fn failed_calls_are_logged_and_floods_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let mut command = command();
    command.args(["--listen=127.0.0.1:0", "--log-format=json"]);
    let server = Server::spawn_with_log(&mut command, File::create(&path).unwrap());
    let lines = || -> Vec<Value> {
        let log = fs::read_to_string(&path).unwrap();
        // The last line may not be complete yet.
        let complete = log.rsplit_once('\n').map_or("", |(complete, _)| complete);
        complete
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let failed = || -> Vec<Value> {
        let failed = |line: &Value| line["message"] == "a call failed";
        lines().into_iter().filter(failed).collect()
    };
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
        lines()
            .iter()
            .filter_map(|line| line["left_out"].as_u64())
            .sum::<u64>()
    };
    while left_out() == 0 {
        fail(1).await;
    }
    server.signal("TERM");
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
