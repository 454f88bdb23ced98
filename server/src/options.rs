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
    #[inline]
    pub fn read(wire: Option<&SolveOptions>, puzzles: usize, limits: &Limits) -> Result<Self, Error> {
        match wire {
            Some(wire) => Self::of(wire, puzzles, limits),
            None => Ok(Self {
                solution_limit: DEFAULT_SOLUTION_LIMIT,
                time_limit: limits.default_time_limit,
                omit_solutions: false,
            }),
        }
    }

    fn of(wire: &SolveOptions, puzzles: usize, limits: &Limits) -> Result<Self, Error> {
        Ok(Self {
            solution_limit: solution_limit(wire.solution_limit, puzzles, limits.max_solution_limit)?,
            time_limit: match &wire.time_limit {
                Some(time) => time_limit(time, limits.max_time_limit)?,
                None => limits.default_time_limit,
            },
            omit_solutions: wire.omit_solutions,
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
    if limit > 2 && u64::from(limit).saturating_mul(puzzles as u64) > u64::from(most) {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(wire: SolveOptions, puzzles: usize) -> Result<Options, (&'static str, String)> {
        Options::read(Some(&wire), puzzles, &Limits::default()).map_err(|error| match error {
            Error::OptionOutOfRange { field, problem } => (field, problem),
            other => panic!("{other:?}"),
        })
    }

    fn limit(solution_limit: u32, puzzles: usize) -> Result<u32, String> {
        let wire = SolveOptions {
            solution_limit,
            ..SolveOptions::default()
        };
        read(wire, puzzles)
            .map(|options| options.solution_limit)
            .map_err(|(field, problem)| {
                assert_eq!(field, "options.solution_limit");
                problem
            })
    }

    fn time(seconds: i64, nanos: i32) -> Result<Duration, String> {
        let wire = SolveOptions {
            time_limit: Some(WireDuration { seconds, nanos }),
            ..SolveOptions::default()
        };
        read(wire, 1)
            .map(|options| options.time_limit)
            .map_err(|(field, problem)| {
                assert_eq!(field, "options.time_limit");
                problem
            })
    }

    #[test]
    fn absent_options_are_the_defaults() {
        let expected = Options {
            solution_limit: 2,
            time_limit: Duration::from_secs(1),
            omit_solutions: false,
        };
        assert_eq!(Options::read(None, 2_048, &Limits::default()), Ok(expected));
        assert_eq!(read(SolveOptions::default(), 2_048), Ok(expected));
    }

    #[test]
    fn solution_limits() {
        assert_eq!(limit(0, 1), Ok(2));
        assert_eq!(limit(1, 1), Ok(1));
        assert_eq!(limit(10_000, 1), Ok(10_000));
        assert_eq!(limit(10_001, 1).unwrap_err(), "is 10001; it may be at most 10000");
        assert!(limit(u32::MAX, 1).is_err());
    }

    #[test]
    fn a_solution_limit_times_many_puzzles() {
        assert_eq!(limit(1, 1_000_000), Ok(1));
        assert_eq!(limit(2, 1_000_000), Ok(2));
        assert_eq!(limit(3, 3_333), Ok(3));
        assert!(limit(3, 3_334).is_err());
        assert_eq!(limit(10_000, 0), Ok(10_000));
        assert!(limit(10_001, 0).is_err());
        assert!(limit(10_000, usize::MAX).is_err(), "the product fits no integer");
    }

    #[test]
    fn time_limits() {
        assert_eq!(time(0, 1), Ok(Duration::from_nanos(1)));
        assert_eq!(time(60, 0), Ok(Duration::from_secs(60)));
        assert_eq!(
            time(0, 0).unwrap_err(),
            "is 0ns; it must be above 0 and at most 60s"
        );
        assert!(time(60, 1).is_err());
        assert!(time(-1, 0).unwrap_err().starts_with("is negative"));
        assert!(time(0, -1).unwrap_err().starts_with("is negative"));
        assert!(time(i64::MIN, -999_999_999).is_err());
        assert!(time(i64::MAX, 999_999_999).is_err());
    }

    #[test]
    fn what_is_no_duration() {
        for (seconds, nanos) in [(1, 1_000_000_000), (1, i32::MAX), (1, i32::MIN), (1, -1), (-1, 1)] {
            assert!(time(seconds, nanos).unwrap_err().contains("no duration"));
        }
    }
}
