//! A server that sends each connection away when it is old (GOAWAY): calls and streams go on as if nothing had happened.

mod common;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use common::server::Server;
use common::{assert_solves, collect, puzzle};
use sudoku_client::{Outcome, SudokuClient};
use sudoku_server::Settings;
use tokio::net::{TcpListener, TcpStream};
use tokio_stream::StreamExt;

/// How many connections have to come and go under a test.
const CONNECTIONS: usize = 8;

/// Passes connections on to a server, and counts them.
async fn relay(server: SocketAddr) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let accepted = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&accepted);
    tokio::spawn(async move {
        while let Ok((mut near, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(async move {
                let mut far = TcpStream::connect(server).await?;
                tokio::io::copy_bidirectional(&mut near, &mut far).await
            });
        }
    });
    (address, accepted)
}

/// A server with connections that soon are old, and a client that has one connection at a time.
async fn start() -> (Server, SudokuClient, Arc<AtomicUsize>) {
    let server = Server::start(Settings {
        max_connection_age: Duration::from_millis(50),
        ..Settings::default()
    })
    .await;
    let (address, accepted) = relay(server.address).await;
    let client = SudokuClient::builder()
        .endpoint(address.to_string())
        .connections(1)
        .connect()
        .await
        .unwrap();
    (server, client, accepted)
}

#[tokio::test]
async fn no_call_is_lost() {
    let (_server, client, accepted) = start().await;
    // Several at once, so that some are always on their way.
    let callers = (0..8).map(|caller: usize| {
        let (client, accepted) = (client.clone(), Arc::clone(&accepted));
        tokio::spawn(async move {
            let mut number = caller;
            while accepted.load(Ordering::Relaxed) < CONNECTIONS {
                let outcome = client.solve(&puzzle(number).0).await.unwrap();
                assert_solves(number, &outcome);
                number += 8;
            }
        })
    });
    for caller in callers.collect::<Vec<_>>() {
        caller.await.unwrap();
    }
}

#[tokio::test]
async fn a_stream_outlives_the_connection_that_it_began_on() {
    let (_server, client, accepted) = start().await;
    // It goes on while other streams and calls need a new connection again and again.
    let (sender, puzzles) = tokio::sync::mpsc::channel(1);
    let mut long = client.solve_many(tokio_stream::wrappers::ReceiverStream::new(puzzles));
    let mut sent = 0;
    while accepted.load(Ordering::Relaxed) < CONNECTIONS {
        sender.send(puzzle(sent).0).await.unwrap();
        let outcome: Outcome = long.next().await.unwrap().unwrap();
        assert_solves(sent, &outcome);
        sent += 1;
        let (outcomes, error) = collect(client.solve_iter((0..3_000).map(|number| puzzle(number).0))).await;
        assert!(error.is_none(), "{error:?}");
        assert_eq!(outcomes.len(), 3_000);
        for (number, outcome) in outcomes.iter().enumerate() {
            assert_solves(number, outcome);
        }
    }
    drop(sender);
    assert!(long.next().await.is_none());
}

/// A place where the first few connections are sent away in the middle of a call, without an answer, as a proxy does that
/// is restarted. All others reach the server.
async fn impatient(server: SocketAddr, reason: h2::Reason) -> SocketAddr {
    const CUT_OFF: usize = 3;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        for _ in 0..CUT_OFF {
            let (near, _) = listener.accept().await.unwrap();
            tokio::spawn(async move {
                let mut connection = h2::server::handshake(near).await.unwrap();
                let call = connection.accept().await;
                connection.abrupt_shutdown(reason);
                let _ = std::future::poll_fn(|cx| connection.poll_closed(cx)).await;
                drop(call);
            });
        }
        while let Ok((mut near, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut far = TcpStream::connect(server).await?;
                tokio::io::copy_bidirectional(&mut near, &mut far).await
            });
        }
    });
    address
}

#[tokio::test]
async fn calls_that_are_cut_off_are_made_again() {
    let server = Server::start(Settings::default()).await;
    for reason in [h2::Reason::NO_ERROR, h2::Reason::ENHANCE_YOUR_CALM] {
        let client = || async {
            let address = impatient(server.address, reason).await.to_string();
            let builder = SudokuClient::builder().endpoint(address).connections(1);
            builder.connect_lazy().unwrap()
        };
        let outcome = client().await.solve(&puzzle(7).0).await.unwrap();
        assert_solves(7, &outcome);
        let puzzles = (0..3_000).map(|number| puzzle(number).0);
        let (outcomes, error) = collect(client().await.solve_iter(puzzles)).await;
        assert!(error.is_none(), "{reason:?}: {error:?}");
        assert_eq!(outcomes.len(), 3_000);
        for (number, outcome) in outcomes.iter().enumerate() {
            assert_solves(number, outcome);
        }
    }
}
