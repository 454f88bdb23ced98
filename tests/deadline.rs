//! A call's deadline ends it, from inside a search, with the status of the contract, and whatever its client does.

mod support;

use std::time::Duration;

use sudoku_proto::v1::sudoku_service_client::SudokuServiceClient;
use sudoku_proto::v1::{Outcome, SolveRequest, SolveResponse};
use sudoku_server::{Drained, Load, Settings, in_process};
use support::{
    PUZZLE, Server, endless, endless_message, error_info, message, outcomes, patient, solve, soon,
    start_unread, until,
};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::metadata::MetadataValue;
use tonic::{Code, Request};

/// A request with the header only: tonic's client would enforce its own timeout, and hide the server's.
fn with_deadline<T>(message: T, timeout: &'static str) -> Request<T> {
    let mut request = Request::new(message);
    request
        .metadata_mut()
        .insert("grpc-timeout", MetadataValue::from_static(timeout));
    request
}

#[tokio::test]
async fn a_search_ends_at_the_deadline() {
    // In-process there is no transport on the client's side that would answer first.
    let mut client = SudokuServiceClient::new(in_process(patient()).unwrap());
    let status = soon(client.solve(with_deadline(endless(), "5m")))
        .await
        .unwrap_err();
    assert_eq!(status.code(), Code::DeadlineExceeded);
    assert_eq!(error_info(&status).reason, "DEADLINE");
}

#[tokio::test]
async fn the_server_stops_by_itself() {
    let server = Server::start(patient()).await;
    let mut client = server.client().await;
    let status = soon(client.solve(with_deadline(endless(), "50m")))
        .await
        .unwrap_err();
    // Whether the client or the server sees it first.
    assert!(
        [Code::DeadlineExceeded, Code::Cancelled].contains(&status.code()),
        "{status:?}"
    );
    until("the search is gone", || server.service.load().solves == 0).await;
}

#[tokio::test]
async fn nothing_is_kept_until_the_deadline_of_a_stream_that_is_over() {
    let server = Server::start(Settings::default()).await;
    let mut client = server.client().await;
    let messages = tokio_stream::iter([message([PUZZLE])]);
    let answers = client.solve_many(with_deadline(messages, "1H")).await;
    let mut answers = answers.unwrap().into_inner();
    while soon(answers.message()).await.unwrap().is_some() {}
    until("nothing is left of it", || {
        server.service.load() == Load::default()
    })
    .await;
}

#[tokio::test]
async fn a_deadline_that_has_passed_ends_an_easy_call_too() {
    let mut client = SudokuServiceClient::new(in_process(Settings::default()).unwrap());
    let status = client
        .solve(with_deadline(solve(PUZZLE), "0n"))
        .await
        .unwrap_err();
    assert_eq!(error_info(&status).reason, "DEADLINE");
}

#[tokio::test]
async fn a_deadline_that_is_none() {
    let mut client = SudokuServiceClient::new(in_process(Settings::default()).unwrap());
    let status = client
        .solve(with_deadline(solve(PUZZLE), "soon"))
        .await
        .unwrap_err();
    assert_eq!(status.code(), Code::Internal);
    assert!(status.message().contains("grpc-timeout"), "{status:?}");
}

#[tokio::test]
async fn a_stream_gives_what_is_ready_and_ends() {
    let mut client = SudokuServiceClient::new(in_process(patient()).unwrap());
    let messages = vec![message([PUZZLE]), endless_message(), message([PUZZLE])];
    let request = with_deadline(tokio_stream::iter(messages), "300m");
    let mut answers = soon(client.solve_many(request)).await.unwrap().into_inner();

    let first = soon(answers.message()).await.unwrap().unwrap();
    assert_eq!(outcomes(&first.results), [Outcome::Unique]);
    let status = soon(answers.message()).await.unwrap_err();
    assert_eq!(status.code(), Code::DeadlineExceeded);
    assert_eq!(error_info(&status).reason, "DEADLINE");
}

#[tokio::test]
async fn an_idle_stream_ends_at_the_deadline() {
    let mut client = SudokuServiceClient::new(in_process(Settings::default()).unwrap());
    let (_open, messages) = mpsc::channel(1);
    let request = with_deadline(ReceiverStream::new(messages), "20m");
    let mut answers = soon(client.solve_many(request)).await.unwrap().into_inner();
    let status = soon(answers.message()).await.unwrap_err();
    assert_eq!(error_info(&status).reason, "DEADLINE");
}

#[tokio::test]
async fn the_threads_stop_though_nobody_reads() {
    let server = Server::start(patient()).await;
    let mut client = server.client().await;
    let (open, messages) = mpsc::channel(1);
    let request = with_deadline(ReceiverStream::new(messages), "500m");
    let _unread = soon(client.solve_many(request)).await.unwrap();
    open.send(endless_message()).await.unwrap();
    until("the threads are idle", || {
        let load = server.service.load();
        load.busy_threads == 0 && load.waiting == 0 && load.streams == 0
    })
    .await;
}

#[tokio::test]
async fn a_stream_that_cannot_send_is_over_too() {
    let server = Server::start(Settings::default()).await;
    let mut answers = start_unread(&server, Some("500m")).await;
    until("nothing is left of it", || {
        server.service.load() == Load::default()
    })
    .await;

    // Whoever reads after all is told, after what was on its way.
    let status = loop {
        match soon(answers.message()).await {
            Ok(answer) => assert_eq!(answer.unwrap().results.len(), 500),
            Err(status) => break status,
        }
    };
    assert_eq!(status.code(), Code::DeadlineExceeded);
    assert_eq!(error_info(&status).reason, "DEADLINE");
}

#[tokio::test]
async fn a_stream_that_cannot_send_and_is_over_does_not_hold_up_a_drain() {
    let server = Server::start(Settings::default()).await;
    let _unread = start_unread(&server, Some("500m")).await;
    server.drain();
    assert_eq!(server.ended().await, Drained::Finished);
}

#[tokio::test]
async fn a_request_that_does_not_come() {
    let settings = Settings {
        request_deadline: Duration::from_millis(20),
        ..Settings::default()
    };
    let server = Server::start(settings).await;
    // A client that speaks of a stream, to leave the one message out that the method waits for.
    let mut client = tonic::client::Grpc::new(server.channel().await);
    client.ready().await.unwrap();
    let codec: tonic_prost::ProstCodec<SolveRequest, SolveResponse> = tonic_prost::ProstCodec::default();
    let path = tonic::codegen::http::uri::PathAndQuery::from_static("/sudoku.v1.SudokuService/Solve");
    let call = client.client_streaming(Request::new(tokio_stream::pending()), path, codec);
    let status = soon(call).await.unwrap_err();
    assert_eq!(status.code(), Code::DeadlineExceeded);
    assert_eq!(error_info(&status).reason, "DEADLINE");
    assert!(status.message().contains("20ms"), "{status:?}");
}
