//! What a turn of the pool does: a unit of puzzles at first sight, or a part of one hard puzzle's search.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sudoku_engine::{Grid, Isa};
use tokio::sync::oneshot;

use super::Ticket;
use super::schedule::{Stage, Task};
use crate::options::Options;
use crate::search::{Answer, Attempt};

/// How many puzzles a thread takes at a time.
const UNIT_PUZZLES: usize = 32;

/// How many slices a puzzle gets at first sight. What takes more is hard, and starts anew: so rarely that it costs little.
const FIRST_SLICES: u32 = 20;

/// After how long a turn ends, at the next slice or puzzle.
const TURN: Duration = Duration::from_micros(400);

/// The call that work is done for, and whether it is still wanted.
#[derive(Debug)]
pub(super) struct Call {
    stopped: AtomicBool,
    deadline: Option<Instant>,
}

impl Call {
    pub fn new(deadline: Option<Instant>) -> Self {
        Self {
            stopped: AtomicBool::new(false),
            deadline,
        }
    }

    /// Tells the threads that nobody wants the answers any more.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    fn is_over(&self, now: Instant) -> bool {
        self.stopped.load(Ordering::Relaxed) || self.deadline.is_some_and(|deadline| now >= deadline)
    }
}

/// A message of puzzles. It lives as long as there is work left on it, so when all of that is dropped, the sender is
/// dropped with it and the ticket ends in an error.
#[derive(Debug)]
pub(super) struct Message {
    call: Arc<Call>,
    puzzles: Vec<Grid>,
    options: Options,
    isa: Isa,
    answers: Mutex<Answers>,
}

#[derive(Debug)]
struct Answers {
    list: Vec<Option<Answer>>,
    missing: usize,
    ready: Option<oneshot::Sender<Vec<Answer>>>,
}

/// A piece of work on a message.
#[derive(Debug)]
pub(super) enum Work {
    /// Puzzles not looked at yet.
    Unit {
        message: Arc<Message>,
        range: Range<usize>,
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

/// The work on a new message, and the ticket for its answers.
pub(super) fn message(
    call: &Arc<Call>,
    puzzles: Vec<Grid>,
    options: Options,
    isa: Isa,
) -> (Vec<Work>, Ticket) {
    let (sender, ticket) = oneshot::channel();
    let count = puzzles.len();
    if count == 0 {
        // It can only fail if the ticket is gone, and it is still here.
        let _ = sender.send(Vec::new());
        return (Vec::new(), ticket);
    }
    let message = Arc::new(Message {
        call: Arc::clone(call),
        puzzles,
        options,
        isa,
        answers: Mutex::new(Answers {
            list: vec![None; count],
            missing: count,
            ready: Some(sender),
        }),
    });
    let unit = |start| Work::Unit {
        message: Arc::clone(&message),
        range: start..count.min(start + UNIT_PUZZLES),
    };
    ((0..count).step_by(UNIT_PUZZLES).map(unit).collect(), ticket)
}

impl Message {
    fn attempt(&self, index: usize) -> Attempt {
        Attempt::new(&self.puzzles[index], self.options, self.isa)
    }

    /// Takes in the answers from `start` on. The last one sends them all off.
    fn fill(&self, start: usize, answers: Vec<Option<Answer>>) {
        let mut all = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let all = &mut *all;
        for (place, answer) in all.list.iter_mut().skip(start).zip(answers) {
            if answer.is_some() {
                *place = answer;
                all.missing -= 1;
            }
        }
        if all.missing == 0
            && let Some(ready) = all.ready.take()
        {
            let list = std::mem::take(&mut all.list);
            // It fails if the stream is gone, and then nobody minds.
            let _ = ready.send(list.into_iter().flatten().collect());
        }
    }
}

impl Task for Work {
    fn turn(self, rest: &mut Vec<Self>) {
        match self {
            Self::Unit { message, range } => unit(message, range, rest),
            Self::Hard { message, index } => {
                let attempt = Box::new(message.attempt(index));
                search(message, index, attempt, rest);
            }
            Self::Search {
                message,
                index,
                attempt,
            } => search(message, index, attempt, rest),
        }
    }

    fn stage(&self) -> Stage {
        match self {
            Self::Unit { .. } => Stage::New,
            Self::Hard { .. } => Stage::Hard,
            Self::Search { .. } => Stage::Begun,
        }
    }
}

/// Looks at the puzzles of `range`, each for its first slices, until the turn is over.
fn unit(message: Arc<Message>, range: Range<usize>, rest: &mut Vec<Work>) {
    let begin = Instant::now();
    let mut attempt = message.attempt(range.start);
    let mut answers = Vec::with_capacity(range.len());
    for index in range.clone() {
        if index > range.start {
            attempt.restart(&message.puzzles[index]);
        }
        match first_slices(&mut attempt, &message.call) {
            Ok(answer) => answers.push(Some(answer)),
            Err(Unsolved::Over) => return,
            Err(Unsolved::Hard) => {
                answers.push(None);
                let message = Arc::clone(&message);
                rest.push(Work::Hard { message, index });
            }
        }
        if begin.elapsed() >= TURN {
            break;
        }
    }
    let next = range.start + answers.len();
    message.fill(range.start, answers);
    if next < range.end {
        let range = next..range.end;
        rest.push(Work::Unit { message, range });
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
            return message.fill(index, vec![Some(answer)]);
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
    use super::*;
    use crate::search::Outcome;

    fn call() -> Arc<Call> {
        Arc::new(Call::new(None))
    }

    fn options(time_limit: Duration) -> Options {
        Options {
            solution_limit: u32::MAX,
            time_limit,
            omit_solutions: true,
        }
    }

    fn message(call: &Arc<Call>, puzzles: Vec<Grid>, options: Options) -> (Vec<Work>, Ticket) {
        super::message(call, puzzles, options, Isa::detect())
    }

    /// Puzzles with no solution, found at once: answers that differ from those of hard ones.
    fn easy() -> Grid {
        Grid::from_line(&format!("11{}", ".".repeat(79))).unwrap()
    }

    /// Does all the work, the last piece first.
    fn do_all(mut work: Vec<Work>) {
        while let Some(task) = work.pop() {
            task.turn(&mut work);
        }
    }

    #[test]
    fn the_answers_come_in_the_order_of_the_puzzles() {
        let mut puzzles = vec![easy(); 100];
        for index in [0, 31, 32, 57, 99] {
            puzzles[index] = Grid::EMPTY;
        }
        let (work, mut ticket) = message(&call(), puzzles.clone(), options(Duration::from_millis(1)));
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
    fn an_empty_message_is_answered_at_once() {
        let (work, mut ticket) = message(&call(), Vec::new(), options(Duration::from_secs(1)));
        assert!(work.is_empty());
        assert_eq!(ticket.try_recv(), Ok(Vec::new()));
    }

    #[test]
    fn a_hard_puzzle_gives_way_in_turns() {
        let (mut work, _ticket) = message(&call(), vec![Grid::EMPTY], options(Duration::from_secs(3_600)));
        let stage = |work: &[Work]| work.iter().map(Work::stage).collect::<Vec<_>>();
        for expected in [Stage::New, Stage::Hard, Stage::Begun, Stage::Begun] {
            assert_eq!(stage(&work), [expected]);
            let task = work.pop().unwrap();
            task.turn(&mut work);
        }
    }

    #[test]
    fn work_for_a_call_that_is_over_is_dropped() {
        let stopped = call();
        stopped.stop();
        let late = Arc::new(Call::new(Some(Instant::now())));
        for call in [stopped, late] {
            let puzzles = vec![Grid::EMPTY; 40];
            let (work, mut ticket) = message(&call, puzzles, options(Duration::from_secs(3_600)));
            do_all(work);
            assert_eq!(ticket.try_recv(), Err(oneshot::error::TryRecvError::Closed));
        }
    }
}
