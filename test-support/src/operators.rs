//! A server's port for operators.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::TcpStream;

/// Status and body of the answer to a GET.
pub fn get(address: &str, path: &str) -> (u16, String) {
    request(
        address,
        &format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"),
    )
}

/// Status and body of the answer to a request.
pub fn request(address: &str, request: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

/// The metrics, by name and labels as they are written.
pub fn metrics(address: &str) -> HashMap<String, f64> {
    let (status, text) = get(address, "/metrics");
    assert_eq!(status, 200);
    assert!(text.ends_with("# EOF\n"), "{text}");
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    samples
        .map(|line| {
            let (name, value) = line.rsplit_once(' ').unwrap();
            (name.to_owned(), value.parse().unwrap())
        })
        .collect()
}
