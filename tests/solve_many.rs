//! `SolveMany` answers message by message, in order, on all cores.

mod support;

use std::time::Duration;

use sudoku_proto::v1::{Outcome, PuzzleError, SolveManyRequest, SolveOptions, SolveResult};
use sudoku_server::Settings;
use support::{
    EMPTY, PUZZLE, SOLUTION, Server, endless_message, message, outcomes, patient, soon, with_time_limit,
};
use tokio::sync::mpsc;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;

/// Rated among the hardest that people solve.
const EVIL: &str = "98.7..6..75..4......3..8.7.5....7.3...94.........2.1..3.......1.9...5.8...52....6";
const UNSOLVABLE: &str = "..9.287..8.6..4..5..3.....46.........2.71345.........23.....5..9..4..8.7..125.3..";

#[tokio::test]
async fn each_result_answers_its_puzzle() {
    let server = Server::start(Settings::default()).await;
    let mut client = server.client().await;
    let puzzles = ["", PUZZLE, EMPTY, "x", UNSOLVABLE, PUZZLE, "1"];
    let answers = client.solve_many(tokio_stream::iter([message(puzzles)])).await;
    let mut answers = answers.unwrap().into_inner();
    let results = answers.message().await.unwrap().unwrap().results;
    let expected = [
        Outcome::Invalid,
        Outcome::Unique,
        Outcome::Multiple,
        Outcome::Invalid,
        Outcome::Unsolvable,
        Outcome::Unique,
        Outcome::Invalid,
    ];
    assert_eq!(outcomes(&results), expected);
    assert_eq!(results[1].solutions, [SOLUTION]);
    assert_eq!(answers.message().await.unwrap(), None);
}

#[tokio::test]
async fn an_invalid_puzzle_has_its_place() {
    let server = Server::start(Settings::default()).await;
    let mut client = server.client().await;
    let puzzles = [format!("12345é{}", &PUZZLE[6..]), PUZZLE[1..].to_owned()];
    let answers = client.solve_many(tokio_stream::iter([message(puzzles)])).await;
    let results = answers
        .unwrap()
        .into_inner()
        .message()
        .await
        .unwrap()
        .unwrap()
        .results;
    let invalid: Vec<PuzzleError> = results
        .into_iter()
        .map(|result| result.invalid.unwrap())
        .collect();
    assert_eq!((invalid[0].length, invalid[0].position), (81, Some(5)));
    assert!(
        invalid[0].message.contains("character 6"),
        "{}",
        invalid[0].message
    );
    assert_eq!((invalid[1].length, invalid[1].position), (80, None));
}

#[tokio::test]
async fn an_empty_message_and_an_empty_stream() {
    let server = Server::start(Settings::default()).await;
    let mut client = server.client().await;
    let empty = SolveManyRequest::default();
    let answers = client.solve_many(tokio_stream::iter([empty.clone(), message([PUZZLE]), empty]));
    let answers: Vec<_> = answers.await.unwrap().into_inner().collect().await;
    let counts: Vec<_> = answers
        .into_iter()
        .map(|answer| answer.unwrap().results.len())
        .collect();
    assert_eq!(counts, [0, 1, 0]);

    let mut nothing = client
        .solve_many(tokio_stream::empty())
        .await
        .unwrap()
        .into_inner();
    assert_eq!(nothing.message().await.unwrap(), None);
}

#[tokio::test]
async fn the_stream_is_open_before_the_first_message() {
    let server = Server::start(Settings::default()).await;
    let mut client = server.client().await;
    let (send, messages) = mpsc::channel(1);
    let mut answers = soon(client.solve_many(ReceiverStream::new(messages)))
        .await
        .unwrap()
        .into_inner();
    // One at a time: a lone message does not wait for company.
    for _ in 0..3 {
        send.send(message([PUZZLE])).await.unwrap();
        let answer = soon(answers.message()).await.unwrap().unwrap();
        assert_eq!(outcomes(&answer.results), [Outcome::Unique]);
    }
    drop(send);
    assert_eq!(soon(answers.message()).await.unwrap(), None);
}

/// Messages of all sizes, easy and hard puzzles mixed, so that they finish in another order than they came.
#[tokio::test]
async fn the_order_is_kept() {
    let server = Server::start(patient()).await;
    let mut client = server.client().await;
    let sizes: Vec<usize> = (0..200).map(|k| k * 37 % 150).collect();
    let messages = sizes.clone().into_iter().enumerate().map(|(k, size)| {
        if k % 20 == 7 {
            return SolveManyRequest {
                puzzles: vec![EMPTY.into()],
                options: Some(with_time_limit(Duration::from_millis(3))),
            };
        }
        let line = |i: usize| match (k + i) % 5 {
            0 => "bad",
            1 => UNSOLVABLE,
            _ => PUZZLE,
        };
        message((0..size).map(line))
    });
    let messages: Vec<_> = messages.collect();
    let mut answers = client
        .solve_many(tokio_stream::iter(messages))
        .await
        .unwrap()
        .into_inner();
    for (k, size) in sizes.into_iter().enumerate() {
        let results = soon(answers.message()).await.unwrap().unwrap().results;
        if k % 20 == 7 {
            assert_eq!(outcomes(&results), [Outcome::Undecided]);
            continue;
        }
        assert_eq!(results.len(), size);
        for (i, result) in results.iter().enumerate() {
            let expected = match (k + i) % 5 {
                0 => Outcome::Invalid,
                1 => Outcome::Unsolvable,
                _ => Outcome::Unique,
            };
            assert_eq!(result.outcome(), expected, "message {k}, puzzle {i}");
        }
    }
    assert_eq!(answers.message().await.unwrap(), None);
}

#[tokio::test]
async fn a_full_message() {
    let server = Server::start(Settings::default()).await;
    let mut client = server.client().await;
    let messages = tokio_stream::iter([message(vec![PUZZLE; 2_048])]);
    let mut answers = client.solve_many(messages).await.unwrap().into_inner();
    let results = answers.message().await.unwrap().unwrap().results;
    assert_eq!(results.len(), 2_048);
    assert!(
        results
            .iter()
            .all(|result: &SolveResult| result.solutions == [SOLUTION])
    );
}

#[tokio::test]
async fn options_hold_for_their_message() {
    let server = Server::start(Settings::default()).await;
    let mut client = server.client().await;
    let with = |solution_limit, omit_solutions| SolveManyRequest {
        puzzles: vec![EMPTY.into()],
        options: Some(SolveOptions {
            solution_limit,
            omit_solutions,
            time_limit: None,
        }),
    };
    let messages = [with(1, false), with(100, true), message([EMPTY])];
    let answers = client.solve_many(tokio_stream::iter(messages)).await.unwrap();
    let answers: Vec<_> = answers.into_inner().collect().await;
    let found: Vec<_> = answers
        .into_iter()
        .map(|answer| {
            let result = answer.unwrap().results.remove(0);
            (result.outcome(), result.solution_count, result.solutions.len())
        })
        .collect();
    let expected = [
        (Outcome::Solved, 1, 1),
        (Outcome::Multiple, 100, 0),
        (Outcome::Multiple, 2, 2),
    ];
    assert_eq!(found, expected);
}

/// As many endless searches as would fill every thread, and more: others still get their turns.
#[tokio::test]
async fn hard_puzzles_hold_up_no_other_stream() {
    let server = Server::start(patient()).await;
    let mut client = server.client().await;
    let endless = tokio_stream::iter(vec![endless_message(); 32]).chain(tokio_stream::pending());
    let _busy = soon(client.solve_many(endless)).await.unwrap();
    support::until("the threads are busy", || server.service.load().messages == 32).await;

    let messages = tokio_stream::iter(vec![message(vec![PUZZLE; 100]); 20]);
    let mut answers = soon(client.solve_many(messages)).await.unwrap().into_inner();
    for _ in 0..20 {
        let results = soon(answers.message()).await.unwrap().unwrap().results;
        assert_eq!(outcomes(&results), [Outcome::Unique; 100]);
    }
    soon(client.solve(support::solve(PUZZLE))).await.unwrap();
}

/// A hard puzzle gets its time although easy ones keep coming.
#[tokio::test]
async fn easy_puzzles_hold_up_no_hard_one() {
    let server = Server::start(patient()).await;
    let mut client = server.client().await;
    let easy = tokio_stream::iter(std::iter::repeat_with(|| message(vec![PUZZLE; 200])));
    let mut easy = client.solve_many(easy).await.unwrap().into_inner();
    let reader = tokio::spawn(async move { while let Ok(Some(_)) = easy.message().await {} });

    let hard = SolveManyRequest {
        puzzles: vec![EMPTY.into(); 3],
        options: Some(SolveOptions {
            solution_limit: 300,
            ..SolveOptions::default()
        }),
    };
    let mut answers = client
        .solve_many(tokio_stream::iter([hard]))
        .await
        .unwrap()
        .into_inner();
    let results = soon(answers.message()).await.unwrap().unwrap().results;
    assert_eq!(outcomes(&results), [Outcome::Multiple; 3]);
    reader.abort();
}

#[tokio::test]
async fn many_streams_on_one_connection() {
    let server = Server::start(Settings::default()).await;
    let client = server.client().await;
    let streams: Vec<_> = (0..64)
        .map(|_| {
            let mut client = client.clone();
            tokio::spawn(async move {
                let messages = tokio_stream::iter(vec![message([PUZZLE]); 100]);
                let mut answers = client.solve_many(messages).await.unwrap().into_inner();
                let mut count = 0;
                while let Some(answer) = answers.message().await.unwrap() {
                    assert_eq!(outcomes(&answer.results), [Outcome::Unique]);
                    count += 1;
                }
                count
            })
        })
        .collect();
    for stream in streams {
        assert_eq!(soon(stream).await.unwrap(), 100);
    }
}

/// Enough of every kind that the batch engine takes most, with what its outcomes are for a limit of 1 and of 2.
fn of_every_kind() -> (Vec<String>, Vec<Outcome>, Vec<Outcome>) {
    let conflict = format!("11{}", &EMPTY[2..]);
    let kinds = [
        (PUZZLE, Outcome::Solved, Outcome::Unique),
        (UNSOLVABLE, Outcome::Unsolvable, Outcome::Unsolvable),
        (EMPTY, Outcome::Solved, Outcome::Multiple),
        (EVIL, Outcome::Solved, Outcome::Unique),
        (&conflict, Outcome::Unsolvable, Outcome::Unsolvable),
        ("x", Outcome::Invalid, Outcome::Invalid),
    ];
    let count = 1_500;
    let kinds = || kinds.iter().cycle().take(count);
    (
        kinds().map(|kind| kind.0.to_owned()).collect(),
        kinds().map(|kind| kind.1).collect(),
        kinds().map(|kind| kind.2).collect(),
    )
}

#[tokio::test]
async fn many_puzzles_of_every_kind() {
    let server = Server::start(Settings::default()).await;
    let mut client = server.client().await;
    let (puzzles, with_one, with_two) = of_every_kind();
    let request = |solution_limit, omit_solutions| SolveManyRequest {
        puzzles: puzzles.clone(),
        options: Some(SolveOptions {
            solution_limit,
            omit_solutions,
            time_limit: None,
        }),
    };
    let requests = vec![request(1, false), request(2, false), request(0, true)];
    let answers = client.solve_many(tokio_stream::iter(requests)).await;
    let mut answers = answers.unwrap().into_inner();
    for (expected, omitted) in [(&with_one, false), (&with_two, false), (&with_two, true)] {
        let results = soon(answers.message()).await.unwrap().unwrap().results;
        assert_eq!(outcomes(&results), *expected);
        for (index, result) in results.iter().enumerate() {
            let solutions = if omitted {
                0
            } else {
                result.solution_count as usize
            };
            assert_eq!(result.solutions.len(), solutions, "{index}");
            // Row and box repeat the digit of the conflict.
            assert_eq!(
                result.conflicts.len(),
                if index % 6 == 4 { 2 } else { 0 },
                "{index}"
            );
        }
    }
}

/// Engines work on the puzzles of several streams side by side, and each stream gets its own answers.
#[tokio::test]
async fn streams_share_the_engines() {
    let server = Server::start(Settings::default()).await;
    let mut client = server.client().await;
    let (puzzles, _, expected) = of_every_kind();
    let much = tokio_stream::iter(std::iter::repeat_with(move || message(puzzles.clone())));
    let mut much = soon(client.solve_many(much)).await.unwrap().into_inner();
    let reader = tokio::spawn(async move {
        while let Ok(Some(answer)) = much.message().await {
            assert_eq!(outcomes(&answer.results), expected);
        }
    });

    let (sender, messages) = mpsc::channel(1);
    let little = client.solve_many(ReceiverStream::new(messages));
    let mut little = soon(little).await.unwrap().into_inner();
    for count in 1..=60 {
        sender.send(message(vec![PUZZLE; count])).await.unwrap();
        let answer = soon(little.message()).await.unwrap().unwrap();
        assert_eq!(outcomes(&answer.results), vec![Outcome::Unique; count]);
    }
    assert!(!reader.is_finished(), "the other stream goes on");
    reader.abort();
}
