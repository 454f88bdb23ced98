//! Connections are bounded in number, and none can hold the server up.

mod support;

use sudoku_server::{Drained, Settings};
use support::{PUZZLE, Server, solve, soon, until};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

#[tokio::test]
async fn one_too_many_waits() {
    let settings = Settings {
        max_connections: 1,
        ..Settings::default()
    };
    let server = Server::start(settings).await;
    let mut first = server.client().await;
    first.solve(solve(PUZZLE)).await.unwrap();

    // The kernel completes the connection; the server does not take it yet.
    let channel = tokio::spawn({
        let address = server.address;
        async move {
            let endpoint = tonic::transport::Endpoint::from_shared(format!("http://{address}")).unwrap();
            let channel = endpoint.connect().await.unwrap();
            let mut client = sudoku_proto::v1::sudoku_service_client::SudokuServiceClient::new(channel);
            client.solve(solve(PUZZLE)).await
        }
    });
    for _ in 0..100 {
        first.solve(solve(PUZZLE)).await.unwrap();
    }
    assert!(!channel.is_finished());
    drop(first);
    soon(channel).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_silent_connection_does_not_keep_the_server_from_ending() {
    let server = Server::start(Settings::default()).await;
    let mut silent = TcpStream::connect(server.address).await.unwrap();
    // Another call shows that the connections before it have been accepted.
    server.client().await.solve(solve(PUZZLE)).await.unwrap();
    server.drain();
    assert_eq!(server.ended().await, Drained::Finished);
    assert_eq!(soon(silent.read(&mut [0; 1])).await.unwrap(), 0);
}

#[tokio::test]
async fn what_is_no_http2_is_hung_up_on() {
    let server = Server::start(Settings::default()).await;
    let mut other = TcpStream::connect(server.address).await.unwrap();
    other
        .write_all(b"GET /index.html HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .await
        .unwrap();
    let mut answer = Vec::new();
    // It may see an orderly end or a reset.
    let _ = soon(other.read_to_end(&mut answer)).await;
    server.client().await.solve(solve(PUZZLE)).await.unwrap();
}

#[tokio::test]
async fn a_client_may_come_and_go() {
    let server = Server::start(Settings::default()).await;
    for _ in 0..50 {
        server.client().await.solve(solve(PUZZLE)).await.unwrap();
    }
    until("nothing is left", || server.service.load() == Default::default()).await;
}
