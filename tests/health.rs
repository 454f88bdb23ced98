//! The standard health service tells the server's real state.

mod support;

use sudoku_server::{Drained, Settings};
use support::{Server, soon};
use tonic::Code;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

fn about(service: &str) -> HealthCheckRequest {
    HealthCheckRequest {
        service: service.into(),
    }
}

#[tokio::test]
async fn a_server_that_takes_calls_is_serving() {
    let server = Server::start(Settings::default()).await;
    let mut health = HealthClient::new(server.channel().await);
    for name in ["", "sudoku.v1.SudokuService"] {
        let response = health.check(about(name)).await.unwrap().into_inner();
        assert_eq!(response.status(), ServingStatus::Serving);
    }
    let status = health.check(about("chess.v1.ChessService")).await.unwrap_err();
    assert_eq!(status.code(), Code::NotFound);
}

#[tokio::test]
async fn watchers_see_the_end() {
    let server = Server::start(Settings::default()).await;
    let mut health = HealthClient::new(server.channel().await);
    let mut watch = health
        .watch(about("sudoku.v1.SudokuService"))
        .await
        .unwrap()
        .into_inner();
    let first = soon(watch.message()).await.unwrap().unwrap();
    assert_eq!(first.status(), ServingStatus::Serving);

    server.drain();
    let second = soon(watch.message()).await.unwrap().unwrap();
    assert_eq!(second.status(), ServingStatus::NotServing);
    // A watch does not keep the server from ending.
    assert_eq!(soon(watch.message()).await.unwrap(), None);
    assert_eq!(server.ended().await, Drained::Finished);
}
