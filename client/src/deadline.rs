//! The deadline of a call: sent to the service, and kept here.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};
use tonic::{Request, Response, Status};

use crate::{Error, status};

/// Longer than this is for ever: the header of a call can't say every duration.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// When a call ends if it has not by then.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    /// The deadline of a call that starts now and may take `duration`.
    pub(crate) fn after(duration: Option<Duration>) -> Self {
        let duration = duration.filter(|&duration| duration < LONGEST);
        Self(duration.and_then(|duration| Instant::now().checked_add(duration)))
    }

    /// A request that tells the service how much time is left.
    pub(crate) fn request<M>(self, message: M) -> Request<M> {
        let mut request = Request::new(message);
        if let Some(instant) = self.0 {
            request.set_timeout(instant.saturating_duration_since(Instant::now()));
        }
        request
    }

    /// Whether it passes before `instant`.
    pub(crate) fn is_before(self, instant: Instant) -> bool {
        self.0.is_some_and(|deadline| deadline < instant)
    }

    /// Waits for the answer to a call, but not past the deadline.
    pub(crate) async fn bound<M>(
        self,
        call: impl Future<Output = Result<Response<M>, Status>>,
    ) -> Result<M, Error> {
        let answer = self.limit(call).await?;
        answer.map(Response::into_inner).map_err(status::error)
    }

    /// Waits for something, but not past the deadline.
    pub(crate) async fn limit<F: Future>(self, future: F) -> Result<F::Output, Error> {
        match self.0 {
            None => Ok(future.await),
            Some(instant) => tokio::time::timeout_at(instant, future)
                .await
                .map_err(|_| Error::DeadlineExceeded),
        }
    }

    /// A timer for a call that is polled. It needs the runtime only once it is polled itself.
    pub(crate) fn timer(self) -> Timer {
        Timer {
            deadline: self.0,
            sleep: None,
        }
    }
}

/// Tells when a deadline has passed.
#[derive(Debug)]
pub(crate) struct Timer {
    deadline: Option<Instant>,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Timer {
    /// Whether the deadline has passed; if not, the task is woken when it does.
    pub(crate) fn has_passed(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(instant) = self.deadline else {
            return false;
        };
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(sleep_until(instant)));
        sleep.as_mut().poll(cx) == Poll::Ready(())
    }
}
