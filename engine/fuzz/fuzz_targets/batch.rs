//! The batch engine on any instruction set: puzzles in any order and company, in messages of any size with any options,
//! some of them cancelled, against the single engine.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use sudoku_engine::batch::{Batch, Engine, Limit, Options, Outcome};
use sudoku_engine::{Grid, Isa};
use sudoku_engine_fuzz::{Puzzle, Truth, stream};

#[derive(Debug, Arbitrary)]
struct Input {
    /// Which instruction set it runs on.
    isa: u8,
    /// What happens to the engine, in this order.
    actions: Vec<Action>,
    puzzles: Vec<Puzzle>,
    /// With fewer puzzles at hand, an idle engine leaves them open.
    least: u8,
}

#[derive(Debug, Arbitrary)]
enum Action {
    /// Hands over a message of `size` puzzles, taken over and over from those there are.
    Submit {
        size: u16,
        budget: u8,
        is_one: bool,
        omit: bool,
    },
    Run {
        sweeps: u8,
    },
    /// Takes back one of the last few messages handed over.
    Cancel {
        back: u8,
    },
}

/// No more puzzles in a message, messages, or kinds of puzzles: a run should take milliseconds.
const SIZE: u16 = 300;
const MESSAGES: usize = 6;
const PUZZLES: usize = 20;

fuzz_target!(|input: Input| {
    let puzzles: Vec<Grid> = input
        .puzzles
        .iter()
        .take(PUZZLES)
        .map(|puzzle| puzzle.0)
        .collect();
    if puzzles.is_empty() {
        return;
    }
    let truths: Vec<Truth> = puzzles
        .iter()
        .map(|puzzle| Truth::find(puzzle, Isa::detect(), u32::MAX))
        .collect();
    let isas: Vec<Isa> = Isa::available().collect();
    let isa = isas[usize::from(input.isa) % isas.len()];
    let mut run = Run {
        engine: Engine::new(isa, MESSAGES).starting_with(input.least.into()),
        puzzles: &puzzles,
        truths: &truths,
        next: Vec::new(),
        idle: Vec::new(),
        inside: 0,
    };
    for action in input.actions.iter().take(4 * MESSAGES) {
        run.act(action);
    }
    run.finish();
});

/// An engine at work.
struct Run<'a> {
    engine: Engine,
    puzzles: &'a [Grid],
    truths: &'a [Truth],
    /// For each message handed over, which puzzle its first one is. Its place is its key.
    next: Vec<usize>,
    /// Messages that came back, to be used again: what they held must not show.
    idle: Vec<Batch>,
    /// The messages in the engine.
    inside: usize,
}

impl Run<'_> {
    fn act(&mut self, action: &Action) {
        match *action {
            Action::Submit {
                size,
                budget,
                is_one,
                omit,
            } => {
                let limit = if is_one { Limit::One } else { Limit::Two };
                // From none at all to more than what a search for the truth may take.
                let budget = (1_u32 << (budget % 14)) - 1;
                self.submit(
                    usize::from(size % (SIZE + 1)),
                    Options {
                        limit,
                        omit_solutions: omit,
                        budget,
                    },
                );
            }
            Action::Run { sweeps } => {
                // Most messages are done after a few tens of them.
                self.engine.run(u32::from(sweeps % 32));
                self.collect();
            }
            Action::Cancel { back } => {
                let recent = self.next.len().min(MESSAGES);
                let Some(back) = usize::from(back).checked_rem(recent) else {
                    return;
                };
                let key = self.next.len() - 1 - back;
                if let Some(batch) = self.engine.cancel(key as u64) {
                    assert_eq!(batch.key(), key as u64);
                    self.take(batch);
                }
            }
        }
    }

    fn submit(&mut self, size: usize, options: Options) {
        let first = self.next.len() % self.puzzles.len();
        let puzzles = self
            .puzzles
            .iter()
            .cycle()
            .skip(first)
            .take(size)
            .copied()
            .collect();
        let message = self.message(puzzles, options);
        let result = self.engine.submit(message);
        assert_eq!(
            result.is_err(),
            self.inside == MESSAGES,
            "it holds as many as it says"
        );
        if result.is_ok() {
            self.next.push(first);
            self.inside += 1;
        }
    }

    /// A message, one used before if there is one, whatever its options were.
    fn message(&mut self, puzzles: Vec<Grid>, options: Options) -> Batch {
        let key = self.next.len() as u64;
        let Some(mut batch) = self.idle.pop() else {
            return Batch::new(key, puzzles, options);
        };
        batch.clear(key, options);
        puzzles.into_iter().for_each(|puzzle| batch.push(puzzle));
        batch
    }

    /// Runs until all messages are back. Every puzzle has a budget, so that takes a bounded number of sweeps.
    fn finish(mut self) {
        let mut sweeps = 0_u64;
        while self.inside > 0 {
            let done = self.engine.run(100);
            sweeps += u64::from(done);
            self.collect();
            assert!(done > 0 || self.inside == 0, "idle, with messages missing");
            assert!(
                sweeps < 5_000_000,
                "{} messages missing after {sweeps} sweeps",
                self.inside
            );
        }
        assert!(self.engine.is_idle() && self.engine.finished().is_none());
        assert_eq!(self.engine.run(1), 0);
    }

    fn collect(&mut self) {
        while let Some(batch) = self.engine.finished() {
            self.take(batch);
        }
    }

    /// Holds a message that came back against the truth.
    fn take(&mut self, batch: Batch) {
        self.inside -= 1;
        let first = self.next[batch.key() as usize];
        for (index, puzzle) in batch.puzzles().iter().enumerate() {
            let place = (first + index) % self.puzzles.len();
            assert_eq!(*puzzle, self.puzzles[place]);
            check(&batch, index, &self.truths[place]);
        }
        assert_eq!(batch.outcome(batch.puzzles().len()), None);
        self.idle.push(batch);
    }
}

fn check(batch: &Batch, index: usize, truth: &Truth) {
    let puzzle = &batch.puzzles()[index];
    let (outcome, found) = stream::answer(batch, index);
    // What the outcome says about the number of solutions.
    let possible = match outcome {
        Outcome::Open => 0..=2,
        Outcome::Unsolvable => 0..=0,
        Outcome::Solved => 1..=2,
        Outcome::Unique => 1..=1,
        Outcome::Multiple => 2..=2,
    };
    let known = truth.solutions.len();
    if truth.is_certain {
        assert!(
            possible.contains(&known),
            "{puzzle}: {outcome:?}, and it has {known}"
        );
    } else {
        assert!(
            *possible.end() >= known,
            "{puzzle}: {outcome:?}, and it has {known} at least"
        );
    }
    if outcome == Outcome::Unique && !found.is_empty() && truth.is_certain {
        assert_eq!(found, truth.solutions, "{puzzle}");
    }
}
