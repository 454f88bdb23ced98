//! What a server says where it refuses a connection that seemed to stand.
//!
//! In TLS 1.3 a connection stands for the client before the server has looked at the client's certificate. If it refuses
//! that, its alert comes while the first call is written already, and may come after the write has failed, as the server
//! has closed the connection. The transport would tell nothing but that. The same goes for a server that answers with
//! something else than HTTP/2.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Why a server refused the last connection, where it did and told.
#[derive(Debug, Clone, Default)]
pub(crate) struct Refusal(Arc<Mutex<Option<Arc<io::Error>>>>);

impl Refusal {
    pub(super) fn reason(&self) -> Option<Arc<io::Error>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, reason: Option<Arc<io::Error>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = reason;
    }
}

/// What comes from a server in place of HTTP/2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Foreign {
    #[error("it answers with an alert of TLS")]
    Tls,
    #[error("it does not answer in HTTP/2")]
    Other,
    /// Where it may have waited for TLS.
    #[error("it hangs up before it has said anything")]
    Nothing,
}

impl Foreign {
    /// What begins with this byte. HTTP/2 begins with a frame of settings, whose length is a number of three bytes and far
    /// less than 65,536; TLS with the number of a kind of record, 21 for an alert.
    fn beginning_with(first: u8) -> Option<Self> {
        match first {
            0 => None,
            21 => Some(Self::Tls),
            _ => Some(Self::Other),
        }
    }
}

/// A connection that notes what the server says first.
pub(super) struct FirstWords<S> {
    stream: S,
    /// Whether what is said could as well be in TLS.
    is_plain: bool,
    state: State,
    refusal: Refusal,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing has come yet.
    Silent,
    /// Nor can anything be written any more. What comes next says why.
    Closed,
    /// Something in HTTP/2 has come.
    Heard,
}

impl<S> FirstWords<S> {
    pub(super) fn of(stream: S, is_plain: bool, refusal: Refusal) -> Self {
        Self {
            stream,
            is_plain,
            state: State::Silent,
            refusal,
        }
    }

    /// Whether the first that came, if anything did, is what the connection is for.
    fn hear(&mut self, came: io::Result<Option<u8>>) -> io::Result<()> {
        let heard = match came {
            Ok(Some(first)) => match Foreign::beginning_with(first) {
                None => Ok(()),
                Some(foreign) => Err(io::Error::new(io::ErrorKind::InvalidData, foreign)),
            },
            Ok(None) | Err(_) if self.is_plain => {
                Err(io::Error::new(io::ErrorKind::UnexpectedEof, Foreign::Nothing))
            }
            Ok(None) => return Ok(()),
            Err(error) => Err(error),
        };
        let heard = heard.map_err(Arc::new);
        self.refusal.set(heard.as_ref().err().cloned());
        self.state = State::Heard;
        heard.map_err(|error| io::Error::new(error.kind(), error))
    }

    /// What was written, or flushed, as far as that is worth knowing: why it cannot be done is said by what is read next.
    fn written<T>(&mut self, written: Poll<io::Result<T>>, all: T) -> Poll<io::Result<T>> {
        match written {
            Poll::Ready(Err(_)) if self.state == State::Silent => {
                self.state = State::Closed;
                Poll::Ready(Ok(all))
            }
            other => other,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for FirstWords<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = ready!(Pin::new(&mut self.stream).poll_read(cx, buffer));
        if self.state == State::Heard || before == buffer.capacity() {
            return Poll::Ready(read);
        }
        let first = read.map(|()| buffer.filled().get(before).copied());
        Poll::Ready(self.hear(first))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for FirstWords<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.state == State::Closed {
            return Poll::Ready(Ok(bytes.len()));
        }
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.written(written, bytes.len())
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let all = slices.iter().map(|slice| slice.len()).sum();
        if self.state == State::Closed {
            return Poll::Ready(Ok(all));
        }
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.written(written, all)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.state == State::Closed {
            return Poll::Ready(Ok(()));
        }
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        self.written(flushed, ())
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
