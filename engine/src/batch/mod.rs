//! The batch engine: 256 puzzles side by side, one bit each.
//!
//! An [`Engine`] takes [`Batch`]es of puzzles, works on all that it holds for as many sweeps as it is told, and gives the
//! batches back with their outcomes, in whatever order they are finished:
//!
//! ```
//! use sudoku_engine::batch::{Batch, Engine, Options, Outcome};
//! use sudoku_engine::{Grid, Isa};
//!
//! let line = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
//! let mut engine = Engine::new(Isa::detect(), 4);
//! let batch = Batch::new(1, vec![Grid::from_line(line)?; 512], Options::default());
//! engine.submit(batch).expect("the engine is empty");
//! let batch = loop {
//!     engine.run(64);
//!     if let Some(batch) = engine.finished() {
//!         break batch;
//!     }
//! };
//! assert_eq!(batch.outcome(511), Some(Outcome::Unique));
//! let solution = batch.solutions(511).next().expect("a unique puzzle has one");
//! assert!(solution.to_string().starts_with("534678912"));
//! # Ok::<(), sudoku_engine::GridError>(())
//! ```
//!
//! What is not for it, it leaves open, for [`crate::Search`] to solve from the start: puzzles that exceed the budget of
//! their batch or the engine's room for guesses, and batches that come alone and are too small to be worth it
//! ([`Engine::starting_with`]). [`Batch::open`] names them.
//!
//! `docs/engine.md` tells how it works; in short, a round is this, for all lanes at once:
//!
//! 1. A few sweeps of deduction (`sweep`, `triads`) until a lane is solved, contradicts itself or stalls.
//! 2. Solved lanes are checked (`check`) and written down (`output`, by way of `transpose`).
//! 3. A stalled lane forks on a choice (`branch`): it becomes the first child, and the second goes to a free lane
//!    (`moves`) or into store. Lanes that have come to an end fetch a state out of store, or a new puzzle
//!    (`input`); all of this is one pass over the planes (`exchange`).
//!
//! `core` keeps the books: which puzzle is in which lane. `settle` says what becomes of a lane after the sweeps, `refill`
//! what it goes on with.

// The kernels go through several arrays at once by box, digit and cell.
#![allow(clippy::needless_range_loop)]

mod branch;
mod check;
mod core;
mod exchange;
mod input;
mod intake;
mod lanes;
mod message;
mod moves;
mod output;
mod planes;
mod refill;
mod settle;
mod sweep;
mod transpose;
mod triads;

use std::fmt;

pub use message::{Batch, Limit, Options, Outcome};

use self::core::Core;
use crate::arch::portable::Portable;
#[cfg(all(feature = "simd", target_arch = "x86_64"))]
use crate::isa::{Avx2, Avx512};
use crate::isa::{Isa, Set};

/// Solves puzzles in batches, a slice of work at a time.
///
/// All its memory, about two thirds of a megabyte, is allocated when it is made. It knows no threads and no time: whoever
/// runs it looks at deadlines between two calls of [`Engine::run`]. It is as fast as it can be with 256 puzzles at hand or
/// more, no matter in how many batches they come.
pub struct Engine {
    isa: Isa,
    core: AnyCore,
}

/// The engine for the instruction set.
enum AnyCore {
    Portable(Box<Core<Portable>>),
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    Avx2(Box<Core<Avx2>>),
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    Avx512(Box<Core<Avx512>>),
}

/// The same expression on whichever core there is.
macro_rules! on_core {
    ($any:expr, $core:ident => $body:expr) => {
        match $any {
            AnyCore::Portable($core) => $body,
            #[cfg(all(feature = "simd", target_arch = "x86_64"))]
            AnyCore::Avx2($core) => $body,
            #[cfg(all(feature = "simd", target_arch = "x86_64"))]
            AnyCore::Avx512($core) => $body,
        }
    };
}

impl Engine {
    /// An engine that holds up to `capacity` batches at a time, at least 1 and at most 65,535.
    pub fn new(isa: Isa, capacity: usize) -> Self {
        let core = match isa.set() {
            Set::Portable => AnyCore::Portable(Box::new(Core::new(Portable, capacity))),
            #[cfg(all(feature = "simd", target_arch = "x86_64"))]
            Set::Avx2(token) | Set::Avx2NoPext(token) => AnyCore::Avx2(Box::new(Core::new(token, capacity))),
            #[cfg(all(feature = "simd", target_arch = "x86_64"))]
            Set::Avx512(token) => AnyCore::Avx512(Box::new(Core::new(token, capacity))),
        };
        Self { isa, core }.starting_with(break_even(isa))
    }

    /// The same engine, that starts on nothing less than `puzzles` puzzles when it has no other work: fewer are left
    /// open, to be solved one by one.
    ///
    /// An engine comes with the number from which on it is the faster one on easy puzzles too; 0 makes it take all.
    #[must_use]
    pub fn starting_with(mut self, puzzles: usize) -> Self {
        on_core!(&mut self.core, core => core.set_least(puzzles));
        self
    }

    /// The instruction set it runs on.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// Hands a batch over. Where batches wait, each is given lanes in turn, so that a small one is not held up by a large
    /// one.
    ///
    /// # Errors
    ///
    /// The batch itself, if the engine holds as many as it can.
    #[allow(clippy::result_large_err, reason = "what is refused goes back to its owner")]
    pub fn submit(&mut self, batch: Batch) -> Result<(), Batch> {
        on_core!(&mut self.core, core => core.submit(batch))
    }

    /// Works for at most `sweeps` sweeps, of one to three microseconds each. Returns how many it did: fewer means that
    /// there is nothing left to do. An engine that has no work returns at once.
    pub fn run(&mut self, sweeps: u32) -> u32 {
        on_core!(&mut self.core, core => core.run(sweeps))
    }

    /// Takes out a batch that is finished, if there is one.
    pub fn finished(&mut self) -> Option<Batch> {
        on_core!(&mut self.core, core => core.finished())
    }

    /// Takes a batch back, finished or not, and frees its lanes. Its puzzles without an outcome are open.
    ///
    /// It is the first batch with this key, or `None` if there is none.
    pub fn cancel(&mut self, key: u64) -> Option<Batch> {
        on_core!(&mut self.core, core => core.cancel(key))
    }

    /// How many puzzles it holds that it has not begun. With some 512 or more it is never short of them for a hundred
    /// microseconds' worth of sweeps, however easy they are.
    pub fn waiting(&self) -> usize {
        on_core!(&self.core, core => core.waiting())
    }

    /// Whether it has no work. Finished batches may still be in it.
    pub fn is_idle(&self) -> bool {
        on_core!(&self.core, core => core.is_idle())
    }
}

/// How many puzzles at once it takes for a sweep of all lanes to be faster, a puzzle, than [`crate::Search`], whatever the
/// puzzles: those with several solutions need the most. The figures are in `docs/performance.md`.
fn break_even(isa: Isa) -> usize {
    match isa.set() {
        Set::Portable => 240,
        #[cfg(all(feature = "simd", target_arch = "x86_64"))]
        Set::Avx2(_) | Set::Avx2NoPext(_) => 128,
        #[cfg(all(feature = "simd", target_arch = "x86_64"))]
        Set::Avx512(_) => 84,
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("isa", &self.isa)
            .field("idle", &self.is_idle())
            .finish_non_exhaustive()
    }
}
