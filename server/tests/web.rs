//! gRPC-Web from pages of listed origins, as browsers speak it: HTTP/1.1, with a question in advance.
#![cfg(unix)]

mod support;

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;

use support::{PUZZLE, Server, Signal, solve};

const ORIGIN: &str = "https://sudoku.example";

/// The head of the answer in lower case, and its body.
fn send(server: &Server, head: &str, body: &[u8]) -> (String, Vec<u8>) {
    let mut stream = TcpStream::connect(server.address).unwrap();
    let length = body.len();
    let head = format!("{head}host: localhost\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n");
    stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap();
    let body = answer.split_off(end + 4);
    (String::from_utf8(answer).unwrap().to_lowercase(), body)
}

fn preflight(server: &Server, origin: &str) -> String {
    let head = format!(
        "OPTIONS /sudoku.v1.SudokuService/Solve HTTP/1.1\r\norigin: {origin}\r\n\
         access-control-request-method: POST\r\naccess-control-request-headers: content-type,x-grpc-web\r\n"
    );
    send(server, &head, b"").0
}

fn call(server: &Server, origin: &str, token: Option<&str>) -> (String, Vec<u8>) {
    let mut head = format!(
        "POST /sudoku.v1.SudokuService/Solve HTTP/1.1\r\norigin: {origin}\r\n\
         content-type: application/grpc-web+proto\r\nx-grpc-web: 1\r\n"
    );
    if let Some(token) = token {
        head += &format!("authorization: Bearer {token}\r\n");
    }
    // Field 1 with the puzzle, after the five bytes before a message.
    let mut message = vec![0, 0, 0, 0, 83, 0x0a, 81];
    message.extend(PUZZLE.as_bytes());
    send(server, &head, &message)
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|part| part == text.as_bytes())
}

#[tokio::test]
async fn pages_of_listed_origins_may_call() {
    let server = Server::start(&["--web-origin", ORIGIN]);
    let allowed = format!("access-control-allow-origin: {ORIGIN}\r\n");
    let head = preflight(&server, ORIGIN);
    assert!(head.starts_with("http/1.1 200"), "{head}");
    assert!(head.contains(&allowed), "{head}");
    assert!(
        head.contains("access-control-allow-headers:") && head.contains("x-grpc-web"),
        "{head}"
    );

    let (head, body) = call(&server, ORIGIN, None);
    assert!(head.contains(&allowed), "{head}");
    assert!(
        head.contains("access-control-expose-headers: grpc-status"),
        "{head}"
    );
    assert!(contains(&body, "534678912"), "the solution");
    assert!(contains(&body, "grpc-status:0"), "the trailers");

    // The others call as ever.
    server.client().await.solve(solve(PUZZLE)).await.unwrap();
    server.signal(Signal::TERM);
    assert_eq!(server.ended().await.0, Some(0));
}

#[test]
fn pages_of_other_origins_may_not() {
    let server = Server::start(&["--web-origin", ORIGIN]);
    for origin in [
        "https://other.example",
        "https://sudoku.example:8443",
        "http://sudoku.example",
        "null",
    ] {
        assert!(
            !preflight(&server, origin).contains("access-control-allow-origin"),
            "{origin}"
        );
        let (head, _) = call(&server, origin, None);
        assert!(!head.contains("access-control-allow-origin"), "{origin}");
    }
}

#[test]
fn the_token_is_asked_of_calls_and_not_in_advance() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("tokens");
    // The digest of "secret".
    let digest = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
    fs::write(&tokens, format!("page {digest}\n")).unwrap();
    let server = Server::start(&["--web-origin", ORIGIN, "--token-file", tokens.to_str().unwrap()]);
    let allowed = format!("access-control-allow-origin: {ORIGIN}\r\n");
    assert!(preflight(&server, ORIGIN).contains(&allowed));
    let (head, body) = call(&server, ORIGIN, Some("secret"));
    assert!(contains(&body, "grpc-status:0"), "{head}");
    // Scripts can read why they were refused.
    let (head, _) = call(&server, ORIGIN, Some("wrong"));
    assert!(
        head.contains(&allowed) && head.contains("grpc-status: 16"),
        "{head}"
    );
}

#[test]
fn what_is_no_origin_is_refused() {
    for origin in ["*", "sudoku.example", "https://sudoku.example/"] {
        let text = support::refused(support::command().args(["--web-origin", origin]));
        assert!(text.contains("--web-origin"), "{text}");
    }
}
