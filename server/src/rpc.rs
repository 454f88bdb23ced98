//! The service as HTTP requests reach it, whether over a socket or from within the process.
//!
//! tonic decides some things before a handler runs, and differently from the contract. They are put right here: the size
//! limits differ between methods and have their own error, deadlines bound a call from its first byte to its last, and a
//! panic fails the call and nothing else.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{Request, Response};
use sudoku_proto::wire::sudoku_service_server::{SERVICE_NAME, SudokuServiceServer};
use tonic::Status;
use tonic::body::Body;
use tonic::codec::CompressionEncoding;
use tonic::server::NamedService;

use crate::body;
use crate::deadline::Deadline;
use crate::error::Error;
use crate::panics;
use crate::service::{Service, StartError};
use crate::settings::Settings;

/// The service as a tower service: it answers every call as the contract says, errors included.
///
/// Give it to a router, or to a generated client to call it without a socket. It needs a tokio runtime with timers.
#[derive(Debug, Clone)]
pub struct Rpc {
    unary: Method,
    solve_many: Method,
}

/// The generated server with one size limit: it knows no other for its methods.
#[derive(Debug, Clone)]
struct Method {
    service: Arc<Service>,
    server: SudokuServiceServer<Service>,
    limit: u32,
    shape: Shape,
}

/// Whether a method takes a message and gives one, or streams of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Unary,
    Streaming,
}

type Reply = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

/// Makes a service for calls from within this process, without a socket.
///
/// ```
/// use sudoku_proto::v1::sudoku_service_client::SudokuServiceClient;
/// use sudoku_proto::v1::{Outcome, SolveRequest};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut client = SudokuServiceClient::new(sudoku_server::in_process(Default::default())?);
/// let puzzle = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
/// let response = client.solve(SolveRequest { puzzle: puzzle.into(), options: None }).await?;
/// assert_eq!(response.into_inner().result.unwrap().outcome(), Outcome::Unique);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Those of [`Service::new`].
pub fn in_process(settings: Settings) -> Result<Rpc, StartError> {
    Ok(Service::new(settings)?.rpc())
}

impl Service {
    /// The tower service that answers calls with this service.
    pub fn rpc(&self) -> Rpc {
        let service = Arc::new(self.clone());
        let method = |shape, limit: u32| Method {
            service: Arc::clone(&service),
            server: SudokuServiceServer::from_arc(Arc::clone(&service))
                .accept_compressed(CompressionEncoding::Gzip)
                .send_compressed(CompressionEncoding::Gzip)
                .max_decoding_message_size(limit as usize),
            limit,
            shape,
        };
        let limits = &self.settings.limits;
        Rpc {
            unary: method(Shape::Unary, limits.max_solve_bytes),
            solve_many: method(Shape::Streaming, limits.max_message_bytes),
        }
    }
}

impl NamedService for Rpc {
    const NAME: &'static str = SERVICE_NAME;
}

impl tower::Service<Request<Body>> for Rpc {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Reply;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        // A service that has no room for a call refuses it: waiting here would hold up the whole connection.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Reply {
        let method = match request.uri().path().rsplit('/').next() {
            Some("SolveMany") => &self.solve_many,
            _ => &self.unary,
        };
        let reply = method.clone().reply(request);
        Box::pin(async {
            Ok(reply
                .await
                .unwrap_or_else(|error| Status::from(error).into_http()))
        })
    }
}

impl Method {
    async fn reply(mut self, mut request: Request<Body>) -> Result<Response<Body>, Error> {
        let token = self.service.enter()?;
        compress_as_asked(&mut request);
        let deadline = Deadline::read(request.headers()).map_err(|problem| Error::malformed(&problem))?;
        if self.shape == Shape::Unary {
            let patience = self.service.settings.request_deadline;
            request = request.map(|body| body::arriving(body, patience));
        }
        let response = match deadline {
            Some(deadline) => {
                request.extensions_mut().insert(deadline);
                // The methods look at the deadline themselves. This is for a request that does not arrive in time.
                tokio::time::timeout_at(deadline.0.into(), self.call(request))
                    .await
                    .unwrap_or(Err(Error::Deadline))?
            }
            None => self.call(request).await?,
        };
        let response = response.map(|body| body::counted(body, token));
        Ok(match deadline {
            // An answer in one piece holds nothing but itself.
            Some(deadline) if self.shape == Shape::Streaming => {
                response.map(|body| body::ending(body, deadline.0))
            }
            _ => response,
        })
    }

    async fn call(&mut self, request: Request<Body>) -> Result<Response<Body>, Error> {
        let response = panics::catch_in("a call", tower::Service::call(&mut self.server, request)).await?;
        match response {
            Ok(response) => self.settle(response),
            Err(never) => match never {},
        }
    }

    /// Replaces an error that tonic made by itself.
    fn settle(&self, response: Response<Body>) -> Result<Response<Body>, Error> {
        let headers = response.headers();
        // Ours have details, and a success has its status in the trailers.
        if !headers.contains_key(Status::GRPC_STATUS) || headers.contains_key("grpc-status-details-bin") {
            return Ok(response);
        }
        match Status::from_header_map(headers).and_then(|status| Error::of_tonic(&status, self.limit)) {
            Some(error) => Err(error),
            None => Ok(response),
        }
    }
}

/// Most gRPC clients say that they take gzip, always. Packing each answer for them would cost more than all the solving,
/// so only those are meant that pack their requests too.
fn compress_as_asked(request: &mut Request<Body>) {
    let headers = request.headers_mut();
    if headers
        .get("grpc-encoding")
        .is_none_or(|encoding| encoding == "identity")
    {
        headers.remove("grpc-accept-encoding");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_packed_only_for_those_who_pack() {
        let mut request = Request::builder()
            .header("grpc-accept-encoding", "identity,gzip")
            .body(Body::empty())
            .unwrap();
        let mut packed = Request::builder()
            .header("grpc-accept-encoding", "identity,gzip")
            .header("grpc-encoding", "gzip")
            .body(Body::empty())
            .unwrap();
        compress_as_asked(&mut request);
        compress_as_asked(&mut packed);
        assert!(!request.headers().contains_key("grpc-accept-encoding"));
        assert!(packed.headers().contains_key("grpc-accept-encoding"));
    }
}
