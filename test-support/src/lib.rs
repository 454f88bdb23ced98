//! What the tests of several packages share. It is published with none of them.

#![forbid(unsafe_code)]

pub mod authority;
pub mod command;
pub mod http2;
pub mod operators;
pub mod puzzles;
pub mod server;
