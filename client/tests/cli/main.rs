//! The command line, through the real binary: a file a behaviour.

mod server;
mod support;

mod bench;
mod cases;
mod check;
mod columns;
mod completions;
mod compressed;
mod endpoint;
mod filters;
mod formats;
mod inputs;
mod output;
mod pipes;
mod resume;
#[cfg(unix)]
mod secured;
mod snapshots;
mod statuses;
#[cfg(target_os = "linux")]
mod streaming;
#[cfg(unix)]
mod terminal;
