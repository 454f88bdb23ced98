//! A server that is asked to end finishes what runs and refuses the rest.

mod support;

use std::time::Duration;

use sudoku_proto::v1::{GetServerInfoRequest, Outcome, SolveManyRequest, SolveRequest};
use sudoku_server::{Drained, Load, Settings};
use support::{
    EMPTY, PUZZLE, Server, endless, error_info, message, outcomes, patient, solve, soon, start_unread, until,
    with_time_limit,
};
use test_support::http2;
use tokio::net::TcpStream;
use tokio_stream::StreamExt;
use tonic::Code;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

#[tokio::test]
async fn an_idle_server_ends_at_once() {
    let server = Server::start(Settings::default()).await;
    let mut client = server.client().await;
    client.solve(solve(PUZZLE)).await.unwrap();
    server.drain();
    // The client is still connected.
    assert_eq!(server.ended().await, Drained::Finished);
}

#[tokio::test]
async fn a_call_that_runs_is_finished() {
    let server = Server::start(patient()).await;
    let mut client = server.client().await;
    let request = SolveRequest {
        puzzle: EMPTY.into(),
        options: Some(with_time_limit(Duration::from_millis(300))),
    };
    let call = tokio::spawn(async move { client.solve(request).await });
    until("the call runs", || server.service.load().solves == 1).await;
    server.drain();
    let result = soon(call).await.unwrap().unwrap().into_inner().result.unwrap();
    assert_eq!(result.outcome(), Outcome::Undecided);
    assert_eq!(server.ended().await, Drained::Finished);
}

#[tokio::test]
async fn a_stream_ends_after_the_answers_to_what_was_taken() {
    let server = Server::start(patient()).await;
    let mut client = server.client().await;
    let slow = SolveManyRequest {
        puzzles: vec![EMPTY.into()],
        options: Some(with_time_limit(Duration::from_millis(100))),
    };
    let messages = tokio_stream::iter(vec![slow; 3]).chain(tokio_stream::pending());
    let mut answers = soon(client.solve_many(messages)).await.unwrap().into_inner();
    until("the messages are taken", || server.service.load().messages == 3).await;
    server.drain();
    for _ in 0..3 {
        let answer = soon(answers.message()).await.unwrap().unwrap();
        assert_eq!(outcomes(&answer.results), [Outcome::Undecided]);
    }
    let status = soon(answers.message()).await.unwrap_err();
    assert_eq!(status.code(), Code::Unavailable);
    assert_eq!(error_info(&status).reason, "DRAINING");
    assert_eq!(server.ended().await, Drained::Finished);
}

#[tokio::test]
async fn a_stream_that_is_idle_ends() {
    let server = Server::start(Settings::default()).await;
    let mut client = server.client().await;
    let mut answers = soon(client.solve_many(tokio_stream::pending()))
        .await
        .unwrap()
        .into_inner();
    server.drain();
    let status = soon(answers.message()).await.unwrap_err();
    assert_eq!(error_info(&status).reason, "DRAINING");
    assert_eq!(server.ended().await, Drained::Finished);
}

#[tokio::test]
async fn new_calls_are_refused_and_health_says_why() {
    let server = Server::start(patient()).await;
    let mut client = server.client().await;
    let call = tokio::spawn(async move { client.solve(endless()).await });
    until("the call runs", || server.service.load().solves == 1).await;
    server.drain();

    // Clients that connect now learn what is going on.
    let channel = server.channel().await;
    let mut health = HealthClient::new(channel.clone());
    let mut says = ServingStatus::Serving;
    while says == ServingStatus::Serving {
        says = soon(health.check(HealthCheckRequest::default()))
            .await
            .unwrap()
            .into_inner()
            .status();
    }
    assert_eq!(says, ServingStatus::NotServing);

    let mut late = server.client().await;
    let refused = [
        late.solve(solve(PUZZLE)).await.unwrap_err(),
        late.solve_many(tokio_stream::iter([message([PUZZLE])]))
            .await
            .unwrap_err(),
        late.get_server_info(GetServerInfoRequest {}).await.unwrap_err(),
    ];
    for status in refused {
        assert_eq!(status.code(), Code::Unavailable);
        assert_eq!(error_info(&status).reason, "DRAINING");
    }
    call.abort();
    assert_eq!(server.ended().await, Drained::Finished);
}

/// It would learn nothing from being sent away again.
#[tokio::test]
async fn a_connection_that_comes_during_a_drain_is_served() {
    let server = Server::start(patient()).await;
    let mut client = server.client().await;
    let call = tokio::spawn(async move { client.solve(endless()).await });
    until("the call runs", || server.service.load().solves == 1).await;
    server.drain();
    let mut late = server.client().await;
    while late.solve(solve(PUZZLE)).await.is_ok() {}

    let tcp = TcpStream::connect(server.address).await.unwrap();
    let (mut requests, mut connection) = soon(h2::client::handshake(tcp)).await.unwrap();
    let mut pings = connection.ping_pong().unwrap();
    tokio::spawn(connection);
    // A server that sends a client away does so before it answers these.
    for _ in 0..3 {
        soon(pings.ping(h2::Ping::opaque())).await.unwrap();
    }
    let request = http::Request::post(format!("http://{}{}", server.address, http2::SOLVE))
        .header("content-type", "application/grpc")
        .header("te", "trailers");
    let (answer, _) = requests.send_request(request.body(()).unwrap(), true).unwrap();
    let answer = soon(answer).await.unwrap();
    assert_eq!(answer.headers()["grpc-status"], "14");
    call.abort();
    assert_eq!(server.ended().await, Drained::Finished);
}

#[tokio::test]
async fn the_deadline_ends_what_still_runs() {
    let settings = Settings {
        drain_deadline: Duration::from_millis(50),
        ..patient()
    };
    let server = Server::start(settings).await;
    let mut client = server.client().await;
    let call = tokio::spawn(async move { client.solve(endless()).await });
    until("the call runs", || server.service.load().solves == 1).await;
    server.drain();
    let service = server.service.clone();
    assert_eq!(server.ended().await, Drained::CutOff);
    soon(call).await.unwrap().unwrap_err();
    until("the search is gone", || service.load().solves == 0).await;
}

#[tokio::test]
async fn the_deadline_ends_streams_that_cannot_send() {
    let settings = Settings {
        drain_deadline: Duration::from_millis(50),
        ..Settings::default()
    };
    let server = Server::start(settings).await;
    let _unread = start_unread(&server, None).await;
    server.drain();
    let service = server.service.clone();
    assert_eq!(server.ended().await, Drained::CutOff);
    until("nothing is left of it", || service.load() == Load::default()).await;
}
