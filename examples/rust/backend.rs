//! A web backend over the SDK: `POST /solve` with a puzzle as the body, and its solution as JSON.
//!
//! ```sh
//! sudoku-server --listen 127.0.0.1:50051
//! cargo run --example backend -- http://127.0.0.1:50051
//! curl --data 53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79 http://127.0.0.1:8080/solve
//! ```

use std::error::Error;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Json, Response};
use axum::routing::post;
use serde_json::json;
use sudoku_client::{Grid, Outcome, Reason, SudokuClient};
use tokio::net::TcpListener;

/// The most bytes of a body: far more than any way to write a grid needs.
const LONGEST_BODY: usize = 4 << 10;

/// How long a request may take, retries included.
const DEADLINE: Duration = Duration::from_secs(5);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let endpoints: Vec<String> = std::env::args().skip(1).collect();
    let client = SudokuClient::builder()
        .endpoints(endpoints)
        .user_agent("sudoku-backend/1.0")
        .deadline(DEADLINE)
        .connect()
        .await?;
    let listener = TcpListener::bind("127.0.0.1:8080").await?;
    println!("listening on http://{}", listener.local_addr()?);
    axum::serve(listener, router(client)).await?;
    Ok(())
}

/// The backend. The client is cheap to clone, and all requests share its connections.
pub fn router(client: SudokuClient) -> Router {
    Router::new()
        .route("/solve", post(solve))
        .layer(DefaultBodyLimit::max(LONGEST_BODY))
        .with_state(client)
}

async fn solve(State(client): State<SudokuClient>, body: String) -> Response {
    // What is no grid is told right here: it need not travel to the server.
    let puzzle: Grid = match body.trim().parse() {
        Ok(puzzle) => puzzle,
        Err(error) => return problem(StatusCode::BAD_REQUEST, &error),
    };
    match client.solve(&puzzle).await {
        Ok(outcome) => Json(answer(&outcome)).into_response(),
        Err(error) => failure(&error),
    }
}

fn answer(outcome: &Outcome) -> serde_json::Value {
    let outcome_name = match outcome {
        Outcome::Unique { .. } => "unique",
        Outcome::Multiple { .. } => "multiple",
        Outcome::Unsolvable { .. } => "unsolvable",
        // The kinds that these options do not lead to, and those of later versions.
        _ => "undecided",
    };
    let solutions: Vec<String> = outcome.solutions().iter().map(ToString::to_string).collect();
    json!({ "outcome": outcome_name, "solutions": solutions })
}

/// What became of the call, in the terms of HTTP.
fn failure(error: &sudoku_client::Error) -> Response {
    eprintln!("cannot solve: {error}");
    let status = match (error.reason(), error) {
        (Some(Reason::Overloaded | Reason::Draining), _) => StatusCode::SERVICE_UNAVAILABLE,
        (_, sudoku_client::Error::Transport(_)) => StatusCode::SERVICE_UNAVAILABLE,
        (_, sudoku_client::Error::DeadlineExceeded) => StatusCode::GATEWAY_TIMEOUT,
        _ => StatusCode::BAD_GATEWAY,
    };
    problem(status, &"the service cannot solve it now")
}

fn problem(status: StatusCode, what: &dyn std::fmt::Display) -> Response {
    (status, Json(json!({ "error": what.to_string() }))).into_response()
}
