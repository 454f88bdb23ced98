//! Which of many like events have a line in the log.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How many have a line within [`PERIOD`]. A flood of them would fill the disk, and hide the rest.
const MOST_LINES: u32 = 10;
const PERIOD: Duration = Duration::from_secs(1);

/// Counts the lines about events of a kind.
#[derive(Debug)]
pub(crate) struct Sample(Mutex<Window>);

#[derive(Debug)]
struct Window {
    begin: Instant,
    lines: u32,
    left_out: u64,
}

impl Sample {
    pub fn new() -> Self {
        Self(Mutex::new(Window {
            begin: Instant::now(),
            lines: 0,
            left_out: 0,
        }))
    }

    /// Whether there may be a line now, and how many had none since the last.
    pub fn line(&self, now: Instant) -> Option<u64> {
        let mut window = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if now.saturating_duration_since(window.begin) >= PERIOD {
            window.begin = now;
            window.lines = 0;
        }
        if window.lines == MOST_LINES {
            window.left_out += 1;
            return None;
        }
        window.lines += 1;
        Some(std::mem::take(&mut window.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_has_few_lines_and_then_a_count() {
        let sample = Sample::new();
        let now = Instant::now();
        for _ in 0..MOST_LINES {
            assert_eq!(sample.line(now), Some(0));
        }
        for _ in 0..100 {
            assert_eq!(sample.line(now), None);
        }
        assert_eq!(sample.line(now + PERIOD), Some(100));
        assert_eq!(sample.line(now + PERIOD), Some(0));
    }
}
