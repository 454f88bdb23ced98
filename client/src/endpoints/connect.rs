//! Makes the connections to a server.

use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tonic::ConnectError;
use tonic::codegen::http::Uri;
use tower::Service;

use super::address::{is_encrypted, unbracketed};
use super::refusal::{FirstWords, Refusal};

/// How long making a connection may take, its encryption included.
const WITHIN: Duration = Duration::from_secs(10);

/// Connects to one server.
#[derive(Clone)]
pub(super) struct Connector {
    pub(super) place: Place,
    /// How it is encrypted, and whom the server's certificate has to be for.
    pub(super) tls: Option<(TlsConnector, ServerName<'static>)>,
    /// What the server says where it closes a connection at once.
    pub(super) refusal: Refusal,
}

/// Where a server listens.
#[derive(Debug, Clone)]
pub(super) enum Place {
    Tcp(String, u16),
    Unix(PathBuf),
}

impl Place {
    /// That of `uri`, which the transport reads as `parsed`.
    pub(super) fn of(uri: &str, parsed: &Uri) -> Self {
        match uri.strip_prefix("unix:") {
            Some(path) => Self::Unix(path.into()),
            None => {
                let port = if is_encrypted(parsed) { 443 } else { 80 };
                let host = unbracketed(parsed.host().unwrap_or_default());
                Self::Tcp(host.to_owned(), parsed.port_u16().unwrap_or(port))
            }
        }
    }
}

/// A connection of any kind.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

pub(super) type Connected = FirstWords<Box<dyn Stream>>;

impl Connector {
    async fn connect(self) -> io::Result<TokioIo<Connected>> {
        let stream = self.place.reach().await?;
        let is_plain = self.tls.is_none() && matches!(self.place, Place::Tcp(..));
        let stream = match self.tls {
            None => stream,
            Some((tls, name)) => {
                let stream = tls.connect(name, stream).await?;
                if stream.get_ref().1.alpn_protocol() != Some(b"h2") {
                    return Err(io::Error::other("it speaks TLS, but not HTTP/2"));
                }
                Box::new(stream)
            }
        };
        Ok(TokioIo::new(FirstWords::of(stream, is_plain, self.refusal)))
    }
}

impl Place {
    async fn reach(&self) -> io::Result<Box<dyn Stream>> {
        match self {
            Self::Tcp(host, port) => {
                let stream = TcpStream::connect((host.as_str(), *port)).await?;
                stream.set_nodelay(true)?;
                Ok(Box::new(stream))
            }
            #[cfg(unix)]
            Self::Unix(path) => Ok(Box::new(tokio::net::UnixStream::connect(path).await?)),
            #[cfg(not(unix))]
            Self::Unix(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

impl Service<Uri> for Connector {
    type Response = TokioIo<Connected>;
    type Error = ConnectError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        let connecting = timeout(WITHIN, self.clone().connect());
        Box::pin(async move {
            let connected = connecting.await.unwrap_or_else(|_| {
                let late = format!("none within {} seconds", WITHIN.as_secs());
                Err(io::Error::new(io::ErrorKind::TimedOut, late))
            });
            connected.map_err(|error| ConnectError(error.into()))
        })
    }
}
