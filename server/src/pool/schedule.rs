//! Who works on what, and when.
//!
//! Work comes in lanes, one for each stream. The threads go around the lanes that have work and give each a turn, so a
//! stream with much of it does not hold up one with little. Within a lane, work at first sight and work that proved hard
//! take turns, so neither holds up the other.
//!
//! Of the hard work of a lane only as much is begun at a time as there are threads. What is begun thus keeps its fair
//! share of the time, however much is waiting, and the searches in memory are few.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::PoolLoad;
use crate::panics;

/// A piece of work.
pub(super) trait Task: Send + Sized + 'static {
    /// Works for a turn, a millisecond at most, and pushes what is left to do.
    fn turn(self, rest: &mut Vec<Self>);

    /// How far it has come.
    fn stage(&self) -> Stage;
}

/// How far a piece of work has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Not looked at.
    New,
    /// Proved hard, and not begun in earnest.
    Hard,
    /// Hard and begun: it takes memory, and its time runs.
    Begun,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct LaneId(u64);

/// The work of all lanes, and the threads' way to it.
pub(super) struct Schedule<T> {
    state: Mutex<State<T>>,
    /// Told when there is work for a thread that waits, and when the schedule closes.
    work: Condvar,
    threads: usize,
}

struct State<T> {
    lanes: HashMap<LaneId, Lane<T>>,
    /// The lanes that have a turn to give, each once, the next one first; and some that are gone.
    ring: VecDeque<LaneId>,
    next_id: u64,
    /// Threads that wait for work, and threads that have some.
    idle: usize,
    busy: usize,
    closed: bool,
}

struct Lane<T> {
    new: VecDeque<T>,
    hard: VecDeque<T>,
    begun: VecDeque<T>,
    /// Hard work under way: that in `begun`, and that which a thread has at the moment.
    under_way: usize,
    /// Whether the last turn went to hard work.
    hard_last: bool,
    /// Whether the lane stands in the ring.
    in_ring: bool,
}

impl<T: Task> Schedule<T> {
    pub fn new(threads: NonZeroUsize) -> Self {
        Self {
            state: Mutex::new(State {
                lanes: HashMap::new(),
                ring: VecDeque::new(),
                next_id: 0,
                idle: 0,
                busy: 0,
                closed: false,
            }),
            work: Condvar::new(),
            threads: threads.get(),
        }
    }

    /// Opens a lane.
    pub fn open(&self) -> LaneId {
        let mut state = self.lock();
        let id = LaneId(state.next_id);
        state.next_id += 1;
        state.lanes.insert(id, Lane::new());
        id
    }

    /// Adds work to a lane.
    pub fn add(&self, id: LaneId, work: Vec<T>) {
        let mut state = self.lock();
        state.file(id, work, self.threads);
        self.wake(&state);
    }

    /// Closes a lane and drops its work, but for that which a thread has at the moment.
    pub fn remove(&self, id: LaneId) {
        let lane = self.lock().lanes.remove(&id);
        // Dropped without the lock: it may be much.
        drop(lane);
    }

    /// Ends the threads, after their turn.
    pub fn close(&self) {
        self.lock().closed = true;
        self.work.notify_all();
    }

    pub fn load(&self) -> PoolLoad {
        let state = self.lock();
        PoolLoad {
            busy: state.busy,
            waiting: state.lanes.values().map(Lane::len).sum(),
        }
    }

    /// Works until the schedule closes: what each thread does.
    pub fn work(&self) {
        let mut rest = Vec::new();
        let mut state = self.lock();
        while !state.closed {
            let Some((id, task)) = state.next(self.threads) else {
                state.idle += 1;
                state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
                continue;
            };
            state.busy += 1;
            self.wake(&state);
            drop(state);

            let hard = task.stage() != Stage::New;
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| task.turn(&mut rest))) {
                // Whoever waits for this task learns of it because the task is dropped.
                panics::log("a turn of work", &*panic);
                rest.clear();
            }

            state = self.lock();
            state.busy -= 1;
            if hard && let Some(lane) = state.lanes.get_mut(&id) {
                lane.under_way -= 1;
            }
            state.file(id, rest.drain(..), self.threads);
        }
    }

    /// Wakes a thread if one waits and there is work.
    fn wake(&self, state: &State<T>) {
        if state.idle > 0 && !state.ring.is_empty() {
            self.work.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        // No task runs with the lock held, so a panic leaves the state whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Task> State<T> {
    /// The next piece of work, from the next lane in the ring.
    fn next(&mut self, threads: usize) -> Option<(LaneId, T)> {
        while let Some(id) = self.ring.pop_front() {
            let Some(lane) = self.lanes.get_mut(&id) else {
                continue;
            };
            let task = lane.take(threads);
            lane.in_ring = lane.has_turn(threads);
            if lane.in_ring {
                self.ring.push_back(id);
            }
            if let Some(task) = task {
                return Some((id, task));
            }
        }
        None
    }

    /// Puts work into its lane, and the lane into the ring. The work of a lane that is gone is dropped.
    fn file(&mut self, id: LaneId, work: impl IntoIterator<Item = T>, threads: usize) {
        let Some(lane) = self.lanes.get_mut(&id) else {
            return;
        };
        for task in work {
            match task.stage() {
                Stage::New => lane.new.push_back(task),
                Stage::Hard => lane.hard.push_back(task),
                Stage::Begun => {
                    lane.under_way += 1;
                    lane.begun.push_back(task);
                }
            }
        }
        if !lane.in_ring && lane.has_turn(threads) {
            lane.in_ring = true;
            self.ring.push_back(id);
        }
    }
}

impl<T> Lane<T> {
    fn new() -> Self {
        Self {
            new: VecDeque::new(),
            hard: VecDeque::new(),
            begun: VecDeque::new(),
            under_way: 0,
            hard_last: false,
            in_ring: false,
        }
    }

    fn len(&self) -> usize {
        self.new.len() + self.hard.len() + self.begun.len()
    }

    /// Whether more hard work may be begun.
    fn may_begin(&self, threads: usize) -> bool {
        self.under_way < threads && !self.hard.is_empty()
    }

    fn has_turn(&self, threads: usize) -> bool {
        !self.new.is_empty() || !self.begun.is_empty() || self.may_begin(threads)
    }

    /// Takes the work of the lane's next turn.
    fn take(&mut self, threads: usize) -> Option<T> {
        let hard_first = !self.hard_last;
        let task = match hard_first {
            true => self.take_hard(threads).or_else(|| self.new.pop_front()),
            false => self.new.pop_front().or_else(|| self.take_hard(threads)),
        };
        self.hard_last = hard_first;
        task
    }

    fn take_hard(&mut self, threads: usize) -> Option<T> {
        if self.may_begin(threads) {
            self.under_way += 1;
            return self.hard.pop_front();
        }
        self.begun.pop_front()
    }
}

impl<T> fmt::Debug for Schedule<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schedule")
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// A task that says its name at each turn, and goes through the stages that are left to it, the last one first.
    #[derive(Debug, Clone, PartialEq, Eq)]
    struct Named {
        name: &'static str,
        stages: Vec<Stage>,
    }

    impl Task for Named {
        fn turn(mut self, rest: &mut Vec<Self>) {
            assert_ne!(self.name, "panics");
            self.stages.pop();
            if !self.stages.is_empty() {
                rest.push(self);
            }
        }

        fn stage(&self) -> Stage {
            *self.stages.last().expect("a task without a stage is done")
        }
    }

    fn easy(name: &'static str) -> Named {
        let stages = vec![Stage::New];
        Named { name, stages }
    }

    /// A task of so many turns after it proved hard.
    fn hard(name: &'static str, turns: usize) -> Named {
        let mut stages = vec![Stage::Begun; turns - 1];
        stages.push(Stage::Hard);
        Named { name, stages }
    }

    fn schedule<T: Task>(threads: usize) -> Schedule<T> {
        Schedule::new(NonZeroUsize::new(threads).unwrap())
    }

    /// The names of the next tasks, each of which is run before the next is taken: what one thread does.
    fn run(schedule: &Schedule<Named>, turns: usize) -> Vec<&'static str> {
        let mut state = schedule.lock();
        let mut names = Vec::new();
        while names.len() < turns {
            let Some((id, task)) = state.next(schedule.threads) else {
                break;
            };
            names.push(task.name);
            let mut rest = Vec::new();
            if task.stage() != Stage::New {
                state.lanes.get_mut(&id).unwrap().under_way -= 1;
            }
            task.turn(&mut rest);
            state.file(id, rest, schedule.threads);
        }
        names
    }

    #[test]
    fn lanes_take_turns_however_much_they_have() {
        let schedule = schedule(1);
        let (much, little) = (schedule.open(), schedule.open());
        schedule.add(much, vec![easy("much"); 5]);
        schedule.add(little, vec![easy("little"); 2]);
        let order = run(&schedule, usize::MAX);
        assert_eq!(
            order,
            ["much", "little", "much", "little", "much", "much", "much"]
        );
    }

    #[test]
    fn hard_and_new_work_of_a_lane_take_turns() {
        let schedule = schedule(1);
        let lane = schedule.open();
        schedule.add(lane, vec![easy("new"), easy("new"), easy("new"), hard("hard", 4)]);
        let order = run(&schedule, usize::MAX);
        assert_eq!(order, ["hard", "new", "hard", "new", "hard", "new", "hard"]);
    }

    #[test]
    fn only_as_much_is_begun_as_there_are_threads() {
        let schedule = schedule(2);
        let lane = schedule.open();
        schedule.add(lane, vec![hard("a", 3), hard("b", 3), hard("c", 2)]);
        let order = run(&schedule, usize::MAX);
        assert_eq!(order, ["a", "b", "a", "b", "a", "c", "b", "c"]);
    }

    #[test]
    fn the_hard_work_of_one_lane_leaves_room_for_that_of_others() {
        let schedule = schedule(1);
        let (first, second) = (schedule.open(), schedule.open());
        schedule.add(first, vec![hard("a", 1_000), hard("b", 1_000)]);
        schedule.add(second, vec![hard("c", 2)]);
        assert_eq!(run(&schedule, 4), ["a", "c", "a", "c"]);
    }

    #[test]
    fn the_work_of_a_lane_that_is_gone_is_dropped() {
        let schedule = schedule(1);
        let (gone, stays) = (schedule.open(), schedule.open());
        schedule.add(gone, vec![easy("gone"), hard("gone", 9)]);
        schedule.add(stays, vec![easy("stays")]);
        schedule.remove(gone);
        schedule.add(gone, vec![easy("late")]);
        assert_eq!(run(&schedule, usize::MAX), ["stays"]);
        assert_eq!(schedule.load(), PoolLoad { busy: 0, waiting: 0 });
    }

    /// A task that says when it is done, or panics.
    struct Sends(Option<mpsc::Sender<()>>);

    impl Task for Sends {
        fn turn(self, _: &mut Vec<Self>) {
            self.0.expect("a panic that is meant").send(()).unwrap();
        }

        fn stage(&self) -> Stage {
            Stage::New
        }
    }

    #[test]
    fn a_panic_ends_its_task_and_not_the_thread() {
        let schedule = schedule(1);
        let (sender, done) = mpsc::channel();
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| schedule.work());
            let lane = schedule.open();
            schedule.add(lane, vec![Sends(None), Sends(Some(sender.clone())), Sends(None)]);
            schedule.add(lane, vec![Sends(Some(sender))]);
            assert_eq!(done.recv(), Ok(()));
            assert_eq!(done.recv(), Ok(()));
            schedule.close();
            thread.join().unwrap();
        });
        assert_eq!(schedule.load().busy, 0);
    }
}
