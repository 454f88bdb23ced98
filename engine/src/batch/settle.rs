//! What becomes of a lane after the sweeps of a round: solutions, answers, and lanes that are free again.

use super::check::Check;
use super::core::{Core, SLOTS};
use super::lanes::{LANES, Lanes};
use super::message::Outcome;
use super::moves::{Matched, Matching};
use super::output::{Deliver, Encode, Target};
use super::sweep::Status;
use crate::arch::{Simd, Vector};

impl<S: Simd> Core<S> {
    /// Looks at what the sweeps did to each lane.
    #[inline(always)]
    pub(super) fn settle(&mut self, status: Status<S::Vector>) {
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
    #[inline(always)]
    fn note_solutions(&mut self, solved: Lanes) {
        let mut wanted = solved;
        let mut targets = [Target::default(); LANES];
        for lane in solved.iter() {
            let slot = &mut self.slots[usize::from(self.slot_of[lane])];
            if slot.found == slot.limit {
                wanted.remove(lane); // The puzzle reached its limit in a lane before this one.
                continue;
            }
            slot.found += 1;
            targets[lane] = Target {
                puzzle: slot.puzzle,
                batch: slot.batch,
                second: slot.found == 2,
            };
            if slot.omit {
                wanted.remove(lane);
            }
            if slot.found == slot.limit {
                let outcome = if slot.limit == 1 {
                    Outcome::Solved
                } else {
                    Outcome::Multiple
                };
                self.finish(lane, outcome);
            }
        }
        if !wanted.is_empty() {
            self.write_down(wanted, &targets);
        }
    }

    /// Adds the solutions in these lanes to the output, wherever there is room.
    #[inline(always)]
    fn write_down(&mut self, wanted: Lanes, targets: &[Target; LANES]) {
        let mut matched = Matched::in_place(wanted);
        if !self.output_lanes.is_empty() {
            matched = self.simd.run(Matching {
                from: wanted,
                into: !self.output_lanes,
            });
        }
        if !matched.left.is_empty() {
            self.flush();
            matched = Matched::in_place(wanted);
        }
        if self.output_lanes.is_empty() {
            wanted.copy(targets, &mut self.output_of);
            self.output_lanes = wanted;
        } else {
            for step in &matched.moves[..matched.moving] {
                for lane in step.into.iter() {
                    self.output_of[lane] = targets[step.source(lane)];
                }
                self.output_lanes |= step.into;
            }
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
    #[inline(always)]
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
        self.answer_all(&done[..count]);
    }

    /// Answers puzzles that have come to their end in all their lanes, and frees their slots.
    #[inline(always)]
    fn answer_all(&mut self, ids: &[u16]) {
        self.free_slots.extend_from_slice(ids);
        // One after the other they are mostly of one batch, so that it is told once how many they are.
        let mut ids = ids.iter();
        let mut next = ids.next();
        while let Some(&first) = next {
            let index = self.slots[usize::from(first)].batch;
            let Some(batch) = &mut self.batches[usize::from(index)] else {
                next = ids.next();
                continue;
            };
            let mut count = 0;
            while let Some(&id) = next
                && let slot = &self.slots[usize::from(id) % SLOTS]
                && slot.batch == index
            {
                let unsolvable = slot.found == 0;
                batch.answer(
                    slot.puzzle as usize,
                    if unsolvable {
                        Outcome::Unsolvable
                    } else {
                        Outcome::Unique
                    },
                );
                count += 1;
                next = ids.next();
            }
            if batch.count_answers(count) {
                self.finished.push_back(index);
            }
        }
    }

    /// Ends the search of the puzzle in this lane, in all its lanes.
    pub(super) fn finish(&mut self, lane: usize, outcome: Outcome) {
        let id = self.slot_of[lane];
        let mut lanes = Lanes::one(lane);
        if self.slots[usize::from(id)].lanes > 1 {
            lanes = self.active & Lanes::of(&self.slot_of, id);
        }
        self.clear(lanes);
        self.answer(id, outcome);
    }

    /// Takes lanes from their puzzles, with all states they have.
    pub(super) fn clear(&mut self, lanes: Lanes) {
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
        if let Some(batch) = &mut self.batches[usize::from(slot.batch)] {
            batch.answer(slot.puzzle as usize, outcome);
            if batch.count_answers(1) {
                self.finished.push_back(slot.batch);
            }
        }
    }

    /// Writes the solutions in the output into their batches.
    pub(super) fn flush(&mut self) {
        if self.output_lanes.is_empty() {
            return;
        }
        self.simd.run(Deliver {
            simd: self.simd,
            planes: &self.output,
            rows: &mut self.rows,
            lanes: self.output_lanes,
            targets: &self.output_of,
            batches: &mut self.batches,
        });
        self.output_lanes = Lanes::NONE;
    }
}
