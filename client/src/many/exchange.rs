//! Batches out, answers back, in order and bounded, over as many calls as there are connections.
//!
//! Each batch has a slot until its outcomes were handed out, in the order of the batches. A batch goes to the call with
//! the fewest puzzles under way. When a call breaks, what it has not answered goes out again, to another one; so a result
//! is neither lost nor repeated, and the order is that of the slots whatever happens to the calls.

use std::collections::{BTreeSet, VecDeque};
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};

use sudoku_proto::wire::{PuzzleWriter, Results};
use tokio::time::{Sleep, sleep_until};

use super::answers::Answers;
use super::call::Call;
use super::packer::{Batch, Pack};
use crate::calls::Calls;
use crate::deadline::Deadline;
use crate::error::ProtocolError;
use crate::retry::{Attempts, Next};
use crate::{Error, InvalidPuzzle, SolveOptions, Transport, telemetry};

/// The most messages of a call without an answer. A server works on several at once; more than it takes wait in the
/// transport.
const MESSAGES_AHEAD: usize = 64;

/// The most puzzles of a call without an outcome, in full batches: enough to keep many cores of a server at work, and
/// what bounds the memory that a slow reader costs.
const BATCHES_AHEAD: usize = 8;

/// How many times a batch is taken or sent before the answers get their turn.
const BATCHES_IN_A_ROW: usize = 8;

/// The most calls at once.
const MOST_CALLS: usize = 16;

/// How many calls in turn may break while a batch is the first that they owe. One that breaks every server must not
/// go round for ever.
const MOST_TRIES: u32 = 10;

/// A batch from its packing until its outcomes are handed out.
struct Slot {
    /// What would be sent again. Empty where nothing is retried.
    puzzles: PuzzleWriter,
    sent: usize,
    invalid: Vec<(usize, InvalidPuzzle)>,
    tries: u32,
    results: Option<Results>,
}

impl Slot {
    fn len(&self) -> usize {
        self.sent + self.invalid.len()
    }
}

/// Keeps calls supplied from a packer, and matches their answers with the batches.
pub(super) struct Exchange<T: Transport> {
    options: SolveOptions,
    deadline: Deadline,
    calls: Calls<T>,
    attempts: Attempts<T>,
    packer: Box<dyn Pack>,
    batch: usize,
    open: Vec<Call<T>>,
    /// In the order of the batches. The first has number `first`.
    slots: VecDeque<Slot>,
    first: u64,
    puzzles: usize,
    /// The numbers of slots that are to be sent, again or for the first time.
    unsent: BTreeSet<u64>,
    /// When to look for a connection again.
    pause: Option<Pin<Box<Sleep>>>,
    all_taken: bool,
    /// Where the stream ends, and why: at the first batch that has failed.
    failure: Option<(u64, Error)>,
}

impl<T: Transport> Exchange<T> {
    pub(super) fn new(
        options: SolveOptions,
        deadline: Deadline,
        calls: Calls<T>,
        packer: Box<dyn Pack>,
        batch: usize,
    ) -> Self {
        Self {
            options,
            deadline,
            attempts: calls.attempts(deadline),
            calls,
            packer,
            batch,
            open: Vec::new(),
            slots: VecDeque::new(),
            first: 0,
            puzzles: 0,
            unsent: BTreeSet::new(),
            pause: None,
            all_taken: false,
            failure: None,
        }
    }

    /// The answers to the next batch. `None` when all are answered and no more will come. When it is `late` nothing more
    /// is sent.
    pub(super) fn poll_answers(
        &mut self,
        cx: &mut Context<'_>,
        late: bool,
    ) -> Poll<Option<Result<Answers, Error>>> {
        loop {
            let has_more = !late && self.poll_send(cx);
            if let Some(front) = self.take_front() {
                return Poll::Ready(Some(front));
            }
            if !self.poll_receive(cx) {
                if has_more {
                    // Other tasks get their turn before it goes on.
                    cx.waker().wake_by_ref();
                }
                let is_done = self.all_taken && self.slots.is_empty() && self.open.is_empty();
                return if is_done { Poll::Ready(None) } else { Poll::Pending };
            }
        }
    }

    /// The answers to the first batch if they are there, or why it has none.
    fn take_front(&mut self) -> Option<Result<Answers, Error>> {
        if let Some((_, error)) = self.failure.take_if(|(number, _)| *number == self.first) {
            return Some(Err(error));
        }
        let results = self.slots.front_mut()?.results.take()?;
        let slot = self.slots.pop_front()?;
        self.first += 1;
        self.puzzles -= slot.len();
        Some(Ok(Answers::new(self.options, results, slot.invalid)))
    }

    /// Takes and sends what there is, as far as the bounds allow. `true` if there may be more to send at once.
    fn poll_send(&mut self, cx: &mut Context<'_>) -> bool {
        for _ in 0..BATCHES_IN_A_ROW {
            if let Some(&number) = self.unsent.first() {
                let Some(call) = self.place(number, cx) else {
                    return false;
                };
                self.unsent.remove(&number);
                self.send(number, call);
                continue;
            }
            if self.all_taken || self.failure.is_some() {
                self.open.iter_mut().for_each(Call::finish);
                return false;
            }
            match self.packer.poll_batch(cx, self.is_full()) {
                Poll::Pending => return false,
                Poll::Ready(Some(batch)) => self.add(batch),
                Poll::Ready(None) => self.all_taken = true,
            }
        }
        true
    }

    /// Whether as much is under way as may be.
    fn is_full(&self) -> bool {
        let members = self.calls.endpoints.members();
        let serving = members.iter().filter(|endpoint| endpoint.is_serving());
        let calls = serving
            .map(|endpoint| endpoint.lines())
            .sum::<usize>()
            .clamp(1, MOST_CALLS);
        self.slots.len() >= MESSAGES_AHEAD * calls || self.puzzles >= BATCHES_AHEAD * self.batch * calls
    }

    /// Gives a batch its slot.
    fn add(&mut self, batch: Batch) {
        let sent = batch.puzzles.len();
        if sent > 0 {
            self.unsent.insert(self.next_number());
        }
        self.puzzles += batch.len();
        self.slots.push_back(Slot {
            puzzles: batch.puzzles,
            sent,
            invalid: batch.invalid,
            tries: 0,
            results: (sent == 0).then(Results::default),
        });
    }

    /// The number of the next batch.
    fn next_number(&self) -> u64 {
        self.first + self.slots.len() as u64
    }

    fn slot(&mut self, number: u64) -> Option<&mut Slot> {
        self.slots.get_mut((number - self.first) as usize)
    }

    /// The call for batch `number`: the one that owes the least. A full batch tells of plenty, and opens a call over
    /// another connection as long as there is one without; any other does only where every call has plenty.
    fn place(&mut self, number: u64, cx: &mut Context<'_>) -> Option<usize> {
        let usable = |call: &Call<T>| call.is_usable() && call.owed_messages() < MESSAGES_AHEAD;
        let calls = self.open.iter().enumerate().filter(|(_, call)| usable(call));
        let best = calls
            .map(|(index, call)| (call.owed_puzzles(), call.sent_puzzles(), index))
            .min();
        let best = best.filter(|&(owed, ..)| owed < BATCHES_AHEAD * self.batch);
        let batch = self.batch;
        let is_full = self.slot(number).is_some_and(|slot| slot.len() >= batch);
        let has_plenty = is_full || best.is_none_or(|(owed, ..)| owed >= self.batch);
        if has_plenty && let Some(new) = self.open_another(cx) {
            return Some(new);
        }
        best.map(|(.., index)| index)
    }

    /// Opens a call over a connection that this stream does not use. `None` where there is none now: then the task is
    /// woken when there may be, or the first batch that waits has failed.
    fn open_another(&mut self, cx: &mut Context<'_>) -> Option<usize> {
        if let Some(pause) = &mut self.pause
            && pause.as_mut().poll(cx).is_pending()
        {
            return None;
        }
        self.pause = None;
        let usable = self.open.iter().filter(|call| call.is_usable());
        let used: Vec<_> = usable.map(Call::connection).collect();
        if used.len() >= MOST_CALLS {
            return None;
        }
        let next = self
            .attempts
            .next(|endpoint, line| !used.contains(&(endpoint, line)))?;
        match next {
            Next::Try(lease) => {
                self.open
                    .push(Call::open(&self.calls, lease, self.options, self.deadline));
                return Some(self.open.len() - 1);
            }
            Next::Wait(due) => {
                let mut pause = Box::pin(sleep_until(due));
                if pause.as_mut().poll(cx).is_ready() {
                    cx.waker().wake_by_ref();
                }
                self.pause = Some(pause);
            }
            // The calls that are there may still answer all.
            Next::GiveUp(_) if !used.is_empty() => {}
            Next::GiveUp(error) => {
                self.fail_at(self.unsent.first().copied().unwrap_or(self.next_number()), error)
            }
        }
        None
    }

    fn send(&mut self, number: u64, call: usize) {
        let is_kept = self.calls.policy.is_on();
        let Some(slot) = self.slot(number) else { return };
        let puzzles = match is_kept {
            true => slot.puzzles.clone(),
            false => mem::take(&mut slot.puzzles),
        };
        self.open[call].send(number, puzzles);
    }

    /// Ends the stream before batch `number`, unless it ends earlier.
    fn fail_at(&mut self, number: u64, error: Error) {
        if self.failure.as_ref().is_none_or(|&(first, _)| number < first) {
            self.failure = Some((number, error));
            self.unsent.split_off(&number);
        }
    }

    /// Takes the answers that are there. `true` if anything has changed.
    fn poll_receive(&mut self, cx: &mut Context<'_>) -> bool {
        let mut changed = false;
        let mut index = 0;
        while index < self.open.len() {
            match self.open[index].poll_answer(cx) {
                Poll::Pending => index += 1,
                Poll::Ready(Ok(Some((number, results)))) => {
                    changed = true;
                    self.take(index, number, results);
                }
                Poll::Ready(ended) => {
                    changed = true;
                    let call = self.open.swap_remove(index);
                    self.ended(&call, ended.err());
                }
            }
        }
        changed
    }

    fn take(&mut self, call: usize, number: u64, results: Results) {
        self.attempts.answered(self.open[call].endpoint().id());
        self.calls.policy.succeeded();
        telemetry::answered(results.len());
        if let Some(slot) = self.slot(number) {
            slot.puzzles = PuzzleWriter::default();
            slot.results = Some(results);
        }
    }

    /// A call has ended. What it owes goes out again, if the reason allows that.
    fn ended(&mut self, call: &Call<T>, error: Option<Error>) {
        let error = error.unwrap_or_else(|| ProtocolError::EndedEarly.into());
        let Some(number) = call.owed().next() else {
            return self.ended_idle(call, error);
        };
        let tries = self.slot(number).map_or(0, |slot| {
            slot.tries += 1;
            slot.tries
        });
        if tries > MOST_TRIES {
            return self.fail_at(number, error);
        }
        if let Err(error) = self.attempts.failed(Some(call.endpoint()), error) {
            return self.fail_at(number, error);
        }
        let end = self.failure.as_ref().map_or(u64::MAX, |&(number, _)| number);
        self.unsent.extend(call.owed().filter(|&number| number < end));
    }

    /// A call has ended that owed nothing. With every answer in hand it does not matter how.
    fn ended_idle(&mut self, call: &Call<T>, error: Error) {
        let is_unasked = matches!(error, Error::Protocol(ProtocolError::Unasked));
        if call.is_finished() && !is_unasked {
            return;
        }
        if let Err(error) = self.attempts.failed(Some(call.endpoint()), error) {
            self.fail_at(self.next_number(), error);
        }
    }
}
