//! The messages of a stream that are taken and not answered yet.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::Context;
use std::time::Instant;

use sudoku_engine::{Grid, GridError};
use sudoku_proto::wire::Puzzles;

use super::answers::Answers;
use super::window::Window;
use crate::error::Error;
use crate::metrics::{Metrics, Tally};
use crate::options::Options;
use crate::pool::{Lane, Lost};
use crate::reply::Results;
use crate::service::Service;
use crate::settings::Limits;
use crate::traces::{MessageSpan, MessageTraces};

/// How many puzzles a stream may have in flight in more than one message, for each worker, if no others have some waiting.
/// It is a multiple of what keeps a worker busy: what waits longer is out of the caches when its turn comes, and so are its
/// answers when they leave. One that may have more than two solutions counts for more, as its answer may.
const MOST_PUZZLES: usize = 8_192;

/// The messages in flight, the oldest first.
#[derive(Debug)]
pub(super) struct InFlight {
    limits: Limits,
    lane: Lane,
    window: Window,
    messages: VecDeque<Message>,
    /// The number of the first puzzle that is not answered.
    next_puzzle: u64,
    /// How many were taken: the number of the next one.
    taken: u64,
    /// What all of them weigh.
    weight: usize,
    metrics: Arc<Metrics>,
    /// Makes spans for messages, where the call has one.
    traces: Option<MessageTraces>,
    /// What was not told to the metrics yet.
    tally: Tally,
}

/// A message that is not answered yet. It is small, and what few have is kept apart, since there may be one a puzzle.
#[derive(Debug)]
struct Message {
    /// The number of the puzzle after its last one, among those of the stream.
    end: u64,
    rare: Option<Box<Rare>>,
}

/// What few messages have.
#[derive(Debug)]
struct Rare {
    /// The strings of the message that are no puzzles, with their indices, ascending.
    invalid: Vec<(usize, GridError)>,
    /// What it weighs, where that is not the number of its puzzles.
    weight: usize,
    span: Option<Box<MessageSpan>>,
}

/// What [`InFlight::answer`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answered {
    /// The oldest message is answered.
    One,
    /// It cannot be yet.
    NotYet,
    /// There is none.
    All,
}

impl InFlight {
    pub fn new(service: &Service, deadline: Option<Instant>, traces: Option<MessageTraces>) -> Self {
        Self {
            limits: service.settings.limits.clone(),
            lane: service.pool.lane(deadline),
            window: Window::new(
                service.settings.messages_per_stream,
                Arc::clone(&service.shared_messages),
                Arc::clone(&service.messages),
            ),
            messages: VecDeque::new(),
            next_puzzle: 0,
            taken: 0,
            weight: 0,
            metrics: Arc::clone(&service.metrics),
            traces,
            tally: Tally::default(),
        }
    }

    /// How many messages were taken.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Whether there is less than half of what there may be.
    pub fn runs_low(&self) -> bool {
        2 * self.messages.len() < self.window.size() && 2 * self.weight < self.lane.share_of(MOST_PUZZLES)
    }

    /// Whether there is room for a further message.
    pub fn has_room(&mut self) -> bool {
        self.weight < self.lane.share_of(MOST_PUZZLES) && self.window.has_room()
    }

    /// Takes a message, for which there is room. Gives the number of its puzzles.
    pub fn take(&mut self, message: &Puzzles<'_>) -> Result<usize, Error> {
        let count = message.len();
        let limit = self.limits.max_puzzles_per_message;
        if count > limit as usize {
            return Err(Error::TooManyPuzzles {
                received: count,
                limit,
            });
        }
        let options = Options::read(message.options(), count, &self.limits)?;
        let first = self.lane.next_puzzle();
        let mut invalid = Vec::new();
        let mut lines = message.lines();
        while let Some(line) = self.lane.put(options, &mut lines) {
            let index = count - lines.len() - 1;
            invalid.extend(grid_error(line).map(|error| (index, error)));
        }
        self.window.take();
        self.tally.received += 1;
        let weight = weight(options, count);
        self.weight += weight;
        let span = (self.traces.as_ref()).and_then(|traces| traces.begin(self.taken, count));
        let end = self.lane.next_puzzle();
        let plain = invalid.is_empty() && span.is_none() && weight as u64 == end - first;
        let rare = (!plain).then(|| {
            Box::new(Rare {
                invalid,
                weight,
                span,
            })
        });
        self.messages.push_back(Message { end, rare });
        self.taken += 1;
        Ok(count)
    }

    /// Takes in what is solved. The task of `cx` is woken when there is more.
    pub fn receive(&mut self, cx: &mut Context<'_>) {
        self.lane.receive(cx);
    }

    /// Gives the messages taken to the workers, and tells others what they have to know.
    pub fn send(&mut self) {
        self.lane.send();
        self.window.settle();
        self.metrics.add(&mut self.tally);
    }

    /// Answers the oldest message, if it is solved.
    ///
    /// # Errors
    ///
    /// There will be no answer to it.
    pub fn answer(&mut self, answers: &mut Answers) -> Result<Answered, Lost> {
        let Some(oldest) = self.messages.front() else {
            return Ok(Answered::All);
        };
        let puzzles = self.next_puzzle..oldest.end;
        if !self.lane.is_solved(&puzzles)? {
            return Ok(Answered::NotYet);
        }
        let count = (puzzles.end - puzzles.start) as usize;
        let invalid = oldest.rare.as_ref().map_or(&[][..], |rare| &rare.invalid);
        if answers.is_empty() {
            answers.expect(self.lane.count_whole(self.next_puzzle));
        }
        answers.add(count + invalid.len(), |writer| {
            let mut results = Results::new(writer, invalid, &mut self.tally);
            self.lane.for_each_solved(&puzzles, |solved| results.add(solved));
            results.end();
        })?;
        self.tally.sent += 1;
        self.lane.forget(puzzles.end);
        self.window.give_back(1);
        self.next_puzzle = puzzles.end;
        let rare = self.messages.pop_front().and_then(|answered| answered.rare);
        self.weight -= rare.as_ref().map_or(count, |rare| rare.weight);
        if let Some(span) = rare.and_then(|rare| rare.span) {
            span.answered();
        }
        Ok(Answered::One)
    }

    /// Gives up on all that is not answered.
    pub fn drop_all(&mut self) {
        self.window.give_back(self.messages.len());
        self.messages.clear();
        self.weight = 0;
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.metrics.add(&mut self.tally);
    }
}

/// What a message counts for in [`MOST_PUZZLES`].
fn weight(options: Options, puzzles: usize) -> usize {
    match options.solution_limit as usize {
        limit @ 3.. if !options.omit_solutions => puzzles.saturating_mul(limit) / 2,
        _ => puzzles,
    }
}

/// What is wrong with a line that is no puzzle.
fn grid_error(line: &[u8]) -> Option<GridError> {
    Grid::from_line(str::from_utf8(line).ok()?).err()
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;
    use std::task::Waker;
    use std::thread;
    use std::time::Duration;

    use prost::Message as _;
    use sudoku_proto::v1::{SolveManyRequest, SolveOptions};

    use super::*;
    use crate::packing::Packing;
    use crate::settings::Settings;

    #[test]
    fn a_message_weighs_as_much_as_its_answer_may() {
        let weight = |solution_limit, omit_solutions| {
            let options = Options {
                solution_limit,
                time_limit: Duration::from_secs(1),
                omit_solutions,
            };
            weight(options, 1_000)
        };
        for limit in [1, 2] {
            assert_eq!(weight(limit, false), 1_000);
        }
        assert_eq!(weight(10, false), 5_000);
        assert_eq!(weight(10, true), 1_000);
    }

    /// Answers all that is taken.
    fn answer_all(in_flight: &mut InFlight) {
        let mut answers = Answers::new(Packing::None);
        let begin = Instant::now();
        loop {
            in_flight.receive(&mut Context::from_waker(Waker::noop()));
            match in_flight.answer(&mut answers) {
                Ok(Answered::All) => return,
                Ok(Answered::One) => assert!(!answers.take().is_empty()),
                Ok(Answered::NotYet) => thread::yield_now(),
                Err(Lost) => panic!("there is no answer"),
            }
            assert!(begin.elapsed() < Duration::from_secs(30), "waited in vain");
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn nothing_is_left_of_what_is_answered() {
        let puzzle = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
        let service = Service::new(Settings::default()).unwrap();
        let mut in_flight = InFlight::new(&service, None, None);
        for (count, solution_limit) in [(600, 2), (100, 100), (0, 1)] {
            let options = SolveOptions {
                solution_limit,
                ..SolveOptions::default()
            };
            let message = SolveManyRequest {
                puzzles: vec![puzzle.to_owned(); count],
                options: Some(options),
            };
            let message = message.encode_to_vec();
            assert!(in_flight.has_room());
            in_flight.take(&Puzzles::read(&message).unwrap()).unwrap();
            in_flight.send();
            assert_eq!(service.load().messages, 1);
            answer_all(&mut in_flight);
            in_flight.send();
            assert_eq!(service.load().messages, 0);
            assert_eq!((in_flight.weight, in_flight.lane.known_parts()), (0, 0));
        }
    }

    /// Takes messages of 256 puzzles as long as there is room, and gives how many there was room for.
    fn fill(in_flight: &mut InFlight) -> usize {
        let message = SolveManyRequest {
            puzzles: vec![".".repeat(81); 256],
            options: None,
        };
        let message = message.encode_to_vec();
        while in_flight.has_room() {
            in_flight.take(&Puzzles::read(&message).unwrap()).unwrap();
            in_flight.send();
        }
        in_flight.messages.len()
    }

    /// The workers are tasks of this test's thread, and so do nothing while it does not wait.
    #[tokio::test]
    async fn streams_that_wait_share_what_one_alone_may_have() {
        let settings = Settings {
            threads: NonZeroUsize::MIN,
            ..Settings::default()
        };
        let service = Service::new(settings).unwrap();
        let mut streams: Vec<_> = (0..30).map(|_| InFlight::new(&service, None, None)).collect();
        let filled: Vec<_> = streams.iter_mut().map(fill).collect();
        assert_eq!(filled[0], MOST_PUZZLES / 256);
        assert_eq!(filled[3], MOST_PUZZLES / 4 / 256);
        assert_eq!(filled[29], 2);
    }
}
