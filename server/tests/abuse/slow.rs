//! Clients that take their time: to begin, to send, and to read.

use std::time::Duration;

use futures_util::future::join_all;
use test_support::http2::{
    CONTINUATION, DATA, HEADERS, SOLVE, SOLVE_MANY, WINDOW_UPDATE, beginning, beginning_with_window, call,
    frame, header_block, message, request,
};
use test_support::puzzles::PUZZLE;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::victim::{Victim, closed, harder};

/// Sends one piece after the other, and a while between them, until the server has closed the connection.
async fn dribble(victim: std::net::SocketAddr, pieces: impl IntoIterator<Item = Vec<u8>>) {
    let mut stream = TcpStream::connect(victim).await.unwrap();
    for piece in pieces {
        if stream.write_all(&piece).await.is_err() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    closed(&mut stream).await;
}

#[tokio::test]
async fn slow_loris() {
    let mut victim = Victim::start(&[
        "--handshake-timeout=1s",
        "--keepalive-interval=1s",
        "--keepalive-timeout=2s",
    ])
    .await;
    let address = victim.server.address;
    // Few enough at once that the operating system takes them all.
    let at_once = 50;
    let count = at_once * harder();
    let preface = || beginning().into_iter().map(|byte| vec![byte]);
    // The headers of a call, of which there is always another byte to come.
    let headers = || {
        let begin = [
            beginning_with_window(65_535),
            frame(HEADERS, 0, 1, &header_block(SOLVE)[..1]),
        ];
        let byte = |byte: &u8| frame(CONTINUATION, 0, 1, &[*byte]);
        let rest: Vec<_> = header_block(SOLVE)[1..].iter().map(byte).collect();
        begin.into_iter().chain(rest)
    };
    let abuse = async {
        for _ in 0..harder() {
            join_all((0..at_once).map(|_| dribble(address, preface()))).await;
            join_all((0..at_once).map(|_| dribble(address, headers()))).await;
        }
    };
    victim.suffers("slow loris", abuse).await;
    // Those whose headers do not end may be closed by either rule.
    let reasons = ["handshake_timeout", "unresponsive", "flood", "not_http2"];
    crate::support::until("each is counted", || async {
        let counts = reasons.map(|reason| victim.rejected(reason));
        counts.iter().sum::<f64>() == 2.0 * count as f64
    })
    .await;
    assert!(victim.rejected("handshake_timeout") > 0.0);
    victim.recovers("slow loris").await;
}

#[tokio::test]
async fn messages_that_never_end() {
    let mut victim = Victim::start(&["--request-deadline=200ms", "--max-solves=8"]).await;
    let address = victim.server.address;
    let half = async || {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = request(PUZZLE);
        let begin = [
            beginning_with_window(65_535),
            call(1, SOLVE),
            frame(DATA, 0, 1, &request[..40]),
        ];
        stream.write_all(&begin.concat()).await.unwrap();
        for byte in &request[40..60] {
            stream.write_all(&frame(DATA, 0, 1, &[*byte])).await.unwrap();
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        stream
    };
    let streams = victim
        .suffers(
            "messages that never end",
            join_all((0..50 * harder()).map(|_| half())),
        )
        .await;
    let late = "grpc_server_handled_total{grpc_type=\"unary\",grpc_service=\"sudoku.v1.SudokuService\",\
                grpc_method=\"Solve\",grpc_code=\"DeadlineExceeded\"}";
    crate::support::until("each has failed", || async {
        victim.metrics()[late] == streams.len() as f64
    })
    .await;
    drop(streams);
    victim.recovers("messages that never end").await;
}

#[tokio::test]
async fn slow_readers() {
    let mut victim =
        Victim::start(&["--keepalive-interval=1s", "--keepalive-timeout=2s", "--threads=2"]).await;
    let address = victim.server.address;
    let puzzles: Vec<u8> = request(PUZZLE)[5..].repeat(1_000);
    let data: Vec<u8> = message(&puzzles)
        .chunks(16_384)
        .flat_map(|piece| frame(DATA, 0, 1, piece))
        .collect();
    let count = 8 * harder();
    let reads_nothing = async || {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let begin = [
            beginning_with_window(1 << 30),
            frame(WINDOW_UPDATE, 0, 0, &(1_u32 << 30).to_be_bytes()),
            call(1, SOLVE_MANY),
        ];
        stream.write_all(&begin.concat()).await.unwrap();
        // It goes on beyond what the server allows, and is told so where it does not look.
        while stream.write_all(&data).await.is_ok() {}
    };
    victim
        .suffers("slow readers", join_all((0..count).map(|_| reads_nothing())))
        .await;
    victim.recovers("slow readers").await;
}
