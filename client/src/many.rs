//! Streams of puzzles.
//!
//! The packer makes batches of puzzles, an exchange sends them in calls and matches the answers with them, and
//! [`Outcomes`] drives both and hands out the outcomes one by one. Nothing runs in the background: all of it happens
//! while the outcomes are polled, so dropping them ends it.

mod answers;
mod call;
mod exchange;
mod limits;
mod packer;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio_stream::Stream;

use crate::calls::Calls;
use crate::deadline::{Deadline, Timer};
use crate::telemetry::Observed;
use crate::{Error, Outcome, Puzzle, SolveOptions, Transport};
use answers::Answers;
use exchange::Exchange;
pub(crate) use limits::{Limits, LimitsCache};
use packer::Packer;

type Starting = Pin<Box<dyn Future<Output = Result<Box<dyn Batches>, Error>> + Send>>;

/// An exchange over whatever transport.
trait Batches: Send {
    /// The answers to the next batch, as [`Exchange::poll_answers`] has them.
    fn poll_answers(&mut self, cx: &mut Context<'_>, late: bool) -> Poll<Option<Result<Answers, Error>>>;
}

impl<T: Transport> Batches for Exchange<T> {
    fn poll_answers(&mut self, cx: &mut Context<'_>, late: bool) -> Poll<Option<Result<Answers, Error>>> {
        self.poll_answers(cx, late)
    }
}

/// The outcomes of a stream of puzzles, in the order of the puzzles.
///
/// [`SudokuClient::solve_many`](crate::SudokuClient::solve_many) returns it. An error is the last item, and says how many
/// outcomes came before it.
#[must_use = "nothing is solved before the outcomes are polled"]
pub struct Outcomes {
    state: State,
    /// The batch whose outcomes are being handed out.
    answers: Option<Answers>,
    answered: u64,
    timer: Timer,
    limits: Arc<LimitsCache>,
    observed: Observed,
}

enum State {
    Starting(Starting),
    Running(Box<dyn Batches>),
    Ended,
}

impl Outcomes {
    /// The outcomes of `puzzles`, in messages of at most `most` and as many as `limits` has.
    pub(crate) fn new<T: Transport>(
        puzzles: impl Stream<Item: Into<Puzzle>> + Send + 'static,
        options: SolveOptions,
        deadline: Deadline,
        calls: Calls<T>,
        cache: Arc<LimitsCache>,
        limits: impl Future<Output = Result<Limits, Error>> + Send + 'static,
        most: usize,
    ) -> Self {
        let start = async move {
            let batch = limits.await?.batch(&options).min(most);
            let packer = Box::new(Packer::new(puzzles, batch));
            let exchange = Exchange::new(options, deadline, calls, packer, batch);
            Ok(Box::new(exchange) as Box<dyn Batches>)
        };
        Self {
            state: State::Starting(Box::pin(start)),
            answers: None,
            answered: 0,
            timer: deadline.timer(),
            limits: cache,
            observed: Observed::start("SolveMany"),
        }
    }

    /// Takes the outcomes that are at hand and come next, the rest of a message's, as far as `take` goes along: the same ones
    /// as the stream gives, at less cost than one by one. It does not wait, and leaves errors to the stream.
    ///
    /// ```
    /// use sudoku_client::{Grid, SudokuClient};
    /// use tokio_stream::StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let service = sudoku_server::in_process(Default::default())?;
    /// # let client = SudokuClient::from_service(service);
    /// let mut outcomes = client.solve_iter([Grid::EMPTY; 300]);
    /// let mut solutions = Vec::new();
    /// while let Some(outcome) = outcomes.next().await {
    ///     solutions.extend(outcome?.solution().copied());
    ///     outcomes.take_ready(|outcome| -> Result<(), std::io::Error> {
    ///         solutions.extend(outcome.solution().copied());
    ///         Ok(())
    ///     })?;
    /// }
    /// assert_eq!(solutions.len(), 300);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The one of `take`. The outcomes after that which it was given are still to come.
    #[inline]
    pub fn take_ready<E>(&mut self, mut take: impl FnMut(Outcome) -> Result<(), E>) -> Result<(), E> {
        let Some(answers) = &mut self.answers else {
            return Ok(());
        };
        while let Some(outcome) = answers.next_good() {
            self.answered += 1;
            take(outcome)?;
        }
        Ok(())
    }

    /// The answers to the next batch.
    #[inline(never)]
    fn poll_answers(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Answers, Error>>> {
        let _entered = self.observed.span().clone().entered();
        let late = self.timer.has_passed(cx);
        if let State::Starting(starting) = &mut self.state
            && let Poll::Ready(exchange) = starting.as_mut().poll(cx)
        {
            match exchange {
                Ok(exchange) => self.state = State::Running(exchange),
                Err(error) => return Poll::Ready(Some(Err(error))),
            }
        }
        let answers = match &mut self.state {
            State::Starting(_) => Poll::Pending,
            State::Ended => Poll::Ready(None),
            State::Running(exchange) => exchange.poll_answers(cx, late),
        };
        match answers {
            // What had come by then is handed out before this.
            Poll::Pending if late => Poll::Ready(Some(Err(Error::DeadlineExceeded))),
            answers => answers,
        }
    }

    /// Ends the stream, and its calls with it.
    pub(crate) fn cancel(&mut self) {
        self.state = State::Ended;
    }

    /// Ends the stream, and the call with it.
    #[cold]
    fn fail(&mut self, error: Error) -> Error {
        self.limits.heed(&error);
        self.observed.end(Some(&error));
        self.state = State::Ended;
        self.answers = None;
        Error::Interrupted {
            answered: self.answered,
            source: Box::new(error),
        }
    }
}

impl Stream for Outcomes {
    type Item = Result<Outcome, Error>;

    #[inline]
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(answers) = &mut self.answers {
                if let Some(outcome) = answers.next_good() {
                    self.answered += 1;
                    return Poll::Ready(Some(Ok(outcome)));
                }
                if let Some(fault) = answers.fault() {
                    return Poll::Ready(Some(Err(self.fail(fault.into()))));
                }
            }
            match ready!(self.poll_answers(cx)) {
                Some(Ok(answers)) => self.answers = Some(answers),
                Some(Err(error)) => return Poll::Ready(Some(Err(self.fail(error)))),
                None => {
                    self.observed.end(None);
                    self.state = State::Ended;
                    return Poll::Ready(None);
                }
            }
        }
    }
}

impl fmt::Debug for Outcomes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outcomes")
            .field("answered", &self.answered)
            .finish_non_exhaustive()
    }
}
