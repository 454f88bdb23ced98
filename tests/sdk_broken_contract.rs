//! Servers that break the contract, which the real one does not do: the client says what is wrong, and never hangs,
//! panics or shifts an outcome.

mod common;

use std::pin::Pin;
use std::sync::Arc;

use common::{SOLUTION, collect};
use sudoku_client::{Error, Grid, Outcome, ProtocolError, SolveOptions, SudokuClient};
use sudoku_proto::v1::sudoku_service_server::{SudokuService, SudokuServiceServer};
use sudoku_proto::v1::{
    Conflict, GetServerInfoRequest, GetServerInfoResponse, SolveManyRequest, SolveManyResponse, SolveRequest,
    SolveResponse, SolveResult, Unit,
};
use tokio_stream::{Stream, StreamExt};
use tonic::{Request, Response, Status, Streaming};

/// The number of `OUTCOME_UNIQUE` and of its neighbours in the contract.
const UNIQUE: i32 = 1;
const MULTIPLE: i32 = 2;
const UNSOLVABLE: i32 = 3;
const INVALID: i32 = 5;

fn unique() -> SolveResult {
    SolveResult {
        outcome: UNIQUE,
        solutions: vec![SOLUTION.to_owned()],
        solution_count: 1,
        ..SolveResult::default()
    }
}

/// Answers every message of a stream with what `answer` makes of it.
#[derive(Clone)]
struct Script {
    answer: Arc<dyn Fn(SolveManyRequest) -> Vec<SolveManyResponse> + Send + Sync>,
    /// Whether the stream of answers opens only when the first message has come.
    opens_late: bool,
    /// Whether the stream ends, without an error, after the first message.
    ends_after_first: bool,
}

impl Script {
    fn new(answer: impl Fn(SolveManyRequest) -> Vec<SolveManyResponse> + Send + Sync + 'static) -> Self {
        Self {
            answer: Arc::new(answer),
            opens_late: false,
            ends_after_first: false,
        }
    }

    /// Answers every puzzle with what `result` makes of its index in the message.
    fn results(result: impl Fn(usize) -> SolveResult + Send + Sync + 'static) -> Self {
        Self::new(move |message| {
            vec![SolveManyResponse {
                results: (0..message.puzzles.len()).map(&result).collect(),
            }]
        })
    }

    fn client(self) -> SudokuClient<SudokuServiceServer<Self>> {
        SudokuClient::from_service(SudokuServiceServer::new(self))
    }

    async fn outcomes(self, puzzles: usize) -> (Vec<Outcome>, Option<Error>) {
        collect(self.client().solve_iter(vec![Grid::EMPTY; puzzles])).await
    }
}

/// What ended a stream, which must say that it got as far as `answered`.
fn protocol_error(error: Option<Error>, answered: usize) -> ProtocolError {
    match error {
        Some(Error::Interrupted {
            answered: said,
            source,
        }) if said == answered as u64 => match *source {
            Error::Protocol(error) => error,
            other => panic!("{other:?} is no protocol error"),
        },
        other => panic!("{other:?} does not say that {answered} were answered"),
    }
}

#[tonic::async_trait]
impl SudokuService for Script {
    async fn solve(&self, request: Request<SolveRequest>) -> Result<Response<SolveResponse>, Status> {
        let message = SolveManyRequest {
            puzzles: vec![request.into_inner().puzzle],
            options: None,
        };
        let result = (self.answer)(message)
            .pop()
            .and_then(|mut answer| answer.results.pop());
        Ok(Response::new(SolveResponse { result }))
    }

    type SolveManyStream = Pin<Box<dyn Stream<Item = Result<SolveManyResponse, Status>> + Send>>;

    async fn solve_many(
        &self,
        request: Request<Streaming<SolveManyRequest>>,
    ) -> Result<Response<Self::SolveManyStream>, Status> {
        let mut messages = request.into_inner();
        let first = match self.opens_late {
            true => messages.message().await?,
            false => None,
        };
        let limit = if self.ends_after_first { 1 } else { usize::MAX };
        let script = self.clone();
        let answers = tokio_stream::iter(first.map(Ok))
            .chain(messages)
            .take(limit)
            .map(move |message| message.map(|message| tokio_stream::iter((script.answer)(message))));
        // Each message is answered by any number, so the answers are flattened by hand.
        let (sender, receiver) = tokio::sync::mpsc::channel(1);
        tokio::spawn(async move {
            let mut answers = std::pin::pin!(answers);
            while let Some(Ok(mut some)) = answers.next().await {
                while let Some(answer) = some.next().await {
                    if sender.send(Ok(answer)).await.is_err() {
                        return;
                    }
                }
            }
        });
        Ok(Response::new(Box::pin(
            tokio_stream::wrappers::ReceiverStream::new(receiver),
        )))
    }

    async fn get_server_info(
        &self,
        _: Request<GetServerInfoRequest>,
    ) -> Result<Response<GetServerInfoResponse>, Status> {
        Err(Status::unimplemented(""))
    }
}

#[tokio::test]
async fn a_server_that_opens_the_answers_with_the_first_message_is_served() {
    let script = Script {
        opens_late: true,
        ..Script::results(|_| unique())
    };
    let (outcomes, error) = script.outcomes(5_000).await;
    assert_eq!(outcomes.len(), 5_000);
    assert!(error.is_none(), "{error:?}");
}

#[tokio::test]
async fn a_message_with_a_result_too_few_ends_the_stream() {
    let script = Script::new(|message| {
        let results = vec![unique(); message.puzzles.len() - 1];
        vec![SolveManyResponse { results }]
    });
    let (outcomes, error) = script.outcomes(3).await;
    assert!(outcomes.is_empty());
    let expected = ProtocolError::ResultCount {
        asked: 3,
        received: 2,
    };
    assert_eq!(protocol_error(error, 0), expected);
}

#[tokio::test]
async fn outcomes_before_a_bad_result_are_delivered() {
    let bad = || SolveResult {
        solutions: vec![SOLUTION.replace('9', "0")],
        ..unique()
    };
    let script = Script::results(move |index| if index == 2 { bad() } else { unique() });
    let (outcomes, error) = script.outcomes(4).await;
    assert_eq!(outcomes.len(), 2);
    assert!(matches!(protocol_error(error, 2), ProtocolError::Solution { .. }));
}

#[tokio::test]
async fn a_stream_that_ends_before_all_is_answered_is_an_error() {
    let script = Script {
        ends_after_first: true,
        ..Script::results(|_| unique())
    };
    let (outcomes, error) = script.outcomes(2_048 + 1).await;
    assert_eq!(outcomes.len(), 2_048);
    assert_eq!(protocol_error(error, 2_048), ProtocolError::EndedEarly);
}

#[tokio::test]
async fn an_answer_too_many_is_an_error() {
    let script = Script::new(|_| {
        vec![
            SolveManyResponse {
                results: vec![unique()]
            };
            2
        ]
    });
    let (outcomes, error) = script.outcomes(1).await;
    assert_eq!(outcomes.len(), 1);
    assert_eq!(protocol_error(error, 1), ProtocolError::Unasked);
}

#[tokio::test]
async fn a_reply_without_a_result_is_an_error() {
    let client = Script::new(|_| Vec::new()).client();
    let error = client.solve(&Grid::EMPTY).await.unwrap_err();
    assert!(
        matches!(error, Error::Protocol(ProtocolError::MissingResult)),
        "{error:?}"
    );
}

/// Results that no contract allows, each with what is said of it.
#[tokio::test]
async fn results_are_checked() {
    let solutions = |count: usize| vec![SOLUTION.to_owned(); count];
    let result = |outcome, solutions: Vec<String>, solution_count| SolveResult {
        outcome,
        solutions,
        solution_count,
        ..SolveResult::default()
    };
    let unsolvable = |conflict: Conflict| SolveResult {
        conflicts: vec![conflict],
        ..result(UNSOLVABLE, vec![], 0)
    };
    let row = |index| Some(Unit { kind: 1, index });
    let conflict = |digit, unit, cells: &[u32]| Conflict {
        digit,
        unit,
        cells: cells.to_vec(),
    };
    let cases = [
        (result(0, vec![], 0), "outcome 0"),
        (result(7, vec![], 0), "outcome 7"),
        (result(INVALID, vec![], 0), "outcome 5"),
        (result(UNIQUE, solutions(2), 2), "2 solutions with a count of 2"),
        (result(UNIQUE, vec![], 1), "0 solutions with a count of 1"),
        (result(MULTIPLE, solutions(1), 1), "1 solutions with a count of 1"),
        (
            result(UNSOLVABLE, solutions(1), 1),
            "1 solutions with a count of 1",
        ),
        (
            result(UNIQUE, vec!["123".to_owned()], 1),
            "\"123\" is not a solution",
        ),
        (unsolvable(conflict(0, row(0), &[0, 1])), "a conflict"),
        (unsolvable(conflict(10, row(0), &[0, 1])), "a conflict"),
        (unsolvable(conflict(1, row(9), &[0, 1])), "a conflict"),
        (unsolvable(conflict(1, None, &[0, 1])), "a conflict"),
        (
            unsolvable(conflict(1, Some(Unit { kind: 0, index: 0 }), &[0, 1])),
            "a conflict",
        ),
        (unsolvable(conflict(1, row(0), &[0, 81])), "a conflict"),
    ];
    for (result, expected) in cases {
        let client = Script::results({
            let result = result.clone();
            move |_| result.clone()
        })
        .client();
        let error = client.solve(&Grid::EMPTY).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{result:?}: {error}");
    }
}

#[tokio::test]
async fn solutions_that_were_to_be_left_out_are_an_error() {
    let options = SolveOptions::new().omit_solutions(true);
    let client = Script::results(|_| unique()).client().with_options(options);
    let error = client.solve(&Grid::EMPTY).await.unwrap_err();
    assert!(
        matches!(error, Error::Protocol(ProtocolError::SolutionCount { .. })),
        "{error:?}"
    );
}
