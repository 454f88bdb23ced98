//! A call of `SolveMany`: messages out, answers back.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use sudoku_proto::wire::sudoku_service_client::SudokuServiceClient;
use sudoku_proto::wire::{PuzzleWriter, Results};
use tokio::runtime::Handle;
use tokio::sync::{
    mpsc,
    oneshot::{self, error::TryRecvError},
};
use tokio::time::timeout;
use tokio_stream::Stream;
use tonic::{CancellationHandle, Streaming};

use crate::deadline::Deadline;
use crate::{Error, SolveOptions, Transport, status, wire};

/// How long a call that was given up is looked after.
const LEAVING: Duration = Duration::from_secs(10);

/// A call that runs until it is dropped, which cancels it, or until the server ends it.
pub(crate) struct Call {
    options: SolveOptions,
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

impl Call {
    /// Starts a call, which may wait until the first message is sent.
    pub(crate) fn open<T: Transport>(
        mut rpc: SudokuServiceClient<T>,
        options: SolveOptions,
        deadline: Deadline,
    ) -> Self {
        let (requests, messages) = mpsc::unbounded_channel();
        let (_held, released) = oneshot::channel();
        let mut request = deadline.request(Requests { messages, _held });
        let cancel = request.cancellation_handle();
        let opening = async move { deadline.bound(rpc.solve_many(request)).await };
        Self {
            options,
            requests: Some(requests),
            receiving: Some(Receiving {
                replies: Replies::Opening(Box::pin(opening)),
                cancel,
                released,
            }),
        }
    }

    /// Sends a message. If the call has ended, the next answer says why.
    pub(super) fn send(&mut self, mut puzzles: PuzzleWriter) {
        if let Some(requests) = &self.requests {
            wire::set_options(&mut puzzles, &self.options);
            let _ = requests.send(puzzles);
        }
    }

    /// Tells the server that all was sent.
    pub(super) fn finish(&mut self) {
        self.requests = None;
    }

    /// The results of the next message. `None` when the server has ended the call without an error.
    pub(super) fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Results>, Error>> {
        match &mut self.receiving {
            Some(receiving) => receiving.replies.poll_next(cx),
            None => Poll::Ready(Ok(None)),
        }
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

impl Drop for Call {
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
