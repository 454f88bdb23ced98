//! `SolveMany`: messages in, and their answers out, as the workers of the pool make them ready.
//!
//! The call is the body of its own response. Whoever polls it for frames of that, which is the connection when the client
//! reads, makes it take in messages as well. So a client that does not read is not read from either.

mod answers;
mod in_flight;
mod requests;
mod window;

use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, header};
use http_body::Frame;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Sleep;
use tokio_util::sync::WaitForCancellationFutureOwned;
use tonic::Status;
use tonic::body::Body;

use self::answers::Answers;
use self::in_flight::{Answered, InFlight};
use self::requests::Requests;
use crate::error::{Error, Failure};
use crate::packing::Packing;
use crate::panics;
use crate::pool::Lost;
use crate::service::Service;
use crate::traces::MessageTraces;

/// How many puzzles, or as many bytes, are taken before answers are looked at again.
const PUZZLES_PER_POLL: usize = 1_024;

/// The bytes of a puzzle in a message.
const PUZZLE_BYTES: usize = 83;

/// After how much work the stream lets other tasks have the thread, though it has more to do.
const STRETCH: Duration = Duration::from_micros(500);

/// A call under way.
#[derive(Debug)]
struct SolveMany {
    requests: Requests,
    in_flight: InFlight,
    answers: Answers,
    /// Whether and why no more messages are taken.
    reading: Reading,
    deadline: Option<Deadline>,
    /// How long it has worked since it last waited.
    worked: Duration,
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
    /// How it ended is out.
    Ended,
}

#[derive(Debug)]
struct Deadline {
    at: Instant,
    timer: Pin<Box<Sleep>>,
    passed: bool,
}

/// What there is for the client.
enum Item {
    /// Answers, in the buffer for them.
    Answers,
    /// How the stream ends: nothing comes after it.
    End(Result<(), Failure>),
    /// That was given before.
    Nothing,
}

impl Service {
    /// Opens a stream. Clients may wait for the head of the response before they send, so that comes first.
    pub(crate) fn solve_many(
        &self,
        request: Request<Body>,
        packing: Packing,
        deadline: Option<Instant>,
    ) -> Result<Response<Body>, Error> {
        let (head, body) = request.into_parts();
        let packing_of_answers = packing.for_answers(&head.headers);
        let call = SolveMany {
            requests: Requests::new(body, packing, self.settings.limits.max_message_bytes),
            in_flight: InFlight::new(self, deadline, head.extensions.get::<MessageTraces>().cloned()),
            answers: Answers::new(packing_of_answers),
            reading: Reading::Open,
            deadline: deadline.map(Deadline::new),
            worked: Duration::ZERO,
            draining: Box::pin(self.draining.clone().cancelled_owned()),
            _permit: self.stream_permit()?,
        };
        let mut response = Response::new(Body::new(call));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
        if packing_of_answers == Packing::Gzip {
            headers.insert("grpc-encoding", HeaderValue::from_static("gzip"));
        }
        Ok(response)
    }
}

impl SolveMany {
    /// Gives what is ready, and takes messages in, as far as both go without waiting.
    ///
    /// What is ready leaves before more is taken, but for a stream that runs low on work. So messages are taken many at a
    /// time, and what is taken together is solved together.
    fn advance(&mut self, cx: &mut Context<'_>) -> Poll<Item> {
        if !self.in_flight.runs_low()
            && let Poll::Ready(item) = self.give()
        {
            return Poll::Ready(item);
        }
        self.look_at_the_clock(cx);
        self.in_flight.receive(cx);
        self.take(cx);
        self.in_flight.send();
        self.give()
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

    /// Takes messages as long as there are some, and room for them.
    fn take(&mut self, cx: &mut Context<'_>) {
        let mut puzzles = 0;
        // Where there is no room, the stream is polled again when its oldest answer is ready, and then there is.
        while matches!(self.reading, Reading::Open) && self.in_flight.has_room() {
            let taken = match self.requests.poll(cx) {
                Poll::Pending => return,
                Poll::Ready(Ok(None)) => {
                    self.reading = Reading::Finished;
                    return;
                }
                Poll::Ready(Ok(Some(message))) => self.in_flight.take(&message),
                Poll::Ready(Err(error)) => Err(error),
            };
            match taken {
                // A message may be long without puzzles.
                Ok(count) => puzzles += count.max(self.requests.work() / PUZZLE_BYTES).max(1),
                Err(error) => {
                    self.reading = Reading::Failed(Failure {
                        error,
                        message: Some(self.in_flight.taken()),
                    });
                }
            }
            if puzzles >= PUZZLES_PER_POLL {
                come_back(cx);
                return;
            }
        }
    }

    /// Gives the answers that are ready, or how the stream ends once all are out.
    fn give(&mut self) -> Poll<Item> {
        let answered = self.answer();
        if !self.answers.is_empty() {
            return Poll::Ready(Item::Answers);
        }
        match answered {
            Ok(Answered::All) => {}
            Ok(Answered::NotYet) if self.deadline.as_ref().is_some_and(|deadline| deadline.passed) => {
                self.fail(Error::Deadline);
            }
            Ok(Answered::NotYet | Answered::One) => return Poll::Pending,
            Err(error) => self.fail(error),
        }
        Poll::Ready(match std::mem::replace(&mut self.reading, Reading::Ended) {
            Reading::Open => {
                self.reading = Reading::Open;
                return Poll::Pending;
            }
            Reading::Finished => Item::End(Ok(())),
            Reading::Failed(failure) => Item::End(Err(failure)),
            Reading::Ended => Item::Nothing,
        })
    }

    /// Answers the oldest messages, as far as they are solved and their answers leave together.
    fn answer(&mut self) -> Result<Answered, Error> {
        loop {
            let answered = self.in_flight.answer(&mut self.answers);
            let answered = answered.map_err(|Lost| self.why_no_answer())?;
            if answered != Answered::One || self.answers.is_full() {
                return Ok(answered);
            }
        }
    }

    /// The workers drop a message when the deadline has passed, which they may see before the timer does. Apart from
    /// that only a panic keeps an answer away.
    fn why_no_answer(&self) -> Error {
        match &self.deadline {
            Some(deadline) if Instant::now() >= deadline.at => Error::Deadline,
            _ => Error::Internal,
        }
    }

    /// Gives up on all messages that are not answered.
    fn fail(&mut self, error: Error) {
        self.in_flight.drop_all();
        self.reading = Reading::Failed(error.into());
    }
}

impl http_body::Body for SolveMany {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        // The connection asks for more as long as there is some, and would not let go of the thread.
        if self.worked >= STRETCH {
            self.worked = Duration::ZERO;
            come_back(cx);
            return Poll::Pending;
        }
        let begin = Instant::now();
        let item = match panics::catch("a stream", || self.advance(cx)) {
            Ok(Poll::Pending) => {
                self.worked = Duration::ZERO;
                return Poll::Pending;
            }
            Ok(Poll::Ready(item)) => item,
            Err(error) => {
                self.in_flight.drop_all();
                self.answers.clear();
                self.reading = Reading::Ended;
                Item::End(Err(error.into()))
            }
        };
        self.worked += begin.elapsed();
        Poll::Ready(match item {
            Item::Answers => Some(Ok(Frame::data(self.answers.take()))),
            Item::End(end) => Some(trailers(end)),
            Item::Nothing => None,
        })
    }
}

/// Wakes the task once the runtime has looked after connections: a task that wakes itself may go before these dozens of
/// times.
fn come_back(cx: &mut Context<'_>) {
    // It is the first poll that asks for the waking, and there need be no second.
    let _ = pin!(tokio::task::yield_now()).poll(cx);
}

/// The trailers of a response, in which gRPC has the status.
fn trailers(end: Result<(), Failure>) -> Result<Frame<Bytes>, Status> {
    let status = end.map_or_else(|failure| failure.status(), |()| Status::ok(""));
    let mut trailers = HeaderMap::new();
    status.add_header(&mut trailers)?;
    Ok(Frame::trailers(trailers))
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
