//! The engine for one instruction set: which puzzle is in which lane, and what happens to it next.

use std::collections::VecDeque;

use super::branch::{Branch, Choices};
use super::exchange::{Exchange, PAGES, Plan};
use super::intake::Intake;
use super::lanes::{LANES, Lanes};
use super::matching::Matching;
use super::message::{Batch, Limit, Outcome};
use super::planes::{Page, Work};
use super::sweep::{Status, Sweep};
use super::transfer::{BitPlanes, Check, Decode, Encode, Gather};
use crate::Grid;
use crate::arch::{Simd, Vector};

/// Puzzles in flight: one a lane at most, and as many decoded and waiting for a lane.
const SLOTS: usize = 2 * LANES;

/// New puzzles are decoded once so many lanes want one: decoding costs the same for one as for all.
const DECODE_THRESHOLD: u32 = 64;

/// How many sweeps a round has.
const ROUND: u32 = 3;

/// A puzzle in flight.
#[derive(Clone, Copy, Default)]
struct Slot {
    batch: u16,
    /// In how many lanes it is searched. All states at a lane, in work and in store, are of one puzzle.
    lanes: u16,
    /// Its index in the batch.
    puzzle: u32,
    /// The steps it may still take.
    budget: u32,
    /// The solutions found.
    found: u8,
}

/// Whose solution a lane of the output is.
#[derive(Clone, Copy, Default)]
struct Target {
    batch: u16,
    second: bool,
    puzzle: u32,
}

pub(super) struct Core<S: Simd> {
    simd: S,
    work: Box<Work<S::Vector>>,
    choices: Box<Choices<S::Vector>>,

    /// The lanes that have a puzzle.
    active: Lanes,
    /// Active lanes whose state is finished with. After an exchange there is none.
    spent: Lanes,
    /// Active lanes in which propagation came to its end, and that have to fork.
    stalled: Lanes,
    /// The slot of each active lane.
    slot_of: [u16; LANES],

    /// States put by, each at the lane that will take it up again: page `p` holds what a lane put by when it had `p`
    /// others in store.
    pages: Box<[Page<S::Vector>; PAGES]>,
    /// The lanes that have a state in each page.
    stored: [Lanes; PAGES],

    slots: Box<[Slot; SLOTS]>,
    /// The slots not in use.
    free_slots: Vec<u16>,
    intake: Intake,

    /// Puzzles decoded ahead, each for its lane, and their slots.
    new: Box<Page<S::Vector>>,
    new_lanes: Lanes,
    new_slot: [u16; LANES],

    /// Solutions not yet written into their batches.
    output: Box<BitPlanes<S::Vector>>,
    output_lanes: Lanes,
    output_of: [Target; LANES],
    grids: Box<[[u8; 81]; LANES]>,

    batches: Box<[Option<Batch>]>,
    /// Batches with puzzles to take, the next first.
    queue: VecDeque<u16>,
    /// Batches that are answered.
    finished: VecDeque<u16>,
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
            new: Page::new(simd),
            new_lanes: Lanes::NONE,
            new_slot: [0; LANES],
            output: Box::new([[simd.zero(); 4]; 81]),
            output_lanes: Lanes::NONE,
            output_of: [Target::default(); LANES],
            grids: Box::new([[0; 81]; LANES]),
            batches: (0..capacity).map(|_| None).collect(),
            queue: VecDeque::with_capacity(capacity),
            finished: VecDeque::with_capacity(capacity),
        }
    }

    pub(super) fn submit(&mut self, batch: Batch) -> Result<(), Batch> {
        let Some(index) = self.batches.iter().position(Option::is_none) else {
            return Err(batch);
        };
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

    pub(super) fn run(&mut self, sweeps: u32) -> u32 {
        let mut done = 0;
        while done < sweeps {
            self.exchange();
            if self.active.is_empty() {
                break;
            }
            let count = ROUND.min(sweeps - done);
            let status = self.simd.run(Sweep {
                simd: self.simd,
                work: &mut self.work,
                count,
            });
            self.settle(status);
            done += count;
        }
        if !self.finished.is_empty() {
            self.flush();
        }
        done
    }

    /// Looks at what the sweeps did to each lane.
    fn settle(&mut self, status: Status<S::Vector>) {
        let alive = Lanes(status.alive.words()) & self.active;
        let dead = self.active & !alive;
        let single = Lanes(status.single.words()) & alive;
        let changed = Lanes(status.changed.words());
        self.stalled = alive & !single & !changed;
        self.spent = dead;
        self.intake.note_round(self.stalled.count(), dead.count());
        if !single.is_empty() {
            let good = self.simd.run(Check {
                simd: self.simd,
                work: &self.work,
            });
            let solved = Lanes(good.words()) & single;
            self.spent |= solved;
            self.note_solutions(solved);
        }
        let left = self.spent & !self.stored[0];
        self.spent &= !left;
        self.active &= !left;
        for lane in left.iter() {
            self.leave(lane);
        }
    }

    /// Counts the solutions in these lanes, and keeps those that are wanted for output.
    fn note_solutions(&mut self, solved: Lanes) {
        if !(solved & self.output_lanes).is_empty() {
            self.flush();
        }
        let mut wanted = Lanes::NONE;
        for lane in solved.iter() {
            let id = self.slot_of[lane];
            let slot = &mut self.slots[usize::from(id)];
            let Some(batch) = &self.batches[usize::from(slot.batch)] else {
                continue;
            };
            if !self.active.contains(lane) {
                continue; // The puzzle reached its limit in a lane before this one.
            }
            let options = batch.options();
            slot.found += 1;
            if !options.omit_solutions {
                wanted.insert(lane);
                self.output_of[lane] = Target {
                    batch: slot.batch,
                    puzzle: slot.puzzle,
                    second: slot.found == 2,
                };
            }
            match (options.limit, slot.found) {
                (Limit::One, _) => self.finish(lane, Outcome::Solved),
                (Limit::Two, 2) => self.finish(lane, Outcome::Multiple),
                (Limit::Two, _) => {}
            }
        }
        if !wanted.is_empty() {
            self.simd.run(Encode {
                simd: self.simd,
                work: &self.work,
                planes: &mut self.output,
                lanes: wanted,
            });
            self.output_lanes |= wanted;
        }
    }

    /// A lane has no state left to search, and was taken from its puzzle.
    fn leave(&mut self, lane: usize) {
        let id = self.slot_of[lane];
        let slot = &mut self.slots[usize::from(id)];
        slot.lanes -= 1;
        if slot.lanes == 0 {
            let outcome = if slot.found == 0 {
                Outcome::Unsolvable
            } else {
                Outcome::Unique
            };
            self.answer(id, outcome);
        }
    }

    /// Ends the search of the puzzle in this lane, in all its lanes.
    fn finish(&mut self, lane: usize, outcome: Outcome) {
        let id = self.slot_of[lane];
        let mut lanes = Lanes::one(lane);
        if self.slots[usize::from(id)].lanes > 1 {
            lanes = self.active & Lanes::of(&self.slot_of, id);
        }
        self.clear(lanes);
        self.answer(id, outcome);
    }

    /// Takes lanes from their puzzles, with all states they have.
    fn clear(&mut self, lanes: Lanes) {
        self.active &= !lanes;
        self.spent &= !lanes;
        self.stalled &= !lanes;
        if !(self.stored[0] & lanes).is_empty() {
            for stored in &mut self.stored {
                *stored &= !lanes;
            }
        }
    }

    /// Notes an outcome, and frees the slot.
    fn answer(&mut self, id: u16, outcome: Outcome) {
        let slot = self.slots[usize::from(id)];
        self.free_slots.push(id);
        if let Some(batch) = &mut self.batches[usize::from(slot.batch)]
            && batch.answer(slot.puzzle as usize, outcome)
        {
            self.finished.push_back(slot.batch);
        }
    }

    /// Gives each lane that needs one a new state: fetched from store, forked from another lane, or a new puzzle.
    fn exchange(&mut self) {
        self.charge();
        let mut plan = Plan::NOTHING;
        self.plan_fetches(&mut plan);
        let forking = self.plan_forks(&mut plan);
        self.plan_loads(&mut plan);
        if plan.is_nothing() {
            return;
        }
        let lanes = self.simd.load(&forking.0);
        self.simd.run(Branch {
            simd: self.simd,
            work: &self.work,
            lanes,
            choices: &mut self.choices,
        });
        self.simd.run(Exchange {
            simd: self.simd,
            work: &mut self.work,
            pages: &mut self.pages,
            new: &self.new,
            choices: &self.choices,
            plan: &plan,
        });
    }

    /// Takes a step off the budget of a puzzle for each of its lanes that is to fork, and gives up those that have none
    /// left, or that have no page left to put a state by.
    fn charge(&mut self) {
        for lane in self.stalled.iter() {
            let slot = &mut self.slots[usize::from(self.slot_of[lane])];
            if slot.budget > 0 && !self.stored[PAGES - 1].contains(lane) {
                slot.budget -= 1;
            } else if self.active.contains(lane) {
                self.finish(lane, Outcome::Open);
            }
        }
    }

    /// Each spent lane takes up the state that it put by last.
    fn plan_fetches(&mut self, plan: &mut Plan) {
        for page in (0..PAGES).rev() {
            let lanes = self.stored[page] & self.spent;
            plan.fetch[page] = lanes;
            self.stored[page] &= !lanes;
            self.spent &= !lanes;
        }
    }

    /// Finds a place for the second child of each stalled lane. Returns the lanes that fork: a few may have to wait.
    fn plan_forks(&mut self, plan: &mut Plan) -> Lanes {
        if self.stalled.is_empty() {
            return Lanes::NONE;
        }
        let mut waiting = self.stalled;
        if !(self.intake.goes_deep() && self.has_input()) {
            let matched = self.simd.run(Matching {
                from: waiting,
                into: !self.active,
            });
            plan.moves = matched.moves;
            plan.moving = matched.moving;
            waiting = matched.left;
            self.note_moves(plan);
            // A few lanes can be left although there are free ones: they will be matched next time.
            let unplaced = waiting.count().saturating_sub((!self.active).count());
            self.intake.note_unplaced(unplaced);
            if 2 * unplaced < waiting.count() {
                return self.stalled & !waiting;
            }
        }
        for (stored, store) in self.stored.iter_mut().zip(&mut plan.store) {
            *store = waiting & !*stored;
            *stored |= *store;
            waiting &= !*store;
        }
        self.stalled
    }

    /// Takes note of which puzzles the moves of a plan bring where.
    fn note_moves(&mut self, plan: &Plan) {
        for step in &plan.moves[..plan.moving] {
            for lane in step.into.iter() {
                let id = self.slot_of[step.source(lane)];
                self.slot_of[lane] = id;
                self.slots[usize::from(id)].lanes += 1;
            }
            self.active |= step.into;
        }
    }

    fn has_input(&self) -> bool {
        !self.new_lanes.is_empty() || !self.queue.is_empty()
    }

    /// Gives free lanes to new puzzles.
    fn plan_loads(&mut self, plan: &mut Plan) {
        let mut free = !self.active;
        if free.is_empty() || !self.has_input() {
            return;
        }
        let in_flight = (SLOTS - self.free_slots.len()) as u32 - self.new_lanes.count();
        free = free.lowest(self.intake.admit(in_flight, free.count()));
        if free.is_empty() {
            return;
        }
        let missing = free & !self.new_lanes;
        if !self.queue.is_empty() && (missing == free || missing.count() >= DECODE_THRESHOLD) {
            self.take_puzzles();
        }
        plan.load = free & self.new_lanes;
        for lane in plan.load.iter() {
            let id = self.new_slot[lane];
            self.slot_of[lane] = id;
            self.slots[usize::from(id)].lanes = 1;
        }
        self.new_lanes &= !plan.load;
        self.active |= plan.load;
    }

    /// Decodes puzzles for all lanes that have none waiting.
    fn take_puzzles(&mut self) {
        let wanting = !self.new_lanes;
        let mut lanes = wanting.iter();
        let mut room = wanting.count() as usize;
        while room > 0
            && let Some(index) = self.queue.pop_front()
            && let Some(batch) = &mut self.batches[usize::from(index)]
        {
            let budget = batch.options().budget;
            let taken = batch.take(room);
            room -= taken.len();
            for (puzzle, lane) in taken.zip(&mut lanes) {
                let Some(id) = self.free_slots.pop() else {
                    break;
                };
                let puzzle = puzzle as u32;
                self.slots[usize::from(id)] = Slot {
                    batch: index,
                    lanes: 0,
                    puzzle,
                    budget,
                    found: 0,
                };
                self.new_slot[lane] = id;
                self.new_lanes.insert(lane);
            }
            if !batch.is_taken() {
                self.queue.push_back(index);
            }
        }
        self.decode(self.new_lanes & wanting);
    }

    /// Turns the puzzles of these lanes into candidates.
    fn decode(&mut self, lanes: Lanes) {
        let mut grids = [(0, Grid::EMPTY.cells()); LANES];
        let mut count = 0;
        for lane in lanes.iter() {
            let slot = &self.slots[usize::from(self.new_slot[lane])];
            if let Some(batch) = &self.batches[usize::from(slot.batch)] {
                grids[count] = (lane as u8, batch.puzzles()[slot.puzzle as usize].cells());
                count += 1;
            }
        }
        self.simd.run(Decode {
            simd: self.simd,
            grids: &grids[..count],
            page: &mut self.new,
        });
    }

    /// Writes the solutions in the output into their batches.
    fn flush(&mut self) {
        if self.output_lanes.is_empty() {
            return;
        }
        self.simd.run(Gather {
            simd: self.simd,
            planes: &self.output,
            grids: &mut self.grids,
        });
        for lane in self.output_lanes.iter() {
            let target = self.output_of[lane];
            if let Some(batch) = &mut self.batches[usize::from(target.batch)] {
                batch.write(target.puzzle as usize, target.second, &self.grids[lane]);
            }
        }
        self.output_lanes = Lanes::NONE;
    }

    /// Takes out a batch, finished or not.
    pub(super) fn cancel(&mut self, key: u64) -> Option<Batch> {
        let of_key = |batch: &Option<Batch>| batch.as_ref().is_some_and(|batch| batch.key() == key);
        let index = self.batches.iter().position(of_key)?;
        let id = index as u16;
        let slots = &self.slots;
        let is_here = |slot: u16| slots[usize::from(slot)].batch == id;
        let lanes = self.active & Lanes::where_(|lane| is_here(self.slot_of[lane]));
        let new = self.new_lanes & Lanes::where_(|lane| is_here(self.new_slot[lane]));
        let output = self.output_lanes & Lanes::where_(|lane| self.output_of[lane].batch == id);
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
        self.output_lanes &= !output;
        self.queue.retain(|&queued| queued != id);
        self.finished.retain(|&finished| finished != id);
        self.batches[index].take()
    }
}
