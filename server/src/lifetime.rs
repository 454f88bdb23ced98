//! How long a connection lives: not without a client, not without calls, and not for ever.

use std::future::pending;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::time::sleep;

use crate::frames::Seen;
use crate::settings::Settings;

/// The calls of a connection.
#[derive(Debug)]
pub(crate) struct Activity {
    begin: Instant,
    open: AtomicUsize,
    /// When the last call ended, in milliseconds since the beginning.
    last: AtomicU64,
}

/// Counts a call as open until it is dropped.
#[derive(Debug)]
pub(crate) struct Active(Arc<Activity>);

impl Activity {
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            begin: Instant::now(),
            open: AtomicUsize::new(0),
            last: AtomicU64::new(0),
        })
    }

    pub fn enter(self: &Arc<Self>) -> Active {
        self.open.fetch_add(1, Ordering::Relaxed);
        Active(Arc::clone(self))
    }

    /// For how long there has been no call.
    fn idle(&self) -> Duration {
        if self.open.load(Ordering::Relaxed) > 0 {
            return Duration::ZERO;
        }
        let last = Duration::from_millis(self.last.load(Ordering::Relaxed));
        self.begin.elapsed().saturating_sub(last)
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        let now = self.0.begin.elapsed().as_millis() as u64;
        self.0.last.store(now, Ordering::Relaxed);
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Why a connection is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    /// The client does not take part in the protocol.
    HalfOpen,
    /// There was no call for too long.
    Idle,
    /// It has reached its age.
    Aged,
}

/// Waits until a connection is to end.
pub(crate) async fn over(seen: &Seen, activity: &Activity, settings: &Settings) -> Over {
    tokio::select! {
        () = half_open(seen, settings.handshake_timeout) => Over::HalfOpen,
        () = idle(activity, settings.max_connection_idle) => Over::Idle,
        () = sleep(spread(settings.max_connection_age, RandomState::new().hash_one(0))) => Over::Aged,
    }
}

async fn half_open(seen: &Seen, patience: Duration) {
    sleep(patience).await;
    if seen.settled() {
        pending().await
    }
}

async fn idle(activity: &Activity, most: Duration) {
    loop {
        let idle = activity.idle();
        match most.checked_sub(idle) {
            None | Some(Duration::ZERO) => return,
            Some(left) => sleep(left).await,
        }
    }
}

/// An age up to a tenth less, so that connections that began together do not end together.
fn spread(age: Duration, random: u64) -> Duration {
    age - age.mul_f64(0.1 * (random as f64 / u64::MAX as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_spread_over_a_tenth() {
        let age = Duration::from_secs(100);
        assert_eq!(spread(age, 0), age);
        assert_eq!(spread(age, u64::MAX), Duration::from_secs(90));
        let middle = spread(age, u64::MAX / 2);
        assert!(Duration::from_secs(94) < middle && middle < Duration::from_secs(96));
    }

    #[test]
    fn a_connection_with_a_call_is_not_idle() {
        let activity = Activity::new();
        let first = activity.enter();
        let second = activity.enter();
        drop(first);
        assert_eq!(activity.idle(), Duration::ZERO);
        drop(second);
        assert_eq!(activity.open.load(Ordering::Relaxed), 0);
    }
}
