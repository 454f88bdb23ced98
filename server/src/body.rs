//! The bodies of calls, bounded in time: a client may leave its request unfinished, or its answers unread.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Frame, SizeHint};
use tokio::task::AbortHandle;
use tokio::time::Sleep;
use tokio_util::task::task_tracker::TaskTrackerToken;
use tonic::Status;
use tonic::body::Body;

use crate::error::Error;

/// How long after a call's deadline its answers may still be fetched. A client that reads gets those that were ready, and
/// the status, at once. One that does not read gets only the status.
const GRACE: Duration = Duration::from_secs(1);

/// A request's body, all of which must come within `patience` once it is waited for.
pub(crate) fn arriving(body: Body, patience: Duration) -> Body {
    Body::new(Arriving {
        body,
        patience,
        timer: None,
    })
}

/// An answer's body with which its call ends, for a drain that waits for it: sent or given up.
pub(crate) fn counted(body: Body, token: TaskTrackerToken) -> Body {
    Body::new(Counted { body, _token: token })
}

/// An answer's body that is dropped some time after `deadline`, with all that it holds, though nobody polls it: the
/// transport does not, while the client takes no data.
pub(crate) fn ending(body: Body, deadline: Instant) -> Body {
    // A time too far away for the clock never comes.
    let Some(end) = deadline.checked_add(GRACE) else {
        return body;
    };
    let body = Arc::new(Mutex::new(Some(body)));
    let ended = Arc::clone(&body);
    let timer = tokio::spawn(async move {
        tokio::time::sleep_until(end.into()).await;
        let body = lock(&ended).take();
        // Dropped without the lock: it may be much.
        drop(body);
    });
    Body::new(Ending {
        body,
        complete: false,
        timer: timer.abort_handle(),
    })
}

#[derive(Debug)]
struct Arriving {
    body: Body,
    patience: Duration,
    /// Runs from when the body is first waited for. Most are there at once, and need none.
    timer: Option<Pin<Box<Sleep>>>,
}

impl http_body::Body for Arriving {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = &mut *self;
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(cx) {
            return Poll::Ready(frame);
        }
        let patience = this.patience;
        let timer = this
            .timer
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        timer
            .as_mut()
            .poll(cx)
            .map(|()| Some(Err(Error::Late { patience }.into())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[derive(Debug)]
struct Counted {
    body: Body,
    _token: TaskTrackerToken,
}

impl http_body::Body for Counted {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[derive(Debug)]
struct Ending {
    /// None once the timer has ended it.
    body: Arc<Mutex<Option<Body>>>,
    /// Whether the last frame is out.
    complete: bool,
    timer: AbortHandle,
}

impl http_body::Body for Ending {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if self.complete {
            return Poll::Ready(None);
        }
        let frame = match lock(&self.body).as_mut() {
            Some(body) => Pin::new(body).poll_frame(cx),
            None => Poll::Ready(Some(end(Error::Deadline))),
        };
        if let Poll::Ready(frame) = &frame {
            self.complete = match frame {
                Some(Ok(frame)) => frame.is_trailers(),
                Some(Err(_)) | None => true,
            };
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.complete || lock(&self.body).as_ref().is_some_and(Body::is_end_stream)
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.timer.abort();
    }
}

/// The trailers of a call that was ended, in which gRPC has the status.
pub(crate) fn end(error: Error) -> Result<Frame<Bytes>, Status> {
    let mut trailers = HeaderMap::new();
    Status::from(error).add_header(&mut trailers)?;
    Ok(Frame::trailers(trailers))
}

fn lock(body: &Mutex<Option<Body>>) -> MutexGuard<'_, Option<Body>> {
    // A body whose poll panicked is not polled again, and dropping it is sound.
    body.lock().unwrap_or_else(PoisonError::into_inner)
}
