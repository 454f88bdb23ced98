//! `sudoku-client completions`: what shells want to know of the command line.

use std::io::{self, Write};

use anyhow::Context;
use clap::CommandFactory;
use clap_complete::Shell;

use super::Cli;
use super::exit::Status;

/// The arguments, as typed.
#[derive(Debug, clap::Args)]
#[command(about = "Write what a shell needs to complete the command line", after_long_help = EXAMPLES)]
pub struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  bash:
    sudoku-client completions bash > \\
      ~/.local/share/bash-completion/completions/sudoku-client
  zsh, with ~/.zfunc in fpath:
    sudoku-client completions zsh > ~/.zfunc/_sudoku-client
  fish:
    sudoku-client completions fish > ~/.config/fish/completions/sudoku-client.fish
  PowerShell:
    sudoku-client completions powershell >> $PROFILE";

/// Writes the completions.
///
/// # Errors
///
/// The output cannot be written.
pub fn run(args: Args) -> anyhow::Result<Status> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "sudoku-client", &mut script);
    // Its script for bash takes the hyphen in our name for a step to a subcommand in one place, and not in the other.
    let script = match args.shell {
        Shell::Bash => String::from_utf8_lossy(&script)
            .replace("sudoku__subcmd__client", "sudoku__client")
            .into(),
        _ => script,
    };
    write(&script)
}

/// Writes a text that was asked for.
///
/// # Errors
///
/// The output cannot be written.
pub fn write(text: &[u8]) -> anyhow::Result<Status> {
    match io::stdout().lock().write_all(text) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error).context("cannot write"),
        _ => Ok(Status::Solved),
    }
}
