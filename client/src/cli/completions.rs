//! `sudoku-client completions` and `sudoku-client man`: what shells and manuals want to know of the command line.

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
  bash:        sudoku-client completions bash > ~/.local/share/bash-completion/completions/sudoku-client
  zsh:         sudoku-client completions zsh > ~/.zfunc/_sudoku-client
  fish:        sudoku-client completions fish > ~/.config/fish/completions/sudoku-client.fish
  PowerShell:  sudoku-client completions powershell >> $PROFILE";

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

/// Writes the manual: the page of the program, and after it that of each command.
///
/// # Errors
///
/// The output cannot be written.
pub fn manual() -> anyhow::Result<Status> {
    let mut page = Vec::new();
    let mut program = Cli::command();
    program.build();
    clap_mangen::Man::new(program.clone()).render(&mut page)?;
    for command in program.get_subcommands().filter(|command| !command.is_hide_set()) {
        let name = format!("sudoku-client {}", command.get_name());
        let man = clap_mangen::Man::new(command.clone().name(name));
        writeln!(page, ".SH \"{}\"", command.get_name().to_uppercase())?;
        man.render_description_section(&mut page)?;
        man.render_synopsis_section(&mut page)?;
        man.render_options_section(&mut page)?;
        man.render_extra_section(&mut page)?;
    }
    write(&page)
}

fn write(text: &[u8]) -> anyhow::Result<Status> {
    match io::stdout().lock().write_all(text) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error).context("cannot write"),
        _ => Ok(Status::Solved),
    }
}
