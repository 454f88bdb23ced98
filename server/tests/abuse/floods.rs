//! Clients that send more than enough of what costs them little.

use test_support::http2::{
    CANCEL, CONTINUATION, DATA, HEADERS, PADDED, PING, PRIORITY, REFLECTION, RST_STREAM, SETTINGS, SOLVE,
    SOLVE_MANY, WINDOW_UPDATE, beginning_with_window, call, frame, has_window, question, request,
};
use test_support::puzzles::PUZZLE;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::victim::{Victim, closed, harder};

const MIB: u64 = 1024 * 1024;

/// How much memory a flood may take meanwhile.
const MOST: u64 = 64 * MIB;

/// Sends a flood on a connection of its own, and reads nothing. Gives the connection: where the server takes no more, it
/// is full; where it was hung up on, that shows later.
async fn flood(victim: std::net::SocketAddr, begin: &[Vec<u8>], flood: &[u8], times: usize) -> TcpStream {
    let mut stream = TcpStream::connect(victim).await.unwrap();
    // No answer fits, so that nothing moves on the server's side.
    stream.write_all(&beginning_with_window(0)).await.unwrap();
    let mut received = Vec::new();
    while !has_window(&received) {
        stream.read_buf(&mut received).await.unwrap();
    }
    stream.write_all(&begin.concat()).await.unwrap();
    for _ in 0..times {
        let sent = tokio::time::timeout(std::time::Duration::from_secs(2), stream.write_all(flood)).await;
        if !matches!(sent, Ok(Ok(()))) {
            break;
        }
    }
    stream
}

#[tokio::test]
async fn floods_that_are_cut_off() {
    let mut victim = Victim::start(&[]).await;
    let address = victim.server.address;
    let calls = || vec![call(1, SOLVE_MANY)];
    let resets: Vec<u8> = (0..1_000)
        .map(|number| 2 * number + 1)
        .flat_map(|stream| [call(stream, SOLVE_MANY), frame(RST_STREAM, 0, stream, &CANCEL)].concat())
        .collect();
    let unfinished: Vec<u8> = frame(CONTINUATION, 0, 1, b"").repeat(100_000);
    for (what, begin, bytes) in [
        ("resets", vec![], resets),
        ("tiny frames", calls(), frame(DATA, 0, 1, b"x").repeat(10_000)),
        ("empty frames", calls(), frame(DATA, 0, 1, b"").repeat(10_000)),
        (
            "padded frames",
            calls(),
            frame(DATA, PADDED, 1, &[&[40, b'x'][..], &[0; 40]].concat()).repeat(10_000),
        ),
        ("continuations", vec![frame(HEADERS, 0, 1, b"")], unfinished),
    ] {
        for _ in 0..harder() {
            let before = victim.rejected("flood");
            let mut stream = victim.suffers(what, flood(address, &begin, &bytes, 30)).await;
            closed(&mut stream).await;
            crate::support::until(&format!("the flood of {what} is counted"), || async {
                victim.rejected("flood") == before + 1.0
            })
            .await;
        }
    }
    victim.recovers("floods that are cut off").await;
}

#[tokio::test]
async fn floods_of_what_is_allowed() {
    let mut victim = Victim::start(&["--keepalive-interval=1s", "--keepalive-timeout=2s"]).await;
    let address = victim.server.address;
    let before = victim.memory();
    for (what, bytes) in [
        ("pings", frame(PING, 0, 0, b"8 bytes.")),
        ("settings", frame(SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 100])),
        ("window updates", frame(WINDOW_UPDATE, 0, 1, &[0, 0, 0, 1])),
        ("priorities", frame(PRIORITY, 0, 3, &[0, 0, 0, 1, 16])),
        ("unknown frames", frame(77, 0, 0, b"x")),
        ("unary calls", call(1, SOLVE)),
    ] {
        let flooding = async {
            let bytes = bytes.repeat(50_000);
            let mut stream = flood(address, &[call(1, SOLVE_MANY)], &bytes, 2 * harder()).await;
            closed(&mut stream).await;
        };
        victim.suffers(what, flooding).await;
        assert!(victim.memory() < before + MOST, "{what}");
    }
    victim.recovers("floods of what is allowed").await;
}

/// Each of these may take so much, as the page for operators says.
const STREAM: u64 = 8 * MIB;
const CALL: u64 = MIB / 16;

#[tokio::test]
async fn small_frames_on_streams_that_stand_still() {
    let most = stand_still(&[], SOLVE_MANY, &request(PUZZLE)).await;
    assert!(most < STREAMS * STREAM, "{most} bytes");
}

/// A 128th of the calls may be of reflection.
#[tokio::test]
async fn small_frames_on_calls_of_reflection_that_stand_still() {
    const CALLS: u64 = 1_280;
    let limit = format!("--max-calls={CALLS}");
    let most = stand_still(&[&limit], REFLECTION, &question(PUZZLE)).await;
    assert!(most < CALLS * CALL, "{most} bytes");
}

const STREAMS: u64 = 30;

/// Gives how much more memory the server has in use where nobody takes the answers of calls, and each has as many of the
/// smallest frames that are no flood as its window takes. One that waits unread costs more than it carries.
async fn stand_still(limits: &[&str], path: &str, message: &[u8]) -> u64 {
    let mut victim = Victim::start(limits).await;
    let address = victim.server.address;
    let before = victim.memory();
    let streams = || (0..STREAMS as u32).map(|number| 2 * number + 1);
    let smallest = 32;
    let window = 256 * 1024 / smallest;
    let calls: Vec<_> = streams().map(|stream| call(stream, path)).collect();
    let messages = message.repeat(1 + window * smallest / message.len());
    let pieces: Vec<_> = messages.chunks(smallest).take(window).collect();
    let bytes: Vec<u8> = streams()
        .flat_map(|stream| pieces.iter().flat_map(move |piece| frame(DATA, 0, stream, piece)))
        .collect();
    let stream = victim.suffers(path, flood(address, &calls, &bytes, 1)).await;
    let most = victim.memory().saturating_sub(before);
    drop(stream);
    victim.recovers(path).await;
    most
}
