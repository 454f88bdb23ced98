//! The SDK without anything of a server in its build, against a server that is a process of its own.

use sudoku_client::{Error, Grid, Outcome, Reason, SolveOptions, SudokuClient, blocking};
use test_support::puzzles::{PUZZLE, SOLUTION};
use test_support::server::Process;
use tokio_stream::StreamExt;

#[test]
fn the_sdk_needs_nothing_of_a_server() {
    let mut server = Process::start(&[]);
    let solved = Outcome::Unique {
        solution: Some(Grid::from_line(SOLUTION).unwrap()),
    };
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let client = SudokuClient::connect(&server.address).await.unwrap();
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

        server.kill();
        let error = client.with_retries(0).solve(&puzzle).await.unwrap_err();
        assert!(matches!(error, Error::Transport(_)), "{error:?}");
    });
    assert!(blocking::SudokuClient::connect(&server.address).is_err());
}
