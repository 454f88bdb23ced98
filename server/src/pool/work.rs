//! The work of the pool: puzzles for the batch engine, puzzles one by one, and parts of one hard puzzle's search.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sudoku_engine::Isa;

use super::batches::{self, Batches};
use super::message::{Call, Message};
use super::schedule::{LaneId, Stage, Task, Worker};
use crate::search::{Answer, Attempt};

/// How many slices a puzzle gets at first sight. What takes more is hard, and starts anew: so rarely that it costs little.
const FIRST_SLICES: u32 = 20;

/// After how long a turn ends, at the next slice or puzzle.
const TURN: Duration = Duration::from_micros(200);

/// A piece of work on a message.
#[derive(Debug)]
pub(super) enum Work {
    /// Puzzles for the batch engine.
    Batch {
        message: Arc<Message>,
        range: Range<usize>,
    },
    /// Puzzles to be searched one by one: the solution limit is not for the batch engine, it was too few, or it left them
    /// open.
    Unit {
        message: Arc<Message>,
        indices: Vec<usize>,
    },
    /// A puzzle that took more than its first slices. Its search is begun anew when its turn comes: keeping the first
    /// one would take memory for each puzzle that waits, and let its time limit run.
    Hard { message: Arc<Message>, index: usize },
    /// A hard puzzle's search under way.
    Search {
        message: Arc<Message>,
        index: usize,
        attempt: Box<Attempt>,
    },
}

impl Work {
    /// Puzzles of a message to be searched one by one.
    pub fn unit(message: Arc<Message>, indices: impl IntoIterator<Item = usize>) -> Self {
        let indices = indices.into_iter().collect();
        Self::Unit { message, indices }
    }

    fn message(&self) -> &Message {
        match self {
            Self::Batch { message, .. }
            | Self::Unit { message, .. }
            | Self::Hard { message, .. }
            | Self::Search { message, .. } => message,
        }
    }
}

impl Task for Work {
    fn lane(&self) -> LaneId {
        self.message().call.lane()
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
            Self::Batch { range, .. } => batches::size(range),
            // These take a turn.
            _ => usize::MAX,
        }
    }
}

/// What a thread has for itself.
#[derive(Debug)]
pub(super) struct Solver {
    batches: Batches,
}

impl Solver {
    pub fn new(isa: Isa) -> Self {
        Self {
            batches: Batches::new(isa),
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
            Work::Batch { message, range } => self.batches.take(message, range),
            Work::Unit { message, indices } => unit(message, indices, rest),
            Work::Hard { message, index } => {
                let attempt = Box::new(message.attempt(index));
                search(message, index, attempt, rest);
            }
            Work::Search {
                message,
                index,
                attempt,
            } => search(message, index, attempt, rest),
        }
    }

    fn advance(&mut self, rest: &mut Vec<Work>) {
        self.batches.advance(rest);
    }

    fn reset(&mut self) {
        self.batches.reset();
    }
}

/// Searches the puzzles at `indices`, each for its first slices, until the turn is over.
fn unit(message: Arc<Message>, indices: Vec<usize>, rest: &mut Vec<Work>) {
    let begin = Instant::now();
    let mut attempt = message.attempt(indices[0]);
    let mut answers = Vec::with_capacity(indices.len());
    let mut seen = 0;
    for &index in &indices {
        if seen > 0 {
            attempt.restart(&message.puzzles[index]);
        }
        seen += 1;
        match first_slices(&mut attempt, &message.call) {
            Ok(answer) => answers.push((index, answer)),
            Err(Unsolved::Over) => return,
            Err(Unsolved::Hard) => {
                let message = Arc::clone(&message);
                rest.push(Work::Hard { message, index });
            }
        }
        if begin.elapsed() >= TURN {
            break;
        }
    }
    message.fill(answers);
    if seen < indices.len() {
        let indices = indices[seen..].to_vec();
        rest.push(Work::Unit { message, indices });
    }
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
fn search(message: Arc<Message>, index: usize, mut attempt: Box<Attempt>, rest: &mut Vec<Work>) {
    let begin = Instant::now();
    loop {
        if let Some(answer) = attempt.slice() {
            return message.fill([(index, answer)]);
        }
        let now = Instant::now();
        if message.call.is_over(now) {
            return;
        }
        if now - begin >= TURN {
            break;
        }
    }
    rest.push(Work::Search {
        message,
        index,
        attempt,
    });
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use sudoku_engine::{Grid, Solution};
    use tokio::sync::oneshot;

    use super::super::Ticket;
    use super::super::schedule::Schedule;
    use super::*;
    use crate::options::Options;
    use crate::search::Outcome;

    const UNIQUE: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";

    /// Rated among the hardest that people solve.
    const EVIL: &str = "98.7..6..75..4......3..8.7.5....7.3...94.........2.1..3.......1.9...5.8...52....6";

    fn options(solution_limit: u32, time_limit: Duration) -> Options {
        Options {
            solution_limit,
            time_limit,
            omit_solutions: true,
        }
    }

    fn call(deadline: Option<Instant>) -> Arc<Call> {
        let schedule = Schedule::<Work>::new(NonZeroUsize::MIN);
        Arc::new(Call::new(schedule.open(), Isa::detect(), deadline))
    }

    fn message(call: &Arc<Call>, puzzles: Vec<Grid>, options: Options) -> (Vec<Work>, Ticket) {
        Message::submit(call, puzzles, options)
    }

    fn grid(line: &str) -> Grid {
        Grid::from_line(line).unwrap()
    }

    /// Puzzles with no solution, found at once: answers that differ from those of hard ones.
    fn easy() -> Grid {
        grid(&format!("11{}", ".".repeat(79)))
    }

    /// Does all the work, the last piece first.
    fn do_all(mut work: Vec<Work>) {
        let mut solver = Solver::new(Isa::detect());
        loop {
            if let Some(task) = work.pop() {
                solver.turn(task, &mut work);
            } else if solver.is_idle() {
                return;
            }
            solver.advance(&mut work);
        }
    }

    #[test]
    fn the_answers_come_in_the_order_of_the_puzzles() {
        let mut puzzles = vec![easy(); 100];
        for index in [0, 31, 32, 57, 99] {
            puzzles[index] = Grid::EMPTY;
        }
        let options = options(u32::MAX, Duration::from_millis(1));
        let (work, mut ticket) = message(&call(None), puzzles.clone(), options);
        assert_eq!(work.len(), 4);
        do_all(work);
        let answers = ticket.try_recv().unwrap();
        assert_eq!(answers.len(), 100);
        for (answer, puzzle) in answers.iter().zip(&puzzles) {
            let expected = match *puzzle == Grid::EMPTY {
                true => Outcome::Undecided,
                false => Outcome::Unsolvable,
            };
            assert_eq!(answer.outcome, expected);
        }
    }

    #[test]
    fn both_engines_say_the_same() {
        let puzzles = [grid(UNIQUE), easy(), Grid::EMPTY];
        for (limit, expected) in [
            (1, [Outcome::Solved, Outcome::Unsolvable, Outcome::Solved]),
            (2, [Outcome::Unique, Outcome::Unsolvable, Outcome::Multiple]),
        ] {
            for count in [1, 5, 100, 1_000] {
                let options = Options {
                    omit_solutions: false,
                    ..options(limit, Duration::from_secs(60))
                };
                let puzzles: Vec<Grid> = puzzles.iter().copied().cycle().take(count).collect();
                let (work, mut ticket) = message(&call(None), puzzles.clone(), options);
                do_all(work);
                let answers = ticket.try_recv().unwrap();
                assert_eq!(answers.len(), count);
                for (index, answer) in answers.iter().enumerate() {
                    assert_eq!(answer.outcome, expected[index % 3], "{index} of {count}");
                    assert_eq!(answer.solutions.len(), answer.count as usize);
                    for solution in &answer.solutions {
                        assert_eq!(
                            Solution::check(&puzzles[index], solution.grid()).as_ref(),
                            Ok(solution)
                        );
                    }
                    let conflicts = if index % 3 == 1 { 2 } else { 0 };
                    assert_eq!(answer.conflicts.len(), conflicts, "{index} of {count}");
                }
            }
        }
    }

    #[test]
    fn messages_share_an_engine() {
        let mut solver = Solver::new(Isa::detect());
        let (first, second) = (call(None), call(None));
        let options = options(2, Duration::from_secs(60));
        let (work, mut ticket) = message(&first, vec![grid(UNIQUE); 200], options);
        let (more, mut other) = message(&second, vec![easy(); 40], options);
        let mut rest = Vec::new();
        for task in work.into_iter().chain(more) {
            solver.turn(task, &mut rest);
        }
        while !solver.is_idle() {
            solver.advance(&mut rest);
        }
        assert!(rest.is_empty());
        let outcome = |answers: Vec<Answer>| {
            answers
                .into_iter()
                .map(|answer| answer.outcome)
                .collect::<Vec<_>>()
        };
        assert_eq!(outcome(ticket.try_recv().unwrap()), [Outcome::Unique; 200]);
        assert_eq!(outcome(other.try_recv().unwrap()), [Outcome::Unsolvable; 40]);
    }

    #[test]
    fn a_time_limit_bounds_the_batch_engine_too() {
        let options = options(2, Duration::from_nanos(1));
        let (work, mut ticket) = message(&call(None), vec![grid(EVIL); 100], options);
        do_all(work);
        let answers = ticket.try_recv().unwrap();
        assert!(answers.iter().all(|answer| answer.outcome == Outcome::Undecided));
    }

    #[test]
    fn an_empty_message_is_answered_at_once() {
        let (work, mut ticket) = message(&call(None), Vec::new(), options(2, Duration::from_secs(1)));
        assert!(work.is_empty());
        assert_eq!(ticket.try_recv(), Ok(Vec::new()));
    }

    #[test]
    fn a_hard_puzzle_gives_way_in_turns() {
        let mut solver = Solver::new(Isa::detect());
        let options = options(u32::MAX, Duration::from_secs(3_600));
        let (mut work, _ticket) = message(&call(None), vec![Grid::EMPTY], options);
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
            for limit in [2, u32::MAX] {
                let puzzles = vec![Grid::EMPTY; 400];
                let options = options(limit, Duration::from_secs(3_600));
                let (work, mut ticket) = message(&call, puzzles, options);
                do_all(work);
                assert_eq!(ticket.try_recv(), Err(oneshot::error::TryRecvError::Closed));
            }
        }
    }

    #[test]
    fn a_call_that_ends_frees_the_engine() {
        let options = options(2, Duration::from_secs(60));
        // Before the engine has looked at the puzzles, and while it works on them.
        for slices in [0, 1] {
            let mut solver = Solver::new(Isa::detect());
            let call = call(None);
            let (work, mut ticket) = message(&call, vec![grid(EVIL); 700], options);
            let mut rest = Vec::new();
            for task in work {
                solver.turn(task, &mut rest);
            }
            for _ in 0..slices {
                solver.advance(&mut rest);
            }
            assert!(!solver.is_idle());
            call.stop();
            solver.advance(&mut rest);
            assert!(solver.is_idle() && rest.is_empty());
            assert_eq!(ticket.try_recv(), Err(oneshot::error::TryRecvError::Closed));
        }
    }

    #[test]
    fn after_a_panic_the_engine_is_a_new_one() {
        let mut solver = Solver::new(Isa::detect());
        let options = options(2, Duration::from_secs(60));
        let give = |solver: &mut Solver| {
            let (work, ticket) = message(&call(None), vec![grid(UNIQUE); 100], options);
            for task in work {
                solver.turn(task, &mut Vec::new());
            }
            ticket
        };
        let mut lost = give(&mut solver);
        solver.reset();
        assert!(solver.is_idle());
        assert!(matches!(
            lost.try_recv(),
            Err(oneshot::error::TryRecvError::Closed)
        ));

        let mut next = give(&mut solver);
        while !solver.is_idle() {
            solver.advance(&mut Vec::new());
        }
        assert_eq!(next.try_recv().unwrap().len(), 100);
    }
}
