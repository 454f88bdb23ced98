//! Drawing grids: the borders that the surroundings can show, and cells set apart from each other.

use std::env;
use std::ffi::OsString;

use anstyle::{AnsiColor, Style};
use sudoku_engine::Grid;

use super::output::Output;

/// What can be said about drawings on the command line.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
#[group(skip)]
pub struct Args {
    /// Draw borders with `+`, `-` and `|`, as is done where the locale is not UTF-8
    #[arg(long)]
    ascii: bool,
}

/// What a cell of a drawing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    Blank,
    Clue,
    /// A digit that was not there before.
    Found,
    /// A digit to look at: one that contradicts another, or differs between two solutions.
    Marked,
}

impl Ink {
    fn style(self) -> Style {
        match self {
            Self::Blank => Style::new().dimmed(),
            Self::Clue => Style::new().bold(),
            Self::Found => AnsiColor::Cyan.on_default(),
            Self::Marked => AnsiColor::Red.on_default().bold().underline(),
        }
    }
}

/// The pen that suits where a drawing goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pen {
    pub coloured: bool,
    pub ascii: bool,
    /// How many characters fit on a line, where that is known.
    pub width: Option<usize>,
}

impl Pen {
    /// The width of a drawing.
    pub const DRAWING: usize = 25;

    /// A pen for what goes to `output`.
    pub fn new(args: Args, output: &Output) -> Self {
        Self {
            coloured: output.takes_colours(),
            ascii: args.ascii || !is_utf8(|name| env::var_os(name)),
            width: output.width(),
        }
    }

    /// Draws a grid, each cell in the ink that `ink` says. Without colours an asterisk stands behind what is marked.
    pub fn draw(self, grid: &Grid, ink: impl Fn(usize) -> Ink) -> String {
        let drawing = if self.ascii {
            grid.pretty().ascii()
        } else {
            grid.pretty()
        };
        if self.coloured {
            let drawing = drawing.cells(|f, cell, character| {
                let style = ink(cell).style();
                write!(f, "{style}{character}{style:#}")
            });
            return drawing.to_string();
        }
        let marked = drawing.cells(|f, cell, character| match ink(cell) {
            Ink::Marked => write!(f, "{character}*"),
            _ => write!(f, "{character}"),
        });
        // The mark takes the place of the space behind its cell.
        marked.to_string().replace("* ", "*")
    }

    /// Breaks a text between words where lines must be short.
    pub fn wrap(self, text: &str) -> String {
        match self.width {
            Some(width) => textwrap::fill(text, width.max(1)),
            None => text.to_owned(),
        }
    }

    /// Two drawings, side by side if there is room for that.
    pub fn pair(self, left: &str, right: &str) -> String {
        const GAP: usize = 3;
        if self.width.is_some_and(|width| width < 2 * Self::DRAWING + GAP) {
            return format!("{left}\n{right}");
        }
        let lines = left.lines().zip(right.lines());
        let lines: Vec<String> = lines
            .map(|(left, right)| format!("{left}{:GAP$}{right}", ""))
            .collect();
        lines.join("\n")
    }
}

/// Whether the locale has characters for borders. One that is not set at all is taken for UTF-8: it is that way in most
/// containers, and on systems that know no such variables.
fn is_utf8(variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let set = |name| variable(name).filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
    locale.is_none_or(|locale| {
        let locale = locale.to_string_lossy().to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_locale_decides_about_the_borders() {
        let is_utf8 = |set: &[(&str, &str)]| {
            let value = |name: &str| {
                set.iter()
                    .find(|(known, _)| *known == name)
                    .map(|(_, value)| value.into())
            };
            is_utf8(value)
        };
        assert!(is_utf8(&[]));
        assert!(is_utf8(&[("LANG", "en_US.UTF-8")]));
        assert!(is_utf8(&[("LANG", "C"), ("LC_CTYPE", "C.utf8")]));
        assert!(is_utf8(&[("LC_ALL", ""), ("LANG", "de_DE.UTF-8")]));
        assert!(!is_utf8(&[("LANG", "C")]));
        assert!(!is_utf8(&[("LC_ALL", "POSIX"), ("LANG", "en_US.UTF-8")]));
        assert!(!is_utf8(&[("LANG", "de_DE.ISO-8859-1")]));
    }

    #[test]
    fn marks_take_no_room() {
        let ink = |cell| if cell % 2 == 0 { Ink::Marked } else { Ink::Blank };
        let plain = Pen::default().draw(&Grid::EMPTY, ink);
        assert!(
            plain.lines().nth(1).unwrap().starts_with("│ .*. .*│ . .*"),
            "{plain}"
        );
        assert!(
            plain.lines().all(|line| line.chars().count() == Pen::DRAWING),
            "{plain}"
        );
        let coloured = Pen {
            coloured: true,
            ..Pen::default()
        };
        let coloured = anstream::adapter::strip_str(&coloured.draw(&Grid::EMPTY, ink)).to_string();
        assert_eq!(coloured, Grid::EMPTY.pretty().to_string());
    }

    #[test]
    fn a_pair_stands_side_by_side_where_there_is_room() {
        let pair = |width| {
            let pen = Pen {
                width,
                ..Pen::default()
            };
            pen.pair("ab\ncd", "ef\ngh")
        };
        assert_eq!(pair(None), "ab   ef\ncd   gh");
        assert_eq!(pair(Some(53)), "ab   ef\ncd   gh");
        assert_eq!(pair(Some(52)), "ab\ncd\nef\ngh");
    }
}
