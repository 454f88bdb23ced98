//! The service called without a socket answers as it does over one.

use std::future::poll_fn;
use std::io::Write;
use std::pin::Pin;
use std::task::Poll;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body::Body as _;
use http_body_util::{BodyExt, Full};
use prost::Message;
use sudoku_proto::v1::sudoku_service_client::SudokuServiceClient;
use sudoku_proto::v1::{GetServerInfoRequest, Outcome, SolveManyRequest, SolveRequest};
use sudoku_server::{Rpc, Settings, in_process};
use test_support::http2;
use tonic::Code;
use tonic::body::Body;
use tonic_types::StatusExt;
use tower::Service;

const PUZZLE: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
const SOLUTION: &str = "534678912672195348198342567859761423426853791713924856961537284287419635345286179";

fn client() -> SudokuServiceClient<Rpc> {
    SudokuServiceClient::new(in_process(Settings::default()).expect("the defaults are in range"))
}

#[tokio::test]
async fn solves() {
    let request = SolveRequest {
        puzzle: PUZZLE.into(),
        options: None,
    };
    let result = client()
        .solve(request)
        .await
        .unwrap()
        .into_inner()
        .result
        .unwrap();
    assert_eq!(result.outcome(), Outcome::Unique);
    assert_eq!(result.solutions, [SOLUTION]);
    assert_eq!(result.solution_count, 1);
}

#[tokio::test]
async fn solves_a_stream() {
    let message = SolveManyRequest {
        puzzles: vec![PUZZLE.into(), "no puzzle".into()],
        options: None,
    };
    let mut answers = client()
        .solve_many(tokio_stream::iter(vec![message; 100]))
        .await
        .unwrap()
        .into_inner();
    for _ in 0..100 {
        let results = answers.message().await.unwrap().unwrap().results;
        let outcomes: Vec<_> = results.iter().map(|result| result.outcome()).collect();
        assert_eq!(outcomes, [Outcome::Unique, Outcome::Invalid]);
    }
    assert_eq!(answers.message().await.unwrap(), None);
}

#[tokio::test]
async fn tells_the_limits() {
    let info = client()
        .get_server_info(GetServerInfoRequest {})
        .await
        .unwrap()
        .into_inner();
    assert_eq!(info.version, env!("CARGO_PKG_VERSION"));
    assert_eq!(info.max_puzzles_per_message, 2_048);
    assert_eq!(info.max_message_bytes, 524_288);
    assert_eq!(info.max_solution_limit, 10_000);
    assert_eq!(info.max_time_limit.unwrap().seconds, 60);
}

#[tokio::test]
async fn puts_the_statuses_right_that_tonic_makes() {
    let request = SolveRequest {
        puzzle: "1".repeat(5_000),
        options: None,
    };
    let status = client().solve(request).await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted);
    let info = status.get_details_error_info().unwrap();
    assert_eq!(info.reason, "MESSAGE_TOO_LARGE");
    assert_eq!(info.metadata["limit"], "4096");
}

/// A call of `SolveMany` with these messages, all of which are there from the beginning.
fn stream(messages: Vec<u8>) -> http::Request<Body> {
    let body = Full::new(Bytes::from(messages));
    let body = Body::new(body.map_err(|never| match never {}));
    let request = http::Request::post("/sudoku.v1.SudokuService/SolveMany");
    request.header("grpc-encoding", "gzip").body(body).unwrap()
}

/// Nothing is solved before the workers get the thread.
#[tokio::test]
async fn a_stream_takes_in_only_so_much_before_others_get_the_thread() {
    let message = SolveManyRequest {
        puzzles: vec![PUZZLE.to_owned()],
        options: None,
    };
    let message = message.encode_to_vec();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&message).unwrap();
    let mut packed = http2::message(&encoder.finish().unwrap());
    packed[0] = 1;
    // To unpack one takes as long as to take in 50 puzzles.
    for (message, most) in [(http2::message(&message), 1_024), (packed, 1_024 / 50 + 1)] {
        let service = sudoku_server::Service::new(Settings::default()).unwrap();
        let request = stream(message.repeat(3_000));
        let response = service.rpc().call(request).await.unwrap();
        let mut body = response.into_body();
        let polled = poll_fn(|cx| Poll::Ready(Pin::new(&mut body).poll_frame(cx))).await;
        assert!(polled.is_pending());
        assert_eq!(service.load().messages, most);
    }
}

/// All messages are there from the beginning, and are answered as soon as they are read.
#[tokio::test]
async fn a_stream_with_much_to_do_lets_go_of_the_thread() {
    const MESSAGES: usize = 100_000;
    const EMPTY_MESSAGE: [u8; 5] = [0; 5];
    let request = stream(EMPTY_MESSAGE.repeat(MESSAGES));
    let mut rpc = in_process(Settings::default()).unwrap();
    let response = rpc.call(request).await.unwrap();
    let stream = tokio::spawn(response.into_body().collect());

    // There is one thread, which the stream has until it lets go of it.
    tokio::task::yield_now().await;
    assert!(!stream.is_finished());
    let answers = stream.await.unwrap().unwrap();
    assert_eq!(answers.trailers().unwrap().get("grpc-status").unwrap(), "0");
    assert_eq!(answers.to_bytes(), EMPTY_MESSAGE.repeat(MESSAGES));
}
