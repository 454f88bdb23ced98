//! What `Solve` refuses, and how each error reads.

mod support;

use std::time::Duration;

use sudoku_proto::v1::sudoku_service_client::SudokuServiceClient;
use sudoku_proto::v1::{SolveOptions, SolveRequest};
use sudoku_server::Settings;
use support::{EMPTY, PUZZLE, Server, endless, error_info, patient, solve, soon, until};
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic::{Code, Request, Status};
use tonic_types::StatusExt;

async fn refused(client: &mut SudokuServiceClient<Channel>, request: SolveRequest) -> Status {
    client.solve(request).await.unwrap_err()
}

#[track_caller]
fn assert_field(status: &Status, field: &str) {
    let violations = status.get_details_bad_request().unwrap().field_violations;
    assert_eq!(violations.len(), 1);
    assert_eq!(violations[0].field, field);
    assert!(!violations[0].description.is_empty());
}

#[tokio::test]
async fn a_puzzle_that_is_none() {
    let server = Server::start(Settings::default()).await;
    let mut client = server.client().await;
    let cases = [
        (String::new(), "0", None),
        (PUZZLE[..80].to_owned(), "80", None),
        (format!("{PUZZLE}."), "82", None),
        (format!("x{}", &PUZZLE[1..]), "81", Some("0")),
        (format!("{}?", &PUZZLE[..80]), "81", Some("80")),
        // Characters are counted, not bytes.
        (format!("é{}", &PUZZLE[1..]), "81", Some("0")),
        (format!("{}\u{1f9e9}", &PUZZLE[..80]), "81", Some("80")),
        ("12x".to_owned(), "3", Some("2")),
    ];
    for (puzzle, length, position) in cases {
        let status = refused(&mut client, solve(&puzzle)).await;
        assert_eq!(status.code(), Code::InvalidArgument, "{puzzle}");
        let info = error_info(&status);
        assert_eq!(info.reason, "INVALID_PUZZLE");
        assert_eq!(info.metadata["length"], length, "{puzzle}");
        let found = info.metadata.get("position").map(String::as_str);
        assert_eq!(found, position, "{puzzle}");
        assert_field(&status, "puzzle");
    }
}

#[tokio::test]
async fn options_out_of_range() {
    let server = Server::start(Settings::default()).await;
    let mut client = server.client().await;
    let time = |seconds, nanos| SolveOptions {
        time_limit: Some(prost_types::Duration { seconds, nanos }),
        ..SolveOptions::default()
    };
    let limit = SolveOptions {
        solution_limit: 10_001,
        ..SolveOptions::default()
    };
    let cases = [
        (limit, "options.solution_limit"),
        (time(0, 0), "options.time_limit"),
        (time(-1, 0), "options.time_limit"),
        (time(60, 1), "options.time_limit"),
        (time(1, 2_000_000_000), "options.time_limit"),
    ];
    for (options, field) in cases {
        let request = SolveRequest {
            puzzle: PUZZLE.into(),
            options: Some(options),
        };
        let status = refused(&mut client, request).await;
        assert_eq!(status.code(), Code::InvalidArgument);
        assert_eq!(error_info(&status).reason, "OPTION_OUT_OF_RANGE");
        assert_field(&status, field);
    }
}

#[tokio::test]
async fn a_message_that_is_too_large() {
    let server = Server::start(Settings::default()).await;
    let mut client = server.client().await;
    // The largest that is taken: the tag and the length of the puzzle are 3 bytes.
    let status = refused(&mut client, solve(&"1".repeat(4_096 - 3))).await;
    assert_eq!(error_info(&status).reason, "INVALID_PUZZLE");

    let status = refused(&mut client, solve(&"1".repeat(4_096 - 2))).await;
    assert_eq!(status.code(), Code::ResourceExhausted);
    let info = error_info(&status);
    assert_eq!(info.reason, "MESSAGE_TOO_LARGE");
    assert_eq!(info.metadata["limit"], "4096");
    assert!(status.get_details_retry_info().is_none());
}

/// A call with a message of another type: what is no puzzle in the right place is no `SolveRequest`.
#[tokio::test]
async fn bytes_that_are_no_message() {
    let server = Server::start(Settings::default()).await;
    let mut grpc = Grpc::new(server.channel().await);
    grpc.ready().await.unwrap();
    // Field 1 as a number, where the contract has a string.
    let wrong = prost_types::Duration { seconds: 1, nanos: 0 };
    let codec: tonic_prost::ProstCodec<prost_types::Duration, prost_types::Duration> =
        tonic_prost::ProstCodec::default();
    let path = PathAndQuery::from_static("/sudoku.v1.SudokuService/Solve");
    let status = grpc.unary(Request::new(wrong), path, codec).await.unwrap_err();
    assert_eq!(status.code(), Code::Internal);
    assert_eq!(error_info(&status).reason, "INTERNAL");
}

#[tokio::test]
async fn an_unknown_method() {
    let server = Server::start(Settings::default()).await;
    let mut grpc = Grpc::new(server.channel().await);
    for method in ["Guess", "SolveMany/", "Guess/SolveMany", "solvemany"] {
        grpc.ready().await.unwrap();
        let codec: tonic_prost::ProstCodec<SolveRequest, SolveRequest> = tonic_prost::ProstCodec::default();
        let path = PathAndQuery::try_from(format!("/sudoku.v1.SudokuService/{method}")).unwrap();
        let status = grpc
            .unary(Request::new(solve(PUZZLE)), path, codec)
            .await
            .unwrap_err();
        assert_eq!(status.code(), Code::Unimplemented, "{method}");
    }
}

#[tokio::test]
async fn more_calls_than_the_server_takes() {
    let mut settings = patient();
    settings.max_solves = 1;
    let server = Server::start(settings).await;
    let mut client = server.client().await;
    let running = tokio::spawn({
        let mut client = client.clone();
        async move { client.solve(endless()).await }
    });
    until("the call runs", || server.service.load().solves == 1).await;

    let status = refused(&mut client, solve(PUZZLE)).await;
    assert_eq!(status.code(), Code::ResourceExhausted);
    assert_eq!(error_info(&status).reason, "OVERLOADED");
    let delay = status.get_details_retry_info().unwrap().retry_delay.unwrap();
    assert!(delay > Duration::ZERO);

    running.abort();
    until("the call is gone", || server.service.load().solves == 0).await;
    soon(client.solve(solve(EMPTY))).await.unwrap();
}
