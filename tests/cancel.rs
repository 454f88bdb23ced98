//! When a client goes away, its work ends.

mod support;

use sudoku_proto::v1::sudoku_service_client::SudokuServiceClient;
use sudoku_server::{Load, Service};
use support::{PUZZLE, Server, endless, endless_message, message, patient, soon, until};
use tokio_stream::StreamExt;
use tonic::Request;
use tonic::transport::Endpoint;

#[tokio::test]
async fn a_call_that_is_given_up() {
    let server = Server::start(patient()).await;
    let mut client = server.client().await;
    let call = tokio::spawn(async move { client.solve(endless()).await });
    until("the call runs", || server.service.load().solves == 1).await;
    call.abort();
    until("the search is gone", || server.service.load().solves == 0).await;
}

/// A search takes more of the thread at a time then, but lets go of it. The test has a thread of its own to notice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_beside_streams_that_is_given_up() {
    let server = Server::start(patient()).await;
    let mut client = server.client().await;
    let messages = tokio_stream::iter([endless_message()]).chain(tokio_stream::pending());
    let stream = soon(client.solve_many(messages)).await.unwrap();
    until("the stream is served", || server.service.load().messages == 1).await;
    let call = tokio::spawn(async move { client.solve(endless()).await });
    until("the call runs", || server.service.load().solves == 1).await;
    call.abort();
    until("the search is gone", || server.service.load().solves == 0).await;
    drop(stream);
}

#[tokio::test]
async fn a_client_that_vanishes() {
    let server = Server::start(patient()).await;
    // A runtime of its own, so that the whole connection goes with it.
    let elsewhere = tokio::runtime::Runtime::new().unwrap();
    let address = server.address;
    elsewhere.spawn(async move {
        let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
        let mut client = SudokuServiceClient::new(endpoint.connect().await.unwrap());
        client.solve(endless()).await
    });
    until("the call runs", || server.service.load().solves == 1).await;
    elsewhere.shutdown_background();
    until("the search is gone", || server.service.load().solves == 0).await;
}

/// Waits until a stream of 20 endless messages keeps the server busy.
async fn until_busy(server: &Server) {
    let threads = std::thread::available_parallelism().unwrap().get();
    until("all threads are busy", || {
        let load = server.service.load();
        load.busy_threads == threads && load.messages == 20
    })
    .await;
}

async fn until_idle(server: &Server) {
    until("nothing is left of it", || {
        server.service.load() == Load::default()
    })
    .await;
}

#[tokio::test]
async fn a_stream_that_is_cancelled() {
    let server = Server::start(patient()).await;
    let mut client = server.client().await;
    let messages = tokio_stream::iter(vec![endless_message(); 20]).chain(tokio_stream::pending());
    let mut request = Request::new(messages);
    // With tonic's client it takes this where messages may still be sent: dropping the answers ends nothing.
    let handle = request.cancellation_handle();
    let _answers = soon(client.solve_many(request)).await.unwrap();
    until_busy(&server).await;
    handle.cancel();
    until_idle(&server).await;
}

#[tokio::test]
async fn a_stream_whose_answers_nobody_wants() {
    let server = Server::start(patient()).await;
    let mut client = server.client().await;
    let messages = tokio_stream::iter(vec![endless_message(); 20]);
    let answers = soon(client.solve_many(messages)).await.unwrap();
    until_busy(&server).await;
    drop(answers);
    until_idle(&server).await;
}

#[tokio::test]
async fn a_stream_within_the_process() {
    let service = Service::new(patient()).unwrap();
    let mut client = SudokuServiceClient::new(service.rpc());
    let messages = tokio_stream::iter(vec![endless_message(); 20]).chain(tokio_stream::pending());
    let mut answers = client.solve_many(messages).await.unwrap().into_inner();
    // Nothing runs that nobody polls.
    assert_eq!(service.load().messages, 0);
    tokio::select! {
        answer = answers.message() => panic!("{answer:?}"),
        () = until("the messages are taken", || service.load().messages == 20) => {}
    }
    drop(answers);
    until("the threads are idle", || service.load() == Load::default()).await;
}

#[tokio::test]
async fn a_stream_of_many_easy_puzzles() {
    let server = Server::start(patient()).await;
    let mut client = server.client().await;
    let messages = std::iter::repeat_with(|| message(vec![PUZZLE; 2_000]));
    let mut request = Request::new(tokio_stream::iter(messages));
    let handle = request.cancellation_handle();
    let _answers = soon(client.solve_many(request)).await.unwrap();
    until("it runs", || server.service.load().messages > 0).await;
    handle.cancel();
    until_idle(&server).await;
}
