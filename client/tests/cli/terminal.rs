//! At a terminal: what is drawn, what is coloured, and what is said.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::support::{OTHER, OTHER_SOLVED, TWO, UNIQUE, UNIQUE_SOLVED, lines, raw_client};

/// A terminal of its own: what stands at its screen and keyboard, and what programs see.
struct Terminal {
    screen: File,
    programs: File,
}

impl Terminal {
    fn new() -> Self {
        let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&screen).unwrap();
        unlockpt(&screen).unwrap();
        let name = ptsname(&screen, Vec::new()).unwrap();
        let programs = File::options()
            .read(true)
            .write(true)
            .open(name.to_str().unwrap())
            .unwrap();
        Self {
            screen: screen.into(),
            programs,
        }
    }

    fn end(&self) -> Stdio {
        self.programs.try_clone().unwrap().into()
    }

    /// Runs a command whose output goes to the terminal, types `keys`, and returns what was shown.
    fn show(mut self, command: &mut Command, keys: &str) -> String {
        command.env("TERM", "xterm-256color");
        let mut child = command.stdout(self.end()).stderr(self.end()).spawn().unwrap();
        // The command holds the terminal too; with ours gone, reading ends when the program does.
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        drop(self.programs);
        self.screen.write_all(keys.as_bytes()).unwrap();
        let mut shown = Vec::new();
        // At the end Linux reports an error, other systems the end of a file.
        let _ = self.screen.read_to_end(&mut shown);
        child.wait().unwrap();
        String::from_utf8(shown).unwrap().replace("\r\n", "\n")
    }
}

fn shown(arguments: &[&str]) -> String {
    let mut command = raw_client();
    command.arg("solve").args(arguments).stdin(Stdio::null());
    Terminal::new().show(&mut command, "")
}

fn is_drawing(shown: &str) -> bool {
    shown.starts_with("┌───────┬───────┬───────┐\n") && shown.ends_with("unique: the only solution\n")
}

#[test]
fn a_single_puzzle_is_drawn_in_colour() {
    let shown = shown(&[UNIQUE]);
    assert!(is_drawing(&shown), "{shown}");
    assert!(shown.contains("\u{1b}[1m5"), "{shown:?}");
}

#[test]
fn drawings_fit_the_terminal() {
    for (columns, lines) in [(40, 26 + 3), (80, 13 + 2)] {
        let terminal = Terminal::new();
        let size = Winsize {
            ws_row: 24,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&terminal.screen, size).unwrap();
        let mut command = raw_client();
        command
            .args(["check", TWO])
            .env("NO_COLOR", "1")
            .stdin(Stdio::null());
        let shown = terminal.show(&mut command, "");
        assert_eq!(shown.lines().count(), lines, "{shown}");
        assert!(
            shown.lines().all(|line| line.chars().count() <= columns.into()),
            "{shown}"
        );
    }
}

#[test]
fn several_puzzles_give_a_line_each() {
    let shown = shown(&["--quiet", UNIQUE, OTHER]);
    assert_eq!(shown, lines(&[UNIQUE_SOLVED, OTHER_SOLVED]));
}

#[test]
fn a_file_is_drawn_if_it_holds_a_single_puzzle() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("puzzles.txt");
    let path = file.to_str().unwrap();
    fs::write(&file, lines(&[UNIQUE])).unwrap();
    assert!(is_drawing(&shown(&[path])));
    fs::write(&file, lines(&[UNIQUE, OTHER])).unwrap();
    assert_eq!(shown(&["--quiet", path]), lines(&[UNIQUE_SOLVED, OTHER_SOLVED]));
}

#[test]
fn a_format_that_is_asked_for_is_used() {
    assert_eq!(shown(&["--format", "line", UNIQUE]), lines(&[UNIQUE_SOLVED]));
}

#[test]
fn colours_can_be_declined() {
    for (variable, value) in [("NO_COLOR", "1"), ("CLICOLOR", "0")] {
        let mut command = raw_client();
        command
            .args(["solve", UNIQUE])
            .env(variable, value)
            .stdin(Stdio::null());
        let shown = Terminal::new().show(&mut command, "");
        assert!(is_drawing(&shown), "{shown}");
        assert!(!shown.contains('\u{1b}'), "{variable}: {shown:?}");
    }
}

#[test]
fn typed_puzzles_are_drawn_one_by_one() {
    let terminal = Terminal::new();
    let mut command = raw_client();
    command.arg("solve").stdin(terminal.end()).env("NO_COLOR", "1");
    let shown = terminal.show(&mut command, &format!("{UNIQUE}\n{OTHER}\n\u{4}"));
    assert!(
        shown.contains("sudoku-client: reading puzzles from the terminal; end with Ctrl-D\n"),
        "{shown}"
    );
    assert_eq!(shown.matches("unique: the only solution\n").count(), 2, "{shown}");
}
