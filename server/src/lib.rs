//! The Sudoku service: the contract of `sudoku-proto` on the engine of `sudoku-engine`.
//!
//! # Layout
//!
//! A call comes in through [`Rpc`], over a socket ([`serve()`]) or from within the process ([`in_process`]). [`Service`] has
//! the three methods. `Solve` runs its search in slices on the runtime's worker; `SolveMany` hands its messages to a pool
//! of workers, tasks of the runtime too. One module makes every gRPC status, `error`; two know the messages of the contract besides the methods,
//! `options` on the way in and `reply` on the way out.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod admin;
mod body;
mod calls;
mod connection;
mod cork;
mod deadline;
mod error;
mod frames;
mod front;
mod health;
mod lifetime;
mod listener;
mod metrics;
mod options;
mod packing;
mod panics;
mod pool;
mod preface;
mod record;
mod rejected;
mod reply;
mod rpc;
mod sample;
mod search;
mod serve;
mod service;
mod settings;
mod solve_many;
mod tls;
mod tokens;
mod traces;
mod watched;
mod web;

pub use admin::serve_admin;
pub use front::Front;
pub use listener::{Address, AddressError, Listener};
pub use rejected::Rejection;
pub use rpc::{Rpc, in_process};
pub use serve::{Drained, serve};
pub use service::{Load, Service};
pub use settings::{Limits, Settings, SettingsError};
pub use tls::Tls;
pub use tokens::Tokens;
pub use watched::FileError;
pub use web::{Origin, OriginError};
