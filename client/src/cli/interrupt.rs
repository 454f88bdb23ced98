//! Being told to end, by Ctrl-C or a signal.

use std::io;

use super::exit::Status;

/// Waits until the user or the system wants the program to end, and tells the exit status of a program that does.
///
/// From the first call on, signals no longer end the program by themselves. A hang-up is not waited for: `nohup` has it
/// ignored, which waiting for it would undo.
///
/// # Errors
///
/// Signals cannot be waited for.
#[cfg(unix)]
pub async fn interrupted() -> io::Result<Status> {
    use tokio::signal::unix::{SignalKind, signal};

    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(tokio::select! {
        _ = interrupt.recv() => Status::Interrupted,
        _ = terminate.recv() => Status::Terminated,
    })
}

/// The same where there is only Ctrl-C.
#[cfg(not(unix))]
pub async fn interrupted() -> io::Result<Status> {
    tokio::signal::ctrl_c().await.map(|()| Status::Interrupted)
}
