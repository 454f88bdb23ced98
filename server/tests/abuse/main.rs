//! The server under abuse: it answers all the while and afterwards, rightly, and nothing of the abuse is left.
//!
//! `just abuse` runs the same ten times harder, and prints what it took.
#![cfg(target_os = "linux")]

#[path = "../support/mod.rs"]
mod support;

mod broken;
mod floods;
mod idle;
mod slow;
mod victim;
