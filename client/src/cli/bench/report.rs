//! What is told of a run.

use std::fmt;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde_json::{Map, Value, json};

use super::measured::Totals;
use crate::cli::exit::Status;
use crate::cli::explain::Kind;

/// A run, and what was measured.
#[derive(Debug)]
pub struct Report {
    pub service: String,
    pub stream: bool,
    pub concurrency: usize,
    pub rate: Option<f64>,
    pub elapsed: Duration,
    /// The exit status that a signal calls for, where one ended the run.
    pub interrupted: Option<Status>,
    /// Puzzles that were due and could not be sent.
    pub unsent: u64,
    pub measured: Totals,
}

/// The percentiles that are told.
const PERCENTILES: [f64; 7] = [50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99];

/// The longest bar of the histogram.
const BAR: usize = 40;

impl Report {
    /// The exit status that this calls for.
    pub fn status(&self) -> Status {
        match self.interrupted {
            Some(status) => status,
            None if self.measured.errors.is_empty() => Status::Solved,
            None => Status::Service,
        }
    }

    /// A JSON object, in one line. Times are in milliseconds.
    pub fn to_json(&self) -> String {
        let answers = &self.measured.answers;
        let outcomes: Map<String, Value> = Kind::ALL
            .into_iter()
            .map(|kind| (kind.name().to_owned(), answers.outcomes[kind as usize].into()))
            .collect();
        let object = json!({
            "service": self.service,
            "mode": self.mode(),
            "concurrency": self.concurrency,
            "rate": self.rate,
            "interrupted": self.interrupted.is_some(),
            "seconds": self.elapsed.as_secs_f64(),
            "answered": answers.latency.len(),
            "answered_per_second": self.per_second(),
            "failed": self.failed(),
            "errors": self.measured.errors,
            "unsent": self.unsent,
            "outcomes": outcomes,
            "latency_ms": summary(&answers.latency),
            "service_time_ms": summary(&answers.service_time),
            "histogram": rows(&answers.latency)
                .into_iter()
                .map(|row| json!({ "from_ms": milliseconds(row.from), "to_ms": milliseconds(row.to), "count": row.count }))
                .collect::<Vec<_>>(),
        });
        format!("{object}\n")
    }

    fn mode(&self) -> &'static str {
        if self.stream { "stream" } else { "unary" }
    }

    fn failed(&self) -> u64 {
        self.measured.errors.values().sum()
    }

    fn per_second(&self) -> f64 {
        self.measured.answers.latency.len() as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }
}

/// Tables for people.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let answers = &self.measured.answers;
        let what = match (self.stream, self.concurrency) {
            (false, 1) => "call at once",
            (false, _) => "calls at once",
            (true, 1) => "stream",
            (true, _) => "streams",
        };
        writeln!(f, "service   {}", self.service)?;
        write!(f, "load      {} {what}", self.concurrency)?;
        match self.rate {
            Some(rate) => writeln!(f, ", {rate} puzzles a second")?,
            None => writeln!(f, ", as fast as answers come")?,
        }
        write!(f, "time      {:.3} s", self.elapsed.as_secs_f64())?;
        writeln!(
            f,
            "{}",
            if self.interrupted.is_some() {
                ", interrupted"
            } else {
                ""
            }
        )?;
        let (answered, rate) = (answers.latency.len(), self.per_second());
        writeln!(f, "answered  {answered} puzzles, {rate:.0} a second")?;
        let outcomes = Kind::ALL.into_iter().zip(answers.outcomes);
        let outcomes = outcomes.filter(|(_, count)| *count > 0);
        let outcomes: Vec<_> = outcomes
            .map(|(kind, count)| format!("{count} {}", kind.name()))
            .collect();
        if !outcomes.is_empty() {
            writeln!(f, "outcomes  {}", outcomes.join(", "))?;
        }
        writeln!(f, "failed    {}", self.failed())?;
        for (label, count) in &self.measured.errors {
            writeln!(f, "          {count} {label}")?;
        }
        if self.rate.is_some() {
            writeln!(f, "unsent    {}", self.unsent)?;
        }
        if answered > 0 {
            self.percentiles(f)?;
            histogram(f, &answers.latency)?;
        }
        Ok(())
    }
}

impl Report {
    /// A line for each percentile. Without a rate latency and service time are the same.
    fn percentiles(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let answers = &self.measured.answers;
        writeln!(f)?;
        match self.rate {
            Some(_) => writeln!(f, "{:>8}  {:>12}  {:>12}", "in ms", "latency", "service time")?,
            None => writeln!(f, "{:>8}  {:>12}", "in ms", "latency")?,
        }
        let mut line = |name: &str, of: &dyn Fn(&Histogram<u64>) -> f64| {
            write!(f, "{name:>8}  {:>12.3}", of(&answers.latency))?;
            if self.rate.is_some() {
                write!(f, "  {:>12.3}", of(&answers.service_time))?;
            }
            writeln!(f)
        };
        line("min", &|times| milliseconds(times.min()))?;
        for percentile in PERCENTILES {
            line(&format!("{percentile} %"), &|times| {
                milliseconds(times.value_at_percentile(percentile))
            })?;
        }
        line("max", &|times| milliseconds(times.max()))?;
        line("mean", &|times| times.mean() / 1e6)
    }
}

/// The latencies by their size: a line for each step of 1, 2, 5, 10 and so on, from the shortest to the longest.
fn histogram(f: &mut fmt::Formatter<'_>, times: &Histogram<u64>) -> fmt::Result {
    writeln!(f)?;
    writeln!(f, "{:>23}  {:>12}", "latency in ms", "puzzles")?;
    for row in rows(times) {
        let share = row.count as f64 / times.len() as f64;
        let bar = (share * BAR as f64).round() as usize;
        // What is there is seen, however little it is.
        let bar = bar.max(usize::from(row.count > 0));
        let (from, to) = (milliseconds(row.from), milliseconds(row.to));
        let line = format!("{from:>9} to {to:>10}  {:>12}  {}", row.count, "#".repeat(bar));
        writeln!(f, "{}", line.trim_end())?;
    }
    Ok(())
}

/// How many of the latencies lie from one bound, in nanoseconds, up to below the next.
struct Row {
    from: u64,
    to: u64,
    count: u64,
}

fn rows(times: &Histogram<u64>) -> Vec<Row> {
    let mut rows: Vec<Row> = steps()
        .skip_while(|(_, to)| *to <= times.min())
        .take_while(|(from, _)| *from <= times.max())
        .map(|(from, to)| Row { from, to, count: 0 })
        .collect();
    let mut index = 0;
    for times in times.iter_recorded() {
        while rows
            .get(index)
            .is_some_and(|row| row.to <= times.value_iterated_to())
            && index + 1 < rows.len()
        {
            index += 1;
        }
        if let Some(row) = rows.get_mut(index) {
            row.count += times.count_since_last_iteration();
        }
    }
    rows
}

/// From 0 to 1 us, from there to 2 us, to 5 us, to 10 us, and so on.
fn steps() -> impl Iterator<Item = (u64, u64)> {
    let decades = (3..=18).map(|exponent| 10_u64.pow(exponent));
    let bounds = decades.flat_map(|decade| [1, 2, 5].map(|step| step * decade));
    let mut from = 0;
    bounds.map(move |to| (std::mem::replace(&mut from, to), to))
}

fn summary(times: &Histogram<u64>) -> Value {
    if times.is_empty() {
        return Value::Null;
    }
    let mut object = Map::new();
    let mut add = |name: String, value: f64| object.insert(name, value.into());
    add("min".into(), milliseconds(times.min()));
    for percentile in PERCENTILES {
        let value = milliseconds(times.value_at_percentile(percentile));
        add(format!("p{percentile}"), value);
    }
    add("max".into(), milliseconds(times.max()));
    add("mean".into(), times.mean() / 1e6);
    object.into()
}

fn milliseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_latency_is_in_one_row() {
        let mut times = Histogram::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
        for exponent in 0..12 {
            for digit in 1..10 {
                times.record(digit * 10_u64.pow(exponent)).unwrap();
            }
        }
        let rows = rows(&times);
        assert_eq!(rows.iter().map(|row| row.count).sum::<u64>(), times.len());
        assert!(rows.windows(2).all(|pair| pair[0].to == pair[1].from));
        assert_eq!(rows.first().unwrap().from, 0);
    }

    #[test]
    fn rows_begin_and_end_where_latencies_do() {
        let mut times = Histogram::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
        times.record(1_500_000).unwrap();
        times.record(7_000_000).unwrap();
        let rows: Vec<_> = rows(&times)
            .iter()
            .map(|row| (row.from, row.to, row.count))
            .collect();
        assert_eq!(
            rows,
            [
                (1_000_000, 2_000_000, 1),
                (2_000_000, 5_000_000, 0),
                (5_000_000, 10_000_000, 1)
            ]
        );
    }
}
