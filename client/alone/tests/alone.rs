//! The SDK without anything of a server in its build, against a server that is a process of its own.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use sudoku_client::{Error, Grid, Outcome, Reason, SolveOptions, SudokuClient, blocking};
use tokio_stream::StreamExt;

const PUZZLE: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
const SOLUTION: &str = "534678912672195348198342567859761423426853791713924856961537284287419635345286179";

/// A server, ended when dropped.
struct Server {
    child: Child,
    endpoint: String,
}

impl Server {
    fn start() -> Self {
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../../server/Cargo.toml");
        let build = escargot::CargoBuild::new()
            .manifest_path(manifest)
            .bin("sudoku-server")
            .current_target();
        let mut child = build
            .run()
            .expect("the server builds")
            .command()
            .args(["--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut address)
            .unwrap();
        Self {
            child,
            endpoint: format!("http://{}", address.trim_end()),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_sdk_needs_nothing_of_a_server() {
    let mut server = Server::start();
    let solved = Outcome::Unique {
        solution: Some(Grid::from_line(SOLUTION).unwrap()),
    };
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let client = SudokuClient::connect(&server.endpoint).await.unwrap();
        let puzzle = Grid::from_line(PUZZLE).unwrap();
        assert!(client.is_serving().await.unwrap());
        assert_eq!(client.solve(&puzzle).await.unwrap(), solved);
        let mut outcomes = client.solve_iter(std::iter::repeat_n(puzzle, 5_000));
        for _ in 0..5_000 {
            assert_eq!(outcomes.next().await.unwrap().unwrap(), solved);
        }
        assert!(outcomes.next().await.is_none());

        let too_many = client
            .clone()
            .with_options(SolveOptions::new().solution_limit(u32::MAX));
        let error = too_many.solve(&puzzle).await.unwrap_err();
        assert_eq!(error.reason(), Some(&Reason::OptionOutOfRange), "{error:?}");

        server.child.kill().unwrap();
        server.child.wait().unwrap();
        let error = client.with_retries(0).solve(&puzzle).await.unwrap_err();
        assert!(matches!(error, Error::Transport(_)), "{error:?}");
    });
    assert!(blocking::SudokuClient::connect(&server.endpoint).is_err());
}
