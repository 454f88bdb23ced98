//! The signals that ask the server to end, or to look at its files.

use std::io;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGTERM and Ctrl-C. While this is there, neither ends the process by itself.
pub struct Signals {
    #[cfg(unix)]
    terminate: Signal,
    #[cfg(unix)]
    interrupt: Signal,
}

#[cfg(unix)]
impl Signals {
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Waits for the next one.
    pub async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// SIGHUP. While this is there, it does not end the process.
pub struct Hangups {
    #[cfg(unix)]
    hangup: Signal,
}

#[cfg(unix)]
impl Hangups {
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for the next one.
    pub async fn next(&mut self) {
        self.hangup.recv().await;
    }
}

#[cfg(not(unix))]
impl Hangups {
    pub fn new() -> io::Result<Self> {
        Ok(Self {})
    }

    /// Waits for ever: there is no such signal.
    pub async fn next(&mut self) {
        std::future::pending().await
    }
}

#[cfg(not(unix))]
impl Signals {
    pub fn new() -> io::Result<Self> {
        Ok(Self {})
    }

    /// Waits for the next one.
    pub async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
