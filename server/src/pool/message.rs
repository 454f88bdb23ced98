//! A message of puzzles on its way through the pool, and the call that it belongs to.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use sudoku_engine::{Grid, Isa};
use tokio::sync::oneshot;

use super::Ticket;
use super::schedule::LaneId;
use super::work::Work;
use crate::options::Options;
use crate::search::{Answer, Attempt};

/// How many puzzles go into a thread's batch engine together: few enough to spread a message over the threads, and enough
/// to fill the engine's lanes.
const BATCH_PUZZLES: usize = 256;

/// How many puzzles a thread takes at a time to search them one by one.
const UNIT_PUZZLES: usize = 32;

/// The call that work is done for, and whether it is still wanted.
#[derive(Debug)]
pub(super) struct Call {
    lane: LaneId,
    isa: Isa,
    stopped: AtomicBool,
    deadline: Option<Instant>,
}

impl Call {
    pub fn new(lane: LaneId, isa: Isa, deadline: Option<Instant>) -> Self {
        Self {
            lane,
            isa,
            stopped: AtomicBool::new(false),
            deadline,
        }
    }

    /// Where its work stands in the schedule.
    pub fn lane(&self) -> LaneId {
        self.lane
    }

    /// Tells the threads that nobody wants the answers any more.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub fn is_over(&self, now: Instant) -> bool {
        self.stopped.load(Ordering::Relaxed) || self.deadline.is_some_and(|deadline| now >= deadline)
    }
}

/// A message of puzzles. It lives as long as there is work left on it, so when all of that is dropped, the sender is
/// dropped with it and the ticket ends in an error.
#[derive(Debug)]
pub(super) struct Message {
    pub call: Arc<Call>,
    pub puzzles: Vec<Grid>,
    pub options: Options,
    answers: Mutex<Answers>,
}

#[derive(Debug)]
struct Answers {
    list: Vec<Option<Answer>>,
    missing: usize,
    ready: Option<oneshot::Sender<Vec<Answer>>>,
}

impl Message {
    /// A message, the work on it, and the ticket for its answers.
    pub fn submit(call: &Arc<Call>, puzzles: Vec<Grid>, options: Options) -> (Vec<Work>, Ticket) {
        let (sender, ticket) = oneshot::channel();
        let count = puzzles.len();
        if count == 0 {
            // It can only fail if the ticket is gone, and it is still here.
            let _ = sender.send(Vec::new());
            return (Vec::new(), ticket);
        }
        let message = Arc::new(Self {
            call: Arc::clone(call),
            puzzles,
            options,
            answers: Mutex::new(Answers {
                list: vec![None; count],
                missing: count,
                ready: Some(sender),
            }),
        });
        (message.work(), ticket)
    }

    fn work(self: &Arc<Self>) -> Vec<Work> {
        let cut = |size: usize, work: fn(Arc<Self>, Range<usize>) -> Work| {
            let count = self.puzzles.len();
            let starts = (0..count).step_by(size);
            starts
                .map(|start| work(Arc::clone(self), start..count.min(start + size)))
                .collect()
        };
        match self.options.solution_limit {
            1 | 2 => cut(BATCH_PUZZLES, |message, range| Work::Batch { message, range }),
            // The batch engine stops at the second solution.
            _ => cut(UNIT_PUZZLES, Work::unit),
        }
    }

    /// A search for one of its puzzles.
    pub fn attempt(&self, index: usize) -> Attempt {
        Attempt::new(&self.puzzles[index], self.options, self.call.isa)
    }

    /// Takes in answers, each with the index of its puzzle, which had none. The last one sends them all off.
    pub fn fill(&self, answers: impl IntoIterator<Item = (usize, Answer)>) {
        let mut all = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let all = &mut *all;
        for (index, answer) in answers {
            all.list[index] = Some(answer);
            all.missing -= 1;
        }
        if all.missing == 0
            && let Some(ready) = all.ready.take()
        {
            let list = std::mem::take(&mut all.list);
            // It fails if the stream is gone, and then nobody minds.
            let _ = ready.send(list.into_iter().flatten().collect());
        }
    }
}
