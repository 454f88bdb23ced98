//! `sudoku-client solve`.

use std::ffi::OsString;
use std::future::poll_fn;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::pin::Pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use anyhow::Context;
use sudoku_client::{Error, SolveOptions};
use sudoku_engine::Isa;
use tokio_stream::Stream;

use super::exit::Status;
use super::feed;
use super::format::{Answer, Format, Formatter};
use super::output::Output;
use super::progress::Progress;
use super::source::Source;
use super::tally::Tally;
use super::{note, service};

/// The arguments, as typed.
#[derive(Debug, clap::Args)]
#[command(about = ABOUT, after_help = SHORT_HELP, after_long_help = LONG_HELP)]
pub struct Args {
    /// Puzzles, files of puzzles, or `-` for standard input, which is also read when nothing is named
    ///
    /// An argument that reads as a grid is a puzzle: 81 cells row by row, with `.`, `0`, `*`, `-`, `_` or `?` for a
    /// blank. Any other argument is a file.
    #[arg(value_name = "PUZZLE|FILE|-")]
    inputs: Vec<OsString>,

    /// Send the puzzles to this service, such as http://127.0.0.1:50051, instead of solving them here
    #[arg(long, value_name = "URL", env = "SUDOKU_ENDPOINT", hide_env_values = true)]
    endpoint: Option<String>,

    /// Stop each search after this many solutions
    ///
    /// 2 finds out whether a puzzle has exactly one. 1 stops at the first and does not ask for another. More counts and
    /// lists solutions, up to 10,000 unless the service is configured otherwise.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,

    /// Give up on a puzzle after this time, such as 500ms or 10s [default: the service's, 1s]
    ///
    /// It counts from the first step of that puzzle's search; a puzzle given up is undecided. At most 60s unless the
    /// service is configured otherwise.
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    time_limit: Option<Duration>,

    /// How to write the answers [default: pretty for one puzzle on a terminal, else line]
    #[arg(short, long, value_enum)]
    format: Option<Format>,

    /// Write to this file instead of standard output
    ///
    /// It is written as FILE.partial and renamed when it is complete. A run that fails or is interrupted leaves what it
    /// has written in FILE.partial, and FILE as it was.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Solve with these instructions: portable, avx2, avx2-no-pext or avx512 [default: the best that the processor has]
    ///
    /// The answers are the same, only slower or faster. A service at an endpoint picks its own.
    #[arg(long, value_name = "NAME", env = "SUDOKU_SIMD", value_parser = Isa::named, hide_short_help = true)]
    simd: Option<Isa>,

    /// Write nothing but answers and errors: no progress bar, no summary
    #[arg(short, long)]
    quiet: bool,
}

const ABOUT: &str = "Solve puzzles and tell whether each has exactly one solution";

const SHORT_HELP: &str = "\
Examples:
  sudoku-client solve puzzles.txt
  sudoku-client solve --format csv --output answers.csv puzzles.txt

More examples, exit statuses and the environment: sudoku-client solve --help";

const LONG_HELP: &str = "\
Examples:
  One puzzle, drawn:
    sudoku-client solve \\
      53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79
  A file, a line for each puzzle:
    sudoku-client solve puzzles.txt
  From a pipe, on a server:
    zcat puzzles.gz | sudoku-client solve --endpoint http://127.0.0.1:50051
  Up to 100 solutions of each puzzle, as a table:
    sudoku-client solve --limit 100 --format csv -o answers.csv puzzles.txt

Exit status, the highest that applies:
  0  every puzzle has exactly one solution (with --limit 1: a solution)
  1  some are multiple, unsolvable, invalid or undecided
  2  wrong usage, no puzzle, or input or output that cannot be read or written
  3  the service could not do it

Environment:
  SUDOKU_ENDPOINT  the service, where --endpoint names none
  SUDOKU_SIMD      the instructions to solve with, where --simd names none
  NO_COLOR         draw without colours on a terminal
  CLICOLOR_FORCE   draw with colours, even into a pipe";

/// What the arguments mean.
#[derive(Debug)]
struct Plan {
    sources: Vec<Source>,
    endpoint: Option<String>,
    isa: Option<Isa>,
    options: SolveOptions,
    format: FormatChoice,
    output: Option<PathBuf>,
    quiet: bool,
}

/// The format, as far as it is known before the puzzles are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FormatChoice {
    Fixed(Format),
    /// A drawing for a single puzzle, a line each for more.
    ByNumber,
}

/// Which streams have a person at the other end.
#[derive(Debug, Clone, Copy)]
struct Terminals {
    stdin: bool,
    stdout: bool,
}

impl Plan {
    fn new(args: Args, terminals: Terminals) -> anyhow::Result<Self> {
        let mut sources = Vec::new();
        for argument in &args.inputs {
            sources.push(Source::from_argument(argument)?);
        }
        if sources.is_empty() {
            sources.push(Source::Stdin);
        }
        let typed = terminals.stdin && sources.contains(&Source::Stdin);
        let format = match args.format {
            Some(format) => FormatChoice::Fixed(format),
            None if args.output.is_some() || !terminals.stdout => FormatChoice::Fixed(Format::Line),
            // Puzzles come one at a time from a keyboard, and waiting for a second one would hold up the first answer.
            None if typed => FormatChoice::Fixed(Format::Pretty),
            None => FormatChoice::ByNumber,
        };
        Ok(Self {
            sources,
            endpoint: args.endpoint.filter(|endpoint| !endpoint.is_empty()),
            isa: args.simd,
            options: SolveOptions::new()
                .solution_limit(args.limit)
                .time_limit(args.time_limit),
            format,
            output: args.output,
            quiet: args.quiet,
        })
    }

    /// How many bytes there are to read, where all sources are files that know their size.
    fn size(&self) -> Option<u64> {
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

/// Solves the puzzles that `args` name.
///
/// # Errors
///
/// An input cannot be read, the output cannot be written, or the service could not do it.
pub fn run(args: Args) -> anyhow::Result<Status> {
    let terminals = Terminals {
        stdin: io::stdin().is_terminal(),
        stdout: io::stdout().is_terminal(),
    };
    let plan = Plan::new(args, terminals)?;
    if terminals.stdin && !plan.quiet && plan.sources.contains(&Source::Stdin) {
        note(format_args!("reading puzzles from the terminal; end with Ctrl-D"));
    }
    let runtime = tokio::runtime::Runtime::new().context("cannot start")?;
    let output = Output::open(plan.output.as_deref())?;
    let quiet = plan.quiet;
    let started = Instant::now();
    match runtime.block_on(solve(plan, &output)) {
        Ok(tally) => {
            output.commit()?;
            if tally.total() > 1 && !quiet {
                note(format_args!("{}", tally.summary(started.elapsed())));
            }
            Ok(tally.status())
        }
        Err(Ended::Unread) => Ok(Status::Solved),
        Err(Ended::Failed(error)) => match output.abandon() {
            Some(partial) => Err(error.context(format!("incomplete, left in {}", partial.display()))),
            None => Err(error),
        },
    }
}

/// Why solving ended early.
enum Ended {
    /// Whoever read the answers has seen enough.
    Unread,
    Failed(anyhow::Error),
}

impl From<anyhow::Error> for Ended {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(error)
    }
}

/// The only input and output that is not read through [`feed`] is the writing of answers.
impl From<io::Error> for Ended {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Unread,
            _ => Self::Failed(anyhow::Error::new(error).context("cannot write the answers")),
        }
    }
}

/// Writes the answers to all puzzles to `output`, in order, as they come.
async fn solve(plan: Plan, output: &Output) -> Result<Tally, Ended> {
    let size = plan.size();
    let (puzzles, mut records, read) = feed::start(plan.sources);
    let endpoint = plan.endpoint.as_deref();
    let mut outcomes = service::solve_many(endpoint, plan.isa, plan.options, puzzles)?;
    if records.ahead(1).await == 0 {
        records.finish()?;
    }
    let format = match plan.format {
        FormatChoice::Fixed(format) => format,
        FormatChoice::ByNumber if records.ahead(2).await == 1 => Format::Pretty,
        FormatChoice::ByNumber => Format::Line,
    };
    let mut formatter = format.formatter(output.writer(), output.takes_colours())?;
    let mut tally = Tally::default();
    let shown = !plan.quiet && !output.is_terminal() && io::stderr().is_terminal();
    let mut progress = Progress::new(shown, read, size);
    while let Some(outcome) = next(&mut outcomes, formatter.as_mut()).await? {
        let outcome = outcome.map_err(|error| service_error(error, endpoint))?;
        let record = records.next().context("more answers than puzzles")?;
        let answer = Answer {
            entry: record.entry,
            source: record.source,
            outcome: &outcome,
            limit: plan.options.solution_limit,
        };
        formatter.answer(&answer)?;
        tally.add(&answer);
        progress.advance();
    }
    // An input that could not be read leaves the output unfinished.
    records.finish()?;
    formatter.finish()?;
    Ok(tally)
}

/// An error of the service, with the name of what was called. The place in the stream is left out where it says no more
/// than that nothing was answered.
fn service_error(error: Error, endpoint: Option<&str>) -> anyhow::Error {
    let error = match error {
        Error::Interrupted { answered: 0, source } => *source,
        other => other,
    };
    match endpoint {
        Some(endpoint) => anyhow::Error::new(error).context(endpoint.to_owned()),
        None => error.into(),
    }
}

/// The next outcome. While it is not there yet, what has been written goes out, so that answers never wait for puzzles
/// that are still to come.
async fn next<S: Stream + Unpin>(
    outcomes: &mut S,
    formatter: &mut dyn Formatter,
) -> io::Result<Option<S::Item>> {
    poll_fn(|cx| match Pin::new(&mut *outcomes).poll_next(cx) {
        Poll::Ready(outcome) => Poll::Ready(Ok(outcome)),
        Poll::Pending => match formatter.flush() {
            Ok(()) => Poll::Pending,
            Err(error) => Poll::Ready(Err(error)),
        },
    })
    .await
}

#[cfg(test)]
mod tests {
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
            &["--limit", "7", "--time-limit", "1m 500ms", PUZZLE],
            false,
            false,
        )
        .options;
        assert_eq!(options.solution_limit, 7);
        assert_eq!(options.time_limit, Some(Duration::from_millis(60_500)));
    }
}
