//! The SDK over several endpoints: all of them work, one that fails is left out, and comes back when it serves.

mod common;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::server::Server;
use common::{EASY, assert_solves, chain, collect, failed, grid, interrupted, puzzle, until};
use sudoku_client::{ClientBuilder, Error, Grid, SolveOptions, SudokuClient};
use sudoku_proto::v1::GetServerInfoRequest;
use sudoku_proto::v1::sudoku_service_client::SudokuServiceClient;
use sudoku_server::{Limits, Settings};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_stream::StreamExt;
use tonic::Code;
use tower::ServiceExt;

const PATIENCE: Duration = Duration::from_secs(60);

fn client_of(servers: &[&Server]) -> SudokuClient {
    builder_of(servers).connect_lazy().unwrap()
}

fn builder_of(servers: &[&Server]) -> ClientBuilder {
    SudokuClient::builder().endpoints(servers.iter().map(|server| format!("http://{}", server.address)))
}

/// Solves one puzzle after the other until `done`.
async fn solve_until(what: &str, client: &SudokuClient, mut done: impl FnMut() -> bool) {
    let solve = async {
        while !done() {
            assert!(client.solve(&grid(EASY)).await.unwrap().is_unique());
        }
    };
    timeout(PATIENCE, solve)
        .await
        .unwrap_or_else(|_| panic!("waited for ever until {what}"));
}

#[tokio::test]
async fn a_stream_works_on_all_endpoints_and_connections_at_once() {
    let servers = [
        Server::start(Settings::default()).await,
        Server::start(Settings::default()).await,
        Server::start(Settings::default()).await,
    ];
    let client = client_of(&[&servers[0], &servers[1], &servers[2]]);
    let mut outcomes = client.solve_iter((0..).map(|number| puzzle(number).0));
    let mut read = 0;
    let all_at_once = async {
        while servers.iter().any(|server| server.service.load().streams != 2) {
            assert_solves(read, &outcomes.next().await.unwrap().unwrap());
            read += 1;
        }
    };
    timeout(PATIENCE, all_at_once)
        .await
        .expect("some do not take part");
    drop(outcomes);
    for server in &servers {
        until("the streams are gone", || server.service.load().streams == 0).await;
    }
}

#[tokio::test]
async fn puzzles_that_trickle_take_one_connection() {
    let server = Server::start(Settings::default()).await;
    let client = server.client().await;
    let (sender, receiver) = tokio::sync::mpsc::channel(1);
    let mut outcomes = client.solve_many(tokio_stream::wrappers::ReceiverStream::new(receiver));
    for number in 0..20 {
        sender.send(puzzle(number).0).await.unwrap();
        assert_solves(number, &outcomes.next().await.unwrap().unwrap());
    }
    assert_eq!(server.service.load().streams, 1);
}

#[tokio::test]
async fn an_endpoint_that_fails_is_left_out_and_comes_back() {
    let mut first = Server::start(Settings::default()).await;
    let second = Server::start(Settings::default()).await;
    let client = client_of(&[&first, &second]);
    let address = first.address;
    first.kill();
    // No call fails: what the first does not take, the second does.
    for _ in 0..50 {
        assert!(client.solve(&grid(EASY)).await.unwrap().is_unique());
    }

    let first = Server::start_at(address, Settings::default()).await;
    let mut outcomes = client.solve_iter((0..).map(|number| puzzle(number).0));
    let mut read = 0;
    let back = async {
        while first.service.load().streams == 0 {
            assert_solves(read, &outcomes.next().await.unwrap().unwrap());
            read += 1;
        }
    };
    timeout(PATIENCE, back).await.expect("it does not come back");
    // Now the first is all there is.
    drop(outcomes);
    drop(second);
    assert!(client.solve(&grid(EASY)).await.unwrap().is_unique());
}

/// A place where something listens that is no server. Gives its address, and how often somebody connected.
async fn place_without_a_server() -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let connections = Arc::<AtomicUsize>::default();
    let count = Arc::clone(&connections);
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            count.fetch_add(1, Ordering::Relaxed);
        }
    });
    (address, connections)
}

#[tokio::test]
async fn an_endpoint_that_is_out_is_not_tried_again_and_again() {
    let server = Server::start(Settings::default()).await;
    let (broken, connections) = place_without_a_server().await;
    let endpoints = [server.address, broken].map(|address| format!("http://{address}"));
    let client = SudokuClient::builder()
        .endpoints(endpoints)
        .connect_lazy()
        .unwrap();
    for _ in 0..500 {
        assert!(client.solve(&grid(EASY)).await.unwrap().is_unique());
    }
    // About half of the calls would have gone there. What asks whether it serves again connects, too, but waits in between.
    let connections = connections.load(Ordering::Relaxed);
    assert!((1..50).contains(&connections), "{connections} connections");
}

#[tokio::test]
async fn a_draining_endpoint_gets_no_new_calls() {
    let mut first = Server::start(Settings::default()).await;
    let second = Server::start(Settings::default()).await;
    let client = client_of(&[&first, &second]);
    for _ in 0..20 {
        client.solve(&grid(EASY)).await.unwrap();
    }
    let drained = first.shut_down();
    solve_until("the drain is over", &client, || drained.is_finished()).await;
    for _ in 0..20 {
        client.solve(&grid(EASY)).await.unwrap();
    }
}

#[tokio::test]
async fn an_overloaded_endpoint_is_passed_over_and_stays() {
    let busy = Server::start(Settings {
        max_streams: 1,
        ..Settings::default()
    })
    .await;
    let other = Server::start(Settings::default()).await;
    let holder = busy.builder().connections(1).connect().await.unwrap();
    let mut held = holder.solve_iter((0..).map(|number| puzzle(number).0));
    assert_solves(0, &held.next().await.unwrap().unwrap());

    let client = client_of(&[&busy, &other]);
    let (outcomes, error) = collect(client.solve_iter((0..50_000).map(|number| puzzle(number).0))).await;
    assert!(error.is_none(), "{error:?}");
    for (number, outcome) in outcomes.iter().enumerate() {
        assert_solves(number, outcome);
    }
    assert_eq!(outcomes.len(), 50_000);
    // It was not taken out: without the other it solves at once, with no retry to wait for it.
    drop(other);
    let client = client.with_retries(1);
    for _ in 0..5 {
        assert!(client.solve(&grid(EASY)).await.unwrap().is_unique());
    }
    assert_solves(1, &held.next().await.unwrap().unwrap());
}

#[tokio::test]
async fn a_second_endpoint_is_asked_when_the_first_is_silent() {
    // Connections are taken by the operating system, and nobody ever answers.
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = Server::start(Settings::default()).await;
    let client = builder_of(&[&server])
        .endpoint(format!("http://{}", silent.local_addr().unwrap()))
        .hedge_after(Duration::from_millis(20))
        .connect_lazy()
        .unwrap();
    let solve = async {
        for _ in 0..20 {
            assert!(client.solve(&grid(EASY)).await.unwrap().is_unique());
        }
    };
    timeout(PATIENCE, solve)
        .await
        .expect("the silent one was waited for");
}

/// Of two servers one solves the puzzle, but slowly, and one fails each call as soon as the other has one too. So the
/// first that fails has still another to wait for, whichever of them was asked first.
#[tokio::test]
async fn a_call_that_is_hedged_fails_only_with_both() {
    let limits = Limits {
        max_solution_limit: u32::MAX,
        ..Limits::default()
    };
    let server = Server::start(Settings {
        limits,
        ..Settings::default()
    })
    .await;
    let slow = server.service.clone();
    let (failing, _) = fake_server(move |_| {
        let slow = slow.clone();
        async move {
            until("the slow one is asked", || slow.load().solves > 0).await;
            Code::Unavailable
        }
    })
    .await;
    let options = SolveOptions::new()
        .solution_limit(u32::MAX)
        .time_limit(Duration::from_millis(300))
        .omit_solutions(true);
    for _ in 0..10 {
        let client = builder_of(&[&server])
            .endpoint(failing.to_string())
            .options(options)
            .hedge_after(Duration::from_millis(10))
            .retries(0)
            .connect_lazy()
            .unwrap();
        let outcome = timeout(PATIENCE, client.solve(&Grid::EMPTY)).await.unwrap();
        assert!(outcome.is_ok(), "{outcome:?}");
    }
}

#[tokio::test]
async fn hedged_calls_count_as_retries() {
    const CALLS: usize = 300;
    let (first, calls) = silent_server().await;
    let (second, more_calls) = silent_server().await;
    let client = SudokuClient::builder()
        .endpoints([first.to_string(), second.to_string()])
        .hedge_after(Duration::from_millis(1))
        .deadline(Duration::from_secs(2))
        .connect_lazy()
        .unwrap();
    let mut asked = JoinSet::new();
    for _ in 0..CALLS {
        let client = client.clone();
        asked.spawn(async move { client.solve(&grid(EASY)).await.is_err() });
    }
    assert!(asked.join_all().await.into_iter().all(|failed| failed));
    let came = calls.lock().unwrap().len() + more_calls.lock().unwrap().len();
    // A client with few calls may make a hundred retries in ten seconds.
    assert!((CALLS + 1..CALLS + 200).contains(&came), "{came} calls");
}

#[tokio::test]
async fn a_client_without_a_server_says_so_each_time() {
    // Nothing can listen at port 1 without the system's consent.
    let builder = SudokuClient::builder().endpoint("http://127.0.0.1:1");
    let client = builder.retries(0).connect_lazy().unwrap();
    for _ in 0..3 {
        let error = failed(&client).await;
        assert!(matches!(error, Error::Transport(_)), "{error:?}");
    }
}

/// A puzzle that brings down whatever solves it must not go round for ever.
#[tokio::test]
async fn a_message_is_given_up_that_breaks_every_server() {
    let mut builder = SudokuClient::builder();
    let mut streams = Vec::new();
    for _ in 0..15 {
        let (address, calls) = fake_server(async |path: String| match path.ends_with("/SolveMany") {
            true => Code::Unavailable,
            false => Code::Unimplemented,
        })
        .await;
        builder = builder.endpoint(address.to_string());
        streams.push(calls);
    }
    let client = builder.connect_lazy().unwrap();
    let (_, error) = collect(client.solve_iter([grid(EASY)])).await;
    interrupted(error, 0);
    let is_try = |call: &&Call| call.path.ends_with("/SolveMany");
    let tries = |calls: &Calls| calls.lock().unwrap().iter().filter(is_try).count();
    assert_eq!(streams.iter().map(tries).sum::<usize>(), 11);
}

#[tokio::test]
async fn names_are_looked_up_again() {
    let first = Server::start(Settings::default()).await;
    let second = Server::start(Settings::default()).await;
    let found: Arc<Mutex<Vec<SocketAddr>>> = Arc::new(Mutex::new(vec![first.address, second.address]));
    let asked = Arc::new(Mutex::new(Vec::new()));
    let client = SudokuClient::builder()
        .endpoint("http://sudoku.example:50051")
        .resolve_every(Duration::from_millis(100))
        .resolve_with({
            let (found, asked) = (Arc::clone(&found), Arc::clone(&asked));
            move |host, port| {
                asked.lock().unwrap().push((host, port));
                let found = found.lock().unwrap().clone();
                async move { Ok(found) }
            }
        })
        .connect()
        .await
        .unwrap();
    assert_eq!(asked.lock().unwrap()[0], ("sudoku.example".to_owned(), 50_051));
    let mut outcomes = client.solve_iter((0..).map(|number| puzzle(number).0));
    let both = async {
        while first.service.load().streams == 0 || second.service.load().streams == 0 {
            outcomes.next().await.unwrap().unwrap();
        }
    };
    timeout(PATIENCE, both).await.expect("the name stands for two");
    drop(outcomes);

    let third = Server::start(Settings::default()).await;
    *found.lock().unwrap() = vec![third.address];
    let looked_up = asked.lock().unwrap().len();
    until("the name was looked up again", || {
        asked.lock().unwrap().len() > looked_up + 1
    })
    .await;
    drop(first);
    drop(second);
    assert!(
        client
            .with_retries(0)
            .solve(&grid(EASY))
            .await
            .unwrap()
            .is_unique()
    );
}

#[tokio::test]
async fn a_name_that_stands_for_nothing_is_no_connection() {
    let builder = || {
        SudokuClient::builder()
            .endpoint("sudoku.example:50051")
            .resolve_with(|_, _| async { Err(std::io::Error::other("no such host")) })
            .retries(1)
    };
    let error = builder().connect().await.unwrap_err();
    assert!(
        chain(&error).contains("sudoku.example: no such host"),
        "{}",
        chain(&error)
    );
    let error = builder()
        .connect_lazy()
        .unwrap()
        .solve(&grid(EASY))
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Transport(_)), "{error:?}");
}

#[tokio::test]
async fn the_names_of_this_machine_are_known() {
    let server = Server::start(Settings::default()).await;
    let client = SudokuClient::connect(format!("localhost:{}", server.address.port()))
        .await
        .unwrap();
    assert!(client.solve(&grid(EASY)).await.unwrap().is_unique());
}

#[tokio::test]
async fn a_client_reaches_what_can_be_reached() {
    let server = Server::start(Settings::default()).await;
    // Nothing can listen at port 1 without the system's consent.
    let client = builder_of(&[&server])
        .endpoint("http://127.0.0.1:1")
        .connect()
        .await
        .unwrap();
    let (outcomes, error) = collect(client.solve_iter((0..1_000).map(|number| puzzle(number).0))).await;
    assert!(error.is_none() && outcomes.len() == 1_000, "{error:?}");

    let error = SudokuClient::connect("http://127.0.0.1:1").await.unwrap_err();
    assert!(matches!(error, Error::Transport(_)), "{error:?}");
}

#[tokio::test]
async fn messages_are_no_longer_than_was_asked_for() {
    let server = Server::start(Settings {
        limits: Limits {
            max_puzzles_per_message: 100,
            ..Limits::default()
        },
        ..Settings::default()
    })
    .await;
    for size in [0, 7, 100, 5_000] {
        let client = server.builder().batch_size(size).connect().await.unwrap();
        let (outcomes, error) = collect(client.solve_iter((0..500).map(|number| puzzle(number).0))).await;
        assert!(error.is_none() && outcomes.len() == 500, "{size}: {error:?}");
    }
}

/// What a call was for, and who made it.
struct Call {
    path: String,
    agent: String,
}

type Calls = Arc<Mutex<Vec<Call>>>;

/// A server that notes each call, and answers with a status and nothing else.
async fn fake_server<F>(status: impl Fn(String) -> F + Clone + Send + 'static) -> (SocketAddr, Calls)
where
    F: Future<Output = Code> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let calls = Calls::default();
    let noted = Arc::clone(&calls);
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let (noted, status) = (Arc::clone(&noted), status.clone());
            tokio::spawn(async move {
                let mut connection = h2::server::handshake(socket).await.unwrap();
                while let Some(Ok((request, mut respond))) = connection.accept().await {
                    let path = request.uri().path().to_owned();
                    let agent = request.headers()["user-agent"].to_str().unwrap().to_owned();
                    let status = status(path.clone());
                    noted.lock().unwrap().push(Call { path, agent });
                    tokio::spawn(async move {
                        let answer = http::Response::builder()
                            .header("content-type", "application/grpc")
                            .header("grpc-status", status.await as i32);
                        let _ = respond.send_response(answer.body(()).unwrap(), true);
                        drop(request);
                    });
                }
            });
        }
    });
    (address, calls)
}

/// A server that answers nothing.
async fn silent_server() -> (SocketAddr, Calls) {
    fake_server(|_| std::future::pending()).await
}

#[tokio::test]
async fn servers_see_who_calls() {
    let (address, calls) = silent_server().await;
    let builder = SudokuClient::builder().endpoint(address.to_string());
    let client = builder.user_agent("shop/1.4").connect_lazy().unwrap();
    let call = tokio::spawn(async move { client.solve(&grid(EASY)).await });
    until("the call has come", || !calls.lock().unwrap().is_empty()).await;
    let agent = calls.lock().unwrap()[0].agent.clone();
    assert!(agent.starts_with("shop/1.4 sudoku-client/"), "{agent}");
    call.abort();
}

#[tokio::test]
async fn no_more_calls_run_at_once_than_was_asked_for() {
    let (address, calls) = silent_server().await;
    let builder = SudokuClient::builder().endpoint(address.to_string());
    let client = builder.concurrency(1).connections(1).connect_lazy().unwrap();
    let first = tokio::spawn({
        let client = client.clone();
        async move { client.solve(&grid(EASY)).await }
    });
    until("the first call has come", || calls.lock().unwrap().len() == 1).await;
    // The second one waits for its place as long as it may.
    let second = client.clone().with_deadline(Duration::from_millis(50));
    let error = second.solve(&grid(EASY)).await.unwrap_err();
    assert!(matches!(error, Error::DeadlineExceeded), "{error:?}");
    assert_eq!(calls.lock().unwrap().len(), 1);
    // What is given up makes room.
    first.abort();
    let third = tokio::spawn(async move { client.solve(&grid(EASY)).await });
    until("the third call has come", || calls.lock().unwrap().len() == 2).await;
    third.abort();
}

#[tokio::test]
async fn what_cannot_be_built_is_refused() {
    let error = SudokuClient::builder().connect_lazy().unwrap_err();
    assert!(matches!(error, Error::Config(_)), "{error:?}");
    let error = SudokuClient::builder()
        .endpoint("127.0.0.1:1")
        .user_agent("shop\n1.4")
        .connect_lazy()
        .unwrap_err();
    assert!(error.to_string().contains("user agent"), "{error:?}");
}

#[tokio::test]
async fn the_endpoints_are_a_service_for_raw_stubs_and_layers() {
    let mut first = Server::start(Settings::default()).await;
    let second = Server::start(Settings::default()).await;
    let client = client_of(&[&first, &second]);
    let mut raw = SudokuServiceClient::new(client.service());
    for _ in 0..10 {
        raw.get_server_info(GetServerInfoRequest {}).await.unwrap();
    }
    // One that is gone fails the call that finds out, and is left out from then on.
    first.kill();
    let solved = async {
        let mut good = 0;
        while good < 20 {
            good = match raw.get_server_info(GetServerInfoRequest {}).await {
                Ok(_) => good + 1,
                Err(_) => 0,
            };
        }
    };
    timeout(PATIENCE, solved).await.expect("it is not left out");

    let calls = Arc::new(Mutex::new(0));
    let layered = client.service().map_request({
        let calls = Arc::clone(&calls);
        move |request| {
            *calls.lock().unwrap() += 1;
            request
        }
    });
    let client = SudokuClient::from_service(layered);
    assert!(client.solve(&grid(EASY)).await.unwrap().is_unique());
    let (outcomes, error) = collect(client.solve_iter((0..5_000).map(|number| puzzle(number).0))).await;
    assert!(error.is_none() && outcomes.len() == 5_000, "{error:?}");
    assert_eq!(*calls.lock().unwrap(), 3);
}
