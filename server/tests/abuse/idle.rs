//! Clients that connect, open streams, and do nothing.

use test_support::http2::{SOLVE_MANY, beginning_with_window, call};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::support::until;
use crate::victim::{Victim, harder};

/// 10,000 of them in `just abuse`.
#[tokio::test]
async fn idle_streams() {
    const EACH: u32 = 100;
    let connections = (10 * harder()).min(100);
    let count = connections * EACH as usize;
    let limits = [
        format!("--max-streams={}", count + 2),
        format!("--max-calls={}", 2 * count),
    ];
    let mut victim = Victim::start(&limits.each_ref().map(String::as_str)).await;
    let address = victim.server.address;
    let before = victim.memory();
    let open = async {
        let mut open = Vec::new();
        for _ in 0..connections {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let calls = (0..EACH).flat_map(|number| call(2 * number + 1, SOLVE_MANY));
            let bytes: Vec<u8> = beginning_with_window(65_535).into_iter().chain(calls).collect();
            stream.write_all(&bytes).await.unwrap();
            open.push(stream);
        }
        until("all are open", || async {
            victim.metrics()["sudoku_open_streams"] == (count + 1) as f64
        })
        .await;
        open
    };
    let connections = open.await;
    victim.suffers("idle streams", async {}).await;
    let each = (victim.memory() - before) / count as u64;
    eprintln!("{count} idle streams, {each} bytes each");
    drop(connections);
    victim.recovers("idle streams").await;
}

#[tokio::test]
async fn idle_connections() {
    // 10,000 in `just abuse`.
    let count = match harder() {
        1 => 200,
        times => 1_000 * times,
    };
    // The server's files and ours are bounded alike.
    let most = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let count = most.current.map_or(count, |files| count.min(files as usize / 2));
    let limit = format!("--max-connections={}", count + 2);
    let mut victim = Victim::start(&[&limit]).await;
    let address = victim.server.address;
    let open = async {
        let mut connections = Vec::new();
        for _ in 0..count {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(&beginning_with_window(65_535)).await.unwrap();
            connections.push(stream);
        }
        connections
    };
    let before = victim.memory();
    let connections = victim.suffers("idle connections", open).await;
    until("all are open", || async {
        victim.metrics()["sudoku_connections"] == (count + 1) as f64
    })
    .await;
    eprintln!(
        "{count} idle connections, {} bytes each",
        (victim.memory() - before) / count as u64
    );
    drop(connections);
    victim.recovers("idle connections").await;
}
