//! Notices a server that owes answers and does not live any more, though its connection stands.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

use super::endpoint::{Endpoint, Lease};
use super::health::{self, Health};
use crate::{Error, Transport};

/// How long a server that owes answers may send nothing before it is asked whether it lives.
const SILENCE: Duration = Duration::from_secs(5);

type Asking = Pin<Box<dyn Future<Output = Health> + Send>>;

/// Watches one connection. It costs a timer, and one more look at the clock for each answer.
pub(crate) struct Watch<T> {
    endpoint: Arc<Endpoint<T>>,
    line: usize,
    heard: Instant,
    timer: Option<Pin<Box<Sleep>>>,
    asking: Option<Asking>,
}

impl<T: Transport> Watch<T> {
    pub(crate) fn new(lease: &Lease<T>) -> Self {
        Self {
            endpoint: Arc::clone(lease.endpoint()),
            line: lease.line(),
            heard: Instant::now(),
            timer: None,
            asking: None,
        }
    }

    /// Notes that the server has sent something, or owes something from now on only.
    pub(crate) fn heard(&mut self) {
        self.heard = Instant::now();
        self.asking = None;
    }

    /// Why the server counts as gone, once it does. Asked only while it owes answers and none is there.
    pub(crate) fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<Error> {
        loop {
            if let Some(asking) = &mut self.asking {
                match std::task::ready!(asking.as_mut().poll(cx)) {
                    Health::Gone(error) => return Poll::Ready(error),
                    // A puzzle may take long, and one that drains answers what it has taken.
                    Health::Serving | Health::NotServing => self.heard(),
                }
            }
            let due = self.heard + SILENCE;
            let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(due)));
            if timer.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            if due <= Instant::now() {
                self.asking = Some(Box::pin(health::check(self.endpoint.service(self.line))));
            }
            timer.as_mut().reset(due.max(Instant::now()));
        }
    }
}
