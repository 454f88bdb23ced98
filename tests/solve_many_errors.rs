//! What ends a `SolveMany` stream early: after the answers to all messages before, with the index of the message.

mod support;

use sudoku_proto::v1::{Outcome, SolveManyRequest, SolveOptions};
use sudoku_server::Settings;
use support::{EMPTY, PUZZLE, Server, endless_message, error_info, message, outcomes, patient, soon, until};
use tokio_stream::StreamExt;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::{Code, Request, Status};
use tonic_types::StatusExt;

/// Sends some good messages and then `bad`, and gives the status that ends the stream.
async fn ended_by(settings: Settings, bad: SolveManyRequest) -> Status {
    let server = Server::start(settings).await;
    let mut client = server.client().await;
    let good = vec![message([PUZZLE, "x"]); 3];
    let messages = tokio_stream::iter(good)
        .chain(tokio_stream::once(bad))
        .chain(tokio_stream::once(message([PUZZLE])));
    let mut answers = soon(client.solve_many(messages)).await.unwrap().into_inner();
    for _ in 0..3 {
        let answer = soon(answers.message()).await.unwrap().unwrap();
        assert_eq!(outcomes(&answer.results), [Outcome::Unique, Outcome::Invalid]);
    }
    let status = soon(answers.message()).await.unwrap_err();
    assert_eq!(error_info(&status).metadata["message"], "3");
    status
}

#[tokio::test]
async fn too_many_puzzles() {
    let status = ended_by(Settings::default(), message(vec![PUZZLE; 2_049])).await;
    assert_eq!(status.code(), Code::ResourceExhausted);
    let info = error_info(&status);
    assert_eq!(info.reason, "TOO_MANY_PUZZLES");
    assert_eq!(info.metadata["limit"], "2048");
}

#[tokio::test]
async fn too_many_bytes() {
    let status = ended_by(Settings::default(), message(["1".repeat(512 * 1024)])).await;
    assert_eq!(status.code(), Code::ResourceExhausted);
    let info = error_info(&status);
    assert_eq!(info.reason, "MESSAGE_TOO_LARGE");
    assert_eq!(info.metadata["limit"], "524288");
}

#[tokio::test]
async fn an_option_out_of_range() {
    let bad = SolveManyRequest {
        puzzles: Vec::new(),
        options: Some(SolveOptions {
            time_limit: Some(prost_types::Duration::default()),
            ..SolveOptions::default()
        }),
    };
    let status = ended_by(Settings::default(), bad).await;
    assert_eq!(status.code(), Code::InvalidArgument);
    assert_eq!(error_info(&status).reason, "OPTION_OUT_OF_RANGE");
    let violations = status.get_details_bad_request().unwrap().field_violations;
    assert_eq!(violations[0].field, "options.time_limit");
}

#[tokio::test]
async fn a_solution_limit_that_is_too_high_for_so_many_puzzles() {
    let with = |count| SolveManyRequest {
        puzzles: vec![EMPTY.into(); count],
        options: Some(SolveOptions {
            solution_limit: 1_000,
            omit_solutions: true,
            ..SolveOptions::default()
        }),
    };
    let status = ended_by(Settings::default(), with(11)).await;
    assert_eq!(status.code(), Code::InvalidArgument);
    assert_eq!(error_info(&status).reason, "OPTION_OUT_OF_RANGE");
    let violations = status.get_details_bad_request().unwrap().field_violations;
    assert_eq!(violations[0].field, "options.solution_limit");

    let server = Server::start(Settings::default()).await;
    let mut client = server.client().await;
    let mut answers = client
        .solve_many(tokio_stream::iter([with(10)]))
        .await
        .unwrap()
        .into_inner();
    let results = soon(answers.message()).await.unwrap().unwrap().results;
    assert!(results.iter().all(|result| result.solution_count == 1_000));
}

#[tokio::test]
async fn bytes_that_are_no_message() {
    let server = Server::start(Settings::default()).await;
    let mut grpc = Grpc::new(server.channel().await);
    grpc.ready().await.unwrap();
    // Field 1 as a number, where the contract has strings.
    let wrong = prost_types::Duration { seconds: 1, nanos: 0 };
    let codec: tonic_prost::ProstCodec<prost_types::Duration, prost_types::Duration> =
        tonic_prost::ProstCodec::default();
    let path = PathAndQuery::from_static("/sudoku.v1.SudokuService/SolveMany");
    let mut answers = grpc
        .streaming(Request::new(tokio_stream::once(wrong)), path, codec)
        .await
        .unwrap()
        .into_inner();
    let status = soon(answers.message()).await.unwrap_err();
    assert_eq!(status.code(), Code::Internal);
    let info = error_info(&status);
    assert_eq!(info.reason, "INTERNAL");
    assert_eq!(info.metadata["message"], "0");
}

#[tokio::test]
async fn more_streams_than_the_server_takes() {
    let mut settings = patient();
    settings.max_streams = 1;
    let server = Server::start(settings).await;
    let mut client = server.client().await;
    let messages = tokio_stream::once(endless_message());
    let open = soon(client.solve_many(messages)).await.unwrap();

    let refused = client.solve_many(tokio_stream::iter([message([PUZZLE])])).await;
    let status = refused.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted);
    assert_eq!(error_info(&status).reason, "OVERLOADED");
    assert!(status.get_details_retry_info().unwrap().retry_delay.is_some());

    drop(open);
    until("the stream is gone", || server.service.load().streams == 0).await;
    let mut answers = client
        .solve_many(tokio_stream::iter([message([PUZZLE])]))
        .await
        .unwrap()
        .into_inner();
    assert!(soon(answers.message()).await.unwrap().is_some());
}
