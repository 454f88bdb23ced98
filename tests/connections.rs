//! Connections are bounded in number, and none can hold the server up.

mod support;

use std::time::Duration;

use sudoku_proto::v1::SolveManyRequest;
use sudoku_proto::v1::sudoku_service_client::SudokuServiceClient;
use sudoku_server::{Drained, Rejection, Settings};
use support::{PUZZLE, Server, error_info, message, solve, soon, until};
use test_support::http2::{
    CANCEL, DATA, RST_STREAM, SOLVE, SOLVE_MANY, acknowledgement, beginning, call, frame,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Code;
use tonic::transport::Endpoint;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_types::StatusExt;

#[tokio::test]
async fn one_too_many_is_closed_at_once() {
    let settings = Settings {
        max_connections: 1,
        ..Settings::default()
    };
    let server = Server::start(settings).await;
    let mut first = server.client().await;
    first.solve(solve(PUZZLE)).await.unwrap();

    let mut second = TcpStream::connect(server.address).await.unwrap();
    assert!(is_closed(&mut second).await);
    assert_eq!(server.service.rejected(Rejection::ConnectionLimit), 1);
    first.solve(solve(PUZZLE)).await.unwrap();

    drop(first);
    until_solved(&server).await;
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
async fn a_client_that_does_not_go_does_not_keep_the_server_from_ending() {
    let server = Server::start(Settings::default()).await;
    let mut stubborn = TcpStream::connect(server.address).await.unwrap();
    let bytes = [beginning(), acknowledgement(), call(1, SOLVE)].concat();
    stubborn.write_all(&bytes).await.unwrap();
    until("its call runs", || server.service.calls() == 1).await;
    stubborn
        .write_all(&frame(RST_STREAM, 0, 1, &CANCEL))
        .await
        .unwrap();
    until("its call is over", || server.service.calls() == 0).await;
    server.drain();
    // It never says that it has seen that it is to go.
    assert_eq!(server.ended().await, Drained::Finished);
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

/// Whether the server closes a connection, by an end or a reset, instead of waiting for more.
async fn is_closed(stream: &mut TcpStream) -> bool {
    let mut buffer = [0; 4_096];
    loop {
        match soon(stream.read(&mut buffer)).await {
            Ok(0) | Err(_) => return true,
            Ok(_) => {}
        }
    }
}

/// Waits until a new connection is served.
async fn until_solved(server: &Server) {
    let solved = async {
        loop {
            let endpoint = Endpoint::from_shared(format!("http://{}", server.address)).unwrap();
            if let Ok(channel) = endpoint.connect().await
                && SudokuServiceClient::new(channel)
                    .solve(solve(PUZZLE))
                    .await
                    .is_ok()
            {
                return;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    soon(solved).await;
}

#[tokio::test]
async fn who_does_not_begin_is_hung_up_on() {
    let settings = Settings {
        handshake_timeout: Duration::from_millis(50),
        ..Settings::default()
    };
    let server = Server::start(settings).await;
    let mut half = beginning();
    half.truncate(10);
    // Nothing at all; half of the preface; and no acknowledgement of the server's settings.
    for (count, bytes) in (1..).zip([Vec::new(), half, beginning()]) {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        stream.write_all(&bytes).await.unwrap();
        assert!(is_closed(&mut stream).await);
        until("it is counted", || {
            server.service.rejected(Rejection::Handshake) == count
        })
        .await;
    }
    let mut client = server.client().await;
    client.solve(solve(PUZZLE)).await.unwrap();
}

#[tokio::test]
async fn who_does_not_answer_pings_is_hung_up_on() {
    let settings = Settings {
        keepalive_interval: Duration::from_millis(30),
        keepalive_timeout: Duration::from_millis(30),
        ..Settings::default()
    };
    let server = Server::start(settings).await;
    let mut client = server.client().await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let bytes = [beginning(), acknowledgement()].concat();
    stream.write_all(&bytes).await.unwrap();
    assert!(is_closed(&mut stream).await);
    until("it is counted", || {
        server.service.rejected(Rejection::Unresponsive) == 1
    })
    .await;
    // This one answers.
    client.solve(solve(PUZZLE)).await.unwrap();
}

#[tokio::test]
async fn a_connection_without_calls_is_closed() {
    let settings = Settings {
        max_connection_idle: Duration::from_millis(50),
        ..Settings::default()
    };
    let server = Server::start(settings).await;
    let mut busy = server.client().await;
    let (send, messages) = mpsc::channel(1);
    let stream = busy.solve_many(ReceiverStream::new(messages)).await.unwrap();
    let mut answers = stream.into_inner();

    let mut idle = server.client().await;
    for count in 1..3 {
        // The client connects anew by itself.
        idle.solve(solve(PUZZLE)).await.unwrap();
        until("it is counted", || {
            server.service.rejected(Rejection::Idle) == count
        })
        .await;
    }
    // A call that is open counts, though nothing was sent.
    send.send(message([PUZZLE])).await.unwrap();
    soon(answers.message()).await.unwrap().unwrap();
}

#[tokio::test]
async fn an_old_connection_is_ended_with_goaway_and_its_calls_go_on() {
    let settings = Settings {
        max_connection_age: Duration::from_millis(100),
        ..Settings::default()
    };
    let server = Server::start(settings).await;
    let tcp = TcpStream::connect(server.address).await.unwrap();
    let (mut requests, connection) = soon(h2::client::handshake(tcp)).await.unwrap();
    let connection = tokio::spawn(connection);
    let request = || {
        let uri = format!("http://{}/sudoku.v1.SudokuService/SolveMany", server.address);
        http::Request::post(uri)
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .body(())
            .unwrap()
    };
    let (response, mut body) = requests.send_request(request(), false).unwrap();
    soon(response).await.unwrap();
    // GOAWAY without an error: no more calls here, and nothing happens to the one that runs.
    let mut poll = std::task::Context::from_waker(std::task::Waker::noop());
    until("no more calls are taken", || {
        matches!(requests.poll_ready(&mut poll), std::task::Poll::Ready(Err(_)))
    })
    .await;
    assert!(!connection.is_finished());
    body.send_data(bytes::Bytes::new(), true).unwrap();
    soon(connection).await.unwrap().unwrap();
    // Clients connect anew.
    until_solved(&server).await;
}

#[tokio::test]
async fn floods_are_cut_off() {
    let server = Server::start(Settings::default()).await;
    let tiny: Vec<u8> = (0..50_000).flat_map(|_| frame(DATA, 0, 1, b"x")).collect();
    let resets: Vec<u8> = (0..20_000)
        .map(|number| 2 * number + 1)
        .flat_map(|stream| [call(stream, SOLVE_MANY), frame(RST_STREAM, 0, stream, &CANCEL)].concat())
        .collect();
    for (count, flood) in (1..).zip([[call(1, SOLVE_MANY), tiny].concat(), resets]) {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        let begin = [beginning(), acknowledgement()].concat();
        stream.write_all(&begin).await.unwrap();
        // It may be cut off while it sends.
        let _ = soon(stream.write_all(&flood)).await;
        assert!(is_closed(&mut stream).await);
        until("it is counted", || {
            server.service.rejected(Rejection::Flood) == count
        })
        .await;
    }
    until("nothing is left", || server.service.load() == Default::default()).await;
    server.client().await.solve(solve(PUZZLE)).await.unwrap();
}

#[tokio::test]
async fn clients_are_told_how_many_calls_a_connection_may_have() {
    let settings = Settings {
        max_streams_per_connection: 3,
        ..Settings::default()
    };
    let server = Server::start(settings).await;
    let tcp = TcpStream::connect(server.address).await.unwrap();
    let (requests, mut connection) = soon(h2::client::handshake(tcp)).await.unwrap();
    let told = std::future::poll_fn(|cx| {
        let _ = std::pin::Pin::new(&mut connection).poll(cx);
        match connection.max_concurrent_send_streams() {
            3 => std::task::Poll::Ready(()),
            _ => std::task::Poll::Pending,
        }
    });
    soon(told).await;
    drop(requests);
}

#[tokio::test]
async fn one_call_too_many_is_refused_whatever_its_method() {
    // One place for health, one for reflection, and one for others.
    let settings = Settings {
        max_calls: 3,
        ..Settings::default()
    };
    let server = Server::start(settings).await;
    let mut health = HealthClient::new(server.channel().await);
    let watched = health.watch(HealthCheckRequest::default()).await.unwrap();
    let mut client = server.client().await;
    let (messages, receiver) = mpsc::channel::<SolveManyRequest>(1);
    let stream = client.solve_many(ReceiverStream::new(receiver)).await.unwrap();
    let refused = [
        client.solve(solve(PUZZLE)).await.unwrap_err(),
        health.check(HealthCheckRequest::default()).await.unwrap_err(),
    ];
    for status in refused {
        assert_eq!(status.code(), Code::ResourceExhausted);
        assert_eq!(error_info(&status).reason, "OVERLOADED");
        assert!(status.get_details_retry_info().is_some());
    }
    assert_eq!(server.service.rejected(Rejection::Overloaded), 2);
    drop((watched, stream, messages));
    until_solved(&server).await;
}

#[tokio::test]
async fn calls_of_health_take_no_places_from_others() {
    let settings = Settings {
        max_calls: 16,
        ..Settings::default()
    };
    let server = Server::start(settings).await;
    let mut health = HealthClient::new(server.channel().await);
    let mut watching = Vec::new();
    let refused = loop {
        match health.watch(HealthCheckRequest::default()).await {
            Ok(watched) => watching.push(watched),
            Err(status) => break status,
        }
    };
    assert_eq!(refused.code(), Code::ResourceExhausted);
    assert_eq!(watching.len(), 2);
    let mut client = server.client().await;
    client.solve(solve(PUZZLE)).await.unwrap();
}

#[tokio::test]
async fn calls_of_reflection_have_few_places_and_take_none_from_others() {
    let settings = Settings {
        max_calls: 256,
        ..Settings::default()
    };
    let server = Server::start(settings).await;
    let mut reflection = ServerReflectionClient::new(server.channel().await);
    let mut open = Vec::new();
    let refused = loop {
        match soon(reflection.server_reflection_info(tokio_stream::pending())).await {
            Ok(answers) => open.push(answers),
            Err(status) => break status,
        }
    };
    assert_eq!(refused.code(), Code::ResourceExhausted);
    assert_eq!(open.len(), 2);
    let mut client = server.client().await;
    client.solve(solve(PUZZLE)).await.unwrap();
}
