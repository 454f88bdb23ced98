//! A `SolveMany` stream: messages in, answers out, in order.
//!
//! The whole of it is one [`Stream`] that the transport polls when it can send. So nothing runs on when the call is
//! dropped, and a client that does not read stops the server from reading: the stream is not polled, and no message is
//! taken from it.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Instant;

use sudoku_engine::{Grid, GridError};
use sudoku_proto::wire::{Puzzles, ResultWriter};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Sleep;
use tokio_stream::Stream;
use tokio_util::sync::WaitForCancellationFutureOwned;
use tonic::{Status, Streaming};

use crate::error::{Error, Failure};
use crate::options::Options;
use crate::panics;
use crate::pool::{Lane, Ticket};
use crate::reply;
use crate::service::Service;
use crate::settings::Limits;

/// After how many puzzles taken the stream lets other tasks have the thread.
const PUZZLES_PER_POLL: usize = 1_024;

/// The answers of a stream, which also takes its messages in.
#[derive(Debug)]
pub struct Answers {
    requests: Streaming<Puzzles>,
    limits: Limits,
    /// How many messages were taken: the index of the next one.
    taken: u64,
    lane: Lane,
    window: Window,
    /// The messages that are not answered yet, the oldest first.
    pending: VecDeque<Pending>,
    /// Whether and why no more messages are taken.
    reading: Reading,
    deadline: Option<Deadline>,
    draining: Pin<Box<WaitForCancellationFutureOwned>>,
    /// Lets another stream open when this one is gone.
    _permit: OwnedSemaphorePermit,
}

#[derive(Debug)]
enum Reading {
    Open,
    /// The client has sent all, and the stream ends well.
    Finished,
    /// The stream ends so after the answers to the messages taken.
    Failed(Failure),
    /// The last item is out.
    Ended,
}

#[derive(Debug)]
struct Deadline {
    at: Instant,
    timer: Pin<Box<Sleep>>,
    passed: bool,
}

/// A message that is not answered yet.
#[derive(Debug)]
struct Pending {
    ticket: Ticket,
    /// The strings of the message that are no puzzles, with their indices, ascending.
    invalid: Vec<(usize, GridError)>,
    /// Given back when the answer leaves.
    _slot: Slot,
}

/// What came of an attempt to take a message.
enum Take {
    /// A message of so many puzzles.
    Message(usize),
    /// None now: none has come, or there is no room, or no more are taken.
    Nothing,
}

impl Answers {
    pub(crate) fn new(
        service: &Service,
        requests: Streaming<Puzzles>,
        deadline: Option<Instant>,
        permit: OwnedSemaphorePermit,
    ) -> Self {
        Self {
            requests,
            limits: service.settings.limits.clone(),
            taken: 0,
            lane: service.pool.lane(deadline),
            window: Window {
                size: service.settings.messages_per_stream,
                shared: Arc::clone(&service.shared_messages),
                gauge: Arc::clone(&service.messages),
            },
            pending: VecDeque::new(),
            reading: Reading::Open,
            deadline: deadline.map(Deadline::new),
            draining: Box::pin(service.draining.clone().cancelled_owned()),
            _permit: permit,
        }
    }

    /// Takes messages in and gives the next answer, as far as both go without waiting.
    fn advance(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<ResultWriter, Failure>>> {
        let mut puzzles = 0;
        loop {
            self.look_at_the_clock(cx);
            let take = self.take(cx);
            if let Poll::Ready(item) = self.give(cx) {
                return Poll::Ready(item);
            }
            match take {
                Take::Nothing => return Poll::Pending,
                Take::Message(count) => puzzles += count.max(1),
            }
            if puzzles >= PUZZLES_PER_POLL {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
    }

    /// Stops reading once the deadline has passed or the server drains.
    fn look_at_the_clock(&mut self, cx: &mut Context<'_>) {
        if matches!(self.reading, Reading::Ended) {
            return;
        }
        if let Some(deadline) = &mut self.deadline
            && deadline.poll_passed(cx)
        {
            self.reading = Reading::Failed(Error::Deadline.into());
        }
        if matches!(self.reading, Reading::Open) && self.draining.as_mut().poll(cx).is_ready() {
            self.reading = Reading::Failed(Error::Draining.into());
        }
    }

    /// Takes a message if there is one, and room for it.
    fn take(&mut self, cx: &mut Context<'_>) -> Take {
        if !matches!(self.reading, Reading::Open) {
            return Take::Nothing;
        }
        let Some(slot) = self.window.slot(self.pending.len()) else {
            // The stream is polled again when its oldest answer is ready, and then there is room.
            return Take::Nothing;
        };
        match Pin::new(&mut self.requests).poll_next(cx) {
            Poll::Pending => Take::Nothing,
            Poll::Ready(None) => {
                self.reading = Reading::Finished;
                Take::Nothing
            }
            Poll::Ready(Some(message)) => {
                let limit = self.limits.max_message_bytes;
                let message = message.map_err(|status| {
                    Error::of_tonic(&status, limit).unwrap_or(Error::malformed(status.message()))
                });
                match message.and_then(|message| self.submit(message, slot)) {
                    Ok(count) => {
                        self.taken += 1;
                        Take::Message(count)
                    }
                    Err(error) => {
                        self.reading = Reading::Failed(Failure {
                            error,
                            message: Some(self.taken),
                        });
                        Take::Nothing
                    }
                }
            }
        }
    }

    /// Hands a message to the threads. Gives the number of its puzzles.
    fn submit(&mut self, message: Puzzles, slot: Slot) -> Result<usize, Error> {
        let count = message.len();
        let limit = self.limits.max_puzzles_per_message;
        if count > limit as usize {
            return Err(Error::TooManyPuzzles {
                received: count,
                limit,
            });
        }
        let options = Options::read(message.options(), count, &self.limits)?;
        let mut puzzles = Vec::with_capacity(count);
        let mut invalid = Vec::new();
        for (index, line) in message.iter().enumerate() {
            match Grid::from_line(line) {
                Ok(grid) => puzzles.push(grid),
                Err(error) => invalid.push((index, error)),
            }
        }
        self.pending.push_back(Pending {
            ticket: self.lane.submit(puzzles, options),
            invalid,
            _slot: slot,
        });
        Ok(count)
    }

    /// Gives the oldest message's answer if it is ready, or how the stream ends once all are out.
    fn give(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<ResultWriter, Failure>>> {
        if let Some(oldest) = self.pending.front_mut() {
            match Pin::new(&mut oldest.ticket).poll(cx) {
                Poll::Ready(Ok(answers)) => {
                    let response = reply::results(answers, &oldest.invalid);
                    self.pending.pop_front();
                    return Poll::Ready(Some(Ok(response)));
                }
                Poll::Ready(Err(_)) => {
                    let error = self.why_no_answer();
                    self.fail(error);
                }
                Poll::Pending if self.deadline.as_ref().is_some_and(|deadline| deadline.passed) => {
                    self.fail(Error::Deadline);
                }
                Poll::Pending => return Poll::Pending,
            }
        }
        match std::mem::replace(&mut self.reading, Reading::Ended) {
            Reading::Open => {
                self.reading = Reading::Open;
                Poll::Pending
            }
            Reading::Finished | Reading::Ended => Poll::Ready(None),
            Reading::Failed(failure) => Poll::Ready(Some(Err(failure))),
        }
    }

    /// The threads drop a message when the deadline has passed, which they may see before the timer does. Apart from
    /// that only a panic keeps an answer away.
    fn why_no_answer(&self) -> Error {
        match &self.deadline {
            Some(deadline) if Instant::now() >= deadline.at => Error::Deadline,
            _ => Error::Internal,
        }
    }

    /// Gives up on all messages that are not answered.
    fn fail(&mut self, error: Error) {
        self.pending.clear();
        self.reading = Reading::Failed(error.into());
    }
}

impl Deadline {
    fn new(at: Instant) -> Self {
        Self {
            at,
            timer: Box::pin(tokio::time::sleep_until(at.into())),
            passed: false,
        }
    }

    fn poll_passed(&mut self, cx: &mut Context<'_>) -> bool {
        self.passed = self.passed || self.timer.as_mut().poll(cx).is_ready();
        self.passed
    }
}

impl Stream for Answers {
    type Item = Result<ResultWriter, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let item = match catch_unwind(AssertUnwindSafe(|| self.advance(cx))) {
            Ok(item) => ready!(item),
            Err(panic) => {
                self.pending.clear();
                self.reading = Reading::Ended;
                Some(Err(panics::log("a stream", &*panic).into()))
            }
        };
        Poll::Ready(item.map(|answer| answer.map_err(|failure| failure.status())))
    }
}

/// How many messages a stream may have in flight.
#[derive(Debug)]
struct Window {
    size: usize,
    shared: Arc<Semaphore>,
    gauge: Arc<AtomicUsize>,
}

/// Room for a message.
#[derive(Debug)]
struct Slot {
    _shared: Option<OwnedSemaphorePermit>,
    gauge: Arc<AtomicUsize>,
}

impl Window {
    /// Room for one more than `taken` messages. A stream may always have one: so those that hold many cannot bring the
    /// others to a halt.
    fn slot(&self, taken: usize) -> Option<Slot> {
        if taken >= self.size {
            return None;
        }
        let shared = match taken {
            0 => None,
            _ => Some(Arc::clone(&self.shared).try_acquire_owned().ok()?),
        };
        self.gauge.fetch_add(1, Ordering::Relaxed);
        Some(Slot {
            _shared: shared,
            gauge: Arc::clone(&self.gauge),
        })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.gauge.fetch_sub(1, Ordering::Relaxed);
    }
}
