//! How the SDK's calls end when the other side does not play along: every error typed, and a stream's says how far it
//! got.

mod common;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::server::Server;
use common::{EASY, assert_solves, chain, collect, failed, grid, interrupted, puzzle, until};
use sudoku_client::{Error, Grid, Reason, SudokuClient};
use sudoku_server::{Drained, Service, Settings};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use tonic::body::Body;
use tonic::codegen::http::Request;
use tower::ServiceExt;

const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn calls_cross_a_socket() {
    let server = Server::start(Settings::default()).await;
    let client = server.client().await;
    assert!(client.solve(&grid(EASY)).await.unwrap().is_unique());
    let (outcomes, error) = collect(client.solve_iter((0..5_000).map(|number| puzzle(number).0))).await;
    assert!(error.is_none() && outcomes.len() == 5_000, "{error:?}");
    for (number, outcome) in outcomes.iter().enumerate() {
        assert_solves(number, outcome);
    }
}

#[tokio::test]
async fn endpoints_that_are_none_are_refused() {
    for endpoint in ["", "http://", "no endpoint", "http://[::1"] {
        let error = SudokuClient::connect_lazy(endpoint).unwrap_err();
        assert!(matches!(error, Error::Endpoint { .. }), "{endpoint:?}: {error:?}");
        assert!(chain(&error).contains(endpoint));
    }
}

/// The transport would call them all, over an unencrypted connection to the host.
#[tokio::test]
async fn what_an_endpoint_asks_for_in_vain_is_refused() {
    let cases = [
        ("ftp://127.0.0.1:50051", "only http, https and unix"),
        ("http://user:password@127.0.0.1:50051", "password"),
        ("user@127.0.0.1:50051", "password"),
        ("http://127.0.0.1:50051/sudoku", "path"),
        ("http://127.0.0.1:50051/?sudoku", "path"),
    ];
    for (endpoint, reason) in cases {
        let error = SudokuClient::connect_lazy(endpoint).unwrap_err();
        assert!(matches!(error, Error::Endpoint { .. }), "{endpoint:?}: {error:?}");
        assert!(chain(&error).contains(reason), "{}", chain(&error));
    }
    for endpoint in [
        "http://127.0.0.1:50051/",
        "HTTP://127.0.0.1:50051",
        "127.0.0.1:50051",
        "[::1]:50051",
    ] {
        assert!(SudokuClient::connect_lazy(endpoint).is_ok(), "{endpoint:?}");
    }
}

#[tokio::test]
async fn where_nobody_listens_there_is_no_connection() {
    let address = TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap();
    let error = SudokuClient::connect(format!("http://{address}"))
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Transport(_)), "{error:?}");
    assert!(chain(&error).contains("Connection refused"), "{}", chain(&error));

    let client = SudokuClient::connect_lazy(format!("http://{address}")).unwrap();
    let error = client.solve(&grid(EASY)).await.unwrap_err();
    assert!(matches!(error, Error::Transport(_)), "{error:?}");
    let (outcomes, error) = collect(client.solve_iter([grid(EASY)])).await;
    assert!(outcomes.is_empty());
    assert!(matches!(interrupted(error, 0), Error::Transport(_)));
}

#[tokio::test]
async fn a_server_of_another_kind_is_no_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            use tokio::io::AsyncWriteExt;
            let _ = socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        }
    });
    let client = SudokuClient::connect_lazy(address.to_string()).unwrap();
    let error = failed(&client).await;
    assert!(matches!(error, Error::Transport(_)), "{error:?}");
}

#[tokio::test]
async fn a_lost_connection_is_made_again() {
    let server = Server::start(Settings::default()).await;
    let client = server.client().await;
    client.solve(&grid(EASY)).await.unwrap();
    let address = server.address;
    drop(server);
    let gone = async { while client.solve(&grid(EASY)).await.is_ok() {} };
    timeout(PATIENCE, gone).await.unwrap();

    let _server = Server::start_at(address, Settings::default()).await;
    let solved = async { while client.solve(&grid(EASY)).await.is_err() {} };
    timeout(PATIENCE, solved).await.unwrap();
}

#[tokio::test]
async fn a_silent_server_is_not_waited_for_past_the_deadline() {
    // Connections are taken by the operating system, and nobody ever answers.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = SudokuClient::connect_lazy(listener.local_addr().unwrap().to_string())
        .unwrap()
        .with_deadline(Duration::from_millis(50));
    let error = failed(&client).await;
    assert!(matches!(error, Error::DeadlineExceeded), "{error:?}");
    let (_, error) = timeout(PATIENCE, collect(client.solve_iter([grid(EASY)])))
        .await
        .unwrap();
    assert!(matches!(interrupted(error, 0), Error::DeadlineExceeded));
}

#[tokio::test]
async fn a_stream_ends_at_its_deadline_even_if_the_server_knows_of_none() {
    let timeouts = Arc::new(Mutex::new(Vec::new()));
    let service = Service::new(Settings::default()).unwrap();
    let without_timeout = service.rpc().map_request({
        let timeouts = Arc::clone(&timeouts);
        move |mut request: Request<Body>| {
            timeouts
                .lock()
                .unwrap()
                .push(request.headers_mut().remove("grpc-timeout"));
            request
        }
    });
    let client = SudokuClient::from_service(without_timeout).with_deadline(Duration::from_millis(300));
    let (sender, receiver) = mpsc::channel(10);
    for number in 0..3 {
        sender.send(puzzle(number).0).await.unwrap();
    }
    let (outcomes, error) = timeout(
        PATIENCE,
        collect(client.solve_many(ReceiverStream::new(receiver))),
    )
    .await
    .expect("the deadline is not kept");
    assert!(matches!(
        interrupted(error, outcomes.len()),
        Error::DeadlineExceeded
    ));
    let timeouts = std::mem::take(&mut *timeouts.lock().unwrap());
    assert!(
        !timeouts.is_empty() && timeouts.iter().all(Option::is_some),
        "{timeouts:?}"
    );
    until("the stream is gone", || service.load().streams == 0).await;
    drop(sender);
}

#[tokio::test]
async fn a_stream_without_end_is_cut_at_its_deadline() {
    let server = Server::start(Settings::default()).await;
    let client = server.client().await.with_deadline(Duration::from_millis(500));
    let (outcomes, error) = collect(client.solve_iter(std::iter::repeat(grid(EASY)))).await;
    assert!(matches!(
        interrupted(error, outcomes.len()),
        Error::DeadlineExceeded
    ));
    until("the stream is gone", || server.service.load().streams == 0).await;
}

/// Both sides wait, the server to send answers and the client to send puzzles, when the outcomes are given up.
#[tokio::test]
async fn outcomes_dropped_while_all_is_held_up_cancel_the_work() {
    let server = Server::start(Settings::default()).await;
    let client = server.client().await;
    let mut outcomes = client.solve_iter(std::iter::repeat(grid(EASY)));
    outcomes.next().await.unwrap().unwrap();
    let mut idle = 0;
    until("the server waits for the reader", || {
        let load = server.service.load();
        let is_idle = load.busy_threads == 0 && load.waiting == 0;
        idle = if is_idle { idle + 1 } else { 0 };
        idle == 100
    })
    .await;
    drop(outcomes);
    until("the stream is gone", || server.service.load().streams == 0).await;
    assert!(client.solve(&grid(EASY)).await.unwrap().is_unique());
}

#[tokio::test]
async fn absurd_deadlines_are_no_deadline() {
    let server = Server::start(Settings::default()).await;
    let client = server.client().await.with_deadline(Duration::MAX);
    assert!(client.solve(&grid(EASY)).await.unwrap().is_unique());
    let client = client.with_deadline(Duration::ZERO);
    assert!(matches!(
        client.solve(&grid(EASY)).await,
        Err(Error::DeadlineExceeded)
    ));
}

#[tokio::test]
async fn a_draining_server_answers_what_it_took_and_says_why_it_ends() {
    let mut server = Server::start(Settings::default()).await;
    let client = server.builder().retries(0).connect().await.unwrap();
    let (sender, receiver) = mpsc::channel(10);
    let mut outcomes = client.solve_many(ReceiverStream::new(receiver));
    for number in 0..3 {
        sender.send(puzzle(number).0).await.unwrap();
        assert_solves(number, &outcomes.next().await.unwrap().unwrap());
    }
    let drained = server.shut_down();
    let error = timeout(PATIENCE, outcomes.next())
        .await
        .unwrap()
        .unwrap()
        .unwrap_err();
    assert!(
        chain(&error).starts_with("stopped after 3 outcomes: "),
        "{}",
        chain(&error)
    );
    assert_eq!(error.reason(), Some(&Reason::Draining));
    assert!(outcomes.next().await.is_none());
    assert_eq!(drained.await.unwrap(), Drained::Finished);
}

#[tokio::test]
async fn a_killed_server_interrupts_a_stream() {
    let mut server = Server::start(Settings::default()).await;
    let client = server.client().await;
    let mut outcomes = client.solve_iter((0..).map(|number| puzzle(number).0));
    let mut read = 0;
    while read < 1_000 {
        assert_solves(read, &outcomes.next().await.unwrap().unwrap());
        read += 1;
    }
    server.kill();
    let error = loop {
        match timeout(PATIENCE, outcomes.next())
            .await
            .expect("hangs")
            .expect("ends with an error")
        {
            Ok(outcome) => assert_solves(read, &outcome),
            Err(error) => break error,
        }
        read += 1;
    };
    let error = interrupted(Some(error), read);
    assert!(matches!(error, Error::Transport(_)), "{error:?}");
}

#[tokio::test]
async fn an_overloaded_server_says_when_to_come_back() {
    let server = Server::start(Settings {
        max_streams: 1,
        ..Settings::default()
    })
    .await;
    let client = server.client().await;
    let mut first = client.solve_iter(std::iter::repeat(grid(EASY)));
    first.next().await.unwrap().unwrap();
    let (_, error) = collect(client.solve_iter([Grid::EMPTY])).await;
    let error = error.unwrap();
    assert_eq!(error.reason(), Some(&Reason::Overloaded));
    assert!(error.retry_delay().is_some_and(|delay| !delay.is_zero()));
}
