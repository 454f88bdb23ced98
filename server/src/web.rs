//! Calls from browsers: gRPC-Web, for pages of listed origins.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::str::FromStr;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::FutureExt;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue};
use http::uri::Uri;
use http::{Method, Request, Response};
use tonic::body::Body;
use tonic_web::{GrpcWebLayer, GrpcWebService};
use tower::Layer;
use tower_http::cors::{AllowOrigin, Cors, CorsLayer};

use crate::calls::Calls;

/// How long a browser may remember what it was allowed.
const MAX_AGE: Duration = Duration::from_secs(60 * 60);

/// Where a page comes from whose scripts may call the server, as `https://example.org` or `http://localhost:8080`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin(HeaderValue);

/// A text is no [`Origin`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an origin is a scheme, a host and perhaps a port, as https://example.org or http://localhost:8080")]
pub struct OriginError;

impl FromStr for Origin {
    type Err = OriginError;

    fn from_str(text: &str) -> Result<Self, OriginError> {
        let uri: Uri = text.parse().map_err(|_| OriginError)?;
        let (Some(scheme @ ("http" | "https")), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(OriginError);
        };
        // Browsers send it exactly so; anything more would never match.
        if format!("{scheme}://{authority}") != text || authority.as_str().contains('@') {
            return Err(OriginError);
        }
        text.parse().map(Self).map_err(|_| OriginError)
    }
}

/// The services as pages find them.
pub(crate) type Web = Cors<GrpcWebService<Plain>>;

/// What browsers are allowed.
#[derive(Debug, Clone)]
pub(crate) struct Pages(CorsLayer);

impl Pages {
    /// Lets in the scripts of these origins, and no others.
    pub fn new(origins: Vec<Origin>) -> Self {
        let named = |names: &[&'static str]| -> Vec<_> {
            names.iter().copied().map(HeaderName::from_static).collect()
        };
        let mut headers = named(&["grpc-timeout", "x-grpc-web", "x-user-agent"]);
        headers.extend([AUTHORIZATION, CONTENT_TYPE]);
        let layer = CorsLayer::new()
            .allow_origin(AllowOrigin::list(
                origins.into_iter().map(|Origin(origin)| origin),
            ))
            .allow_methods([Method::POST])
            .allow_headers(headers)
            .expose_headers(named(&["grpc-status", "grpc-message", "grpc-status-details-bin"]))
            .max_age(MAX_AGE);
        Self(layer)
    }

    /// Puts this in front of a connection's calls. Answers of all kinds pass it, so that scripts can read refusals too.
    pub fn guard(&self, calls: Calls) -> Web {
        self.0.layer(GrpcWebLayer::new().layer(Plain(calls)))
    }
}

/// The calls with the bodies that gRPC-Web is translated from and to.
#[derive(Debug, Clone)]
pub(crate) struct Plain(Calls);

impl tower::Service<Request<Body>> for Plain {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let answer = self.0.answer(request);
        Box::pin(answer.map(|answer| answer.map(|response| response.map(Body::new))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_what_browsers_send() {
        for good in ["https://example.org", "http://localhost:8080", "http://[::1]:1"] {
            good.parse::<Origin>().unwrap();
        }
        for wrong in [
            "",
            "*",
            "null",
            "example.org",
            "https://",
            "https://example.org/",
            "ftp://a",
            "https://a@b",
            "https://a b",
        ] {
            assert_eq!(wrong.parse::<Origin>(), Err(OriginError), "{wrong}");
        }
    }
}
