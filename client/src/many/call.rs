//! A call of `SolveMany`: messages out, answers back.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use sudoku_proto::v1::{SolveManyRequest, SolveManyResponse, SolveResult};
use tokio::sync::mpsc;
use tokio_stream::Stream;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::Streaming;

use crate::{Error, SolveOptions, status, wire};

type Opening = Pin<Box<dyn Future<Output = Result<Streaming<SolveManyResponse>, Error>> + Send>>;

/// A call that runs until it is dropped, which cancels it, or until the server ends it.
pub(crate) struct Call {
    options: SolveOptions,
    /// `None` once all was sent. It holds what the transport has not taken yet: the caller bounds that, by the number of
    /// messages without an answer.
    requests: Option<mpsc::UnboundedSender<SolveManyRequest>>,
    replies: Replies,
}

enum Replies {
    /// Servers may answer to the first message only, so messages are sent while this waits.
    Opening(Opening),
    Open(Box<Streaming<SolveManyResponse>>),
}

impl Call {
    /// Starts a call through `start`, which takes the stream of messages.
    pub(crate) fn open<F>(
        options: SolveOptions,
        start: impl FnOnce(UnboundedReceiverStream<SolveManyRequest>) -> F,
    ) -> Self
    where
        F: Future<Output = Result<Streaming<SolveManyResponse>, Error>> + Send + 'static,
    {
        let (requests, receiver) = mpsc::unbounded_channel();
        Self {
            options,
            requests: Some(requests),
            replies: Replies::Opening(Box::pin(start(UnboundedReceiverStream::new(receiver)))),
        }
    }

    /// Sends a message. If the call has ended, the next answer says why.
    pub(super) fn send(&mut self, puzzles: Vec<String>) {
        if let Some(requests) = &self.requests {
            let _ = requests.send(wire::solve_many_request(puzzles, &self.options));
        }
    }

    /// Tells the server that all was sent.
    pub(super) fn finish(&mut self) {
        self.requests = None;
    }

    /// The results of the next message. `None` when the server has ended the call without an error.
    pub(super) fn poll_answer(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Option<Vec<SolveResult>>, Error>> {
        if let Replies::Opening(opening) = &mut self.replies {
            self.replies = Replies::Open(Box::new(ready!(opening.as_mut().poll(cx))?));
        }
        let Replies::Open(replies) = &mut self.replies else {
            return Poll::Pending;
        };
        let answer = ready!(Pin::new(replies).poll_next(cx)).transpose();
        Poll::Ready(
            answer
                .map(|answer| answer.map(|message| message.results))
                .map_err(status::error),
        )
    }
}
