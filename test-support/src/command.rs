//! The programs of this workspace.

use std::ffi::OsStr;
use std::process::Command;

/// A program, without the settings of whoever runs the tests.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let is_setting = |name: &str| name.starts_with("SUDOKU_") || name == "RUST_LOG";
        if name.to_str().is_some_and(is_setting) {
            command.env_remove(name);
        }
    }
    command
}
