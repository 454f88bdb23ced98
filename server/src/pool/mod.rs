//! The threads that solve the messages of `SolveMany` streams.
//!
//! A [`Pool`] has a number of threads of its own, so that streams can keep every core busy while unary calls are answered
//! by the runtime's workers. Each stream opens a [`Lane`], puts its puzzles in, and takes out what was found. All that is
//! below this interface, the order and size of turns and the engine, can change without the rest of the server noticing.
//!
//! [`schedule`] decides who is next. A [`lane`] makes parts of the puzzles of messages that are ready together, and a
//! [`call`] takes back what is done. Each thread has a batch engine for many puzzles at once, [`batches`]; [`work`] is what
//! it does besides, puzzle by puzzle. What was answered is kept as [`spare`] memory.

mod batches;
mod call;
mod lane;
mod schedule;
mod spare;
mod work;

use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

use sudoku_engine::Isa;

use call::Call;
pub(crate) use lane::{Lane, Lost, Solved};
use schedule::Schedule;
use spare::Spare;
use work::{Solver, Work};

/// Threads that solve, shared by all who hold a clone or a lane. They end when the last of these is gone.
#[derive(Debug, Clone)]
pub(crate) struct Pool {
    schedule: Arc<Schedule<Work>>,
    isa: Isa,
    spare: Arc<Spare>,
    /// Closes the schedule when the last clone goes; the threads hold the schedule too.
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
    /// Threads that solve right now.
    pub busy: usize,
    /// Pieces of work that wait for a thread.
    pub waiting: usize,
}

impl Pool {
    /// Starts the threads.
    ///
    /// # Errors
    ///
    /// The operating system's, if it refuses a thread.
    pub fn new(threads: NonZeroUsize, isa: Isa) -> io::Result<Self> {
        let schedule = Arc::new(Schedule::new(threads));
        let pool = Self {
            schedule: Arc::clone(&schedule),
            isa,
            spare: Arc::default(),
            _closer: Arc::new(Closer(Arc::clone(&schedule))),
        };
        for index in 0..threads.get() {
            let schedule = Arc::clone(&schedule);
            std::thread::Builder::new()
                .name(format!("solve-{index}"))
                .spawn(move || {
                    stand_back();
                    schedule.work(Solver::new(isa));
                })?;
        }
        Ok(pool)
    }

    /// Opens a place for a stream. After `deadline` no work is done for it.
    pub fn lane(&self, deadline: Option<Instant>) -> Lane {
        Lane::new(
            self.clone(),
            Arc::new(Call::new(self.schedule.open(), self.isa, deadline)),
        )
    }

    /// What the pool is doing right now.
    pub fn load(&self) -> PoolLoad {
        self.schedule.load()
    }
}

/// By how much the threads that solve are nicer than the others.
#[cfg(target_os = "linux")]
const NICE: i32 = 3;

/// Lets the runtime's threads go first when they have something to do: it is little at a time, and calls of `Solve` wait for
/// it. Without this the slowest of these wait until the operating system takes the core from a thread that solves.
fn stand_back() {
    // Linux counts niceness by the thread, and changes that of the calling one. Elsewhere it is the process's.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(NICE) {
        tracing::debug!(%error, "a thread that solves keeps its priority");
    }
}
