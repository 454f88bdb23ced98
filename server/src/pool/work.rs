//! The work of the pool: puzzles for the batch engine, puzzles one by one, and parts of one hard puzzle's search.

use std::time::{Duration, Instant};

use sudoku_engine::batch::Batch;
use sudoku_engine::{Grid, Isa};

use super::batches::{self, Batches};
use super::call::{Call, Done, Duty};
use super::schedule::{LaneId, Source, Stage, Task, Worker};
use crate::options::Options;
use crate::search::{Answer, Attempt};

/// How many slices a puzzle gets at first sight. What takes more is hard, and starts anew: so rarely that it costs little.
const FIRST_SLICES: u32 = 20;

/// After how long a turn ends, at the next slice or puzzle.
const TURN: Duration = Duration::from_micros(200);

/// A piece of work on a part of a stream.
#[derive(Debug)]
pub(super) enum Work {
    /// Puzzles for the batch engine.
    Batch {
        duty: Duty,
        options: Options,
        batch: Batch,
    },
    /// Puzzles to be searched one by one: the solution limit is not for the batch engine, it was too few, or it left them
    /// open.
    Unit {
        duty: Duty,
        options: Options,
        puzzles: Vec<Puzzle>,
    },
    /// A puzzle that took more than its first slices. Its search is begun anew when its turn comes: keeping the first
    /// one would take memory for each puzzle that waits, and let its time limit run.
    Hard {
        duty: Duty,
        options: Options,
        puzzle: Puzzle,
    },
    /// A hard puzzle's search under way.
    Search {
        duty: Duty,
        /// Which puzzle of the part it is.
        index: usize,
        attempt: Box<Attempt>,
    },
}

/// A puzzle, and its index in its part.
#[derive(Debug, Clone, Copy)]
pub(super) struct Puzzle {
    pub index: usize,
    pub grid: Grid,
}

impl Task for Work {
    fn lane(&self) -> LaneId {
        let (Self::Batch { duty, .. }
        | Self::Unit { duty, .. }
        | Self::Hard { duty, .. }
        | Self::Search { duty, .. }) = self;
        duty.call().lane()
    }

    fn stage(&self) -> Stage {
        match self {
            Self::Batch { .. } => Stage::New,
            Self::Unit { .. } => Stage::Seen,
            Self::Hard { .. } => Stage::Hard,
            Self::Search { .. } => Stage::Begun,
        }
    }

    fn size(&self) -> usize {
        match self {
            Self::Batch { batch, .. } => batches::size(batch),
            // These take a turn.
            _ => usize::MAX,
        }
    }
}

/// What a worker has for itself.
#[derive(Debug)]
pub(super) struct Solver {
    batches: Batches,
    /// For puzzles at first sight, one after the other.
    attempt: Option<Attempt>,
}

impl Solver {
    pub fn new(isa: Isa) -> Self {
        Self {
            batches: Batches::new(isa),
            attempt: None,
        }
    }
}

impl Worker for Solver {
    type Task = Work;

    fn room(&self) -> usize {
        self.batches.room()
    }

    fn is_idle(&self) -> bool {
        self.batches.is_idle()
    }

    fn turn(&mut self, task: Work, rest: &mut Vec<Work>) {
        match task {
            Work::Batch { duty, options, batch } => self.batches.take(duty, options, batch, rest),
            Work::Unit {
                duty,
                options,
                puzzles,
            } => unit(&mut self.attempt, duty, options, puzzles, rest),
            Work::Hard {
                duty,
                options,
                puzzle,
            } => {
                let attempt = Attempt::new(&puzzle.grid, options, duty.call().isa());
                search(duty, puzzle.index, Box::new(attempt), rest);
            }
            Work::Search { duty, index, attempt } => search(duty, index, attempt, rest),
        }
    }

    fn advance(&mut self, source: &mut impl Source<Work>, rest: &mut Vec<Work>) {
        self.batches.advance(source, rest);
    }

    fn reset(&mut self) {
        self.batches.reset();
    }
}

/// Searches puzzles, each for its first slices, until the turn is over.
fn unit(
    attempt: &mut Option<Attempt>,
    duty: Duty,
    options: Options,
    mut puzzles: Vec<Puzzle>,
    rest: &mut Vec<Work>,
) {
    let begin = Instant::now();
    let attempt = attempt.get_or_insert_with(|| Attempt::new(&Grid::EMPTY, options, duty.call().isa()));
    let mut answers = Vec::with_capacity(puzzles.len());
    let mut seen = 0;
    for &puzzle in &puzzles {
        attempt.restart(&puzzle.grid, options);
        seen += 1;
        match first_slices(attempt, duty.call()) {
            Ok(answer) => answers.push((puzzle.index, answer)),
            Err(Unsolved::Over) => {
                if !answers.is_empty() {
                    duty.send(Done::Answers(answers)); // They may still leave.
                }
                return;
            }
            Err(Unsolved::Hard) => rest.push(Work::Hard {
                duty: duty.share(),
                options,
                puzzle,
            }),
        }
        if begin.elapsed() >= TURN {
            break;
        }
    }
    duty.send(Done::Answers(answers));
    puzzles.drain(..seen);
    if puzzles.is_empty() {
        return duty.fulfil();
    }
    rest.push(Work::Unit {
        duty,
        options,
        puzzles,
    });
}

/// Why first sight of a puzzle gave no answer.
enum Unsolved {
    Hard,
    /// The call is over.
    Over,
}

fn first_slices(attempt: &mut Attempt, call: &Call) -> Result<Answer, Unsolved> {
    for _ in 0..FIRST_SLICES {
        if let Some(answer) = attempt.slice() {
            return Ok(answer);
        }
        if call.is_over(Instant::now()) {
            return Err(Unsolved::Over);
        }
    }
    Err(Unsolved::Hard)
}

/// Goes on with a search until it is over or the turn is.
fn search(duty: Duty, index: usize, mut attempt: Box<Attempt>, rest: &mut Vec<Work>) {
    let begin = Instant::now();
    loop {
        if let Some(answer) = attempt.slice() {
            duty.send(Done::Answers(vec![(index, answer)]));
            return duty.fulfil();
        }
        let now = Instant::now();
        if duty.call().is_over(now) {
            return;
        }
        if now - begin >= TURN {
            break;
        }
    }
    rest.push(Work::Search { duty, index, attempt });
}

#[cfg(test)]
pub(super) mod tests {
    use std::iter;
    use std::num::NonZeroUsize;
    use std::sync::Arc;
    use std::task::{Context, Waker};

    use sudoku_engine::batch;

    use super::super::schedule::Schedule;
    use super::*;

    /// Rated among the hardest that people solve.
    const EVIL: &str = "98.7..6..75..4......3..8.7.5....7.3...94.........2.1..3.......1.9...5.8...52....6";

    const OPTIONS: Options = Options {
        solution_limit: 2,
        time_limit: Duration::from_secs(3_600),
        omit_solutions: true,
    };

    /// Has no more.
    struct Dry;

    impl Source<Work> for Dry {
        fn more(&mut self, _: usize) -> impl Iterator<Item = Work> {
            iter::empty()
        }
    }

    pub fn call(deadline: Option<Instant>) -> Arc<Call> {
        let schedule = Schedule::<Work>::new(NonZeroUsize::MIN);
        Arc::new(Call::new(schedule.open(), Isa::detect(), deadline))
    }

    fn received(call: &Call) -> Vec<Done> {
        let mut done = Vec::new();
        call.receive(&mut Context::from_waker(Waker::noop()), &mut done);
        done.into_iter().map(|(_, done)| done).collect()
    }

    /// So many hard puzzles for the batch engine.
    pub fn evil(call: &Arc<Call>, key: u64, count: usize) -> Work {
        let puzzles = vec![Grid::from_line(EVIL).unwrap(); count];
        Work::Batch {
            duty: Duty::new(Arc::clone(call), key),
            options: OPTIONS,
            batch: Batch::new(key, puzzles, batch::Options::default()),
        }
    }

    /// So many puzzles that take all the time there is, one by one.
    fn endless(call: &Arc<Call>, count: usize) -> Work {
        let puzzle = |index| Puzzle {
            index,
            grid: Grid::EMPTY,
        };
        Work::Unit {
            duty: Duty::new(Arc::clone(call), 0),
            options: Options {
                solution_limit: u32::MAX,
                ..OPTIONS
            },
            puzzles: (0..count).map(puzzle).collect(),
        }
    }

    /// Does work, and all that comes of it, until nothing is left.
    fn do_all(solver: &mut Solver, mut work: Vec<Work>) {
        loop {
            if let Some(task) = work.pop() {
                solver.turn(task, &mut work);
            } else if solver.is_idle() {
                return;
            }
            solver.advance(&mut Dry, &mut work);
        }
    }

    #[test]
    fn a_hard_puzzle_gives_way_in_turns() {
        let mut solver = Solver::new(Isa::detect());
        let call = call(None);
        let mut work = vec![endless(&call, 1)];
        let stage = |work: &[Work]| work.iter().map(Work::stage).collect::<Vec<_>>();
        for expected in [Stage::Seen, Stage::Hard, Stage::Begun, Stage::Begun] {
            assert_eq!(stage(&work), [expected]);
            let task = work.pop().unwrap();
            solver.turn(task, &mut work);
        }
    }

    #[test]
    fn work_for_a_call_that_is_over_is_dropped() {
        let stopped = call(None);
        stopped.stop();
        let late = call(Some(Instant::now()));
        for call in [stopped, late] {
            let mut solver = Solver::new(Isa::detect());
            do_all(&mut solver, vec![endless(&call, 40), evil(&call, 1, 400)]);
            assert!(matches!(received(&call)[..], [Done::Lost, Done::Lost]));
        }
    }

    #[test]
    fn a_call_that_ends_frees_the_engine() {
        // Before the engine has looked at the puzzles, and while it works on them.
        for slices in [0, 1] {
            let mut solver = Solver::new(Isa::detect());
            let (call, mut rest) = (call(None), Vec::new());
            for key in 0..3 {
                solver.turn(evil(&call, key, 256), &mut rest);
            }
            for _ in 0..slices {
                solver.advance(&mut Dry, &mut rest);
            }
            assert!(!solver.is_idle());
            call.stop();
            solver.advance(&mut Dry, &mut rest);
            assert!(solver.is_idle() && rest.is_empty());
            assert!(matches!(
                received(&call)[..],
                [Done::Lost, Done::Lost, Done::Lost]
            ));
        }
    }

    #[test]
    fn what_is_too_little_for_the_engine_is_searched_one_by_one() {
        let mut solver = Solver::new(Isa::detect());
        let (call, mut rest) = (call(None), Vec::new());
        solver.turn(evil(&call, 0, 3), &mut rest);
        solver.advance(&mut Dry, &mut rest);
        assert!(solver.is_idle());
        assert!(matches!(&rest[..], [Work::Unit { puzzles, .. }] if puzzles.len() == 3));
        do_all(&mut solver, rest);
        let done = received(&call);
        assert!(matches!(&done[0], Done::Batch(_, open) if open.len() == 3));
        let answers = |done: &Done| match done {
            Done::Answers(answers) => answers.len(),
            Done::Batch(..) | Done::Lost => 0,
        };
        assert_eq!(done.iter().map(answers).sum::<usize>(), 3);
    }

    #[test]
    fn after_a_panic_the_engine_is_a_new_one() {
        let mut solver = Solver::new(Isa::detect());
        let (lost, next) = (call(None), call(None));
        solver.turn(evil(&lost, 0, 100), &mut Vec::new());
        solver.reset();
        assert!(solver.is_idle());
        assert!(matches!(received(&lost)[..], [Done::Lost]));

        do_all(&mut solver, vec![evil(&next, 1, 100)]);
        assert!(matches!(&received(&next)[..], [Done::Batch(_, open)] if open.is_empty()));
    }
}
