//! A call of `SolveMany`: messages out, answers back.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use sudoku_proto::wire::{PuzzleWriter, Results};
use tokio::runtime::Handle;
use tokio::sync::{
    mpsc,
    oneshot::{self, error::TryRecvError},
};
use tokio::time::timeout;
use tokio_stream::Stream;
use tonic::{CancellationHandle, Streaming};

use crate::calls::Calls;
use crate::deadline::Deadline;
use crate::endpoints::{Endpoint, EndpointId, Lease, Watch};
use crate::error::ProtocolError;
use crate::{Error, SolveOptions, Transport, status, wire};

/// How long a call that was given up is looked after.
const LEAVING: Duration = Duration::from_secs(10);

/// A call that runs until it is dropped, which cancels it, or until the server ends it.
pub(super) struct Call<T: Transport> {
    options: SolveOptions,
    lease: Lease<T>,
    /// The batches without an answer, in the order in which they were sent: their numbers, and how many puzzles each has.
    owed: VecDeque<(u64, usize)>,
    owed_puzzles: usize,
    sent_puzzles: u64,
    /// `None` where nobody looks after the server.
    watch: Option<Watch<T>>,
    /// `None` once all was sent. It holds what the transport has not taken yet: the caller bounds that, by the number of
    /// messages without an answer.
    requests: Option<mpsc::UnboundedSender<PuzzleWriter>>,
    /// `None` once the call is being dropped.
    receiving: Option<Receiving>,
}

struct Receiving {
    replies: Replies,
    cancel: CancellationHandle,
    /// Tells when the transport has done with the requests.
    released: oneshot::Receiver<Infallible>,
}

enum Replies {
    /// Servers may open the stream of answers with the first of them only, so messages are sent while this waits.
    Opening(Pin<Box<dyn Future<Output = Result<Streaming<Results>, Error>> + Send>>),
    Open(Box<Streaming<Results>>),
    /// It could not be opened.
    Ended,
}

/// The messages on their way to the transport.
struct Requests {
    messages: mpsc::UnboundedReceiver<PuzzleWriter>,
    _held: oneshot::Sender<Infallible>,
}

impl Stream for Requests {
    type Item = PuzzleWriter;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.messages.poll_recv(cx)
    }
}

impl<T: Transport> Call<T> {
    /// Starts a call, which may wait until the first message is sent.
    pub(super) fn open(calls: &Calls<T>, lease: Lease<T>, options: SolveOptions, deadline: Deadline) -> Self {
        let (requests, messages) = mpsc::unbounded_channel();
        let (_held, released) = oneshot::channel();
        let mut request = calls.request(deadline, Requests { messages, _held });
        let cancel = request.cancellation_handle();
        let mut rpc = calls.rpc(&lease);
        let opening = async move { deadline.bound(rpc.solve_many(request)).await };
        Self {
            options,
            watch: calls.policy.looks_after().then(|| Watch::new(&lease)),
            lease,
            owed: VecDeque::new(),
            owed_puzzles: 0,
            sent_puzzles: 0,
            requests: Some(requests),
            receiving: Some(Receiving {
                replies: Replies::Opening(Box::pin(opening)),
                cancel,
                released,
            }),
        }
    }

    pub(super) fn endpoint(&self) -> &Arc<Endpoint<T>> {
        self.lease.endpoint()
    }

    pub(super) fn connection(&self) -> (EndpointId, usize) {
        (self.endpoint().id(), self.lease.line())
    }

    /// The numbers of the batches without an answer.
    pub(super) fn owed(&self) -> impl Iterator<Item = u64> {
        self.owed.iter().map(|&(number, _)| number)
    }

    pub(super) fn owed_messages(&self) -> usize {
        self.owed.len()
    }

    pub(super) fn owed_puzzles(&self) -> usize {
        self.owed_puzzles
    }

    /// How many were sent from the start.
    pub(super) fn sent_puzzles(&self) -> u64 {
        self.sent_puzzles
    }

    /// Whether more may be sent.
    pub(super) fn is_usable(&self) -> bool {
        !self.is_finished() && self.endpoint().is_serving()
    }

    /// Whether the server was told that all was sent.
    pub(super) fn is_finished(&self) -> bool {
        self.requests.is_none()
    }

    /// Sends batch `number`. If the call has ended, the next answer says why.
    pub(super) fn send(&mut self, number: u64, mut puzzles: PuzzleWriter) {
        let Some(requests) = &self.requests else { return };
        if let Some(watch) = self.watch.as_mut().filter(|_| self.owed.is_empty()) {
            watch.heard();
        }
        self.owed.push_back((number, puzzles.len()));
        self.owed_puzzles += puzzles.len();
        self.sent_puzzles += puzzles.len() as u64;
        self.lease.sent(puzzles.len());
        wire::set_options(&mut puzzles, &self.options);
        let _ = requests.send(puzzles);
    }

    /// Tells the server that all was sent.
    pub(super) fn finish(&mut self) {
        self.requests = None;
    }

    /// The results of the next batch without an answer, with its number. `None` when the server has ended the call
    /// without an error.
    pub(super) fn poll_answer(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Option<(u64, Results)>, Error>> {
        let Some(receiving) = &mut self.receiving else {
            return Poll::Ready(Ok(None));
        };
        match receiving.replies.poll_next(cx) {
            Poll::Ready(Ok(Some(results))) => Poll::Ready(self.answered(results).map(Some)),
            Poll::Ready(ended) => Poll::Ready(ended.map(|_| None)),
            Poll::Pending if self.owed.is_empty() && !self.is_finished() => Poll::Pending,
            Poll::Pending => match &mut self.watch {
                Some(watch) => watch.poll_gone(cx).map(Err),
                None => Poll::Pending,
            },
        }
    }

    fn answered(&mut self, results: Results) -> Result<(u64, Results), Error> {
        let received = results.len();
        let Some(&(number, asked)) = self.owed.front() else {
            return Err(ProtocolError::Unasked.into());
        };
        if asked != received {
            return Err(ProtocolError::ResultCount { asked, received }.into());
        }
        self.owed.pop_front();
        self.owed_puzzles -= asked;
        self.lease.answered(asked);
        if let Some(watch) = &mut self.watch {
            watch.heard();
        }
        Ok((number, results))
    }
}

impl Replies {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Results>, Error>> {
        if let Self::Opening(opening) = self {
            let opened = ready!(opening.as_mut().poll(cx));
            *self = Self::Ended;
            *self = Self::Open(Box::new(opened?));
        }
        let Self::Open(replies) = self else {
            return Poll::Ready(Ok(None));
        };
        let reply = ready!(Pin::new(replies).poll_next(cx)).transpose();
        Poll::Ready(reply.map_err(status::error))
    }

    /// Reads to the end and throws away what comes.
    async fn discard(mut self) {
        while let Ok(Some(_)) = std::future::poll_fn(|cx| self.poll_next(cx)).await {}
    }
}

impl<T: Transport> Drop for Call<T> {
    /// Cancels the call.
    ///
    /// The transport notices that only when it next asks for a message. It does not while it waits to send one to a
    /// server that waits itself, for its answers to be read, and then the call would stay with both sides for as long as
    /// the connection does. So the answers are read until the transport has noticed.
    fn drop(&mut self) {
        let Some(Receiving {
            replies,
            cancel,
            mut released,
        }) = self.receiving.take()
        else {
            return;
        };
        cancel.cancel();
        if released.try_recv() == Err(TryRecvError::Closed) {
            return;
        }
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move {
                tokio::select! {
                    biased;
                    _ = released => {}
                    _ = timeout(LEAVING, replies.discard()) => {}
                }
            });
        }
    }
}
