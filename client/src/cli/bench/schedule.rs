//! When each puzzle is due.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How late a timer may be: it knows no less than a millisecond. What is later was held up by something else.
const TIMER: Duration = Duration::from_millis(2);

/// Hands out the puzzles to be sent, by number, shared by all that send.
#[derive(Debug)]
pub struct Schedule {
    start: Instant,
    /// The time from one puzzle to the next, where there is a rate.
    interval: Option<f64>,
    end: Option<Instant>,
    count: u64,
    next: AtomicU64,
    sent: AtomicU64,
}

/// A puzzle to be sent.
#[derive(Debug, Clone, Copy)]
pub struct Turn {
    pub number: u64,
    /// When it is to be sent. `None` for as soon as possible.
    pub due: Option<Instant>,
}

/// The times of a puzzle that is sent now.
#[derive(Debug, Clone, Copy)]
pub struct Start {
    /// From when its latency counts.
    pub due: Instant,
    /// When it was sent.
    pub sent: Instant,
}

impl Schedule {
    /// A schedule that starts now: so many puzzles a second, for so long, and so many in all.
    pub fn start(rate: Option<f64>, duration: Option<Duration>, count: Option<u64>) -> Self {
        let start = Instant::now();
        Self {
            start,
            interval: rate.map(f64::recip),
            end: duration.and_then(|duration| start.checked_add(duration)),
            count: count.unwrap_or(u64::MAX),
            next: AtomicU64::new(0),
            sent: AtomicU64::new(0),
        }
    }

    /// The next puzzle. `None` when no more are to be sent.
    pub fn take(&self) -> Option<Turn> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        if number >= self.count {
            return None;
        }
        let due = match self.interval {
            None => None,
            Some(interval) => Some(
                self.start
                    .checked_add(Duration::try_from_secs_f64(number as f64 * interval).ok()?)?,
            ),
        };
        (!self.is_over(due.unwrap_or_else(Instant::now))).then_some(Turn { number, due })
    }

    /// Whether nothing is sent any more at `now`.
    pub fn is_over(&self, now: Instant) -> bool {
        self.end.is_some_and(|end| now >= end)
    }

    /// Notes that a puzzle is sent now. `None` where it is too late for that.
    ///
    /// One that waited for its time counts from when it was sent, so that a timer which is a little late is not taken for
    /// latency. One that could not be sent in time counts from when it was due.
    pub fn send(&self, turn: Turn) -> Option<Start> {
        let sent = Instant::now();
        if self.is_over(sent) {
            return None;
        }
        self.sent.fetch_add(1, Ordering::Relaxed);
        let due = match turn.due {
            Some(due) if sent.saturating_duration_since(due) > TIMER => due,
            _ => sent,
        };
        Some(Start { due, sent })
    }

    /// How many puzzles were due before `now` and have not been sent, because answers did not come.
    pub fn unsent(&self, now: Instant) -> u64 {
        let Some(interval) = self.interval else {
            return 0;
        };
        let until = self.end.map_or(now, |end| end.min(now));
        let due = until.saturating_duration_since(self.start).as_secs_f64() / interval;
        let due = (due.ceil() as u64).min(self.count);
        due.saturating_sub(self.sent.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_due_at_the_rate_until_the_end() {
        let schedule = Schedule::start(Some(100.0), Some(Duration::from_millis(25)), None);
        let due: Vec<_> = std::iter::from_fn(|| schedule.take())
            .map(|turn| (turn.due.unwrap() - schedule.start).as_millis())
            .collect();
        assert_eq!(due, [0, 10, 20]);
        assert!(schedule.take().is_none());
        assert_eq!(
            schedule.unsent(schedule.start + Duration::from_secs(60)),
            3,
            "nothing was sent"
        );
    }

    #[test]
    fn a_count_bounds_what_is_sent() {
        let schedule = Schedule::start(None, None, Some(3));
        let numbers: Vec<_> = std::iter::from_fn(|| schedule.take())
            .map(|turn| turn.number)
            .collect();
        assert_eq!(numbers, [0, 1, 2]);
        assert_eq!(
            schedule.unsent(Instant::now()),
            0,
            "without a rate nothing is due"
        );
    }

    #[test]
    fn what_was_held_up_counts_from_when_it_was_due() {
        let schedule = Schedule::start(Some(1.0), None, None);
        let turn = |ago| Turn {
            number: 0,
            due: Some(Instant::now() - ago),
        };
        let held_up = turn(Duration::from_secs(3));
        assert_eq!(schedule.send(held_up).unwrap().due, held_up.due.unwrap());
        let start = schedule.send(turn(Duration::from_micros(1))).unwrap();
        assert_eq!(start.due, start.sent);
    }

    #[test]
    fn nothing_is_sent_after_the_end() {
        let schedule = Schedule::start(None, Some(Duration::ZERO), None);
        let turn = Turn { number: 0, due: None };
        assert!(schedule.send(turn).is_none());
    }
}
