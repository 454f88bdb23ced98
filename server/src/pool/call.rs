//! A call that work is done for: whether it is still wanted, and the way back for what is done.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Context;
use std::time::Instant;

use futures_util::task::AtomicWaker;
use sudoku_engine::Isa;
use sudoku_engine::batch::Batch;

use super::schedule::LaneId;
use crate::search::Answer;

/// The call that work is done for.
#[derive(Debug)]
pub(super) struct Call {
    lane: LaneId,
    isa: Isa,
    stopped: AtomicBool,
    deadline: Option<Instant>,
    done: Mutex<Vec<(PartId, Done)>>,
    /// Wakes the stream that waits for what is done.
    waker: AtomicWaker,
}

/// The number of a part among those of its call.
pub(super) type PartId = u64;

/// What the workers have to say about a part.
#[derive(Debug)]
pub(super) enum Done {
    /// The batch engine is through with it. What it left open, by these indices, is still worked on.
    Batch(Batch, Vec<usize>),
    /// Answers of the single engine, by the indices of the puzzles.
    Answers(Vec<(usize, Answer)>),
    /// It will not be completed.
    Lost,
}

impl Call {
    pub fn new(lane: LaneId, isa: Isa, deadline: Option<Instant>) -> Self {
        Self {
            lane,
            isa,
            stopped: AtomicBool::new(false),
            deadline,
            done: Mutex::new(Vec::new()),
            waker: AtomicWaker::new(),
        }
    }

    /// Where its work stands in the schedule.
    pub fn lane(&self) -> LaneId {
        self.lane
    }

    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// Tells the workers that nobody wants the answers any more.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub fn is_over(&self, now: Instant) -> bool {
        self.stopped.load(Ordering::Relaxed) || self.deadline.is_some_and(|deadline| now >= deadline)
    }

    fn put(&self, part: PartId, done: Done) {
        let mut all = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        all.push((part, done));
    }

    /// Moves what is done into `into`, which is empty. The task of `cx` is woken when there is more.
    pub fn receive(&self, cx: &mut Context<'_>, into: &mut Vec<(PartId, Done)>) {
        // Before looking, so that what comes in between wakes too.
        self.waker.register(cx.waker());
        let mut all = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut *all, into);
    }
}

/// Calls that there is something for. Dropping it wakes them: who is woken may run at once, on another thread, so it is
/// better done for all that is there than for one piece after the other.
#[derive(Debug, Default)]
pub(super) struct Wakes(Vec<Arc<Call>>);

impl Drop for Wakes {
    fn drop(&mut self) {
        for call in &self.0 {
            call.waker.wake();
        }
    }
}

/// The duty to answer puzzles of a part. Dropping it tells the call that the part is lost.
#[derive(Debug)]
pub(super) struct Duty {
    call: Arc<Call>,
    part: PartId,
    fulfilled: bool,
}

impl Duty {
    pub fn new(call: Arc<Call>, part: PartId) -> Self {
        Self {
            call,
            part,
            fulfilled: false,
        }
    }

    pub fn call(&self) -> &Call {
        &self.call
    }

    /// The same duty for other puzzles of the part.
    pub fn share(&self) -> Self {
        Self::new(Arc::clone(&self.call), self.part)
    }

    /// Sends something that is not all.
    pub fn send(&self, done: Done) {
        self.call.put(self.part, done);
        self.call.waker.wake();
    }

    /// The same, but the call learns of it only when `calls` is dropped.
    pub fn send_with(&self, done: Done, calls: &mut Wakes) {
        self.call.put(self.part, done);
        if calls.0.last().is_none_or(|last| !Arc::ptr_eq(last, &self.call)) {
            calls.0.push(Arc::clone(&self.call));
        }
    }

    /// Nothing is left to do.
    pub fn fulfil(mut self) {
        self.fulfilled = true;
    }
}

impl Drop for Duty {
    fn drop(&mut self) {
        if !self.fulfilled {
            self.send(Done::Lost);
        }
    }
}
