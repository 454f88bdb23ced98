//! With `--endpoint` the puzzles go to a server.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::Stdio;

use crate::server::Server;
use crate::support::{
    OTHER, SHORT, TWO, UNIQUE, UNIQUE_SOLVED, answer, client, failure, lines, raw_client, solve, text,
};

#[test]
fn a_server_gives_the_same_answers() {
    let server = Server::start();
    let input = lines(&[UNIQUE, SHORT, TWO, OTHER]);
    let here = answer(solve().write_stdin(input.as_str()));
    let by_option = answer(
        solve()
            .args(["--endpoint", &server.endpoint])
            .write_stdin(input.as_str()),
    );
    assert_eq!(by_option, here);
    let by_variable = answer(
        solve()
            .env("SUDOKU_ENDPOINT", &server.endpoint)
            .write_stdin(input),
    );
    assert_eq!(by_variable, here);
}

#[test]
fn a_server_that_cannot_be_reached_is_3() {
    // Nothing can listen at port 1 without the system's consent.
    let (error, status) = failure(solve().args(["--endpoint", "http://127.0.0.1:1", UNIQUE]));
    assert_eq!(status, 3, "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(
        error.starts_with("sudoku-client: http://127.0.0.1:1: no connection"),
        "{error}"
    );
}

#[test]
fn a_server_that_breaks_off_is_3() {
    let mut server = Server::start();
    let mut client = raw_client()
        .args(["solve", "--endpoint", &server.endpoint])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = client.stdin.take().unwrap();
    let mut answers = BufReader::new(client.stdout.take().unwrap()).lines();
    writeln!(input, "{UNIQUE}").unwrap();
    assert_eq!(answers.next().unwrap().unwrap(), UNIQUE_SOLVED);
    server.process.kill();
    // A client that has noticed takes no more.
    let _ = writeln!(input, "{OTHER}");
    let output = client.wait_with_output().unwrap();
    let error = text(output.stderr);
    assert_eq!(output.status.code(), Some(3), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(error.contains("stopped after 1 outcome: "), "{error}");
}

#[test]
fn an_endpoint_with_more_than_is_supported_is_2() {
    // Else the password would leave unencrypted.
    for endpoint in ["ftp://127.0.0.1:1", "http://user:password@127.0.0.1:1"] {
        let (error, status) = failure(solve().args(["--endpoint", endpoint, UNIQUE]));
        assert_eq!(status, 2, "{error}");
        assert!(error.ends_with("supported\n"), "{error}");
    }
}

#[test]
fn an_empty_variable_says_nothing() {
    let mut command = solve();
    for name in [
        "ENDPOINT",
        "CA",
        "CERT",
        "KEY",
        "SERVER_NAME",
        "TOKEN",
        "CLIENT_CONFIG",
        "SIMD",
    ] {
        command.env(format!("SUDOKU_{name}"), "");
    }
    assert_eq!(answer(command.arg(UNIQUE)), (lines(&[UNIQUE_SOLVED]), 0));
    // As for a server.
    let answers = answer(solve().arg(UNIQUE).env("SUDOKU_SIMD", "auto"));
    assert_eq!(answers, (lines(&[UNIQUE_SOLVED]), 0));
}

#[test]
fn what_the_server_does_not_allow_is_2() {
    let server = Server::start();
    let arguments = ["--endpoint", &server.endpoint, "--limit", "10001", UNIQUE];
    let (error, status) = failure(solve().args(arguments));
    assert_eq!(status, 2, "{error}");
}

#[test]
fn a_ping_tells_what_a_server_is() {
    let server = Server::start();
    for command in [
        client().args(["ping", "--count", "3", &server.endpoint]),
        client()
            .args(["ping", "--count", "3"])
            .env("SUDOKU_ENDPOINT", &server.endpoint),
    ] {
        let (shown, status) = answer(command);
        assert_eq!(status, 0, "{shown}");
        let start: Vec<&str> = shown.lines().take(7).collect();
        let expected = [
            &format!("endpoint    {}", server.endpoint),
            "health      serving",
            concat!("version     ", env!("CARGO_PKG_VERSION")),
            "puzzles     2048 a message",
            "bytes       524288 a message",
            "solutions   10000 a puzzle",
            "time        1m a puzzle",
        ];
        assert_eq!(start, expected);
        let round_trip = shown.lines().nth(7).unwrap();
        assert!(
            round_trip.starts_with("round trip  ") && round_trip.ends_with(" ms in 3 calls"),
            "{round_trip}"
        );
    }
}

#[test]
fn a_ping_of_nobody_is_3_and_of_nothing_2() {
    let (error, status) = failure(client().args(["ping", "http://127.0.0.1:1"]));
    assert_eq!(status, 3, "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(
        error.starts_with("sudoku-client: http://127.0.0.1:1: no connection"),
        "{error}"
    );
    assert_eq!(failure(client().arg("ping")).1, 2);
    assert_eq!(failure(client().args(["ping", "not an endpoint"])).1, 2);
    assert_eq!(
        failure(client().args(["ping", "127.0.0.1:1", "--timeout", "0s"])).1,
        2
    );
}

#[test]
fn a_ping_of_somebody_silent_ends_when_it_should() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = silent.local_addr().unwrap().to_string();
    let (error, status) = failure(client().args(["ping", &endpoint, "--timeout", "100ms"]));
    assert_eq!(status, 3, "{error}");
    assert!(error.contains("deadline") || error.contains("time"), "{error}");
}
