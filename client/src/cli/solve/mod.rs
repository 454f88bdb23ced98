//! `sudoku-client solve`.

mod args;
mod plan;
mod resume;

use std::future::poll_fn;
use std::io::{self, IsTerminal};
use std::pin::Pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use anyhow::Context;
use sudoku_client::Outcome;
use tokio_stream::Stream;

use super::draw::Pen;
use super::exit::{self, Status};
use super::explain::Kind;
use super::feed;
use super::format::{Answer, Format, Formatter, Looks};
use super::interrupt::interrupted;
use super::output::Output;
use super::progress::Progress;
use super::source::Source;
use super::tally::Tally;
use super::{line, note};
pub use args::Args;
use args::Summary;
use plan::{FormatChoice, Plan, Terminals};

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
    let output = Output::open(plan.output.as_deref(), plan.resume)?;
    if let Some(pending) = output.pending().filter(|pending| pending.is_begun_anew())
        && !plan.quiet
    {
        let other = if plan.is_resumable() {
            "; --resume would have gone on from it"
        } else {
            ""
        };
        note(format_args!(
            "{}, left by an earlier run, is written anew{other}",
            pending.name()
        ));
    }
    let report = Report::of(&plan);
    let resumable = plan.is_resumable();
    let started = Instant::now();
    // On a thread of the runtime, which it shares with the work of the service: threads of their own would wait for each
    // other's turn at the processor for longer than what is at hand lasts.
    let task = runtime.spawn(async move {
        // Elsewhere signals do as always: a write to a pipe may wait for ever.
        let ended = match output.pending() {
            None => solve(plan, &output).await,
            Some(_) => tokio::select! {
                ended = solve(plan, &output) => ended,
                Ok(status) = interrupted() => Err(Ended::Interrupted(status)),
            },
        };
        (ended, output)
    });
    let (ended, output) = runtime.block_on(task).context("solving panicked")?;
    match ended {
        Ok(tally) => {
            output.commit()?;
            report.tell(&tally, started.elapsed());
            Ok(tally.status())
        }
        Err(Ended::Unread) => Ok(Status::Solved),
        Err(Ended::Failed(error)) => {
            let Some(partial) = output.abandon() else {
                return Err(error);
            };
            let error = error.context(format!("incomplete, left in {}", partial.display()));
            super::report(&error);
            tell_how_to_go_on(resumable);
            Ok(exit::status_of(&error))
        }
        Err(Ended::NotResumed(error)) => {
            output.abandon();
            Err(error)
        }
        Err(Ended::Interrupted(status)) => {
            match output.abandon() {
                Some(partial) => {
                    note(format_args!(
                        "interrupted: incomplete, left in {}",
                        partial.display()
                    ));
                    tell_how_to_go_on(resumable);
                }
                None => note(format_args!("interrupted: nothing was written")),
            }
            // Whatever it still works on is no longer wanted.
            runtime.shutdown_background();
            Ok(status)
        }
    }
}

fn tell_how_to_go_on(resumable: bool) {
    if resumable {
        note(format_args!("the same command with --resume goes on from there"));
    }
}

/// What is said at the end.
struct Report {
    summary: Option<Summary>,
    quiet: bool,
    all: bool,
}

impl Report {
    fn of(plan: &Plan) -> Self {
        Self {
            summary: plan.summary,
            quiet: plan.quiet,
            all: plan.all,
        }
    }

    fn tell(&self, tally: &Tally, elapsed: Duration) {
        if self.all && tally.beyond_limit() > 0 && !self.quiet {
            note(format_args!(
                "puzzles with {} solutions or more, of which no more are listed: {}",
                plan::ALL,
                tally.beyond_limit()
            ));
        }
        match self.summary {
            Some(Summary::Json) => line(&tally.summary_json(elapsed)),
            Some(Summary::Text) => note(format_args!("{}", tally.summary(elapsed))),
            None if tally.total() > 1 && !self.quiet => note(format_args!("{}", tally.summary(elapsed))),
            None => {}
        }
    }
}

/// Why solving ended early.
enum Ended {
    /// Whoever read the answers has seen enough.
    Unread,
    Failed(anyhow::Error),
    /// What an earlier run left is not of this one.
    NotResumed(anyhow::Error),
    /// Somebody wanted it to end.
    Interrupted(Status),
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
    let (mut puzzles, mut records, read) = feed::start(plan.sources, plan.column);
    let mut tally = Tally::default();
    if let (true, Some(earlier), FormatChoice::Fixed(format)) = (plan.resume, output.pending(), plan.format) {
        let limit = plan.options.solution_limit;
        let passed = resume::pass_over(earlier, format, limit, &mut puzzles, &mut records, &mut tally);
        passed
            .await
            .with_context(|| format!("cannot resume {}", earlier.name()))
            .map_err(Ended::NotResumed)?;
    }
    let mut outcomes = plan.service.solve_many(plan.options, puzzles)?;
    if tally.total() == 0 && records.ahead(1).await == 0 {
        records.finish()?;
    }
    let format = match plan.format {
        FormatChoice::Fixed(format) => format,
        FormatChoice::ByNumber if records.ahead(2).await == 1 => Format::Pretty,
        FormatChoice::ByNumber => Format::Line,
    };
    let looks = Looks {
        pen: Pen::new(plan.drawing, output),
        numbered: !plan.only.is_empty(),
        continued: tally.total() > 0,
    };
    let mut formatter = format.formatter(output.writer(), looks)?;
    let shown = !plan.quiet && !output.is_terminal() && io::stderr().is_terminal();
    let mut progress = Progress::new(shown, read, size);
    let mut write = |outcome: &Outcome, formatter: &mut dyn Formatter| {
        let record = records.next().context("more answers than puzzles")?;
        let answer = Answer {
            number: tally.total() + 1,
            entry: record.entry,
            source: record.source,
            outcome,
            limit: plan.options.solution_limit,
        };
        if plan.only.is_empty() || plan.only.contains(&Kind::of(outcome)) {
            formatter.answer(&answer)?;
        }
        tally.add(&answer);
        progress.advance();
        Ok::<_, Ended>(())
    };
    while let Some(outcome) = next(&mut outcomes, formatter.as_mut()).await? {
        let outcome = outcome.map_err(|error| plan.service.explain(error))?;
        write(&outcome, formatter.as_mut())?;
        outcomes.take_ready(|outcome| write(&outcome, formatter.as_mut()))?;
    }
    // An input that could not be read leaves the output unfinished.
    records.finish()?;
    formatter.finish()?;
    Ok(tally)
}

/// The next outcome. While it is not there yet, what has been written goes out, so that answers never wait for puzzles
/// that are still to come.
async fn next<S: Stream + Unpin>(
    outcomes: &mut S,
    formatter: &mut (dyn Formatter + Send),
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
