//! Messages may come packed; then the answers are packed too, and the limits hold for what is unpacked.

mod support;

use sudoku_server::Settings;
use support::{PUZZLE, SOLUTION, Server, error_info, message, solve, soon};
use tonic::codec::CompressionEncoding::Gzip;
use tonic::metadata::MetadataValue;
use tonic::{Code, Request};

#[tokio::test]
async fn packed_both_ways() {
    let server = Server::start(Settings::default()).await;
    let mut client = server
        .client()
        .await
        .send_compressed(Gzip)
        .accept_compressed(Gzip);
    let response = client.solve(solve(PUZZLE)).await.unwrap();
    assert_eq!(response.metadata().get("grpc-encoding").unwrap(), "gzip");
    assert_eq!(response.into_inner().result.unwrap().solutions, [SOLUTION]);

    let messages = tokio_stream::iter(vec![message(vec![PUZZLE; 100]); 3]);
    let mut answers = client.solve_many(messages).await.unwrap().into_inner();
    for _ in 0..3 {
        let answer = soon(answers.message()).await.unwrap().unwrap();
        assert_eq!(answer.results.len(), 100);
    }
}

#[tokio::test]
async fn who_sends_plain_gets_plain() {
    let server = Server::start(Settings::default()).await;
    let mut client = server.client().await.accept_compressed(Gzip);
    let response = client.solve(solve(PUZZLE)).await.unwrap();
    assert!(response.metadata().get("grpc-encoding").is_none());
}

#[tokio::test]
async fn the_limits_hold_for_what_is_unpacked() {
    let server = Server::start(Settings::default()).await;
    let mut client = server.client().await.send_compressed(Gzip);
    let status = client.solve(solve(&"1".repeat(1_000_000))).await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted);
    let info = error_info(&status);
    assert_eq!(info.reason, "MESSAGE_TOO_LARGE");
    assert_eq!(info.metadata["limit"], "4096");

    let messages = tokio_stream::iter([message([PUZZLE]), message(["1".repeat(10_000_000)])]);
    let mut answers = client.solve_many(messages).await.unwrap().into_inner();
    soon(answers.message()).await.unwrap().unwrap();
    let info = error_info(&soon(answers.message()).await.unwrap_err());
    assert_eq!(info.reason, "MESSAGE_TOO_LARGE");
    assert_eq!(info.metadata["limit"], "524288");
    assert_eq!(info.metadata["message"], "1");
}

#[tokio::test]
async fn another_packing_is_refused_and_the_known_ones_are_named() {
    let server = Server::start(Settings::default()).await;
    let mut client = server.client().await;
    let zstd = || MetadataValue::from_static("zstd");
    let mut request = Request::new(solve(PUZZLE));
    request.metadata_mut().insert("grpc-encoding", zstd());
    let single = client.solve(request).await.map(|_| ()).unwrap_err();
    let mut request = Request::new(tokio_stream::iter([message([PUZZLE])]));
    request.metadata_mut().insert("grpc-encoding", zstd());
    let stream = soon(client.solve_many(request)).await.map(|_| ()).unwrap_err();
    for status in [single, stream] {
        assert_eq!(status.code(), Code::Unimplemented);
        assert_eq!(
            status.metadata().get("grpc-accept-encoding").unwrap(),
            "gzip,identity"
        );
    }
}
