//! What a lane goes on with: a state out of store, the second child of a fork, or a new puzzle.

use super::branch::Branch;
use super::core::{Core, SLOTS, Slot};
use super::exchange::{Exchange, PAGES, Plan};
use super::input::Decode;
use super::lanes::{LANES, Lanes};
use super::message::Outcome;
use super::moves::Matching;
use crate::arch::Simd;

/// New puzzles are decoded once so many lanes want one: decoding costs the same for one as for all.
const DECODE_THRESHOLD: u32 = 32;

impl<S: Simd> Core<S> {
    /// Gives each lane that needs one a new state: fetched from store, forked from another lane, or a new puzzle.
    #[inline(always)]
    pub(super) fn exchange(&mut self) {
        self.charge();
        let mut plan = Plan::NOTHING;
        self.plan_fetches(&mut plan);
        let forking = self.plan_forks(&mut plan);
        self.plan_loads(&mut plan);
        if plan.is_nothing() {
            return;
        }
        self.simd.run(Branch {
            simd: self.simd,
            work: &self.work,
            lanes: self.simd.load(&forking.0),
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
    #[inline(always)]
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
    #[inline(always)]
    fn plan_fetches(&mut self, plan: &mut Plan) {
        for page in (0..PAGES).rev() {
            let lanes = self.stored[page] & self.spent;
            plan.fetch[page] = lanes;
            self.stored[page] &= !lanes;
            self.spent &= !lanes;
        }
    }

    /// Finds a place for the second child of each stalled lane. Returns the lanes that fork: a few may have to wait.
    #[inline(always)]
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
    #[inline(always)]
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
    #[inline(always)]
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
        plan.load.copy(&self.new_slot, &mut self.slot_of);
        self.new_lanes &= !plan.load;
        self.active |= plan.load;
    }

    /// Decodes puzzles for all lanes that have none waiting.
    #[inline(always)]
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
        // Those that are free first, as those in use may be so for long.
        let count = wanting.count() - room as u32;
        let free = wanting & !self.active;
        let chosen = free.lowest(count) | (wanting & self.active).lowest(count.saturating_sub(free.count()));
        let (lanes, count) = chosen.list();
        let mut lanes = &lanes[..count];
        for &(index, start) in &taken[..runs] {
            lanes = self.seat(index, start, lanes);
        }
        self.new_lanes |= chosen;
        self.simd.run(Decode {
            simd: self.simd,
            rows: &self.rows,
            lanes: chosen,
            page: &mut self.new,
        });
    }

    /// Gives the puzzles of a batch from `start` on, that it has just let go, a lane each and a slot. Returns the lanes
    /// that are left.
    #[inline(always)]
    fn seat<'l>(&mut self, index: u16, start: usize, lanes: &'l [u8]) -> &'l [u8] {
        let Some(batch) = &self.batches[usize::from(index)] else {
            return lanes;
        };
        let (puzzles, options) = (batch.taken(start), batch.options());
        // There are slots enough: as many as lanes in work and lanes of new puzzles.
        let kept = self.free_slots.len().saturating_sub(puzzles.len());
        for ((&id, &lane), puzzle) in self.free_slots[kept..].iter().zip(lanes).zip(start as u32..) {
            self.slots[usize::from(id) % SLOTS] = Slot {
                puzzle,
                batch: index,
                lanes: 1,
                budget: options.budget,
                found: 0,
                limit: options.limit.count(),
                omit: options.omit_solutions,
            };
            self.new_slot[usize::from(lane)] = id;
        }
        self.free_slots.truncate(kept);
        for (grid, &lane) in puzzles.iter().zip(lanes) {
            self.rows.put(lane, grid.cells());
        }
        &lanes[puzzles.len().min(lanes.len())..]
    }
}
