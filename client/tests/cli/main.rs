//! The command line, through the real binary: a file a behaviour.

mod support;

mod endpoint;
mod formats;
mod inputs;
mod output;
mod pipes;
mod snapshots;
mod statuses;
#[cfg(target_os = "linux")]
mod streaming;
#[cfg(unix)]
mod terminal;
