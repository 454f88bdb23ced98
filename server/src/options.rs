//! The options of a request, read and held against the limits.

use std::time::Duration;

use prost_types::Duration as WireDuration;
use sudoku_proto::v1::SolveOptions;

use crate::error::Error;
use crate::settings::Limits;

/// Options within their ranges, the defaults filled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Options {
    /// After how many solutions a search stops: 1 or more.
    pub solution_limit: u32,
    /// How long a search may take from its first step.
    pub time_limit: Duration,
    /// Whether only the number of solutions is asked for.
    pub omit_solutions: bool,
}

const SOLUTION_LIMIT: &str = "options.solution_limit";
const TIME_LIMIT: &str = "options.time_limit";

/// What `solution_limit` 0 means.
const DEFAULT_SOLUTION_LIMIT: u32 = 2;

impl Options {
    /// Reads the options of a request with `puzzles` puzzles.
    ///
    /// # Errors
    ///
    /// `OptionOutOfRange` with the field's name.
    pub fn read(wire: Option<&SolveOptions>, puzzles: usize, limits: &Limits) -> Result<Self, Error> {
        let (limit, time, omit_solutions) = match wire {
            Some(wire) => (wire.solution_limit, wire.time_limit.as_ref(), wire.omit_solutions),
            None => (0, None, false),
        };
        Ok(Self {
            solution_limit: solution_limit(limit, puzzles, limits.solution_limit)?,
            time_limit: time.map_or(Ok(limits.default_time_limit), |time| {
                time_limit(time, limits.max_time_limit)
            })?,
            omit_solutions,
        })
    }
}

fn solution_limit(limit: u32, puzzles: usize, most: u32) -> Result<u32, Error> {
    if limit == 0 {
        return Ok(DEFAULT_SOLUTION_LIMIT);
    }
    let refused = |problem| {
        Err(Error::OptionOutOfRange {
            field: SOLUTION_LIMIT,
            problem,
        })
    };
    if limit > most {
        return refused(format!("is {limit}; it may be at most {most}"));
    }
    if limit > 2 && u64::from(limit) * puzzles as u64 > u64::from(most) {
        return refused(format!(
            "is {limit}, with {puzzles} puzzles in the message; a limit above 2 times the puzzles may be at most {most}"
        ));
    }
    Ok(limit)
}

fn time_limit(time: &WireDuration, most: Duration) -> Result<Duration, Error> {
    let range = || format!("it must be above 0 and at most {most:?}");
    let refused = |problem| Error::OptionOutOfRange {
        field: TIME_LIMIT,
        problem,
    };
    // Checked before the conversion, which would carry stray nanoseconds over instead of refusing them.
    if !(-999_999_999..=999_999_999).contains(&time.nanos) {
        return Err(refused(format!(
            "has {} nanoseconds, which is no duration",
            time.nanos
        )));
    }
    if (time.seconds > 0 && time.nanos < 0) || (time.seconds < 0 && time.nanos > 0) {
        return Err(refused(
            "has seconds and nanoseconds of opposite signs, which is no duration".to_owned(),
        ));
    }
    let (Ok(seconds), Ok(nanos)) = (u64::try_from(time.seconds), u32::try_from(time.nanos)) else {
        return Err(refused(format!("is negative; {}", range())));
    };
    let limit = Duration::new(seconds, nanos);
    if limit.is_zero() || limit > most {
        return Err(refused(format!("is {limit:?}; {}", range())));
    }
    Ok(limit)
}
