//! The workers that solve the messages of `SolveMany` streams.
//!
//! A [`Pool`] has a number of workers: tasks on the runtime that work for a fraction of a millisecond and then let others
//! have the thread, such as those that read and write on connections and those that answer single calls. Each stream opens
//! a [`Lane`], puts its puzzles in, and takes out what was found. All that is below this interface, the order and size of
//! turns and the engine, can change without the rest of the server noticing.
//!
//! Threads of their own would cost some 30 microseconds of the kernel's time for each change between them and the runtime's
//! on a core that is busy: twice for every thousand puzzles.
//!
//! [`schedule`] decides who is next. A [`lane`] makes parts of the puzzles of messages that are ready together, and a
//! [`call`] takes back what is done. Each worker has a batch engine for many puzzles at once, [`batches`]; [`work`] is what
//! it does besides, puzzle by puzzle. What was answered is kept as [`spare`] memory.

mod batches;
mod call;
mod lane;
mod schedule;
mod spare;
mod work;

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

use sudoku_engine::Isa;

use call::Call;
pub(crate) use lane::{Lane, Lost, Solved};
use schedule::Schedule;
use spare::Spare;
use work::{Solver, Work};

/// Workers that solve, shared by all who hold a clone or a lane. They end when the last of these is gone.
#[derive(Debug, Clone)]
pub(crate) struct Pool {
    schedule: Arc<Schedule<Work>>,
    isa: Isa,
    spare: Arc<Spare>,
    /// Closes the schedule when the last clone goes; the workers hold the schedule too.
    _closer: Arc<Closer>,
}

#[derive(Debug)]
struct Closer(Arc<Schedule<Work>>);

impl Drop for Closer {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// What the pool is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PoolLoad {
    /// Workers that have work.
    pub busy: usize,
    /// Pieces of work that wait for a worker.
    pub waiting: usize,
}

impl Pool {
    /// Makes a pool of so many workers. They start with the first lane.
    pub fn new(workers: NonZeroUsize, isa: Isa) -> Self {
        let schedule = Arc::new(Schedule::new(workers));
        Self {
            schedule: Arc::clone(&schedule),
            isa,
            spare: Arc::default(),
            _closer: Arc::new(Closer(schedule)),
        }
    }

    /// Opens a place for a stream. After `deadline` no work is done for it.
    ///
    /// The workers that are missing start, on the runtime that this is called in: at first all of them, and once more if
    /// their runtime has ended.
    pub fn lane(&self, deadline: Option<Instant>) -> Lane {
        for post in Schedule::vacancies(&self.schedule) {
            let isa = self.isa;
            tokio::spawn(async move { post.work(Solver::new(isa)).await });
        }
        Lane::new(
            self.clone(),
            Arc::new(Call::new(self.schedule.open(), self.isa, deadline)),
        )
    }

    /// Whether a worker has work right now.
    pub fn is_busy(&self) -> bool {
        self.schedule.is_busy()
    }

    /// What the pool is doing right now.
    pub fn load(&self) -> PoolLoad {
        self.schedule.load()
    }
}
