//! A `SolveMany` stream: messages in, answers out, in order.
//!
//! The whole of it is one [`Stream`] that the transport polls when it can send. So nothing runs on when the call is
//! dropped, and a client that does not read stops the server from reading: the stream is not polled, and no message is
//! taken from it.

use std::collections::VecDeque;
use std::ops::Range;
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
use crate::metrics::{Metrics, Tally};
use crate::options::Options;
use crate::panics;
use crate::pool::{Lane, Lost};
use crate::reply;
use crate::service::Service;
use crate::settings::Limits;
use crate::traces::{MessageSpan, MessageTraces};

/// After how many puzzles taken the stream lets other tasks have the thread.
const PUZZLES_PER_POLL: usize = 1_024;

/// How many puzzles a stream may have in flight in more than one message. It is a multiple of what keeps the threads busy.
/// One that may have more than two solutions counts for more, as its answer may.
const MOST_PUZZLES: usize = 8_192;

/// The answers of a stream, which also takes its messages in.
#[derive(Debug)]
pub struct Answers {
    requests: Streaming<Puzzles>,
    limits: Limits,
    /// How many messages were taken: the index of the next one.
    taken: u64,
    lane: Lane,
    window: Window,
    metrics: Arc<Metrics>,
    /// Makes spans for messages, where the call has one.
    traces: Option<MessageTraces>,
    /// What was not told to the metrics yet.
    tally: Tally,
    /// The messages that are not answered yet, the oldest first, and the weight of all of them.
    pending: VecDeque<Pending>,
    weight: usize,
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
    /// The numbers of its puzzles among those of the stream.
    puzzles: Range<u64>,
    /// The strings of the message that are no puzzles, with their indices, ascending.
    invalid: Vec<(usize, GridError)>,
    weight: usize,
    span: Option<Box<MessageSpan>>,
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
        traces: Option<MessageTraces>,
        permit: OwnedSemaphorePermit,
    ) -> Self {
        Self {
            requests,
            limits: service.settings.limits.clone(),
            taken: 0,
            lane: service.pool.lane(deadline),
            window: Window::new(
                service.settings.messages_per_stream,
                Arc::clone(&service.shared_messages),
                Arc::clone(&service.messages),
            ),
            metrics: Arc::clone(&service.metrics),
            traces,
            tally: Tally::default(),
            pending: VecDeque::new(),
            weight: 0,
            reading: Reading::Open,
            deadline: deadline.map(Deadline::new),
            draining: Box::pin(service.draining.clone().cancelled_owned()),
            _permit: permit,
        }
    }

    /// Gives the next answer, and takes messages in, as far as both go without waiting.
    ///
    /// What is ready leaves before more is taken, but for a stream that runs low on work. So messages are taken many at a
    /// time, and what is taken together is solved together.
    fn advance(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<ResultWriter, Failure>>> {
        if !self.runs_low()
            && let Poll::Ready(item) = self.give()
        {
            return Poll::Ready(item);
        }
        self.look_at_the_clock(cx);
        self.lane.receive(cx);
        let mut puzzles = 0;
        while let Take::Message(count) = self.take(cx) {
            puzzles += count.max(1);
            if puzzles >= PUZZLES_PER_POLL {
                cx.waker().wake_by_ref();
                break;
            }
        }
        self.lane.send();
        self.window.settle();
        self.metrics.add(&mut self.tally);
        self.give()
    }

    /// Whether less than half of what may be in flight is.
    fn runs_low(&self) -> bool {
        2 * self.pending.len() < self.window.size && 2 * self.weight < MOST_PUZZLES
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
        // The stream is polled again when its oldest answer is ready, and then there is room.
        if self.weight >= MOST_PUZZLES || !self.window.has_room() {
            return Take::Nothing;
        }
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
                match message.and_then(|message| self.submit(message)) {
                    Ok(count) => {
                        self.taken += 1;
                        self.tally.received += 1;
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
    fn submit(&mut self, message: Puzzles) -> Result<usize, Error> {
        let count = message.len();
        let limit = self.limits.max_puzzles_per_message;
        if count > limit as usize {
            return Err(Error::TooManyPuzzles {
                received: count,
                limit,
            });
        }
        let options = Options::read(message.options(), count, &self.limits)?;
        let first = self.lane.next_puzzle();
        let mut invalid = Vec::new();
        let mut lines = message.lines();
        while let Some(line) = self.lane.put(options, &mut lines) {
            let index = count - lines.len() - 1;
            invalid.extend(grid_error(line).map(|error| (index, error)));
        }
        self.window.take();
        let weight = weight(options, count);
        self.weight += weight;
        self.pending.push_back(Pending {
            puzzles: first..self.lane.next_puzzle(),
            invalid,
            weight,
            span: (self.traces.as_ref()).and_then(|traces| traces.begin(self.taken, count)),
        });
        Ok(count)
    }

    /// Gives the oldest message's answer if it is ready, or how the stream ends once all are out.
    fn give(&mut self) -> Poll<Option<Result<ResultWriter, Failure>>> {
        if let Some(oldest) = self.pending.front() {
            match self.lane.is_solved(&oldest.puzzles) {
                Ok(true) => {
                    let solved = self.lane.solved(&oldest.puzzles);
                    let response = reply::results(solved, &oldest.invalid, oldest.count(), &mut self.tally);
                    self.tally.sent += 1;
                    self.lane.forget(oldest.puzzles.end);
                    self.weight -= oldest.weight;
                    self.window.give_back(1);
                    if let Some(span) = self.pending.pop_front().and_then(|answered| answered.span) {
                        span.answered();
                    }
                    return Poll::Ready(Some(Ok(response)));
                }
                Err(Lost) => {
                    let error = self.why_no_answer();
                    self.fail(error);
                }
                Ok(false) if self.deadline.as_ref().is_some_and(|deadline| deadline.passed) => {
                    self.fail(Error::Deadline);
                }
                Ok(false) => return Poll::Pending,
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
        self.drop_pending();
        self.reading = Reading::Failed(error.into());
    }

    fn drop_pending(&mut self) {
        self.window.give_back(self.pending.len());
        self.pending.clear();
        self.weight = 0;
    }
}

impl Drop for Answers {
    fn drop(&mut self) {
        self.metrics.add(&mut self.tally);
    }
}

/// What a message counts for in [`MOST_PUZZLES`].
fn weight(options: Options, puzzles: usize) -> usize {
    match options.solution_limit as usize {
        limit @ 3.. if !options.omit_solutions => puzzles.saturating_mul(limit) / 2,
        _ => puzzles,
    }
}

impl Pending {
    /// How many results it has.
    fn count(&self) -> usize {
        (self.puzzles.end - self.puzzles.start) as usize + self.invalid.len()
    }
}

/// What is wrong with a line that is no puzzle.
fn grid_error(line: &[u8]) -> Option<GridError> {
    Grid::from_line(str::from_utf8(line).ok()?).err()
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
                self.drop_pending();
                self.reading = Reading::Ended;
                Some(Err(panics::log("a stream", &*panic).into()))
            }
        };
        Poll::Ready(item.map(|answer| answer.map_err(|failure| failure.status())))
    }
}

/// How many messages a stream may have in flight.
///
/// It may always have one, so that streams that hold many cannot bring the others to a halt. Each further one is taken from
/// a stock that all streams share.
#[derive(Debug)]
struct Window {
    size: usize,
    shared: Arc<Semaphore>,
    /// Those of all streams, and how many of this one are in it.
    gauge: Arc<AtomicUsize>,
    gauged: usize,
    /// How many are in flight.
    taken: usize,
    /// How many there is room for: those, one that is about to come, and some that were given back, kept for the next.
    reserved: usize,
}

impl Window {
    fn new(size: usize, shared: Arc<Semaphore>, gauge: Arc<AtomicUsize>) -> Self {
        Self {
            size,
            shared,
            gauge,
            gauged: 0,
            taken: 0,
            reserved: 0,
        }
    }

    /// Whether there is room for a further message.
    fn has_room(&mut self) -> bool {
        if self.taken >= self.size {
            return false;
        }
        if self.taken == self.reserved {
            if self.reserved > 0 {
                let Ok(permit) = self.shared.try_acquire() else {
                    return false;
                };
                permit.forget();
            }
            self.reserved += 1;
        }
        true
    }

    /// Puts a message where there is room.
    fn take(&mut self) {
        self.taken += 1;
    }

    /// Messages are answered. Others have what they took once [`Window::settle`] is called.
    fn give_back(&mut self, count: usize) {
        self.taken -= count;
    }

    /// Gives to the stock what is not in use, and tells the gauge what is. Not message by message: threads that share a
    /// number wait for each other, for longer than small messages take.
    fn settle(&mut self) {
        match self.taken.checked_sub(self.gauged) {
            Some(more) => self.gauge.fetch_add(more, Ordering::Relaxed),
            None => self.gauge.fetch_sub(self.gauged - self.taken, Ordering::Relaxed),
        };
        self.gauged = self.taken;
        let of_stock = |count: usize| count.saturating_sub(1);
        let surplus = of_stock(self.reserved) - of_stock(self.taken);
        if surplus > 0 {
            self.shared.add_permits(surplus);
        }
        self.reserved = self.taken;
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        self.give_back(self.taken);
        self.settle();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_message_weighs_as_much_as_its_answer_may() {
        let weight = |solution_limit, omit_solutions| {
            let options = Options {
                solution_limit,
                time_limit: Duration::from_secs(1),
                omit_solutions,
            };
            weight(options, 1_000)
        };
        for limit in [1, 2] {
            assert_eq!(weight(limit, false), 1_000);
        }
        assert_eq!(weight(10, false), 5_000);
        assert_eq!(weight(10, true), 1_000);
    }
}
