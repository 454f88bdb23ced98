//! The service as HTTP requests reach it, whether over a socket or from within the process.
//!
//! tonic decides some things before a handler runs, and differently from the contract. They are put right here: a message
//! that is too large has an error of the contract, deadlines bound a call from its first byte to its last, and a panic
//! fails the call and nothing else.

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
use crate::packing::Packing;
use crate::panics;
use crate::service::Service;
use crate::settings::{Settings, SettingsError};

/// The service as a tower service: it answers every call as the contract says, errors included.
///
/// Give it to a router, or to a generated client to call it without a socket. It needs a tokio runtime with timers, on
/// which it also solves: the more threads that has, the more streams are solved at a time.
#[derive(Debug, Clone)]
pub struct Rpc {
    service: Arc<Service>,
    /// The methods that take a message and give one.
    unary: SudokuServiceServer<Service>,
}

const SOLVE_MANY: &str = "/sudoku.v1.SudokuService/SolveMany";

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
pub fn in_process(settings: Settings) -> Result<Rpc, SettingsError> {
    Ok(Service::new(settings)?.rpc())
}

impl Service {
    /// The tower service that answers calls with this service.
    pub fn rpc(&self) -> Rpc {
        let service = Arc::new(self.clone());
        let limit = self.settings.limits.max_solve_bytes;
        Rpc {
            unary: SudokuServiceServer::from_arc(Arc::clone(&service))
                .accept_compressed(CompressionEncoding::Gzip)
                .send_compressed(CompressionEncoding::Gzip)
                .max_decoding_message_size(limit as usize),
            service,
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
        let reply = self.clone().reply(request);
        Box::pin(async {
            Ok(reply
                .await
                .unwrap_or_else(|error| Status::from(error).into_http()))
        })
    }
}

impl Rpc {
    async fn reply(self, request: Request<Body>) -> Result<Response<Body>, Error> {
        let token = self.service.enter()?;
        let packing = Packing::of_requests(request.headers())?;
        let deadline = Deadline::read(request.headers()).map_err(|problem| Error::malformed(&problem))?;
        let counted = |body| body::counted(body, token);
        match request.uri().path() {
            SOLVE_MANY => self.stream(request, packing, deadline, counted),
            _ => Ok(self.single(request, packing, deadline).await?.map(counted)),
        }
    }

    fn stream(
        self,
        request: Request<Body>,
        packing: Packing,
        deadline: Option<Deadline>,
        counted: impl FnOnce(Body) -> Body,
    ) -> Result<Response<Body>, Error> {
        let deadline = deadline.map(|Deadline(instant)| instant);
        let response = panics::catch("a call", || self.service.solve_many(request, packing, deadline))??;
        let response = response.map(counted);
        Ok(match deadline {
            // The call is counted out with what is dropped at the deadline, whether or not the client reads.
            Some(deadline) => response.map(|body| body::ending(body, deadline)),
            None => response,
        })
    }

    async fn single(
        mut self,
        mut request: Request<Body>,
        packing: Packing,
        deadline: Option<Deadline>,
    ) -> Result<Response<Body>, Error> {
        if packing.for_answers(request.headers()) == Packing::None {
            request.headers_mut().remove("grpc-accept-encoding");
        }
        let patience = self.service.settings.request_deadline;
        let mut request = request.map(|body| body::arriving(body, patience));
        let Some(deadline) = deadline else {
            return self.call_tonic(request).await;
        };
        request.extensions_mut().insert(deadline);
        // The methods look at the deadline themselves. This is for a request that does not arrive in time.
        tokio::time::timeout_at(deadline.0.into(), self.call_tonic(request))
            .await
            .unwrap_or(Err(Error::Deadline))
    }

    async fn call_tonic(&mut self, request: Request<Body>) -> Result<Response<Body>, Error> {
        let response = panics::catch_in("a call", tower::Service::call(&mut self.unary, request)).await?;
        match response {
            Ok(response) => self.settle(response),
            Err(never) => match never {},
        }
    }

    /// Replaces an error that tonic made by itself.
    fn settle(&self, response: Response<Body>) -> Result<Response<Body>, Error> {
        let limit = self.service.settings.limits.max_solve_bytes;
        let headers = response.headers();
        // Ours have details, and a success has its status in the trailers.
        if !headers.contains_key(Status::GRPC_STATUS) || headers.contains_key("grpc-status-details-bin") {
            return Ok(response);
        }
        match Status::from_header_map(headers).and_then(|status| Error::of_tonic(&status, limit)) {
            Some(error) => Err(error),
            None => Ok(response),
        }
    }
}
