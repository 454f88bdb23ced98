//! Sends puzzles and waits for answers.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use sudoku_client::{SudokuClient, Transport};
use sudoku_engine::Grid;
use tokio::task::JoinSet;
use tokio::time::{Sleep, sleep, sleep_until};
use tokio_stream::{Stream, StreamExt};

use super::measured::Measured;
use super::schedule::{Schedule, Start, Turn};

/// How long whoever saw a call fail waits before the next, where no rate says so. A service that is gone is not to be
/// asked as fast as the machine can.
const AFTER_ERROR: Duration = Duration::from_millis(10);

/// What sends.
#[derive(Debug, Clone)]
pub struct Load<T> {
    pub client: SudokuClient<T>,
    pub puzzles: Arc<[Grid]>,
    pub schedule: Arc<Schedule>,
    pub measured: Arc<Measured>,
    pub timeout: Duration,
}

impl<T: Transport> Load<T> {
    /// Sends with so many calls or streams at once, until nothing is left to be sent and everything is answered.
    pub async fn run(self, stream: bool, concurrency: usize) {
        // Dropped with this, all are stopped.
        let mut senders = JoinSet::new();
        for index in 0..concurrency {
            let load = self.clone();
            match stream {
                true => senders.spawn(async move { load.streams(index).await }),
                false => senders.spawn(async move { load.calls(index).await }),
            };
        }
        while senders.join_next().await.is_some() {}
    }

    /// Makes one call after the other.
    async fn calls(self, index: usize) {
        let client = self.client.clone().with_deadline(self.timeout);
        while let Some(turn) = self.schedule.take() {
            if let Some(due) = turn.due {
                sleep_until(due.into()).await;
            }
            let Some(start) = self.schedule.send(turn) else {
                return;
            };
            match client.solve(&self.puzzle(turn)).await {
                Ok(outcome) => self.measured.answered(index, start, &outcome),
                Err(error) => {
                    self.measured.failed(&error);
                    self.rest().await;
                }
            }
        }
    }

    /// Sends one stream after the other, of which all but the last have failed.
    async fn streams(self, index: usize) {
        while !self.schedule.is_over(std::time::Instant::now()) {
            let sent = Arc::new(Sent::default());
            let mut outcomes = self.client.solve_many(Paced {
                load: self.clone(),
                sent: Arc::clone(&sent),
                turn: None,
                sleep: None,
            });
            loop {
                match outcomes.next().await {
                    None => return,
                    Some(Ok(outcome)) => {
                        if let Some(start) = sent.take() {
                            self.measured.answered(index, start, &outcome);
                        }
                    }
                    Some(Err(error)) => {
                        self.measured.failed_with(&error, sent.left());
                        break;
                    }
                }
            }
            self.rest().await;
        }
    }

    async fn rest(&self) {
        sleep(AFTER_ERROR).await;
    }

    fn puzzle(&self, turn: Turn) -> Grid {
        let count = self.puzzles.len() as u64;
        self.puzzles[usize::try_from(turn.number % count).unwrap_or(0)]
    }
}

/// When the puzzles of a stream were sent that are not answered yet, in order.
#[derive(Debug, Default)]
struct Sent(Mutex<VecDeque<Start>>);

impl Sent {
    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<Start>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Option<Start> {
        self.lock().pop_front()
    }

    fn left(&self) -> u64 {
        self.lock().len() as u64
    }
}

/// The puzzles of a stream, each when it is due.
struct Paced<T> {
    load: Load<T>,
    sent: Arc<Sent>,
    /// The puzzle that waits for its time.
    turn: Option<Turn>,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl<T: Transport> Stream for Paced<T> {
    type Item = Grid;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Grid>> {
        let turn = match self.turn {
            Some(turn) => turn,
            None => match self.load.schedule.take() {
                Some(turn) => turn,
                None => return Poll::Ready(None),
            },
        };
        self.turn = Some(turn);
        if let Some(due) = turn.due {
            if self.sleep.is_none() && due > std::time::Instant::now() {
                self.sleep = Some(Box::pin(sleep_until(due.into())));
            }
            if let Some(sleep) = &mut self.sleep {
                ready!(sleep.as_mut().poll(cx));
            }
        }
        (self.turn, self.sleep) = (None, None);
        let Some(start) = self.load.schedule.send(turn) else {
            return Poll::Ready(None);
        };
        self.sent.lock().push_back(start);
        Poll::Ready(Some(self.load.puzzle(turn)))
    }
}
