//! What the tests of the program share.
#![allow(dead_code, unused_imports, reason = "every test file uses a part of it")]

use std::io::Read;
use std::net::SocketAddr;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use sudoku_proto::v1::SolveRequest;
use sudoku_proto::v1::sudoku_service_client::SudokuServiceClient;
use test_support::server::Process;
use tonic::transport::{Channel, Endpoint};

pub use test_support::puzzles::PUZZLE;
pub use test_support::server::Signal;

pub const PATIENCE: Duration = Duration::from_secs(30);

pub fn command() -> Command {
    test_support::command::command(env!("CARGO_BIN_EXE_sudoku-server"))
}

/// A server as its own process, which ends with the test.
pub struct Server {
    pub process: Process,
    pub address: SocketAddr,
}

impl Server {
    pub fn start(arguments: &[&str]) -> Self {
        Self::spawn(command().args(["--listen", "127.0.0.1:0"]).args(arguments))
    }

    pub fn spawn(command: &mut Command) -> Self {
        Self::spawn_with_log(command, Stdio::null())
    }

    pub fn spawn_with_log(command: &mut Command, log: impl Into<Stdio>) -> Self {
        let process = Process::spawn(command.stderr(log)).expect("the server listens");
        let address = process.address.parse().unwrap();
        Self { process, address }
    }

    pub async fn channel(&self) -> Channel {
        Endpoint::from_shared(format!("http://{}", self.address))
            .unwrap()
            .connect()
            .await
            .unwrap()
    }

    pub async fn client(&self) -> SudokuServiceClient<Channel> {
        SudokuServiceClient::new(self.channel().await)
    }

    pub fn signal(&self, signal: Signal) {
        self.process.signal(signal);
    }

    /// Waits for the end. Gives the exit status, and what was printed after the address.
    pub async fn ended(mut self) -> (Option<i32>, String) {
        let begin = Instant::now();
        let status = loop {
            if let Some(status) = self.process.ended() {
                break status;
            }
            assert!(begin.elapsed() < PATIENCE, "the server does not end");
            tokio::time::sleep(Duration::from_millis(5)).await;
        };
        let mut rest = String::new();
        self.process.output.read_to_string(&mut rest).unwrap();
        (status, rest)
    }
}

/// A server with a port for operators, and its address.
pub fn start_for_operators(arguments: &[&str]) -> (Server, String) {
    let arguments = [&["--admin-listen=127.0.0.1:0"], arguments].concat();
    let mut server = Server::start(&arguments);
    let address = server.process.admin_address();
    (server, address)
}

/// Runs a command that is to fail by itself.
pub fn refused(command: &mut Command) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().unwrap();
    let stderr = String::from_utf8(stderr).unwrap();
    assert_eq!(status.code(), Some(2), "{stderr}");
    assert!(stdout.is_empty());
    stderr
}

pub fn solve(puzzle: &str) -> SolveRequest {
    SolveRequest {
        puzzle: puzzle.into(),
        options: None,
    }
}

/// Waits until `condition` holds, and fails with `what` if it does not.
pub async fn until<F: Future<Output = bool>>(what: &str, mut condition: impl FnMut() -> F) {
    let begin = Instant::now();
    while !condition().await {
        assert!(begin.elapsed() < PATIENCE, "waited for ever until {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}
