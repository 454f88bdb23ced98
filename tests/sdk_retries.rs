//! What the SDK tries again, and what never.

mod common;

use std::convert::Infallible;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use common::{EASY, assert_solves, collect, grid, interrupted, puzzle};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use sudoku_client::{Error, SudokuClient};
use sudoku_server::{Rpc, Settings};
use tonic::body::Body;
use tonic::codegen::http;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

/// Fails some calls with a status, and passes on the others.
#[derive(Clone)]
struct Failing {
    service: Rpc,
    status: Status,
    /// The numbers of those that fail.
    failing: Range<usize>,
    calls: Arc<AtomicUsize>,
}

impl Failing {
    /// Fails the first so many.
    fn new(failures: usize, status: Status) -> Self {
        Self {
            service: sudoku_server::in_process(Settings::default()).unwrap(),
            status,
            failing: 0..failures,
            calls: Arc::default(),
        }
    }

    fn client(&self) -> SudokuClient<Self> {
        SudokuClient::from_service(self.clone()).with_retries(4)
    }

    fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }
}

impl tower::Service<http::Request<Body>> for Failing {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = <Rpc as tower::Service<http::Request<Body>>>::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.service.poll_ready(cx)
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        if self.failing.contains(&number) {
            let answer = self.status.clone().into_http();
            return Box::pin(async { Ok(answer) });
        }
        self.service.call(request)
    }
}

fn busy(delay: Option<Duration>) -> Status {
    match delay {
        Some(delay) => come_back(Code::ResourceExhausted, delay),
        None => Status::resource_exhausted("too much"),
    }
}

/// What says when to try again.
fn come_back(code: Code, delay: Duration) -> Status {
    let mut details = ErrorDetails::new();
    details.set_retry_info(Some(delay));
    Status::with_error_details(code, "come back", details)
}

#[tokio::test]
async fn what_passes_is_tried_again() {
    for status in [
        Status::unavailable("draining"),
        busy(Some(Duration::from_millis(10))),
    ] {
        let service = Failing::new(2, status);
        assert!(service.client().solve(&grid(EASY)).await.unwrap().is_unique());
        assert_eq!(service.calls(), 3);

        let service = Failing::new(3, service.status);
        let (outcomes, error) = collect(
            service
                .client()
                .solve_iter((0..100).map(|number| puzzle(number).0)),
        )
        .await;
        assert!(error.is_none(), "{error:?}");
        assert_eq!(outcomes.len(), 100);
        for (number, outcome) in outcomes.iter().enumerate() {
            assert_solves(number, outcome);
        }
    }
}

#[tokio::test]
async fn nothing_else_is_tried_again() {
    let codes = [
        Code::Cancelled,
        Code::Unknown,
        Code::InvalidArgument,
        Code::DeadlineExceeded,
        Code::NotFound,
        Code::PermissionDenied,
        Code::FailedPrecondition,
        Code::Aborted,
        Code::OutOfRange,
        Code::Internal,
        Code::DataLoss,
        Code::Unauthenticated,
    ];
    let statuses = codes.map(|code| Status::new(code, "no"));
    for status in statuses.into_iter().chain([busy(None)]) {
        let code = status.code();
        let service = Failing::new(1, status);
        service.client().solve(&grid(EASY)).await.unwrap_err();
        assert_eq!(service.calls(), 1, "{code:?}");

        let service = Failing::new(1, service.status);
        let (_, error) = collect(service.client().solve_iter([grid(EASY)])).await;
        interrupted(error, 0);
        assert_eq!(service.calls(), 1, "{code:?}");
    }
}

#[tokio::test]
async fn tries_come_to_an_end_with_the_last_error() {
    let service = Failing::new(usize::MAX, Status::unavailable("gone for good"));
    let error = service.client().solve(&grid(EASY)).await.unwrap_err();
    assert_eq!(error.service().unwrap().message(), "gone for good");
    assert_eq!(service.calls(), 5);
    assert_eq!(
        service
            .client()
            .with_retries(0)
            .solve(&grid(EASY))
            .await
            .unwrap_err()
            .to_string(),
        error.to_string()
    );
    assert_eq!(service.calls(), 6);
}

#[tokio::test]
async fn a_deadline_bounds_the_tries() {
    for code in [Code::ResourceExhausted, Code::Unavailable] {
        let status = come_back(code, Duration::from_secs(3_600));
        let service = Failing::new(usize::MAX, status);
        let client = service.client().with_deadline(Duration::from_secs(60));
        let error = client.solve(&grid(EASY)).await.unwrap_err();
        assert_eq!(error.service().unwrap().message(), "come back");
        assert_eq!(service.calls(), 1);
        let (_, error) = collect(client.solve_iter([grid(EASY)])).await;
        assert!(matches!(interrupted(error, 0), Error::Service(_)));
        assert_eq!(service.calls(), 2);
    }
}

/// Answers one message of each stream, and then fails it.
#[derive(Clone)]
struct Faltering(Rpc);

impl tower::Service<http::Request<Body>> for Faltering {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<http::Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let is_stream = request.uri().path().ends_with("/SolveMany");
        let answer = self.0.call(request);
        Box::pin(async move {
            let mut answer = answer.await?;
            if is_stream && let Some(first) = answer.body_mut().frame().await {
                let mut trailers = http::HeaderMap::new();
                Status::unavailable("faltered").add_header(&mut trailers).unwrap();
                let frames = [first, Ok(Frame::trailers(trailers))];
                *answer.body_mut() = Body::new(StreamBody::new(tokio_stream::iter(frames)));
            }
            Ok(answer)
        })
    }
}

/// More often in all than a call goes back to a server that gives it nothing.
#[tokio::test]
async fn a_server_that_gets_on_is_gone_back_to_however_often_it_fails() {
    let service = Faltering(sudoku_server::in_process(Settings::default()).unwrap());
    let client = SudokuClient::from_service(service).with_retries(1);
    // A message has 2,048 of them at most.
    let puzzles = (0..6 * 2_048).map(|number| puzzle(number).0);
    let (outcomes, error) = collect(client.solve_iter(puzzles)).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(outcomes.len(), 6 * 2_048);
    for (number, outcome) in outcomes.iter().enumerate() {
        assert_solves(number, outcome);
    }
}

/// Makes so many calls at once, which must all fail.
async fn all_fail(client: &SudokuClient<Failing>, count: usize) {
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..count {
        let client = client.clone();
        calls.spawn(async move { client.solve(&grid(EASY)).await.is_err() });
    }
    assert!(calls.join_all().await.into_iter().all(|failed| failed));
}

#[tokio::test]
async fn an_outage_is_not_made_worse() {
    const CALLS: usize = 1_000;
    let service = Failing::new(usize::MAX, Status::unavailable("out"));
    let client = service.client();
    all_fail(&client, CALLS).await;
    let retries = service.calls() - CALLS;
    assert!(
        (1..CALLS).contains(&retries),
        "{retries} retries of {CALLS} calls"
    );
}

/// A fifth as often as calls succeed, and not only the hundred times that every client may.
#[tokio::test]
async fn a_client_with_many_calls_may_retry_more() {
    const CALLS: usize = 500;
    let service = Failing {
        failing: CALLS..usize::MAX,
        ..Failing::new(0, Status::unavailable("out"))
    };
    let client = service.client();
    for _ in 0..CALLS {
        client.solve(&grid(EASY)).await.unwrap();
    }
    all_fail(&client, CALLS).await;
    let retries = service.calls() - 2 * CALLS;
    assert!((151..CALLS).contains(&retries), "{retries} retries");
}
