//! A stream's place in the pool: its puzzles on their way in, and what was found on its way out.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::task::Context;
use std::time::Duration;

use sudoku_engine::batch::{self, Batch, Limit};

use super::Pool;
use super::call::{Call, Done, Duty, PartId};
use super::work::{Puzzle, Work};
use crate::options::Options;
use crate::search::Answer;

/// How many puzzles go to a worker together: few enough to spread a message over the workers, and enough to fill the lanes
/// of its batch engine.
const PART_PUZZLES: usize = 256;

/// How many a worker takes at a time to search them one by one.
const UNIT_PUZZLES: usize = 32;

/// One stream's place in the pool, which gets its share of turns. Dropping it drops all of its work.
///
/// The puzzles of a stream are numbered as they come, over all of its messages.
#[derive(Debug)]
pub(crate) struct Lane {
    pool: Pool,
    call: Arc<Call>,
    /// The part that takes in puzzles.
    open: Option<(Options, Batch)>,
    /// The parts that are complete, the oldest first, and the number of that one.
    parts: VecDeque<Part>,
    first_part: PartId,
    /// The number of the next puzzle.
    next_puzzle: u64,
    /// The number of the first puzzle that is in no part yet.
    unsent: u64,
    /// The number of the first puzzle of the oldest part that is not solved as a whole.
    whole_until: u64,
    /// How many streams had puzzles waiting for the workers, this one included, when it last gave them some.
    crowd: usize,
    /// Work on parts that are complete.
    outbox: Vec<Work>,
    /// What the workers have sent, when it is looked at.
    inbox: Vec<(PartId, Done)>,
}

/// Puzzles with the same options, which the workers have been given together.
#[derive(Debug)]
struct Part {
    puzzles: Range<u64>,
    progress: Progress,
    /// Whether what is not answered never will be.
    lost: bool,
}

#[derive(Debug)]
enum Progress {
    /// It is in a batch engine, or will be.
    Waiting,
    /// The engine is through. What it left open has a place among the answers.
    Batched(Batch, Vec<(usize, Option<Answer>)>),
    /// It is searched puzzle by puzzle.
    OneByOne(Vec<Option<Answer>>),
}

/// What was found out about a puzzle.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Solved<'a> {
    /// By the batch engine: the batch, and the index of the puzzle in it. It is not open.
    InBatch(&'a Batch, usize),
    /// By the single engine.
    Alone(&'a Answer),
}

/// There will be no answer: the call's deadline passed, or a bug ended the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lost;

impl Lane {
    pub(super) fn new(pool: Pool, call: Arc<Call>) -> Self {
        Self {
            pool,
            call,
            open: None,
            parts: VecDeque::new(),
            first_part: 0,
            next_puzzle: 0,
            unsent: 0,
            whole_until: 0,
            crowd: 1,
            outbox: Vec::new(),
            inbox: Vec::new(),
        }
    }

    /// The number of the puzzle that is put in next.
    pub fn next_puzzle(&self) -> u64 {
        self.next_puzzle
    }

    /// Puts puzzles in: lines of 81 characters, up to the first that is none, which is returned. They are kept back, to be
    /// solved together with those that come right after, until [`Lane::send`].
    pub fn put<'a>(
        &mut self,
        options: Options,
        mut lines: impl ExactSizeIterator<Item = &'a [u8]>,
    ) -> Option<&'a [u8]> {
        while lines.len() > 0 {
            let isa = self.call.isa();
            let batch = self.part_for(options);
            let before = batch.puzzles().len();
            let read = batch.push_lines(isa, lines.by_ref().take(PART_PUZZLES - before));
            let after = batch.puzzles().len();
            self.next_puzzle += (after - before) as u64;
            if after == PART_PUZZLES {
                self.close_part();
            }
            if let Err(line) = read {
                return Some(line);
            }
        }
        None
    }

    /// The part that takes in puzzles with these options. It has room.
    fn part_for(&mut self, options: Options) -> &mut Batch {
        if self.open.as_ref().is_some_and(|(others, _)| *others != options) {
            self.close_part();
            // It is still there if no line was a puzzle, and would go on under its own options.
            if let Some((_, empty)) = self.open.take() {
                self.pool.spare.give_back(empty);
            }
        }
        let spare = &self.pool.spare;
        let new = || (options, spare.take(batch_options(options)));
        let (_, batch) = self.open.get_or_insert_with(new);
        batch
    }

    /// Gives the workers what was kept back.
    pub fn send(&mut self) {
        self.close_part();
        if !self.outbox.is_empty() {
            self.crowd = self.pool.schedule.add(self.outbox.drain(..));
        }
    }

    /// Its share of so many puzzles for each worker among the streams that have some waiting: at least what the workers take
    /// of it in two of their rounds, so that it misses none.
    pub fn share_of(&self, puzzles_a_worker: usize) -> usize {
        let puzzles = puzzles_a_worker.saturating_mul(self.pool.schedule.workers());
        (puzzles / self.crowd.max(1)).max(1)
    }

    /// Ends the part that takes in puzzles.
    fn close_part(&mut self) {
        let puzzles = self.unsent..self.next_puzzle;
        let Some((options, batch)) = self.open.take_if(|_| !puzzles.is_empty()) else {
            return;
        };
        self.unsent = puzzles.end;
        let duty = Duty::new(Arc::clone(&self.call), self.first_part + self.parts.len() as u64);
        let progress = match options.solution_limit {
            1 | 2 => {
                self.outbox.push(Work::Batch { duty, options, batch });
                Progress::Waiting
            }
            // The batch engine stops at the second solution.
            _ => {
                self.outbox.extend(units(duty, options, &batch));
                let answers = vec![None; batch.puzzles().len()];
                self.pool.spare.give_back(batch);
                Progress::OneByOne(answers)
            }
        };
        self.parts.push_back(Part {
            puzzles,
            progress,
            lost: false,
        });
    }

    /// Takes in what the workers have done. The task of `cx` is woken when there is more.
    pub fn receive(&mut self, cx: &mut Context<'_>) {
        let mut inbox = std::mem::take(&mut self.inbox);
        self.call.receive(cx, &mut inbox);
        for (id, done) in inbox.drain(..) {
            // A message is given up as soon as a part of it is lost, and others of its parts may follow.
            let index = id.checked_sub(self.first_part).map(|index| index as usize);
            if let Some(part) = index.and_then(|index| self.parts.get_mut(index)) {
                part.take(done);
            }
        }
        self.inbox = inbox;
        self.count_whole_parts();
    }

    /// So that of most puzzles it is known at once that they are solved.
    fn count_whole_parts(&mut self) {
        let unknown = self
            .parts
            .iter()
            .skip_while(|part| part.puzzles.end <= self.whole_until);
        let whole = unknown.take_while(|part| part.progress.is_whole());
        if let Some(last) = whole.last() {
            self.whole_until = last.puzzles.end;
        }
    }

    /// How many puzzles from this one on are known at once to be solved.
    pub fn count_whole(&self, puzzle: u64) -> usize {
        self.whole_until.saturating_sub(puzzle) as usize
    }

    /// Whether the answers to these puzzles are all there.
    pub fn is_solved(&self, puzzles: &Range<u64>) -> Result<bool, Lost> {
        if puzzles.end <= self.whole_until {
            return Ok(true);
        }
        let mut all = puzzles.end <= self.unsent;
        for (part, indices) in self.parts_of(puzzles) {
            all &= part.has(indices)?;
        }
        Ok(all)
    }

    /// Looks at what was found out about these puzzles, which are solved.
    pub fn for_each_solved(&self, puzzles: &Range<u64>, mut look: impl FnMut(Solved<'_>)) {
        for (part, indices) in self.parts_of(puzzles) {
            match &part.progress {
                // As nearly always, and so without a look at what was left.
                Progress::Batched(batch, left) if left.is_empty() => {
                    indices.for_each(|index| look(Solved::InBatch(batch, index)));
                }
                progress => indices
                    .filter_map(|index| progress.get(index))
                    .for_each(&mut look),
            }
        }
    }

    /// The parts with these puzzles, and which of each.
    fn parts_of(&self, puzzles: &Range<u64>) -> impl Iterator<Item = (&Part, Range<usize>)> {
        let Range { start, end } = *puzzles;
        self.parts
            .iter()
            .skip_while(move |part| part.puzzles.end <= start)
            .take_while(move |part| part.puzzles.start < end)
            .map(move |part| {
                let first = part.puzzles.start;
                let indices = start.max(first) - first..end.min(part.puzzles.end) - first;
                (part, indices.start as usize..indices.end as usize)
            })
    }

    /// Of how many parts something is known, or will be.
    #[cfg(test)]
    pub fn known_parts(&self) -> usize {
        self.parts.len()
    }

    /// Drops what is known of the puzzles before this one.
    pub fn forget(&mut self, puzzle: u64) {
        while let Some(part) = self.parts.pop_front_if(|part| part.puzzles.end <= puzzle) {
            self.first_part += 1;
            if let Progress::Batched(batch, _) = part.progress {
                self.pool.spare.give_back(batch);
            }
        }
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        self.call.stop();
        self.pool.schedule.remove(self.call.lane());
    }
}

/// The puzzles of a part, to be searched one by one.
fn units(duty: Duty, options: Options, batch: &Batch) -> Vec<Work> {
    let puzzles: Vec<Puzzle> = batch
        .puzzles()
        .iter()
        .enumerate()
        .map(|(index, &grid)| Puzzle { index, grid })
        .collect();
    let units = puzzles
        .chunks(UNIT_PUZZLES)
        .map(|puzzles| Work::Unit {
            duty: duty.share(),
            options,
            puzzles: puzzles.to_vec(),
        })
        .collect();
    duty.fulfil();
    units
}

/// The options for the batch engine.
fn batch_options(options: Options) -> batch::Options {
    batch::Options {
        limit: match options.solution_limit {
            1 => Limit::One,
            _ => Limit::Two,
        },
        omit_solutions: options.omit_solutions,
        budget: budget(options.time_limit),
    }
}

/// The steps that take about as long as a puzzle may take. The engine has no clock, and takes a tenth of a microsecond for
/// a step of one of its puzzles. What exceeds this is for the single engine, which has.
fn budget(time_limit: Duration) -> u32 {
    let steps = time_limit.as_nanos() / 100;
    let most = batch::Options::default().budget;
    u32::try_from(steps).map_or(most, |steps| steps.min(most))
}

impl Part {
    fn take(&mut self, done: Done) {
        match (&mut self.progress, done) {
            (_, Done::Lost) => self.lost = true,
            (Progress::Waiting, Done::Batch(batch, open)) => {
                let left = open.into_iter().map(|index| (index, None)).collect();
                self.progress = Progress::Batched(batch, left);
            }
            (Progress::Batched(_, left), Done::Answers(answers)) => {
                for (index, answer) in answers {
                    if let Ok(place) = left.binary_search_by_key(&index, |&(index, _)| index) {
                        left[place].1 = Some(answer);
                    }
                }
            }
            (Progress::OneByOne(all), Done::Answers(answers)) => {
                for (index, answer) in answers {
                    all[index] = Some(answer);
                }
            }
            // Nothing comes twice.
            _ => {}
        }
    }

    /// Whether these puzzles are answered.
    fn has(&self, indices: Range<usize>) -> Result<bool, Lost> {
        match self.progress.has(indices) {
            false if self.lost => Err(Lost),
            has => Ok(has),
        }
    }
}

impl Progress {
    /// Whether the batch engine has answered all of it.
    fn is_whole(&self) -> bool {
        matches!(self, Self::Batched(_, left) if left.is_empty())
    }

    fn has(&self, indices: Range<usize>) -> bool {
        match self {
            Self::Waiting => false,
            Self::Batched(_, left) => {
                let first = left.partition_point(|&(index, _)| index < indices.start);
                left[first..]
                    .iter()
                    .take_while(|(index, _)| *index < indices.end)
                    .all(|(_, answer)| answer.is_some())
            }
            Self::OneByOne(answers) => answers[indices].iter().all(Option::is_some),
        }
    }

    fn get(&self, index: usize) -> Option<Solved<'_>> {
        match self {
            Self::Waiting => None,
            Self::Batched(batch, left) => match left.binary_search_by_key(&index, |&(index, _)| index) {
                Ok(place) => left[place].1.as_ref().map(Solved::Alone),
                Err(_) => Some(Solved::InBatch(batch, index)),
            },
            Self::OneByOne(answers) => answers[index].as_ref().map(Solved::Alone),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;
    use std::task::Waker;
    use std::thread;
    use std::time::Instant;

    use sudoku_engine::batch::Outcome;
    use sudoku_engine::{Grid, Isa, Solution};

    use super::*;
    use crate::search;

    const UNIQUE: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
    const EVIL: &str = "98.7..6..75..4......3..8.7.5....7.3...94.........2.1..3.......1.9...5.8...52....6";
    const EMPTY: &str = ".................................................................................";
    /// Has no solution, which is found at once: unlike that of a hard one.
    const CONFLICT: &str =
        "11...............................................................................";

    fn options(solution_limit: u32) -> Options {
        Options {
            solution_limit,
            time_limit: Duration::from_secs(3_600),
            omit_solutions: false,
        }
    }

    fn lane(deadline: Option<Instant>) -> Lane {
        let pool = Pool::new(NonZeroUsize::new(2).unwrap(), Isa::detect());
        pool.lane(deadline)
    }

    /// Puts a message in. Gives the numbers of its puzzles.
    fn put<'a>(
        lane: &mut Lane,
        options: Options,
        lines: impl IntoIterator<Item = &'a str, IntoIter: ExactSizeIterator>,
    ) -> Range<u64> {
        let first = lane.next_puzzle();
        let bad = lane.put(options, lines.into_iter().map(str::as_bytes));
        assert_eq!(bad, None);
        first..lane.next_puzzle()
    }

    /// Waits until something is known of these puzzles.
    fn wait(lane: &mut Lane, puzzles: &Range<u64>) -> Result<(), Lost> {
        let begin = Instant::now();
        loop {
            lane.receive(&mut Context::from_waker(Waker::noop()));
            if lane.is_solved(puzzles)? {
                return Ok(());
            }
            assert!(begin.elapsed() < Duration::from_secs(30), "waited in vain");
            thread::yield_now();
        }
    }

    fn count(lane: &Lane, puzzles: &Range<u64>) -> usize {
        let mut count = 0;
        lane.for_each_solved(puzzles, |_| count += 1);
        count
    }

    /// What was found: an outcome, and so many solutions, each of which is one.
    fn found(solved: Solved<'_>, line: &str) -> (search::Outcome, usize) {
        let puzzle = Grid::from_line(line).unwrap();
        let (outcome, solutions): (_, Vec<Solution>) = match solved {
            Solved::Alone(answer) => (answer.outcome, answer.solutions.clone()),
            Solved::InBatch(batch, index) => {
                let outcome = match batch.outcome(index).unwrap() {
                    Outcome::Open => panic!("an open puzzle was given out"),
                    Outcome::Unsolvable => search::Outcome::Unsolvable,
                    Outcome::Solved => search::Outcome::Solved,
                    Outcome::Unique => search::Outcome::Unique,
                    Outcome::Multiple => search::Outcome::Multiple,
                };
                assert_eq!(batch.puzzles()[index], puzzle);
                (outcome, batch.solutions(index).collect())
            }
        };
        for solution in &solutions {
            assert_eq!(Solution::check(&puzzle, solution.grid()).as_ref(), Ok(solution));
        }
        (outcome, solutions.len())
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn both_engines_say_the_same() {
        use search::Outcome::{Multiple, Solved, Unique, Unsolvable};
        let lines = [UNIQUE, CONFLICT, EMPTY, EVIL];
        for (limit, expected) in [
            (1, [(Solved, 1), (Unsolvable, 0), (Solved, 1), (Solved, 1)]),
            (2, [(Unique, 1), (Unsolvable, 0), (Multiple, 2), (Unique, 1)]),
            (3, [(Unique, 1), (Unsolvable, 0), (Multiple, 3), (Unique, 1)]),
        ] {
            for count in [1, 5, 100, 1_000] {
                let mut lane = lane(None);
                let line = |index: usize| lines[index % 4];
                let puzzles = put(&mut lane, options(limit), (0..count).map(line));
                lane.send();
                assert_eq!(wait(&mut lane, &puzzles), Ok(()));
                let mut index = 0;
                lane.for_each_solved(&puzzles, |solved| {
                    let found = found(solved, line(index));
                    assert_eq!(found, expected[index % 4], "{index} of {count}, limit {limit}");
                    index += 1;
                });
                assert_eq!(index, count);
            }
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_message_is_solved_before_what_comes_after_it() {
        let mut lane = lane(None);
        let forever = options(u32::MAX);
        let first = put(&mut lane, forever, [CONFLICT; 3]);
        let endless = put(&mut lane, forever, [EMPTY]);
        let last = put(&mut lane, forever, [CONFLICT; 40]);
        lane.send();
        assert_eq!(wait(&mut lane, &first), Ok(()));
        assert_eq!(wait(&mut lane, &last), Ok(()));
        assert_eq!(lane.is_solved(&endless), Ok(false));
        assert_eq!(count(&lane, &last), 40);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn options_hold_for_their_message() {
        let mut lane = lane(None);
        let messages: Vec<_> = [1, 2, 5, 2]
            .map(|limit| (limit, put(&mut lane, options(limit), [EMPTY; 70])))
            .into();
        lane.send();
        for (limit, puzzles) in messages {
            assert_eq!(wait(&mut lane, &puzzles), Ok(()));
            assert_eq!(count(&lane, &puzzles), 70);
            lane.for_each_solved(&puzzles, |solved| {
                assert_eq!(found(solved, EMPTY).1, limit as usize);
            });
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn options_of_a_message_without_puzzles_are_forgotten() {
        let expected = (search::Outcome::Unique, 1);
        for (good, limit) in [(0, 1), (PART_PUZZLES, 1), (0, 50)] {
            let mut lane = lane(None);
            let mut lines = vec![UNIQUE.as_bytes(); good];
            lines.push(b"x");
            let others = Options {
                omit_solutions: true,
                ..options(limit)
            };
            assert_eq!(lane.put(others, lines.into_iter()), Some(&b"x"[..]));
            let puzzles = put(&mut lane, options(2), [UNIQUE; 3]);
            lane.send();
            assert_eq!(wait(&mut lane, &puzzles), Ok(()));
            lane.for_each_solved(&puzzles, |solved| {
                assert_eq!(found(solved, UNIQUE), expected, "after limit {limit}");
            });
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_time_limit_bounds_the_batch_engine_too() {
        let mut lane = lane(None);
        let options = Options {
            time_limit: Duration::from_nanos(1),
            ..options(2)
        };
        let puzzles = put(&mut lane, options, [EVIL; 100]);
        lane.send();
        assert_eq!(wait(&mut lane, &puzzles), Ok(()));
        lane.for_each_solved(&puzzles, |solved| {
            assert_eq!(found(solved, EVIL).0, search::Outcome::Undecided);
        });
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_is_no_puzzle_is_handed_back() {
        let mut lane = lane(None);
        let mut lines = [UNIQUE, "x", UNIQUE].into_iter().map(str::as_bytes);
        assert_eq!(lane.put(options(2), &mut lines), Some("x".as_bytes()));
        assert_eq!(lane.put(options(2), &mut lines), None);
        assert_eq!(lane.next_puzzle(), 2);
        lane.send();
        assert_eq!(wait(&mut lane, &(0..2)), Ok(()));
        assert_eq!(count(&lane, &(0..2)), 2);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn nothing_is_solved_that_was_not_sent() {
        let mut lane = lane(None);
        let puzzles = put(&mut lane, options(2), [UNIQUE]);
        assert_eq!(lane.is_solved(&puzzles), Ok(false));
        assert_eq!(lane.is_solved(&(0..0)), Ok(true));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn after_the_deadline_all_is_lost() {
        let mut lane = lane(Some(Instant::now()));
        for limit in [2, 3] {
            let puzzles = put(&mut lane, options(limit), [EVIL; 300]);
            lane.send();
            assert_eq!(wait(&mut lane, &puzzles), Err(Lost));
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn batches_are_used_again() {
        let mut lane = lane(None);
        for line in [UNIQUE, EVIL, UNIQUE] {
            let puzzles = put(&mut lane, options(2), vec![line; 3 * PART_PUZZLES]);
            lane.send();
            assert_eq!(wait(&mut lane, &puzzles), Ok(()));
            lane.for_each_solved(&puzzles, |solved| {
                assert_eq!(found(solved, line), (search::Outcome::Unique, 1));
            });
            lane.forget(puzzles.end);
            assert_eq!(lane.known_parts(), 0);
        }
    }

    fn part(progress: Progress) -> Part {
        Part {
            puzzles: 0..3,
            progress,
            lost: false,
        }
    }

    fn undecided() -> Answer {
        Answer {
            outcome: search::Outcome::Undecided,
            solutions: Vec::new(),
            count: 0,
            conflicts: Vec::new(),
        }
    }

    #[test]
    fn what_the_batch_engine_left_open_is_waited_for() {
        let mut part = part(Progress::Waiting);
        let open = Batch::new(0, vec![Grid::EMPTY; 3], batch::Options::default());
        part.take(Done::Batch(open, vec![0, 1, 2]));
        assert_eq!(part.has(0..1), Ok(false));
        part.take(Done::Answers(vec![(1, undecided())]));
        assert_eq!(part.has(1..2), Ok(true));
        assert_eq!(part.has(1..3), Ok(false));
        assert!(matches!(part.progress.get(1), Some(Solved::Alone(_))));
    }

    /// Messages share a part, and one of them may be answered before another is lost.
    #[test]
    fn what_is_answered_stays_so_when_the_rest_is_lost() {
        for mut part in [Progress::Waiting, Progress::OneByOne(vec![None; 3])].map(part) {
            if matches!(part.progress, Progress::Waiting) {
                let open = Batch::new(0, vec![Grid::EMPTY; 3], batch::Options::default());
                part.take(Done::Batch(open, vec![0, 1, 2]));
            }
            part.take(Done::Answers(vec![(0, undecided())]));
            part.take(Done::Lost);
            assert_eq!(part.has(0..1), Ok(true));
            assert_eq!(part.has(0..2), Err(Lost));
            assert_eq!(part.has(2..3), Err(Lost));
        }
        let mut part = part(Progress::Waiting);
        part.take(Done::Lost);
        assert_eq!(part.has(0..1), Err(Lost));
    }
}
