//! What clients can make the server hold is what its limits say.
#![cfg(target_os = "linux")]

mod support;

use std::fs;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use sudoku_proto::v1::sudoku_service_client::SudokuServiceClient;
use sudoku_proto::v1::{SolveManyRequest, SolveOptions};
use support::{PATIENCE, PUZZLE, Server, Signal};
use tokio::runtime::Runtime;
use tonic::Code;
use tonic::transport::Endpoint;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use tonic_reflection::pb::v1::ServerReflectionRequest;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;

/// The memory that the process has in use, in bytes.
fn memory(server: &Server) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", server.process.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    let kilobytes: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kilobytes * 1024
}

/// What the page for operators says that limits allow, in MiB: for the program, a thread, a connection, a stream, a stream
/// for each thread above two, and each other call.
const BASE: u64 = 64;
const THREAD: u64 = 4;
const CONNECTION: u64 = 1;
const STREAM: u64 = 8;
const STREAM_THREAD: u64 = 2;
const CALLS_PER_MIB: u64 = 16;

const THREADS: u64 = 4;
const CONNECTIONS: u64 = 48;
const STREAMS: u64 = 24;
const CALLS: u64 = 320;

fn allowed() -> u64 {
    let stream = STREAM + STREAM_THREAD * (THREADS - 2);
    BASE + THREAD * THREADS + CONNECTION * CONNECTIONS + stream * STREAMS + CALLS / CALLS_PER_MIB
}

/// Waits until the memory grows no more, and gives the most of it.
async fn most_memory(server: &Server) -> u64 {
    let (mut most, mut same) = (memory(server), 0);
    while same < 20 {
        tokio::time::sleep(Duration::from_millis(10)).await;
        let now = memory(server);
        same = if now > most + 1024 * 1024 { 0 } else { same + 1 };
        most = most.max(now);
    }
    most
}

/// Opens streams whose clients send messages of this shape without end and read nothing, and calls that only watch.
async fn hold(server: SocketAddr, message: SolveManyRequest) -> impl Sized {
    let connect = async || {
        let endpoint = Endpoint::from_shared(format!("http://{server}")).unwrap();
        endpoint.connect().await.unwrap()
    };
    let mut streams = Vec::new();
    let begin = Instant::now();
    while streams.len() < STREAMS as usize {
        let messages = tokio_stream::iter(std::iter::repeat(message.clone()));
        match SudokuServiceClient::new(connect().await)
            .solve_many(messages)
            .await
        {
            Ok(answers) => streams.push(answers),
            // What those before took may not be given back yet.
            Err(status) => assert_eq!(status.code(), Code::ResourceExhausted),
        }
        assert!(begin.elapsed() < PATIENCE, "no room for a stream");
    }
    // An eighth of all calls may be of health, and a 128th of reflection.
    let mut health = HealthClient::new(connect().await);
    let mut watches = Vec::new();
    for _ in 0..CALLS / 8 {
        watches.push(health.watch(HealthCheckRequest::default()).await.unwrap());
    }
    let mut reflection = ServerReflectionClient::new(connect().await);
    let mut questions = Vec::new();
    for _ in 0..CALLS / 128 {
        let asked = tokio_stream::pending::<ServerReflectionRequest>();
        questions.push(reflection.server_reflection_info(asked).await.unwrap());
    }
    (streams, watches, questions)
}

#[tokio::test]
async fn clients_that_do_not_read_take_no_more_than_the_limits_allow() {
    let server = Server::start(&[
        &format!("--threads={THREADS}"),
        &format!("--max-connections={CONNECTIONS}"),
        &format!("--max-streams={STREAMS}"),
        &format!("--max-calls={CALLS}"),
    ]);
    let empty = ".".repeat(81);
    // The largest messages, the largest answers, and the most frames; one after the other, so that what is not given back
    // adds up.
    for (puzzle, count, solution_limit) in [
        (PUZZLE, 2_048, 2),
        (&empty, 4, 2_500),
        (&empty, 1_000, 10),
        (PUZZLE, 1, 2),
    ] {
        let message = SolveManyRequest {
            puzzles: vec![puzzle.to_owned(); count],
            options: Some(SolveOptions {
                solution_limit,
                ..SolveOptions::default()
            }),
        };
        // On a runtime of their own, with which the clients vanish.
        let clients = Runtime::new().unwrap();
        let held = clients.spawn(hold(server.address, message)).await.unwrap();
        let most = most_memory(&server).await / 1024 / 1024;
        eprintln!(
            "{most} MiB of {} for messages of {count} with limit {solution_limit}",
            allowed()
        );
        assert!(most <= allowed());
        clients.shutdown_background();
        drop(held);
    }
    server.signal(Signal::TERM);
    assert_eq!(server.ended().await.0, Some(0));
}

#[test]
fn the_page_says_the_same() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/operating.md");
    let page = fs::read_to_string(page).unwrap();
    for line in [
        format!("| the program | {BASE} MiB |"),
        format!("| each of `threads` | {THREAD} MiB |"),
        format!("| each of `max-connections` | {CONNECTION} MiB |"),
        format!("| each of `max-streams` | {STREAM} MiB |"),
        format!("A stream takes {STREAM_THREAD} MiB more for each of `threads` above two."),
        format!("| each of `max-calls` | {} KiB |", 1024 / CALLS_PER_MIB),
    ] {
        assert!(page.contains(&line), "{line}");
    }
}
