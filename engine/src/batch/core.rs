//! The engine for one instruction set: which puzzle is in which lane, and what happens to it next.

use std::collections::VecDeque;

use super::branch::{Branch, Choices};
use super::exchange::{Exchange, PAGES, Plan};
use super::intake::Intake;
use super::lanes::{LANES, Lanes};
use super::message::{Batch, Limit, Options, Outcome};
use super::moves::{MOVES, Matched, Matching, Move};
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

/// In one round of so many the triad rule is applied: it costs as much as a sweep.
const TRIADS_EVERY: u32 = 2;

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
    /// Counts the rounds.
    round: u32,
    /// How many puzzles are the least to start on with all lanes free.
    least: usize,

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
            round: 0,
            least: 0,
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

    #[allow(clippy::result_large_err, reason = "what is refused goes back to its owner")]
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

    /// Sets how many puzzles are the least to start on with all lanes free.
    pub(super) fn set_least(&mut self, least: usize) {
        self.least = least;
    }

    pub(super) fn run(&mut self, sweeps: u32) -> u32 {
        if self.is_too_little() {
            self.leave_open();
        }
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
        let waiting = || {
            self.queue
                .iter()
                .filter_map(|&index| self.batches[usize::from(index)].as_ref())
        };
        self.active.is_empty()
            && self.new_lanes.is_empty()
            && waiting().all(Batch::is_untouched)
            && waiting().map(|batch| batch.puzzles().len()).sum::<usize>() < self.least
    }

    /// Gives back all batches that wait, as they came.
    fn leave_open(&mut self) {
        while let Some(index) = self.queue.pop_front() {
            self.finished.push_back(index);
        }
    }

    fn sweep(&mut self, count: u32) -> Status<S::Vector> {
        self.round = self.round.wrapping_add(1);
        self.simd.run(Sweep {
            simd: self.simd,
            work: &mut self.work,
            count,
            triads: self.round.is_multiple_of(TRIADS_EVERY),
        })
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
        self.leave(left);
    }

    /// Counts the solutions in these lanes, and keeps those that are wanted for output.
    fn note_solutions(&mut self, solved: Lanes) {
        let mut wanted = solved;
        let mut targets = [Target::default(); LANES];
        for lane in solved.iter() {
            let slot = &mut self.slots[usize::from(self.slot_of[lane])];
            let batch = self.batches[usize::from(slot.batch)].as_ref();
            let options = batch.map_or(Options::default(), Batch::options);
            if !self.active.contains(lane) {
                wanted.remove(lane); // The puzzle reached its limit in a lane before this one.
                continue;
            }
            slot.found += 1;
            if options.omit_solutions {
                wanted.remove(lane);
            }
            targets[lane] = Target {
                batch: slot.batch,
                second: slot.found == 2,
                puzzle: slot.puzzle,
            };
            match (options.limit, slot.found) {
                (Limit::One, _) => self.finish(lane, Outcome::Solved),
                (Limit::Two, 2) => self.finish(lane, Outcome::Multiple),
                (Limit::Two, _) => {}
            }
        }
        if !wanted.is_empty() {
            self.write_down(wanted, &targets);
        }
    }

    /// Adds the solutions in these lanes to the output, wherever there is room.
    fn write_down(&mut self, wanted: Lanes, targets: &[Target; LANES]) {
        let mut matched = self.simd.run(Matching {
            from: wanted,
            into: !self.output_lanes,
        });
        if !matched.left.is_empty() {
            self.flush();
            matched = Matched {
                moves: [Move::NONE; MOVES],
                moving: 1,
                left: Lanes::NONE,
            };
            matched.moves[0].into = wanted;
        }
        for step in &matched.moves[..matched.moving] {
            for lane in step.into.iter() {
                self.output_of[lane] = targets[step.source(lane)];
            }
            self.output_lanes |= step.into;
        }
        self.simd.run(Encode {
            simd: self.simd,
            work: &self.work,
            planes: &mut self.output,
            moves: &matched.moves,
            moving: matched.moving,
        });
    }

    /// Takes lanes that have no state left to search from their puzzles, and answers the puzzles that have no other.
    fn leave(&mut self, lanes: Lanes) {
        self.active &= !lanes;
        let (mut done, mut count) = ([0; LANES], 0);
        for lane in lanes.iter() {
            let id = self.slot_of[lane];
            let slot = &mut self.slots[usize::from(id)];
            slot.lanes -= 1;
            // No branch, as it could not be predicted.
            done[count % LANES] = id;
            count += usize::from(slot.lanes == 0);
        }
        for &id in &done[..count] {
            let unsolvable = self.slots[usize::from(id)].found == 0;
            self.answer(
                id,
                if unsolvable {
                    Outcome::Unsolvable
                } else {
                    Outcome::Unique
                },
            );
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
        if self.queue.is_empty() {
            // The last puzzles wait for the lanes they were decoded for, which need not be the lowest.
            free &= self.new_lanes;
        }
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
        let mut room = wanting.count() as usize;
        // At most as many batches as there are lanes.
        let (mut taken, mut runs) = ([(0, 0); LANES], 0);
        while room > 0
            && let Some(index) = self.queue.pop_front()
            && let Some(batch) = &mut self.batches[usize::from(index)]
        {
            let range = batch.take(room);
            room -= range.len();
            taken[runs] = (index, range.start);
            runs += 1;
            if !batch.is_taken() {
                self.queue.push_back(index);
            }
        }
        let mut lanes = wanting.iter();
        let (mut grids, mut count) = ([(0, Grid::EMPTY.cells()); LANES], 0);
        for &(index, start) in &taken[..runs] {
            let Some(batch) = &self.batches[usize::from(index)] else {
                continue;
            };
            let budget = batch.options().budget;
            let puzzles = batch.taken(start);
            for ((grid, puzzle), lane) in puzzles.iter().zip(start as u32..).zip(&mut lanes) {
                let Some(id) = self.free_slots.pop() else {
                    break;
                };
                self.slots[usize::from(id)] = Slot {
                    batch: index,
                    lanes: 0,
                    puzzle,
                    budget,
                    found: 0,
                };
                self.new_slot[lane] = id;
                grids[count] = (lane as u8, grid.cells());
                count += 1;
            }
        }
        self.new_lanes |= wanting.lowest(count as u32);
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
