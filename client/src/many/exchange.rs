//! Batches out, answers back, in order and bounded.

use std::collections::VecDeque;
use std::mem;
use std::task::{Context, Poll, ready};

use sudoku_proto::wire::Results;

use super::answers::Answers;
use super::call::Call;
use super::packer::{Batch, Packer};
use crate::error::ProtocolError;
use crate::{Error, InvalidPuzzle, SolveOptions};

/// The most messages without an answer. A server works on several at once; more than it takes wait in the transport.
const MESSAGES_AHEAD: usize = 64;

/// The most puzzles without an outcome, in full batches: enough to keep many cores of a server at work, and what bounds
/// the memory that a slow reader costs.
const BATCHES_AHEAD: usize = 8;

/// What is left here of a batch that is under way.
struct Pending {
    sent: usize,
    invalid: Vec<(usize, InvalidPuzzle)>,
}

/// Keeps a call supplied from a packer, and matches its answers with the batches.
pub(super) struct Exchange {
    options: SolveOptions,
    packer: Packer,
    most_puzzles: usize,
    open: Box<dyn FnMut() -> Call + Send>,
    /// Opened by the first batch that has something to send.
    call: Option<Call>,
    pending: VecDeque<Pending>,
    pending_puzzles: usize,
    all_taken: bool,
}

impl Exchange {
    pub(super) fn new(
        options: SolveOptions,
        packer: Packer,
        batch: usize,
        open: Box<dyn FnMut() -> Call + Send>,
    ) -> Self {
        Self {
            options,
            packer,
            most_puzzles: BATCHES_AHEAD * batch,
            open,
            call: None,
            pending: VecDeque::new(),
            pending_puzzles: 0,
            all_taken: false,
        }
    }

    /// Sends what there is to send, as far as the bounds allow.
    pub(super) fn poll_send(&mut self, cx: &mut Context<'_>) {
        while !self.all_taken {
            let hold = self.pending.len() >= MESSAGES_AHEAD || self.pending_puzzles >= self.most_puzzles;
            match self.packer.poll_batch(cx, hold) {
                Poll::Pending => return,
                Poll::Ready(Some(batch)) => self.send(batch),
                Poll::Ready(None) => {
                    self.all_taken = true;
                    if let Some(call) = &mut self.call {
                        call.finish();
                    }
                }
            }
        }
    }

    fn send(&mut self, batch: Batch) {
        self.pending_puzzles += batch.len();
        self.pending.push_back(Pending {
            sent: batch.puzzles.len(),
            invalid: batch.invalid,
        });
        if !batch.puzzles.is_empty() {
            self.call.get_or_insert_with(&mut self.open).send(batch.puzzles);
        }
    }

    /// The answers to the next batch. `None` when all are answered and no more will come.
    pub(super) fn poll_answers(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Answers, Error>>> {
        if self.pending.front().is_some_and(|front| front.sent == 0) {
            return Poll::Ready(self.take_answer(Results::default()).map(Ok));
        }
        let all_answered = self.all_taken && self.pending.is_empty();
        let Some(call) = &mut self.call else {
            return if all_answered {
                Poll::Ready(None)
            } else {
                Poll::Pending
            };
        };
        Poll::Ready(match ready!(call.poll_answer(cx)) {
            Ok(Some(results)) => match self.pending.front().map(|front| front.sent) {
                None => Some(Err(ProtocolError::Unasked.into())),
                Some(asked) if asked != results.len() => {
                    let received = results.len();
                    Some(Err(ProtocolError::ResultCount { asked, received }.into()))
                }
                Some(_) => self.take_answer(results).map(Ok),
            },
            // With every answer in hand it does not matter how the call ended.
            Ok(None) | Err(_) if all_answered => None,
            Ok(None) => Some(Err(ProtocolError::EndedEarly.into())),
            Err(error) => Some(Err(error)),
        })
    }

    /// Takes the first batch that is under way, with the results of what was sent of it.
    fn take_answer(&mut self, results: Results) -> Option<Answers> {
        let mut front = self.pending.pop_front()?;
        self.pending_puzzles -= front.sent + front.invalid.len();
        Some(Answers::new(self.options, results, mem::take(&mut front.invalid)))
    }
}
