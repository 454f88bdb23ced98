//! A server under abuse: what it takes before, meanwhile and after, and a caller who minds his own business all the while.

use std::cell::Cell;
use std::collections::HashMap;
use std::fs;
use std::time::Duration;

use sudoku_proto::v1::sudoku_service_client::SudokuServiceClient;
use sudoku_proto::v1::{Outcome, SolveManyRequest, SolveResult};
use test_support::operators::metrics;
use test_support::puzzles::numbered;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;
use tonic::transport::Channel;

use crate::support::{PATIENCE, Server, Signal, solve, start_for_operators, until};

const MIB: u64 = 1024 * 1024;

/// How much more memory the server may have in use after an abuse than before. It is what allocators keep for the next
/// time, and no more after ten times as much abuse.
const KEPT: u64 = 32 * MIB;

/// How many times harder than in the suite: `just abuse` sets it.
pub fn harder() -> usize {
    std::env::var("ABUSE").map_or(1, |times| times.parse().expect("ABUSE is a number"))
}

pub struct Victim {
    pub server: Server,
    admin: String,
    before: Figures,
    honest: Honest,
}

/// What a server takes.
#[derive(Debug, Clone, Copy)]
struct Figures {
    memory: u64,
    files: usize,
    threads: usize,
    tasks: f64,
}

impl Victim {
    /// A server that has worked a little, and what it takes then.
    pub async fn start(arguments: &[&str]) -> Self {
        let (server, admin) = start_for_operators(arguments);
        let mut first = Honest::connect(&server).await;
        for _ in 0..20 {
            first.works().await;
        }
        drop(first);
        let mut honest = Honest::connect(&server).await;
        honest.works().await;
        let mut victim = Self {
            before: Figures::of(&server, &admin),
            server,
            admin,
            honest,
        };
        // The first caller's connection may not be gone yet.
        until("one connection is left", || async {
            metrics(&victim.admin)["sudoku_connections"] == 1.0
        })
        .await;
        victim.before = Figures::of(&victim.server, &victim.admin);
        victim
    }

    pub fn metrics(&self) -> HashMap<String, f64> {
        metrics(&self.admin)
    }

    /// How often something was turned away for this reason.
    pub fn rejected(&self, reason: &str) -> f64 {
        self.metrics()[&format!("sudoku_rejected_total{{reason=\"{reason}\"}}")]
    }

    /// Does something to the server, while an honest caller gets all answers on a connection from before. Gives what came of
    /// it, and prints the most memory in use.
    pub async fn suffers<T>(&mut self, what: &str, abuse: impl Future<Output = T>) -> T {
        let over = Cell::new(false);
        let abuse = async {
            let done = abuse.await;
            over.set(true);
            done
        };
        let mut most = 0;
        let life = async {
            while !over.get() {
                self.honest.works().await;
                most = most.max(memory(&self.server));
            }
        };
        let (done, ()) = tokio::join!(abuse, life);
        most = most.max(memory(&self.server));
        eprintln!(
            "{what}: {} MiB before, at most {} MiB meanwhile",
            self.before.memory / MIB,
            most / MIB
        );
        done
    }

    /// The most memory that was in use while something holds it up.
    pub fn memory(&self) -> u64 {
        memory(&self.server)
    }

    /// Expects that the server answers those who come now and those who were there before, and that nothing is left of what
    /// was done to it.
    pub async fn recovers(mut self, what: &str) {
        self.honest.works().await;
        let mut late = Honest::connect(&self.server).await;
        late.works().await;
        drop(late);
        let begin = std::time::Instant::now();
        let before = self.before;
        let after = loop {
            let now = self.metrics();
            let idle = [
                "sudoku_open_streams",
                "sudoku_messages",
                "sudoku_solves",
                "sudoku_busy_threads",
            ];
            // The honest caller has a stream and a connection.
            let busy =
                idle.iter().map(|name| now[*name]).sum::<f64>() != 1.0 || now["sudoku_connections"] != 1.0;
            let after = Figures::of(&self.server, &self.admin);
            if !busy && after.is_back(&before) {
                break after;
            }
            assert!(
                begin.elapsed() < PATIENCE,
                "{what}: {after:?} is left of {before:?}: {now:?}"
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        };
        eprintln!(
            "{what}: {} MiB before, {} MiB after",
            before.memory / MIB,
            after.memory / MIB
        );
        drop(self.honest);
        self.server.signal(Signal::TERM);
        assert_eq!(self.server.ended().await.0, Some(0));
    }
}

impl Figures {
    fn of(server: &Server, admin: &str) -> Self {
        let process = format!("/proc/{}", server.process.id());
        Self {
            memory: memory(server),
            files: fs::read_dir(format!("{process}/fd")).unwrap().count(),
            threads: fs::read_dir(format!("{process}/task")).unwrap().count(),
            tasks: metrics(admin)["sudoku_tasks"],
        }
    }

    fn is_back(&self, before: &Self) -> bool {
        // A thread that reads files comes and goes.
        self.memory <= before.memory + KEPT
            && self.files <= before.files
            && self.threads <= before.threads + 1
            && self.tasks <= before.tasks
    }
}

/// The memory that a server has in use, in bytes.
fn memory(server: &Server) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", server.process.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    let kilobytes: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kilobytes * 1024
}

/// A caller who does nothing wrong, with a call and a stream on one connection.
struct Honest {
    client: SudokuServiceClient<Channel>,
    messages: mpsc::Sender<SolveManyRequest>,
    answers: Streaming<sudoku_proto::v1::SolveManyResponse>,
    next: usize,
}

impl Honest {
    async fn connect(server: &Server) -> Self {
        let mut client = server.client().await;
        let (messages, receiver) = mpsc::channel(1);
        let stream = client.solve_many(ReceiverStream::new(receiver)).await.unwrap();
        Self {
            client,
            messages,
            answers: stream.into_inner(),
            next: 0,
        }
    }

    /// Has some puzzles solved, and looks at each answer.
    async fn works(&mut self) {
        let work = async {
            let numbers = self.next..self.next + 50;
            self.next = numbers.end;
            let (puzzle, solution) = numbered(numbers.start);
            let answer = self.client.solve(solve(&puzzle)).await.unwrap().into_inner();
            assert_solves(&answer.result.unwrap(), &solution);
            let message = SolveManyRequest {
                puzzles: numbers.clone().map(|number| numbered(number).0).collect(),
                options: None,
            };
            self.messages.send(message).await.unwrap();
            let answer = self.answers.message().await.unwrap().unwrap();
            assert_eq!(answer.results.len(), numbers.len());
            for (number, result) in numbers.zip(&answer.results) {
                assert_solves(result, &numbered(number).1);
            }
        };
        tokio::time::timeout(PATIENCE, work)
            .await
            .expect("an honest caller is answered");
    }
}

fn assert_solves(result: &SolveResult, solution: &str) {
    assert_eq!(result.outcome(), Outcome::Unique);
    assert_eq!(result.solutions, [solution]);
}

/// Waits until the server closes a connection, and gives what it had sent.
pub async fn closed(stream: &mut TcpStream) -> Vec<u8> {
    let mut received = Vec::new();
    let end = async {
        let mut buffer = vec![0; 65_536];
        // It may see an orderly end or a reset.
        while let Ok(count @ 1..) = stream.read(&mut buffer).await {
            received.extend(&buffer[..count]);
        }
    };
    tokio::time::timeout(PATIENCE, end)
        .await
        .expect("the server closes the connection");
    received
}
