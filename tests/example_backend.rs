//! The backend in `examples/rust` over a real server.

mod common;

#[allow(dead_code, reason = "the test brings its own main")]
#[path = "../examples/rust/backend.rs"]
mod backend;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use common::server::Server;
use common::{EASY, SOLUTION};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use sudoku_server::Settings;
use tower::ServiceExt;

async fn post(backend: &axum::Router, body: impl Into<Body>) -> (StatusCode, Value) {
    let request = Request::post("/solve").body(body.into()).unwrap();
    let response = backend.clone().oneshot(request).await.unwrap();
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&body).unwrap_or_default())
}

#[tokio::test]
async fn answers_in_json() {
    let mut server = Server::start(Settings::default()).await;
    let backend = backend::router(server.client().await.with_retries(1));
    let unique = json!({ "outcome": "unique", "solutions": [SOLUTION] });
    assert_eq!(post(&backend, EASY).await, (StatusCode::OK, unique));
    let (status, answer) = post(&backend, ".".repeat(81)).await;
    assert_eq!((status, &answer["outcome"]), (StatusCode::OK, &json!("multiple")));
    let (status, answer) = post(&backend, format!("55{}", ".".repeat(79))).await;
    assert_eq!(
        (status, &answer["outcome"]),
        (StatusCode::OK, &json!("unsolvable"))
    );

    let (status, answer) = post(&backend, "53..7").await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(answer["error"].is_string(), "{answer}");
    let (status, _) = post(&backend, ".".repeat(100_000)).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);

    server.kill();
    let (status, _) = post(&backend, EASY).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
}
