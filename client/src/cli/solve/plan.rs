//! What the arguments of `solve` mean.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};
use same_file::Handle;
use sudoku_client::SolveOptions;

use super::args::{Args, Summary};
use super::resume;
use crate::cli::draw;
use crate::cli::explain::Kind;
use crate::cli::format::Format;
use crate::cli::output::partial;
use crate::cli::service::Which;
use crate::cli::source::Source;
use crate::cli::table::Column;

/// What `--all` stands for: the most solutions that a service gives unless it is configured otherwise.
pub const ALL: u32 = 10_000;

/// What the arguments mean.
#[derive(Debug)]
pub struct Plan {
    pub sources: Vec<Source>,
    pub column: Option<Column>,
    pub service: Which,
    pub options: SolveOptions,
    /// Whether all solutions are looked for, as far as the limit allows.
    pub all: bool,
    pub format: FormatChoice,
    /// The kinds of answers to write; all where it is empty.
    pub only: Vec<Kind>,
    pub output: Option<PathBuf>,
    /// Whether to keep what an earlier run has written.
    pub resume: bool,
    pub drawing: draw::Args,
    pub quiet: bool,
    /// How to write the summary, where it was asked for.
    pub summary: Option<Summary>,
}

/// The format, as far as it is known before the puzzles are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormatChoice {
    Fixed(Format),
    /// A drawing for a single puzzle, a line each for more.
    ByNumber,
}

/// Which streams have a person at the other end.
#[derive(Debug, Clone, Copy)]
pub struct Terminals {
    pub stdin: bool,
    pub stdout: bool,
}

impl Plan {
    /// Decides what is open in `args`.
    ///
    /// # Errors
    ///
    /// An argument is neither a puzzle nor a file, or the file that is written; the format is none that can be resumed.
    pub fn new(args: Args, terminals: Terminals) -> anyhow::Result<Self> {
        let mut sources = Vec::new();
        for argument in &args.inputs {
            sources.push(Source::from_argument(argument)?);
        }
        if sources.is_empty() {
            sources.push(Source::Stdin);
        }
        if let Some(output) = &args.output {
            check_sources(&sources, output)?;
        }
        let typed = terminals.stdin && sources.contains(&Source::Stdin);
        let format = match args.format {
            Some(format) => FormatChoice::Fixed(format),
            None if args.output.is_some() || !terminals.stdout => FormatChoice::Fixed(Format::Line),
            // Puzzles come one at a time from a keyboard, and waiting for a second one would hold up the first answer.
            None if typed => FormatChoice::Fixed(Format::Pretty),
            None => FormatChoice::ByNumber,
        };
        if let FormatChoice::Fixed(format) = format {
            ensure!(
                !args.resume || resume::FORMATS.contains(&format),
                "--resume needs --format line, csv or jsonl"
            );
        }
        let options = SolveOptions::new()
            .solution_limit(if args.all { ALL } else { args.limit })
            .time_limit(args.time_limit);
        Ok(Self {
            sources,
            column: args.column,
            service: Which::new(args.service, &options)?,
            options,
            all: args.all,
            format,
            only: args.only,
            output: args.output,
            resume: args.resume,
            drawing: args.drawing,
            quiet: args.quiet,
            summary: args.summary,
        })
    }

    /// Whether `--resume` can go on from what a run leaves.
    pub fn is_resumable(&self) -> bool {
        matches!(self.format, FormatChoice::Fixed(format) if resume::FORMATS.contains(&format))
            && self.only.is_empty()
    }

    /// How many bytes there are to read, where all sources are files that know their size.
    pub fn size(&self) -> Option<u64> {
        let sizes = self.sources.iter().map(|source| match source {
            Source::Puzzle(_) => Some(0),
            Source::File(path) => path
                .metadata()
                .ok()
                .filter(|found| found.is_file())
                .map(|found| found.len()),
            Source::Stdin => None,
        });
        sizes.sum()
    }
}

/// An input may be what is replaced in the end, but not what is written first, whatever its name is.
fn check_sources(sources: &[Source], output: &Path) -> anyhow::Result<()> {
    let output = fs::canonicalize(output).unwrap_or_else(|_| output.to_owned());
    let Ok(partial) = Handle::from_path(partial(&output)) else {
        return Ok(());
    };
    for source in sources {
        let found = match source {
            Source::Puzzle(_) => continue,
            Source::File(path) => Handle::from_path(path),
            Source::Stdin => Handle::stdin(),
        };
        if found.is_ok_and(|found| found == partial) {
            bail!("cannot read {}: --output is written there first", source.name());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clap::Parser;

    use super::*;

    const PUZZLE: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    fn plan(line: &[&str], stdin: bool, stdout: bool) -> Plan {
        let args = Line::parse_from([&["solve"], line].concat()).args;
        Plan::new(args, Terminals { stdin, stdout }).unwrap()
    }

    #[test]
    fn the_format_follows_from_where_answers_go_unless_it_is_named() {
        let format = |line: &[&str], stdin, stdout| plan(line, stdin, stdout).format;
        assert_eq!(format(&[PUZZLE], true, true), FormatChoice::ByNumber);
        assert_eq!(format(&[PUZZLE], true, false), FormatChoice::Fixed(Format::Line));
        assert_eq!(
            format(&[PUZZLE, "-o", "file"], true, true),
            FormatChoice::Fixed(Format::Line)
        );
        assert_eq!(format(&[], true, true), FormatChoice::Fixed(Format::Pretty));
        assert_eq!(format(&[], false, true), FormatChoice::ByNumber);
        assert_eq!(
            format(&[PUZZLE, "-f", "csv"], true, true),
            FormatChoice::Fixed(Format::Csv)
        );
    }

    #[test]
    fn nothing_named_is_standard_input() {
        assert_eq!(plan(&[], false, false).sources, [Source::Stdin]);
        assert_eq!(plan(&["-", PUZZLE], false, false).sources.len(), 2);
    }

    #[test]
    fn only_inputs_that_are_all_files_have_a_size() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, PUZZLE).unwrap();
        let path = file.path().to_str().unwrap();
        assert_eq!(plan(&[path, PUZZLE], false, false).size(), Some(81));
        assert_eq!(plan(&[path, "-"], false, false).size(), None);
    }

    #[test]
    fn options_are_passed_on() {
        let options = plan(
            &["--limit", "7", "--time-limit", "5s 500ms", PUZZLE],
            false,
            false,
        )
        .options;
        assert_eq!(options.solution_limit, 7);
        assert_eq!(options.time_limit, Some(Duration::from_millis(5_500)));
    }

    #[test]
    fn all_is_a_limit() {
        let options = plan(&["--all", PUZZLE], false, false).options;
        assert_eq!(options.solution_limit, 10_000);
        assert!(Line::try_parse_from(["solve", "--all", "--limit", "3", PUZZLE]).is_err());
    }
}
