//! A slow reader slows the server down and costs it no memory.

mod support;

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sudoku_proto::v1::SolveManyRequest;
use sudoku_server::Settings;
use support::{EMPTY, PUZZLE, Server, endless_message, message, patient, soon, until, with_time_limit};
use tokio_stream::{Stream, StreamExt};

/// Messages without end, and how many of them were fetched.
fn counted(
    message: SolveManyRequest,
) -> (
    impl Stream<Item = SolveManyRequest> + Send + 'static,
    Arc<AtomicUsize>,
) {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    let stream = tokio_stream::iter(std::iter::repeat_with(move || {
        counter.fetch_add(1, Ordering::Relaxed);
        message.clone()
    }));
    (stream, count)
}

/// Waits until a figure stays the same for a while, and gives it.
async fn at_rest(what: &str, figure: impl Fn() -> usize) -> usize {
    let (mut last, mut same) = (figure(), 0);
    until(what, || {
        let now = figure();
        same = if now == last && now > 0 { same + 1 } else { 0 };
        last = now;
        same == 100
    })
    .await;
    last
}

#[tokio::test]
async fn a_reader_that_stops_stops_the_server() {
    let settings = Settings {
        messages_per_stream: 4,
        ..Settings::default()
    };
    let server = Server::start(settings).await;
    let mut client = server.client().await;
    let (messages, fetched) = counted(message(vec![PUZZLE; 2_000]));
    let mut answers = soon(client.solve_many(messages)).await.unwrap().into_inner();

    // Nobody reads. What is on its way fills, and then no further message is fetched from the client. On the way are a
    // few megabytes, which the windows and buffers of both sides hold: some dozens of messages of 166 KB and answers
    // of 180 KB.
    let stopped_at = at_rest("the messages stop", || fetched.load(Ordering::Relaxed)).await;
    assert!(stopped_at < 200, "{stopped_at} messages were fetched");
    let held = server.service.load().messages;
    assert!(held <= 4, "the server holds {held} messages");

    // Once the answers are read, it goes on.
    for _ in 0..stopped_at + 50 {
        let answer = soon(answers.message()).await.unwrap().unwrap();
        assert_eq!(answer.results.len(), 2_000);
    }
    assert!(fetched.load(Ordering::Relaxed) > stopped_at);
}

#[tokio::test]
async fn work_that_is_slow_stops_the_reading() {
    let mut settings = patient();
    settings.messages_per_stream = 8;
    let server = Server::start(settings).await;
    let mut client = server.client().await;
    // Large, so that the transport holds few of them.
    let mut slow = message(vec!["x".repeat(100_000)]);
    slow.puzzles.push(EMPTY.into());
    slow.options = Some(support::count_all());
    slow.options.as_mut().unwrap().solution_limit = 1_000_000;
    let (messages, fetched) = counted(slow);
    let _answers = soon(client.solve_many(messages)).await.unwrap();
    until("the window is full", || server.service.load().messages == 8).await;
    let fetched = at_rest("the messages stop", || fetched.load(Ordering::Relaxed)).await;
    assert!(fetched < 100, "{fetched} messages were fetched");
    assert_eq!(server.service.load().messages, 8);
}

#[tokio::test]
async fn streams_share_a_stock_but_each_has_one() {
    let settings = Settings {
        messages_per_stream: 10,
        shared_messages: 12,
        ..patient()
    };
    let server = Server::start(settings).await;
    let mut client = server.client().await;
    let mut open = Vec::new();
    for _ in 0..5 {
        let messages = tokio_stream::iter(std::iter::repeat_with(endless_message));
        open.push(soon(client.solve_many(messages)).await.unwrap());
    }
    // One for each of the five, and the twelve that they share.
    until("the stock is used up", || server.service.load().messages == 17).await;

    // Another stream goes on with one at a time.
    let messages = tokio_stream::iter(vec![
        SolveManyRequest {
            puzzles: vec![EMPTY.into()],
            options: Some(with_time_limit(Duration::from_millis(1))),
        };
        5
    ]);
    let mut answers = soon(client.solve_many(messages)).await.unwrap().into_inner();
    for _ in 0..5 {
        soon(answers.message()).await.unwrap().unwrap();
    }
    assert_eq!(soon(answers.next()).await.map(|item| item.is_ok()), None);
    assert!(server.service.load().messages <= 17);
}

#[tokio::test]
async fn what_a_stream_has_answered_is_room_for_others() {
    let settings = Settings {
        messages_per_stream: 10,
        shared_messages: 5,
        ..patient()
    };
    let server = Server::start(settings).await;
    let mut client = server.client().await;
    // Answers all of its messages, and stays open.
    let messages = tokio_stream::iter(vec![message([PUZZLE]); 20]).chain(tokio_stream::pending());
    let mut idle = soon(client.solve_many(messages)).await.unwrap().into_inner();
    for _ in 0..20 {
        soon(idle.message()).await.unwrap().unwrap();
    }
    let messages = tokio_stream::iter(std::iter::repeat_with(endless_message));
    let _busy = soon(client.solve_many(messages)).await.unwrap();
    until("all of the stock is in use", || {
        server.service.load().messages == 6
    })
    .await;
}

#[tokio::test]
async fn large_messages_fill_a_stream_before_it_has_many() {
    // With so many there are more than 8,192 puzzles for each thread.
    for (threads, most) in [(1, 5), (2, 9)] {
        let settings = Settings {
            threads: NonZeroUsize::new(threads).unwrap(),
            ..patient()
        };
        let server = Server::start(settings).await;
        let mut client = server.client().await;
        let mut large = message(vec![EMPTY; 2_000]);
        large.options = Some(support::count_all());
        large.options.as_mut().unwrap().solution_limit = 1_000_000;
        let (messages, fetched) = counted(large);
        let _answers = soon(client.solve_many(messages)).await.unwrap();
        until("the stream is full", || server.service.load().messages >= most).await;
        at_rest("the messages stop", || fetched.load(Ordering::Relaxed)).await;
        assert_eq!(server.service.load().messages, most);
    }
}
