//! The arguments of `solve`, as typed.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;

use crate::cli::draw;
use crate::cli::explain::Kind;
use crate::cli::format::Format;
use crate::cli::service;
use crate::cli::table::Column;

/// The arguments, as typed.
#[derive(Debug, clap::Args)]
#[command(about = ABOUT, after_help = SHORT_HELP, after_long_help = LONG_HELP)]
pub struct Args {
    /// Puzzles, files of puzzles, or `-` for standard input, which is also read when nothing is named
    ///
    /// An argument that reads as a grid is a puzzle: 81 cells row by row, with `.`, `0`, `*`, `-`, `_` or `?` for a
    /// blank. Any other argument is a file.
    ///
    /// Files and standard input may be compressed with gzip or zstd; a file may be a zip archive of files.
    #[arg(value_name = "PUZZLE|FILE|-")]
    pub inputs: Vec<OsString>,

    /// Read files as tables, and the puzzles from this column: its number, from 1, or its name in the first line
    ///
    /// The fields are parted by `,`, `;`, tabs or `|`, whichever is most frequent on the first line, and may be quoted.
    /// Each record takes one place in the output. With a number, a first line that holds no puzzle there is a heading.
    #[arg(short, long, value_name = "N|NAME")]
    pub column: Option<Column>,

    #[command(flatten)]
    pub service: service::Args,

    /// Stop each search after this many solutions
    ///
    /// 2 finds out whether a puzzle has exactly one. 1 stops at the first and does not ask for another. More counts and
    /// lists solutions, up to 10,000 unless the service is configured otherwise.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: u32,

    /// Look for all solutions: the same as --limit 10000, and says whether that was reached
    #[arg(long, conflicts_with = "limit")]
    pub all: bool,

    /// Give up on a puzzle after this time, such as 500ms or 10s [default: the service's, 1s]
    ///
    /// It counts from the first step of that puzzle's search; a puzzle given up is undecided. At most 60s unless the
    /// service is configured otherwise.
    #[arg(long, value_name = "TIME", value_parser = crate::cli::patience)]
    pub time_limit: Option<Duration>,

    /// How to write the answers [default: pretty for one puzzle on a terminal, else line]
    #[arg(short, long, value_enum)]
    pub format: Option<Format>,

    /// Write only answers of these kinds, separated by commas, each with the number of its puzzle, from 1
    ///
    /// The summary and the exit status still count all puzzles.
    #[arg(long, value_name = "OUTCOME,...", value_enum, value_delimiter = ',')]
    pub only: Vec<Kind>,

    /// Write to this file instead of standard output
    ///
    /// It is written as FILE.partial and renamed when it is complete. A run that fails or is interrupted leaves what it
    /// has written in FILE.partial, and FILE as it was. The next run writes FILE.partial anew, unless it has --resume.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Go on where an earlier run with the same input was stopped: keep the answers in FILE.partial
    ///
    /// It needs --output, and line, csv or jsonl as format. What is not whole at the end of FILE.partial is cut off.
    /// Without that file the run begins at the beginning. An answer that does not fit its puzzle ends the run.
    #[arg(long, requires = "output", conflicts_with = "only")]
    pub resume: bool,

    #[command(flatten)]
    pub drawing: draw::Args,

    /// Write nothing but answers and errors: no progress bar, no summary
    #[arg(short, long)]
    pub quiet: bool,

    /// Say at the end how the puzzles came out, on standard error [default: text, if there are two or more]
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub summary: Option<Summary>,
}

/// How a summary is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Summary {
    /// A line for people
    Text,
    /// A line with a JSON object: the number of puzzles, of each outcome, and seconds
    Json,
}

const ABOUT: &str = "Solve puzzles and tell whether each has exactly one solution";

const SHORT_HELP: &str = "\
Examples:
  sudoku-client solve puzzles.txt
  sudoku-client solve --format csv --output answers.csv puzzles.txt

More examples, exit statuses and the environment: sudoku-client solve --help";

const LONG_HELP: &str = concat!(
    "\
Examples:
  One puzzle, drawn:
    sudoku-client solve \\
      53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79
  A file, a line for each puzzle:
    sudoku-client solve puzzles.txt
  From a pipe, on a server:
    generate | sudoku-client solve --endpoint http://127.0.0.1:50051
  The puzzles of a table that are not proper, with their numbers:
    sudoku-client solve --column puzzle --only multiple,unsolvable,invalid table.csv.gz
  Up to 100 solutions of each puzzle, as a table:
    sudoku-client solve --limit 100 --format csv -o answers.csv puzzles.txt

Exit status, the highest that applies:
  0    every puzzle has exactly one solution (with --limit 1: a solution)
  1    some are multiple, unsolvable, invalid or undecided
  2    wrong usage, no puzzle, or input or output that cannot be read or written
  3    the service could not do it
  130  ended by Ctrl-C
  143  ended by SIGTERM

",
    include_str!("../environment.txt"),
    include_str!("../environment_solving.txt"),
    include_str!("../environment_drawing.txt"),
);
