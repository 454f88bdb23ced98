//! `sudoku-client check`.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::time::Duration;

use anyhow::{Context, ensure};
use sudoku_client::{Outcome, SolveOptions};
use sudoku_engine::Grid;

use super::draw::{self, Ink, Pen};
use super::exit::Status;
use super::explain;
use super::output::Output;
use super::service::{self, Which};
use super::source::Source;

/// The arguments, as typed.
#[derive(Debug, clap::Args)]
#[command(about = ABOUT, after_long_help = LONG_HELP)]
pub struct Args {
    /// The puzzle, a file with one, or `-` for standard input
    ///
    /// An argument that reads as a grid is the puzzle, in any form that `solve` reads. Any other argument is a file.
    #[arg(value_name = "PUZZLE|FILE|-")]
    input: OsString,

    #[command(flatten)]
    service: service::Args,

    /// Give up after this time, such as 500ms or 10s [default: the service's, 1s]
    #[arg(long, value_name = "TIME", value_parser = super::patience)]
    time_limit: Option<Duration>,

    #[command(flatten)]
    drawing: draw::Args,
}

const ABOUT: &str = "Tell whether a puzzle is a proper one, with exactly one solution, and show why not";

const LONG_HELP: &str = concat!(
    "\
Of a proper puzzle the clues are drawn, and nothing of the solution is shown. Where clues contradict each other, they \
are marked; where there are several solutions, two are drawn, with the cells in which they differ marked. A mark is red \
and underlined, or an asterisk where there are no colours.

Examples:
  sudoku-client check \\
    53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79
  sudoku-client check puzzle.txt

Exit status:
  0  a proper puzzle
  1  not: several solutions, none, or undecided within the time limit
  2  wrong usage, or not a puzzle
  3  the service could not do it

",
    include_str!("environment.txt"),
    include_str!("environment_solving.txt"),
    include_str!("environment_drawing.txt"),
);

/// The most bytes that a file with a single puzzle may have.
const LONGEST: u64 = 1 << 20;

/// What the arguments mean.
struct Plan {
    puzzle: Grid,
    service: Which,
    options: SolveOptions,
    pen: Pen,
}

impl Plan {
    fn new(args: Args) -> anyhow::Result<Self> {
        let source = Source::from_argument(&args.input)?;
        let options = SolveOptions::new().time_limit(args.time_limit);
        Ok(Self {
            puzzle: puzzle(&source)?,
            service: Which::new(args.service, &options)?,
            options,
            pen: Pen::new(args.drawing, &Output::Stdout),
        })
    }
}

/// The one puzzle of a source.
fn puzzle(source: &Source) -> anyhow::Result<Grid> {
    let unreadable = || format!("cannot read {}", source.name());
    let mut bytes = Vec::new();
    match source {
        Source::Puzzle(grid) => return Ok(*grid),
        Source::Stdin => io::stdin().lock().take(LONGEST + 1).read_to_end(&mut bytes),
        Source::File(path) => {
            File::open(path).and_then(|file| file.take(LONGEST + 1).read_to_end(&mut bytes))
        }
    }
    .with_context(unreadable)?;
    ensure!(
        bytes.len() as u64 <= LONGEST,
        "{} is too long for a single puzzle",
        source.name()
    );
    super::feed::single(&bytes).with_context(|| source.name())
}

/// Tells whether the puzzle that `args` name is a proper one.
///
/// # Errors
///
/// There is no puzzle, or the service could not do it.
pub fn run(args: Args) -> anyhow::Result<Status> {
    let plan = Plan::new(args)?;
    let runtime = tokio::runtime::Runtime::new().context("cannot start")?;
    let outcome = runtime.block_on(plan.service.solve(plan.options, &plan.puzzle))?;
    let text = format!("{}\n", report(&plan.puzzle, &outcome, plan.pen));
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(error).context("cannot write the answer")
        }
        _ if outcome.is_unique() => Ok(Status::Solved),
        _ => Ok(Status::NotAllSolved),
    }
}

/// The drawing that shows what was found out, and what that is.
fn report(puzzle: &Grid, outcome: &Outcome, pen: Pen) -> String {
    if let [one, other, ..] = outcome.solutions() {
        // They come in any order; so the same puzzle gives the same drawing each time.
        let (first, second) = if one.cells() < other.cells() {
            (one, other)
        } else {
            (other, one)
        };
        return two_solutions(puzzle, first, second, pen);
    }
    let (drawing, verdict) = match outcome {
        Outcome::Unique { .. } => {
            let verdict = format!("proper: exactly one solution, from {} clues", puzzle.clues());
            (pen.draw(puzzle, |cell| clue(puzzle, cell)), verdict)
        }
        Outcome::Unsolvable { conflicts } if !conflicts.is_empty() => {
            let verdict = format!("not proper: {}", explain::conflicts(conflicts));
            (
                pen.draw(puzzle, |cell| explain::ink(puzzle, conflicts, cell)),
                verdict,
            )
        }
        Outcome::Unsolvable { .. } => (
            pen.draw(puzzle, |cell| clue(puzzle, cell)),
            "not proper: no solution, though no clue contradicts another".to_owned(),
        ),
        _ => (
            pen.draw(puzzle, |cell| clue(puzzle, cell)),
            "undecided: out of time; --time-limit gives it more".to_owned(),
        ),
    };
    format!("{drawing}\n{}", pen.wrap(&verdict))
}

fn two_solutions(puzzle: &Grid, first: &Grid, second: &Grid, pen: Pen) -> String {
    let differs = |cell: usize| first.get(cell) != second.get(cell);
    let ink = |cell| match clue(puzzle, cell) {
        Ink::Clue => Ink::Clue,
        _ if differs(cell) => Ink::Marked,
        _ => Ink::Found,
    };
    let cells: Vec<usize> = (0..81).filter(|&cell| differs(cell)).collect();
    // So many names would help nobody; they are marked in the drawings.
    let names = match cells.len() {
        0..=12 => cells
            .iter()
            .map(|&cell| format!(" {}", explain::cell(cell)))
            .collect(),
        _ => String::new(),
    };
    let colon = if names.is_empty() { "" } else { ":" };
    let verdict = format!(
        "not proper: several solutions, of which these two differ in {} cells{colon}{names}",
        cells.len()
    );
    let drawings = pen.pair(&pen.draw(first, ink), &pen.draw(second, ink));
    format!("{drawings}\n{}", pen.wrap(&verdict))
}

fn clue(puzzle: &Grid, cell: usize) -> Ink {
    match puzzle.get(cell) {
        Some(_) => Ink::Clue,
        None => Ink::Blank,
    }
}
