//! The endpoints of a client as one tower service, for the raw stubs and for layers of one's own.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use http_body::{Frame, SizeHint};
use tonic::body::Body;
use tonic::codegen::{Body as HttpBody, Bytes, Service, StdError as BoxError, http};
use tonic::transport::Channel;

use crate::calls::Calls;
use crate::deadline::Deadline;
use crate::endpoints::Lease;
use crate::{Transport, telemetry};

/// The servers of a client as one service: each call goes to the less loaded of two that serve, with the client's token.
///
/// [`SudokuClient::service`](crate::SudokuClient::service) returns it. One that cannot be reached is left out, as by the
/// client itself. Nothing is retried: what a call asks for is not known here.
///
/// ```no_run
/// use sudoku_client::SudokuClient;
/// use sudoku_proto::v1::GetServerInfoRequest;
/// use sudoku_proto::v1::sudoku_service_client::SudokuServiceClient;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let client = SudokuClient::connect("http://127.0.0.1:50051").await?;
/// let mut raw = SudokuServiceClient::new(client.service());
/// let info = raw.get_server_info(GetServerInfoRequest {}).await?.into_inner();
/// println!("{}", info.version);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Balanced<T = Channel> {
    calls: Calls<T>,
}

impl<T> Balanced<T> {
    pub(crate) fn new(calls: Calls<T>) -> Self {
        Self { calls }
    }
}

impl<T: Transport<Future: 'static, ResponseBody: 'static>> Service<http::Request<Body>> for Balanced<T> {
    type Response = http::Response<Body>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let calls = self.calls.clone();
        Box::pin(async move {
            let mut lease = calls.attempts(Deadline::after(None)).lease(|_| true).await?;
            lease.sent(1);
            let request = with_headers(&calls, request);
            let mut service = lease.service();
            // What fails is turned into an error of this side before the next wait: it need not cross threads.
            let ready = poll_fn(|cx| service.poll_ready(cx)).await.map_err(Into::into);
            let answer = match ready {
                Ok(()) => service.call(request).await.map_err(Into::into),
                Err(error) => Err(error),
            };
            match answer {
                Ok(answer) => Ok(answer.map(|body| {
                    Body::new(Leased {
                        body: Body::new(body),
                        _lease: lease,
                    })
                })),
                Err(error) => {
                    if calls.policy.looks_after() {
                        lease.endpoint().eject();
                    }
                    Err(error)
                }
            }
        })
    }
}

/// The request with what all calls of the client carry.
fn with_headers<T: Transport>(calls: &Calls<T>, request: http::Request<Body>) -> http::Request<Body> {
    let (mut head, body) = request.into_parts();
    let mut metadata = tonic::metadata::MetadataMap::from_headers(std::mem::take(&mut head.headers));
    if let Some(token) = &calls.token {
        token.add_to(&mut metadata);
    }
    telemetry::inject(&mut metadata);
    head.headers = metadata.into_headers();
    http::Request::from_parts(head, body)
}

/// The body of an answer, which counts as load until it has ended.
struct Leased<T: Transport> {
    body: Body,
    _lease: Lease<T>,
}

impl<T: Transport> HttpBody for Leased<T> {
    type Data = Bytes;
    type Error = tonic::Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, tonic::Status>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
