//! The calls of a connection, before the services see them.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::Arc;

use futures_util::future::Either;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper_util::service::{TowerToHyperService, TowerToHyperServiceFuture};
use tonic::Status;
use tonic::body::Body;
use tonic::service::Routes;

use crate::error::Error;
use crate::rejected::{Rejected, Rejection};
use crate::tokens::Tokens;

/// Load balancers ask for it, and have no token.
const HEALTH: &str = "/grpc.health.v1.Health/";

/// All services, behind what every call must pass.
#[derive(Debug, Clone)]
pub(crate) struct Calls {
    services: TowerToHyperService<Routes>,
    tokens: Option<Tokens>,
    rejected: Arc<Rejected>,
}

impl Calls {
    pub fn new(services: Routes, tokens: Option<Tokens>, rejected: Arc<Rejected>) -> Self {
        Self {
            services: TowerToHyperService::new(services),
            tokens,
            rejected,
        }
    }

    fn check(&self, request: &Request<Incoming>) -> Result<(), Error> {
        let Some(tokens) = &self.tokens else {
            return Ok(());
        };
        if request.uri().path().starts_with(HEALTH) || tokens.admit(request.headers()) {
            return Ok(());
        }
        self.rejected.add(Rejection::Unauthenticated);
        Err(Error::Unauthenticated)
    }
}

impl hyper::service::Service<Request<Incoming>> for Calls {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Either<
        Ready<Result<Response<Body>, Infallible>>,
        TowerToHyperServiceFuture<Routes, Request<Incoming>>,
    >;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        match self.check(&request) {
            Ok(()) => Either::Right(self.services.call(request)),
            Err(error) => Either::Left(ready(Ok(Status::from(error).into_http()))),
        }
    }
}
