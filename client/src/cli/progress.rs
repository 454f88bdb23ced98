//! A progress bar on standard error, for long work.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::feed::BytesRead;

/// Work that is done sooner than this gets no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long a drawn bar stays as it is.
const REFRESH: Duration = Duration::from_millis(100);

/// Shows how far the work is, once it takes long. Clears itself away when dropped.
#[derive(Debug)]
pub struct Progress {
    next: Instant,
    answered: u64,
    read: BytesRead,
    size: Option<u64>,
    /// There from when the work takes long; never where progress is not to be shown.
    bar: Option<ProgressBar>,
    shown: bool,
}

impl Progress {
    /// Progress through an input of `size` bytes, where that is known.
    pub fn new(shown: bool, read: BytesRead, size: Option<u64>) -> Self {
        Self {
            next: Instant::now() + PATIENCE,
            answered: 0,
            read,
            size,
            bar: None,
            shown,
        }
    }

    /// One more puzzle is answered.
    pub fn advance(&mut self) {
        self.answered += 1;
        if !self.shown {
            return;
        }
        let now = Instant::now();
        if now < self.next {
            return;
        }
        self.next = now + REFRESH;
        let bar = self.bar.get_or_insert_with(|| bar(self.size));
        bar.set_position(self.read.get());
        bar.set_message(format!("{} puzzles", self.answered));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(size: Option<u64>) -> ProgressBar {
    let template = match size {
        Some(_) => "{wide_bar} {percent}% {msg} {eta} left",
        None => "{spinner} {msg} {elapsed}",
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(size, ProgressDrawTarget::stderr()).with_style(style)
}
