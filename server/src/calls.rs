//! The calls of a connection, before the services see them.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tonic::Status;
use tonic::body::Body;
use tonic::service::Routes;
use tower::BoxError;

use crate::body;
use crate::error::Error;
use crate::lifetime::{Active, Activity};
use crate::metrics::Metrics;
use crate::panics;
use crate::record::Record;
use crate::rejected::{Rejected, Rejection};
use crate::sample::Sample;
use crate::service::Service;
use crate::tokens::Tokens;
use crate::traces::Traces;

/// Load balancers ask for it, and have no token.
const HEALTH: &str = "/grpc.health.v1.Health/";

/// Both versions of it.
const REFLECTION: &str = "/grpc.reflection.";

/// What a header counts for besides its name and value (RFC 9113, section 6.5.2).
const HEADER_OVERHEAD: usize = 32;

/// Where a panic was that nobody nearer to it has caught.
const PLACE: &str = "the way to a service and back";

/// What becomes of a call.
pub(crate) type Answer = Pin<Box<dyn Future<Output = Result<Response<Placed>, Infallible>> + Send>>;

/// All services, behind what every call must pass.
#[derive(Debug, Clone)]
pub(crate) struct Calls {
    services: TowerToHyperService<Routes>,
    tokens: Option<Tokens>,
    /// Places for calls, on all connections together.
    places: Places,
    max_header_bytes: usize,
    rejected: Arc<Rejected>,
    metrics: Arc<Metrics>,
    failures: Arc<Sample>,
    traces: Option<Traces>,
    /// Those of the connection.
    activity: Arc<Activity>,
    peer: Arc<str>,
}

impl Calls {
    pub fn new(services: Routes, tokens: Option<Tokens>, traces: Option<Traces>, service: &Service) -> Self {
        Self {
            services: TowerToHyperService::new(services),
            tokens,
            places: Places::new(service.settings.max_calls),
            max_header_bytes: service.settings.max_header_bytes as usize,
            rejected: Arc::clone(&service.rejected),
            metrics: Arc::clone(&service.metrics),
            failures: Arc::new(Sample::new()),
            traces,
            activity: Activity::new(),
            peer: Arc::from(""),
        }
    }

    /// The same for a connection with this peer, and the connection's activity.
    pub fn on_connection(&self, peer: &str) -> (Self, Arc<Activity>) {
        let activity = Activity::new();
        let calls = Self {
            activity: Arc::clone(&activity),
            peer: peer.into(),
            ..self.clone()
        };
        (calls, activity)
    }

    /// Gives a place to a call that may go on.
    fn admit<B>(&self, request: &Request<B>) -> Result<OwnedSemaphorePermit, Rejection> {
        if header_bytes(request.headers()) > self.max_header_bytes {
            return Err(Rejection::Headers);
        }
        if !self.authenticated(request) {
            return Err(Rejection::Unauthenticated);
        }
        Arc::clone(self.places.of(request.uri().path()))
            .try_acquire_owned()
            .map_err(|_| Rejection::Overloaded)
    }

    /// Answers a call, or refuses it.
    pub fn answer<B>(&self, mut request: Request<B>) -> Answer
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let active = self.activity.enter();
        let call = self.metrics.call(request.uri().path());
        let (failures, peer) = (Arc::clone(&self.failures), Arc::clone(&self.peer));
        let mut record = Record::new(call, self.traces.as_ref(), failures, peer, request.headers());
        if let Some(messages) = record.messages(self.traces.as_ref()) {
            request.extensions_mut().insert(messages);
        }
        let admitted = match self.admit(&request) {
            Ok(place) => Ok((place, panics::catch(PLACE, || self.services.call(request)))),
            Err(reason) => {
                self.rejected.add(reason);
                Err(reason)
            }
        };
        Box::pin(async {
            let (place, response) = match admitted {
                Ok((place, answer)) => (Some(place), caught(answer).await?),
                Err(reason) => (None, refusal(reason)),
            };
            record.call.ends(response.headers());
            if response.status() != StatusCode::OK {
                record.call.breaks();
            }
            Ok(response.map(|body| Placed {
                body,
                broken: false,
                record,
                _place: place,
                _active: active,
            }))
        })
    }

    fn authenticated<B>(&self, request: &Request<B>) -> bool {
        let Some(tokens) = &self.tokens else {
            return true;
        };
        is_health(request) || tokens.admit(request.headers())
    }
}

/// The answer to a call, also where making it panics: a bug may be in any of the services.
async fn caught<F>(answer: Result<F, Error>) -> Result<Response<Body>, Infallible>
where
    F: Future<Output = Result<Response<Body>, Infallible>>,
{
    let answer = match answer {
        Ok(answer) => panics::catch_in(PLACE, answer).await,
        Err(error) => Err(error),
    };
    answer.unwrap_or_else(|error| Ok(Status::from(error).into_http()))
}

fn is_health<B>(request: &Request<B>) -> bool {
    request.uri().path().starts_with(HEALTH)
}

/// The places for calls.
///
/// Health has some of its own: it takes no token, and whoever has none may hold all of these, since a `Watch` never ends, but
/// none of the others. So has reflection, and few: its streams leave unread what a client sends that takes no answers, which
/// in small frames takes some 4 MiB each, and they are not counted by `max_streams`.
#[derive(Debug, Clone)]
struct Places {
    health: Arc<Semaphore>,
    reflection: Arc<Semaphore>,
    others: Arc<Semaphore>,
}

impl Places {
    /// So many in all, of which an eighth is for health and a 128th for reflection. There is one of each at least.
    fn new(calls: usize) -> Self {
        let health = (calls / 8).max(1);
        let reflection = (calls / 128).max(1);
        let others = calls.saturating_sub(health + reflection).max(1);
        let places = |count| Arc::new(Semaphore::new(count));
        Self {
            health: places(health),
            reflection: places(reflection),
            others: places(others),
        }
    }

    /// Those for calls of this path.
    fn of(&self, path: &str) -> &Arc<Semaphore> {
        match path {
            path if path.starts_with(HEALTH) => &self.health,
            path if path.starts_with(REFLECTION) => &self.reflection,
            _ => &self.others,
        }
    }
}

/// The answer to a call that may not go on.
fn refusal(reason: Rejection) -> Response<Body> {
    match reason {
        Rejection::Unauthenticated => Status::from(Error::Unauthenticated).into_http(),
        Rejection::Headers => {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
            response
        }
        _ => Status::from(Error::Overloaded).into_http(),
    }
}

fn header_bytes(headers: &HeaderMap) -> usize {
    headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len() + HEADER_OVERHEAD)
        .sum()
}

impl hyper::service::Service<Request<Incoming>> for Calls {
    type Response = Response<Placed>;
    type Error = Infallible;
    type Future = Answer;

    fn call(&self, request: Request<Incoming>) -> Answer {
        self.answer(request)
    }
}

/// The body of an answer, with which its call is over: counted out, its place given back, and perhaps logged.
#[derive(Debug)]
pub(crate) struct Placed {
    body: Body,
    /// Whether it panicked, and must not be polled again.
    broken: bool,
    record: Record,
    _place: Option<OwnedSemaphorePermit>,
    _active: Active,
}

impl http_body::Body for Placed {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if self.broken {
            return Poll::Ready(None);
        }
        let body = &mut self.body;
        let frame = panics::catch(PLACE, || Pin::new(body).poll_frame(cx)).unwrap_or_else(|error| {
            self.broken = true;
            Poll::Ready(Some(body::end(error)))
        });
        if let Poll::Ready(Some(Ok(frame))) = &frame {
            match frame.trailers_ref() {
                Some(trailers) => self.record.call.ends(trailers),
                None => self.record.call.message(),
            }
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.broken || self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
