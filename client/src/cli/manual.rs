//! `sudoku-client man`: the manual, made of what clap knows of the command line.

use clap::builder::StyledStr;
use clap::{Arg, Command, CommandFactory};
use roff::{Inline, Roff, bold, italic, roman};

use super::Cli;
use super::completions::write;
use super::exit::Status;

/// Writes the manual: one page, with a section for each command.
///
/// # Errors
///
/// The output cannot be written.
pub fn run() -> anyhow::Result<Status> {
    write(page().as_bytes())
}

fn page() -> String {
    let mut program = Cli::command();
    program.build();
    let name = program.get_name();
    let about = text(program.get_about());
    let mut page = Roff::new();
    page.control("TH", [name, "1"]);
    page.control("SH", ["NAME"]);
    page.text([roman(format!("{name} - {about}"))]);
    page.control("SH", ["SYNOPSIS"]);
    page.text([bold(name), roman(" "), italic("COMMAND"), roman(" [ARGUMENTS]")]);
    page.control("SH", ["COMMANDS"]);
    for command in commands(&program) {
        page.control("TP", []);
        page.text([bold(command.get_name())]);
        page.text([roman(text(command.get_about()))]);
    }
    for command in commands(&program) {
        section(&mut page, command);
    }
    page.render()
}

fn commands(program: &Command) -> impl Iterator<Item = &Command> {
    let is_help = |command: &&Command| command.get_name() == "help";
    program.get_subcommands().filter(move |command| !is_help(command))
}

/// All that is to be said of a command.
fn section(page: &mut Roff, command: &Command) {
    page.control("SH", [command.get_name().to_uppercase().as_str()]);
    page.text([roman(text(command.get_about()))]);
    let usage = command.clone().render_usage().to_string();
    no_fill(page, &[usage.trim_start_matches("Usage: ")]);
    let (mut headings, mut plain) = (Vec::new(), Vec::new());
    for arg in command.get_arguments().filter(|arg| arg.get_id() != "help") {
        match arg.get_help_heading() {
            Some(heading) if !headings.contains(&heading) => headings.push(heading),
            Some(_) => {}
            None => plain.push(arg),
        }
    }
    plain.sort_by_key(|arg| !arg.is_positional());
    for arg in plain {
        argument(page, arg);
    }
    for heading in headings {
        page.control("SS", [heading]);
        let of_heading = |arg: &&Arg| arg.get_help_heading() == Some(heading);
        for arg in command.get_arguments().filter(of_heading) {
            argument(page, arg);
        }
    }
    let more = text(command.get_after_long_help());
    for part in more.split("\n\n") {
        paragraph(page, part);
    }
}

/// An entry of a list: how the argument is given, and what it does.
fn argument(page: &mut Roff, arg: &Arg) {
    page.control("TP", []);
    page.text(synopsis(arg));
    let help = text(arg.get_long_help().or(arg.get_help()));
    let mut paragraphs = help.split("\n\n");
    page.text([roman(paragraphs.next().unwrap_or_default())]);
    for paragraph in paragraphs {
        page.control("IP", []);
        page.text([roman(paragraph)]);
    }
    if !arg.get_action().takes_values() {
        return;
    }
    let values = arg.get_possible_values();
    if !values.is_empty() {
        page.control("RS", []);
        for value in values {
            page.control("TP", []);
            page.text([bold(value.get_name())]);
            page.text([roman(text(value.get_help()))]);
        }
        page.control("RE", []);
    }
    let default: Vec<_> = arg
        .get_default_values()
        .iter()
        .map(|value| value.to_string_lossy())
        .collect();
    let default = (!default.is_empty()).then(|| format!("Default: {}", default.join(",")));
    let variable = arg
        .get_env()
        .map(|name| format!("Variable: {}", name.to_string_lossy()));
    for note in [default, variable].into_iter().flatten() {
        page.control("IP", []);
        page.text([roman(note)]);
    }
}

fn synopsis(arg: &Arg) -> Vec<Inline> {
    let short = arg.get_short().map(|short| format!("-{short}"));
    let long = arg.get_long().map(|long| format!("--{long}"));
    let mut inlines = Vec::new();
    for name in [short, long].into_iter().flatten() {
        if !inlines.is_empty() {
            inlines.push(roman(", "));
        }
        inlines.push(bold(name));
    }
    if arg.is_positional() || arg.get_action().takes_values() {
        let names = arg.get_value_names().unwrap_or_default();
        let names: Vec<_> = names.iter().map(ToString::to_string).collect();
        if !inlines.is_empty() {
            inlines.push(roman(" "));
        }
        inlines.push(italic(names.join(" ")));
    }
    inlines
}

/// A part of a long help: text, or a heading with lines below it.
fn paragraph(page: &mut Roff, part: &str) {
    let mut lines = part.lines();
    let first = lines.next().unwrap_or_default();
    let lines: Vec<&str> = lines.collect();
    let heading = first
        .strip_suffix(':')
        .filter(|_| !first.starts_with(' ') && !lines.is_empty());
    let Some(heading) = heading else {
        page.control("PP", []);
        page.text([roman(part)]);
        return;
    };
    page.control("SS", [heading]);
    match heading {
        "Examples" => no_fill(page, &lines),
        _ => tagged(page, &lines),
    }
}

/// Lines as they stand.
fn no_fill(page: &mut Roff, lines: &[&str]) {
    page.control("PP", []);
    page.control("nf", []);
    for line in lines {
        page.text([roman(line.strip_prefix("  ").unwrap_or(line))]);
    }
    page.control("fi", []);
}

/// A list of words and what they mean: after two spaces, or on the next line, which is indented more.
fn tagged(page: &mut Roff, lines: &[&str]) {
    for line in lines {
        let indented = line.strip_prefix("  ").unwrap_or(line);
        if indented.starts_with(' ') {
            page.text([roman(indented.trim_start())]);
            continue;
        }
        let (tag, meaning) = indented.split_once("  ").unwrap_or((indented, ""));
        page.control("TP", []);
        page.text([bold(tag)]);
        if !meaning.is_empty() {
            page.text([roman(meaning.trim_start())]);
        }
    }
}

fn text(styled: Option<&StyledStr>) -> String {
    styled.map(ToString::to_string).unwrap_or_default()
}
