//! The engine for one instruction set: which puzzle is in which lane, and what happens to it next.

use std::collections::VecDeque;

use super::branch::Choices;
use super::exchange::PAGES;
use super::intake::Intake;
use super::lanes::{LANES, Lanes};
use super::message::Batch;
use super::output::{BitPlanes, Target};
use super::planes::{Page, Work};
use super::sweep::{Status, Sweep};
use super::transpose::Rows;
use crate::arch::{Kernel, Simd};

/// Puzzles in flight: one a lane at most, and as many decoded and waiting for a lane.
pub(super) const SLOTS: usize = 2 * LANES;

/// How many sweeps a round has.
const ROUND: u32 = 4;

/// While there is search, the triad rule is applied in one round of so many: it costs as much as a sweep.
const TRIADS_EVERY: u32 = 2;

/// A puzzle in flight.
#[derive(Clone, Copy, Default)]
pub(super) struct Slot {
    /// Its index in the batch.
    pub(super) puzzle: u32,
    pub(super) batch: u16,
    /// In how many lanes it is searched. All states at a lane, in work and in store, are of one puzzle.
    pub(super) lanes: u16,
    /// The steps it may still take.
    pub(super) budget: u32,
    /// The solutions found, and how many are enough.
    pub(super) found: u8,
    pub(super) limit: u8,
    /// Whether solutions are only counted.
    pub(super) omit: bool,
}

pub(super) struct Core<S: Simd> {
    pub(super) simd: S,
    pub(super) work: Box<Work<S::Vector>>,
    pub(super) choices: Box<Choices<S::Vector>>,

    /// The lanes that have a puzzle.
    pub(super) active: Lanes,
    /// Active lanes whose state is finished with. After an exchange there is none.
    pub(super) spent: Lanes,
    /// Active lanes in which propagation came to its end, and that have to fork.
    pub(super) stalled: Lanes,
    /// The slot of each active lane.
    pub(super) slot_of: [u16; LANES],

    /// States put by, each at the lane that will take it up again: page `p` holds what a lane put by when it had `p`
    /// others in store.
    pub(super) pages: Box<[Page<S::Vector>; PAGES]>,
    /// The lanes that have a state in each page.
    pub(super) stored: [Lanes; PAGES],

    pub(super) slots: Box<[Slot; SLOTS]>,
    /// The slots not in use.
    pub(super) free_slots: Vec<u16>,
    pub(super) intake: Intake,
    /// Counts the rounds.
    pub(super) round: u32,
    /// How many puzzles are the least to start on with all lanes free.
    pub(super) least: usize,

    /// Puzzles decoded ahead, each for its lane, and their slots.
    pub(super) new: Box<Page<S::Vector>>,
    pub(super) new_lanes: Lanes,
    pub(super) new_slot: [u16; LANES],

    /// Grids on their way in or out; between two uses it holds nothing that matters.
    pub(super) rows: Box<Rows>,

    /// Solutions not yet written into their batches.
    pub(super) output: Box<BitPlanes<S::Vector>>,
    pub(super) output_lanes: Lanes,
    pub(super) output_of: [Target; LANES],

    pub(super) batches: Box<[Option<Batch>]>,
    /// Batches with puzzles to take, the next first.
    pub(super) queue: VecDeque<u16>,
    /// Batches that are answered.
    pub(super) finished: VecDeque<u16>,
}

impl<S: Simd> Core<S> {
    pub(super) fn new(simd: S, capacity: usize) -> Self {
        let capacity = capacity.clamp(1, usize::from(u16::MAX));
        Self {
            simd,
            work: Work::new(simd),
            choices: Choices::new(simd),
            active: Lanes::NONE,
            spent: Lanes::NONE,
            stalled: Lanes::NONE,
            slot_of: [0; LANES],
            pages: Page::several(simd),
            stored: [Lanes::NONE; PAGES],
            slots: Box::new([Slot::default(); SLOTS]),
            free_slots: (0..SLOTS as u16).collect(),
            intake: Intake::new(),
            round: 0,
            least: 0,
            new: Page::new(simd),
            new_lanes: Lanes::NONE,
            new_slot: [0; LANES],
            rows: Rows::new(),
            output: Box::new([[simd.zero(); 4]; 81]),
            output_lanes: Lanes::NONE,
            output_of: [Target::default(); LANES],
            batches: (0..capacity).map(|_| None).collect(),
            queue: VecDeque::with_capacity(capacity),
            finished: VecDeque::with_capacity(capacity),
        }
    }

    #[allow(clippy::result_large_err, reason = "what is refused goes back to its owner")]
    pub(super) fn submit(&mut self, mut batch: Batch) -> Result<(), Batch> {
        let Some(index) = self.batches.iter().position(Option::is_none) else {
            return Err(batch);
        };
        batch.make_room();
        let queue = if batch.is_taken() {
            &mut self.finished
        } else {
            &mut self.queue
        };
        queue.push_back(index as u16);
        self.batches[index] = Some(batch);
        Ok(())
    }

    pub(super) fn finished(&mut self) -> Option<Batch> {
        let index = self.finished.pop_front()?;
        self.batches[usize::from(index)].take()
    }

    pub(super) fn is_idle(&self) -> bool {
        self.active.is_empty() && self.new_lanes.is_empty() && self.queue.is_empty()
    }

    /// How many puzzles wait in batches: no lane has them, nor are they decoded for one.
    pub(super) fn waiting(&self) -> usize {
        self.queued().map(Batch::waiting).sum()
    }

    /// The batches with puzzles to take.
    fn queued(&self) -> impl Iterator<Item = &Batch> {
        let of_index = |&index: &u16| self.batches[usize::from(index)].as_ref();
        self.queue.iter().filter_map(of_index)
    }

    /// Sets how many puzzles are the least to start on with all lanes free.
    pub(super) fn set_least(&mut self, least: usize) {
        self.least = least;
    }

    pub(super) fn run(&mut self, sweeps: u32) -> u32 {
        if self.is_too_little() {
            self.leave_open();
        }
        self.simd.run(Rounds { core: self, sweeps })
    }

    #[inline(always)]
    fn rounds(&mut self, sweeps: u32) -> u32 {
        let mut done = 0;
        while done < sweeps {
            self.exchange();
            if self.active.is_empty() {
                break;
            }
            let count = ROUND.min(sweeps - done);
            let status = self.sweep(count);
            self.settle(status);
            done += count;
        }
        if !self.finished.is_empty() {
            self.flush();
        }
        done
    }

    /// Whether the lanes are free, and the puzzles that wait are not worth starting for.
    fn is_too_little(&self) -> bool {
        self.active.is_empty()
            && self.new_lanes.is_empty()
            && self.queued().all(Batch::is_untouched)
            && self.waiting() < self.least
    }

    /// Gives back all batches that wait, as they came.
    fn leave_open(&mut self) {
        while let Some(index) = self.queue.pop_front() {
            self.finished.push_back(index);
        }
    }

    #[inline(always)]
    fn sweep(&mut self, count: u32) -> Status<S::Vector> {
        self.round = self.round.wrapping_add(1);
        self.simd.run(Sweep {
            simd: self.simd,
            work: &mut self.work,
            count,
            triads: self.intake.has_search() && self.round.is_multiple_of(TRIADS_EVERY),
        })
    }

    /// Takes out a batch, finished or not.
    pub(super) fn cancel(&mut self, key: u64) -> Option<Batch> {
        let of_key = |batch: &Option<Batch>| batch.as_ref().is_some_and(|batch| batch.key() == key);
        let index = self.batches.iter().position(of_key)?;
        self.flush();
        let id = index as u16;
        let slots = &self.slots;
        let is_here = |slot: u16| slots[usize::from(slot)].batch == id;
        let lanes = self.active & Lanes::where_(|lane| is_here(self.slot_of[lane]));
        let new = self.new_lanes & Lanes::where_(|lane| is_here(self.new_slot[lane]));
        for lane in lanes.iter() {
            let slot = self.slot_of[lane];
            self.slots[usize::from(slot)].lanes -= 1;
            if self.slots[usize::from(slot)].lanes == 0 {
                self.free_slots.push(slot);
            }
        }
        self.free_slots.extend(new.iter().map(|lane| self.new_slot[lane]));
        self.clear(lanes);
        self.new_lanes &= !new;
        self.queue.retain(|&queued| queued != id);
        self.finished.retain(|&finished| finished != id);
        self.batches[index].take()
    }
}

/// Rounds of work, their books included: these are loops over lanes, which the instruction set makes shorter.
struct Rounds<'a, S: Simd> {
    core: &'a mut Core<S>,
    sweeps: u32,
}

impl<S: Simd> Kernel for Rounds<'_, S> {
    type Output = u32;

    #[inline(always)]
    fn run(self) -> u32 {
        self.core.rounds(self.sweeps)
    }
}
