//! Who works on what, and when.
//!
//! Work comes in lanes, one for each stream. The workers go around the lanes that have work and give each a turn, so a
//! stream with much of it does not hold up one with little. Work at first sight and work that proved hard go separate
//! rounds, and each worker does some of both in turn, so neither holds up the other.
//!
//! Of the hard work of a lane only as much is begun at a time as there are workers. What is begun thus keeps its fair
//! share of the time, however much is waiting, and the searches in memory are few.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use super::PoolLoad;
use crate::panics;

/// A piece of work.
pub(super) trait Task: Send + Sized + 'static {
    /// The lane that it stands in.
    fn lane(&self) -> LaneId;

    /// How far it has come.
    fn stage(&self) -> Stage;

    /// How much of a worker's room it takes, where it is not hard: 1 or more.
    fn size(&self) -> usize;
}

/// How far a piece of work has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Not looked at.
    New,
    /// Looked at. It goes before what is new.
    Seen,
    /// Proved hard, and not begun in earnest.
    Hard,
    /// Hard and begun: it takes memory, and its time runs.
    Begun,
}

/// What a worker works with. It may keep work that it was given, and do it bit by bit.
pub(super) trait Worker {
    type Task: Task;

    /// How much work that is not hard it takes now.
    fn room(&self) -> usize;

    /// Whether it keeps no work.
    fn is_idle(&self) -> bool;

    /// Works for a turn of well under a millisecond, or keeps the work. Pushes what is left to do.
    fn turn(&mut self, task: Self::Task, rest: &mut Vec<Self::Task>);

    /// Works for a turn on what it keeps, and on what it takes from `source` when it gets room. Pushes what it wants to keep
    /// no longer.
    fn advance(&mut self, source: &mut impl Source<Self::Task>, rest: &mut Vec<Self::Task>);

    /// Drops what it keeps, after a panic while it advanced.
    fn reset(&mut self);
}

/// Where a worker gets more work amid a turn.
pub(super) trait Source<T> {
    /// Work at first sight, as much as there is room for.
    fn more(&mut self, room: usize) -> impl Iterator<Item = T>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct LaneId(u64);

/// The work of all lanes, and the workers' way to it.
pub(super) struct Schedule<T> {
    state: Mutex<State<T>>,
    /// Told when there is work for a worker that waits, and when the schedule closes.
    work: Notify,
    workers: usize,
}

/// Lanes that have a turn to give, each once, the next one first; and some that are gone.
type Ring = VecDeque<LaneId>;

/// The most that a worker takes at a time while others have nothing to do, so that they find some too.
const MOST_AT_ONCE: usize = 256;

struct State<T> {
    lanes: HashMap<LaneId, Lane<T>>,
    /// The round for work that is not hard, and the one for hard work.
    new: Ring,
    hard: Ring,
    next_id: u64,
    /// Workers that there are, and those that wait for work.
    posts: usize,
    idle: usize,
    closed: bool,
}

struct Lane<T> {
    new: VecDeque<T>,
    hard: VecDeque<T>,
    begun: VecDeque<T>,
    /// Hard work under way: that in `begun`, and that which a worker has at the moment.
    under_way: usize,
    /// Whether the lane stands in the rings.
    in_new: bool,
    in_hard: bool,
}

impl<T: Task> Schedule<T> {
    pub fn new(workers: NonZeroUsize) -> Self {
        Self {
            state: Mutex::new(State {
                lanes: HashMap::new(),
                new: Ring::new(),
                hard: Ring::new(),
                next_id: 0,
                posts: 0,
                idle: 0,
                closed: false,
            }),
            work: Notify::new(),
            workers: workers.get(),
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

    /// Adds work, each piece to its lane. Returns how many lanes have work that is not hard and waits.
    pub fn add(&self, work: impl IntoIterator<Item = T>) -> usize {
        let mut state = self.lock();
        state.file(work, self.workers);
        let lanes = state.new.len();
        self.unlock_and_wake(state);
        lanes
    }

    /// Closes a lane and drops its work, but for that which a worker has at the moment.
    pub fn remove(&self, id: LaneId) {
        let lane = self.lock().lanes.remove(&id);
        // Dropped without the lock: it may be much.
        drop(lane);
    }

    /// Ends the workers, after their turn.
    pub fn close(&self) {
        self.lock().closed = true;
        self.work.notify_waiters();
    }

    /// How many workers there are to be.
    pub fn workers(&self) -> usize {
        self.workers
    }

    pub fn is_busy(&self) -> bool {
        let state = self.lock();
        state.posts > state.idle
    }

    pub fn load(&self) -> PoolLoad {
        let state = self.lock();
        PoolLoad {
            busy: state.posts - state.idle,
            waiting: state.lanes.values().map(Lane::len).sum(),
        }
    }

    /// The posts of workers that are missing.
    pub fn vacancies(this: &Arc<Self>) -> Vec<Post<T>> {
        let mut state = this.lock();
        let missing = this.workers - state.posts;
        state.posts = this.workers;
        (0..missing).map(|_| Post(Arc::clone(this))).collect()
    }

    /// Takes the work for a worker's next turns.
    fn next_turns(&self, worker: &impl Worker<Task = T>, tasks: &mut Vec<T>) -> Next<'_, T> {
        let mut state = self.lock();
        if state.closed {
            return Next::End;
        }
        let hard = state.take(worker.room(), self.workers, tasks);
        if tasks.is_empty() && worker.is_idle() {
            state.idle += 1;
            // Made with the lock held, so that it is told of all that comes from now on.
            return Next::Wait(Idle(self), self.work.notified());
        }
        self.unlock_and_wake(state);
        Next::Turns(hard)
    }

    /// Takes work at first sight for a worker amid its turn.
    fn take_fresh(&self, room: usize, tasks: &mut Vec<T>) {
        let mut state = self.lock();
        state.take_new(room, Stage::New, tasks);
        self.unlock_and_wake(state);
    }

    /// Files what is left after a worker's turns. `hard` is the lane whose hard work it had.
    fn end_turns(&self, hard: Option<LaneId>, rest: &mut Vec<T>) {
        let mut state = self.lock();
        if let Some(id) = hard {
            state.hard_turn_is_over(id, self.workers);
        }
        state.file(rest.drain(..), self.workers);
    }

    /// Wakes a worker if one waits and there is work. Not before the lock is free, which it needs first of all.
    fn unlock_and_wake(&self, state: MutexGuard<'_, State<T>>) {
        let wake = state.idle > 0 && !(state.new.is_empty() && state.hard.is_empty());
        drop(state);
        if wake {
            self.work.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        // No task runs with the lock held, so a panic leaves the state whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The duty to work. Dropping it leaves it vacant, as when a runtime ends with all of its tasks.
pub(super) struct Post<T: Task>(Arc<Schedule<T>>);

impl<T: Task> Post<T> {
    /// Works until the schedule closes: what each worker does.
    pub async fn work(self, mut worker: impl Worker<Task = T>) {
        let schedule = &*self.0;
        let (mut tasks, mut rest) = (Vec::new(), Vec::new());
        loop {
            let hard = match schedule.next_turns(&worker, &mut tasks) {
                Next::Turns(hard) => hard,
                Next::Wait(_idle, work) => {
                    work.await;
                    continue;
                }
                Next::End => return,
            };
            for task in tasks.drain(..) {
                contain(|| worker.turn(task, &mut rest));
            }
            let mut fresh = Fresh {
                schedule,
                tasks: &mut tasks,
            };
            if !contain(|| worker.advance(&mut fresh, &mut rest)) {
                worker.reset();
            }
            schedule.end_turns(hard, &mut rest);
            // Connections are read and written now, and single calls answered.
            tokio::task::yield_now().await;
        }
    }
}

/// The schedule's work at first sight.
struct Fresh<'a, T: Task> {
    schedule: &'a Schedule<T>,
    tasks: &'a mut Vec<T>,
}

impl<T: Task> Source<T> for Fresh<'_, T> {
    fn more(&mut self, room: usize) -> impl Iterator<Item = T> {
        self.schedule.take_fresh(room, self.tasks);
        self.tasks.drain(..)
    }
}

impl<T: Task> Drop for Post<T> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.posts -= 1;
        if state.posts > 0 {
            return;
        }
        // Nobody is left to do the work. Dropped without the lock: it may be much.
        let lanes = state.lanes.values_mut();
        let work: Vec<Lane<T>> = lanes.map(|lane| std::mem::replace(lane, Lane::new())).collect();
        drop(state);
        drop(work);
    }
}

/// What a worker does next.
enum Next<'a, T: Task> {
    /// The turns that it took, some of them on the hard work of this lane.
    Turns(Option<LaneId>),
    /// It waits for work.
    Wait(Idle<'a, T>, Notified<'a>),
    End,
}

/// A worker that waits, counted until it is dropped.
struct Idle<'a, T: Task>(&'a Schedule<T>);

impl<T: Task> Drop for Idle<'_, T> {
    fn drop(&mut self) {
        self.0.lock().idle -= 1;
    }
}

/// Does a piece of work, and says whether it came to its end. Whoever waits for one that panicked learns of it because
/// the work is dropped.
fn contain(work: impl FnOnce()) -> bool {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(()) => true,
        Err(panic) => {
            panics::log("a turn of work", &*panic);
            false
        }
    }
}

impl<T: Task> State<T> {
    /// Takes the work for a worker's next turns: some that is hard, of the lane that is returned, and as much of the other
    /// as there is room for.
    fn take(&mut self, room: usize, workers: usize, tasks: &mut Vec<T>) -> Option<LaneId> {
        let hard = self.next_hard(workers);
        let lane = hard.as_ref().map(Task::lane);
        tasks.extend(hard);
        self.take_new(room, Stage::Seen, tasks);
        lane
    }

    /// Takes work that is not hard from lane after lane: as much at first sight as there is room for, and a piece that was
    /// looked at, which needs none. It ends where the next lane's turn is for work that has come further than to `stage`, so
    /// that the turn is not lost.
    fn take_new(&mut self, room: usize, stage: Stage, tasks: &mut Vec<T>) {
        let mut room = match self.idle {
            0 => room,
            _ => room.min(MOST_AT_ONCE),
        };
        let mut seen = stage == Stage::Seen;
        while let Some(task) = self.next_new(|task| match task.stage() {
            Stage::New => room > 0,
            _ => seen,
        }) {
            seen &= task.stage() == Stage::New;
            room = room.saturating_sub(task.size());
            tasks.push(task);
        }
    }

    /// The next piece of work that is not hard, from the next lane of that round, if it is `wanted`.
    fn next_new(&mut self, wanted: impl Fn(&T) -> bool) -> Option<T> {
        while let Some(&id) = self.new.front() {
            let lane = self.lanes.get_mut(&id);
            let is_wanted = lane
                .as_ref()
                .and_then(|lane| lane.new.front())
                .is_none_or(&wanted);
            if !is_wanted {
                return None;
            }
            self.new.pop_front();
            let Some(lane) = lane else { continue };
            let task = lane.new.pop_front();
            lane.in_new = !lane.new.is_empty();
            if lane.in_new {
                self.new.push_back(id);
            }
            if task.is_some() {
                return task;
            }
        }
        None
    }

    /// The next piece of hard work, likewise.
    fn next_hard(&mut self, workers: usize) -> Option<T> {
        while let Some(id) = self.hard.pop_front() {
            let Some(lane) = self.lanes.get_mut(&id) else {
                continue;
            };
            let task = lane.take_hard(workers);
            lane.in_hard = lane.has_hard_turn(workers);
            if lane.in_hard {
                self.hard.push_back(id);
            }
            if task.is_some() {
                return task;
            }
        }
        None
    }

    /// Puts work into its lanes, and these into the rings. The work of a lane that is gone is dropped.
    fn file(&mut self, work: impl IntoIterator<Item = T>, workers: usize) {
        for task in work {
            let id = task.lane();
            let Some(lane) = self.lanes.get_mut(&id) else {
                continue;
            };
            match task.stage() {
                Stage::New => lane.new.push_back(task),
                Stage::Seen => lane.new.push_front(task),
                Stage::Hard => lane.hard.push_back(task),
                Stage::Begun => {
                    lane.under_way += 1;
                    lane.begun.push_back(task);
                }
            }
            self.join_rings(id, workers);
        }
    }

    /// The hard work that a worker had of this lane is done, or will be filed again.
    fn hard_turn_is_over(&mut self, id: LaneId, workers: usize) {
        if let Some(lane) = self.lanes.get_mut(&id) {
            lane.under_way -= 1;
        }
        self.join_rings(id, workers);
    }

    /// Puts a lane into the rings where it has a turn to give.
    fn join_rings(&mut self, id: LaneId, workers: usize) {
        let Some(lane) = self.lanes.get_mut(&id) else {
            return;
        };
        if !lane.in_new && !lane.new.is_empty() {
            lane.in_new = true;
            self.new.push_back(id);
        }
        if !lane.in_hard && lane.has_hard_turn(workers) {
            lane.in_hard = true;
            self.hard.push_back(id);
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
            in_new: false,
            in_hard: false,
        }
    }

    fn len(&self) -> usize {
        self.new.len() + self.hard.len() + self.begun.len()
    }

    /// Whether more hard work may be begun.
    fn may_begin(&self, workers: usize) -> bool {
        self.under_way < workers && !self.hard.is_empty()
    }

    fn has_hard_turn(&self, workers: usize) -> bool {
        !self.begun.is_empty() || self.may_begin(workers)
    }

    fn take_hard(&mut self, workers: usize) -> Option<T> {
        if self.may_begin(workers) {
            self.under_way += 1;
            return self.hard.pop_front();
        }
        self.begun.pop_front()
    }
}

impl<T> fmt::Debug for Schedule<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schedule")
            .field("workers", &self.workers)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Waker};

    use tokio::sync::mpsc;

    use super::*;

    /// A task that says its name at each turn, and goes through the stages that are left to it, the last one first.
    #[derive(Debug, Clone, PartialEq, Eq)]
    struct Named {
        lane: LaneId,
        name: &'static str,
        stages: Vec<Stage>,
    }

    impl Task for Named {
        fn lane(&self) -> LaneId {
            self.lane
        }

        fn stage(&self) -> Stage {
            *self.stages.last().expect("a task without a stage is done")
        }

        fn size(&self) -> usize {
            MOST_AT_ONCE
        }
    }

    fn easy(lane: LaneId, name: &'static str) -> Named {
        let stages = vec![Stage::New];
        Named { lane, name, stages }
    }

    /// A task of so many turns after it proved hard.
    fn hard(lane: LaneId, name: &'static str, turns: usize) -> Named {
        let mut stages = vec![Stage::Begun; turns - 1];
        stages.push(Stage::Hard);
        Named { lane, name, stages }
    }

    fn schedule<T: Task>(workers: usize) -> Schedule<T> {
        Schedule::new(NonZeroUsize::new(workers).unwrap())
    }

    /// The names of the next tasks, of at least so many, as one worker does them.
    fn run(schedule: &Schedule<Named>, turns: usize) -> Vec<&'static str> {
        let mut state = schedule.lock();
        let mut names = Vec::new();
        while names.len() < turns {
            let mut tasks = Vec::new();
            let hard = state.take(1, schedule.workers, &mut tasks);
            if tasks.is_empty() {
                break;
            }
            if let Some(lane) = hard {
                state.hard_turn_is_over(lane, schedule.workers);
            }
            for task in &mut tasks {
                names.push(task.name);
                task.stages.pop();
            }
            tasks.retain(|task| !task.stages.is_empty());
            state.file(tasks, schedule.workers);
        }
        names
    }

    #[test]
    fn lanes_take_turns_however_much_they_have() {
        let schedule = schedule(1);
        let (much, little) = (schedule.open(), schedule.open());
        schedule.add(vec![easy(much, "much"); 5]);
        schedule.add(vec![easy(little, "little"); 2]);
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
        let new = || easy(lane, "new");
        schedule.add(vec![new(), new(), new(), hard(lane, "hard", 4)]);
        let order = run(&schedule, usize::MAX);
        assert_eq!(order, ["hard", "new", "hard", "new", "hard", "new", "hard"]);
    }

    #[test]
    fn only_as_much_is_begun_as_there_are_workers() {
        let schedule = schedule(2);
        let lane = schedule.open();
        schedule.add(vec![hard(lane, "a", 3), hard(lane, "b", 3), hard(lane, "c", 2)]);
        let order = run(&schedule, usize::MAX);
        assert_eq!(order, ["a", "b", "a", "b", "a", "c", "b", "c"]);
    }

    #[test]
    fn the_hard_work_of_one_lane_leaves_room_for_that_of_others() {
        let schedule = schedule(1);
        let (first, second) = (schedule.open(), schedule.open());
        schedule.add(vec![hard(first, "a", 1_000), hard(first, "b", 1_000)]);
        schedule.add(vec![hard(second, "c", 2)]);
        assert_eq!(run(&schedule, 4), ["a", "c", "a", "c"]);
    }

    #[test]
    fn the_work_of_a_lane_that_is_gone_is_dropped() {
        let schedule = schedule(1);
        let (gone, stays) = (schedule.open(), schedule.open());
        schedule.add(vec![easy(gone, "gone"), hard(gone, "gone", 9)]);
        schedule.add(vec![easy(stays, "stays")]);
        schedule.remove(gone);
        schedule.add(vec![easy(gone, "late")]);
        assert_eq!(run(&schedule, usize::MAX), ["stays"]);
        assert_eq!(schedule.load(), PoolLoad { busy: 0, waiting: 0 });
    }

    #[test]
    fn what_was_seen_goes_before_what_is_new() {
        let schedule = schedule(1);
        let lane = schedule.open();
        schedule.add(vec![easy(lane, "new")]);
        let mut seen = easy(lane, "seen");
        seen.stages = vec![Stage::Seen];
        schedule.add(vec![seen]);
        assert_eq!(run(&schedule, usize::MAX), ["seen", "new"]);
    }

    #[test]
    fn a_worker_takes_as_much_as_it_has_room_for() {
        let schedule = schedule(1);
        let lane = schedule.open();
        schedule.add(vec![easy(lane, "a"), easy(lane, "b"), hard(lane, "c", 2)]);
        let taken = |room| {
            let mut tasks = Vec::new();
            schedule.lock().take(room, 1, &mut tasks);
            tasks.iter().map(|task| task.name).collect::<Vec<_>>()
        };
        assert_eq!(taken(0), ["c"]);
        assert_eq!(taken(1), ["a"]);
        assert_eq!(taken(usize::MAX), ["b"]);
    }

    #[test]
    fn of_what_was_seen_a_worker_takes_one_piece_at_a_time() {
        let schedule = schedule(1);
        for name in ["a", "b", "c"] {
            let mut seen = easy(schedule.open(), name);
            seen.stages = vec![Stage::Seen];
            schedule.add(vec![seen]);
        }
        for expected in ["a", "b", "c"] {
            let mut tasks = Vec::new();
            schedule.lock().take(usize::MAX, 1, &mut tasks);
            assert_eq!(tasks.iter().map(|task| task.name).collect::<Vec<_>>(), [expected]);
        }
    }

    #[test]
    fn amid_a_turn_a_worker_gets_what_nobody_has_looked_at_and_no_lane_loses_its_turn() {
        let schedule = schedule(1);
        let lanes: Vec<LaneId> = (0..3).map(|_| schedule.open()).collect();
        let mut seen = easy(lanes[1], "seen");
        seen.stages = vec![Stage::Seen];
        schedule.add(vec![
            easy(lanes[0], "a"),
            easy(lanes[0], "d"),
            seen,
            easy(lanes[1], "c"),
        ]);
        schedule.add(vec![easy(lanes[2], "b"), hard(lanes[2], "hard", 2)]);
        let amid = |room| {
            let mut tasks = Vec::new();
            let mut fresh = Fresh {
                schedule: &schedule,
                tasks: &mut tasks,
            };
            fresh.more(room).map(|task| task.name).collect::<Vec<_>>()
        };
        assert_eq!(amid(1), ["a"]);
        // However often it asks for more.
        assert!((0..9).all(|_| amid(usize::MAX).is_empty()));
        // And however little room it has for others.
        let mut tasks = Vec::new();
        schedule.lock().take(0, 1, &mut tasks);
        assert_eq!(
            tasks.iter().map(|task| task.name).collect::<Vec<_>>(),
            ["hard", "seen"]
        );
        assert_eq!(amid(usize::MAX), ["b", "d", "c"]);
    }

    #[test]
    fn whoever_adds_work_learns_of_the_lanes_that_wait() {
        let schedule = schedule(2);
        let lanes: Vec<LaneId> = (0..5).map(|_| schedule.open()).collect();
        let add = |&lane| schedule.add(vec![easy(lane, "a"), easy(lane, "b"), hard(lane, "c", 2)]);
        assert_eq!(lanes.iter().map(add).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
        run(&schedule, usize::MAX);
        assert_eq!(add(&lanes[0]), 1);
    }

    #[test]
    fn a_worker_leaves_work_to_those_that_have_none() {
        let schedule = schedule(2);
        let lane = schedule.open();
        schedule.add(vec![easy(lane, "a"), easy(lane, "b"), easy(lane, "c")]);
        let mut state = schedule.lock();
        let mut tasks = Vec::new();
        state.idle = 1;
        state.take(usize::MAX, 2, &mut tasks);
        assert_eq!(tasks.len(), 1);
        state.idle = 0;
        state.take(usize::MAX, 2, &mut tasks);
        assert_eq!(tasks.len(), 3);
    }

    /// What the tasks of [`Keeps`] do.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Does {
        Nothing,
        Panic,
        /// They are kept until they are three.
        Keep,
        PanicLater,
    }

    /// A task that says when it is done, or panics.
    struct Sends(LaneId, Does, mpsc::UnboundedSender<()>);

    impl Task for Sends {
        fn lane(&self) -> LaneId {
            self.0
        }

        fn stage(&self) -> Stage {
            Stage::New
        }

        fn size(&self) -> usize {
            1
        }
    }

    #[derive(Default)]
    struct Keeps(Vec<Sends>);

    impl Worker for Keeps {
        type Task = Sends;

        fn room(&self) -> usize {
            1
        }

        fn is_idle(&self) -> bool {
            self.0.is_empty()
        }

        fn turn(&mut self, task: Sends, _: &mut Vec<Sends>) {
            match task.1 {
                Does::Nothing => task.2.send(()).unwrap(),
                Does::Panic => panic!("one that is meant"),
                Does::Keep | Does::PanicLater => self.0.push(task),
            }
        }

        fn advance(&mut self, _: &mut impl Source<Sends>, _: &mut Vec<Sends>) {
            assert!(
                self.0.iter().all(|task| task.1 != Does::PanicLater),
                "one that is meant"
            );
            if self.0.len() == 3 {
                for task in self.0.drain(..) {
                    task.2.send(()).unwrap();
                }
            }
        }

        fn reset(&mut self) {
            self.0.clear();
        }
    }

    /// Lets a worker do tasks, and counts those that say that they are done.
    async fn done_of(tasks: &[Does]) -> usize {
        let schedule = Arc::new(schedule(1));
        let (sender, mut done) = mpsc::unbounded_channel();
        let post = Schedule::vacancies(&schedule).pop().unwrap();
        let worker = tokio::spawn(post.work(Keeps::default()));
        let lane = schedule.open();
        for &does in tasks {
            schedule.add(vec![Sends(lane, does, sender.clone())]);
        }
        drop(sender);
        let mut count = 0;
        // Ends when the last task is gone.
        while done.recv().await.is_some() {
            count += 1;
        }
        schedule.close();
        worker.await.unwrap();
        assert_eq!(schedule.load(), PoolLoad { busy: 0, waiting: 0 });
        count
    }

    #[tokio::test]
    async fn a_panic_ends_its_task_and_not_the_worker() {
        use Does::{Nothing, Panic};
        assert_eq!(done_of(&[Panic, Nothing, Panic, Nothing]).await, 2);
    }

    #[tokio::test]
    async fn a_worker_goes_on_with_what_it_keeps() {
        assert_eq!(done_of(&[Does::Keep, Does::Keep, Does::Keep]).await, 3);
    }

    #[tokio::test]
    async fn a_panic_over_what_is_kept_drops_it_and_not_the_worker() {
        use Does::{Keep, Nothing, PanicLater};
        assert_eq!(done_of(&[Keep, PanicLater, Nothing, Keep, Keep, Keep]).await, 4);
    }

    #[test]
    fn a_worker_that_leaves_work_wakes_another() {
        let schedule = schedule(2);
        let (worker, mut tasks) = (Keeps::default(), Vec::new());
        let mut wait = || match schedule.next_turns(&worker, &mut tasks) {
            Next::Wait(idle, work) => (idle, Box::pin(work)),
            _ => panic!("there is no work yet"),
        };
        let ((first, mut first_work), (_second, mut second_work)) = (wait(), wait());
        let mut cx = Context::from_waker(Waker::noop());
        assert!(first_work.as_mut().poll(&mut cx).is_pending());
        assert!(second_work.as_mut().poll(&mut cx).is_pending());

        let lane = schedule.open();
        let (sender, _done) = mpsc::unbounded_channel();
        schedule.add([Does::Nothing; 2].map(|does| Sends(lane, does, sender.clone())));
        assert!(first_work.as_mut().poll(&mut cx).is_ready());
        assert!(second_work.as_mut().poll(&mut cx).is_pending());
        drop(first);
        assert!(matches!(
            schedule.next_turns(&worker, &mut tasks),
            Next::Turns(None)
        ));
        assert_eq!(tasks.len(), 1);
        assert!(second_work.as_mut().poll(&mut cx).is_ready());
    }

    #[tokio::test]
    async fn a_post_that_is_left_is_vacant_again_and_its_work_dropped() {
        let schedule = Arc::new(schedule(2));
        let (sender, mut done) = mpsc::unbounded_channel();
        let lane = schedule.open();
        let workers: Vec<_> = Schedule::vacancies(&schedule)
            .into_iter()
            .map(|post| tokio::spawn(post.work(Keeps::default())))
            .collect();
        assert_eq!(workers.len(), 2);
        assert_eq!(Schedule::vacancies(&schedule).len(), 0);
        schedule.add(vec![Sends(lane, Does::Nothing, sender.clone())]);
        assert_eq!(done.recv().await, Some(()));

        for worker in workers {
            // As the end of a runtime does, whether it waits or works.
            schedule.add(vec![Sends(lane, Does::Keep, sender.clone())]);
            worker.abort();
            assert!(worker.await.unwrap_err().is_cancelled());
        }
        drop(sender);
        assert_eq!(done.recv().await, None, "work is left that nobody does");
        assert_eq!(schedule.lock().idle, 0);
        assert_eq!(Schedule::vacancies(&schedule).len(), 2);
    }
}
