//! What a puzzle costs in `SolveMany`, and a call of `Solve`, against a bare echo of the same messages and the engine alone.
//!
//!     cargo bench --bench throughput -- --help
//!
//! Server and load are processes of their own, each pinned to one core. What is compared is the server's processor time: it
//! is the server's alone, and the machine's other work hardly changes it. Rates count only where the server's core was busy
//! all the time, since else it is the load that was measured. All that a ratio compares is measured in turn, round by round;
//! a ratio is the median of those of the rounds.

mod support;

use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, Instant};

use clap::Parser;
use serde::Serialize;
use support::load::{StreamLoad, Tally, connect, verify};
use support::process::{Process, Program, server_binary};
use support::sets::Set;
use support::{cpu, echo, median, on_this_thread, unary};

// As the server's, so that the echo allocates at the same cost.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const AFTER_HELP: &str = "\
Scenarios:
  17_clue, easy_kaggle, hardest_11plus    a stream with 256 puzzles a message
  one-a-message    17_clue, a stream with one puzzle a message
  unary            17_clue, 50 calls of Solve at once
  four-streams     hardest_11plus, four streams, the server on one core and then on two
  64-streams       17_clue, 64 streams with 256 puzzles a message

The puzzles come from ../shared/puzzles, or where that is missing from the fixtures of the tests.";

const SCENARIOS: [&str; 7] = [
    "17_clue",
    "64-streams",
    "easy_kaggle",
    "hardest_11plus",
    "one-a-message",
    "unary",
    "four-streams",
];

/// Measures the server against an echo and the engine alone.
#[derive(Debug, Parser)]
#[command(after_help = AFTER_HELP)]
struct Args {
    /// Measure these scenarios only
    #[arg(value_name = "SCENARIO", value_parser = SCENARIOS)]
    only: Vec<String>,

    /// Seconds for each measurement, after half as long to warm up
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,

    /// How often everything is measured
    #[arg(long, default_value_t = 3)]
    rounds: usize,

    /// What the peer takes for a puzzle of 17_clue, in nanoseconds, measured on this machine
    #[arg(long, value_name = "NANOSECONDS")]
    peer_ns: Option<f64>,

    /// Measure the rates with 1 to 2,048 puzzles a message, for the picture, and only the scenarios that are named
    #[arg(long)]
    sweep: bool,

    /// Stream so many puzzles and watch the server's memory, instead of all else
    #[arg(long, value_name = "PUZZLES")]
    soak: Option<u64>,

    /// Write all figures to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Measure this server instead of the one of this checkout
    #[arg(long, value_name = "FILE")]
    server: Option<PathBuf>,

    /// Give the server this argument
    #[arg(long, value_name = "ARGUMENT", allow_hyphen_values = true)]
    server_arg: Vec<String>,

    /// Run as the echo, as the benchmark starts it
    #[arg(long, hide = true)]
    as_echo: bool,

    /// What cargo passes to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

/// What is sent.
#[derive(Debug, Clone, Serialize)]
struct Traffic {
    set: &'static str,
    /// 0 for calls of `Solve`.
    puzzles_per_message: usize,
    /// Streams, or calls at once.
    at_once: usize,
    connections: usize,
}

/// Something to measure.
#[derive(Debug, Clone)]
struct Case {
    name: String,
    traffic: Traffic,
    on: On,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum On {
    /// The engine within this process.
    Engine,
    Echo,
    Server,
    /// The server on both cores, one of which the load needs too.
    ServerOnTwoCores,
}

/// What one measurement gave.
#[derive(Debug, Clone, Copy, Serialize)]
struct Figures {
    /// Puzzles, or calls, a second.
    rate: f64,
    /// Processor time for each, in nanoseconds.
    cpu_ns: f64,
    /// How much of its cores the server used, 0 to 1.
    busy: f64,
    /// How long messages took, in microseconds.
    p50_us: f64,
    p99_us: f64,
}

/// A ratio that the server is held to.
#[derive(Debug, Serialize)]
struct Row {
    what: &'static str,
    value: f64,
    required: f64,
    aim: f64,
}

/// All figures of a case, a round each.
#[derive(Debug, Serialize)]
struct Report {
    #[serde(flatten)]
    traffic: Traffic,
    rounds: Vec<Figures>,
}

/// What is written to the file.
#[derive(Debug, Serialize)]
struct Output<'a> {
    peer_ns: Option<f64>,
    cases: &'a BTreeMap<String, Report>,
    rows: &'a [Row],
}

fn main() -> ExitCode {
    let args = Args::parse();
    if args.as_echo {
        echo::serve();
        return ExitCode::SUCCESS;
    }
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("throughput: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> io::Result<()> {
    let bench = Bench::new(args)?;
    if let Some(puzzles) = args.soak {
        return bench.soak(puzzles);
    }
    let cases = cases(args);
    let mut reports = BTreeMap::new();
    print_head();
    for _ in 0..args.rounds {
        for case in &cases {
            let figures = bench.measure(case)?;
            print_figures(&case.name, &figures);
            let report = reports.entry(case.name.clone()).or_insert_with(|| Report {
                traffic: case.traffic.clone(),
                rounds: Vec::new(),
            });
            report.rounds.push(figures);
        }
    }
    let rows = rows(&reports, args.peer_ns);
    if !rows.is_empty() {
        print_rows(&rows);
    }
    if let Some(path) = &args.json {
        let output = Output {
            peer_ns: args.peer_ns,
            cases: &reports,
            rows: &rows,
        };
        std::fs::write(path, serde_json::to_string_pretty(&output)? + "\n")?;
    }
    Ok(())
}

/// What is measured in a round, in this order.
fn cases(args: &Args) -> Vec<Case> {
    let stream = |set, puzzles_per_message| Traffic {
        set,
        puzzles_per_message,
        at_once: 1,
        connections: 1,
    };
    let many = |set, at_once, connections| Traffic {
        at_once,
        connections,
        ..stream(set, 256)
    };
    let calls = Traffic {
        at_once: 50,
        ..stream("17_clue", 0)
    };
    let scenarios: [(&str, Traffic, &[On]); 7] = [
        (
            "17_clue",
            stream("17_clue", 256),
            &[On::Engine, On::Echo, On::Server],
        ),
        ("64-streams", many("17_clue", 64, 1), &[On::Server]),
        (
            "easy_kaggle",
            stream("easy_kaggle", 256),
            &[On::Engine, On::Echo, On::Server],
        ),
        (
            "hardest_11plus",
            stream("hardest_11plus", 256),
            &[On::Engine, On::Server],
        ),
        ("one-a-message", stream("17_clue", 1), &[On::Echo, On::Server]),
        ("unary", calls, &[On::Echo, On::Server]),
        (
            "four-streams",
            many("hardest_11plus", 4, 4),
            &[On::Server, On::ServerOnTwoCores],
        ),
    ];
    let mut cases = Vec::new();
    for (name, traffic, runs) in scenarios {
        if args.only.is_empty() && !args.sweep || args.only.iter().any(|only| only == name) {
            cases.extend(runs.iter().map(|&on| Case::new(name, &traffic, on)));
        }
    }
    if args.sweep {
        for puzzles in [1, 4, 16, 64, 256, 1_024, 2_048] {
            let traffic = stream("17_clue", puzzles);
            let name = format!("sweep-{puzzles:04}");
            cases.extend([On::Echo, On::Server].map(|on| Case::new(&name, &traffic, on)));
        }
    }
    cases
}

impl Case {
    fn new(scenario: &str, traffic: &Traffic, on: On) -> Self {
        let on_name = match on {
            On::Engine => "engine",
            On::Echo => "echo",
            On::Server => "server",
            On::ServerOnTwoCores => "server-on-two-cores",
        };
        Self {
            name: format!("{scenario}/{on_name}"),
            traffic: traffic.clone(),
            on,
        }
    }
}

impl Traffic {
    /// How many messages a stream keeps under way: enough that the server is never short of puzzles.
    fn depth(&self) -> usize {
        let puzzles = 8_192 / self.at_once;
        (puzzles / self.puzzles_per_message.max(1)).max(4)
    }
}

struct Bench {
    server: Program,
    server_core: usize,
    load_core: usize,
    warm_up: Duration,
    time: Duration,
}

impl Bench {
    fn new(args: &Args) -> io::Result<Self> {
        let server = Program::Ours(server_binary(args.server.as_deref())?, args.server_arg.clone());
        let [server_core, load_core, ..] = cpu::cores()?[..] else {
            return Err(io::Error::other(
                "it takes two cores, one for the server and one for the load",
            ));
        };
        Ok(Self {
            server,
            server_core,
            load_core,
            warm_up: Duration::from_secs_f64(args.seconds / 2.0),
            time: Duration::from_secs_f64(args.seconds),
        })
    }

    fn measure(&self, case: &Case) -> io::Result<Figures> {
        let set = Set::read(case.traffic.set)?;
        let (program, cores) = match case.on {
            On::Engine => return self.engine(&set),
            On::Echo => (&Program::Echo, vec![self.server_core]),
            On::Server => (&self.server, vec![self.server_core]),
            On::ServerOnTwoCores => (&self.server, vec![self.server_core, self.load_core]),
        };
        let process = Process::start(program, &cores, &[self.load_core])?;
        let load = self.load(&process, &set, &case.traffic, case.on != On::Echo);
        on_this_thread(async {
            let (load, tally) = load.await?;
            let per_message = case.traffic.puzzles_per_message.max(1) as f64;
            let measuring = async {
                tokio::time::sleep(self.warm_up).await;
                let (begin, cpu, messages) = (Instant::now(), process.cpu_time()?, tally.messages.get());
                tally.timing.set(true);
                tokio::time::sleep(self.time).await;
                let (wall, cpu) = (begin.elapsed().as_secs_f64(), process.cpu_time()? - cpu);
                let puzzles = (tally.messages.get() - messages) as f64 * per_message;
                Ok(Figures {
                    rate: puzzles / wall,
                    cpu_ns: cpu.as_secs_f64() * 1e9 / puzzles,
                    busy: cpu.as_secs_f64() / wall / cores.len() as f64,
                    p50_us: tally.latency(0.5) * 1e6,
                    p99_us: tally.latency(0.99) * 1e6,
                })
            };
            tokio::select! {
                figures = measuring => figures,
                error = load => Err(error),
            }
        })
    }

    /// The engine by itself, on the server's core.
    fn engine(&self, set: &Set) -> io::Result<Figures> {
        cpu::pin(&[self.server_core])?;
        set.engine_time(self.warm_up);
        let seconds = set.engine_time(self.time).as_secs_f64();
        cpu::pin(&[self.load_core])?;
        Ok(Figures {
            rate: 1.0 / seconds,
            cpu_ns: seconds * 1e9,
            busy: 1.0,
            p50_us: f64::NAN,
            p99_us: f64::NAN,
        })
    }

    /// Opens what the traffic consists of. What is returned ends only in an error.
    async fn load(
        &self,
        process: &Process,
        set: &Set,
        traffic: &Traffic,
        solves: bool,
    ) -> io::Result<(impl Future<Output = io::Error> + use<>, Rc<Tally>)> {
        let tally = Rc::new(Tally::default());
        let mut clients = Vec::new();
        for _ in 0..traffic.connections {
            clients.push(connect(process.address).await?);
        }
        let (ended, mut end) = tokio::sync::mpsc::unbounded_channel();
        let clients = clients.iter().cycle().take(traffic.at_once);
        if traffic.puzzles_per_message == 0 {
            let frames = Rc::new(set.calls());
            for (index, client) in clients.enumerate() {
                let start = index * frames.len() / traffic.at_once;
                let calls = unary::calls(client.clone(), Rc::clone(&frames), start, Rc::clone(&tally));
                let ended = ended.clone();
                tokio::task::spawn_local(async move { ended.send(calls.await) });
            }
        } else {
            let frames = set.frames(traffic.puzzles_per_message);
            for client in clients {
                if tally.messages.get() == 0 {
                    verify(client, &frames, solves).await?;
                }
                let stream =
                    StreamLoad::open(client, frames.clone(), traffic.depth(), Rc::clone(&tally)).await?;
                let ended = ended.clone();
                tokio::task::spawn_local(async move { ended.send(stream.run().await) });
            }
        }
        let end = async move {
            end.recv()
                .await
                .unwrap_or_else(|| io::Error::other("the load is gone"))
        };
        Ok((end, tally))
    }

    /// Streams so many puzzles, and prints the server's memory on the way.
    fn soak(&self, puzzles: u64) -> io::Result<()> {
        let set = Set::read("17_clue")?;
        let traffic = Traffic {
            set: "17_clue",
            puzzles_per_message: 256,
            at_once: 4,
            connections: 4,
        };
        let process = Process::start(&self.server, &[self.server_core], &[self.load_core])?;
        let mebibytes = || {
            let bytes = process.resident_bytes()?;
            Ok::<_, io::Error>(bytes as f64 / 1024.0 / 1024.0)
        };
        println!("{:>14}  {:>12}", "puzzles", "memory, MiB");
        println!("{:>14}  {:>12.1}", 0, mebibytes()?);
        on_this_thread(async {
            let (load, tally) = self.load(&process, &set, &traffic, true).await?;
            let watching = async {
                for tenth in 1..=10 {
                    let goal = puzzles * tenth / 10;
                    while tally.messages.get() * 256 < goal {
                        tokio::time::sleep(Duration::from_millis(5)).await;
                    }
                    println!("{goal:>14}  {:>12.1}", mebibytes()?);
                }
                Ok(())
            };
            tokio::select! {
                watched = watching => watched,
                error = load => Err(error),
            }
        })
    }
}

/// The ratios that can be told from what was measured.
fn rows(reports: &BTreeMap<String, Report>, peer_ns: Option<f64>) -> Vec<Row> {
    let cost = |case: &'static str| move |round: usize| Some(reports.get(case)?.rounds.get(round)?.cpu_ns);
    let rate = |case: &'static str| move |round: usize| Some(reports.get(case)?.rounds.get(round)?.rate);
    let (server, echo, engine) = (
        cost("17_clue/server"),
        cost("17_clue/echo"),
        cost("17_clue/engine"),
    );
    let (easy, easy_echo) = (cost("easy_kaggle/server"), cost("easy_kaggle/echo"));
    let (hardest, hardest_engine) = (cost("hardest_11plus/server"), cost("hardest_11plus/engine"));
    let (one, one_echo) = (cost("one-a-message/server"), cost("one-a-message/echo"));
    let (call, call_echo) = (cost("unary/server"), cost("unary/echo"));
    let (one_core, two_cores) = (
        rate("four-streams/server"),
        rate("four-streams/server-on-two-cores"),
    );
    let streams = cost("64-streams/server");
    let mut rows = Vec::new();
    let mut add = |what, required, aim, ratio: &dyn Fn(usize) -> Option<f64>| {
        let ratios: Vec<f64> = (0..).map_while(ratio).collect();
        if !ratios.is_empty() {
            let value = median(ratios);
            rows.push(Row {
                what,
                value,
                required,
                aim,
            });
        }
    };
    add("17_clue: (server - engine) / echo", 0.75, 0.6, &|round| {
        Some((server(round)? - engine(round)?) / echo(round)?)
    });
    add("easy_kaggle: server / echo", 1.0, 0.9, &|round| {
        Some(easy(round)? / easy_echo(round)?)
    });
    add("17_clue: engine / server", 0.6, 0.68, &|round| {
        Some(engine(round)? / server(round)?)
    });
    add("17_clue: peer / server", 8.0, 9.5, &|round| {
        Some(peer_ns? / server(round)?)
    });
    add("hardest_11plus: engine / server", 0.95, 0.98, &|round| {
        Some(hardest_engine(round)? / hardest(round)?)
    });
    add("one a message: server / echo", 1.7, 1.45, &|round| {
        Some(one(round)? / one_echo(round)?)
    });
    add("unary: server / echo", 1.6, 1.35, &|round| {
        Some(call(round)? / call_echo(round)?)
    });
    add("four streams: rate on two cores / on one", 1.8, 1.9, &|round| {
        Some(two_cores(round)? / one_core(round)?)
    });
    add("64 streams / one", 1.1, 1.0, &|round| {
        Some(streams(round)? / server(round)?)
    });
    rows
}

fn print_head() {
    if io::stdout().is_terminal() {
        println!(
            "cpu: of the server, a puzzle or a call. busy: of the server's cores. p50, p99: of a message."
        );
    }
    println!(
        "{:<34} {:>12} {:>10} {:>6} {:>10} {:>10}",
        "", "per second", "cpu, ns", "busy", "p50, us", "p99, us"
    );
}

fn print_figures(name: &str, figures: &Figures) {
    let Figures {
        rate,
        cpu_ns,
        busy,
        p50_us,
        p99_us,
    } = figures;
    let note = if *busy < 0.95 {
        "  the server was not busy"
    } else {
        ""
    };
    println!("{name:<34} {rate:>12.0} {cpu_ns:>10.1} {busy:>6.2} {p50_us:>10.0} {p99_us:>10.0}{note}");
}

fn print_rows(rows: &[Row]) {
    println!("\n{:<44} {:>8} {:>9} {:>6}", "", "ratio", "required", "aim");
    for Row {
        what,
        value,
        required,
        aim,
    } in rows
    {
        println!("{what:<44} {value:>8.3} {required:>9} {aim:>6}");
    }
}
